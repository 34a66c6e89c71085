/* The written form (DESIGN section 5), from vectors made by hand. */
#include <float.h>
#include <math.h>

#include "processor/data/decimal.h"
#include "tests/unit/format/fixture.h"

static void check_value(const Vector *vector, uint32_t row, const char *expected)
{
    AUTO_BUFFER Buffer text = {0};
    json_encode_value(vector, row, &text);
    assert_string_equal(buffer_cstr(&text), expected);
}

static void integers(void **state)
{
    Fixture *f = *state;
    const struct {
        const Type *type;
        int64_t value;
        const char *expected;
    } cases[] = {
        {&type_tinyint, -128, "-128"},
        {&type_smallint, 32767, "32767"},
        {&type_int, INT32_MIN, "-2147483648"},
        {&type_bigint, INT64_MAX, "9223372036854775807"},
        {&type_bigint, INT64_MIN, "-9223372036854775808"},
        {&type_bigint, 0, "0"},
        {&type_bigint, INT64_C(9007199254740993), "9007199254740993"},
        {&type_date, 20513, "\"2026-03-01\""},
        {&type_date, -719162, "\"0001-01-01\""},
        {&type_timestamp, INT64_C(1772323200000000), "\"2026-03-01T00:00:00.000000Z\""},
        {&type_timestamp, -1, "\"1969-12-31T23:59:59.999999Z\""},
        {&type_timestamp_ntz, INT64_C(1772323200000000), "\"2026-03-01T00:00:00.000000\""},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        Vector *vector = vector_new(f->arena, cases[i].type, 1);
        vector_append_int(vector, f->arena, cases[i].value);
        check_value(vector, 0, cases[i].expected);
    }
}

static void decimals_have_all_digits_of_the_scale(void **state)
{
    Fixture *f = *state;
    Vector *vector = vector_new(f->arena, type_decimal(f->arena, 10, 2), 4);
    vector_append_int128(vector, f->arena, 7);
    vector_append_int128(vector, f->arena, -1250);
    vector_append_int128(vector, f->arena, 0);
    check_value(vector, 0, "0.07");
    check_value(vector, 1, "-12.50");
    check_value(vector, 2, "0.00");
    Vector *whole = vector_new(f->arena, type_decimal(f->arena, 38, 0), 1);
    vector_append_int128(whole, f->arena, decimal_power_of_ten(38) - 1);
    check_value(whole, 0, "99999999999999999999999999999999999999");
}

static void doubles_are_shortest_and_words_are_quoted(void **state)
{
    Fixture *f = *state;
    const struct {
        double value;
        const char *expected;
    } cases[] = {
        {0.1, "0.1"},
        {1.0, "1.0"},
        {1e10, "1.0E10"},
        {-0.0, "-0.0"},
        {1e-5, "1.0E-5"},
        {DBL_MAX, "1.7976931348623157E308"},
        {0x1p-1074, "4.9E-324"},
        {(double)NAN, "\"NaN\""},
        {(double)INFINITY, "\"Infinity\""},
        {-(double)INFINITY, "\"-Infinity\""},
    };
    Vector *vector = vector_new(f->arena, &type_double, 1);
    for (uint32_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        vector_append_double(vector, f->arena, cases[i].value);
        check_value(vector, i, cases[i].expected);
    }
    Vector *narrow = vector_new(f->arena, &type_float, 1);
    vector_append_double(narrow, f->arena, (double)0.1F);
    vector_append_double(narrow, f->arena, (double)FLT_MAX);
    vector_append_double(narrow, f->arena, (double)NAN);
    check_value(narrow, 0, "0.1");
    check_value(narrow, 1, "3.4028235E38");
    check_value(narrow, 2, "\"NaN\"");
}

