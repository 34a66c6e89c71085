/* What each column type takes from JSON, and what JSON is not (decisions "Records in"). */
#include <float.h>
#include <math.h>

#include "tests/unit/format/fixture.h"

static void integers_take_integral_values_in_range(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_int));
    CHECK(f, EXAMPLE("{\"x\":1.0}", "{\"x\":1}"), EXAMPLE("{\"x\":1e2}", "{\"x\":100}"),
          EXAMPLE("{\"x\":120E-1}", "{\"x\":12}"), EXAMPLE("{\"x\":-0}", "{\"x\":0}"),
          EXAMPLE("{\"x\":2147483647}", "{\"x\":2147483647}"),
          EXAMPLE("{\"x\":-2147483648}", "{\"x\":-2147483648}"),
          EXAMPLE("{\"x\":-2147483648.000}", "{\"x\":-2147483648}"),
          EXAMPLE("{\"x\":0e999999999999}", "{\"x\":0}"),
          EXAMPLE("{\"x\":2147483648}", "!`2147483648` cannot be read as INT: it is out of range"),
          EXAMPLE("{\"x\":1e400}", "!out of range"),
          EXAMPLE("{\"x\":1e99999999999999999999}", "!out of range"),
          EXAMPLE("{\"x\":123456789012345678901234567890123456789012345}", "!out of range"),
          EXAMPLE("{\"x\":1.5}", "!`1.5` cannot be read as INT: it is not a whole number"),
          EXAMPLE("{\"x\":1e-1}", "!not a whole number"),
          EXAMPLE("{\"x\":\"1\"}", "!a text cannot be read as INT"),
          EXAMPLE("{\"x\":true}", "!a boolean cannot be read as INT"),
          EXAMPLE("{\"x\":[1]}", "!an array cannot be read as INT"),
          EXAMPLE("{\"x\":{}}", "!an object cannot be read as INT"),
          EXAMPLE("{\"x\":NaN}", "!the type has no such value"));
    OPEN(f, FIELD("a", &type_tinyint), FIELD("b", &type_smallint), FIELD("c", &type_bigint));
    CHECK(
        f,
        EXAMPLE("{\"a\":-128,\"b\":32767,\"c\":9.223372036854775807e18}",
                "{\"a\":-128,\"b\":32767,\"c\":9223372036854775807}"),
        EXAMPLE("{\"a\":128}", "!column `a`, byte 6: `128` cannot be read as TINYINT"),
        EXAMPLE("{\"a\":-129}", "!TINYINT"), EXAMPLE("{\"b\":32768}", "!SMALLINT"),
        EXAMPLE("{\"c\":9223372036854775808}", "!out of range"),
        EXAMPLE("{\"c\":-9223372036854775809}", "!out of range"),
        EXAMPLE("{\"c\":100000000000000000}", "{\"a\":null,\"b\":null,\"c\":100000000000000000}"),
        EXAMPLE("{\"c\":999999999999999999}", "{\"a\":null,\"b\":null,\"c\":999999999999999999}"),
        EXAMPLE("{\"c\":-999999999999999999}", "{\"a\":null,\"b\":null,\"c\":-999999999999999999}"),
        EXAMPLE("{\"c\":1000000000000000000}",
                "{\"a\":null,\"b\":null,\"c\":1000000000000000000}"));
}

static void decimals_are_exact(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("d", type_decimal(f->arena, 10, 2)), FIELD("w", type_decimal(f->arena, 38, 10)));
    CHECK(f, EXAMPLE("{\"d\":12.5}", "{\"d\":12.50,\"w\":null}"),
          EXAMPLE("{\"d\":-0.07}", "{\"d\":-0.07,\"w\":null}"),
          EXAMPLE("{\"d\":99999999.99}", "{\"d\":99999999.99,\"w\":null}"),
          EXAMPLE("{\"d\":1.2300}", "{\"d\":1.23,\"w\":null}"),
          EXAMPLE("{\"d\":123e-2}", "{\"d\":1.23,\"w\":null}"),
          EXAMPLE("{\"d\":1E7}", "{\"d\":10000000.00,\"w\":null}"),
          EXAMPLE("{\"d\":0.001}", "!`0.001` cannot be read as DECIMAL(10,2): it has more digits"),
          EXAMPLE("{\"d\":100000000}", "!DECIMAL(10,2): it is out of range"),
          EXAMPLE("{\"d\":99999999.991}", "!more digits"),
          EXAMPLE("{\"d\":1e400}", "!out of range"), EXAMPLE("{\"d\":Infinity}", "!no such value"),
          EXAMPLE("{\"d\":\"1.5\"}", "!a text"),
          EXAMPLE("{\"w\":1234567890123456789012345678.0123456789}",
                  "{\"d\":null,\"w\":1234567890123456789012345678.0123456789}"),
          EXAMPLE("{\"w\":-9999999999999999999999999999.9999999999}",
                  "{\"d\":null,\"w\":-9999999999999999999999999999.9999999999}"),
          EXAMPLE("{\"w\":10000000000000000000000000000}", "!out of range"));
}

