/* Queries over pushed batches: selections, shared columns, rows that fail, lazy evaluation, the
 * clock. Expected values follow from SQL, no Spark needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/sql_fixture.h"

static const char columns[] = "k STRING, x INT, y INT";
static const char *const rows[] = {
    "a",  "0",  "1", /* row 0 */
    "b",  "5",  "0", /* row 1 */
    "c",  NULL, "3", /* row 2 */
    NULL, "2",  "4", /* row 3 */
    "e",  "-1", NULL /* row 4 */
};
enum { ROW_COUNT = 5 };

static Query *open_query(SqlFixture *sql, const char *text)
{
    LogicalPlan *plan = NULL;
    Query *query = NULL;
    Error *error = sql_fixture_plan(sql, text, &plan);
    if (error == NULL) {
        error = query_open(plan, &sql->exec, &query);
    }
    if (error != NULL) {
        AUTO_BUFFER Buffer message = {0};
        error_format(error, &message);
        print_message("%s\n%s\n", text, buffer_cstr(&message));
        error_free(error);
    }
    assert_non_null(query);
    return query;
}

/* The five rows, as far as the plan reads them: all columns are used in every query here, in their
 * order. */
static Batch *five_rows(SqlFixture *sql)
{
    return sql_fixture_batch(sql, sql_fixture_schema(sql, columns), ROW_COUNT, rows);
}

static void init(SqlFixture *sql)
{
    sql_fixture_init(sql, "UTC");
    sql_fixture_relation(sql, RELATION_INLINE, "t", columns);
}

/* Runs a query over the rows of `batch`; its rows as text, failing rows into `errors`. */
static const char *run(SqlFixture *sql, const char *text, Batch *batch, RowErrors *errors)
{
    AUTO(query) Query *query = open_query(sql, text);
    AUTO_BUFFER Buffer out = {0};
    if (batch != NULL) {
        query_push(query, 0, batch);
    }
    for (;;) {
        Batch *result = NULL;
        Error *error = query_next(query, sql->arena, errors, &result);
        if (error != NULL) {
            buffer_append_cstr(&out, error_class_name(error_class(error)));
            error_free(error);
            break;
        }
        if (result == NULL) {
            break;
        }
        buffer_append_cstr(&out, sql_fixture_rows(sql, result));
    }
    return arena_copy_cstr(sql->arena, buffer_str(&out));
}

static void test_filter_and_project(void **state)
{
    (void)state;
    SqlFixture sql;
    init(&sql);
    assert_string_equal(
        run(&sql, "SELECT k, x, y, x + y AS s FROM t WHERE y > 0", five_rows(&sql), NULL),
        "a|0|1|1\nc|NULL|3|NULL\nNULL|2|4|6\n");
    assert_string_equal(run(&sql, "SELECT k, x, y FROM t WHERE x > 100", five_rows(&sql), NULL),
                        "");
    assert_string_equal(
        run(&sql, "SELECT x, y, k FROM t WHERE k IS NULL OR x = 5", five_rows(&sql), NULL),
        "5|0|b\n2|4|NULL\n");
    sql_fixture_done(&sql);
}

static void test_filter_copies_nothing(void **state)
{
    (void)state;
    SqlFixture sql;
    init(&sql);
    Query *query = open_query(&sql, "SELECT k, x, y FROM t WHERE y > 0");
    Batch *batch = five_rows(&sql);
    batch->generation = 42;
    query_push(query, 0, batch);
    Batch *result = NULL;
    assert_null(query_next(query, sql.arena, NULL, &result));
    assert_int_equal(result->row_count, ROW_COUNT);
    assert_int_equal(result->selected_count, 3);
    assert_int_equal(result->selection[1], 2);
    assert_int_equal(result->generation, 42);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(result->columns[i]->data, batch->columns[i]->data);
    }
    assert_null(batch->selection); /* the pushed batch is not touched */
    assert_null(query_next(query, sql.arena, NULL, &result));
    assert_null(result);
    query_close(query);
    sql_fixture_done(&sql);
}

