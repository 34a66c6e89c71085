/* One key of a table: its rows as the last checkpoint has them, brought up to the end of the topic
 * by the records of its partition since. So the answer is the table's of now, whether a service
 * runs, stands still or has lost its state; without Kafka it is the checkpoint's. */
#include <assert.h>

#include "connectors/format/format.h"
#include "connectors/format/json_tree.h"
#include "connectors/partitioner.h"
#include "processor/base/clock.h"
#include "processor/base/json_writer.h"
#include "processor/data/key_encoding.h"
#include "processor/run/names.h"
#include "processor/run/progress.h"
#include "processor/run/state_report.h"
#include "processor/run/table_definition.h"
#include "processor/run/table_key.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

/* A state this old may have missed tombstones the topic has forgotten (delete.retention.ms is a day
 * or more): then the topic is read from its start. */
#define AGE_MAX_US (INT64_C(12) * 3600 * 1000 * 1000)

enum { CALL_MS = 5000 };

static void release_zone(void *zone)
{
    time_zone_free(zone);
}

typedef struct KeyQuestion {
    const Program *program;
    const ProgramTable *table;
    Arena *arena;
    const Schema *key_schema;
    Vector **columns;     /* the key's values */
    Str encoded;          /* as the state has it */
    Str text;             /* as the topic has it, ordinal 0 */
    const TimeZone *zone; /* in which dates of older versions are timestamps */
    Str *rows;            /* by ordinal, STR_NULL: removed */
    size_t row_count;
    size_t row_capacity;
} KeyQuestion;

/* ------------------------------------------------------------------------------- the key ---- */

static Error *no_key(const KeyQuestion *question, Str text)
{
    AUTO_BUFFER Buffer columns = {0};
    schema_format(question->key_schema, &columns);
    Error *error = error_new(ERROR_USAGE, "`%.*s` is no key of table `%.*s`.",
                             (int)(text.size > 200 ? 200 : text.size), text.data,
                             STR_ARG(question->table->bound->name));
    return error_set_hint(error, "its key is %s: a JSON object of these columns%s",
                          buffer_cstr(&columns),
                          question->key_schema->field_count == 1 ? ", or the value alone" : "");
}

/* A value alone: text as it is, what reads as a JSON number or word as such, else quoted. */
static Str object_of_value(const KeyQuestion *question, Str value)
{
    const Field *field = &question->key_schema->fields[0];
    AUTO_BUFFER Buffer object = {0};
    JsonWriter json = json_writer(&object);
    const JsonTree *tree = NULL;
    Error *error = json_tree_parse(value, question->arena, &tree);
    JsonKind kind = error == NULL ? json_tree_kind(tree) : JSON_STRING;
    error_free(error);
    bool plain = kind == JSON_NUMBER || kind == JSON_BOOL || kind == JSON_NULL;
    AUTO_BUFFER Buffer name = {0};
    buffer_append_str(&name, field->name);
    json_object_begin(&json);
    json_key(&json, buffer_cstr(&name));
    if (plain && field->type->kind != TYPE_STRING) {
        json_raw(&json, value);
    } else {
        json_str(&json, value);
    }
    json_object_end(&json);
    return arena_copy_str(question->arena, buffer_str(&object));
}

/* All columns of the key and no others: a misspelt one would quietly be NULL. */
static bool names_all_columns(const KeyQuestion *question, Str object)
{
    const JsonTree *tree = NULL;
    Error *error = json_tree_parse(object, question->arena, &tree);
    bool good = error == NULL && json_tree_kind(tree) == JSON_OBJECT &&
                json_tree_size(tree) == question->key_schema->field_count;
    for (size_t i = 0; good && i < json_tree_size(tree); i++) {
        Str name = STR_NULL;
        (void)json_tree_member(tree, i, &name);
        good = schema_find(question->key_schema, name) >= 0;
    }
    error_free(error);
    return good;
}

