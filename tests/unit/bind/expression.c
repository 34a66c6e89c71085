/* Expressions: types of literals, implicit conversions, the forms that are evaluated lazily, and
 * the mistakes. Expected types are Spark's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "processor/data/datetime.h"
#include "processor/data/value_text.h"
#include "tests/support/bind_fixture.h"

static const char columns[] = "i INT, l BIGINT, d DECIMAL(10,2), x DOUBLE, s STRING, b BOOLEAN, "
                              "day DATE, ts TIMESTAMP, xs ARRAY<INT>, m MAP<STRING, INT>, "
                              "st STRUCT<a: INT, Inner: STRUCT<z: STRING>>, bin BINARY";

static BoundExpr *bind_ok(BindFixture *fixture, const char *text)
{
    BoundExpr *expr = NULL;
    Error *error = bind_fixture_expr(fixture, text, columns, &expr);
    if (error != NULL) {
        print_error("%s: %s\n", text, error_message(error));
    }
    assert_null(error);
    return expr;
}

static void check_type(const char *text, const char *expected)
{
    BindFixture fixture;
    bind_fixture_init(&fixture);
    AUTO_BUFFER Buffer type = {0};
    type_format(bind_ok(&fixture, text)->type, &type);
    if (strcmp(buffer_cstr(&type), expected) != 0) {
        print_error("%s\n", text);
    }
    assert_string_equal(buffer_cstr(&type), expected);
    bind_fixture_done(&fixture);
}

static void check_error(const char *text, const char *class, int column, int length)
{
    BindFixture fixture;
    bind_fixture_init(&fixture);
    BoundExpr *expr = NULL;
    AUTO(error) Error *error = bind_fixture_expr(&fixture, text, columns, &expr);
    if (error == NULL) {
        print_error("%s was accepted\n", text);
    }
    assert_non_null(error);
    if (strcmp(error_class_name(error_class(error)), class) != 0) {
        print_error("%s: %s\n", text, error_message(error));
    }
    assert_string_equal(error_class_name(error_class(error)), class);
    assert_int_equal(error_place(error).line, 1);
    assert_int_equal(error_place(error).column, column);
    assert_int_equal(error_place(error).length, length);
    bind_fixture_done(&fixture);
}

/* SQ-33 and its vector SQ-A37. */
static void test_number_literals(void **state)
{
    (void)state;
    check_type("1", "INT");
    check_type("2L", "BIGINT");
    check_type("3S", "SMALLINT");
    check_type("4Y", "TINYINT");
    check_type("5F", "FLOAT");
    check_type("6D", "DOUBLE");
    check_type("7BD", "DECIMAL(1,0)");
    check_type("1.5", "DECIMAL(2,1)");
    check_type(".5", "DECIMAL(1,1)");
    check_type("2.", "DECIMAL(1,0)");
    check_type("1e3", "DOUBLE");
    check_type("1.5E-3", "DOUBLE");
    check_type("1e3BD", "DECIMAL(4,0)");
    check_type("2.5f", "FLOAT");
    check_type("0.05", "DECIMAL(2,2)");
    check_type("1.50", "DECIMAL(3,2)");
    check_type("2147483647", "INT");
    check_type("2147483648", "BIGINT");
    check_type("-2147483648", "INT");
    check_type("9223372036854775808", "DECIMAL(19,0)");
    check_type("-9223372036854775808", "BIGINT");
    check_type("99999999999999999999999999999999999999", "DECIMAL(38,0)");
    check_error("999999999999999999999999999999999999999",
                "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", 1, 39);
    check_error("1 + 300Y", "INVALID_NUMERIC_LITERAL_RANGE", 5, 4);
    check_error("99999999999999999999L", "INVALID_NUMERIC_LITERAL_RANGE", 1, 21);
    check_error("1e999D", "INVALID_NUMERIC_LITERAL_RANGE", 1, 6);
    check_error("1e40F", "INVALID_NUMERIC_LITERAL_RANGE", 1, 5);
    check_type("-128Y", "TINYINT");
}

static void check_literal(const char *text, const char *type, const char *value)
{
    BindFixture fixture;
    bind_fixture_init(&fixture);
    BoundExpr *expr = bind_ok(&fixture, text);
    AUTO_BUFFER Buffer out = {0};
    assert_int_equal(expr->kind, BOUND_LITERAL);
    type_format(expr->type, &out);
    assert_string_equal(buffer_cstr(&out), type);
    buffer_clear(&out);
    value_format(expr->literal, 0, time_zone_utc(), &out);
    assert_string_equal(buffer_cstr(&out), value);
    bind_fixture_done(&fixture);
}