static void strings_are_escaped_where_json_wants_it(void **state)
{
    Fixture *f = *state;
    const struct {
        Str value;
        const char *expected;
    } cases[] = {
        {STR(""), "\"\""},
        {STR("plain text of more than sixteen bytes"), "\"plain text of more than sixteen bytes\""},
        {STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\""},
        {STR("\b\t\n\v\f\r\x01\x1F\x7F"), "\"\\b\\t\\n\\u000B\\f\\r\\u0001\\u001F\x7F\""},
        {STR("a\0b"), "\"a\\u0000b\""},
        {STR("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\""},
        {STR("bad \xFF byte"), "\"bad \xEF\xBF\xBD byte\""},
        {STR("0123456789abcde\"f0123456789abcde\n"), "\"0123456789abcde\\\"f0123456789abcde\\n\""},
    };
    Vector *vector = vector_new(f->arena, &type_string, 1);
    for (uint32_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        vector_append_str(vector, f->arena, cases[i].value);
        check_value(vector, i, cases[i].expected);
    }
}

static void binary_is_base64(void **state)
{
    Fixture *f = *state;
    const struct {
        Str value;
        const char *expected;
    } cases[] = {
        {STR(""), "\"\""},
        {STR("f"), "\"Zg==\""},
        {STR("fo"), "\"Zm8=\""},
        {STR("foo"), "\"Zm9v\""},
        {STR("foob"), "\"Zm9vYg==\""},
        {STR("fooba"), "\"Zm9vYmE=\""},
        {STR("foobar"), "\"Zm9vYmFy\""},
        {STR("\xFF\xFE\xFD"), "\"//79\""},
    };
    Vector *vector = vector_new(f->arena, &type_binary, 1);
    for (uint32_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        vector_append_str(vector, f->arena, cases[i].value);
        check_value(vector, i, cases[i].expected);
    }
}

/* One row of every shape: ARRAY<INT>, MAP<STRING, INT>, MAP<INT, BOOLEAN>, STRUCT<a: INT>. */
static void nested_values(void **state)
{
    Fixture *f = *state;
    Arena *arena = f->arena;
    Vector *array = vector_new(arena, type_array(arena, &type_int), 1);
    vector_append_int(array->children[0], arena, 1);
    vector_append_null(array->children[0], arena);
    vector_finish_list(array, arena);
    vector_finish_list(array, arena);
    vector_append_null(array, arena);
    check_value(array, 0, "[1,null]");
    check_value(array, 1, "[]");
    check_value(array, 2, "null");

    Vector *names = vector_new(arena, type_map(arena, &type_string, &type_int), 1);
    vector_append_str(names->children[0], arena, STR("a\""));
    vector_append_int(names->children[1], arena, 1);
    vector_append_str(names->children[0], arena, STR("b"));
    vector_append_null(names->children[1], arena);
    vector_finish_list(names, arena);
    vector_finish_list(names, arena);
    check_value(names, 0, "{\"a\\\"\":1,\"b\":null}");
    check_value(names, 1, "{}");

    Vector *pairs = vector_new(arena, type_map(arena, &type_int, &type_boolean), 1);
    for (int i = 0; i < 2; i++) {
        vector_append_int(pairs->children[0], arena, i);
        vector_append_bool(pairs->children[1], arena, i == 1);
    }
    vector_finish_list(pairs, arena);
    vector_finish_list(pairs, arena);
    check_value(pairs, 0, "[[0,false],[1,true]]");
    check_value(pairs, 1, "[]");

    const Field fields[] = {FIELD("a", &type_int), FIELD("B b", &type_null)};
    Vector *record = vector_new(arena, type_struct(arena, fields, 2), 1);
    vector_append_int(record->children[0], arena, 5);
    vector_append_null(record->children[1], arena);
    vector_finish_struct(record, arena);
    check_value(record, 0, "{\"a\":5,\"B b\":null}");
}

static void rows_in_declared_order_with_nulls(void **state)
{
    Fixture *f = *state;
    const Field fields[] = {FIELD("z", &type_int), FIELD("a", &type_string),
                            FIELD("q\"", &type_boolean)};
    Batch *batch = batch_new(f->arena, schema_new(f->arena, fields, 3), 1);
    vector_append_int(batch->columns[0], f->arena, 1);
    vector_append_null(batch->columns[1], f->arena);
    vector_append_bool(batch->columns[2], f->arena, true);
    batch->row_count = 1;
    AUTO_BUFFER Buffer text = {0};
    json_encode_row(batch, 0, &text);
    assert_string_equal(buffer_cstr(&text), "{\"z\":1,\"a\":null,\"q\\\"\":true}");
}

/* ---- Keys ---- */

static void check_key(Fixture *f, Vector *const *columns, size_t count, uint32_t ordinal,
                      const char *expected)
{
    const Field fields[] = {FIELD("id", &type_bigint), FIELD("Name", &type_string)};
    AUTO_BUFFER Buffer key = {0};
    json_encode_key(fields, columns, count, 0, ordinal, &key);
    assert_string_equal(buffer_cstr(&key), expected);
    Vector *read[] = {vector_new(f->arena, &type_bigint, 1), vector_new(f->arena, &type_string, 1)};
    uint32_t found = 77;
    Error *error = json_decode_key(fields, count, buffer_str(&key), NULL, f->arena, read, &found);
    assert_null(error);
    assert_int_equal(found, ordinal);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(read[i]->length, 1);
        assert_true(vector_value_equal(read[i], 0, columns[i], 0));
    }
}

