/* An ad-hoc SELECT over the tables and relations of the scenario:
 *
 *     query: {sql: SELECT k FROM t, rows: [[a]], columns: [k]}
 *
 * `columns` compares the names of the result's columns, as they are spelled. */
#include "connectors/format/format.h"
#include "processor/run/topic_reader.h"
#include "processor/testing/batch_query.h"
#include "processor/testing/row_diff.h"
#include "processor/testing/step.h"
#include "processor/testing/table_rows.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

static Error *rows_of(void *context, const Relation *relation, Arena *arena, Batch **ret_rows)
{
    World *world = context;
    if (relation->kind != RELATION_TARGET) {
        return error_new(ERROR_NOT_YET, "Queries over sources are not supported yet: `%.*s`.",
                         STR_ARG(relation->name));
    }
    int table = world_table(world, relation->name);
    if (table < 0) {
        return error_new(ERROR_TABLE_OR_VIEW_NOT_FOUND, "There is no table `%.*s`.",
                         STR_ARG(relation->name));
    }
    return table_rows_of_topic(world->log, &world_program(world)->tables[table], world->zone,
                               WORLD_TIMEOUT_MS, arena, ret_rows);
}

static Error *check_columns(const YamlNode *columns, const Schema *schema)
{
    if (columns == NULL) {
        return NULL;
    }
    bool same = columns->kind == YAML_SEQUENCE && columns->count == schema->field_count;
    for (size_t i = 0; same && i < schema->field_count; i++) {
        same = columns->items[i]->kind == YAML_SCALAR &&
               str_equal(columns->items[i]->text, schema->fields[i].name);
    }
    if (same) {
        return NULL;
    }
    AUTO_BUFFER Buffer text = {0};
    schema_format(schema, &text);
    return error_at(ERROR_TEST_FAILED, columns->place, "query: the columns are %s.",
                    buffer_cstr(&text));
}

static Error *compare_rows(World *world, const YamlNode *rows, const Batch *result, Arena *arena)
{
    if (rows == NULL) {
        return NULL;
    }
    Batch *expected = NULL;
    TRY(yaml_rows(rows, result->schema, world->zone, arena, &expected));
    return row_diff(expected, result, ROWS_ANY_ORDER, &world->detail)
               ? NULL
               : error_at(ERROR_TEST_FAILED, rows->place, "query: the result is not as expected.");
}

Error *step_query(World *world, const ScenarioStep *step)
{
    if (step->body->kind != YAML_MAPPING || world->program == NULL) {
        return error_at(ERROR_SCENARIO_INVALID, step->body->place,
                        "`query` is {sql, rows}, after a statement that creates a table.");
    }
    Str sql = STR_NULL;
    TRY(yaml_text(yaml_node_get(step->body, STR("sql")), "sql", STR(""), &sql));
    AUTO(arena) Arena *arena = arena_new("query");
    TRY(world_need_redefined(world));
    BatchQuery query = {.sql = sql,
                        .catalog = world_program(world)->catalog,
                        .zone = world->zone,
                        .now_us = clock_now_us(&world->clock),
                        .batch_rows = world->options->batch_rows,
                        .rows_of = rows_of,
                        .context = world};
    Batch *result = NULL;
    Error *error = batch_query_run(&query, arena, &result);
    if (error != NULL) {
        world_fail(world, error);
        return NULL;
    }
    TRY(check_columns(yaml_node_get(step->body, STR("columns")), result->schema));
    return compare_rows(world, yaml_node_get(step->body, STR("rows")), result, arena);
}
