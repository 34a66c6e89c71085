/* Steps of the surroundings: the clock, and what a broker's operator or bad luck does. */
#include "processor/testing/step.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

Error *step_clock(World *world, const ScenarioStep *step)
{
    Str text = STR_NULL;
    TRY(yaml_text(step->body, "clock", STR_NULL, &text));
    int64_t now_us = 0;
    if (!timestamp_parse(text, world->zone, &now_us)) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place,
                        "`clock` is a date or an instant, not `%.*s`.", STR_ARG(text));
    }
    world_set_clock(world, now_us);
    return NULL;
}

static Error *need_mapping(const ScenarioStep *step, const YamlNode *node)
{
    return node->kind == YAML_MAPPING ? NULL
                                      : error_at(ERROR_SCENARIO_INVALID, node->place,
                                                 "`%s` needs a mapping here.", step->word);
}

/* ---------------------------------------------------------------------------------- topics ---- */

static LogConfigEntry *read_config(const YamlNode *node, Arena *arena, size_t *ret_count)
{
    *ret_count = node == NULL || node->kind != YAML_MAPPING ? 0 : node->count;
    LogConfigEntry *config = arena_new_array(arena, LogConfigEntry, *ret_count);
    for (size_t i = 0; i < *ret_count; i++) {
        config[i] = (LogConfigEntry){arena_copy_cstr(arena, node->entries[i].key),
                                     arena_copy_cstr(arena, node->entries[i].value->text)};
    }
    return config;
}

static Error *create_topic(World *world, const char *topic, int64_t partitions,
                           const YamlNode *config)
{
    LogTopicSpec spec = {.name = topic, .partitions = (int)partitions, .replication_factor = -1};
    spec.config = read_config(config, world->arena, &spec.config_count);
    return log_topic_create(world->log, &spec, WORLD_TIMEOUT_MS);
}

static Error *change_topic(World *world, const ScenarioStep *step, const char *topic,
                           int64_t partitions, const YamlNode *config)
{
    if (partitions > 0) {
        TRY(log_topic_add_partitions(world->log, topic, (int)partitions, WORLD_TIMEOUT_MS));
    }
    size_t count = 0;
    const LogConfigEntry *entries = read_config(config, world->arena, &count);
    if (count > 0 && world->broker == NULL) {
        return world_skip(world, step, "changes a topic's config on the model only");
    }
    for (size_t i = 0; i < count; i++) {
        sim_broker_set_topic_config(world->broker, topic, entries[i].name, entries[i].value);
    }
    return NULL;
}

/* {partitions, config, delete, recreate}: made when missing; else partitions are added and settings
 * changed. `recreate` deletes it first. */
static Error *apply_topic(World *world, const ScenarioStep *step, const YamlEntry *entry)
{
    TRY(need_mapping(step, entry->value));
    const char *topic = world_topic(world, entry->key);
    int64_t partitions = 0;
    bool delete_only = false;
    bool recreate = false;
    const YamlNode *count = yaml_node_get(entry->value, STR("partitions"));
    TRY(yaml_int(count, "partitions", 0, &partitions));
    if (count != NULL && partitions < 1) {
        return error_at(ERROR_SCENARIO_INVALID, count->place, "`partitions` is at least 1.");
    }
    TRY(yaml_bool(yaml_node_get(entry->value, STR("delete")), "delete", false, &delete_only));
    TRY(yaml_bool(yaml_node_get(entry->value, STR("recreate")), "recreate", false, &recreate));
    const YamlNode *config = yaml_node_get(entry->value, STR("config"));
    if (delete_only || recreate) {
        TRY(log_topic_delete(world->log, topic, WORLD_TIMEOUT_MS));
    }
    if (delete_only) {
        return NULL;
    }
    LogTopicDescription description = {0};
    Error *error = log_topic_describe(world->log, topic, WORLD_TIMEOUT_MS, &description);
    if (error == NULL) {
        return change_topic(world, step, topic, partitions, config);
    }
    if (error_class(error) != ERROR_KAFKA_TOPIC_NOT_FOUND) {
        return error;
    }
    error_free(error);
    if (world->options->shards != 0 && world_relation(world, entry->key) == NULL) {
        partitions = (int64_t)world->options->shards; /* the topic of a table to come */
    }
    return create_topic(world, topic, partitions == 0 ? 1 : partitions, config);
}

Error *step_topic(World *world, const ScenarioStep *step)
{
    TRY(need_mapping(step, step->body));
    for (size_t i = 0; i < step->body->count; i++) {
        TRY(apply_topic(world, step, &step->body->entries[i]));
    }
    return NULL;
}

/* {name: {partition: offset}}: the topic loses everything before. */
Error *step_expire(World *world, const ScenarioStep *step)
{
    TRY(need_mapping(step, step->body));
    for (size_t i = 0; i < step->body->count; i++) {
        const YamlEntry *entry = &step->body->entries[i];
        TRY(need_mapping(step, entry->value));
        for (size_t k = 0; k < entry->value->count; k++) {
            int64_t partition = 0;
            int64_t offset = 0;
            if (!str_to_int64(entry->value->entries[k].key, &partition)) {
                return error_at(ERROR_SCENARIO_INVALID, entry->value->entries[k].key_place,
                                "`expire` is {topic: {partition: offset}}.");
            }
            TRY(yaml_int(entry->value->entries[k].value, "offset", 0, &offset));
            TRY(log_records_delete(world->log, world_topic(world, entry->key), (int32_t)partition,
                                   offset, WORLD_TIMEOUT_MS));
        }
    }
    return NULL;
}