static Error *decode_object(KeyQuestion *question, Str text, Str object)
{
    DecoderOptions options = {
        .kind = FORMAT_JSON, .time_zone = question->program->time_zone, .coerce = true};
    AUTO(decoder) Decoder *decoder = NULL;
    TRY(decoder_open(&options, question->key_schema, &decoder));
    RowErrors bad = {0};
    Batch *batch = NULL;
    decoder_decode(decoder, &object, 1, question->arena, &bad, &batch);
    Error *error = NULL;
    if (bad.count > 0) {
        error = error_set_cause(no_key(question, text), bad.errors[0]);
        bad.errors[0] = NULL;
    }
    row_errors_done(&bad);
    TRY(error);
    question->columns = batch->columns;
    return NULL;
}

static Error *parse_key(KeyQuestion *question, Str text)
{
    const BoundFlow *flow = question->table->flow;
    Field *fields = arena_new_array(question->arena, Field, flow->key_count);
    for (size_t i = 0; i < flow->key_count; i++) {
        fields[i] = question->table->bound->schema->fields[flow->keys[i]];
    }
    question->key_schema = schema_new(question->arena, fields, flow->key_count);
    Str object = text;
    if (!str_starts_with(str_trim(text), STR("{"))) {
        if (flow->key_count != 1) {
            return no_key(question, text);
        }
        object = object_of_value(question, text);
    } else if (!names_all_columns(question, object)) {
        return no_key(question, text);
    }
    TRY(decode_object(question, text, object));
    AUTO_BUFFER Buffer out = {0};
    key_encode(question->columns, flow->key_count, 0, &out);
    question->encoded = arena_copy_str(question->arena, buffer_str(&out));
    buffer_clear(&out);
    /* As a table writes it, from the encoded key: equal values such as -0.0 and 0.0 are one text.
     */
    const JsonKeyWriter *writer =
        json_key_writer_new(question->arena, question->key_schema->fields, flow->key_count);
    TRY(json_key_write(writer, question->encoded, 0, &out));
    question->text = arena_copy_str(question->arena, buffer_str(&out));
    return NULL;
}

/* ------------------------------------------------------------------------------ its rows ---- */

static void set_row(KeyQuestion *question, uint32_t ordinal, Str row)
{
    while (question->row_count <= ordinal) {
        *arena_push(question->arena, question->rows, question->row_count, question->row_capacity) =
            STR_NULL;
    }
    question->rows[ordinal] = row;
}

/* Rows are 0 … n - 1 without holes; a hole is the end. */
static void cut_rows(KeyQuestion *question)
{
    size_t count = 0;
    while (count < question->row_count && question->rows[count].data != NULL) {
        count++;
    }
    question->row_count = count;
}

/* The schemas the rows were written with, and the program's; with them the key as it was written
 * first. */
static Error *read_definition(KeyQuestion *question, const ProgressDefinition *definition,
                              SchemaHistory **ret_history)
{
    Arena *arena = question->arena;
    const Schema *schema = question->table->bound->schema;
    const Schema **versions = NULL;
    TRY(definition_schemas(definition, arena, &versions));
    size_t count = definition->schema_count;
    if (count == 0 || !schema_equal(versions[count - 1], schema)) {
        versions[count++] = schema;
    }
    const TimeZone *zone = time_zone_utc();
    if (definition->date_zone.size > 0) {
        TimeZone *opened = NULL;
        TRY(time_zone_open(definition->date_zone, &opened));
        arena_on_reset(arena, release_zone, opened);
        zone = opened;
    }
    question->zone = zone;
    SchemaHistory *history = schema_history_new(arena);
    schema_history_set_date_zone(history, zone);
    for (size_t i = 0; i < count; i++) {
        (void)schema_history_add(history, versions[i]);
    }
    TableKeyOptions options = {versions, count, question->table->flow->keys,
                               question->table->flow->key_count, zone};
    AUTO_BUFFER Buffer text = {0};
    TRY(table_key_write(table_key_new(arena, &options), question->encoded, 0, &text));
    question->text = arena_copy_str(arena, buffer_str(&text));
    *ret_history = history;
    return NULL;
}

