/* Any text that parses is bound and planned, as a program and its queries alone, without crash or
 * hang. The catalog has a stream, a table and nested types; t0 and t1 are the oracle's tables. */
#include <stddef.h>
#include <stdint.h>

#include "processor/plan/logical.h"
#include "processor/sql/parser.h"
#include "tests/fuzz/common/mutate_sql.c"
#include "tests/support/bind_fixture.c"

static const char oracle_columns[] = "id BIGINT, k INT, n INT, big BIGINT, x DOUBLE, p "
                                     "DECIMAL(10,2), s STRING, r STRING, ok BOOLEAN, "
                                     "d DATE, ts TIMESTAMP, xs ARRAY<INT>, ss ARRAY<STRING>";

static void plan_query(BindFixture *fixture, const BoundNode *query)
{
    LogicalPlan *plan = NULL;
    AUTO_BUFFER Buffer text = {0};
    error_free(plan_build(fixture->arena, query, &plan));
    if (plan != NULL) {
        plan_format(plan, &text);
    }
}

static void bind_queries(BindFixture *fixture, const AstScript *script)
{
    for (size_t i = 0; i < script->statement_count; i++) {
        if (script->statements[i]->kind == AST_STATEMENT_QUERY) {
            BoundNode *query = NULL;
            error_free(bind_query(&fixture->context, script->statements[i]->query, &query));
            if (query != NULL) {
                plan_query(fixture, query);
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BindFixture fixture;
    bind_fixture_init(&fixture);
    bind_fixture_add(&fixture, RELATION_STREAM, "s",
                     "a INT, b STRING, c DECIMAL(10,2), d DATE, m MAP<STRING, INT>, x STRUCT<y: "
                     "INT, z: ARRAY<STRING>>");
    bind_fixture_add(&fixture, RELATION_TABLE, "t", "a BIGINT, b DOUBLE, ts TIMESTAMP");
    bind_fixture_add(&fixture, RELATION_TABLE, "t0", oracle_columns);
    bind_fixture_add(&fixture, RELATION_TABLE, "t1", oracle_columns);
    Str text = arena_copy_str(fixture.arena, (Str){(const char *)data, size});
    AstScript *script = NULL;
    sql_parse_script(text, fixture.arena, &fixture.diagnostics, &script);
    const AstScript *scripts[] = {script};
    bind_program(&fixture.context, scripts, 1, keep_error, &fixture.diagnostics, &fixture.program);
    for (size_t i = 0; i < fixture.program.flow_count; i++) {
        plan_query(&fixture, fixture.program.flows[i].query);
    }
    bind_queries(&fixture, script);
    bind_fixture_done(&fixture);
    return 0;
}
