/* The cases of the JSON catalogue, each under its id. */
#include "tests/unit/format/fixture.h"

/* json.integers-are-exact: digit for digit, in and out. */
static void integers_are_exact(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_bigint));
    CHECK(f, EXAMPLE("{\"x\":9007199254740993}", "{\"x\":9007199254740993}"),
          EXAMPLE("{\"x\":4503599627370490}", "{\"x\":4503599627370490}"),
          EXAMPLE("{\"x\":9223372036854775807}", "{\"x\":9223372036854775807}"),
          EXAMPLE("{\"x\":-9223372036854775808}", "{\"x\":-9223372036854775808}"));
    fixture_decode(f, &STR("{\"x\":9007199254740993}"), 1);
    assert_true(VECTOR_VALUE(f->batch->columns[0], int64_t, 0) == INT64_C(9007199254740993));
}

/* json.duplicate-field: the last one counts, as in Spark. */
static void duplicate_field(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("k", &type_string), FIELD("seq", &type_bigint));
    CHECK(f, EXAMPLE("{\"k\":\"a\",\"seq\":1,\"seq\":9}", "{\"k\":\"a\",\"seq\":9}"),
          EXAMPLE("{\"k\":\"a\",\"seq\":\"x\",\"seq\":9}", "{\"k\":\"a\",\"seq\":9}"),
          EXAMPLE("{\"k\":\"a\",\"seq\":9,\"seq\":\"x\"}", "!column `seq`, byte 24: a text"),
          EXAMPLE("{\"k\":\"a\",\"seq\":9,\"seq\":null}", "{\"k\":\"a\",\"seq\":null}"),
          EXAMPLE("{\"k\":null,\"seq\":9,\"k\":\"b\"}", "{\"k\":\"b\",\"seq\":9}"));
}

/* json.bom-and-nothing: a mark is skipped; nothing, a mark alone, white space alone are no texts.
 */
static void bom_and_nothing(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("id", &type_int));
    CHECK(f, EXAMPLE("\xEF\xBB\xBF{\"id\":1}", "{\"id\":1}"),
          EXAMPLE("\xEF\xBB\xBF", "!byte 4: the record holds no JSON text"),
          EXAMPLE("", "!byte 1: the record is empty"),
          EXAMPLE(" \n", "!byte 3: the record holds no JSON text"),
          EXAMPLE(" \xEF\xBB\xBF{\"id\":1}", "!byte 2: a record must be a JSON object"));
}

/* json.not-a-number: the words are read bare and quoted, written quoted; 1e400 is an error. */
static void not_a_number(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("x", &type_double));
    CHECK(f, EXAMPLE("{\"x\":NaN}", "{\"x\":\"NaN\"}"),
          EXAMPLE("{\"x\":-Infinity}", "{\"x\":\"-Infinity\"}"),
          EXAMPLE("{\"x\":Infinity}", "{\"x\":\"Infinity\"}"),
          EXAMPLE("{\"x\":\"NaN\"}", "{\"x\":\"NaN\"}"),
          EXAMPLE("{\"x\":\"-Infinity\"}", "{\"x\":\"-Infinity\"}"),
          EXAMPLE("{\"x\":\"Infinity\"}", "{\"x\":\"Infinity\"}"),
          EXAMPLE("{\"x\":1e400}", "!`1e400` cannot be read as DOUBLE: it is out of range"),
          EXAMPLE("{\"x\":-1e400}", "!out of range"), EXAMPLE("{\"x\":\"nan\"}", "!a text"),
          EXAMPLE("{\"x\":+Infinity}", "!a value is expected"),
          EXAMPLE("{\"x\":NaNs}", "!unknown word"), EXAMPLE("{\"x\":-NaN}", "!needs a digit"));
}

