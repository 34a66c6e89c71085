/* Implicit conversion against what Spark documents for ANSI mode (sql-ref-ansi-compliance: type
 * promotion, store assignment, cast) and does in AnsiTypeCoercion. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "processor/bind/bind.h"
#include "processor/bind/coerce.h"
#include "processor/sql/parser.h"

static const Type *type_of(Arena *arena, const char *text)
{
    if (str_equal(str_from(text), STR("NULL"))) {
        return &type_null;
    }
    AstDataType *ast = NULL;
    const Type *type = NULL;
    assert_null(sql_parse_data_type(str_from(text), arena, &ast));
    assert_null(bind_type(arena, ast, &type));
    return type;
}

static void check_common(const char *a, const char *b, const char *expected)
{
    AUTO(arena) Arena *arena = arena_new("test");
    AUTO_BUFFER Buffer forth = {0};
    AUTO_BUFFER Buffer back = {0};
    const Type *type = coerce_common_type(arena, type_of(arena, a), type_of(arena, b));
    const Type *other = coerce_common_type(arena, type_of(arena, b), type_of(arena, a));
    assert_true((type == NULL) == (other == NULL));
    if (type == NULL) {
        assert_string_equal(expected, "none");
        return;
    }
    type_format(type, &forth);
    type_format(other, &back);
    assert_string_equal(buffer_cstr(&forth), expected);
    assert_string_equal(buffer_cstr(&back), expected);
}

static void test_common_numbers(void **state)
{
    (void)state;
    check_common("INT", "INT", "INT");
    check_common("TINYINT", "SMALLINT", "SMALLINT");
    check_common("SMALLINT", "INT", "INT");
    check_common("INT", "BIGINT", "BIGINT");
    /* A FLOAT does not hold every INT: both become DOUBLE. */
    check_common("INT", "FLOAT", "DOUBLE");
    check_common("BIGINT", "FLOAT", "DOUBLE");
    check_common("TINYINT", "FLOAT", "DOUBLE");
    check_common("FLOAT", "DOUBLE", "DOUBLE");
    check_common("BIGINT", "DOUBLE", "DOUBLE");
    check_common("NULL", "INT", "INT");
}

static void test_common_decimals(void **state)
{
    (void)state;
    check_common("DECIMAL(10,2)", "DECIMAL(5,4)", "DECIMAL(12,4)");
    check_common("INT", "DECIMAL(10,2)", "DECIMAL(12,2)");
    check_common("BIGINT", "DECIMAL(10,2)", "DECIMAL(22,2)");
    check_common("TINYINT", "DECIMAL(10,2)", "DECIMAL(10,2)");
    check_common("DECIMAL(10,2)", "DOUBLE", "DOUBLE");
    check_common("DECIMAL(10,2)", "FLOAT", "DOUBLE");
    /* Beyond 38 digits the fraction gives way (Spark 4). */
    check_common("DECIMAL(38,0)", "DECIMAL(38,10)", "DECIMAL(38,0)");
    check_common("DECIMAL(30,10)", "DECIMAL(38,20)", "DECIMAL(38,18)");
}

static void test_common_times(void **state)
{
    (void)state;
    check_common("DATE", "TIMESTAMP", "TIMESTAMP");
    check_common("DATE", "TIMESTAMP_NTZ", "TIMESTAMP_NTZ");
    check_common("TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP");
    check_common("DATE", "INT", "none");
    check_common("BOOLEAN", "INT", "none");
}

static void test_common_strings(void **state)
{
    (void)state;
    check_common("STRING", "INT", "BIGINT");
    check_common("STRING", "TINYINT", "BIGINT");
    check_common("STRING", "DOUBLE", "DOUBLE");
    check_common("STRING", "FLOAT", "DOUBLE");
    check_common("STRING", "DECIMAL(10,2)", "DOUBLE");
    check_common("STRING", "DATE", "DATE"); /* SQ-5 */
    check_common("STRING", "TIMESTAMP", "TIMESTAMP");
    check_common("STRING", "BOOLEAN", "BOOLEAN");
    check_common("STRING", "BINARY", "BINARY");
    check_common("STRING", "ARRAY<STRING>", "none");
    check_common("STRING", "INTERVAL DAY", "none");
}

static void test_common_nested(void **state)
{
    (void)state;
    check_common("ARRAY<INT>", "ARRAY<BIGINT>", "ARRAY<BIGINT>");
    check_common("MAP<STRING, INT>", "MAP<STRING, DOUBLE>", "MAP<STRING, DOUBLE>");
    check_common("STRUCT<a: INT>", "STRUCT<a: BIGINT>", "STRUCT<a: BIGINT>");
    check_common("STRUCT<a: INT>", "STRUCT<b: INT>", "none");
    check_common("ARRAY<INT>", "ARRAY<BOOLEAN>", "none");
    check_common("ARRAY<INT>", "INT", "none");
}