static void floating_point_is_nearest(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_double), FIELD("y", &type_float));
    const struct {
        Str record;
        double x;
        float y;
    } values[] = {
        {STR("{\"x\":0.1,\"y\":0.1}"), 0.1, 0.1F},
        {STR("{\"x\":1e22,\"y\":16777217}"), 1e22, 16777216.0F},
        {STR("{\"x\":9007199254740993,\"y\":1e10}"), 9007199254740992.0, 1e10F},
        {STR("{\"x\":1.7976931348623157e308,\"y\":3.4028235e38}"), DBL_MAX, FLT_MAX},
        {STR("{\"x\":4.9e-324,\"y\":1e-45}"), 0x1p-1074, 0x1p-149F},
        {STR("{\"x\":1e-400,\"y\":1e-60}"), 0.0, 0.0F},
        {STR("{\"x\":123456789012345678901234567890,\"y\":-2.5}"), 123456789012345678901234567890.0,
         -2.5F},
        /* Twice rounded, through double, this would be the float below. */
        {STR("{\"x\":0,\"y\":1.00000017881393432617187499}"), 0.0, 0x1.000002p0F},
        {STR("{\"x\":0,\"y\":1.00000017881393432617187501}"), 0.0, 0x1.000004p0F},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        fixture_decode(f, &values[i].record, 1);
        assert_int_equal(f->errors.count, 0);
        assert_true(VECTOR_VALUE(f->batch->columns[0], double, 0) == values[i].x);
        assert_true(VECTOR_VALUE(f->batch->columns[1], float, 0) == values[i].y);
    }
    fixture_decode(f, &STR("{\"x\":-0,\"y\":-0.0}"), 1);
    assert_true(signbit(VECTOR_VALUE(f->batch->columns[0], double, 0)) != 0);
    assert_true(signbit(VECTOR_VALUE(f->batch->columns[1], float, 0)) != 0);
    CHECK(f, EXAMPLE("{\"y\":1e39}", "!`1e39` cannot be read as FLOAT: it is out of range"),
          EXAMPLE("{\"y\":3.5e38}", "!out of range"), EXAMPLE("{\"x\":1.8e308}", "!out of range"),
          EXAMPLE("{\"y\":NaN}", "{\"x\":null,\"y\":\"NaN\"}"),
          EXAMPLE("{\"x\":\"1.5\"}", "!a text"), EXAMPLE("{\"x\":false}", "!a boolean"));
}

static void coerce_takes_numbers_as_text(void **state)
{
    Fixture *f = *state;
    f->options.coerce = true;
    OPEN(f, FIELD("i", &type_int), FIELD("d", type_decimal(f->arena, 5, 2)),
         FIELD("x", &type_double), FIELD("b", &type_boolean));
    CHECK(f,
          EXAMPLE("{\"i\":\"12\",\"d\":\"1.50\",\"x\":\"-1e3\"}",
                  "{\"i\":12,\"d\":1.50,\"x\":-1000.0,\"b\":null}"),
          EXAMPLE("{\"i\":\"+007\",\"d\":\".5\",\"x\":\" 5. \"}",
                  "{\"i\":7,\"d\":0.50,\"x\":5.0,\"b\":null}"),
          EXAMPLE("{\"i\":\"1.5\"}", "!not a whole number"), EXAMPLE("{\"i\":\"\"}", "!no number"),
          EXAMPLE("{\"i\":\"x\"}", "!`x` cannot be read as INT: it is no number"),
          EXAMPLE("{\"i\":\"0x10\"}", "!no number"), EXAMPLE("{\"x\":\"inf\"}", "!no number"),
          EXAMPLE("{\"x\":\"1e\"}", "!no number"), EXAMPLE("{\"x\":\".\"}", "!no number"),
          EXAMPLE("{\"d\":\"1.505\"}", "!more digits"), EXAMPLE("{\"b\":\"true\"}", "!a text"));
}

