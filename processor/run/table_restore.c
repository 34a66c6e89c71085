/* Restoring a table's store from its topic: every record is an absolute change of one row, so
 * records may be applied again. Partition = shard.
 *
 *     topic ─► read, decode ─► run ──┐ two runs: one is filled while the other is
 *                              run ◄─┘ sorted and ingested on a thread of its own
 *
 * A run goes into the store in one step with the positions it reaches, so a restore that dies goes
 * on where its last run ended. */
#include <assert.h>

#include "connectors/format/format.h"
#include "processor/base/clock.h"
#include "processor/base/fault.h"
#include "processor/data/key_encoding.h"
#include "processor/run/table_internal.h"
#include "processor/run/topic_reader.h"
#include "processor/run/worker.h"

#include "processor/base/banned.h"

enum {
    RUNS = 2,
    SLICE_ROWS = 512, /* between looks at the size of a run */
    REFRESH_SHARE = 8,
    REPORT_MS = 1000,
    DAY_MS = 86400000
};

typedef struct Restore {
    Table *table;
    Log *log;
    int timeout_ms;
    int64_t now_us;
    int64_t *starts;
    TopicReader *reader;
    Decoder *decoder;
    StoreRun *runs[RUNS];
    size_t filling;     /* the run that is filled; the others are written, or empty */
    Worker *worker;     /* writes them */
    int64_t *reached;   /* a partition: how far the records applied reach */
    int64_t *written;   /* as much of that as is in runs handed over; -1: nothing is known */
    bool positions_age; /* they are to be written though nothing else is */
    Arena *arena;       /* of the records in hand */
    Buffer key;
    Buffer key_text;
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
    const ProgressDefinition *definition = &table->definition;
    int64_t begin = (size_t)partition < definition->begin_count ? definition->begins[partition] : 0;
    if (begin > start && begin <= end) {
        start = begin; /* before it lie rows of another definition, and their removals */
    }
    int64_t position = -1;
    int64_t written_us = 0;
    TRY(table_store_position(table->store, (uint32_t)partition, &position, &written_us));
    int64_t age_us = restore->now_us - written_us;
    restore->written[partition] = position;
    if (position < start || position > end || age_us > limit_us) {
        TRY(table_store_clear_shard(table->store, (uint32_t)partition));
        restore->written[partition] = -1;
        position = start;
        restore->whole = true;
    }
    restore->positions_age |= restore->whole || age_us > limit_us / REFRESH_SHARE;
    restore->starts[partition] = position;
    restore->reached[partition] = position;
    table->ends[partition] = end;
    restore->offsets_total += (uint64_t)(end - position);
    return NULL;
}

/* What is of no use is deleted before anything else is written. */
static Error *find_starts(Restore *restore)
{
    Table *table = restore->table;
    restore->starts = arena_new_array(table->arena, int64_t, (size_t)table->partitions);
    restore->reached = arena_new_array(table->arena, int64_t, (size_t)table->partitions);
    restore->written = arena_new_array(table->arena, int64_t, (size_t)table->partitions);
    int64_t limit_us = 0;
    TRY(state_age_limit_us(restore, &limit_us));
    for (int p = 0; p < table->partitions; p++) {
        TRY(find_start(restore, p, limit_us));
    }
    return NULL;
}

