/* SELECT: which nodes its clauses become. What queries answer is in tests/sql; here is what an
 * answer does not show: that nothing is computed twice, and what is hidden. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/bind_fixture.h"

static void fixture_with_table(BindFixture *fixture)
{
    bind_fixture_init(fixture);
    bind_fixture_add(fixture, RELATION_TABLE, "t", "a INT, b INT, c STRING, ts TIMESTAMP");
}

/* A node with what it holds: "Aggregate 1+2" has one key and two aggregates. */
static void print_node(const BoundNode *node, Buffer *out)
{
    switch (node->kind) {
    case BOUND_SCAN:
        buffer_append_cstr(out, "Scan");
        return;
    case BOUND_PROJECT:
        buffer_printf(out, "Project %zu", node->expression_count);
        return;
    case BOUND_FILTER:
        buffer_append_cstr(out, "Filter");
        return;
    case BOUND_AGGREGATE:
        buffer_printf(out, "Aggregate %zu+%zu", node->expression_count, node->aggregate_count);
        return;
    case BOUND_EXPAND:
        buffer_printf(out, "Expand %zux%zu", node->row_count, node->schema->field_count);
        return;
    case BOUND_WINDOW:
        buffer_printf(out, "Window %zu", node->window_count);
        return;
    case BOUND_SORT:
        buffer_printf(out, "Sort %zu", node->sort_key_count);
        return;
    case BOUND_GENERATE:
        buffer_append_cstr(out, "Generate");
        return;
    default:
        buffer_append_cstr(out, "other");
        return;
    }
}

static void check_nodes(const char *text, const char *expected)
{
    BindFixture fixture;
    BoundNode *query = NULL;
    AUTO_BUFFER Buffer nodes = {0};
    fixture_with_table(&fixture);
    Error *error = bind_fixture_query(&fixture, text, &query);
    if (error != NULL) {
        print_error("%s: %s\n", text, error_message(error));
    }
    assert_null(error);
    for (const BoundNode *node = query; node != NULL; node = node->child) {
        buffer_append_cstr(&nodes, nodes.size == 0 ? "" : ", ");
        print_node(node, &nodes);
    }
    assert_string_equal(buffer_cstr(&nodes), expected);
    bind_fixture_done(&fixture);
}

static void test_aggregates_are_computed_once(void **state)
{
    (void)state;
    check_nodes("SELECT a, sum(b), sum(b) + 1, avg(b) FROM t GROUP BY a HAVING sum(b) > 1",
                "Project 4, Filter, Aggregate 1+2, Scan");
    check_nodes("SELECT sum(a + b), sum(b + a), sum(DISTINCT a + b) FROM t",
                "Project 3, Aggregate 0+2, Scan");
    check_nodes("SELECT a FROM t GROUP BY a, t.a, 1", "Project 1, Aggregate 1+0, Scan");
    check_nodes("SELECT max(b) FROM t GROUP BY a ORDER BY max(b), a + 1",
                "Project 1, Sort 2, Project 2, Aggregate 1+1, Scan");
}

static void test_grouping_sets(void **state)
{
    (void)state;
    /* The input, its keys, the set: 4 + 2 + 1 columns. */
    check_nodes("SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b)",
                "Project 3, Aggregate 3+1, Expand 3x7, Scan");
    /* A set twice: its position is a key too. */
    check_nodes("SELECT a, count(*) FROM t GROUP BY GROUPING SETS ((a), a)",
                "Project 2, Aggregate 3+1, Expand 2x7, Scan");
    check_nodes("SELECT count(*) FROM t GROUP BY GROUPING SETS (())",
                "Project 1, Aggregate 0+1, Scan");
    check_nodes("SELECT a FROM t GROUP BY CUBE (a, b), ROLLUP (c)",
                "Project 1, Aggregate 4+0, Expand 8x8, Scan");
}

