/* The state of all tables. Kafka is asked until it does not answer once: then it is away, and
 * nothing more is waited for. */
#include "processor/run/state_report.h"

#include "processor/run/names.h"
#include "processor/run/progress.h"

#include "processor/base/banned.h"

enum { CALL_MS = 5000 };

typedef struct Collector {
    const Program *program;
    State *state;
    Log *log; /* NULL once it was found to be away */
    Arena *arena;
    StateReport *report;
} Collector;

/* Kafka did not answer: the rest goes without it. */
static void give_log_up(Collector *collector, Error *error)
{
    if (error != NULL) {
        collector->report->log_error = error;
        collector->log = NULL;
    }
}

static Error *collect_store(Collector *collector, TableReport *table)
{
    TableStore *store = NULL;
    Str name = table->program->bound->name;
    if (collector->state != NULL) {
        TRY(state_view_table(collector->state, name, &store));
    }
    if (store == NULL) {
        return NULL;
    }
    table->has_store = true;
    state_table_sizes(collector->state, name, &table->sizes);
    table->shard_count = table_store_shards(store);
    table->shards = arena_new_array(collector->arena, ShardReport, table->shard_count);
    for (uint32_t i = 0; i < table->shard_count; i++) {
        ShardReport *shard = &table->shards[i];
        shard->end = -1;
        TRY(table_store_position(store, i, &shard->position, &shard->written_us));
    }
    return NULL;
}

static Error *ask_table_ends(Collector *collector, TableReport *table)
{
    LogTopicDescription description = {0};
    const char *topic = table->program->topic;
    Error *error = log_topic_describe(collector->log, topic, CALL_MS, &description);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
        error_free(error); /* the first run makes it */
        return NULL;
    }
    TRY(error);
    size_t partitions = (size_t)description.partition_count;
    if (partitions > table->shard_count) {
        ShardReport *shards = arena_new_array(collector->arena, ShardReport, partitions);
        for (size_t i = 0; i < partitions; i++) {
            shards[i] = i < table->shard_count ? table->shards[i] : (ShardReport){-1, 0, -1};
        }
        table->shards = shards;
        table->shard_count = partitions;
    }
    for (size_t i = 0; i < partitions; i++) {
        int64_t start = 0;
        TRY(log_watermarks(collector->log, topic, (int32_t)i, READ_UNCOMMITTED, CALL_MS, &start,
                           &table->shards[i].end));
    }
    return NULL;
}

static Error *read_progress(Collector *collector, const TableReport *table, Progress *progress)
{
    const char *topic =
        name_progress_topic(collector->arena, collector->program->topology->pipeline);
    Error *error = progress_read(collector->log, topic, READ_COMMITTED, table->program->flow->name,
                                 table->program->bound->name, CALL_MS, collector->arena, progress);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
        error_free(error);
        *progress = (Progress){0};
        return NULL;
    }
    return error;
}

/* One topic that the flow reads; the reports of its partitions go behind those before. */
static Error *ask_source(Collector *collector, TableReport *table, const Progress *progress,
                         const char *topic)
{
    LogTopicDescription description = {0};
    TRY(log_topic_describe(collector->log, topic, CALL_MS, &description));
    size_t partitions = (size_t)description.partition_count;
    SourceReport *all =
        arena_new_array(collector->arena, SourceReport, table->source_count + partitions);
    SourceReport *own = all + table->source_count;
    if (table->source_count > 0) {
        memcpy(all, table->sources, table->source_count * sizeof *all);
    }
    for (size_t i = 0; i < partitions; i++) {
        int64_t start = 0;
        own[i] = (SourceReport){topic, (int)i, -1, -1};
        TRY(log_watermarks(collector->log, topic, (int32_t)i, READ_COMMITTED, CALL_MS, &start,
                           &own[i].end));
    }
    for (size_t i = 0; i < progress->position_count; i++) {
        const ProgressPosition *position = &progress->positions[i];
        if (str_equal(position->topic, str_from(topic)) && position->partition >= 0 &&
            (size_t)position->partition < partitions) {
            own[position->partition].offset = position->offset;
        }
    }
    table->sources = all;
    table->source_count += partitions;
    return NULL;
}

static Error *ask_sources(Collector *collector, TableReport *table)
{
    Progress progress = {0};
    TRY(read_progress(collector, table, &progress));
    table->epoch = progress.epoch;
    table->resetting = progress.resetting;
    for (size_t i = 0; i < table->program->input_count; i++) {
        TRY(ask_source(collector, table, &progress, table->program->inputs[i].source->topic));
    }
    return NULL;
}

Error *state_report_collect(const Program *program, State *state, Log *log, Arena *arena,
                            StateReport *ret_report)
{
    StateReport report = {.table_count = program->table_count};
    report.tables = arena_new_array(arena, TableReport, report.table_count);
    Collector collector = {program, state, log, arena, &report};
    for (size_t i = 0; i < report.table_count; i++) {
        TableReport *table = &report.tables[i];
        table->program = &program->tables[i];
        table->epoch = -1;
        Error *error = collect_store(&collector, table);
        if (error != NULL) {
            state_report_done(&report);
            return error;
        }
        if (collector.log != NULL) {
            give_log_up(&collector, ask_table_ends(&collector, table));
        }
        if (collector.log != NULL) {
            give_log_up(&collector, ask_sources(&collector, table));
        }
    }
    *ret_report = report;
    return NULL;
}

void state_report_done(StateReport *report)
{
    error_free(report->log_error);
    report->log_error = NULL;
}
