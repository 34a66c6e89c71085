/* The quick ways against the general ones: a value right before the closing brace may be read as a
 * plain one, the same value with a blank behind it never is; both must read the same or fail alike.
 * And names: the table of those seen must never change what is read, whatever came before. */
#include <stdio.h>

#include "tests/unit/format/fixture.h"
#include "tests/unit/format/random_values.h"

enum { TYPES = 14 };

static void open_every_type(Fixture *f)
{
    OPEN(f, FIELD("c0", &type_tinyint), FIELD("c1", &type_smallint), FIELD("c2", &type_int),
         FIELD("c3", &type_bigint), FIELD("c4", type_decimal(f->arena, 5, 2)),
         FIELD("c5", type_decimal(f->arena, 38, 20)), FIELD("c6", type_decimal(f->arena, 18, 0)),
         FIELD("c7", &type_boolean), FIELD("c8", &type_string), FIELD("c9", &type_timestamp),
         FIELD("c10", &type_double), FIELD("c11", type_decimal(f->arena, 19, 19)),
         FIELD("c12", &type_date), FIELD("c13", &type_timestamp_ntz));
}

/* The record {"c<type>":value}, with what stands behind the value. */
static Str record_of(Fixture *f, unsigned type, Str value, const char *behind)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_printf(&text, "{\"c%u\":", type);
    buffer_append_str(&text, value);
    buffer_append_cstr(&text, behind);
    /* Exactly as many bytes as the record has, so that a read behind the end is seen. */
    return arena_copy_str(f->arena, buffer_str(&text));
}

/* A record of its own decoder history: the first reading learns the name, the second uses it. */
static void compare_value(Fixture *f, unsigned type, Str value)
{
    const Str records[] = {record_of(f, type, STR("null"), "}"), record_of(f, type, value, "}"),
                           record_of(f, type, value, " }"),
                           record_of(f, type, value, ",\"other\":[1]}"),
                           record_of(f, type, value, " ,\"other\":[1]}")};
    fixture_decode(f, records, ARRAY_LENGTH(records));
    const Vector *column = f->batch->columns[type];
    for (uint32_t row = 1; row < ARRAY_LENGTH(records); row++) {
        bool failed = fixture_error(f, row) != NULL;
        bool plain_failed = fixture_error(f, 1) != NULL;
        if (failed != plain_failed || !vector_value_equal(column, 1, column, row)) {
            fail_msg("%.*s and %.*s read differently", STR_ARG(records[1]), STR_ARG(records[row]));
        }
    }
}

static void handpicked_values(void **state)
{
    Fixture *f = *state;
    open_every_type(f);
    static const char *const values[] = {
        "0",
        "-0",
        "00",
        "01",
        "-01",
        "-",
        "--1",
        "+1",
        "1",
        "-1",
        "12",
        "127",
        "128",
        "-128",
        "-129",
        "32767",
        "32768",
        "1234567",
        "12345678",
        "123456789",
        "1234567890123456",
        "123456789012345678",
        "1234567890123456789",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "99999999999999999999999999",
        "1.",
        ".5",
        "1.0",
        "1.50",
        "1.005",
        "999.99",
        "999.999",
        "1000",
        "1000.00",
        "-999.99",
        "0.0",
        "0.00",
        "-0.00",
        "1e2",
        "1E+2",
        "1.2e1",
        "12a",
        "1x",
        "1:2",
        "1/2",
        "0x10",
        "12345678a",
        "1234567:",
        "1234567/",
        "NaN",
        "Infinity",
        "-Infinity",
        "true",
        "false",
        "tru",
        "truex",
        "falsee",
        "true1",
        "null",
        "nul",
        "\"\"",
        "\"a\"",
        "\"a\\nb\"",
        "\"0123456789abcde\"",
        "\"0123456789abcdef\"",
        "\"0123456789abcdefg\"",
        "\"0123456789abcdef0123456789abcdef\"",
        "\"\xC3\xA9\"",
        "\"0123456789abcde\xC3\xA9\"",
        "\"\xC3\"",
        "\"0123456789abcde\xC3\"",
        "\"a\x01\"",
        "\"a",
        "\"2026-03-01T10:20:30Z\"",
        "\"2026-03-01 10:20:30Z\"",
        "\"2026-03-01T10:20:30.5Z\"",
        "\"2026-03-01T10:20:30.123456Z\"",
        "\"2026-03-01T10:20:30.1234567Z\"",
        "\"2026-03-01T10:20:30.Z\"",
        "\"2026-03-01T10:20:30\"",
        "\"2026-03-01T10:20Z\"",
        "\"2026-02-29T10:20:30Z\"",
        "\"2024-02-29T10:20:30Z\"",
        "\"0000-01-01T00:00:00Z\"",
        "\"0001-01-01T00:00:00Z\"",
        "\"9999-12-31T23:59:59.999999Z\"",
        "\"2026-03-01T24:00:00Z\"",
        "\"2026-03-01T10:60:30Z\"",
        "\"2026-03-01T10:20:60Z\"",
        "\"2026-13-01T10:20:30Z\"",
        "\"2026-00-01T10:20:30Z\"",
        "\"2026-03-00T10:20:30Z\"",
        "\"2026-03-32T10:20:30Z\"",
        "\"2026-03-01T10:20:30+02:00\"",
        "\"2026-03-01x10:20:30Z\"",
        "\"2026/03/01T10:20:30Z\"",
        "\"2026-03-01T1a:20:30Z\"",
        "12345678",
        "-12345678",
        "123456780",
        "1234567801234567",
        "123456789012345",
        "-999999999999999",
        "12345678.5",
        "12345678e1",
        "123456789a",
        "\"2026-03-01\"",
        "\"2026-3-01\"",
        "\"2026-02-30\"",
        "-0.0",
        "0.1",
        "9007199254740992",
        "9007199254740993",
        "-9007199254740993",
        "0.9007199254740993",
        "nulll",
        "123456789012345678.5",
        "0.12345678901234567",
        "\"2026-03-01T10:20:30z\"",
        "[]",
        "{}",
        "[1,{\"a\":2}]",
        "",
    };
    for (unsigned type = 0; type < TYPES; type++) {
        for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
            compare_value(f, type, str_from(values[i]));
        }
    }
}