Error *step_compact(World *world, const ScenarioStep *step)
{
    Str name = STR_NULL;
    TRY(yaml_text(step->body, "compact", STR_NULL, &name));
    if (world->broker == NULL) {
        return world_skip(world, step, "works on the model only");
    }
    const char *topic = world_topic(world, name);
    LogTopicDescription description = {0};
    TRY(log_topic_describe(world->log, topic, WORLD_TIMEOUT_MS, &description));
    sim_broker_compact(world->broker, topic);
    return NULL;
}

/* ---------------------------------------------------------------------------------- faults ---- */

/* {call: commit, failure: unclear_committed, nth: 1} */
static Error *arm_call(World *world, const YamlNode *body)
{
    Str call_name = STR_NULL;
    Str failure_name = STR_NULL;
    int64_t nth = 1;
    TRY(yaml_text(yaml_node_get(body, STR("call")), "call", STR_NULL, &call_name));
    TRY(yaml_text(yaml_node_get(body, STR("failure")), "failure", STR("retriable"), &failure_name));
    TRY(yaml_int(yaml_node_get(body, STR("nth")), "nth", 1, &nth));
    SimCall call = SIM_COMMIT;
    SimFailure failure = SIM_RETRIABLE;
    if (!sim_call_parse(call_name, &call) || !sim_failure_parse(failure_name, &failure) ||
        nth < 1 || nth > UINT32_MAX) {
        return error_at(ERROR_SCENARIO_INVALID, body->place,
                        "There is no call `%.*s`, failure `%.*s`, or nth is not positive.",
                        STR_ARG(call_name), STR_ARG(failure_name));
    }
    sim_broker_fail_next(world->broker, call, failure, (unsigned)nth);
    return NULL;
}

/* {topic: src, partition: 0, offset: 5}; without offset: repaired. */
static Error *corrupt(World *world, const YamlNode *node)
{
    Str name = STR_NULL;
    int64_t partition = 0;
    int64_t offset = -1;
    TRY(yaml_text(yaml_node_get(node, STR("topic")), "topic", STR_NULL, &name));
    TRY(yaml_int(yaml_node_get(node, STR("partition")), "partition", 0, &partition));
    TRY(yaml_int(yaml_node_get(node, STR("offset")), "offset", -1, &offset));
    const char *topic = world_topic(world, name);
    if (offset >= 0) {
        sim_broker_corrupt(world->broker, topic, (int32_t)partition, offset);
    } else {
        sim_broker_repair(world->broker, topic, (int32_t)partition);
    }
    return NULL;
}

static Error *apply_fault(World *world, const YamlNode *body, const YamlEntry *entry)
{
    Str name = STR_NULL;
    bool flag = true;
    if (str_equal(entry->key, STR("call"))) {
        return arm_call(world, body);
    }
    if (str_equal(entry->key, STR("failure")) || str_equal(entry->key, STR("nth"))) {
        return NULL; /* with `call` or `point` */
    }
    if (str_equal(entry->key, STR("available"))) {
        TRY(yaml_bool(entry->value, "available", true, &flag));
        sim_broker_set_available(world->broker, flag);
        return NULL;
    }
    if (str_equal(entry->key, STR("corrupt"))) {
        return corrupt(world, entry->value);
    }
    bool deny = str_equal(entry->key, STR("deny"));
    if (deny || str_equal(entry->key, STR("allow"))) {
        TRY(yaml_text(entry->value, "topic", STR_NULL, &name));
        (deny ? sim_broker_deny : sim_broker_allow)(world->broker, world_topic(world, name));
        return NULL;
    }
    return error_at(ERROR_SCENARIO_INVALID, entry->key_place, "There is no fault `%.*s`.",
                    STR_ARG(entry->key));
}

/* {point: commit.before_commit, nth: 1}: the process dies there in one of the next updates, which
 * fails with SIMULATED_CRASH. */
static Error *arm_point(World *world, const ScenarioStep *step, const YamlNode *point)
{
    Str name = STR_NULL;
    int64_t nth = 1;
    TRY(yaml_text(point, "point", STR_NULL, &name));
    TRY(yaml_int(yaml_node_get(step->body, STR("nth")), "nth", 1, &nth));
    if (world->options->fault_name != NULL) {
        return world_skip(world, step, "has a fault point of its own");
    }
    for (size_t i = 0; i < fault_name_count; i++) {
        if (str_equal(name, str_from(fault_names[i])) && nth >= 1 && nth <= UINT32_MAX) {
            fault_arm(fault_names[i], (unsigned)nth, FAULT_CRASH);
            return NULL;
        }
    }
    return error_at(ERROR_SCENARIO_INVALID, point->place,
                    "There is no fault point `%.*s`, or nth is not positive.", STR_ARG(name));
}

Error *step_fault(World *world, const ScenarioStep *step)
{
    TRY(need_mapping(step, step->body));
    const YamlNode *point = yaml_node_get(step->body, STR("point"));
    if (point != NULL) {
        return arm_point(world, step, point);
    }
    if (world->broker == NULL) {
        return world_skip(world, step, "works on the model only");
    }
    for (size_t i = 0; i < step->body->count; i++) {
        TRY(apply_fault(world, step->body, &step->body->entries[i]));
    }
    return NULL;
}
