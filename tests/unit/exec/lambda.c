/* Lambdas over more elements than are computed at once, and rows that fail while others do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "processor/data/value_text.h"
#include "tests/support/sql_fixture.h"

typedef struct Outcome {
    const Vector *values;
    RowErrors errors;
} Outcome;

/* Runs the expression over a batch of INT columns a, b. */
static void run(SqlFixture *sql, const char *text, const Batch *batch, Outcome *ret)
{
    BoundExpr *bound = NULL;
    AUTO(expression) Expression *expression = NULL;
    *ret = (Outcome){0};
    assert_null(sql_fixture_expression(sql, text, batch->schema, &bound));
    assert_null(expression_open(bound, &sql->exec, &expression));
    assert_null(expression_evaluate(expression, batch, sql->arena, &ret->errors, &ret->values));
    assert_int_equal(ret->values->length, batch->row_count);
}

static const char *value_at(SqlFixture *sql, const Outcome *outcome, uint32_t row)
{
    AUTO_BUFFER Buffer out = {0};
    value_format(outcome->values, row, sql->exec.time_zone, &out);
    return arena_copy_cstr(sql->arena, buffer_str(&out));
}

static Batch *numbers(SqlFixture *sql, uint32_t rows, const char *const *texts)
{
    return sql_fixture_batch(sql, sql_fixture_schema(sql, "a INT, b INT"), rows, texts);
}

static void expect_values(SqlFixture *sql, const char *text, const Batch *batch,
                          const char *const *values)
{
    Outcome outcome;
    run(sql, text, batch, &outcome);
    assert_int_equal(outcome.errors.count, 0);
    for (uint32_t row = 0; row < batch->row_count; row++) {
        assert_string_equal(value_at(sql, &outcome, row), values[row]);
    }
    row_errors_done(&outcome.errors);
}

/* sum of 1 … n is n (n + 1) / 2. */
static void test_long_arrays(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    Batch *batch = numbers(&sql, 3, (const char *const[]){"40000", "1", "0", "2", "20000", "3"});
    expect_values(&sql, "aggregate(sequence(1, a), 0L, (s, x) -> s + x)", batch,
                  (const char *const[]){"800020000", "1", "200010000"});
    expect_values(&sql, "transform(sequence(1, a), x -> x * b)[size(sequence(1, a)) - 1]", batch,
                  (const char *const[]){"40000", "0", "60000"});
    expect_values(&sql, "size(filter(sequence(1, a), (x, i) -> (x + i) % 4 = b))", batch,
                  (const char *const[]){"20000", "0", "10000"});
    expect_values(&sql, "exists(sequence(1, a), x -> x = 19999 + b)", batch,
                  (const char *const[]){"true", "false", "false"});
    expect_values(&sql, "aggregate(sequence(1, a), '', (s, x) -> right(s || x, 5))", batch,
                  (const char *const[]){"40000", "10", "20000"});
    expect_values(&sql, "get(array_sort(sequence(1, a), (x, y) -> y - x), b)", batch,
                  (const char *const[]){"39999", "NULL", "19997"});
    sql_fixture_done(&sql);
}

/* An element that fails takes its row with it and no other; the first in the array is told. */
static void test_failing_rows(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    Batch *batch = numbers(&sql, 4, (const char *const[]){"1", "2", "0", "0", "4", "5", "0", "1"});
    static const char *const texts[] = {
        "transform(array(7, a, b), x -> 10 / x)",
        "filter(array(7, a), x -> 10 / x > 1)",
        "aggregate(array(a, b), 0D, (s, x) -> s + 10 / a)",
        "transform_values(map('k', a), (k, v) -> 1 / v)",
        "transform(array(array(1), array(a)), y -> transform(y, x -> b / x + a))",
        "zip_with(array(1), array(a), (x, y) -> x / y)",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        Outcome outcome;
        run(&sql, texts[i], batch, &outcome);
        assert_int_equal(outcome.errors.count, 2);
        assert_int_equal(outcome.errors.rows[0], 1);
        assert_int_equal(outcome.errors.rows[1], 3);
        assert_int_equal(error_class(outcome.errors.errors[0]), ERROR_DIVIDE_BY_ZERO);
        assert_true(vector_is_valid(outcome.values, 0) && vector_is_valid(outcome.values, 2));
        row_errors_done(&outcome.errors);
    }
    sql_fixture_done(&sql);
}

/* Elements of rows that are not asked for are not computed. */
static void test_selection(void **state)
{
    static const uint16_t selection[] = {0, 2};
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    Batch *batch = numbers(&sql, 3, (const char *const[]){"1", "2", "0", "0", "4", "5"});
    batch->selection = selection;
    batch->selected_count = 2;
    Outcome outcome;
    run(&sql, "transform(array(a, b), x -> 20 div x)", batch, &outcome);
    assert_int_equal(outcome.errors.count, 0);
    assert_string_equal(value_at(&sql, &outcome, 0), "[20, 10]");
    assert_string_equal(value_at(&sql, &outcome, 2), "[5, 4]");
    run(&sql, "CASE WHEN a <> 4 THEN exists(array(b), x -> 10 / (a - 4) > x) END", batch, &outcome);
    assert_int_equal(outcome.errors.count, 0);
    assert_string_equal(value_at(&sql, &outcome, 0), "false");
    assert_string_equal(value_at(&sql, &outcome, 2), "NULL");
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_arrays),
        cmocka_unit_test(test_failing_rows),
        cmocka_unit_test(test_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