static void strings_take_anything_as_written(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("s", &type_string));
    CHECK(f,
          EXAMPLE("{\"s\":\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000z\"}",
                  "{\"s\":\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000z\"}"),
          EXAMPLE("{\"s\":\"\"}", "{\"s\":\"\"}"), EXAMPLE("{\"s\":1.50}", "{\"s\":\"1.50\"}"),
          EXAMPLE("{\"s\":true}", "{\"s\":\"true\"}"),
          EXAMPLE("{\"s\":{\"a\": [1, \"x\"]}}", "{\"s\":\"{\\\"a\\\": [1, \\\"x\\\"]}\"}"),
          EXAMPLE("{\"s\":[]}", "{\"s\":\"[]\"}"), EXAMPLE("{\"s\":null}", "{\"s\":null}"),
          EXAMPLE("{\"s\":\"null\"}", "{\"s\":\"null\"}"),
          EXAMPLE("{\"s\":[1,}}", "!column `s`, byte 9: a value is expected"));
    Str record = STR("{\"s\":\"plain text\"}");
    fixture_decode(f, &record, 1);
    assert_ptr_equal(VECTOR_VALUE(f->batch->columns[0], Str, 0).data, record.data + 6);
}

static void booleans(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("b", &type_boolean));
    CHECK(f, EXAMPLE("{\"b\":true}", "{\"b\":true}"), EXAMPLE("{\"b\":false}", "{\"b\":false}"),
          EXAMPLE("{\"b\":1}", "!a number cannot be read as BOOLEAN"),
          EXAMPLE("{\"b\":\"true\"}", "!a text"), EXAMPLE("{\"b\":truth}", "!unknown word"),
          EXAMPLE("{\"b\":True}", "!a value is expected"));
}

static void dates_and_times(void **state)
{
    Fixture *f = *state;
    AUTO(time_zone) TimeZone *oslo = NULL;
    assert_null(time_zone_open(STR("Europe/Oslo"), &oslo));
    f->options.time_zone = oslo;
    OPEN(f, FIELD("d", &type_date), FIELD("t", &type_timestamp), FIELD("n", &type_timestamp_ntz));
    CHECK(f, EXAMPLE("{\"d\":\"2024-02-29\"}", "{\"d\":\"2024-02-29\",\"t\":null,\"n\":null}"),
          EXAMPLE("{\"d\":\"2023-02-29\"}", "!a date is written YYYY-MM-DD"),
          EXAMPLE("{\"d\":\"2024-2-9\"}", "!DATE"),
          EXAMPLE("{\"d\":\"2024-02-29T00:00\"}", "!DATE"),
          EXAMPLE("{\"d\":19000}", "!a number cannot be read as DATE"),
          EXAMPLE("{\"t\":1700000000}", "!a number cannot be read as TIMESTAMP"),
          EXAMPLE("{\"n\":1700000000}", "!a number"),
          EXAMPLE("{\"t\":\"2026-03-01T00:00:00Z\"}",
                  "{\"d\":null,\"t\":\"2026-03-01T00:00:00.000000Z\",\"n\":null}"),
          EXAMPLE("{\"t\":\"2026-03-01 12:30:15.25+02:00\"}",
                  "{\"d\":null,\"t\":\"2026-03-01T10:30:15.250000Z\",\"n\":null}"),
          /* Without a zone: the session's, one hour ahead of UTC in winter, two in summer. */
          EXAMPLE("{\"t\":\"2026-01-15T12:00:00\"}",
                  "{\"d\":null,\"t\":\"2026-01-15T11:00:00.000000Z\",\"n\":null}"),
          EXAMPLE("{\"t\":\"2026-07-15 12:00\"}",
                  "{\"d\":null,\"t\":\"2026-07-15T10:00:00.000000Z\",\"n\":null}"),
          EXAMPLE("{\"n\":\"2026-07-15 12:00\"}",
                  "{\"d\":null,\"t\":null,\"n\":\"2026-07-15T12:00:00.000000\"}"),
          EXAMPLE("{\"n\":\"2026\\u002d07-15T12:00:00.123456\"}",
                  "{\"d\":null,\"t\":null,\"n\":\"2026-07-15T12:00:00.123456\"}"),
          EXAMPLE("{\"t\":\"tomorrow\"}", "!`tomorrow` cannot be read as TIMESTAMP"));
}

