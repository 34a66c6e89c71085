/* Steps that fill source topics: feed, upsert, delete, and the end of a transaction of a feed.
 *
 *     feed: {src: [[1, a], {id: 2, v: b}, {raw: '{"id":3}', key: k3, partition: 1}]}
 *
 * A row becomes a JSON record without key. A mapping with raw, hex or row (unless the relation has
 * a column of that name) is the record itself; `repeat: N` sends it N times. */
#include "connectors/format/format.h"
#include "processor/base/memory.h"
#include "processor/run/topic_reader.h"
#include "processor/testing/step.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

/* Records of one step, in feed order. */
typedef struct Outputs {
    World *world;
    const ScenarioRelation *relation;
    const char *topic;
    Arena *arena;
    LogOutput *items;
    size_t count;
    size_t capacity;
} Outputs;

enum { REPEAT_MAX = 1000000 };

static int32_t next_turn(World *world, const ScenarioRelation *relation)
{
    int *turn = map_get(&world->turns, relation->name);
    if (turn == NULL) {
        turn = arena_new_object(world->arena, int);
        map_put(&world->turns, relation->name, turn);
    }
    return (*turn)++;
}

static LogOutput *add_output(Outputs *outputs)
{
    mem_reserve(outputs->items, &outputs->capacity, outputs->count + 1);
    LogOutput *output = &outputs->items[outputs->count++];
    *output = (LogOutput){.topic = outputs->topic,
                          .partition = LOG_PARTITION_BY_KEY,
                          .timestamp_ms = clock_now_us(&outputs->world->clock) / 1000};
    return output;
}

/* ------------------------------------------------------------------------ records as given ---- */

static Error *add_header(Outputs *outputs, Str name, const YamlNode *value, LogHeader *header)
{
    header->name = name;
    return yaml_bytes(value, outputs->arena, &header->value);
}

/* {name: value} or, for repeated names, [[name, value]]. */
static Error *read_headers(Outputs *outputs, const YamlNode *node, LogOutput *output)
{
    if (node == NULL || node->kind == YAML_SCALAR) {
        return node == NULL ? NULL
                            : error_at(ERROR_SCENARIO_INVALID, node->place,
                                       "`headers` is a mapping or a list of [name, value].");
    }
    LogHeader *headers = arena_new_array(outputs->arena, LogHeader, node->count);
    for (size_t i = 0; i < node->count; i++) {
        if (node->kind == YAML_MAPPING) {
            TRY(add_header(outputs, node->entries[i].key, node->entries[i].value, &headers[i]));
            continue;
        }
        const YamlNode *pair = node->items[i];
        if (pair->kind != YAML_SEQUENCE || pair->count != 2 ||
            pair->items[0]->kind != YAML_SCALAR) {
            return error_at(ERROR_SCENARIO_INVALID, pair->place, "A header is [name, value].");
        }
        TRY(add_header(outputs, pair->items[0]->text, pair->items[1], &headers[i]));
    }
    output->headers = headers;
    output->header_count = node->count;
    return NULL;
}

static Error *read_timestamp(Outputs *outputs, const YamlNode *node, LogOutput *output)
{
    if (node == NULL) {
        return NULL;
    }
    int64_t time_us = 0;
    if (node->kind != YAML_SCALAR || !timestamp_parse(node->text, outputs->world->zone, &time_us)) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "`timestamp` is an instant.");
    }
    output->timestamp_ms = time_us / 1000;
    return NULL;
}

static Error *read_place(Outputs *outputs, const YamlNode *node, LogOutput *output)
{
    int64_t partition = -1;
    const YamlNode *where = yaml_node_get(node, STR("partition"));
    TRY(yaml_int(where, "partition", -1, &partition));
    if (where != NULL && (partition < 0 || partition > INT32_MAX)) {
        return error_at(ERROR_SCENARIO_INVALID, where->place, "There is no partition %lld.",
                        (long long)partition);
    }
    if (partition >= 0) {
        output->partition = (int32_t)partition;
    }
    TRY(read_headers(outputs, yaml_node_get(node, STR("headers")), output));
    return read_timestamp(outputs, yaml_node_get(node, STR("timestamp")), output);
}

/* ------------------------------------------------------------------------------------ rows ---- */

static Error *row_value(const Outputs *outputs, const YamlNode *node, Str *ret_value)
{
    Batch *batch = batch_new(outputs->arena, outputs->relation->schema, 1);
    TRY(yaml_row_append(node, outputs->world->zone, outputs->arena, batch));
    AUTO_BUFFER Buffer text = {0};
    json_encode_row(batch, 0, &text);
    *ret_value = arena_copy_str(outputs->arena, buffer_str(&text));
    return NULL;
}

static bool names_record(const ScenarioRelation *relation, const YamlNode *node, const char *word)
{
    Str name = str_from(word);
    return node->kind == YAML_MAPPING && yaml_node_get(node, name) != NULL &&
           schema_find(relation->schema, name) < 0;
}

