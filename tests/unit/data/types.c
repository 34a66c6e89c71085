/* Types and schemas: names as Spark's typeof prints them, equality, copies, what can be a key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/data/schema.h"
#include "processor/data/vector.h"

static Field field(const char *name, const Type *type)
{
    return (Field){str_from(name), type, false, STR_NULL};
}

static void expect_names(const Type *type, const char *name, const char *simple)
{
    AUTO_BUFFER Buffer out = {0};
    type_format(type, &out);
    assert_string_equal(buffer_cstr(&out), name);
    buffer_clear(&out);
    type_format_simple(type, &out);
    assert_string_equal(buffer_cstr(&out), simple);
}

static void names(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    expect_names(&type_null, "VOID", "void");
    expect_names(&type_boolean, "BOOLEAN", "boolean");
    expect_names(&type_tinyint, "TINYINT", "tinyint");
    expect_names(&type_smallint, "SMALLINT", "smallint");
    expect_names(&type_int, "INT", "int");
    expect_names(&type_bigint, "BIGINT", "bigint");
    expect_names(&type_float, "FLOAT", "float");
    expect_names(&type_double, "DOUBLE", "double");
    expect_names(&type_string, "STRING", "string");
    expect_names(&type_binary, "BINARY", "binary");
    expect_names(&type_date, "DATE", "date");
    expect_names(&type_timestamp, "TIMESTAMP", "timestamp");
    expect_names(&type_timestamp_ntz, "TIMESTAMP_NTZ", "timestamp_ntz");
    expect_names(&type_variant, "VARIANT", "variant");
    expect_names(type_decimal(arena, 10, 2), "DECIMAL(10,2)", "decimal(10,2)");
    expect_names(type_interval(arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND),
                 "INTERVAL DAY TO SECOND", "interval day to second");
    expect_names(type_interval(arena, TYPE_INTERVAL_YEAR_MONTH, FIELD_MONTH, FIELD_MONTH),
                 "INTERVAL MONTH", "interval month");
    expect_names(type_array(arena, type_array(arena, &type_string)), "ARRAY<ARRAY<STRING>>",
                 "array<array<string>>");
    expect_names(type_map(arena, &type_string, &type_int), "MAP<STRING, INT>", "map<string,int>");
    Field fields[] = {field("a", &type_int), field("b c", &type_string), field("d`e", &type_date)};
    fields[1].not_null = true;
    expect_names(type_struct(arena, fields, 3),
                 "STRUCT<a: INT, `b c`: STRING NOT NULL, `d``e`: DATE>",
                 "struct<a:int,b c:string,d`e:date>");
    expect_names(type_struct(arena, NULL, 0), "STRUCT<>", "struct<>");
}

static void equality_ignores_case_comments_and_nullability(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Field upper = {STR("A"), &type_int, true, STR("why")};
    Field lower = field("a", &type_int);
    Field other = field("a", &type_bigint);
    const Type *a = type_struct(arena, &upper, 1);
    assert_true(type_equal(a, type_struct(arena, &lower, 1)));
    assert_false(type_equal(a, type_struct(arena, &other, 1)));
    assert_false(type_equal(a, type_struct(arena, NULL, 0)));
    assert_true(type_equal(type_decimal(arena, 5, 2), type_decimal(arena, 5, 2)));
    assert_false(type_equal(type_decimal(arena, 5, 2), type_decimal(arena, 5, 1)));
    assert_false(type_equal(type_array(arena, &type_int), type_array(arena, &type_bigint)));
    assert_false(type_equal(type_map(arena, &type_int, &type_int),
                            type_map(arena, &type_string, &type_int)));
    assert_false(type_equal(&type_timestamp, &type_timestamp_ntz));
    const Type copied = type_bigint;
    assert_true(type_equal(&copied, &type_bigint));
}

/* RU-12, RU-14: maps and variants, also inside, cannot be keys or sequences. */
static void what_can_be_a_key(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Type *map = type_map(arena, &type_string, &type_int);
    Field bad = field("m", map);
    Field good = field("s", &type_string);
    assert_true(type_is_orderable(&type_string));
    assert_true(type_is_orderable(type_array(arena, type_struct(arena, &good, 1))));
    assert_false(type_is_orderable(map));
    assert_false(type_is_orderable(&type_variant));
    assert_false(type_is_orderable(type_array(arena, map)));
    assert_false(type_is_orderable(type_struct(arena, &bad, 1)));
    assert_true(type_is_integral(&type_tinyint) && type_is_integral(&type_bigint));
    assert_false(type_is_integral(&type_boolean) || type_is_integral(&type_float));
    assert_true(type_is_numeric(type_decimal(arena, 1, 0)) && type_is_numeric(&type_double));
    assert_false(type_is_numeric(&type_string) || type_is_numeric(&type_boolean));
}

