/* Doubles and floats as text against answers worked out with exact fractions (golden/shortest.py).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "processor/data/value_text.h"

#include "golden.h"

static void expect_double(double number, const char *text)
{
    AUTO_BUFFER Buffer out = {0};
    double_format(number, &out);
    assert_string_equal(buffer_cstr(&out), text);
}

/* The examples and limits of the documentation of Double.toString. */
static void documented_forms(void **state)
{
    (void)state;
    expect_double(0.0, "0.0");
    expect_double(-0.0, "-0.0");
    expect_double((double)NAN, "NaN");
    expect_double((double)INFINITY, "Infinity");
    expect_double((double)-INFINITY, "-Infinity");
    expect_double(1.0, "1.0");
    expect_double(100.0, "100.0");
    expect_double(1e-3, "0.001");
    expect_double(9.999e-4, "9.999E-4");
    expect_double(9999999.0, "9999999.0");
    expect_double(1e7, "1.0E7");
    expect_double(12345678.5, "1.23456785E7");
    expect_double(2e23, "2.0E23");
    expect_double(4.9e-324, "4.9E-324");
    expect_double(1.7976931348623157e308, "1.7976931348623157E308");
    expect_double(-1234.5, "-1234.5");
    expect_double(0.1 + 0.2, "0.30000000000000004");
}

static void every_double_is_the_shortest(void **state)
{
    (void)state;
    Golden golden = golden_open("doubles.tsv");
    AUTO_BUFFER Buffer out = {0};
    while (golden_next(&golden)) {
        uint64_t bits = strtoull(golden.fields[0].data, NULL, 16);
        double number;
        memcpy(&number, &bits, sizeof number);
        buffer_clear(&out);
        double_format(number, &out);
        if (!str_equal(buffer_str(&out), golden.fields[1])) {
            golden_fail(&golden, "got %s", buffer_cstr(&out));
        }
    }
    assert_true(golden.line > 3000);
    golden_close(&golden);
}

static void every_float_is_the_shortest(void **state)
{
    (void)state;
    Golden golden = golden_open("floats.tsv");
    AUTO_BUFFER Buffer out = {0};
    while (golden_next(&golden)) {
        uint32_t bits = (uint32_t)strtoul(golden.fields[0].data, NULL, 16);
        float number;
        memcpy(&number, &bits, sizeof number);
        buffer_clear(&out);
        float_format(number, &out);
        if (!str_equal(buffer_str(&out), golden.fields[1])) {
            golden_fail(&golden, "got %s", buffer_cstr(&out));
        }
    }
    assert_true(golden.line > 2500);
    golden_close(&golden);
}

static void texts_read_back_as_the_number(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252U;
    AUTO_BUFFER Buffer out = {0};
    for (int i = 0; i < 20000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double number;
        memcpy(&number, &seed, sizeof number);
        if (!isfinite(number)) {
            continue;
        }
        buffer_clear(&out);
        double_format(number, &out);
        double back = 0;
        assert_true(double_parse(buffer_str(&out), &back));
        assert_memory_equal(&back, &number, sizeof number);
    }
}

/* ---- Against C's own conversions ---- */

enum { MODEL_DIGITS = 32 };

/* A number with so many digits, the last one moved by `step` units; does it read back? */
static bool reads_back(double number, bool narrow, int count, int step, char *text)
{
    char digits[MODEL_DIGITS];
    (void)snprintf(digits, sizeof digits, "%.*e", count - 1, number);
    char *exponent = strchr(digits, 'e');
    int power = (int)strtol(exponent + 1, NULL, 10) - (count - 1);
    long long whole = digits[0] - '0';
    for (const char *at = digits + 1; at < exponent; at++) {
        whole = *at == '.' ? whole : whole * 10 + (*at - '0');
    }
    (void)snprintf(text, MODEL_DIGITS, "%llde%d", whole + step, power);
    return narrow ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number;
}

/* The fewest digits (two at least) that read back; of those the nearest, which is what printing
 * rounds to or, where that lies outside, its neighbour. */
