/* Counting what a full refresh loses. */
#include "processor/run/data_loss.h"

#include "processor/run/names.h"
#include "processor/run/progress.h"

#include "processor/base/banned.h"

Error *data_loss_add(DataLoss *loss, Log *log, int partition, int64_t begin, int64_t position,
                     int timeout_ms)
{
    int64_t start = 0;
    int64_t end = 0;
    TRY(log_watermarks(log, loss->topic, partition, READ_COMMITTED, timeout_ms, &start, &end));
    int64_t gone = start < position ? start : position;
    loss->records += gone > begin ? gone - begin : 0;
    return NULL;
}

void data_loss_format(const DataLoss *loss, Str table, Buffer *out)
{
    buffer_printf(
        out,
        "Full refresh of `%.*s`: topic `%s` no longer holds %lld of the records that were "
        "read; rows that came from them cannot be made again.",
        STR_ARG(table), loss->topic, (long long)loss->records);
}

static DataLoss *loss_of(DataLoss *losses, size_t *count, Str topic, Arena *arena)
{
    for (size_t i = 0; i < *count; i++) {
        if (str_equal(str_from(losses[i].topic), topic)) {
            return &losses[i];
        }
    }
    losses[*count] = (DataLoss){.topic = arena_copy_cstr(arena, topic)};
    return &losses[(*count)++];
}

/* A topic that is gone has lost all; the refresh will say so better. */
static Error *add_position(DataLoss *loss, Log *log, const ProgressPosition *position,
                           int timeout_ms)
{
    Error *error = data_loss_add(loss, log, position->partition, position->begin, position->offset,
                                 timeout_ms);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
        error_free(error);
        loss->records += position->offset - position->begin;
        return NULL;
    }
    return error;
}

Error *data_losses_of(Log *log, const Program *program, const ProgramTable *table, int timeout_ms,
                      Arena *arena, DataLoss **ret_losses, size_t *ret_count)
{
    *ret_count = 0;
    Progress progress = {0};
    const char *topic = name_progress_topic(arena, program->topology->pipeline);
    Error *error = progress_read(log, topic, READ_COMMITTED, table->flow->name, table->bound->name,
                                 timeout_ms, arena, &progress);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
        error_free(error); /* it never ran */
        return NULL;
    }
    TRY(error);
    DataLoss *losses = arena_new_array(arena, DataLoss, progress.position_count);
    size_t count = 0;
    for (size_t i = 0; i < progress.position_count; i++) {
        const ProgressPosition *position = &progress.positions[i];
        TRY(add_position(loss_of(losses, &count, position->topic, arena), log, position,
                         timeout_ms));
    }
    for (size_t i = 0; i < count; i++) {
        if (losses[i].records > 0) {
            losses[(*ret_count)++] = losses[i];
        }
    }
    *ret_losses = losses;
    return NULL;
}