/* A number, a timestamp or a string, sometimes with one byte changed. */
static Str random_value_text(Fixture *f, Random *random)
{
    AUTO_BUFFER Buffer text = {0};
    switch (random_below(random, 4)) {
    case 0:
        buffer_printf(&text, "%lld", (long long)random_integer(random, 64));
        break;
    case 1:
        buffer_printf(&text, "%lld.%0*u", (long long)random_integer(random, 16),
                      (int)random_below(random, 8) + 1, random_below(random, 1000));
        break;
    case 2:
        buffer_append_byte(&text, '"');
        timestamp_format_iso(random_timestamp(random), random_chance(random, 2), &text);
        buffer_append_byte(&text, '"');
        break;
    default: {
        Vector *vector = vector_new(f->arena, &type_string, 1);
        vector_append_str(vector, f->arena, random_string(random, f->arena));
        json_encode_value(vector, 0, &text);
    }
    }
    if (random_chance(random, 3)) {
        static const char bytes[] = "0123456789-+.eE:TZ\"\\ x\x80\xC3";
        text.data[random_below(random, (uint32_t)text.size)] =
            bytes[random_below(random, sizeof bytes - 1)];
    }
    return arena_copy_str(f->arena, buffer_str(&text));
}

static void random_value_texts(void **state)
{
    Fixture *f = *state;
    Random random = {7};
    for (int round = 0; round < 20; round++) {
        arena_reset(f->arena);
        open_every_type(f);
        for (int i = 0; i < 500; i++) {
            compare_value(f, random_below(&random, TYPES), random_value_text(f, &random));
        }
    }
}

/* ---- Names ---- */

/* What column a, b and c must read: the last value under the exact name, else the last under the
 * one other spelling. */
typedef struct Expected {
    long value[3]; /* -1: NULL */
    bool exact[3];
} Expected;

static void expect_member(Expected *expected, unsigned column, char spelling, long value)
{
    if (spelling >= 'a') {
        expected->exact[column] = true;
        expected->value[column] = value;
        return;
    }
    if (!expected->exact[column]) {
        expected->value[column] = value;
    }
}

/* Names in any order, left out, twice, in another case, with escapes or white space, or new. */
static Str random_members(Fixture *f, Random *random, Expected *expected)
{
    AUTO_BUFFER Buffer text = {0};
    uint32_t count = random_below(random, 7);
    uint32_t first = random_below(random, 3);
    for (uint32_t i = 0; i < count; i++) {
        buffer_append_cstr(&text, i == 0 ? "{" : ",");
        unsigned column = random_chance(random, 3) ? random_below(random, 3) : (first + i) % 3;
        long value = (long)random_below(random, 1000);
        switch (random_below(random, 6)) {
        case 0: /* no column; new names again and again, more than are kept */
            buffer_printf(&text, "\"n%u\":%ld", random_below(random, 5000), value);
            break;
        case 1:
            buffer_printf(&text, "\"%c\":%ld", "ABC"[column], value);
            expect_member(expected, column, "ABC"[column], value);
            break;
        case 2:
            buffer_printf(&text, "\"%c\" : %ld", "abc"[column], value);
            expect_member(expected, column, "abc"[column], value);
            break;
        case 3:
            buffer_printf(&text, "\"\\u00%02x\":%ld", (unsigned)"abc"[column], value);
            expect_member(expected, column, "abc"[column], value);
            break;
        default:
            buffer_printf(&text, "\"%c\":%ld", "abc"[column], value);
            expect_member(expected, column, "abc"[column], value);
        }
    }
    buffer_append_cstr(&text, count == 0 ? "{}" : "}");
    return arena_copy_str(f->arena, buffer_str(&text));
}

static void names_in_any_order(void **state)
{
    Fixture *f = *state;
    OPEN(f, FIELD("a", &type_int), FIELD("b", &type_bigint), FIELD("c", &type_string));
    Random random = {11};
    for (int round = 0; round < 40; round++) {
        Str records[500];
        Expected expected[ARRAY_LENGTH(records)];
        for (size_t i = 0; i < ARRAY_LENGTH(records); i++) {
            expected[i] = (Expected){.value = {-1, -1, -1}};
            records[i] = random_members(f, &random, &expected[i]);
        }
        fixture_decode(f, records, ARRAY_LENGTH(records));
        for (uint32_t i = 0; i < ARRAY_LENGTH(records); i++) {
            AUTO_BUFFER Buffer row = {0};
            const long *value = expected[i].value;
            const char *quote = value[2] < 0 ? "" : "\"";
            char numbers[3][24];
            for (int column = 0; column < 3; column++) {
                (void)snprintf(numbers[column], sizeof numbers[column], "%ld", value[column]);
                if (value[column] < 0) {
                    memcpy(numbers[column], "null", sizeof "null");
                }
            }
            buffer_printf(&row, "{\"a\":%s,\"b\":%s,\"c\":%s%s%s}", numbers[0], numbers[1], quote,
                          numbers[2], quote);
            check_row(f, i, records[i], buffer_cstr(&row));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(handpicked_values),
        FIXTURE_TEST(random_value_texts),
        FIXTURE_TEST(names_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
