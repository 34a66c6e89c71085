/* The latest values of a topic. */
#include "processor/run/static_table.h"

#include "connectors/format/format.h"
#include "processor/base/map.h"
#include "processor/base/memory.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

/* One key: its bytes, then those of the value. */
typedef struct Entry {
    size_t key_size;
    size_t value_size;
    char bytes[];
} Entry;

struct StaticTable {
    StaticTableOptions options;
    Decoder *decoder;
    Map entries;
    size_t bytes;
    int64_t *positions; /* a partition: next offset */
    int partition_count;
};

Error *static_table_open(const StaticTableOptions *options, StaticTable **ret_table)
{
    StaticTable *table = mem_new(StaticTable);
    table->options = *options;
    DecoderOptions decoder = {.kind = FORMAT_JSON,
                              .time_zone = options->time_zone,
                              .coerce = options->source->config->coerce};
    Error *error = decoder_open(&decoder, options->scan->schema, &table->decoder);
    if (error != NULL) {
        static_table_close(table);
        return error;
    }
    *ret_table = table;
    return NULL;
}

void static_table_close(StaticTable *table)
{
    if (table == NULL) {
        return;
    }
    for (MapEntry *at = map_first(&table->entries); at != NULL;
         at = map_next(&table->entries, at)) {
        mem_free(at->value);
    }
    map_done(&table->entries);
    decoder_close(table->decoder);
    mem_free(table->positions);
    mem_free(table);
}

size_t static_table_bytes(const StaticTable *table)
{
    return table->bytes;
}

/* ---- entries */

static size_t entry_size(const Entry *entry)
{
    return sizeof *entry + entry->key_size + entry->value_size;
}

static void remove_key(StaticTable *table, Str key)
{
    Entry *entry = map_get(&table->entries, key);
    if (entry != NULL) {
        map_remove(&table->entries, key);
        table->bytes -= entry_size(entry);
        mem_free(entry);
    }
}

static void put_value(StaticTable *table, Str key, Str value)
{
    remove_key(table, key);
    Entry *entry = mem_alloc(sizeof *entry + key.size + value.size);
    entry->key_size = key.size;
    entry->value_size = value.size;
    memcpy(entry->bytes, key.data, key.size);
    memcpy(entry->bytes + key.size, value.data, value.size);
    map_put(&table->entries, (Str){entry->bytes, key.size}, entry);
    table->bytes += entry_size(entry);
}

/* ---- reading the topic */

static Error *tell_bad(const StaticTable *table, const LogRecord *record, const Error *cause)
{
    if (table->options.source->config->on_error == TOPOLOGY_FAIL) {
        Error *error = error_new(ERROR_MALFORMED_RECORD,
                                 "Topic `%s` partition %d offset %lld cannot be read, and the "
                                 "source says `on_error: fail`.",
                                 record->topic, record->partition, (long long)record->offset);
        return error_set_cause(error, error_copy(cause));
    }
    if (table->options.on_bad != NULL) {
        table->options.on_bad(table->options.context, record, cause);
    }
    return NULL;
}

/* A value is decoded once here, to be known good, and again for each version that is read. */
static Error *check_values(const StaticTable *table, const LogRecord *const *records,
                           const Str *values, size_t count, Arena *arena, bool *ret_bad)
{
    RowErrors bad = {0};
    Batch *batch = NULL;
    decoder_decode(table->decoder, values, count, arena, &bad, &batch);
    Error *error = NULL;
    for (size_t i = 0; i < bad.count && error == NULL; i++) {
        ret_bad[bad.rows[i]] = true;
        error = tell_bad(table, records[bad.rows[i]], bad.errors[i]);
    }
    row_errors_done(&bad);
    return error;
}

static Error *key_is_missing(const StaticTable *table, const LogRecord *record)
{
    AUTO(error)
    Error *cause = error_new(ERROR_MALFORMED_RECORD, "The record has no key.");
    return tell_bad(table, record, cause);
}