static void test_failing_rows_are_left_out(void **state)
{
    (void)state;
    SqlFixture sql;
    init(&sql);
    RowErrors errors = {0};
    assert_string_equal(run(&sql, "SELECT k, x, y, 10 div y AS q FROM t WHERE 10 div x < 9",
                            five_rows(&sql), &errors),
                        "NULL|2|4|2\ne|-1|NULL|NULL\n");
    assert_int_equal(errors.count, 2);
    assert_int_equal(errors.rows[0], 0); /* x = 0 in WHERE */
    assert_int_equal(errors.rows[1], 1); /* y = 0 in SELECT */
    assert_int_equal(error_class(errors.errors[0]), ERROR_DIVIDE_BY_ZERO);
    assert_int_equal(error_place(errors.errors[1]).line, 1);
    assert_int_equal(error_place(errors.errors[1]).column, 17);
    row_errors_done(&errors);
    assert_string_equal(run(&sql, "SELECT k, y, 10 div x AS q FROM t", five_rows(&sql), NULL),
                        "DIVIDE_BY_ZERO");
    sql_fixture_done(&sql);
}

static void test_errors_name_rows_of_the_pushed_batch(void **state)
{
    (void)state;
    static const uint32_t origin[] = {10, 11, 12, 13, 14};
    static const uint16_t selection[] = {0, 1, 3};
    SqlFixture sql;
    init(&sql);
    RowErrors errors = {0};
    Batch *batch = five_rows(&sql);
    batch->origin = origin;
    batch->selection = selection;
    batch->selected_count = 3;
    assert_string_equal(run(&sql, "SELECT k, y, 10 div x AS q FROM t", batch, &errors),
                        "b|0|2\nNULL|4|5\n");
    assert_int_equal(errors.count, 1);
    assert_int_equal(errors.rows[0], 10);
    row_errors_done(&errors);
    sql_fixture_done(&sql);
}

static void test_a_row_keeps_its_first_error(void **state)
{
    (void)state;
    SqlFixture sql;
    init(&sql);
    RowErrors errors = {0};
    (void)run(&sql, "SELECT CAST(k AS INT) AS b, 1 div x AS a, y FROM t WHERE y = 1",
              five_rows(&sql), &errors);
    assert_int_equal(errors.count, 1);
    assert_int_equal(error_class(errors.errors[0]), ERROR_CAST_INVALID_INPUT);
    row_errors_done(&errors);
    sql_fixture_done(&sql);
}

static void test_lazy_evaluation(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        const char *expected;
    } cases[] = {
        {"SELECT CASE WHEN x <> 0 THEN 10 div x END AS q, k, y FROM t",
         "NULL|a|1\n2|b|0\nNULL|c|3\n5|NULL|4\n-10|e|NULL\n"},
        {"SELECT k, x, y FROM t WHERE x <> 0 AND 10 div x > 1", "b|5|0\nNULL|2|4\n"},
        {"SELECT k, x, y FROM t WHERE x = 0 OR 10 div x > 1", "a|0|1\nb|5|0\nNULL|2|4\n"},
        {"SELECT coalesce(x, 10 div y) AS c, k FROM t WHERE y = 3 OR y = 0", "5|b\n3|c\n"},
        {"SELECT if(y = 0, -1, x div y) AS c, k FROM t", "0|a\n-1|b\nNULL|c\n0|NULL\nNULL|e\n"},
        {"SELECT x IN (0, 10 div x) AS c, k, y FROM t WHERE x >= 0",
         "true|a|1\nfalse|b|0\nfalse|NULL|4\n"},
        {"SELECT CASE x WHEN 0 THEN 'zero' WHEN 10 div x THEN 'root' ELSE 'other' END AS c, k, y "
         "FROM t",
         "zero|a|1\nother|b|0\nother|c|3\nother|NULL|4\nother|e|NULL\n"},
    };
    SqlFixture sql;
    init(&sql);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        /* Only the columns the query names are read. */
        LogicalPlan *plan = NULL;
        assert_null(sql_fixture_plan(&sql, cases[i].query, &plan));
        Batch *whole = five_rows(&sql);
        const LogicalSource *source = &plan->sources[0];
        Vector *read[3];
        for (size_t k = 0; k < source->schema->field_count; k++) {
            read[k] = whole->columns[source->columns[k]];
        }
        Batch *batch = batch_from_columns(sql.arena, source->schema, read, ROW_COUNT);
        assert_string_equal(run(&sql, cases[i].query, batch, NULL), cases[i].expected);
    }
    sql_fixture_done(&sql);
}

