/* What a table must hold: its topic as any reader sees it, and the local state beside it. */
#include "processor/testing/row_diff.h"
#include "processor/testing/step.h"
#include "processor/testing/table_rows.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

static Error *differs(const YamlEntry *entry, const char *where)
{
    return error_at(ERROR_TEST_FAILED, entry->value->place, "expect `%.*s`: %s.",
                    STR_ARG(entry->key), where);
}

/* *ret_running false: the latest update failed as it should, and the pipeline does not start. */
static Error *run_pipeline(World *world, bool *ret_running)
{
    Error *error = world_need_pipeline(world);
    *ret_running = error == NULL;
    if (error != NULL && world->failing) {
        error_free(error);
        error = NULL;
    }
    return error;
}

/* The pipeline is started first: it ends the transaction that a crash left open. */
static Error *expect_table(World *world, const YamlEntry *entry)
{
    int index = world_table(world, entry->key);
    if (index < 0) {
        return world_unknown_table(world, entry->key_place, entry->key);
    }
    AUTO(arena) Arena *arena = arena_new("expect");
    Batch *expected = NULL;
    Batch *actual = NULL;
    bool running = false;
    TRY(run_pipeline(world, &running));
    const ProgramTable *table = &world_program(world)->tables[index];
    TRY(yaml_rows(entry->value, table->bound->schema, world->zone, arena, &expected));
    TRY(table_rows_of_topic(world->log, table, world->zone, WORLD_TIMEOUT_MS, arena, &actual));
    if (!row_diff(expected, actual, ROWS_ANY_ORDER, &world->detail)) {
        return differs(entry, "the table is not as expected");
    }
    if (!running) {
        return NULL;
    }
    TRY(table_rows_of_state(pipeline_flow(world->pipeline, (size_t)index), arena, &actual));
    return row_diff(expected, actual, ROWS_ANY_ORDER, &world->detail)
               ? NULL
               : differs(entry, "the topic is as expected, the local state is not");
}

Error *step_expect(World *world, const ScenarioStep *step)
{
    if (step->body->kind != YAML_MAPPING) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place,
                        "`expect` is a mapping of tables to rows.");
    }
    for (size_t i = 0; i < step->body->count; i++) {
        TRY(expect_table(world, &step->body->entries[i]));
    }
    return NULL;
}

Error *step_expect_as(World *world, const ScenarioStep *step)
{
    (void)world;
    return error_at(ERROR_NOT_YET, step->node->place,
                    "Row filters and masks, and so `expect_as`, are not supported yet.");
}
