/* The surroundings of one scenario: made, found by name, and cleared away. */
#include "processor/testing/world.h"

#include <assert.h>

#include "connectors/kafka/kafka.h"
#include "processor/base/memory.h"
#include "processor/base/uuid.h"
#include "processor/testing/temporary_dir.h"

#include "processor/base/banned.h"

enum {
    NAME_BYTES_MAX = 60,
    RUN_BYTES = 8, /* of a run's random name */
};

/* Where the clock stands until a `clock` step: runs are repeatable. 2026-01-01T00:00:00Z. */
#define FIRST_NOW_US INT64_C(1767225600000000)

/* ----------------------------------------------------------------------------------- names ---- */

/* An id as part of topic names. */
static const char *topic_part(Arena *arena, Str id)
{
    AUTO_BUFFER Buffer name = {0};
    for (size_t i = 0; i < id.size && i < NAME_BYTES_MAX; i++) {
        char c = id.data[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_' || c == '.';
        buffer_append_byte(&name, good ? c : '_');
    }
    return arena_copy_cstr(arena, name.size == 0 ? STR("scenario") : buffer_str(&name));
}

/* One prefix a process, so that runs side by side do not meet. */
static const char *run_name(Arena *arena)
{
    char text[UUID_TEXT_SIZE];
    uuid_generate(text);
    return arena_copy_cstr(arena, (Str){text, RUN_BYTES});
}

static void name_topics(World *world)
{
    const char *id = topic_part(world->arena, world->scenario->id);
    world->prefix = "";
    const char *name = id;
    if (world->options->bootstrap != NULL) {
        world->prefix = arena_printf(world->arena, "%s.%s.", run_name(world->arena), id);
        name = arena_printf(world->arena, "%spipeline", world->prefix);
    }
    world->implicit = (ImplicitPipeline){.scenario = world->scenario,
                                         .options = world->options,
                                         .name = name,
                                         .prefix = world->prefix};
}

const ScenarioRelation *world_relation(const World *world, Str name)
{
    for (size_t i = 0; i < world->relation_count; i++) {
        if (str_equal_ignore_case(world->relations[i].name, name)) {
            return &world->relations[i];
        }
    }
    return NULL;
}

int world_table(const World *world, Str name)
{
    return world->program == NULL ? -1 : implicit_program_table(world->program, name);
}

static const char *remember_topic(World *world, const char *topic)
{
    Str name = str_from(topic);
    if (map_get(&world->topics, name) == NULL) {
        Str kept = arena_copy_str(world->arena, name);
        map_put(&world->topics, kept, world);
    }
    return topic;
}

const char *world_topic(World *world, Str name)
{
    const ScenarioRelation *relation = world_relation(world, name);
    if (relation != NULL && relation->topic != NULL) {
        return remember_topic(world, relation->topic);
    }
    int table = world_table(world, name);
    if (relation == NULL && table >= 0) {
        return remember_topic(world, implicit_program(world->program)->tables[table].topic);
    }
    Str plain = relation == NULL ? name : relation->name;
    return remember_topic(world,
                          arena_printf(world->arena, "%s%.*s", world->prefix, STR_ARG(plain)));
}

Error *world_unknown_table(const World *world, SourcePlace place, Str name)
{
    Error *error = error_at(ERROR_SCENARIO_INVALID, place,
                            "No statement so far creates a table `%.*s`.", STR_ARG(name));
    if (world_relation(world, name) != NULL) {
        error_set_hint(error, "`%.*s` is a relation, filled by feed or upsert", STR_ARG(name));
    }
    return error;
}

/* ----------------------------------------------------------------------------------- clock ---- */

void world_set_clock(World *world, int64_t now_us)
{
    world->clock = (Clock){.fixed = true, .fixed_us = now_us};
    if (world->broker != NULL) {
        sim_broker_set_clock(world->broker, &world->clock);
    }
}

/* --------------------------------------------------------------------------------- opening ---- */

static Error *open_log(World *world)
{
    if (world->options->bootstrap != NULL) {
        TRY(kafka_log_open(world->options->bootstrap, NULL, 0, &world->log));
        TRY(log_ping(world->log, WORLD_TIMEOUT_MS));
    } else {
        world->broker = sim_broker_new();
        world->log = sim_broker_connect(world->broker);
    }
    world_set_clock(world, FIRST_NOW_US);
    world->feeder = feeder_new(world->log, arena_printf(world->arena, "%sfeed", world->prefix));
    return NULL;
}

/* Sources of a topology file as relations to be fed. */
static void relations_of_program(World *world)
{
    const Program *program = implicit_program(world->program);
    ScenarioRelation *relations =
        arena_new_array(world->arena, ScenarioRelation, program->source_count);
    for (size_t i = 0; i < program->source_count; i++) {
        const ProgramSource *source = &program->sources[i];
        const TopologySource *config = source->config;
        relations[i] = (ScenarioRelation){.name = config->name,
                                          .is_table = config->kind == TOPOLOGY_TABLE,
                                          .schema = source->schema,
                                          .partitions = 1,
                                          .topic = source->topic};
        relations[i].keys = arena_new_array(world->arena, uint32_t, config->key_count);
        for (size_t k = 0; k < config->key_count; k++) {
            int column = schema_find(source->schema, config->key[k].text);
            if (column >= 0) {
                relations[i].keys[relations[i].key_count++] = (uint32_t)column;
            }
        }
    }
    world->relations = relations;
    world->relation_count = program->source_count;
}

/* Source topics keep what a fixed clock makes look old. */
static Error *make_topic(World *world, const ScenarioRelation *relation)
{
    LogConfigEntry stream_config[] = {{"retention.ms", "-1"}};
    LogConfigEntry table_config[] = {{"cleanup.policy", "compact"}};
    const YamlNode *given =
        relation->node == NULL ? NULL : yaml_node_get(relation->node, STR("config"));
    size_t given_count = given == NULL || given->kind != YAML_MAPPING ? 0 : given->count;
    LogConfigEntry *config = arena_new_array(world->arena, LogConfigEntry, given_count + 1);
    config[0] = relation->is_table ? table_config[0] : stream_config[0];
    for (size_t i = 0; i < given_count; i++) {
        config[i + 1] =
            (LogConfigEntry){arena_copy_cstr(world->arena, given->entries[i].key),
                             arena_copy_cstr(world->arena, given->entries[i].value->text)};
    }
    LogTopicSpec spec = {.name = world_topic(world, relation->name),
                         .partitions = relation->partitions,
                         .replication_factor = -1,
                         .config = config,
                         .config_count = given_count + 1};
    return log_topic_create(world->log, &spec, WORLD_TIMEOUT_MS);
}

static Error *open_relations(World *world)
{
    world->relations = world->scenario->relations;
    world->relation_count = world->scenario->relation_count;
    if (world->scenario->topology.data != NULL) {
        if (world->options->bootstrap != NULL || world->options->shards != 0) {
            world->skipped = true; /* the file names its topics and their partitions */
            return error_new(ERROR_TEST_FAILED, "A topology file is run as it is.");
        }
        TRY(implicit_program_from_file(&world->implicit, &world->program));
        relations_of_program(world);
    }
    for (size_t i = 0; i < world->relation_count; i++) {
        TRY(make_topic(world, &world->relations[i]));
    }
    return NULL;
}

static Error *open_parts(World *world)
{
    Str zone = world->scenario->time_zone;
    TRY(time_zone_open(zone.data == NULL ? STR("UTC") : zone, &world->zone));
    TRY(temporary_dir_make(world->arena, &world->dir));
    world->state_dir = arena_printf(world->arena, "%s/state", world->dir);
    TRY(open_log(world));
    return open_relations(world);
}

Error *world_open(const TestOptions *options, const Scenario *scenario, World **ret)
{
    World *world = mem_new(World);
    world->options = options;
    world->scenario = scenario;
    world->arena = arena_new("scenario");
    name_topics(world);
    *ret = world;
    return open_parts(world);
}

/* --------------------------------------------------------------------------------- closing ---- */

static void forget_topic(const World *world, const char *topic)
{
    error_free(log_topic_delete(world->log, topic, WORLD_TIMEOUT_MS));
}

/* Table topics are noted when a program is taken over, relations when they are made. */
static void delete_topics(const World *world)
{
    static const char *const internal[] = {"progress", "event_log", "quarantine"};
    for (MapEntry *e = map_first(&world->topics); e != NULL; e = map_next(&world->topics, e)) {
        forget_topic(world, arena_copy_cstr(world->arena, e->key));
    }
    for (size_t i = 0; i < ARRAY_LENGTH(internal); i++) {
        forget_topic(world, arena_printf(world->arena, "%s.%s", world->implicit.name, internal[i]));
    }
}

void world_close(World *world)
{
    if (world == NULL) {
        return;
    }
    world_stop_pipeline(world);
    fault_disarm();
    feeder_free(world->feeder);
    if (world->log != NULL && world->broker == NULL) {
        delete_topics(world);
    }
    if (world->log != NULL) {
        log_close(world->log);
    }
    sim_broker_free(world->broker);
    implicit_program_free(world->program);
    if (world->dir != NULL) {
        directory_remove(world->dir);
    }
    time_zone_free(world->zone);
    error_free(world->failure);
    map_done(&world->topics);
    map_done(&world->topic_marks);
    map_done(&world->turns);
    buffer_done(&world->detail);
    arena_free(world->arena);
    mem_free(world);
}

/* -------------------------------------------------------------------------------- outcomes ---- */

void world_fail(World *world, Error *error)
{
    if (error != NULL) {
        assert(world->failure == NULL);
        world->failure = error;
    }
}

Error *world_skip(World *world, const ScenarioStep *step, const char *why)
{
    world->skipped = true;
    return error_at(ERROR_TEST_FAILED, step->body->place, "`%s` %s.", step->word, why);
}
