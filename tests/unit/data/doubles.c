/* Doubles and floats as text against answers worked out with exact fractions (golden/shortest.py).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
        cmocka_unit_test(strict_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
