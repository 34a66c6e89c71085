/* What must be true. */
#include "connectors/format/format.h"
#include "connectors/format/json_tree.h"
#include "processor/base/map.h"
#include "processor/run/table_fold.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world_internal.h"
#include "tests/support/audit.h"

#include "processor/base/banned.h"

int64_t check_position(World *world, int32_t partition)
{
    int64_t least = INT64_MAX;
    for (size_t t = 0; t < world->program->table_count; t++) {
        Str flow = world->program->tables[t].flow->name;
        const char *group = arena_printf(world->arena, "p.%.*s", STR_ARG(flow));
        int64_t offset = -1;
        world_call(world, log_group_offset(world->log, group, "src", partition, WORLD_TIMEOUT_MS,
                                           &offset));
        least = offset < least ? offset : least;
    }
    return least;
}

bool check_is_drained(World *world)
{
    for (int p = 0; p < world->partitions; p++) {
        int64_t start = 0;
        int64_t end = 0;
        world_call(world, log_watermarks(world->log, "src", p, READ_COMMITTED, WORLD_TIMEOUT_MS,
                                         &start, &end));
        if (check_position(world, p) < end) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------- the tables ----
 */

static void check_tables(World *world, bool complete)
{
    for (size_t t = 0; t < world->program->table_count; t++) {
        const ProgramTable *table = &world->program->tables[t];
        AuditResult result = {0};
        AuditOptions options = {.log = history_log(world),
                                .source_topic = "src",
                                .table_topic = table->topic,
                                .progress_topic = "p.progress",
                                .flow = arena_copy_cstr(world->arena, table->flow->name),
                                .complete = complete,
                                .may_go_back = world->went_back,
                                .timeout_ms = WORLD_TIMEOUT_MS};
        Error *error = audit_run(&options, &result);
        world->result.epochs += result.epochs;
        if (error != NULL) {
            world_fail(world, "table %.*s: %s", STR_ARG(table->flow->name), error_message(error));
            error_free(error);
        }
    }
}

/* ----------------------------------------------------------------- the records of one topic ----
 */

typedef void Look(World *world, const LogRecord *record, Arena *arena, void *context);

/* Every record of the partition that history has. */
static void look_at(World *world, const char *topic, int32_t partition, Look *look, void *context)
{
    AUTO(arena) Arena *arena = arena_new("look");
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    int64_t start = 0;
    int64_t end = 0;
    Log *log = history_log(world);
    world_call(world, log_watermarks(log, topic, partition, READ_COMMITTED, WORLD_TIMEOUT_MS,
                                     &start, &end));
    world_call(world, log_consumer_open(log, &options, &consumer));
    world_call(world, log_consumer_assign(consumer, &(LogPosition){topic, partition, start}, 1));
    while (start < end) {
        LogPoll poll = {0};
        world_call(world, log_consumer_poll(consumer, 10, 1000, arena, &poll));
        for (size_t i = 0; i < poll.record_count; i++) {
            look(world, &poll.records[i], arena, context);
            start = poll.records[i].offset + 1;
        }
        if (poll.end_count > 0 && poll.ends[0].offset > start) {
            start = poll.ends[0].offset;
        }
    }
}

/* ---------------------------------------------------------------------------- the quarantine ----
 */

typedef struct Quarantined {
    Map places; /* flow, partition, offset */
    uint64_t count;
} Quarantined;

static Str header(const LogRecord *record, const char *name)
{
    for (size_t i = 0; i < record->header_count; i++) {
        if (str_equal(record->headers[i].name, str_from(name))) {
            return record->headers[i].value;
        }
    }
    return STR("?");
}

static void look_at_quarantined(World *world, const LogRecord *record, Arena *arena, void *context)
{
    Quarantined *all = context;
    (void)arena;
    const char *place = arena_printf(world->arena, "flow %.*s partition %.*s offset %.*s",
                                     STR_ARG(header(record, "tidemark.flow")),
                                     STR_ARG(header(record, "tidemark.partition")),
                                     STR_ARG(header(record, "tidemark.offset")));
    if (map_get(&all->places, str_from(place)) != NULL && !world->went_back) {
        world_fail(world, "%s is in quarantine twice", place);
    }
    map_put(&all->places, str_from(place), all);
    all->count++;
}

/* A good record ends so (input.c); one without a value is neither good nor bad. */
static void count_bad(World *world, const LogRecord *record, Arena *arena, void *context)
{
    (void)world;
    (void)arena;
    *(uint64_t *)context += record->value.data != NULL && !str_ends_with(record->value, STR("\"}"));
}

/* Each bad record once for each flow. */
static void check_quarantine(World *world, bool complete)
{
    uint64_t bad = 0;
    for (int p = 0; p < world->partitions; p++) {
        look_at(world, "src", p, count_bad, &bad);
    }
    bad *= world->program->table_count;
    Quarantined all = {0};
    look_at(world, "p.quarantine", 0, look_at_quarantined, &all);
    if (complete && !world->went_back && all.count != bad) {
        world_fail(world, "%llu bad records were fed to all flows, %llu are in quarantine",
                   (unsigned long long)bad, (unsigned long long)all.count);
    }
    map_done(&all.places);
}

/* ---------------------------------------------------------------------------------- events ---- */

typedef struct Instance {
    int64_t sequence;
} Instance;

static Instance *instance_of(World *world, Map *instances, Str name)
{
    Instance *instance = map_get(instances, name);
    if (instance == NULL) {
        instance = arena_new_object(world->arena, Instance);
        map_put(instances, arena_copy_str(world->arena, name), instance);
    }
    return instance;
}

/* Numbers of an instance's events only rise: none is written twice. */
static void look_at_event(World *world, const LogRecord *record, Arena *arena, void *context)
{
    const JsonTree *event = NULL;
    Error *error = json_tree_parse(record->value, arena, &event);
    if (error != NULL) {
        world_fail(world, "event at offset %lld: %s", (long long)record->offset,
                   error_message(error));
        error_free(error);
        return;
    }
    const JsonTree *plane = json_tree_get(json_tree_get(event, "sequence"), "data_plane_id");
    Instance *instance =
        instance_of(world, context, json_tree_str(json_tree_get(plane, "instance"), STR("?")));
    int64_t sequence = json_tree_int(json_tree_get(plane, "seq_no"), -1);
    if (sequence <= instance->sequence) {
        world_fail(world, "event %lld of an instance follows event %lld", (long long)sequence,
                   (long long)instance->sequence);
    }
    instance->sequence = sequence;
    Str type = json_tree_str(json_tree_get(event, "event_type"), STR(""));
    if (type.size == 0 ||
        json_tree_get(json_tree_get(event, "details"), arena_copy_cstr(arena, type)) == NULL) {
        world_fail(world, "event at offset %lld has no details of its type",
                   (long long)record->offset);
    }
}

static void check_events(World *world)
{
    Map instances = {0};
    look_at(world, "p.event_log", 0, look_at_event, &instances);
    map_done(&instances);
}

void check_topics(World *world, bool complete)
{
    history_take_all(world);
    check_tables(world, complete);
    check_quarantine(world, complete);
    check_events(world);
}

/* -------------------------------------------------------------------------------- the state ----
 */

static Map topic_rows(World *world, const ProgramTable *table, Arena *arena, size_t *ret_count)
{
    FoldedTable folded = {0};
    world_call(world, table_fold(world->log, table->topic, table->bound->schema, NULL,
                                 WORLD_TIMEOUT_MS, arena, &folded));
    Map rows = {0};
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < folded.count; i++) {
        buffer_clear(&text);
        json_encode_row(folded.rows, (uint32_t)i, &text);
        Str *value = arena_new_object(arena, Str);
        *value = arena_copy_str(arena, buffer_str(&text));
        map_put(&rows, folded.keys[i], value);
    }
    *ret_count = folded.count;
    return rows;
}

static Error *compare_stored(World *world, Table *table, const Map *rows, size_t count,
                             Arena *arena)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan(table_store(table), -1);
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer text = {0};
    size_t found_count = 0;
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        TRY(store_scan_next(scan, &row, &found));
        if (!found) {
            break;
        }
        found_count++;
        buffer_clear(&key);
        buffer_clear(&text);
        TRY(table_format_key(table, row.key, row.ordinal, &key));
        Batch *batch = NULL;
        TRY(table_decode_rows(table, &row.row, 1, arena, &batch));
        json_encode_row(batch, 0, &text);
        const Str *value = map_get(rows, buffer_str(&key));
        if (value == NULL || !str_equal(*value, buffer_str(&text))) {
            world_fail(world, "the state has %s = %s, the topic %.*s", buffer_cstr(&key),
                       buffer_cstr(&text), value == NULL ? 8 : (int)value->size,
                       value == NULL ? "does not" : value->data);
        }
    }
    if (found_count != count) {
        world_fail(world, "the state has %zu rows, the topic %zu", found_count, count);
    }
    return NULL;
}

void check_state(World *world, Pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline_flow_count(pipeline); i++) {
        AUTO(arena) Arena *arena = arena_new("check");
        FlowRunner *runner = pipeline_flow(pipeline, i);
        size_t count = 0;
        Map rows = topic_rows(world, flow_runner_table(runner), arena, &count);
        Error *error = flow_runner_checkpoint(runner);
        if (error == NULL) {
            error = compare_stored(world, flow_runner_table_state(runner), &rows, count, arena);
        }
        if (error != NULL) {
            world_fail(world, "the state cannot be read: %s", error_message(error));
            error_free(error);
        }
        map_done(&rows);
    }
}