static Error *check_record_keys(const YamlNode *node)
{
    static const char *const known[] = {"raw",     "hex",       "row",       "key",
                                        "headers", "partition", "timestamp", "repeat"};
    for (size_t i = 0; i < node->count; i++) {
        bool found = false;
        for (size_t k = 0; k < ARRAY_LENGTH(known); k++) {
            found = found || str_equal(node->entries[i].key, str_from(known[k]));
        }
        if (!found) {
            return error_at(ERROR_SCENARIO_INVALID, node->entries[i].key_place,
                            "A record does not know `%.*s`.", STR_ARG(node->entries[i].key));
        }
    }
    return NULL;
}

static Error *read_record(Outputs *outputs, const YamlNode *node, LogOutput *output)
{
    TRY(check_record_keys(node));
    const YamlNode *raw = yaml_node_get(node, STR("raw"));
    const YamlNode *hex = yaml_node_get(node, STR("hex"));
    const YamlNode *row = yaml_node_get(node, STR("row"));
    if ((raw != NULL) + (hex != NULL) + (row != NULL) != 1) {
        return error_at(ERROR_SCENARIO_INVALID, node->place,
                        "A record has one of `raw`, `hex` and `row`.");
    }
    if (raw != NULL) {
        TRY(yaml_bytes(raw, outputs->arena, &output->value));
    } else if (hex != NULL) {
        TRY(yaml_hex_bytes(hex, outputs->arena, &output->value));
    } else {
        TRY(row_value(outputs, row, &output->value));
    }
    const YamlNode *key = yaml_node_get(node, STR("key"));
    if (key != NULL) {
        TRY(yaml_bytes(key, outputs->arena, &output->key));
    }
    return read_place(outputs, node, output);
}

static Error *take_turn(Outputs *outputs, LogOutput *output)
{
    LogTopicDescription topic = {0};
    TRY(log_topic_describe(outputs->world->log, outputs->topic, WORLD_TIMEOUT_MS, &topic));
    output->partition = next_turn(outputs->world, outputs->relation) % topic.partition_count;
    return NULL;
}

/* The record just added once more, as often as `repeat` says. */
static Error *repeat_output(Outputs *outputs, const YamlNode *node, bool in_turn)
{
    int64_t times = 1;
    TRY(yaml_int(yaml_node_get(node, STR("repeat")), "repeat", 1, &times));
    if (times < 1 || times > REPEAT_MAX) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "`repeat` is 1 to %d.", REPEAT_MAX);
    }
    for (int64_t i = 1; i < times; i++) {
        LogOutput copy = outputs->items[outputs->count - 1];
        LogOutput *output = add_output(outputs);
        *output = copy;
        if (in_turn) {
            TRY(take_turn(outputs, output));
        }
    }
    return NULL;
}

static Error *feed_item(Outputs *outputs, const YamlNode *node)
{
    const ScenarioRelation *relation = outputs->relation;
    LogOutput *output = add_output(outputs);
    bool is_record = names_record(relation, node, "raw") || names_record(relation, node, "hex") ||
                     names_record(relation, node, "row");
    TRY(is_record ? read_record(outputs, node, output) : row_value(outputs, node, &output->value));
    bool in_turn = output->partition == LOG_PARTITION_BY_KEY;
    if (in_turn) {
        TRY(take_turn(outputs, output));
    }
    return is_record ? repeat_output(outputs, node, in_turn) : NULL;
}

/* --------------------------------------------------------------------------- keyed relations ----
 */

static Str key_text(const Outputs *outputs, Vector *const *columns)
{
    const ScenarioRelation *relation = outputs->relation;
    Field *fields = arena_new_array(outputs->arena, Field, relation->key_count);
    for (size_t i = 0; i < relation->key_count; i++) {
        fields[i] = relation->schema->fields[relation->keys[i]];
    }
    AUTO_BUFFER Buffer text = {0};
    json_encode_key(fields, columns, relation->key_count, 0, 0, &text);
    return arena_copy_str(outputs->arena, buffer_str(&text));
}

static Error *upsert_item(Outputs *outputs, const YamlNode *node)
{
    const ScenarioRelation *relation = outputs->relation;
    Batch *batch = batch_new(outputs->arena, relation->schema, 1);
    TRY(yaml_row_append(node, outputs->world->zone, outputs->arena, batch));
    Vector **columns = arena_new_array(outputs->arena, Vector *, relation->key_count);
    for (size_t i = 0; i < relation->key_count; i++) {
        columns[i] = batch->columns[relation->keys[i]];
    }
    AUTO_BUFFER Buffer text = {0};
    json_encode_row(batch, 0, &text);
    LogOutput *output = add_output(outputs);
    output->key = key_text(outputs, columns);
    output->value = arena_copy_str(outputs->arena, buffer_str(&text));
    return NULL;
}

