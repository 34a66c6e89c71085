/* The records of a topic since the last such step: byte for byte, in offset order within each
 * partition. Run another way than written (test_options_vary), the same end may come in other
 * steps: then both sides are folded by key.
 *
 *     expect_topic: {t: [{key: {k: a}, value: {k: a, v: x}}, {key: {k: a, _row: 1}, tombstone:
 * true}]}
 *
 * Of a table, key and value are rows of their columns; a text is the bytes themselves, and so is
 * everything of another topic. `timestamp` is compared where it is given. */
#include "connectors/format/format.h"
#include "processor/base/memory.h"
#include "processor/run/topic_reader.h"
#include "processor/testing/step.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

typedef struct TopicRecord {
    Str key;              /* STR_NULL: null */
    Str value;            /* STR_NULL: a tombstone */
    int64_t timestamp_ms; /* -1: not to be compared */
} TopicRecord;

typedef struct RecordList {
    TopicRecord *records;
    size_t count;
    size_t capacity;
} RecordList;

static void add_record(RecordList *list, TopicRecord record)
{
    mem_reserve(list->records, &list->capacity, list->count + 1);
    list->records[list->count++] = record;
}

/* ---------------------------------------------------------------------------------- actual ---- */

/* Offsets up to which earlier steps have looked. */
static int64_t *seen_offsets(World *world, const char *topic, size_t partitions)
{
    enum { PARTITIONS_MAX = 1000 };
    int64_t *offsets = map_get(&world->topic_marks, str_from(topic));
    if (offsets == NULL) {
        offsets = arena_new_array(world->arena, int64_t, PARTITIONS_MAX);
        map_put(&world->topic_marks, arena_copy_str(world->arena, str_from(topic)), offsets);
    }
    return partitions <= PARTITIONS_MAX ? offsets : NULL;
}

static Error *read_partition(World *world, const char *topic, int partition, int partitions,
                             int64_t *seen, Arena *arena, RecordList *list)
{
    int64_t *starts = arena_new_array(arena, int64_t, (size_t)partitions);
    int64_t *ends = arena_new_array(arena, int64_t, (size_t)partitions);
    for (int p = 0; p < partitions; p++) {
        starts[p] = -1;
    }
    TRY(topic_settled_range(world->log, topic, partition, WORLD_TIMEOUT_MS, &starts[partition],
                            &ends[partition]));
    if (starts[partition] < seen[partition]) {
        starts[partition] = seen[partition];
    }
    seen[partition] = ends[partition];
    AUTO(topic_reader) TopicReader *reader = NULL;
    TRY(topic_reader_open(world->log, topic, partitions, starts, ends, &reader));
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        TRY(topic_reader_next(reader, WORLD_TIMEOUT_MS, arena, &records, &count));
        if (count == 0) {
            return NULL;
        }
        for (size_t i = 0; i < count; i++) {
            add_record(list,
                       (TopicRecord){records[i].key, records[i].value, records[i].timestamp_ms});
        }
    }
}

static Error *read_actual(World *world, const char *topic, Arena *arena, RecordList *list)
{
    LogTopicDescription description = {0};
    TRY(log_topic_describe(world->log, topic, WORLD_TIMEOUT_MS, &description));
    int64_t *seen = seen_offsets(world, topic, (size_t)description.partition_count);
    if (seen == NULL) {
        return error_new(ERROR_NOT_YET, "Topic `%s` has more partitions than a test can follow.",
                         topic);
    }
    for (int p = 0; p < description.partition_count; p++) {
        TRY(read_partition(world, topic, p, description.partition_count, seen, arena, list));
    }
    return NULL;
}

/* -------------------------------------------------------------------------------- expected ---- */

typedef struct TopicShape {
    const ProgramTable *table; /* NULL: plain bytes */
    const TimeZone *zone;
    Arena *arena;
} TopicShape;

static Error *value_bytes(const TopicShape *shape, const YamlNode *node, Str *ret_bytes)
{
    if (shape->table == NULL || node->kind == YAML_SCALAR) {
        return yaml_bytes(node, shape->arena, ret_bytes);
    }
    Batch *batch = batch_new(shape->arena, shape->table->bound->schema, 1);
    TRY(yaml_row_append(node, shape->zone, shape->arena, batch));
    AUTO_BUFFER Buffer text = {0};
    json_encode_row(batch, 0, &text);
    *ret_bytes = arena_copy_str(shape->arena, buffer_str(&text));
    return NULL;
}