static void test_values_and_one_row(void **state)
{
    (void)state;
    SqlFixture sql;
    init(&sql);
    assert_string_equal(run(&sql, "SELECT 1 + 1 AS a, 'x' AS b", NULL, NULL), "2|x\n");
    assert_string_equal(run(&sql, "SELECT 1 AS a WHERE 1 > 2", NULL, NULL), "");
    assert_string_equal(
        run(&sql, "SELECT a, b FROM VALUES (1, 'x'), (2 + 3, NULL) AS v(a, b) WHERE a > 1", NULL,
            NULL),
        "5|NULL\n");
    assert_string_equal(run(&sql, "SELECT 1 / 0 AS a", NULL, NULL), "DIVIDE_BY_ZERO");
    sql_fixture_done(&sql);
}

static void test_clock(void **state)
{
    (void)state;
    SqlFixture sql;
    init(&sql);
    AUTO(query)
    Query *query = open_query(
        &sql, "SELECT now() AS n, current_date() AS d, current_user() AS u, k, x, y FROM t "
              "WHERE current_date() >= DATE '2026-03-01' AND x = 5");
    static const char *const expected[] = {"2026-03-01 12:00:00|2026-03-01|alice|b|5|0\n",
                                           "2026-03-02 13:00:00|2026-03-02|alice|b|5|0\n"};
    for (size_t i = 0; i < 2; i++) {
        query_set_now(query, sql.exec.now_us + (int64_t)i * INT64_C(90000000000));
        query_push(query, 0, five_rows(&sql));
        Batch *result = NULL;
        assert_null(query_next(query, sql.arena, NULL, &result));
        assert_string_equal(sql_fixture_rows(&sql, result), expected[i]);
        assert_null(query_next(query, sql.arena, NULL, &result));
    }
    sql_fixture_done(&sql);
}

/* The kernels have no branch for the batch's size: the last row of a full batch counts too. */
static void test_full_batch(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    sql_fixture_relation(&sql, RELATION_INLINE, "n", "v BIGINT");
    const Schema *schema = sql_fixture_schema(&sql, "v BIGINT");
    AUTO(query)
    Query *query =
        open_query(&sql, "SELECT v * 2 + 1 AS w, v FROM n WHERE v % 3 = 1 AND v + 1 > v");
    for (int round = 0; round < 3; round++) {
        Batch *batch = batch_new(sql.arena, schema, BATCH_ROWS);
        for (int64_t i = 0; i < BATCH_ROWS; i++) {
            vector_append_int(batch->columns[0], sql.arena, i);
        }
        query_push(query, 0, batch_from_columns(sql.arena, schema, batch->columns, BATCH_ROWS));
        Batch *result = NULL;
        assert_null(query_next(query, sql.arena, NULL, &result));
        assert_int_equal(result->selected_count, 683);
        for (uint32_t i = 0; i < result->selected_count; i++) {
            uint32_t row = batch_selected(result, i);
            assert_int_equal(row, 3 * i + 1);
            assert_int_equal(VECTOR_VALUE(result->columns[0], int64_t, row), 2 * row + 1);
        }
        assert_null(query_next(query, sql.arena, NULL, &result));
        assert_null(result);
    }
    sql_fixture_done(&sql);
}

/* A value that would be too long fails its row alone (found by fuzzing). */
static void test_long_texts(void **state)
{
    (void)state;
    static const char *const expressions[] = {"lpad(k, 2147483647)", "rpad(k, 2000000000, 'xy')",
                                              "repeat(k, 2147483647)", "space(2147483647)",
                                              "repeat(repeat(k, 10000), 10000)"};
    SqlFixture sql;
    init(&sql);
    for (size_t i = 0; i < ARRAY_LENGTH(expressions); i++) {
        RowErrors errors = {0};
        const char *query =
            arena_printf(sql.arena, "SELECT CASE WHEN k = 'a' THEN %s ELSE k END AS c, x, y FROM t",
                         expressions[i]);
        assert_string_equal(run(&sql, query, five_rows(&sql), &errors),
                            "b|5|0\nc|NULL|3\nNULL|2|4\ne|-1|NULL\n");
        assert_int_equal(errors.count, 1);
        assert_int_equal(error_class(errors.errors[0]), ERROR_ROW_TOO_LARGE);
        row_errors_done(&errors);
    }
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_and_project),
        cmocka_unit_test(test_filter_copies_nothing),
        cmocka_unit_test(test_failing_rows_are_left_out),
        cmocka_unit_test(test_errors_name_rows_of_the_pushed_batch),
        cmocka_unit_test(test_a_row_keeps_its_first_error),
        cmocka_unit_test(test_lazy_evaluation),
        cmocka_unit_test(test_values_and_one_row),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_full_batch),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