/* At most BATCH_ROWS records, in order. */
static Error *apply(StaticTable *table, const LogRecord *records, size_t count, Arena *arena)
{
    const LogRecord **owners = arena_new_array(arena, const LogRecord *, count);
    Str *values = arena_new_array(arena, Str, count);
    bool *bad = arena_new_array(arena, bool, count);
    size_t value_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].value.data != NULL) {
            owners[value_count] = &records[i];
            values[value_count++] = records[i].value;
        }
    }
    TRY(check_values(table, owners, values, value_count, arena, bad));
    size_t value = 0;
    for (size_t i = 0; i < count; i++) {
        bool has_value = records[i].value.data != NULL;
        bool is_bad = has_value && bad[value];
        value += has_value;
        if (records[i].key.data == NULL) {
            TRY(key_is_missing(table, &records[i]));
        } else if (!has_value) {
            remove_key(table, records[i].key);
        } else if (!is_bad) {
            put_value(table, records[i].key, records[i].value);
        }
    }
    return NULL;
}

/* Compaction may have removed what lies below the start. */
static Error *find_range(StaticTable *table, Arena *arena, int64_t **ret_starts, int64_t **ret_ends,
                         bool *ret_behind)
{
    const StaticTableOptions *options = &table->options;
    LogTopicDescription description = {0};
    TRY(log_topic_describe(options->log, options->source->topic, options->timeout_ms,
                           &description));
    int count = description.partition_count;
    if (count > table->partition_count) {
        table->positions = mem_realloc(table->positions, (size_t)count * sizeof(int64_t));
        memset(table->positions + table->partition_count, 0,
               (size_t)(count - table->partition_count) * sizeof(int64_t));
        table->partition_count = count;
    }
    *ret_starts = arena_new_array(arena, int64_t, (size_t)table->partition_count);
    *ret_ends = arena_new_array(arena, int64_t, (size_t)table->partition_count);
    for (int p = 0; p < count; p++) {
        int64_t start = 0;
        TRY(topic_settled_range(options->log, options->source->topic, p, options->timeout_ms,
                                &start, &(*ret_ends)[p]));
        (*ret_starts)[p] = table->positions[p] > start ? table->positions[p] : start;
        *ret_behind = *ret_behind || (*ret_starts)[p] < (*ret_ends)[p];
    }
    return NULL;
}

static Error *read_records(StaticTable *table, TopicReader *reader, bool *ret_changed)
{
    AUTO(arena) Arena *arena = arena_new("static rows");
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, table->options.timeout_ms, arena, &records, &count));
        if (count == 0) {
            return NULL;
        }
        *ret_changed = true;
        for (size_t i = 0; i < count; i += BATCH_ROWS) {
            TRY(apply(table, records + i, count - i < BATCH_ROWS ? count - i : BATCH_ROWS, arena));
        }
        arena_reset(arena);
    }
}

/* Records that were applied before an error are applied again by the next refresh: that changes
 * nothing, since each sets its key. */
Error *static_table_refresh(StaticTable *table, bool *ret_changed)
{
    AUTO(arena) Arena *arena = arena_new("static range");
    int64_t *starts = NULL;
    int64_t *ends = NULL;
    bool behind = false;
    *ret_changed = false;
    TRY(find_range(table, arena, &starts, &ends, &behind));
    if (!behind) {
        return NULL;
    }
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(table->options.log, table->options.source->topic, table->partition_count,
                          starts, ends, &reader));
    TRY(read_records(table, reader, ret_changed));
    memcpy(table->positions, ends, (size_t)table->partition_count * sizeof(int64_t));
    return NULL;
}

/* ---- its rows */

typedef struct Rows {
    BatchSource source;
    StaticTable *table;
    const MapEntry *next;
} Rows;

static Error *rows_next(BatchSource *source, Arena *arena, Batch **ret_batch)
{
    Rows *rows = (Rows *)source;
    Str *values = arena_new_array(arena, Str, BATCH_ROWS);
    size_t count = 0;
    for (; rows->next != NULL && count < BATCH_ROWS;
         rows->next = map_next(&rows->table->entries, rows->next)) {
        const Entry *entry = rows->next->value;
        values[count++] = (Str){entry->bytes + entry->key_size, entry->value_size};
    }
    *ret_batch = NULL;
    if (count == 0) {
        return NULL;
    }
    RowErrors bad = {0}; /* none: they were decoded before */
    decoder_decode(rows->table->decoder, values, count, arena, &bad, ret_batch);
    row_errors_done(&bad);
    return NULL;
}

static void rows_close(BatchSource *source)
{
    mem_free(source);
}

BatchSource *static_table_rows(StaticTable *table)
{
    Rows *rows = mem_new(Rows);
    rows->source = (BatchSource){
        .next = rows_next, .close = rows_close, .estimated_rows = (int64_t)table->entries.count};
    rows->table = table;
    rows->next = map_first(&table->entries);
    return &rows->source;
}