static const Schema *key_schema(const TopicShape *shape)
{
    const BoundFlow *flow = shape->table->flow;
    Field *fields = arena_new_array(shape->arena, Field, flow->key_count);
    for (size_t i = 0; i < flow->key_count; i++) {
        fields[i] = shape->table->bound->schema->fields[flow->keys[i]];
    }
    return schema_new(shape->arena, fields, flow->key_count);
}

/* `_row` beside the key columns is the ordinal. */
static Error *split_ordinal(const YamlNode *node, Arena *arena, YamlNode *ret_columns,
                            int64_t *ret_ordinal)
{
    *ret_columns = *node;
    if (node->kind != YAML_MAPPING) {
        return NULL;
    }
    TRY(yaml_int(yaml_node_get(node, STR("_row")), "_row", 0, ret_ordinal));
    ret_columns->entries = arena_new_array(arena, YamlEntry, node->count);
    ret_columns->count = 0;
    for (size_t i = 0; i < node->count; i++) {
        if (!str_equal(node->entries[i].key, STR("_row"))) {
            ret_columns->entries[ret_columns->count++] = node->entries[i];
        }
    }
    return NULL;
}

static Error *key_bytes(const TopicShape *shape, const YamlNode *node, Str *ret_bytes)
{
    if (shape->table == NULL || node->kind == YAML_SCALAR) {
        return yaml_bytes(node, shape->arena, ret_bytes);
    }
    YamlNode columns;
    int64_t ordinal = 0;
    TRY(split_ordinal(node, shape->arena, &columns, &ordinal));
    const Schema *schema = key_schema(shape);
    Batch *batch = batch_new(shape->arena, schema, 1);
    TRY(yaml_row_append(&columns, shape->zone, shape->arena, batch));
    AUTO_BUFFER Buffer text = {0};
    json_encode_key(schema->fields, batch->columns, schema->field_count, 0, (uint32_t)ordinal,
                    &text);
    *ret_bytes = arena_copy_str(shape->arena, buffer_str(&text));
    return NULL;
}

static Error *read_expected(const TopicShape *shape, const YamlNode *node, TopicRecord *record)
{
    if (node->kind != YAML_MAPPING) {
        return error_at(ERROR_SCENARIO_INVALID, node->place,
                        "A record is {key, value} or {key, tombstone: true}.");
    }
    *record = (TopicRecord){STR_NULL, STR_NULL, -1};
    const YamlNode *key = yaml_node_get(node, STR("key"));
    const YamlNode *value = yaml_node_get(node, STR("value"));
    const YamlNode *timestamp = yaml_node_get(node, STR("timestamp"));
    bool tombstone = false;
    TRY(yaml_bool(yaml_node_get(node, STR("tombstone")), "tombstone", false, &tombstone));
    if (tombstone == (value != NULL)) {
        return error_at(ERROR_SCENARIO_INVALID, node->place,
                        "A record has `value` or `tombstone: true`.");
    }
    if (timestamp != NULL) {
        int64_t time_us = 0;
        if (!timestamp_parse(timestamp->text, shape->zone, &time_us)) {
            return error_at(ERROR_SCENARIO_INVALID, timestamp->place, "This is no timestamp.");
        }
        record->timestamp_ms = time_us / 1000;
    }
    if (key != NULL) {
        TRY(key_bytes(shape, key, &record->key));
    }
    return value == NULL ? NULL : value_bytes(shape, value, &record->value);
}

/* ------------------------------------------------------------------------------- comparing ---- */

/* The last record of each key; a tombstone of a key that was not expected at all is a row that came
 * and went. */
static void fold(RecordList *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool later = false;
        for (size_t k = i + 1; k < list->count && !later; k++) {
            later = list->records[i].key.data != NULL && list->records[k].key.data != NULL &&
                    str_equal(list->records[i].key, list->records[k].key);
        }
        if (!later) {
            list->records[kept++] = list->records[i];
        }
    }
    list->count = kept;
}

static bool same_bytes(Str a, Str b)
{
    return (a.data == NULL) == (b.data == NULL) && str_equal(a, b);
}