static void binary_is_strict_base64(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("b", &type_binary));
    /* RFC 4648 section 10 */
    CHECK(f, EXAMPLE("{\"b\":\"\"}", "{\"b\":\"\"}"),
          EXAMPLE("{\"b\":\"Zg==\"}", "{\"b\":\"Zg==\"}"),
          EXAMPLE("{\"b\":\"Zm8=\"}", "{\"b\":\"Zm8=\"}"),
          EXAMPLE("{\"b\":\"Zm9vYmFy\"}", "{\"b\":\"Zm9vYmFy\"}"),
          EXAMPLE("{\"b\":\"Zg\"}", "!base64 with padding"), EXAMPLE("{\"b\":\"Zg=\"}", "!base64"),
          EXAMPLE("{\"b\":\"====\"}", "!base64"), EXAMPLE("{\"b\":\"Zg==Zg==\"}", "!base64"),
          EXAMPLE("{\"b\":\"Zh==\"}", "!base64"), EXAMPLE("{\"b\":\"Zm-_\"}", "!base64"),
          EXAMPLE("{\"b\":\"Zm9v\\n\"}", "!base64"), EXAMPLE("{\"b\":5}", "!a number"));
    fixture_decode(f, &STR("{\"b\":\"AP8Q\"}"), 1);
    assert_true(str_equal(VECTOR_VALUE(f->batch->columns[0], Str, 0), STR("\0\xFF\x10")));
}

static void arrays(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("a", type_array(f->arena, &type_int)),
         FIELD("b", type_array(f->arena, type_array(f->arena, &type_string))));
    CHECK(f,
          EXAMPLE("{\"a\":[1,null,3],\"b\":[[\"x\"],[],null]}",
                  "{\"a\":[1,null,3],\"b\":[[\"x\"],[],null]}"),
          EXAMPLE("{\"a\":[],\"b\":null}", "{\"a\":[],\"b\":null}"),
          EXAMPLE("{\"a\": [ 1 , 2 ] }", "{\"a\":[1,2],\"b\":null}"),
          EXAMPLE("{\"a\":[1,2],\"a\":[3]}", "{\"a\":[3],\"b\":null}"),
          EXAMPLE("{\"a\":[1,2],\"a\":null}", "{\"a\":null,\"b\":null}"),
          EXAMPLE("{\"a\":[1,\"x\"],\"a\":[3]}", "{\"a\":[3],\"b\":null}"),
          EXAMPLE("{\"a\":[1,\"x\"]}", "!column `a.element`, byte 9: a text"),
          EXAMPLE("{\"b\":[[1,\"y\"],[[\"z\"]]]}",
                  "{\"a\":null,\"b\":[[\"1\",\"y\"],[\"[\\\"z\\\"]\"]]}"),
          EXAMPLE("{\"b\":[[1,\"y\"],7]}", "!column `b.element`, byte 15: a number"),
          EXAMPLE("{\"a\":1}", "!a number cannot be read as ARRAY<INT>"),
          EXAMPLE("{\"a\":[1,]}", "!a value is expected"), EXAMPLE("{\"a\":[1", "!closing bracket"),
          EXAMPLE("{\"a\":[1}", "!closing bracket"), EXAMPLE("{\"a\":[", "!the text ends"));
}

