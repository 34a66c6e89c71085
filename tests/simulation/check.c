/* What must be true. */
#include "connectors/format/format.h"
#include "processor/base/map.h"
#include "processor/run/table_fold.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world_internal.h"
#include "tests/support/audit.h"

#include "processor/base/banned.h"

bool check_is_drained(World *world)
{
    for (size_t t = 0; t < world->program->table_count; t++) {
        Str flow = world->program->tables[t].flow->name;
        const char *group = arena_printf(world->arena, "p.%.*s", STR_ARG(flow));
        for (int p = 0; p < world->partitions; p++) {
            int64_t start = 0;
            int64_t end = 0;
            int64_t offset = -1;
            world_call(world, log_watermarks(world->log, "src", p, READ_COMMITTED, WORLD_TIMEOUT_MS,
                                             &start, &end));
            world_call(world,
                       log_group_offset(world->log, group, "src", p, WORLD_TIMEOUT_MS, &offset));
            if (offset < end) {
                return false;
            }
        }
    }
    return true;
}

void check_topics(World *world, bool complete)
{
    for (size_t t = 0; t < world->program->table_count; t++) {
        const ProgramTable *table = &world->program->tables[t];
        AuditResult result = {0};
        AuditOptions options = {
            .log = world->log,
            .source_topic = "src",
            .table_topic = table->topic,
            .progress_topic = "p.progress",
            .flow = arena_copy_cstr(world->arena, table->flow->name),
            .group = arena_printf(world->arena, "p.%.*s", STR_ARG(table->flow->name)),
            .complete = complete,
            .may_go_back = world->went_back,
            .timeout_ms = WORLD_TIMEOUT_MS};
        Error *error = audit_run(&options, &result);
        world->result.epochs += complete ? result.epochs : 0;
        if (error != NULL) {
            world_fail(world, "%s", error_message(error));
            error_free(error);
        }
    }
}

/* -------------------------------------------------------------------------------- the state ----
 */

static Map topic_rows(World *world, const ProgramTable *table, Arena *arena, size_t *ret_count)
{
    FoldedTable folded = {0};
    world_call(world, table_fold(world->log, table->topic, table->bound->schema, WORLD_TIMEOUT_MS,
                                 arena, &folded));
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