static void test_typed_literals(void **state)
{
    (void)state;
    check_literal("DATE'2026-07-10'", "DATE", "2026-07-10");
    check_literal("TIMESTAMP'2026-07-10 01:02:03.5'", "TIMESTAMP", "2026-07-10 01:02:03.5");
    check_literal("TIMESTAMP '2026-07-10T01:02:03+02:00'", "TIMESTAMP", "2026-07-09 23:02:03");
    check_literal("TIMESTAMP_NTZ'2026-07-10 01:02:03'", "TIMESTAMP_NTZ", "2026-07-10 01:02:03");
    check_literal("TIMESTAMP_LTZ'2026-07-10'", "TIMESTAMP", "2026-07-10 00:00:00");
    check_literal("X'41'", "BINARY", "A");
    check_literal("''", "STRING", "");
    check_literal("TRUE", "BOOLEAN", "true");
    check_literal("-1.25", "DECIMAL(3,2)", "-1.25");
    check_literal("- 5", "INT", "-5");
    check_error("DATE '2026-02-30'", "INVALID_TYPED_LITERAL", 1, 17);
    check_error("1 = 2 OR TIMESTAMP 'noon' = ts", "INVALID_TYPED_LITERAL", 10, 16);
    check_error("X'1G'", "INVALID_TYPED_LITERAL", 1, 5);
}

static void test_binary_with_odd_digits(void **state)
{
    (void)state;
    BindFixture fixture;
    bind_fixture_init(&fixture);
    Str bytes = VECTOR_VALUE(bind_ok(&fixture, "X'1F2e3'")->literal, Str, 0);
    assert_int_equal(bytes.size, 3);
    assert_memory_equal(bytes.data, "\x01\xF2\xE3", 3);
    bind_fixture_done(&fixture);
}