static Error *delete_item(Outputs *outputs, const YamlNode *node)
{
    const ScenarioRelation *relation = outputs->relation;
    Field *fields = arena_new_array(outputs->arena, Field, relation->key_count);
    for (size_t i = 0; i < relation->key_count; i++) {
        fields[i] = relation->schema->fields[relation->keys[i]];
    }
    const Schema *schema = schema_new(outputs->arena, fields, relation->key_count);
    Batch *batch = batch_new(outputs->arena, schema, 1);
    TRY(yaml_row_append(node, outputs->world->zone, outputs->arena, batch));
    LogOutput *output = add_output(outputs);
    output->key = key_text(outputs, batch->columns);
    return NULL;
}

/* ----------------------------------------------------------------------------------- steps ---- */

typedef Error *(*ItemFunction)(Outputs *outputs, const YamlNode *node);

static Error *check_relation(const ScenarioRelation *relation, const YamlEntry *entry,
                             bool needs_key)
{
    if (relation == NULL) {
        return error_at(ERROR_SCENARIO_INVALID, entry->key_place, "There is no relation `%.*s`.",
                        STR_ARG(entry->key));
    }
    if (needs_key && relation->key_count == 0) {
        return error_at(ERROR_SCENARIO_INVALID, entry->key_place, "Relation `%.*s` has no key.",
                        STR_ARG(entry->key));
    }
    if (entry->value->kind != YAML_SEQUENCE) {
        return error_at(ERROR_SCENARIO_INVALID, entry->value->place, "A list of rows is needed.");
    }
    return NULL;
}

static Error *send_rows(Outputs *outputs, const YamlNode *rows, ItemFunction item)
{
    for (size_t i = 0; i < rows->count; i++) {
        TRY(item(outputs, rows->items[i]));
    }
    return feeder_send(outputs->world->feeder, outputs->items, outputs->count);
}

static Error *send_to(World *world, const YamlEntry *entry, ItemFunction item, bool needs_key)
{
    const ScenarioRelation *relation = world_relation(world, entry->key);
    TRY(check_relation(relation, entry, needs_key));
    AUTO(arena) Arena *arena = arena_new("feed");
    Outputs outputs = {.world = world,
                       .relation = relation,
                       .topic = world_topic(world, relation->name),
                       .arena = arena};
    Error *error = send_rows(&outputs, entry->value, item);
    mem_free(outputs.items);
    return error;
}

static Error *send_all(World *world, const ScenarioStep *step, ItemFunction item, bool needs_key)
{
    if (step->body->kind != YAML_MAPPING) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place,
                        "`%s` is a mapping of relations to rows.", step->word);
    }
    for (size_t i = 0; i < step->body->count; i++) {
        TRY(send_to(world, &step->body->entries[i], item, needs_key));
    }
    return NULL;
}

/* A broker answers before the markers are in the log, and an update reads up to them. */
static Error *wait_for_markers(World *world)
{
    for (size_t i = 0; i < world->relation_count; i++) {
        const char *topic = world_topic(world, world->relations[i].name);
        LogTopicDescription description = {0};
        TRY(log_topic_describe(world->log, topic, WORLD_TIMEOUT_MS, &description));
        for (int p = 0; p < description.partition_count; p++) {
            int64_t start = 0;
            int64_t end = 0;
            TRY(topic_settled_range(world->log, topic, p, WORLD_TIMEOUT_MS, &start, &end));
        }
    }
    return NULL;
}

static Error *end_transaction(World *world, const YamlNode *how)
{
    bool commit = how->kind == YAML_SCALAR && str_equal(how->text, STR("commit"));
    if (!commit && (how->kind != YAML_SCALAR || !str_equal(how->text, STR("abort")))) {
        return error_at(ERROR_SCENARIO_INVALID, how->place,
                        "A transaction ends with commit or abort.");
    }
    TRY(feeder_end(world->feeder, commit));
    return wait_for_markers(world);
}

/* `transaction: commit`, `abort` or `open` beside a feed: its records are in one transaction. */
Error *step_feed(World *world, const ScenarioStep *step)
{
    const YamlNode *how = yaml_node_get(step->node, STR("transaction"));
    if (how == NULL) {
        return send_all(world, step, feed_item, false);
    }
    TRY(feeder_begin(world->feeder));
    TRY(send_all(world, step, feed_item, false));
    if (how->kind == YAML_SCALAR && str_equal(how->text, STR("open"))) {
        return NULL;
    }
    return end_transaction(world, how);
}

/* Ends the transaction that a feed left open. */
Error *step_transaction(World *world, const ScenarioStep *step)
{
    return end_transaction(world, step->body);
}

Error *step_upsert(World *world, const ScenarioStep *step)
{
    return send_all(world, step, upsert_item, true);
}

Error *step_delete(World *world, const ScenarioStep *step)
{
    return send_all(world, step, delete_item, true);
}