static bool same_record(const TopicRecord *expected, const TopicRecord *actual)
{
    return same_bytes(expected->key, actual->key) && same_bytes(expected->value, actual->value) &&
           (expected->timestamp_ms < 0 || expected->timestamp_ms == actual->timestamp_ms);
}

static void print_record(char mark, const TopicRecord *record, Buffer *out)
{
    buffer_printf(out, "     %c %.*s  ", mark,
                  STR_ARG(record->key.data == NULL ? STR("(null)") : record->key));
    buffer_printf(out, "%.*s",
                  STR_ARG(record->value.data == NULL ? STR("tombstone") : record->value));
    if (record->timestamp_ms >= 0) {
        AUTO_BUFFER Buffer time = {0};
        clock_format_utc(record->timestamp_ms * 1000, &time);
        buffer_printf(out, "  at %s", buffer_cstr(&time));
    }
    buffer_append_byte(out, '\n');
}

static bool same_in_order(const RecordList *expected, const RecordList *actual)
{
    if (expected->count != actual->count) {
        return false;
    }
    for (size_t i = 0; i < expected->count; i++) {
        if (!same_record(&expected->records[i], &actual->records[i])) {
            return false;
        }
    }
    return true;
}

static bool contains_key(const RecordList *list, Str key)
{
    for (size_t i = 0; i < list->count; i++) {
        if (same_bytes(list->records[i].key, key)) {
            return true;
        }
    }
    return false;
}

/* Every expected record is there; of the others, only tombstones of keys not spoken of. */
static bool same_folded(RecordList *expected, RecordList *actual)
{
    fold(expected);
    fold(actual);
    for (size_t i = 0; i < expected->count; i++) {
        bool found = false;
        for (size_t k = 0; k < actual->count && !found; k++) {
            found = same_record(&expected->records[i], &actual->records[k]);
        }
        if (!found) {
            return false;
        }
    }
    for (size_t i = 0; i < actual->count; i++) {
        const TopicRecord *record = &actual->records[i];
        if (record->value.data != NULL && !contains_key(expected, record->key)) {
            return false;
        }
    }
    return true;
}

static Error *compare(World *world, const YamlEntry *entry, RecordList *expected,
                      RecordList *actual)
{
    bool same = test_options_vary(world->options) ? same_folded(expected, actual)
                                                  : same_in_order(expected, actual);
    if (same) {
        return NULL;
    }
    for (size_t i = 0; i < expected->count; i++) {
        print_record('-', &expected->records[i], &world->detail);
    }
    for (size_t i = 0; i < actual->count; i++) {
        print_record('+', &actual->records[i], &world->detail);
    }
    return error_at(ERROR_TEST_FAILED, entry->value->place,
                    "expect_topic `%.*s`: %zu records expected (-), %zu are there (+).",
                    STR_ARG(entry->key), expected->count, actual->count);
}

static Error *expect_records(World *world, const YamlEntry *entry, Arena *arena,
                             RecordList *expected, RecordList *actual)
{
    if (entry->value->kind != YAML_SEQUENCE) {
        return error_at(ERROR_SCENARIO_INVALID, entry->value->place,
                        "A list of records is needed.");
    }
    TRY(world_need_redefined(world));
    int table = world_table(world, entry->key);
    TopicShape shape = {.zone = world->zone, .arena = arena};
    if (table >= 0) {
        shape.table = &world_program(world)->tables[table];
    }
    for (size_t i = 0; i < entry->value->count; i++) {
        TopicRecord record;
        TRY(read_expected(&shape, entry->value->items[i], &record));
        add_record(expected, record);
    }
    TRY(read_actual(world, world_topic(world, entry->key), arena, actual));
    return compare(world, entry, expected, actual);
}

Error *step_expect_topic(World *world, const ScenarioStep *step)
{
    if (step->body->kind != YAML_MAPPING) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place,
                        "`expect_topic` is a mapping of tables to records.");
    }
    Error *error = NULL;
    for (size_t i = 0; i < step->body->count && error == NULL; i++) {
        AUTO(arena) Arena *arena = arena_new("topic");
        RecordList expected = {0};
        RecordList actual = {0};
        error = expect_records(world, &step->body->entries[i], arena, &expected, &actual);
        mem_free(expected.records);
        mem_free(actual.records);
    }
    return error;
}
