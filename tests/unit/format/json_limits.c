/* Large and hostile records: time stays linear in the bytes, whatever they are, and memory stays
 * within the record's reach. Each record has about 2 MiB; read in quadratic time it would take
 * minutes. */
#include <time.h>

#include "tests/unit/format/fixture.h"

enum { RECORD_BYTES = 2 << 20, SECONDS_MAX = 10 };

static void repeat(Buffer *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        buffer_append_cstr(out, text);
    }
}

/* head, as many of `part` as fit, tail */
static void fill(Buffer *out, const char *head, const char *part, const char *tail)
{
    buffer_clear(out);
    buffer_append_cstr(out, head);
    repeat(out, part, RECORD_BYTES / strlen(part));
    buffer_append_cstr(out, tail);
}

static void check_time(Fixture *f, const Buffer *text, bool good)
{
    Str record = buffer_str(text);
    clock_t begin = clock();
    fixture_decode(f, &record, 1);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > SECONDS_MAX) {
        fail_msg("%.60s took %.1f s", record.data, seconds);
    }
    if ((f->errors.count == 0) != good) {
        fail_msg("%.60s: %s", record.data, good ? error_message(f->errors.errors[0]) : "was read");
    }
    if (!good) {
        assert_true(strlen(error_message(f->errors.errors[0])) < 300);
    }
}

static void open_all(Fixture *f)
{
    const Field inner[] = {FIELD("x", &type_int), FIELD("y", type_array(f->arena, &type_int))};
    const Type *record = type_struct(f->arena, inner, ARRAY_LENGTH(inner));
    OPEN(f, FIELD("x", &type_int), FIELD("d", &type_double), FIELD("f", &type_float),
         FIELD("n", type_decimal(f->arena, 38, 2)), FIELD("s", &type_string),
         FIELD("a", type_array(f->arena, &type_int)), FIELD("r", record),
         FIELD("l", type_array(f->arena, record)),
         FIELD("m", type_map(f->arena, &type_string, &type_int)), FIELD("b", &type_binary),
         FIELD("D", &type_date), FIELD("T", &type_timestamp));
}

static void time_is_linear(void **state)
{
    Fixture *f = *state;
    open_all(f);
    const struct {
        const char *head;
        const char *part;
        const char *tail;
        bool good;
    } shapes[] = {
        {"{\"x\":1", ",\"x\":\"y\"", "}", false},
        {"{\"x\":1", ",\"x\":\"y\"", ",\"x\":2}", true},
        {"{\"x\":1", ",\"X\":\"y\"", "}", true},
        {"{\"z\":1", ",\"\\u0058\":1", "}", true},
        {"{\"r\":null", ",\"r\":{\"x\":\"y\",\"y\":[1,2,\"z\"]}", "}", false},
        {"{\"r\":null", ",\"r\":{\"x\":5,\"y\":[1,2]}", "}", true},
        {"{\"l\":[null", ",{\"x\":5,\"y\":[1,2]}", "]}", true},
        {"{\"l\":[null", ",{\"x\":5,\"y\":[1,2]}", ",7]}", false},
        {"{\"a\":[1", ",1", "]}", true},
        {"{\"a\":null", ",\"a\":[1,2]", "}", true},
        {"{\"m\":{\"k\":1", ",\"k\":2", "}}", true},
        {"{\"m\":[[\"k\",1]", ",[\"k\",2]", "]}", true},
        {"{\"m\":null", ",\"m\":{\"k\":2}", "}", true},
        {"{\"x\":1", "0", "}", false},
        {"{\"x\":0.", "0", "}", true},
        {"{\"x\":0e", "0", "}", true},
        {"{\"x\":1e", "9", "}", false},
        {"{\"n\":1.", "0", "}", true},
        {"{\"n\":0.", "1", "}", false},
        {"{\"n\":1", "1", "}", false},
        {"{\"d\":0.", "1", "}", true},
        {"{\"d\":1", "1", "}", false},
        {"{\"d\":1e-", "9", "}", true},
        {"{\"f\":0.", "1", "}", true},
        {"{\"f\":0.", "0", "1e9}", true},
        {"{\"s\":\"", "\\u0041", "\"}", true},
        {"{\"s\":\"", "\xC3\xA9", "\"}", true},
        {"{\"s\":\"", "\\", "\"}", true},
        {"{\"s\":[", "[", "", false},
        {"{\"s\":[1", ",[]", "]}", true},
        {"{\"z\":[1", ",{\"a\":{}}", "]}", true},
        {"{\"z", "z", "\":1}", true},
        {"{\"z", "\\u005A", "\":1}", true},
        {"{\"b\":\"", "AAAA", "\"}", true},
        {"{\"b\":\"", "A===", "\"}", false},
        {"{\"D\":\"", "1", "\"}", false},
        {"{\"D\":\"2024-01-01", " ", "\"}", false},
        {"{\"T\":\"2024-01-01T00:00:00.", "1", "\"}", true}, /* cut to microseconds */
        {"", " ", "{}", true},
        {"{}", " ", "", true},
        {"{", " ", "}", true},
        {"{}", "{}", "", false},
    };
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++) {
        fill(&text, shapes[i].head, shapes[i].part, shapes[i].tail);
        check_time(f, &text, shapes[i].good);
    }
}

static void large_maps_of_many_keys(void **state)
{
    Fixture *f = *state;
    open_all(f);
    AUTO_BUFFER Buffer text = {0};
    for (int distinct = 100000; distinct > 0; distinct /= 100) {
        buffer_clear(&text);
        buffer_append_cstr(&text, "{\"m\":{\"\":0");
        for (int i = 0; i < 100000; i++) {
            buffer_printf(&text, ",\"key%d\":%d", i % distinct, i);
        }
        buffer_append_cstr(&text, "}}");
        check_time(f, &text, true);
        assert_int_equal(f->batch->columns[8]->offsets[1], distinct + 1);
    }
}

/* Fields by the thousand, in the schema and in the record. */
static void wide_records(void **state)
{
    Fixture *f = *state;
    enum { FIELDS = 5000 };
    Field *fields = arena_new_array(f->arena, Field, FIELDS);
    AUTO_BUFFER Buffer text = {0};
    for (int i = 0; i < FIELDS; i++) {
        fields[i] =
            (Field){.name = str_from(arena_printf(f->arena, "Field_%d", i)), .type = &type_int};
        buffer_printf(&text, "%c\"field_%d\":%d", i == 0 ? '{' : ',', FIELDS - 1 - i, i);
    }
    buffer_append_byte(&text, '}');
    fixture_open(f, fields, FIELDS);
    check_time(f, &text, true);
    check_time(f, &text, true);
    for (int i = 0; i < FIELDS; i++) {
        assert_int_equal(VECTOR_VALUE(f->batch->columns[i], int32_t, 0), FIELDS - 1 - i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(time_is_linear),
        FIXTURE_TEST(large_maps_of_many_keys),
        FIXTURE_TEST(wide_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