static Error *add_stored_row(KeyQuestion *question, const SchemaHistory *history,
                             const StoredRow *stored)
{
    Batch *batch = batch_new(question->arena, question->table->bound->schema, 1);
    TRY(row_decode(history, stored->row, question->arena, batch));
    AUTO_BUFFER Buffer text = {0};
    json_encode_row(batch, 0, &text);
    set_row(question, stored->ordinal, arena_copy_str(question->arena, buffer_str(&text)));
    return NULL;
}

static Error *read_store(KeyQuestion *question, TableStore *store, uint32_t shard,
                         const SchemaHistory *history)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan_key(store, shard, question->encoded);
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        TRY(store_scan_next(scan, &row, &found));
        if (!found) {
            return NULL;
        }
        TRY(add_stored_row(question, history, &row));
    }
}

/* A record of the key: its text, or that with "_row" behind it (both are written by one function,
 * so equal keys are equal bytes). */
static bool is_of_key(const KeyQuestion *question, Str key, uint32_t *ret_ordinal)
{
    if (key.data != NULL && str_equal(key, question->text)) {
        *ret_ordinal = 0;
        return true;
    }
    static const char row[] = ",\"_row\":";
    Str open = {question->text.data, question->text.size - 1};
    size_t before = open.size + sizeof row - 1;
    int64_t ordinal = 0;
    if (key.data == NULL || key.size < before + 2 || !str_starts_with(key, open) ||
        memcmp(key.data + open.size, row, sizeof row - 1) != 0 ||
        !str_to_int64((Str){key.data + before, key.size - before - 1}, &ordinal) || ordinal < 1 ||
        ordinal >= UINT32_MAX) {
        return false;
    }
    *ret_ordinal = (uint32_t)ordinal;
    return true;
}

static Error *read_topic(KeyQuestion *question, Log *log, int partitions, int partition,
                         int64_t start, int64_t end)
{
    int64_t *starts = arena_new_array(question->arena, int64_t, (size_t)partitions);
    int64_t *ends = arena_new_array(question->arena, int64_t, (size_t)partitions);
    for (int p = 0; p < partitions; p++) {
        starts[p] = p == partition ? start : -1;
    }
    ends[partition] = end;
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(log, question->table->topic, partitions, starts, ends, &reader));
    AUTO(arena) Arena *records_arena = arena_new("records");
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, CALL_MS, records_arena, &records, &count));
        for (size_t i = 0; i < count; i++) {
            uint32_t ordinal = 0;
            if (is_of_key(question, records[i].key, &ordinal)) {
                Str value = records[i].value;
                set_row(question, ordinal,
                        value.data == NULL ? STR_NULL : arena_copy_str(question->arena, value));
            }
        }
        if (count == 0) {
            return NULL;
        }
        arena_reset(records_arena);
    }
}

/* The sequence stands in the rows. */
static Error *read_sequence(const KeyQuestion *question, KeyReport *report)
{
    DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = question->zone, .dates = true};
    AUTO(decoder) Decoder *decoder = NULL;
    TRY(decoder_open(&options, question->table->bound->schema, &decoder));
    RowErrors bad = {0};
    Batch *batch = NULL;
    decoder_decode(decoder, &question->rows[0], 1, question->arena, &bad, &batch);
    if (bad.count == 0) {
        AUTO_BUFFER Buffer text = {0};
        json_encode_value(batch->columns[question->table->flow->sequence], 0, &text);
        report->sequence = arena_copy_str(question->arena, buffer_str(&text));
    }
    Error *error = bad.count == 0 ? NULL : bad.errors[0];
    if (error != NULL) {
        bad.errors[0] = NULL;
    }
    row_errors_done(&bad);
    return error;
}

/* ------------------------------------------------------------------------ both together ---- */