static void structs_follow_the_same_name_rules(void **state)
{
    Fixture *f = *state;
    const Field inner[] = {FIELD("n", &type_int), FIELD("s", &type_string)};
    const Type *type = type_struct(f->arena, inner, ARRAY_LENGTH(inner));
    OPEN(f, FIELD("r", type), FIELD("l", type_array(f->arena, type)));
    CHECK(
        f, EXAMPLE("{\"r\":{\"n\":1,\"s\":\"x\"}}", "{\"r\":{\"n\":1,\"s\":\"x\"},\"l\":null}"),
        EXAMPLE("{\"r\":{\"s\":\"x\",\"N\":2,\"z\":[{}]}}",
                "{\"r\":{\"n\":2,\"s\":\"x\"},\"l\":null}"),
        EXAMPLE("{\"r\":{}}", "{\"r\":{\"n\":null,\"s\":null},\"l\":null}"),
        EXAMPLE("{\"r\":null}", "{\"r\":null,\"l\":null}"),
        EXAMPLE("{\"r\":{\"N\":2,\"n\":3}}", "{\"r\":{\"n\":3,\"s\":null},\"l\":null}"),
        EXAMPLE("{\"r\":{\"n\":1,\"n\":3}}", "{\"r\":{\"n\":3,\"s\":null},\"l\":null}"),
        EXAMPLE("{\"r\":{\"s\":\"\",\"S\":\"\"}}", "{\"r\":{\"n\":null,\"s\":\"\"},\"l\":null}"),
        EXAMPLE("{\"l\":[{\"n\":1},null,{\"s\":\"y\"}]}",
                "{\"r\":null,\"l\":[{\"n\":1,\"s\":null},null,{\"n\":null,\"s\":\"y\"}]}"),
        EXAMPLE("{\"r\":{\"n\":\"x\"}}", "!column `r.n`, byte 11: a text"),
        EXAMPLE("{\"r\":{\"n\":\"x\"},\"r\":{\"n\":4}}", "{\"r\":{\"n\":4,\"s\":null},\"l\":null}"),
        EXAMPLE("{\"l\":[{\"n\":1},{\"n\":[]}]}", "!column `l.element.n`, byte 20: an array"),
        EXAMPLE("{\"r\":[]}", "!an array cannot be read as STRUCT<n: INT, s: STRING>"));
    const Field cased[] = {FIELD("abc", &type_int), FIELD("ABC", &type_int)};
    OPEN(f, FIELD("r", type_struct(f->arena, cased, ARRAY_LENGTH(cased))));
    CHECK(f, EXAMPLE("{\"r\":{\"ABC\":1,\"abc\":2}}", "{\"r\":{\"abc\":2,\"ABC\":1}}"));
}

static void maps_in_both_forms(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("m", type_map(f->arena, &type_string, &type_int)),
         FIELD("i", type_map(f->arena, &type_int, &type_string)),
         FIELD("d", type_map(f->arena, &type_date, &type_boolean)));
    CHECK(
        f,
        EXAMPLE("{\"m\":{\"a\":1,\"b\":null}}",
                "{\"m\":{\"a\":1,\"b\":null},\"i\":null,\"d\":null}"),
        EXAMPLE("{\"m\":[[\"a\",1],[\"b\",2]]}", "{\"m\":{\"a\":1,\"b\":2},\"i\":null,\"d\":null}"),
        EXAMPLE("{\"m\":{},\"i\":[]}", "{\"m\":{},\"i\":[],\"d\":null}"),
        EXAMPLE("{\"i\":[[1,\"x\"],[2,null]]}",
                "{\"m\":null,\"i\":[[1,\"x\"],[2,null]],\"d\":null}"),
        EXAMPLE("{\"d\":{\"2024-01-01\":true}}",
                "{\"m\":null,\"i\":null,\"d\":[[\"2024-01-01\",true]]}"),
        EXAMPLE("{\"m\":{\"a\":1,\"b\":2,\"a\":3}}",
                "{\"m\":{\"b\":2,\"a\":3},\"i\":null,\"d\":null}"),
        EXAMPLE("{\"i\":[[1,\"x\"],[1,\"y\"]]}", "{\"m\":null,\"i\":[[1,\"y\"]],\"d\":null}"),
        EXAMPLE("{\"m\":{\"a\":1},\"m\":{\"\\u0062\":2}}",
                "{\"m\":{\"b\":2},\"i\":null,\"d\":null}"),
        EXAMPLE("{\"m\":{\"a\":\"x\"}}", "!column `m.value`, byte 11: a text"),
        EXAMPLE("{\"m\":[[\"a\"]]}", "!an entry of the map must be a list [key, value]"),
        EXAMPLE("{\"m\":[[\"a\",1,2]]}", "!an entry"), EXAMPLE("{\"m\":[[]]}", "!an entry"),
        EXAMPLE("{\"m\":[{\"a\":1}]}", "!an entry"), EXAMPLE("{\"m\":[null]}", "!an entry"),
        EXAMPLE("{\"m\":[[null,1]]}", "!a key of a map cannot be null"),
        EXAMPLE("{\"i\":{\"1\":\"x\"}}", "!column `i.key`, byte 7: a text"),
        EXAMPLE("{\"m\":7}", "!a map is an object or a list"),
        EXAMPLE("{\"m\":{\"a\":1,}}", "!a field name"), EXAMPLE("{\"m\":{a:1}}", "!a field name"),
        EXAMPLE("{\"m\":{\"a\" 1}}", "!a colon"), EXAMPLE("{\"m\":{\"a\":1", "!closing brace"));
}