static void parts_of_nested_types(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Field fields[] = {field("a", &type_int), field("b", &type_string)};
    const Type *map = type_map(arena, &type_date, &type_double);
    const Type *array = type_array(arena, map);
    const Type *row = type_struct(arena, fields, 2);
    assert_int_equal(type_child_count(&type_string), 0);
    assert_int_equal(type_child_count(type_struct(arena, NULL, 0)), 0);
    assert_int_equal(type_child_count(array), 1);
    assert_ptr_equal(type_child(array, 0), map);
    assert_int_equal(type_child_count(map), 2);
    assert_ptr_equal(type_child(map, 0), &type_date);
    assert_ptr_equal(type_child(map, 1), &type_double);
    assert_int_equal(type_child_count(row), 2);
    assert_ptr_equal(type_child(row, 1), &type_string);
    assert_false(type_equal(map, type_map(arena, &type_date, &type_float)));
    assert_false(type_equal(array, type_array(arena, &type_date)));
    assert_true(type_equal(array, type_array(arena, type_map(arena, &type_date, &type_double))));
}

/* The largest values: 127, 32767, 2147483647, 9223372036854775807. */
static void digits_before_the_point(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    assert_int_equal(type_whole_digits(&type_tinyint), 3);
    assert_int_equal(type_whole_digits(&type_smallint), 5);
    assert_int_equal(type_whole_digits(&type_int), 10);
    assert_int_equal(type_whole_digits(&type_bigint), 19);
    assert_int_equal(type_whole_digits(type_decimal(arena, 10, 2)), 8);
    assert_int_equal(type_whole_digits(type_decimal(arena, 5, 5)), 0);
}

static void copies_outlive_their_source(void **state)
{
    (void)state;
    AUTO(arena) Arena *kept = arena_new("kept");
    Arena *gone = arena_new("gone");
    Field inner = field(arena_copy_cstr(gone, STR("inner")), type_decimal(gone, 7, 3));
    Field outer = {arena_copy_str(gone, STR("outer")),
                   type_array(gone, type_struct(gone, &inner, 1)), true,
                   arena_copy_str(gone, STR("it's"))};
    const Schema *schema = schema_copy(kept, schema_new(gone, &outer, 1));
    arena_free(gone);
    AUTO_BUFFER Buffer out = {0};
    schema_format(schema, &out);
    assert_string_equal(buffer_cstr(&out),
                        "outer ARRAY<STRUCT<inner: DECIMAL(7,3)>> NOT NULL COMMENT 'it\\'s'");
}

static void schemas(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Field fields[] = {field("booking_id", &type_bigint), field("status", &type_string),
                      field("select", &type_int), field("2nd", &type_int)};
    fields[0].not_null = true;
    const Schema *schema = schema_new(arena, fields, 4);
    assert_int_equal(schema_find(schema, STR("STATUS")), 1);
    assert_int_equal(schema_find(schema, STR("stat")), -1);
    assert_true(str_equal(schema_nearest(schema, STR("statu")), STR("status")));
    assert_true(str_equal(schema_nearest(schema, STR("bookingid")), STR("booking_id")));
    assert_null(schema_nearest(schema, STR("x")).data);
    assert_null(schema_nearest(schema, STR("total_amount")).data);
    AUTO_BUFFER Buffer out = {0};
    schema_format(schema, &out);
    assert_string_equal(buffer_cstr(&out),
                        "booking_id BIGINT NOT NULL, status STRING, `select` INT, `2nd` INT");
    assert_true(schema_equal(schema, schema_copy(arena, schema)));
    assert_false(schema_equal(schema, schema_new(arena, fields, 3)));
    fields[1].type = &type_int;
    assert_false(schema_equal(schema, schema_new(arena, fields, 4)));
}

/* Wide schemas look names up in a table of their own. */
static void many_names(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    AUTO(arena) Arena *arena = arena_new("test");
    Field *fields = arena_new_array(arena, Field, COUNT);
    for (int i = 0; i < COUNT; i++) {
        fields[i] = field(arena_printf(arena, "Column_%d", i), &type_int);
    }
    fields[4000].name = STR("COLUMN_17");
    fields[4001].name = STR("");
    const Schema *schema = schema_copy(arena, schema_new(arena, fields, COUNT));
    for (int i = 0; i < COUNT; i++) {
        int expected = i == 4000 || i == 4001 ? -1 : i;
        assert_int_equal(schema_find(schema, str_from(arena_printf(arena, "cOLUMN_%d", i))),
                         expected);
    }
    assert_int_equal(schema_find(schema, STR("column_5000")), -1);
    assert_int_equal(schema_find(schema, STR_NULL), 4001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(equality_ignores_case_comments_and_nullability),
        cmocka_unit_test(what_can_be_a_key),
        cmocka_unit_test(parts_of_nested_types),
        cmocka_unit_test(digits_before_the_point),
        cmocka_unit_test(copies_outlive_their_source),
        cmocka_unit_test(schemas),
        cmocka_unit_test(many_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
