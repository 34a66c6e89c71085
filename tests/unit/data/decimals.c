/* DECIMAL arithmetic: products and quotients against Apache Spark 4.3 (golden/decimals.tsv),
 * parsing, scales and comparison by the rules of java.math.BigDecimal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "processor/data/decimal.h"
#include "processor/data/digits.h"

#include "golden.h"

typedef struct Decimal {
    int precision;
    int scale;
    int128 value;
} Decimal;

static void read_type(Str text, Decimal *ret)
{
    assert_int_equal(sscanf(text.data, "%d,%d", &ret->precision, &ret->scale), 2);
}

static Decimal read_decimal(Str text, Str type)
{
    Decimal decimal = {0};
    read_type(type, &decimal);
    assert_int_equal(decimal_parse(text, decimal.precision, decimal.scale, false, &decimal.value),
                     DECIMAL_OK);
    return decimal;
}

static void products_and_quotients_are_those_of_spark(void **state)
{
    (void)state;
    Golden golden = golden_open("decimals.tsv");
    AUTO_BUFFER Buffer out = {0};
    int wrong = 0;
    while (golden_next(&golden)) {
        Decimal a = read_decimal(golden.fields[1], golden.fields[2]);
        Decimal b = read_decimal(golden.fields[3], golden.fields[4]);
        Decimal result = {0};
        read_type(golden.fields[5], &result);
        bool times = golden.fields[0].data[0] == '*';
        bool fits = times ? decimal_multiply(a.value, b.value, a.scale + b.scale, result.precision,
                                             result.scale, &result.value)
                          : decimal_divide(a.value, a.scale, b.value, b.scale, result.precision,
                                           result.scale, &result.value);
        buffer_clear(&out);
        if (fits) {
            decimal_format(result.value, result.scale, &out);
        }
        Str got = fits ? buffer_str(&out) : STR_NULL;
        if ((got.data == NULL) != (golden.fields[6].data == NULL) ||
            !str_equal(got, golden.fields[6])) {
            wrong++;
            print_error("line %d: %.*s %.*s %.*s (%.*s): Spark %.*s, here %.*s\n", golden.line,
                        STR_ARG(golden.fields[1]), STR_ARG(golden.fields[0]),
                        STR_ARG(golden.fields[3]), STR_ARG(golden.fields[5]),
                        STR_ARG(golden.fields[6]), STR_ARG(got));
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(golden.line > 500);
    golden_close(&golden);
}

static void expect_parsed(const char *text, int precision, int scale, bool round,
                          DecimalParse result, const char *value)
{
    int128 parsed = -1;
    assert_int_equal(decimal_parse(str_from(text), precision, scale, round, &parsed), result);
    if (result == DECIMAL_OK) {
        AUTO_BUFFER Buffer out = {0};
        decimal_format(parsed, scale, &out);
        assert_string_equal(buffer_cstr(&out), value);
    } else {
        assert_true(parsed == -1); /* written on success only */
    }
}