/* From Kafka and the state: the table of now. */
static Error *answer_with_log(KeyQuestion *question, State *state, Log *log, KeyReport *report)
{
    const char *topic = question->table->topic;
    LogTopicDescription description = {0};
    TRY(log_topic_describe(log, topic, CALL_MS, &description));
    Progress progress = {0};
    TRY(progress_read(log,
                      name_progress_topic(question->arena, question->program->topology->pipeline),
                      READ_COMMITTED, question->table->flow->name, question->table->bound->name,
                      CALL_MS, question->arena, &progress));
    SchemaHistory *history = NULL;
    TRY(read_definition(question, &progress.definition, &history));
    report->key = question->text;
    report->partition = partition_of_key(question->text, description.partition_count);
    int64_t start = 0;
    int64_t end = 0;
    TRY(topic_settled_range(log, topic, report->partition, CALL_MS, &start, &end));
    if ((size_t)report->partition < progress.definition.begin_count &&
        progress.definition.begins[report->partition] > start) {
        start = progress.definition.begins[report->partition];
    }
    TableStore *store = NULL;
    int64_t position = -1;
    int64_t written_us = 0;
    if (state != NULL) {
        TRY(state_view_table(state, question->table->bound->name, &store));
    }
    if (store != NULL && table_store_shards(store) == (uint32_t)description.partition_count) {
        TRY(table_store_position(store, (uint32_t)report->partition, &position, &written_us));
    }
    bool fresh = clock_now_us(NULL) - written_us < AGE_MAX_US;
    if (position >= start && position <= end && fresh) {
        TRY(read_store(question, store, (uint32_t)report->partition, history));
        start = position;
    }
    TRY(read_topic(question, log, description.partition_count, report->partition, start, end));
    cut_rows(question);
    report->rows = question->rows;
    report->row_count = question->row_count;
    report->is_current = true;
    return question->row_count == 0 ? NULL : read_sequence(question, report);
}

/* From the state alone: how many rows and their sequence. What columns the rows were written with
 * is known to Kafka only. */
static Error *answer_from_state(KeyQuestion *question, State *state, KeyReport *report)
{
    TableStore *store = NULL;
    if (state != NULL) {
        TRY(state_view_table(state, question->table->bound->name, &store));
    }
    if (store == NULL) {
        return NULL;
    }
    report->partition = partition_of_key(question->text, (int32_t)table_store_shards(store));
    uint32_t shard = (uint32_t)report->partition;
    KeyState known = {0};
    TRY(table_store_lookup(store, &shard, &question->encoded, 1, question->arena, &known));
    report->row_count = known.count;
    if (known.count == 0) {
        return NULL;
    }
    const Schema *schema = question->table->bound->schema;
    Vector *sequence =
        vector_new(question->arena, schema->fields[question->table->flow->sequence].type, 1);
    TRY(key_decode(known.sequence, question->arena, &sequence, 1));
    AUTO_BUFFER Buffer text = {0};
    json_encode_value(sequence, 0, &text);
    report->sequence = arena_copy_str(question->arena, buffer_str(&text));
    return NULL;
}

Error *state_report_key(const Program *program, const ProgramTable *table, Str text, State *state,
                        Log *log, Arena *arena, KeyReport *ret_report)
{
    KeyQuestion question = {.program = program, .table = table, .arena = arena};
    TRY(parse_key(&question, text));
    KeyReport report = {.key = question.text, .partition = -1};
    Error *error = log == NULL ? NULL : answer_with_log(&question, state, log, &report);
    if (log != NULL && error != NULL && error_disposition(error) == ERROR_RETRY) {
        report = (KeyReport){.key = question.text, .partition = -1, .log_error = error};
        log = NULL;
        error = NULL;
    }
    if (log == NULL && error == NULL) {
        error = answer_from_state(&question, state, &report);
    }
    if (error != NULL) {
        key_report_done(&report);
        return error;
    }
    *ret_report = report;
    return NULL;
}

void key_report_done(KeyReport *report)
{
    error_free(report->log_error);
    report->log_error = NULL;
}
