/* Plans as explain prints them: what is read, what is pushed where, what is left in place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "processor/plan/logical.h"
#include "tests/support/bind_fixture.h"

static void fixture_with_tables(BindFixture *fixture)
{
    bind_fixture_init(fixture);
    bind_fixture_add(fixture, RELATION_STREAM, "tickets",
                     "k INT, state STRING, fee DECIMAL(10,2), ver BIGINT, note STRING");
    bind_fixture_add(fixture, RELATION_INLINE, "t", "a INT, b STRING, c BIGINT, s STRUCT<x: INT>");
}

static void check_plan(BindFixture *fixture, const BoundNode *query, const char *expected)
{
    LogicalPlan *plan = NULL;
    AUTO_BUFFER Buffer text = {0};
    assert_null(plan_build(fixture->arena, query, &plan));
    plan_format(plan, &text);
    assert_string_equal(buffer_cstr(&text), expected);
}

static void check_query(const char *text, const char *expected)
{
    BindFixture fixture;
    BoundNode *query = NULL;
    fixture_with_tables(&fixture);
    assert_null(bind_fixture_query(&fixture, text, &query));
    check_plan(&fixture, query, expected);
    bind_fixture_done(&fixture);
}

static void test_scan_reads_used_columns(void **state)
{
    (void)state;
    check_query("SELECT c, a FROM t", "Project [c, a]\n"
                                      "  Scan t [a, c]\n");
    check_query("SELECT a FROM t WHERE b = 'x'", "Project [a]\n"
                                                 "  Filter (b = 'x')\n"
                                                 "    Scan t [a, b]\n");
    check_query("SELECT 1 AS one FROM t", "Project [1 AS one]\n"
                                          "  Scan t []\n");
    check_query("SELECT s.x FROM t", "Project [s.x AS x]\n"
                                     "  Scan t [s]\n");
}

static void test_sources(void **state)
{
    (void)state;
    BindFixture fixture;
    BoundNode *query = NULL;
    LogicalPlan *plan = NULL;
    fixture_with_tables(&fixture);
    assert_null(bind_fixture_query(&fixture, "SELECT c FROM t WHERE a > 1", &query));
    assert_null(plan_build(fixture.arena, query, &plan));
    assert_int_equal(plan->source_count, 1);
    assert_int_equal(plan->sources[0].schema->field_count, 2);
    assert_int_equal(plan->sources[0].columns[0], 0);
    assert_int_equal(plan->sources[0].columns[1], 2);
    assert_false(plan->sources[0].stream);
    /* References count in the columns that are read. */
    assert_int_equal(plan->root->expressions[0]->column, 1);
    bind_fixture_done(&fixture);
}

static void test_filter_goes_below_projection(void **state)
{
    (void)state;
    check_query("SELECT k FROM (SELECT a AS k, b, upper(b) AS u FROM t) WHERE b = 'x' AND k > 1",
                "Project [a AS k]\n"
                "  Filter ((b = 'x') AND (a > 1))\n"
                "    Scan t [a, b]\n");
    /* Also below one that may fail, as in Spark: fewer rows are computed. */
    check_query("SELECT k FROM (SELECT a + 1 AS k, b FROM t) WHERE b = 'x'",
                "Project [(a + 1) AS k]\n"
                "  Filter (b = 'x')\n"
                "    Scan t [a, b]\n");
    /* Nothing is computed twice. */
    check_query("SELECT u FROM (SELECT upper(b) AS u FROM t) WHERE u = 'X'",
                "Filter (u = 'X')\n"
                "  Project [upper(b) AS u]\n"
                "    Scan t [b]\n");
}

static void test_projections_merge(void **state)
{
    (void)state;
    check_query("SELECT u AS v, 1 AS one FROM (SELECT upper(b) AS u, a FROM t)",
                "Project [upper(b) AS v, 1 AS one]\n"
                "  Scan t [b]\n");
    check_query("SELECT u AS v, u AS w FROM (SELECT upper(b) AS u FROM t)",
                "Project [u AS v, u AS w]\n"
                "  Project [upper(b) AS u]\n"
                "    Scan t [b]\n");
}

/* RU-A06 with a column list: one scan, one filter, one projection. */
static void test_flow(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_tables(&fixture);
    bind_fixture_program(&fixture,
                         "CREATE STREAMING TABLE t2 (k BIGINT, state STRING, gross DOUBLE, size "
                         "STRING, ver BIGINT, extra INT) FLOW REPLACE USING (k) SEQUENCE BY ver BY "
                         "NAME SELECT ver, k, upper(state) AS state, CAST(fee AS DOUBLE) * 1.2 AS "
                         "gross, CASE WHEN fee > 100 THEN 'big' ELSE 'small' END AS size FROM "
                         "STREAM(tickets) WHERE state <> 'void'");
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    check_plan(&fixture, fixture.program.flows[0].query,
               "Project [CAST(k AS BIGINT) AS k, upper(state) AS state, "
               "(CAST(fee AS DOUBLE) * CAST(1.2 AS DOUBLE)) AS gross, "
               "CASE WHEN (fee > 100) THEN 'big' ELSE 'small' END AS size, "
               "ver, NULL AS extra]\n"
               "  Filter (state <> 'void')\n"
               "    Scan STREAM tickets [k, state, fee, ver]\n");
    bind_fixture_done(&fixture);
}

static void test_without_tables(void **state)
{
    (void)state;
    check_query("SELECT 1 AS a, DATE'2026-01-01' AS d", "Project [1 AS a, DATE'2026-01-01' AS d]\n"
                                                        "  OneRow\n");
    check_query("VALUES (1, 'a'), (2, 'b')", "Values 2 rows\n");
    check_query("SELECT x FROM VALUES (1, 'a'), (2, 'b') AS v(x, y) WHERE y IN ('a', 'c')",
                "Project [col1 AS x]\n"
                "  Filter (col2 IN ('a', 'c'))\n"
                "    Values 2 rows\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_reads_used_columns),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_filter_goes_below_projection),
        cmocka_unit_test(test_projections_merge),
        cmocka_unit_test(test_flow),
        cmocka_unit_test(test_without_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