/* The topic is at fault, not the state: making that anew would meet the record again. */
static Error *bad_record(const Restore *restore, const LogRecord *record, Error *cause)
{
    Error *error = error_new(ERROR_KAFKA_TOPIC_MISMATCH,
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
    buffer_clear(&restore->key);
    Error *error =
        table_key_read(table->key, record->key, restore->arena, &restore->key, ret_ordinal);
    if (error != NULL) {
        return bad_record(restore, record, error);
    }
    return NULL;
}

/* `,"_row":12}`, the end of the key of a second or later row. */
static bool read_ordinal(Str end, uint32_t *ret_ordinal)
{
    static const char member[] = ",\"_row\":";
    if (!str_starts_with(end, STR(member)) || end.data[end.size - 1] != '}') {
        return false;
    }
    int64_t ordinal = 0;
    Str digits = {end.data + strlen(member), end.size - strlen(member) - 1};
    if (!str_to_int64(digits, &ordinal) || ordinal <= 0 || ordinal >= UINT32_MAX) {
        return false;
    }
    *ret_ordinal = (uint32_t)ordinal;
    return true;
}

/* A row holds its key's columns, and a key's text is made faster than read. So the key comes from
 * the row, and the message key is compared with what it must be; any other is read as it is. */
static Error *key_of_row(Restore *restore, const LogRecord *record, Vector *const *key_columns,
                         uint32_t row, uint32_t *ret_ordinal)
{
    const Table *table = restore->table;
    buffer_clear(&restore->key);
    key_encode(key_columns, table->key_count, row, &restore->key);
    buffer_clear(&restore->key_text);
    TRY(table_key_write(table->key, buffer_str(&restore->key), 0, &restore->key_text));
    Str text = buffer_str(&restore->key_text);
    Str have = record->key;
    if (str_equal(have, text)) {
        *ret_ordinal = 0;
        return NULL;
    }
    Str same = {text.data, text.size - 1}; /* all but the brace */
    if (str_starts_with(have, same) &&
        read_ordinal((Str){have.data + same.size, have.size - same.size}, ret_ordinal)) {
        return NULL;
    }
    return read_key(restore, record, ret_ordinal);
}

static Error *delete_row(Restore *restore, const LogRecord *record)
{
    uint32_t ordinal = 0;
    TRY(read_key(restore, record, &ordinal));
    Str key = buffer_str(&restore->key);
    store_run_delete(restore->runs[restore->filling], (uint32_t)record->partition, key, ordinal);
    overlay_note_restored(restore->table->overlay, key, ordinal, STR_NULL);
    return NULL;
}

static Error *put_row(Restore *restore, const LogRecord *record, const Batch *batch,
                      Vector *const *key_columns, uint32_t row)
{
    const Table *table = restore->table;
    uint32_t ordinal = 0;
    TRY(key_of_row(restore, record, key_columns, row, &ordinal));
    buffer_clear(&restore->sequence);
    key_encode_value(batch->columns[table->sequence], row, &restore->sequence);
    buffer_clear(&restore->row);
    row_encode(table->history, batch, row, &restore->row);
    Str key = buffer_str(&restore->key);
    Str sequence = buffer_str(&restore->sequence);
    store_run_put(restore->runs[restore->filling], (uint32_t)record->partition, key, ordinal,
                  sequence, buffer_str(&restore->row));
    overlay_note_restored(table->overlay, key, ordinal, sequence);
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

/* The rows gathered so far and how far they reach become durable together. */
static void add_positions(Restore *restore, bool all)
{
    for (int p = 0; p < restore->table->partitions; p++) {
        int64_t position = restore->reached[p];
        if (all || position != restore->written[p]) {
            store_run_position(restore->runs[restore->filling], (uint32_t)p, position,
                               restore->now_us);
            restore->written[p] = position;
        }
    }
}

static Error *wait_for_writer(Restore *restore)
{
    return worker_is_busy(restore->worker) ? worker_take(restore->worker) : NULL;
}

static Error *write_run(void *run)
{
    return store_run_write(run);
}

/* The run in hand is handed over; the next records go into the other one. */
static Error *hand_over(Restore *restore)
{
    add_positions(restore, false);
    TRY(fault_check("restore.mid"));
    TRY(wait_for_writer(restore));
    worker_give(restore->worker, write_run, restore->runs[restore->filling]);
    restore->filling = (restore->filling + 1) % RUNS;
    return NULL;
}

/* The last run, and the time of all positions. A start that found nothing new has nothing to write.
 */
static Error *write_rest(Restore *restore)
{
    TRY(wait_for_writer(restore));
    if (restore->rows == 0 && !restore->positions_age) {
        return NULL;
    }
    add_positions(restore, true);
    TRY(fault_check("restore.mid"));
    return store_run_write(restore->runs[restore->filling]);
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
    const Table *table = restore->table;
    Batch *batch = NULL;
    TRY(decode_values(restore, records, count, &batch));
    Vector **key_columns = arena_new_array(restore->arena, Vector *, table->key_count);
    for (size_t i = 0; i < table->key_count; i++) {
        key_columns[i] = batch->columns[table->keys[i]];
    }
    uint32_t row = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].value.data == NULL) {
            TRY(delete_row(restore, &records[i]));
        } else {
            TRY(put_row(restore, &records[i], batch, key_columns, row++));
        }
        restore->reached[records[i].partition] = records[i].offset + 1;
    }
    restore->rows += count;
    return store_run_is_full(restore->runs[restore->filling]) ? hand_over(restore) : NULL;
}

/* The records of one poll, and what it skipped: gaps, and what lies behind the ends. */
static Error *apply_poll(Restore *restore, const LogRecord *records, size_t count)
{
    for (size_t i = 0; i < count; i += SLICE_ROWS) {
        size_t n = count - i < SLICE_ROWS ? count - i : SLICE_ROWS;
        TRY(apply_batch(restore, records + i, n));
    }
    for (int p = 0; p < restore->table->partitions; p++) {
        restore->reached[p] = topic_reader_position(restore->reader, p);
    }
    return NULL;
}

static Error *replay(Restore *restore)
{
    Table *table = restore->table;
    TRY(find_starts(restore));
    TRY(topic_reader_open(restore->log, table->program->topic, table->partitions, restore->starts,
                          table->ends, &restore->reader));
    DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = table->date_zone, .dates = true};
    TRY(decoder_open(&options, table->schema, &restore->decoder));
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(restore->reader, restore->timeout_ms, restore->arena, &records,
                              &count));
        if (count == 0) {
            break;
        }
        TRY(apply_poll(restore, records, count));
        arena_reset(restore->arena);
        report_progress(restore, false);
    }
    TRY(apply_poll(restore, NULL, 0));
    TRY(write_rest(restore));
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
                       .worker = worker_new("restore", false),
                       .arena = arena_new("restore"),
                       .started_ms = clock_monotonic_ms(),
                       .report = report,
                       .context = context};
    restore.reported_ms = restore.started_ms;
    for (size_t i = 0; i < RUNS; i++) {
        restore.runs[i] = store_run_new(table->store);
    }
    Error *error = replay(&restore);
    worker_free(restore.worker); /* before what it works on */
    topic_reader_close(restore.reader);
    decoder_close(restore.decoder);
    for (size_t i = 0; i < RUNS; i++) {
        store_run_free(restore.runs[i]);
    }
    arena_free(restore.arena);
    buffer_done(&restore.key);
    buffer_done(&restore.key_text);
    buffer_done(&restore.sequence);
    buffer_done(&restore.row);
    return error;
}