static void large_maps_keep_the_last_of_each_key(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("m", type_map(f->arena, &type_string, &type_int)));
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "{\"m\":{");
    for (int i = 0; i < 3000; i++) {
        buffer_printf(&text, "%s\"k%d\":%d", i == 0 ? "" : ",", i % 1000, i);
    }
    buffer_append_cstr(&text, "}}");
    Str record = buffer_str(&text);
    fixture_decode(f, &record, 1);
    assert_int_equal(f->errors.count, 0);
    const Vector *map = f->batch->columns[0];
    assert_int_equal(map->offsets[1], 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(VECTOR_VALUE(map->children[1], int32_t, i), 2000 + i);
    }
}

static void unknown_fields_are_passed_over_but_checked(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_int));
    CHECK(
        f,
        EXAMPLE("{\"a\":{\"x\":5,\"y\":[1,{\"z\":\"}]\\\"\"}]},\"b\":-1.5e+3,\"c\":\"\\u00e9\","
                "\"x\":1}",
                "{\"x\":1}"),
        EXAMPLE("{\"a\":NaN,\"x\":1}", "{\"x\":1}"), EXAMPLE("{\"\":1,\"x\":2}", "{\"x\":2}"),
        EXAMPLE("{\"a\":01,\"x\":1}", "!must not start with a zero digit"),
        EXAMPLE("{\"a\":1.,\"x\":1}", "!after its point"), EXAMPLE("{\"a\":.5,\"x\":1}", "!value"),
        EXAMPLE("{\"a\":1e,\"x\":1}", "!exponent"), EXAMPLE("{\"a\":-,\"x\":1}", "!digit"),
        EXAMPLE("{\"a\":\"\\q\",\"x\":1}", "!no known escape"),
        EXAMPLE("{\"a\":\"\\ud800\",\"x\":1}", "!surrogate"),
        EXAMPLE("{\"a\":\"\t\",\"x\":1}", "!control character"),
        EXAMPLE("{\"a\":\"\xFF\",\"x\":1}", "!byte 7: a string is not valid UTF-8"),
        EXAMPLE("{\"a\":\"\xED\xA0\x80\",\"x\":1}", "!UTF-8"),
        EXAMPLE("{\"a\":\"\xC0\x80\",\"x\":1}", "!UTF-8"),
        EXAMPLE("{\"\xFF\":1,\"x\":1}", "!UTF-8"), EXAMPLE("{\"a\":nul,\"x\":1}", "!unknown word"),
        EXAMPLE("{\"a\":[1 2],\"x\":1}", "!closing bracket"),
        EXAMPLE("{\"a\":{\"b\":1 \"c\":2},\"x\":1}", "!closing brace"),
        EXAMPLE("{\"a\":{\"b\"},\"x\":1}", "!a colon"), EXAMPLE("{\"a\":[1},\"x\":1}", "!bracket"));
}