static void test_common_types(void **state)
{
    (void)state;
    check_type("CASE WHEN b THEN 1 ELSE 2L END", "BIGINT");
    check_type("CASE WHEN b THEN 1 END", "INT");
    check_type("CASE i WHEN 1 THEN 'a' WHEN 2.5 THEN NULL END", "STRING");
    check_type("CASE WHEN b THEN NULL ELSE d END", "DECIMAL(10,2)");
    check_type("coalesce(NULL, i, d)", "DECIMAL(12,2)");
    check_type("nvl(s, 'x')", "STRING");
    check_type("ifnull(day, ts)", "TIMESTAMP");
    check_type("if(b, 1, 2.5)", "DECIMAL(11,1)");
    check_type("nullif(i, 0)", "INT");
    check_type("nvl2(s, 1, 2L)", "BIGINT");
    check_type("i IN (1, 2L, 3.5)", "BOOLEAN");
    check_type("struct(i, s, i + 1, 2 AS two)", "STRUCT<i: INT, s: STRING, col3: INT, two: INT>");
    check_type("(i, 'a')", "STRUCT<i: INT, col2: STRING>");
    check_type("named_struct('n', 1, 'm', s)", "STRUCT<n: INT, m: STRING>");
    check_error("coalesce(i, b)", "DATATYPE_MISMATCH.DATA_DIFF_TYPES", 1, 14);
    check_error("CASE WHEN b THEN i ELSE day END", "DATATYPE_MISMATCH.DATA_DIFF_TYPES", 1, 31);
    check_error("CASE WHEN i THEN 1 END", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", 11, 1);
    check_error("i IN (1, b)", "DATATYPE_MISMATCH.DATA_DIFF_TYPES", 1, 11);
    check_error("m IN (m)", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", 1, 8);
}

/* DECIMAL(10,2) * 2: an integer literal has just its digits (Spark's DecimalPrecision). */
static void test_integer_literal_beside_decimal(void **state)
{
    (void)state;
    check_type("d * 2", "DECIMAL(12,2)");
    check_type("100 * d", "DECIMAL(14,2)");
    check_type("d * i", "DECIMAL(21,2)");
    check_type("CAST(d AS DOUBLE) * 1.2", "DOUBLE");
}

/* SQ-5: text meets a date as a date. */
static void test_string_with_date(void **state)
{
    (void)state;
    BindFixture fixture;
    bind_fixture_init(&fixture);
    const BoundExpr *less = bind_ok(&fixture, "day < '2025-01-01'");
    assert_int_equal(less->kind, BOUND_CALL);
    assert_int_equal(less->children[0]->kind, BOUND_COLUMN);
    assert_int_equal(less->children[1]->kind, BOUND_CAST);
    assert_int_equal(less->children[1]->type->kind, TYPE_DATE);
    assert_false(less->children[1]->try_cast);
    bind_fixture_done(&fixture);
}

static void test_null_takes_the_type(void **state)
{
    (void)state;
    BindFixture fixture;
    bind_fixture_init(&fixture);
    const BoundExpr *equal = bind_ok(&fixture, "i = NULL");
    assert_int_equal(equal->children[1]->kind, BOUND_LITERAL);
    assert_int_equal(equal->children[1]->type->kind, TYPE_INT);
    assert_false(vector_is_valid(equal->children[1]->literal, 0));
    bind_fixture_done(&fixture);
}

static void test_logic_is_flat(void **state)
{
    (void)state;
    BindFixture fixture;
    bind_fixture_init(&fixture);
    const BoundExpr *and = bind_ok(&fixture, "b AND i > 1 AND NOT b AND l < 2");
    assert_int_equal(and->kind, BOUND_AND);
    assert_int_equal(and->child_count, 4);
    assert_int_equal(and->children[2]->kind, BOUND_NOT);
    assert_int_equal(and->height, 4); /* 2 becomes a BIGINT */
    const BoundExpr *between = bind_ok(&fixture, "i NOT BETWEEN 1 AND 2");
    assert_int_equal(between->kind, BOUND_NOT);
    assert_int_equal(between->children[0]->kind, BOUND_AND);
    const BoundExpr *is = bind_ok(&fixture, "b IS NOT TRUE");
    assert_int_equal(is->kind, BOUND_NOT);
    assert_string_equal(is->children[0]->function->name, "<=>");
    const BoundExpr *distinct = bind_ok(&fixture, "i IS NOT DISTINCT FROM l");
    assert_int_equal(distinct->kind, BOUND_CALL);
    assert_int_equal(distinct->children[0]->kind, BOUND_CAST);
    bind_fixture_done(&fixture);
}

static void test_fields(void **state)
{
    (void)state;
    check_type("st.a", "INT");
    check_type("st.INNER.Z", "STRING");
    check_type("(st).inner.z", "STRING");
    check_error("st.nope", "FIELD_NOT_FOUND", 4, 4);
    check_error("i.a", "INVALID_EXTRACT_BASE_FIELD_TYPE", 3, 1);
    check_type("m.k", "INT");
}

static void test_casts(void **state)
{
    (void)state;
    check_type("CAST(s AS INT)", "INT");
    check_type("s::decimal(5,1)", "DECIMAL(5,1)");
    check_type("TRY_CAST(s AS DATE)", "DATE");
    check_type("CAST(NULL AS ARRAY<INT>)", "ARRAY<INT>");
    check_type("bigint(s)", "BIGINT");
    check_type("date(ts)", "DATE");
    check_error("1 + CAST(xs AS INT)", "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", 5, 15);
    check_error("CAST(b AS DATE)", "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", 1, 15);
    check_error("CAST(s AS DECIMAL(39,1))", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", 11, 13);
    check_error("CAST(s AS DECIMAL(2,3))", "DECIMAL_SCALE_EXCEEDS_PRECISION", 11, 12);
    check_type("CAST(s AS CHAR(3))", "STRING");
    check_error("s COLLATE UNICODE_CI = 'x'", "UNSUPPORTED_COLLATION", 11, 10);
}

static void test_functions(void **state)
{
    (void)state;
    check_type("UPPER(s)", "STRING");
    check_type("upper(i)", "STRING");
    check_type("current_date", "DATE");
    check_type("date_add(current_date(), -7)", "DATE");
    check_type("s LIKE ANY ('a%', 'b%')", "BOOLEAN");
    check_type("TRIM(LEADING 'x' FROM s)", "STRING");
    check_error("uper(s)", "UNRESOLVED_ROUTINE", 1, 7);
    check_error("main.sec.hide(s)", "UNRESOLVED_ROUTINE", 1, 16);
    check_error("upper()", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", 1, 7);
    check_error("upper(s, s)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", 1, 11);
    check_error("nvl(s)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", 1, 6);
    check_error("i + b", "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", 1, 5);
    check_error("NOT i", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", 5, 1);
    check_error("b AND i", "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", 1, 7);
    check_error("i OR i", "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", 1, 6);
    check_error("1 + sum(i)", "UNSUPPORTED_EXPR_FOR_OPERATOR", 5, 6);
    check_error("count(*)", "UNSUPPORTED_EXPR_FOR_OPERATOR", 1, 8);
    check_error("upper(s) OVER ()", "UNSUPPORTED_EXPR_FOR_WINDOW", 1, 16);
    check_error("rank() OVER (ORDER BY i)", "UNSUPPORTED_EXPR_FOR_OPERATOR", 1, 24);
    check_error("grouping(i)", "UNSUPPORTED_GROUPING_EXPRESSION", 1, 11);
    check_error("range(5)", "UNRESOLVED_ROUTINE", 1, 8);
    check_error("EXISTS (SELECT 1)", "NOT_YET", 1, 17);
    check_error("i IN (SELECT 1)", "NOT_YET", 1, 15);
    check_type("ts + INTERVAL 1 DAY", "TIMESTAMP");
    check_type("window(ts, '5 minutes').start", "TIMESTAMP");
}

static void test_hints(void **state)
{
    (void)state;
    BindFixture fixture;
    BoundExpr *expr = NULL;
    bind_fixture_init(&fixture);
    AUTO(error) Error *routine = bind_fixture_expr(&fixture, "uper(s)", columns, &expr);
    assert_string_equal(error_hint(routine), "did you mean `upper`?");
    AUTO(error) Error *column = bind_fixture_expr(&fixture, "statu", "status INT, y INT", &expr);
    assert_string_equal(error_hint(column), "did you mean `status`?");
    assert_string_equal(error_message(column),
                        "A column, variable, or function parameter with name `statu` cannot be "
                        "resolved. Did you mean one of the following? [`status`, `y`].");
    AUTO(error) Error *field = bind_fixture_expr(&fixture, "st.inne", columns, &expr);
    assert_string_equal(error_hint(field), "did you mean `Inner`?");
    bind_fixture_done(&fixture);
}

/* A column called like a word that is a value wins (SQ-38). */
static void test_current_value_or_column(void **state)
{
    (void)state;
    BindFixture fixture;
    BoundExpr *expr = NULL;
    bind_fixture_init(&fixture);
    assert_null(bind_fixture_expr(&fixture, "current_date", "current_date INT", &expr));
    assert_int_equal(expr->kind, BOUND_COLUMN);
    assert_null(bind_fixture_expr(&fixture, "current_date", "a INT", &expr));
    assert_int_equal(expr->kind, BOUND_CALL);
    bind_fixture_done(&fixture);
}

static void append_times(Buffer *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        buffer_append_cstr(out, text);
    }
}

/* What would take exponential time or a deep stack is refused at once. */
static void test_too_complex(void **state)
{
    (void)state;
    BindFixture fixture;
    BoundExpr *expr = NULL;
    AUTO_BUFFER Buffer text = {0};
    bind_fixture_init(&fixture);
    append_times(&text, "nullif(", 60);
    buffer_append_cstr(&text, "i");
    append_times(&text, ", 1)", 60);
    AUTO(error) Error *doubling = bind_fixture_expr(&fixture, buffer_cstr(&text), columns, &expr);
    assert_int_equal(error_class(doubling), ERROR_STATEMENT_TOO_COMPLEX);
    buffer_clear(&text);
    buffer_append_cstr(&text, "i");
    append_times(&text, " + 1", 100000);
    AUTO(error) Error *chain = bind_fixture_expr(&fixture, buffer_cstr(&text), columns, &expr);
    assert_int_equal(error_class(chain), ERROR_STATEMENT_TOO_COMPLEX);
    buffer_clear(&text);
    buffer_append_cstr(&text, "b");
    append_times(&text, " AND b", 50000);
    assert_null(bind_fixture_expr(&fixture, buffer_cstr(&text), columns, &expr));
    assert_int_equal(expr->child_count, 50001);
    bind_fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_literals),
        cmocka_unit_test(test_typed_literals),
        cmocka_unit_test(test_binary_with_odd_digits),
        cmocka_unit_test(test_common_types),
        cmocka_unit_test(test_integer_literal_beside_decimal),
        cmocka_unit_test(test_string_with_date),
        cmocka_unit_test(test_null_takes_the_type),
        cmocka_unit_test(test_logic_is_flat),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_current_value_or_column),
        cmocka_unit_test(test_too_complex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