static void test_windows_share_a_node(void **state)
{
    (void)state;
    check_nodes("SELECT rank() OVER (PARTITION BY a ORDER BY b), sum(b) OVER (PARTITION BY a ORDER "
                "BY b ROWS 1 PRECEDING), rank() OVER (PARTITION BY a ORDER BY b) FROM t",
                "Project 3, Window 2, Scan");
    check_nodes("SELECT sum(b) OVER (ORDER BY a), sum(b) OVER (ORDER BY a DESC) FROM t",
                "Project 2, Window 1, Window 1, Scan");
    check_nodes("SELECT rank() OVER (ORDER BY rank() OVER (ORDER BY a)) FROM t",
                "Project 1, Window 1, Window 1, Scan");
    check_nodes("SELECT a, sum(sum(b)) OVER (ORDER BY a) FROM t GROUP BY a QUALIFY rank() OVER "
                "(ORDER BY a) = 1",
                "Project 2, Filter, Window 2, Aggregate 1+1, Scan");
}

static void test_order(void **state)
{
    (void)state;
    check_nodes("SELECT a FROM t ORDER BY a", "Sort 1, Project 1, Scan");
    check_nodes("SELECT a AS x FROM t ORDER BY x, a, t.a", "Sort 3, Project 1, Scan");
    check_nodes("SELECT a FROM t ORDER BY b + c, b", "Project 1, Sort 2, Project 3, Scan");
    check_nodes("SELECT DISTINCT a FROM t ORDER BY a", "Sort 1, Aggregate 1+0, Project 1, Scan");
}

static void test_lateral_aliases(void **state)
{
    (void)state;
    check_nodes("SELECT a AS x, x + 1 AS y FROM t", "Project 2, Scan");
    /* a + 1 beside the input, then the list. */
    check_nodes("SELECT a + 1 AS x, x * x AS y FROM t", "Project 2, Project 5, Scan");
    check_nodes("SELECT a + 1 AS x, x * x AS y, y + x AS z FROM t",
                "Project 3, Project 6, Project 5, Scan");
    check_nodes("SELECT sum(a) AS s, s + 1 AS u FROM t", "Project 2, Aggregate 0+1, Scan");
}

static void test_subqueries_stand_in_projections(void **state)
{
    (void)state;
    check_nodes("SELECT sum((SELECT 1)), count(*) FROM t GROUP BY a",
                "Project 2, Aggregate 1+2, Project 5, Scan");
    check_nodes("SELECT a FROM t ORDER BY (SELECT 1), b",
                "Project 1, Sort 2, Project 3, Project 2, Scan");
}

static void test_time_windows(void **state)
{
    (void)state;
    check_nodes("SELECT window.start, count(*) FROM t GROUP BY window(ts, '10 minutes')",
                "Project 2, Aggregate 1+1, Project 5, Filter, Scan");
    check_nodes(
        "SELECT window.start, count(*) FROM t GROUP BY window(ts, '10 minutes', '5 minutes')",
        "Project 2, Aggregate 1+1, Expand 2x5, Filter, Scan");
    /* The earliest of three windows may end before the time. */
    check_nodes("SELECT window(ts, '10 minutes', '4 minutes').end FROM t",
                "Project 1, Filter, Expand 3x5, Filter, Scan");
    check_nodes("SELECT DISTINCT a FROM t ORDER BY window(TIMESTAMP'2026-01-01', '5 minutes'), a",
                "Sort 2, Aggregate 1+0, Project 1, Scan");
}

/* A statement's size is bounded before memory is. */
static void test_limits(void **state)
{
    (void)state;
    BindFixture fixture;
    BoundNode *query = NULL;
    AUTO_BUFFER Buffer text = {0};
    fixture_with_table(&fixture);
    buffer_append_cstr(&text, "SELECT count(*) FROM t GROUP BY CUBE (a");
    for (int i = 1; i < 20; i++) {
        buffer_printf(&text, ", a + %d", i);
    }
    buffer_append_cstr(&text, ")");
    AUTO(error) Error *error = bind_fixture_query(&fixture, buffer_cstr(&text), &query);
    assert_non_null(error);
    assert_int_equal(error_class(error), ERROR_STATEMENT_TOO_COMPLEX);
    bind_fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aggregates_are_computed_once),
        cmocka_unit_test(test_grouping_sets),
        cmocka_unit_test(test_windows_share_a_node),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_lateral_aliases),
        cmocka_unit_test(test_subqueries_stand_in_projections),
        cmocka_unit_test(test_time_windows),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
