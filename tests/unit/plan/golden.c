/* Plans of whole queries, as explain prints them: golden/ *.plan. A block is a query, a line of
 * dashes, its plan (or its error), an empty line; lines with # are comments. Relations:
 *
 *     t (a INT, b STRING, c BIGINT)   u (x INT, y STRING, z BIGINT)   big, 10M rows of (k INT, v
 * INT)
 *
 * In streams.plan the query is that of a flow, which needs columns `id` and `ver`, and below its
 * plan stand its states with what bounds them. Streams: s (id INT, v STRING, ts TIMESTAMP, ver
 * INT), r (x INT, y STRING, t TIMESTAMP); a static relation: d (k INT, name STRING).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/sql_fixture.h"

typedef struct Block {
    Buffer query;
    Buffer plan;
} Block;

static void init(SqlFixture *sql)
{
    sql_fixture_init(sql, "UTC");
    sql_fixture_relation(sql, RELATION_INLINE, "t", "a INT, b STRING, c BIGINT");
    sql_fixture_relation(sql, RELATION_INLINE, "u", "x INT, y STRING, z BIGINT");
    const Relation big = {.name = STR("big"),
                          .kind = RELATION_INLINE,
                          .schema = sql_fixture_schema(sql, "k INT, v INT"),
                          .estimated_rows = 10000000};
    assert_null(catalog_add(sql->bind.catalog, &big));
}

static void format_plan(const LogicalPlan *plan, Error *error, Buffer *out)
{
    if (error != NULL) {
        buffer_printf(out, "ERROR %s\n", error_class_name(error_class(error)));
        error_free(error);
        return;
    }
    plan_format(plan, out);
    for (size_t i = 0; i < plan->state_count; i++) {
        const StateSpec *state = &plan->states[i];
        buffer_printf(out, "%.*s of %.*s: %s\n", STR_ARG(state->name),
                      STR_ARG(state->operator_name), state->bound == NULL ? "-" : state->bound);
    }
}

/* The plan's text, or the error's. */
static void explain(const char *text, Buffer *out)
{
    SqlFixture sql;
    LogicalPlan *plan = NULL;
    init(&sql);
    Error *error = sql_fixture_plan(&sql, text, &plan);
    format_plan(plan, error, out);
    sql_fixture_done(&sql);
}

static void explain_stream(const char *text, Buffer *out)
{
    SqlFixture sql;
    LogicalPlan *plan = NULL;
    init(&sql);
    sql_fixture_relation(&sql, RELATION_STREAM, "s", "id INT, v STRING, ts TIMESTAMP, ver INT");
    sql_fixture_relation(&sql, RELATION_STREAM, "r", "x INT, y STRING, t TIMESTAMP");
    sql_fixture_relation(&sql, RELATION_TABLE, "d", "k INT, name STRING");
    Error *error = sql_fixture_plan_flow(&sql, text, &plan);
    format_plan(plan, error, out);
    sql_fixture_done(&sql);
}

/* Reads the next block; false at the end of the file. */
static bool read_block(FILE *file, Block *block)
{
    char line[4096];
    Buffer *into = &block->query;
    block->query.size = 0;
    block->plan.size = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') {
            continue;
        }
        if (strcmp(line, "----\n") == 0) {
            into = &block->plan;
        } else if (line[0] != '\n') {
            buffer_append_cstr(into, line);
        } else if (into == &block->plan) {
            return true;
        }
    }
    return block->query.size > 0;
}

static void check_file(const char *name, void (*explain_query)(const char *text, Buffer *out))
{
    AUTO_BUFFER Buffer path = {0};
    buffer_printf(&path, "tests/unit/plan/golden/%s.plan", name);
    FILE *file = fopen(buffer_cstr(&path), "r");
    assert_non_null(file);
    Block block = {0};
    size_t count = 0;
    size_t wrong = 0;
    while (read_block(file, &block)) {
        AUTO_BUFFER Buffer got = {0};
        explain_query(buffer_cstr(&block.query), &got);
        if (strcmp(buffer_cstr(&got), buffer_cstr(&block.plan)) != 0) {
            print_message("%s", buffer_cstr(&block.query));
            print_message("%s\n---- got\n", buffer_cstr(&block.plan));
            print_message("%s\n", buffer_cstr(&got));
            wrong++;
        }
        count++;
    }
    (void)fclose(file);
    buffer_done(&block.query);
    buffer_done(&block.plan);
    assert_true(count > 0);
    assert_int_equal(wrong, 0);
}

static void test_filters(void **state)
{
    (void)state;
    check_file("filters", explain);
}

static void test_joins(void **state)
{
    (void)state;
    check_file("joins", explain);
}

static void test_subqueries(void **state)
{
    (void)state;
    check_file("subqueries", explain);
}

static void test_others(void **state)
{
    (void)state;
    check_file("others", explain);
}

static void test_streams(void **state)
{
    (void)state;
    check_file("streams", explain_stream);
}

/* A plan that no walk could take is refused, not built. */
static void test_limits(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer deep = {0};
    AUTO_BUFFER Buffer wide = {0};
    AUTO_BUFFER Buffer got = {0};
    buffer_append_cstr(&deep, "SELECT 1 AS one FROM t");
    for (int i = 0; i < 1500; i++) {
        buffer_append_cstr(&deep, ", t");
    }
    explain(buffer_cstr(&deep), &got);
    assert_string_equal(buffer_cstr(&got), "ERROR STATEMENT_TOO_COMPLEX\n");
    /* 2^20 scans of t */
    buffer_append_cstr(&wide, "WITH w0 AS (SELECT a FROM t)");
    for (int i = 1; i <= 20; i++) {
        buffer_printf(&wide, ", w%d AS (SELECT l.a FROM w%d l, w%d r)", i, i - 1, i - 1);
    }
    buffer_append_cstr(&wide, " SELECT * FROM w20");
    got.size = 0;
    explain(buffer_cstr(&wide), &got);
    assert_string_equal(buffer_cstr(&got), "ERROR STATEMENT_TOO_COMPLEX\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),    cmocka_unit_test(test_joins),
        cmocka_unit_test(test_subqueries), cmocka_unit_test(test_others),
        cmocka_unit_test(test_streams),    cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