static void keys_carry_nulls_and_ordinals(void **state)
{
    Fixture *f = *state;
    Vector *columns[] = {vector_new(f->arena, &type_bigint, 1),
                         vector_new(f->arena, &type_string, 1)};
    vector_append_int(columns[0], f->arena, INT64_MAX);
    vector_append_null(columns[1], f->arena);
    check_key(f, columns, 2, 0, "{\"id\":9223372036854775807,\"Name\":null}");
    check_key(f, columns, 2, 1, "{\"id\":9223372036854775807,\"Name\":null,\"_row\":1}");
    check_key(f, columns, 1, UINT32_MAX, "{\"id\":9223372036854775807,\"_row\":4294967295}");
    check_key(f, columns, 0, 0, "{}");
    check_key(f, columns, 0, 3, "{\"_row\":3}");
}

static void other_texts_are_no_keys(void **state)
{
    Fixture *f = *state;
    const Field fields[] = {FIELD("id", &type_bigint), FIELD("s", &type_string)};
    const Str texts[] = {
        STR(""),
        STR("{"),
        STR("{}"),
        STR("{\"id\":1}"),
        STR("{\"id\":1,\"S\":\"x\"}"),
        STR("{\"s\":\"x\",\"id\":1}"),
        STR("{\"id\":1.5,\"s\":\"x\"}"),
        STR("{\"id\":\"1\",\"s\":\"x\"}"),
        STR("{\"id\":1,\"s\":\"\xFF\"}"),
        STR("{\"id\":1,\"s\":\"x\"} x"),
        STR("{\"id\":1,\"s\":\"x\",\"_row\":0}"),
        STR("{\"id\":1,\"s\":\"x\",\"_row\":-1}"),
        STR("{\"id\":1,\"s\":\"x\",\"_row\":4294967296}"),
        STR("{\"id\":1,\"s\":\"x\",\"_row\":1,\"_row\":2}"),
        STR("{\"id\":1,\"s\":\"x\",\"t\":2}"),
        STR("{\"id\":1,\"s\":\"x\""),
        STR("[1,\"x\"]"),
    };
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        Vector *read[] = {vector_new(f->arena, &type_bigint, 1),
                          vector_new(f->arena, &type_string, 1)};
        uint32_t ordinal = 77;
        AUTO(error)
        Error *error = json_decode_key(fields, 2, texts[i], NULL, f->arena, read, &ordinal);
        assert_non_null(error);
        assert_int_equal(error_class(error), ERROR_STATE_CORRUPT);
        assert_int_equal(read[0]->length, 0);
        assert_int_equal(read[1]->length, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(integers),
        FIXTURE_TEST(decimals_have_all_digits_of_the_scale),
        FIXTURE_TEST(doubles_are_shortest_and_words_are_quoted),
        FIXTURE_TEST(strings_are_escaped_where_json_wants_it),
        FIXTURE_TEST(binary_is_base64),
        FIXTURE_TEST(nested_values),
        FIXTURE_TEST(rows_in_declared_order_with_nulls),
        FIXTURE_TEST(keys_carry_nulls_and_ordinals),
        FIXTURE_TEST(other_texts_are_no_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