static void one_text_a_record(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_int));
    CHECK(f, EXAMPLE(" \t\r\n{ \"x\" : 1 } \n", "{\"x\":1}"), EXAMPLE("{\"x\": 2}", "{\"x\":2}"),
          EXAMPLE("{\"x\":1}\0", "!byte 8: only white space may follow"),
          EXAMPLE("{\"x\":1}{\"x\":2}", "!only white space may follow"),
          EXAMPLE("{\"x\":1} x", "!byte 9: only white space"),
          EXAMPLE("{\"x\":\"t\"} x", "!only white space"),
          EXAMPLE("\0{\"x\":1}", "!byte 1: a record"), EXAMPLE("{\0\"x\":1}", "!a field name"),
          EXAMPLE("{\"x\":\0}", "!a value is expected"), EXAMPLE("{\"x\":1\0}", "!a comma or"),
          EXAMPLE("[1]", "!a record must be a JSON object"),
          EXAMPLE("null", "!a record must be a JSON object"), EXAMPLE("{", "!a field name"),
          EXAMPLE("{\"x\"", "!a colon"), EXAMPLE("{\"x", "!ends inside a string"),
          EXAMPLE("{\"x\\", "!ends inside a string"), EXAMPLE("{\"x\":", "!the text ends where"),
          EXAMPLE("{\"x\":1", "!a comma or a closing brace"),
          EXAMPLE("{\"x\":1,}", "!a field name"), EXAMPLE("{,}", "!a field name"),
          EXAMPLE("{x:1}", "!a field name"), EXAMPLE("{'x':1}", "!a field name"),
          EXAMPLE("{\"x\":1}//", "!only white space"), EXAMPLE("{\"x\":1\xC2\xA0}", "!a comma or"),
          EXAMPLE("}", "!a record must be"));
}

static void nested_text(Buffer *out, const char *open, const char *close, int depth)
{
    buffer_append_cstr(out, "{\"a\":");
    for (int i = 0; i < depth; i++) {
        buffer_append_cstr(out, open);
    }
    buffer_append_cstr(out, "1");
    for (int i = 0; i < depth; i++) {
        buffer_append_cstr(out, close);
    }
    buffer_append_cstr(out, ",\"x\":1}");
}

static void nesting_is_limited(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_int), FIELD("s", &type_string));
    const struct {
        const char *open;
        const char *close;
        int depth;
        const char *expected;
    } cases[] = {
        {"[", "]", 999, "{\"x\":1,\"s\":null}"},       {"[", "]", 1000, "!nested too deeply"},
        {"{\"s\":", "}", 999, "{\"x\":1,\"s\":null}"}, {"{\"s\":", "}", 1000, "!nested too deeply"},
        {"[", "]", 1000000, "!nested too deeply"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_BUFFER Buffer text = {0};
        nested_text(&text, cases[i].open, cases[i].close, cases[i].depth);
        Str record = buffer_str(&text);
        fixture_decode(f, &record, 1);
        check_row(f, 0, record, cases[i].expected);
    }
}

/* The order of the last record is only a guess: any other order, spelling and spacing reads the
 * same. */
static void field_order_is_only_a_guess(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("a", &type_int), FIELD("ab", &type_int),
         FIELD("a_column_name_longer_than_sixteen", &type_int),
         FIELD("a_column_name_so_long_that_it_is_not_kept_as_a_guess_at_all_by_anyone", &type_int));
    const char *same =
        "{\"a\":1,\"ab\":2,\"a_column_name_longer_than_sixteen\":3,"
        "\"a_column_name_so_long_that_it_is_not_kept_as_a_guess_at_all_by_anyone\":4}";
    CHECK(
        f,
        EXAMPLE("{\"a\":1,\"ab\":2,\"a_column_name_longer_than_sixteen\":3,"
                "\"a_column_name_so_long_that_it_is_not_kept_as_a_guess_at_all_by_anyone\":4}",
                same),
        EXAMPLE("{\"ab\":2,\"a\":1,\"A_column_name_so_long_that_it_is_not_kept_as_a_guess_at_all_"
                "by_anyone\":4,\"a_column_name_longer_than_sixteen\":3}",
                same),
        EXAMPLE("{\"A\":1,\"AB\":2,\"A_COLUMN_NAME_LONGER_THAN_SIXTEEN\":3,\"z\":0,"
                "\"a_column_name_so_long_that_it_is_not_kept_as_a_guess_at_all_by_anyone\":4}",
                same),
        EXAMPLE("{ \"a\" : 1 , \"z\" : 0, \"ab\" :2,\"a_column_name_longer_than_sixteen\": 3,"
                "\"a_column_name_so_long_that_it_is_not_kept_as_a_guess_at_all_by_anyone\":4}",
                same),
        EXAMPLE("{\"a\":1,\"a\":2,\"A\":3}",
                "{\"a\":2,\"ab\":null,\"a_column_name_longer_than_sixteen\":null,"
                "\"a_column_name_so_long_that_it_is_not_kept_as_a_guess_at_all_by_anyone\":null}"),
        EXAMPLE("{\"a\"", "!a colon"), EXAMPLE("{\"a\":1,\"ab\":", "!the text ends"));
}

