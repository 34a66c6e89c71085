/* Restoring a table's store from its topic: every record is an absolute change of one row, so
 * records may be applied again. Partition = shard. */
#include <assert.h>

#include "connectors/format/format.h"
#include "processor/base/clock.h"
#include "processor/base/fault.h"
#include "processor/data/key_encoding.h"
#include "processor/run/table_internal.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

enum { WRITE_BYTES = 8 << 20, REPORT_MS = 1000, DAY_MS = 86400000 };

typedef struct Restore {
    Table *table;
    Log *log;
    int timeout_ms;
    int64_t now_us;
    int64_t *starts;
    TopicReader *reader;
    Decoder *decoder;
    StoreBatch *writes;
    Arena *arena; /* of the records in hand */
    Buffer key;
    Buffer sequence;
    Buffer row;
    uint64_t rows;
    uint64_t offsets_total; /* an estimate of the work: offsets have gaps */
    int64_t started_ms;
    int64_t reported_ms;
    bool whole;
    void (*report)(void *context, const RestoreProgress *progress);
    void *context;
} Restore;

/* Tombstones live for delete.retention.ms; a state older than half of that may have missed some. */
static Error *state_age_limit_us(const Restore *restore, int64_t *ret_limit_us)
{
    const char *text = NULL;
    TRY(log_topic_config(restore->log, restore->table->program->topic, "delete.retention.ms",
                         restore->arena, &text));
    int64_t retention_ms = DAY_MS;
    if (text != NULL) {
        (void)str_to_int64(str_from(text), &retention_ms);
    }
    *ret_limit_us = retention_ms * 1000 / 2;
    return NULL;
}

/* Where the shard's reading starts: at its position, or, when the state is of no use, at the log's
 * start after the shard was emptied. */
static Error *find_start(Restore *restore, int partition, int64_t limit_us)
{
    Table *table = restore->table;
    int64_t start = 0;
    int64_t end = 0;
    TRY(log_watermarks(restore->log, table->program->topic, partition, READ_UNCOMMITTED,
                       restore->timeout_ms, &start, &end));
    int64_t position = -1;
    int64_t written_us = 0;
    TRY(table_store_position(table->store, (uint32_t)partition, &position, &written_us));
    bool too_old = position >= 0 && restore->now_us - written_us > limit_us;
    if (position < start || position > end || too_old) {
        store_batch_clear_shard(restore->writes, (uint32_t)partition);
        position = start;
        restore->whole = true;
    }
    restore->starts[partition] = position;
    table->ends[partition] = end;
    restore->offsets_total += (uint64_t)(end - position);
    return NULL;
}

static Error *bad_record(const Restore *restore, const LogRecord *record, Error *cause)
{
    Error *error = error_new(ERROR_STATE_CORRUPT,
                             "Topic `%s` partition %d offset %lld is no row of table `%.*s`.",
                             record->topic, (int)record->partition, (long long)record->offset,
                             STR_ARG(restore->table->program->bound->name));
    error_set_hint(error, "only tidemark may write to a table's topic");
    return cause == NULL ? error : error_set_cause(error, cause);
}

/* Message key to key encoding and ordinal. */
static Error *read_key(Restore *restore, const LogRecord *record, uint32_t *ret_ordinal)
{
    const Table *table = restore->table;
    if (record->key.data == NULL) {
        return bad_record(restore, record, NULL);
    }
    Vector **columns = arena_new_array(restore->arena, Vector *, table->key_count);
    for (size_t i = 0; i < table->key_count; i++) {
        columns[i] = vector_new(restore->arena, table->key_fields[i].type, 1);
    }
    Error *error = json_decode_key(table->key_fields, table->key_count, record->key, restore->arena,
                                   columns, ret_ordinal);
    if (error != NULL) {
        return bad_record(restore, record, error);
    }
    buffer_clear(&restore->key);
    key_encode(columns, table->key_count, 0, &restore->key);
    return NULL;
}

static Error *apply_record(Restore *restore, const LogRecord *record, const Batch *batch,
                           uint32_t row)
{
    const Table *table = restore->table;
    uint32_t ordinal = 0;
    TRY(read_key(restore, record, &ordinal));
    uint32_t shard = (uint32_t)record->partition;
    if (record->value.data == NULL) {
        store_batch_delete(restore->writes, shard, buffer_str(&restore->key), ordinal);
        overlay_note_restored(table->overlay, buffer_str(&restore->key), ordinal, STR_NULL);
    } else {
        buffer_clear(&restore->sequence);
        key_encode_value(batch->columns[table->program->flow->sequence], row, &restore->sequence);
        buffer_clear(&restore->row);
        row_encode(table->history, batch, row, &restore->row);
        store_batch_put(restore->writes, shard, buffer_str(&restore->key), ordinal,
                        buffer_str(&restore->sequence), buffer_str(&restore->row));
        overlay_note_restored(table->overlay, buffer_str(&restore->key), ordinal,
                              buffer_str(&restore->sequence));
    }
    restore->rows++;
    return NULL;
}

