/* Folding a table's topic by key. */
#include "processor/run/table_fold.h"

#include <stdlib.h>

#include "connectors/format/format.h"
#include "processor/base/hash.h"
#include "processor/base/map.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

typedef struct Fold {
    Arena *arena;
    Map values; /* key -> Str * (latest value) */
} Fold;

static void take_record(Fold *fold, const LogRecord *record)
{
    if (record->value.data == NULL) {
        map_remove(&fold->values, record->key);
        return;
    }
    bool added = false;
    MapEntry *slot = map_find_or_add(&fold->values, record->key, hash_bytes(record->key), &added);
    if (added) {
        slot->key = arena_copy_str(fold->arena, record->key);
        slot->value = arena_new_object(fold->arena, Str);
    }
    *(Str *)slot->value = arena_copy_str(fold->arena, record->value);
}

static Error *read_topic(Fold *fold, Log *log, const char *topic, int timeout_ms)
{
    LogTopicDescription description = {0};
    TRY(log_topic_describe(log, topic, timeout_ms, &description));
    size_t partitions = (size_t)description.partition_count;
    int64_t *starts = arena_new_array(fold->arena, int64_t, partitions);
    int64_t *ends = arena_new_array(fold->arena, int64_t, partitions);
    for (size_t p = 0; p < partitions; p++) {
        TRY(topic_settled_range(log, topic, (int32_t)p, timeout_ms, &starts[p], &ends[p]));
    }
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(log, topic, (int)partitions, starts, ends, &reader));
    AUTO(arena) Arena *batch_arena = arena_new("fold");
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, timeout_ms, batch_arena, &records, &count));
        if (count == 0) {
            return NULL;
        }
        for (size_t i = 0; i < count; i++) {
            if (records[i].key.data != NULL) {
                take_record(fold, &records[i]);
            }
        }
        arena_reset(batch_arena);
    }
}

typedef struct FoldedRow {
    Str key;
    Str value;
} FoldedRow;

/* Without the closing brace, so that {"k":1} comes before {"k":1,"_row":1}. */
static Str sort_key(const FoldedRow *row)
{
    return (Str){row->key.data, row->key.size > 0 ? row->key.size - 1 : 0};
}

static int compare_rows(const void *a, const void *b)
{
    return str_compare(sort_key(a), sort_key(b));
}

static FoldedRow *sorted_rows(const Fold *fold)
{
    FoldedRow *rows = arena_new_array(fold->arena, FoldedRow, fold->values.count);
    size_t count = 0;
    for (MapEntry *e = map_first(&fold->values); e != NULL; e = map_next(&fold->values, e)) {
        rows[count++] = (FoldedRow){e->key, *(const Str *)e->value};
    }
    if (count > 0) {
        qsort(rows, count, sizeof *rows, compare_rows);
    }
    return rows;
}

/* Decodes in batches and gathers them into one. */
static Error *decode_rows(const Schema *schema, const TimeZone *date_zone, const Str *values,
                          size_t count, Arena *arena, Batch *into)
{
    DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = date_zone, .dates = true};
    AUTO(decoder) Decoder *decoder = NULL;
    TRY(decoder_open(&options, schema, &decoder));
    for (size_t i = 0; i < count; i += BATCH_ROWS) {
        size_t n = count - i < BATCH_ROWS ? count - i : BATCH_ROWS;
        RowErrors bad = {0};
        Batch *batch = NULL;
        decoder_decode(decoder, values + i, n, arena, &bad, &batch);
        Error *error = bad.count == 0 ? NULL : error_copy(bad.errors[0]);
        row_errors_done(&bad);
        TRY(error);
        for (size_t c = 0; c < schema->field_count; c++) {
            for (uint32_t row = 0; row < n; row++) {
                vector_append_from(into->columns[c], arena, batch->columns[c], row);
            }
        }
    }
    into->row_count = (uint32_t)count;
    into->selected_count = (uint32_t)count;
    return NULL;
}

static Error *fold_rows(Fold *fold, const Schema *schema, const TimeZone *date_zone,
                        FoldedTable *ret_table)
{
    size_t count = fold->values.count;
    const FoldedRow *rows = sorted_rows(fold);
    Str *values = arena_new_array(fold->arena, Str, count);
    FoldedTable table = {.count = count, .keys = arena_new_array(fold->arena, Str, count)};
    for (size_t i = 0; i < count; i++) {
        table.keys[i] = rows[i].key;
        values[i] = rows[i].value;
    }
    table.rows = batch_new(fold->arena, schema, (uint32_t)count);
    TRY(decode_rows(schema, date_zone == NULL ? time_zone_utc() : date_zone, values, count,
                    fold->arena, table.rows));
    *ret_table = table;
    return NULL;
}

Error *table_fold(Log *log, const char *topic, const Schema *schema, const TimeZone *date_zone,
                  int timeout_ms, Arena *arena, FoldedTable *ret_table)
{
    Fold fold = {.arena = arena};
    Error *error = read_topic(&fold, log, topic, timeout_ms);
    if (error == NULL) {
        error = fold_rows(&fold, schema, date_zone, ret_table);
    }
    map_done(&fold.values);
    return error;
}