static void model_decimal(double number, bool narrow, char *text)
{
    for (int count = 2;; count++) {
        for (int step = 0; step <= 2; step++) { /* 0, 1, -1 */
            if (reads_back(number, narrow, count, step == 2 ? -1 : step, text)) {
                return;
            }
        }
    }
}

/* Digits without point and zeros at either end, and the power of ten of the last. */
static long long significant(const char *text, int *ret_power)
{
    long long digits = 0;
    int power = 0;
    bool behind_point = false;
    for (; *text != '\0' && *text != 'e' && *text != 'E'; text++) {
        if (*text == '.') {
            behind_point = true;
        } else {
            digits = digits * 10 + (*text - '0');
            power -= behind_point;
        }
    }
    power += *text == '\0' ? 0 : (int)strtol(text + 1, NULL, 10);
    while (digits != 0 && digits % 10 == 0) {
        digits /= 10;
        power++;
    }
    *ret_power = power;
    return digits;
}

static void compare_with_model(double number, bool narrow)
{
    char model[MODEL_DIGITS];
    char text[DOUBLE_TEXT_MAX + 1];
    int model_power = 0;
    int power = 0;
    if (!isfinite(number) || number == 0) {
        return;
    }
    number = fabs(number);
    model_decimal(number, narrow, model);
    *(narrow ? float_put(text, (float)number) : double_put(text, number)) = '\0';
    if (significant(model, &model_power) != significant(text, &power) || model_power != power) {
        fail_msg("%a: %s, but C says %s", number, text, model);
    }
}

static void compare_bits(uint64_t bits)
{
    double number;
    float narrow;
    uint32_t narrow_bits = (uint32_t)(bits >> 32);
    memcpy(&number, &bits, sizeof number);
    memcpy(&narrow, &narrow_bits, sizeof narrow);
    compare_with_model(number, false);
    compare_with_model((double)narrow, true);
}

/* Every power of two and its neighbours, where the interval is lopsided; the smallest numbers; any
 * bits; short decimals; quotients. */
static void same_as_by_searching(void **state)
{
    (void)state;
    for (uint64_t exponent = 0; exponent < 2047; exponent++) {
        for (int64_t near = -1; near <= 1; near++) {
            compare_bits((exponent << 52) + (uint64_t)near);
        }
    }
    for (uint64_t exponent = 0; exponent < 255; exponent++) {
        for (int64_t near = -1; near <= 1; near++) {
            compare_bits((exponent << 55) + ((uint64_t)near << 32));
        }
    }
    for (uint64_t small = 1; small < 200; small++) {
        compare_bits(small);
        compare_bits(small << 32);
    }
    uint64_t seed = 88172645463325252U;
    for (int i = 0; i < 6000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        compare_bits(seed);
        compare_with_model((double)(seed % 100000000) / 100, false);
        compare_with_model((double)(seed >> 20) / (double)(1 + seed % 100000), false);
    }
}

static void strict_numbers(void **state)
{
    (void)state;
    double number;
    static const char *const refused[] = {
        "",    " 1",        "1 ",  "1d",  "0x1p3", "1e",    "e1",   ".", "+",  "1_0",
        "inf", "Infinityx", "1,5", "--1", "1.2.3", "1e1.5", "NaN1", "-", "1e+"};
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        assert_false(double_parse(str_from(refused[i]), &number));
    }
    assert_true(double_parse(STR("nAn"), &number));
    assert_true(isnan(number));
    assert_true(double_parse(STR("-INFINITY"), &number));
    assert_true(isinf(number) && number < 0);
    assert_true(double_parse(STR("-0"), &number));
    assert_true(signbit(number));
    assert_true(double_parse(STR("9007199254740993"), &number)); /* 2^53 + 1: to even */
    assert_true(number == 9007199254740992.0);
    assert_true(double_parse(STR("1e400"), &number));
    assert_true(isinf(number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_forms),
        cmocka_unit_test(every_double_is_the_shortest),
        cmocka_unit_test(every_float_is_the_shortest),
        cmocka_unit_test(texts_read_back_as_the_number),
        cmocka_unit_test(same_as_by_searching),
        cmocka_unit_test(strict_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