static Error *decode_values(Restore *restore, const LogRecord *records, size_t count,
                            Batch **ret_batch)
{
    Str *values = arena_new_array(restore->arena, Str, count);
    const LogRecord **owners = arena_new_array(restore->arena, const LogRecord *, count);
    size_t value_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].value.data != NULL) {
            owners[value_count] = &records[i];
            values[value_count++] = records[i].value;
        }
    }
    RowErrors bad = {0};
    decoder_decode(restore->decoder, values, value_count, restore->arena, &bad, ret_batch);
    Error *error = NULL;
    if (bad.count > 0) {
        error = bad_record(restore, owners[bad.rows[0]], bad.errors[0]);
        bad.errors[0] = NULL;
    }
    row_errors_done(&bad);
    return error;
}

/* The rows applied so far and how far they reach become durable together. */
static Error *write_out(Restore *restore)
{
    for (int p = 0; p < restore->table->partitions; p++) {
        store_batch_set_position(restore->writes, (uint32_t)p,
                                 topic_reader_position(restore->reader, p), restore->now_us);
    }
    TRY(fault_check("restore.mid"));
    return store_batch_write(restore->writes);
}

static void report_progress(Restore *restore, bool finished)
{
    int64_t now_ms = clock_monotonic_ms();
    if (restore->report == NULL || (!finished && now_ms - restore->reported_ms < REPORT_MS)) {
        return;
    }
    restore->reported_ms = now_ms;
    int64_t done = 0;
    for (int p = 0; p < restore->table->partitions; p++) {
        done += topic_reader_position(restore->reader, p) - restore->starts[p];
    }
    RestoreProgress progress = {.table = restore->table->program->bound->name,
                                .rows = restore->rows,
                                .offsets_done = (uint64_t)done,
                                .offsets_total = restore->offsets_total,
                                .elapsed_ms = now_ms - restore->started_ms,
                                .left_ms = -1,
                                .finished = finished,
                                .whole = restore->whole};
    if (done > 0) {
        double per_offset = (double)progress.elapsed_ms / (double)done;
        progress.left_ms = (int64_t)(per_offset * ((double)restore->offsets_total - (double)done));
    }
    restore->report(restore->context, &progress);
}

static Error *apply_batch(Restore *restore, const LogRecord *records, size_t count)
{
    Batch *batch = NULL;
    TRY(decode_values(restore, records, count, &batch));
    uint32_t row = 0;
    for (size_t i = 0; i < count; i++) {
        TRY(apply_record(restore, &records[i], batch, row));
        row += records[i].value.data != NULL;
    }
    if (store_batch_bytes(restore->writes) >= WRITE_BYTES) {
        TRY(write_out(restore));
    }
    return NULL;
}

static Error *replay(Restore *restore)
{
    Table *table = restore->table;
    restore->starts = arena_new_array(table->arena, int64_t, (size_t)table->partitions);
    int64_t limit_us = 0;
    TRY(state_age_limit_us(restore, &limit_us));
    for (int p = 0; p < table->partitions; p++) {
        TRY(find_start(restore, p, limit_us));
    }
    TRY(topic_reader_open(restore->log, table->program->topic, table->partitions, restore->starts,
                          table->ends, &restore->reader));
    DecoderOptions options = {FORMAT_JSON, time_zone_utc(), false};
    TRY(decoder_open(&options, table->program->bound->schema, &restore->decoder));
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(restore->reader, restore->timeout_ms, restore->arena, &records,
                              &count));
        if (count == 0) {
            break;
        }
        for (size_t i = 0; i < count; i += BATCH_ROWS) {
            size_t n = count - i < BATCH_ROWS ? count - i : BATCH_ROWS;
            TRY(apply_batch(restore, records + i, n));
        }
        arena_reset(restore->arena);
        report_progress(restore, false);
    }
    TRY(write_out(restore));
    TRY(table_store_flush(table->store));
    report_progress(restore, true);
    return NULL;
}

Error *table_restore(Table *table, Log *log, int timeout_ms, int64_t now_us,
                     void (*report)(void *context, const RestoreProgress *progress), void *context)
{
    Restore restore = {.table = table,
                       .log = log,
                       .timeout_ms = timeout_ms,
                       .now_us = now_us,
                       .writes = store_batch_new(table->store),
                       .arena = arena_new("restore"),
                       .started_ms = clock_monotonic_ms(),
                       .report = report,
                       .context = context};
    restore.reported_ms = restore.started_ms;
    Error *error = replay(&restore);
    topic_reader_close(restore.reader);
    decoder_close(restore.decoder);
    store_batch_free(restore.writes);
    arena_free(restore.arena);
    buffer_done(&restore.key);
    buffer_done(&restore.sequence);
    buffer_done(&restore.row);
    return error;
}
