/* Cron expressions by Quartz's rules: which values a field means, and where a mistake stands. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "processor/data/cron.h"

/* "1 5 7" as bits. */
static uint64_t bits(const char *values)
{
    uint64_t result = 0;
    Str rest = str_from(values);
    while (rest.data != NULL) {
        Str word = str_cut(&rest, ' ');
        int value = 0;
        for (size_t i = 0; i < word.size; i++) {
            value = value * 10 + (word.data[i] - '0');
        }
        result |= UINT64_C(1) << value;
    }
    return result;
}

static uint64_t all(int first, int last)
{
    uint64_t result = 0;
    for (int value = first; value <= last; value++) {
        result |= UINT64_C(1) << value;
    }
    return result;
}

static Cron parse(const char *text)
{
    Cron cron = {0};
    assert_null(cron_parse(str_from(text), &cron));
    return cron;
}

static void test_values(void **state)
{
    (void)state;
    Cron cron = parse("0 30 6 * * ?");
    assert_int_equal(cron.seconds, bits("0"));
    assert_int_equal(cron.minutes, bits("30"));
    assert_int_equal(cron.hours, bits("6"));
    assert_int_equal(cron.days, all(1, 31));
    assert_int_equal(cron.months, all(1, 12));
    assert_int_equal(cron.weekdays, all(1, 7));
    cron = parse("5,10 0/20 1-9/4 ? JAN,jun-AUG MON-FRI");
    assert_int_equal(cron.seconds, bits("5 10"));
    assert_int_equal(cron.minutes, bits("0 20 40"));
    assert_int_equal(cron.hours, bits("1 5 9"));
    assert_int_equal(cron.days, all(1, 31));
    assert_int_equal(cron.months, bits("1 6 7 8"));
    assert_int_equal(cron.weekdays, bits("2 3 4 5 6"));
}

static void test_steps_and_ranges(void **state)
{
    (void)state;
    Cron cron = parse("*/15 /30 22-2 31,1 NOV-FEB ?");
    assert_int_equal(cron.seconds, bits("0 15 30 45"));
    assert_int_equal(cron.minutes, bits("0 30"));
    assert_int_equal(cron.hours, bits("22 23 0 1 2"));
    assert_int_equal(cron.days, bits("1 31"));
    assert_int_equal(cron.months, bits("11 12 1 2"));
    cron = parse("59 59/7 23 ? 12 FRI-MON");
    assert_int_equal(cron.minutes, bits("59"));
    assert_int_equal(cron.weekdays, bits("6 7 1 2"));
    cron = parse("  0   0 0 1/10 * ? "); /* blanks around */
    assert_int_equal(cron.days, bits("1 11 21 31"));
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column;
    } cases[] = {
        {"", 1},
        {"0 0 * * *", 1},
        {"0 0 0 * * ? 2030", 1},
        {"60 0 0 * * ?", 1},
        {"0 60 0 * * ?", 3},
        {"0 0 24 * * ?", 5},
        {"0 0 0 0 * ?", 7},
        {"0 0 0 32 * ?", 7},
        {"0 0 0 ? 13 2", 9},
        {"0 0 0 ? * 8", 11},
        {"0 0 0 ? * 0", 11},
        {"0 0 0 * * *", 11},
        {"0 0 0 ? * ?", 11},
        {"? 0 0 * * ?", 1},
        {"0 0 0 * FOO ?", 9},
        {"0 0 0 L * ?", 7},
        {"0 0 0 15W * ?", 9},
        {"0 0 0 ? * 6#3", 12},
        {"0 1, 0 * * ?", 5},
        {"0 1- 0 * * ?", 5},
        {"0 1/ 0 * * ?", 5},
        {"0 1/0 0 * * ?", 6},
        {"0 1/99 0 * * ?", 7},
        {"0 -1 0 * * ?", 3},
        {"0 99999999999999999999 0 * * ?", 3},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        Cron cron = {0};
        AUTO(error) Error *error = cron_parse(str_from(cases[i].text), &cron);
        assert_non_null(error);
        assert_string_equal(error_kind(error), "INVALID_CRON");
        if (error_place(error).column != cases[i].column) {
            print_error("%s: %d\n", cases[i].text, error_place(error).column);
        }
        assert_int_equal(error_place(error).column, cases[i].column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_steps_and_ranges),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
