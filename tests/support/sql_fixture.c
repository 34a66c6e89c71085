/* See sql_fixture.h. What must not fail in a test's set-up ends the program with its error. */
#include "tests/support/sql_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "processor/data/value_text.h"
#include "processor/sql/parser.h"

static void must(Error *error)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        (void)fprintf(stderr, "%s\n", buffer_cstr(&text));
        abort();
    }
}

void sql_fixture_init(SqlFixture *fixture, const char *zone)
{
    *fixture = (SqlFixture){.arena = arena_new("test")};
    must(time_zone_open(str_from(zone), &fixture->zone));
    fixture->bind = (BindContext){.functions = function_catalog(),
                                  .time_zone = fixture->zone,
                                  .owner = STR("alice"),
                                  .arena = fixture->arena};
    fixture->bind.catalog = catalog_new(fixture->arena, STR("main"), STR("default"));
    fixture->exec = (ExecContext){.time_zone = fixture->zone,
                                  .now_us = INT64_C(1772366400000000),
                                  .current_user = STR("alice")};
}

void sql_fixture_done(SqlFixture *fixture)
{
    time_zone_free(fixture->zone);
    arena_free(fixture->arena);
}

const Schema *sql_fixture_schema(SqlFixture *fixture, const char *columns)
{
    AstColumnDefinition *definitions = NULL;
    size_t count = 0;
    const Schema *schema = NULL;
    must(sql_parse_column_definitions(arena_copy_str(fixture->arena, str_from(columns)),
                                      fixture->arena, &definitions, &count));
    must(bind_schema(fixture->arena, definitions, count, &schema));
    return schema;
}

void sql_fixture_relation(SqlFixture *fixture, RelationKind kind, const char *name,
                          const char *columns)
{
    const Relation relation = {.name = arena_copy_str(fixture->arena, str_from(name)),
                               .kind = kind,
                               .schema = sql_fixture_schema(fixture, columns)};
    must(catalog_add(fixture->bind.catalog, &relation));
}

Error *sql_fixture_expression(SqlFixture *fixture, const char *text, const Schema *schema,
                              BoundExpr **ret_expr)
{
    static const Schema no_columns = {0};
    AstExpr *expr = NULL;
    TRY(sql_parse_expression(arena_copy_str(fixture->arena, str_from(text)), fixture->arena,
                             &expr));
    return bind_expression(&fixture->bind, expr, schema == NULL ? &no_columns : schema, ret_expr);
}

Error *sql_fixture_plan(SqlFixture *fixture, const char *text, LogicalPlan **ret_plan)
{
    AstQuery *query = NULL;
    BoundNode *bound = NULL;
    TRY(sql_parse_query(arena_copy_str(fixture->arena, str_from(text)), fixture->arena, &query));
    TRY(bind_query(&fixture->bind, query, &bound));
    return plan_build(fixture->arena, bound, ret_plan);
}

static void keep_first(void *context, size_t script, Error *error)
{
    Error **first = context;
    (void)script;
    if (*first == NULL) {
        *first = error;
    } else {
        error_free(error);
    }
}

Error *sql_fixture_plan_flow(SqlFixture *fixture, const char *text, LogicalPlan **ret_plan)
{
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    BoundProgram program = {0};
    Error *error = NULL;
    const char *statement = arena_printf(
        fixture->arena,
        "CREATE STREAMING TABLE o FLOW REPLACE USING (id) SEQUENCE BY ver BY NAME %s", text);
    fixture->bind.pipeline = true;
    sql_parse_script(str_from(statement), fixture->arena, &diagnostics, &script);
    if (diagnostics.count > 0) {
        must(diagnostics.errors[0]);
    }
    diagnostics_done(&diagnostics);
    const AstScript *scripts[] = {script};
    bind_program(&fixture->bind, scripts, 1, keep_first, &error, &program);
    return error != NULL ? error
                         : plan_build_streaming(fixture->arena, program.flows[0].query, ret_plan);
}

Batch *sql_fixture_batch(SqlFixture *fixture, const Schema *schema, uint32_t row_count,
                         const char *const *texts)
{
    Batch *batch = batch_new(fixture->arena, schema, row_count);
    for (uint32_t row = 0; row < row_count; row++) {
        for (size_t i = 0; i < schema->field_count; i++) {
            const char *text = texts[row * schema->field_count + i];
            if (text == NULL) {
                vector_append_null(batch->columns[i], fixture->arena);
            } else {
                must(value_parse(str_from(text), fixture->exec.time_zone, fixture->arena,
                                 batch->columns[i]));
            }
        }
    }
    return batch_from_columns(fixture->arena, schema, batch->columns, row_count);
}

const char *sql_fixture_rows(SqlFixture *fixture, const Batch *batch)
{
    AUTO_BUFFER Buffer out = {0};
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        for (size_t k = 0; k < batch->schema->field_count; k++) {
            buffer_append_cstr(&out, k == 0 ? "" : "|");
            value_format(batch->columns[k], batch_selected(batch, i), fixture->exec.time_zone,
                         &out);
        }
        buffer_append_byte(&out, '\n');
    }
    return arena_copy_cstr(fixture->arena, buffer_str(&out));
}