static void texts(void **state)
{
    (void)state;
    expect_parsed("12.34", 4, 2, false, DECIMAL_OK, "12.34");
    expect_parsed("-0.07", 4, 2, false, DECIMAL_OK, "-0.07");
    expect_parsed("12.340000", 4, 2, false, DECIMAL_OK, "12.34");
    expect_parsed("12.345", 4, 2, false, DECIMAL_INEXACT, NULL);
    expect_parsed("12.345", 4, 2, true, DECIMAL_OK, "12.35");
    expect_parsed("-12.345", 4, 2, true, DECIMAL_OK, "-12.35");
    expect_parsed("12.344999", 4, 2, true, DECIMAL_OK, "12.34");
    expect_parsed("99.995", 4, 2, true, DECIMAL_OUT_OF_RANGE, NULL);
    expect_parsed("100", 4, 2, false, DECIMAL_OUT_OF_RANGE, NULL);
    expect_parsed("1e400", 38, 0, false, DECIMAL_OUT_OF_RANGE, NULL);
    expect_parsed("1e400", 38, 0, true, DECIMAL_OUT_OF_RANGE, NULL);
    expect_parsed("1e-400", 38, 10, false, DECIMAL_INEXACT, NULL);
    expect_parsed("1e-400", 38, 2, true, DECIMAL_OK, "0.00");
    expect_parsed("0e999999999", 5, 2, false, DECIMAL_OK, "0.00");
    expect_parsed("-0", 5, 0, false, DECIMAL_OK, "0");
    expect_parsed("0e99999999999999999999999", 5, 2, false, DECIMAL_OK, "0.00");
    expect_parsed("1e-99999999999999999999999", 5, 2, true, DECIMAL_OK, "0.00");
    expect_parsed("1e99999999999999999999999", 5, 2, true, DECIMAL_OUT_OF_RANGE, NULL);
    expect_parsed("12345e-2", 5, 2, false, DECIMAL_OK, "123.45");
    expect_parsed("0.0012345e5", 5, 2, false, DECIMAL_OK, "123.45");
    expect_parsed("5e-3", 5, 2, true, DECIMAL_OK, "0.01");
    expect_parsed("49e-4", 5, 2, true, DECIMAL_OK, "0.00");
    expect_parsed("99999999999999999999999999999999999999", 38, 0, false, DECIMAL_OK,
                  "99999999999999999999999999999999999999");
    expect_parsed("-.99999999999999999999999999999999999999", 38, 38, false, DECIMAL_OK,
                  "-0.99999999999999999999999999999999999999");
    static const char *const malformed[] = {"",   ".",  "+",  "-",  "e5",  "1e",  "1e+",   "1.2.3",
                                            " 1", "1 ", "1x", "x1", "--1", "0x1", "1e1.5", "NaN"};
    for (size_t i = 0; i < ARRAY_LENGTH(malformed); i++) {
        expect_parsed(malformed[i], 10, 2, true, DECIMAL_MALFORMED, NULL);
    }
}

/* A text of a million digits takes a moment, whatever its exponent says. */
static void long_texts_take_linear_time(void **state)
{
    (void)state;
    enum { LENGTH = 1000000 };
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "0.");
    for (int i = 0; i < LENGTH; i++) {
        buffer_append_byte(&text, '0');
    }
    buffer_append_cstr(&text, "123e1000002");
    clock_t begin = clock();
    int128 value = 0;
    assert_int_equal(decimal_parse(buffer_str(&text), 38, 2, false, &value), DECIMAL_OK);
    assert_true(value == 1230); /* 1.23e1 as DECIMAL(38,2): 12.30 */
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 0.5);
}

static void scales(void **state)
{
    (void)state;
    int128 value = 0;
    assert_true(decimal_rescale(12345, 2, 38, 1, &value) && value == 1235);
    assert_true(decimal_rescale(-12345, 2, 38, 1, &value) && value == -1235);
    assert_true(decimal_rescale(12344, 2, 38, 1, &value) && value == 1234);
    assert_true(decimal_rescale(12345, 2, 38, 4, &value) && value == 1234500);
    assert_false(decimal_rescale(12345, 2, 6, 4, &value));
    assert_true(decimal_rescale(0, 0, 38, 38, &value) && value == 0);
    assert_false(decimal_rescale(1, 0, 38, 38, &value));
    assert_true(decimal_rescale(5, 1, 1, 0, &value) && value == 1);
    int128 largest = decimal_power_of_ten(38) - 1;
    assert_true(decimal_rescale(largest, 38, 38, 0, &value) && value == 1);
    assert_true(decimal_rescale(largest, 38, 38, 1, &value) && value == 10);
    assert_false(decimal_rescale(largest, 0, 38, 1, &value));
    assert_true(decimal_rescale(-largest, 0, 38, 0, &value) && value == -largest);
    assert_true(decimal_fits(largest, 38));
    assert_false(decimal_fits(largest + 1, 38));
    assert_true(decimal_fits(-999, 3) && !decimal_fits(-1000, 3));
}

static void comparison_does_not_depend_on_the_scale(void **state)
{
    (void)state;
    int128 largest = decimal_power_of_ten(38) - 1;
    assert_int_equal(decimal_compare(150, 2, 15, 1), 0);
    assert_true(decimal_compare(151, 2, 15, 1) > 0);
    assert_true(decimal_compare(-151, 2, -15, 1) < 0);
    assert_true(decimal_compare(-1, 38, 0, 0) < 0);
    assert_true(decimal_compare(largest, 0, largest, 38) > 0);
    assert_true(decimal_compare(-largest, 0, -largest, 38) < 0);
    assert_true(decimal_compare(largest, 38, 1, 0) < 0);
    assert_true(decimal_compare(0, 5, 0, 0) == 0);
    assert_true(decimal_compare(largest, 7, largest - 1, 7) > 0);
}