typedef bool Rule(const Type *from, const Type *to);

static void check_rule(Rule *rule, const char *from, const char *to, bool expected)
{
    AUTO(arena) Arena *arena = arena_new("test");
    bool found = rule(type_of(arena, from), type_of(arena, to));
    if (found != expected) {
        print_error("%s to %s: expected %d\n", from, to, expected);
    }
    assert_true(found == expected);
}

static void test_assignment(void **state)
{
    (void)state;
    /* Store assignment: numbers into numbers, anything atomic into STRING, dates into times. */
    check_rule(coerce_is_assignable, "BIGINT", "INT", true);
    check_rule(coerce_is_assignable, "DOUBLE", "DECIMAL(4,1)", true);
    check_rule(coerce_is_assignable, "INT", "STRING", true);
    check_rule(coerce_is_assignable, "BOOLEAN", "STRING", true);
    check_rule(coerce_is_assignable, "DATE", "TIMESTAMP", true);
    check_rule(coerce_is_assignable, "TIMESTAMP", "DATE", true);
    check_rule(coerce_is_assignable, "NULL", "STRUCT<a: INT>", true);
    check_rule(coerce_is_assignable, "STRING", "INT", false);
    check_rule(coerce_is_assignable, "STRING", "DATE", false);
    check_rule(coerce_is_assignable, "STRING", "BINARY", false);
    check_rule(coerce_is_assignable, "BOOLEAN", "INT", false);
    check_rule(coerce_is_assignable, "INT", "BOOLEAN", false);
    check_rule(coerce_is_assignable, "TIMESTAMP", "BIGINT", false);
    check_rule(coerce_is_assignable, "ARRAY<INT>", "STRING", false);
    check_rule(coerce_is_assignable, "ARRAY<INT>", "ARRAY<STRING>", true);
    check_rule(coerce_is_assignable, "STRUCT<a: INT>", "STRUCT<a: STRING>", true);
    check_rule(coerce_is_assignable, "STRUCT<a: INT>", "STRUCT<b: INT>", false);
}

static void test_implicit(void **state)
{
    (void)state;
    /* Function arguments: as assignment, a STRING may become any primitive, a fraction no integer.
     */
    check_rule(coerce_is_implicit, "STRING", "INT", true);
    check_rule(coerce_is_implicit, "STRING", "DATE", true);
    check_rule(coerce_is_implicit, "INT", "STRING", true);
    check_rule(coerce_is_implicit, "DOUBLE", "INT", false);
    check_rule(coerce_is_implicit, "DECIMAL(3,1)", "BIGINT", false);
    check_rule(coerce_is_implicit, "INT", "DOUBLE", true);
    check_rule(coerce_is_implicit, "BIGINT", "INT", true);
    check_rule(coerce_is_implicit, "INT", "DATE", false);
    check_rule(coerce_is_implicit, "STRING", "ARRAY<INT>", false);
}

static void test_castable(void **state)
{
    (void)state;
    check_rule(coerce_is_castable, "STRING", "INT", true);
    check_rule(coerce_is_castable, "STRING", "BINARY", true);
    check_rule(coerce_is_castable, "BINARY", "STRING", true);
    check_rule(coerce_is_castable, "ARRAY<INT>", "STRING", true);
    check_rule(coerce_is_castable, "BOOLEAN", "INT", true);
    check_rule(coerce_is_castable, "INT", "BOOLEAN", true);
    check_rule(coerce_is_castable, "INT", "TIMESTAMP", true);
    check_rule(coerce_is_castable, "TIMESTAMP", "BIGINT", true);
    check_rule(coerce_is_castable, "DATE", "TIMESTAMP", true);
    check_rule(coerce_is_castable, "ARRAY<INT>", "ARRAY<STRING>", true);
    check_rule(coerce_is_castable, "STRUCT<a: INT>", "STRUCT<b: STRING>", true);
    /* error-classes.md: array to int, boolean to date can never work. */
    check_rule(coerce_is_castable, "ARRAY<INT>", "INT", false);
    check_rule(coerce_is_castable, "BOOLEAN", "DATE", false);
    check_rule(coerce_is_castable, "INT", "DATE", false);
    check_rule(coerce_is_castable, "DATE", "INT", false);
    check_rule(coerce_is_castable, "BINARY", "INT", false);
    check_rule(coerce_is_castable, "INT", "BINARY", false);
    check_rule(coerce_is_castable, "STRUCT<a: INT>", "STRUCT<a: INT, b: INT>", false);
    check_rule(coerce_is_castable, "INT", "TIMESTAMP_NTZ", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_numbers), cmocka_unit_test(test_common_decimals),
        cmocka_unit_test(test_common_times),   cmocka_unit_test(test_common_strings),
        cmocka_unit_test(test_common_nested),  cmocka_unit_test(test_assignment),
        cmocka_unit_test(test_implicit),       cmocka_unit_test(test_castable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