/* json.broken-text: lone surrogates and raw control characters are errors of that record alone. */
static void broken_text(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("s", &type_string));
    CHECK(f, EXAMPLE("{\"s\":\"\\ud83d\"}", "!column `s`, byte 7: half a surrogate pair"),
          EXAMPLE("{\"s\":\"\\ud83d\\ude00\"}", "{\"s\":\"\xF0\x9F\x98\x80\"}"),
          EXAMPLE("{\"s\":\"a\nb\"}", "!column `s`, byte 8: a control character"),
          EXAMPLE("{\"s\":\"\\ude00\\ud83d\"}", "!half a surrogate pair"),
          EXAMPLE("{\"s\":\"\\ud83d\\u0041\"}", "!half a surrogate pair"),
          EXAMPLE("{\"s\":\"\\ud83d\\ud83d\"}", "!half a surrogate pair"),
          EXAMPLE("{\"s\":\"\\ud83dx\"}", "!half a surrogate pair"),
          EXAMPLE("{\"s\":\"\\ud8\"}", "!four hexadecimal digits"),
          EXAMPLE("{\"s\":\"\\x\"}", "!no known escape"),
          EXAMPLE("{\"s\":\"\\u00e9\"}", "{\"s\":\"\xC3\xA9\"}"),
          EXAMPLE("{\"s\":\"after\"}", "{\"s\":\"after\"}"));
}

/* json.null-and-absent, the decoder's part: both give NULL, nothing is carried over. */
static void null_and_absent(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("k", &type_string), FIELD("v", &type_string), FIELD("w", &type_string),
         FIELD("seq", &type_bigint));
    CHECK(f,
          EXAMPLE("{\"k\":\"a\",\"v\":\"v1\",\"w\":\"w1\",\"seq\":1}",
                  "{\"k\":\"a\",\"v\":\"v1\",\"w\":\"w1\",\"seq\":1}"),
          EXAMPLE("{\"k\":\"a\",\"v\":null,\"seq\":2}",
                  "{\"k\":\"a\",\"v\":null,\"w\":null,\"seq\":2}"),
          EXAMPLE("{}", "{\"k\":null,\"v\":null,\"w\":null,\"seq\":null}"));
}

/* columns.json-field-case-fallback: exact spelling, else one match ignoring case, else an error. */
static void json_field_case_fallback(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("id", &type_int), FIELD("v", &type_string));
    CHECK(
        f, EXAMPLE("{\"ID\":1,\"v\":\"loose\"}", "{\"id\":1,\"v\":\"loose\"}"),
        EXAMPLE("{\"ID\":5,\"id\":2,\"v\":\"exact\"}", "{\"id\":2,\"v\":\"exact\"}"),
        EXAMPLE("{\"Id\":3,\"iD\":4,\"v\":\"ambiguous\"}", "!column `id`, byte 9: ambiguous field"),
        EXAMPLE("{\"id\":2,\"ID\":5}", "{\"id\":2,\"v\":null}"),
        EXAMPLE("{\"Id\":3,\"iD\":4,\"id\":5}", "{\"id\":5,\"v\":null}"),
        EXAMPLE("{\"Id\":3,\"id\":5,\"iD\":4}", "{\"id\":5,\"v\":null}"),
        EXAMPLE("{\"id\":null,\"ID\":5}", "{\"id\":null,\"v\":null}"),
        EXAMPLE("{\"ID\":5,\"id\":null}", "{\"id\":null,\"v\":null}"),
        EXAMPLE("{\"ID\":1,\"ID\":2}", "{\"id\":2,\"v\":null}"),
        EXAMPLE("{\"ID\":\"x\",\"id\":2}", "{\"id\":2,\"v\":null}"),
        EXAMPLE("{\"id\":2,\"ID\":\"x\"}", "{\"id\":2,\"v\":null}"),
        EXAMPLE("{\"ID\":\"x\"}", "!column `id`, byte 7: a text"),
        EXAMPLE("{\"\\u0069d\":7}", "{\"id\":7,\"v\":null}"),
        EXAMPLE("{\"\\u0049d\":7,\"i\\u0064\":8}", "{\"id\":8,\"v\":null}"),
        EXAMPLE("{\"\\u0049d\":7,\"Id\":8}", "{\"id\":8,\"v\":null}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(integers_are_exact),
        FIXTURE_TEST(duplicate_field),
        FIXTURE_TEST(bom_and_nothing),
        FIXTURE_TEST(not_a_number),
        FIXTURE_TEST(broken_text),
        FIXTURE_TEST(null_and_absent),
        FIXTURE_TEST(json_field_case_fallback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