static void long_values_are_shortened_in_messages(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_int));
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "{\"x\":1");
    for (int i = 0; i < 100000; i++) {
        buffer_append_byte(&text, '0');
    }
    buffer_append_byte(&text, '}');
    Str record = buffer_str(&text);
    fixture_decode(f, &record, 1);
    assert_int_equal(f->errors.count, 1);
    assert_true(strlen(error_message(f->errors.errors[0])) < 200);
}

static void what_cannot_be_read_is_refused_at_open(void **state)
{
    Fixture *f = *state;
    const Field fields[] = {
        FIELD("v", &type_variant),
        FIELD("i", type_interval(f->arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND)),
        FIELD("n", type_array(f->arena, &type_variant))};
    const char *const expected[] = {"column `v`: VARIANT", "column `i`: INTERVAL",
                                    "column `n`: VARIANT"};
    for (size_t i = 0; i < ARRAY_LENGTH(fields); i++) {
        const Schema *schema = schema_new(f->arena, &fields[i], 1);
        Decoder *decoder = NULL;
        AUTO(error) Error *error = decoder_open(&f->options, schema, &decoder);
        assert_non_null(error);
        assert_int_equal(error_class(error), ERROR_NOT_YET);
        assert_non_null(strstr(error_message(error), expected[i]));
        assert_null(decoder);
    }
    const Field twice[] = {FIELD("a", &type_int), FIELD("a", &type_int)};
    Decoder *decoder = NULL;
    AUTO(error) Error *error = decoder_open(&f->options, schema_new(f->arena, twice, 2), &decoder);
    assert_non_null(error);
    assert_int_equal(error_class(error), ERROR_COLUMN_ALREADY_EXISTS);
}

static void the_first_misfit_is_reported(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("a", &type_int), FIELD("b", &type_int));
    CHECK(f, EXAMPLE("{\"b\":\"x\",\"a\":\"y\"}", "!column `b`, byte 6"),
          EXAMPLE("{\"b\":\"x\",\"a\":\"y\",\"b\":1}", "!column `a`, byte 14"),
          EXAMPLE("{\"b\":\"x\",\"a\":1,", "!a field name"),
          EXAMPLE("{\"A\":1,\"b\":\"x\",\"aA\":0}", "!column `b`, byte 12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(integers_take_integral_values_in_range),
        FIXTURE_TEST(decimals_are_exact),
        FIXTURE_TEST(floating_point_is_nearest),
        FIXTURE_TEST(coerce_takes_numbers_as_text),
        FIXTURE_TEST(strings_take_anything_as_written),
        FIXTURE_TEST(booleans),
        FIXTURE_TEST(dates_and_times),
        FIXTURE_TEST(binary_is_strict_base64),
        FIXTURE_TEST(arrays),
        FIXTURE_TEST(structs_follow_the_same_name_rules),
        FIXTURE_TEST(maps_in_both_forms),
        FIXTURE_TEST(large_maps_keep_the_last_of_each_key),
        FIXTURE_TEST(unknown_fields_are_passed_over_but_checked),
        FIXTURE_TEST(one_text_a_record),
        FIXTURE_TEST(nesting_is_limited),
        FIXTURE_TEST(field_order_is_only_a_guess),
        FIXTURE_TEST(long_values_are_shortened_in_messages),
        FIXTURE_TEST(what_cannot_be_read_is_refused_at_open),
        FIXTURE_TEST(the_first_misfit_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