static void doubles(void **state)
{
    (void)state;
    assert_true(decimal_to_double(1, 1) == 0.1);
    assert_true(decimal_to_double(-30, 2) == -0.3);
    assert_true(decimal_to_double(9007199254740993, 0) == 9007199254740992.0);
    assert_true(decimal_to_double(decimal_power_of_ten(38) - 1, 0) == 1e38);
    assert_true(decimal_to_double(decimal_power_of_ten(38) - 1, 38) == 1.0);
    assert_true(decimal_to_double(123456789012345678, 30) == 1.23456789012345678e-13);
    int128 value = 0;
    assert_true(decimal_from_double(0.1, 38, 20, &value));
    assert_true(value == decimal_power_of_ten(19)); /* by its text, not its bits */
    assert_true(decimal_from_double(2.675, 10, 2, &value) && value == 268);
    assert_true(decimal_from_double(-2.665, 10, 2, &value) && value == -267);
    assert_true(decimal_from_double(1e10, 11, 0, &value) && value == 10000000000);
    assert_false(decimal_from_double(1e10, 10, 0, &value));
    assert_false(decimal_from_double(1e300, 38, 0, &value));
    assert_true(decimal_from_double(4.9e-324, 38, 38, &value) && value == 0);
}

static void printing(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        int scale;
        const char *text;
    } cases[] = {{0, 0, "0"},      {0, 2, "0.00"},    {7, 2, "0.07"},    {-7, 2, "-0.07"},
                 {123, 2, "1.23"}, {123, 3, "0.123"}, {-123, 0, "-123"}, {100, 1, "10.0"}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_BUFFER Buffer out = {0};
        decimal_format(cases[i].value, cases[i].scale, &out);
        assert_string_equal(buffer_cstr(&out), cases[i].text);
    }
}

/* Digits one by one, as on paper. */
static void print_slowly(int128 value, int scale, Buffer *out)
{
    char digits[48];
    int count = 0;
    uint128 rest = value < 0 ? -(uint128)value : (uint128)value;
    for (; rest > 0 || count <= scale; rest /= 10) {
        digits[count++] = (char)('0' + (int)(rest % 10));
    }
    buffer_append_cstr(out, value < 0 ? "-" : "");
    for (int i = count - 1; i >= 0; i--) {
        buffer_append_byte(out, digits[i]);
        if (i == scale && i > 0) {
            buffer_append_byte(out, '.');
        }
    }
}

static void check_printing(int128 value, int scale)
{
    AUTO_BUFFER Buffer out = {0};
    AUTO_BUFFER Buffer expected = {0};
    decimal_format(value, scale, &out);
    print_slowly(value, scale, &expected);
    assert_string_equal(buffer_cstr(&out), buffer_cstr(&expected));
    if (scale == 0 && value == (int64_t)value) {
        char text[INT64_TEXT_MAX + 1];
        *integer_put(text, (int64_t)value) = '\0';
        assert_string_equal(text, buffer_cstr(&expected));
    }
}

/* Around every power of ten and of two, of both signs, with every scale. */
static void printing_at_every_length(void **state)
{
    (void)state;
    for (int scale = 0; scale <= 38; scale++) {
        for (int digits = 0; digits <= 38; digits++) {
            for (int near = -2; near <= 2; near++) {
                check_printing(decimal_power_of_ten(digits) + near, scale);
                check_printing(-decimal_power_of_ten(digits) + near, scale);
            }
        }
        for (int bits = 0; bits <= 126; bits++) {
            check_printing(((int128)1 << bits) - 1, scale);
            check_printing(-((int128)1 << bits), scale);
        }
    }
    check_printing(INT64_MIN, 0);
    check_printing(INT64_MAX, 0);
    uint64_t seed = 88172645463325252U;
    for (int i = 0; i < 100000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        check_printing((int64_t)seed >> (seed & 63), (int)(seed >> 8 & 15) % 5 * (i % 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_quotients_are_those_of_spark),
        cmocka_unit_test(texts),
        cmocka_unit_test(long_texts_take_linear_time),
        cmocka_unit_test(scales),
        cmocka_unit_test(comparison_does_not_depend_on_the_scale),
        cmocka_unit_test(doubles),
        cmocka_unit_test(printing),
        cmocka_unit_test(printing_at_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
