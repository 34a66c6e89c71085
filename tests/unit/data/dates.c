/* The calendar, day by day; the strict text forms of records; printing as Spark prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/data/datetime.h"

#include "golden.h"

/* Every day of the years 1 to 9999, counted on from 0001-01-01, which is day -719162. */
static void every_day_of_ten_thousand_years(void **state)
{
    (void)state;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int32_t day_number = -719162;
    for (int year = 1; year <= 9999; year++) {
        bool leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
        for (int month = 1; month <= 12; month++) {
            int length = lengths[month - 1] + (month == 2 && leap ? 1 : 0);
            if (date_days_in_month(year, month) != length) {
                fail_msg("length of %d-%d", year, month);
            }
            for (int day = 1; day <= length; day++, day_number++) {
                CivilDate date = date_to_civil(day_number);
                if (date.year != year || date.month != month || date.day != day ||
                    date_from_civil(year, month, day) != day_number ||
                    !date_is_valid(year, month, day)) {
                    fail_msg("%d-%d-%d is not day %d", year, month, day, day_number);
                }
            }
            assert_false(date_is_valid(year, month, length + 1));
        }
    }
    assert_int_equal(day_number, 2932897);
    assert_false(date_is_valid(2024, 13, 1) || date_is_valid(2024, 0, 1));
    assert_false(date_is_valid(2024, 1, 0) || date_is_valid(2024, 1, -1));
}

static void the_ends_of_the_range(void **state)
{
    (void)state;
    CivilDate last = date_to_civil(INT32_MAX);
    assert_true(last.year == 5881580 && last.month == 7 && last.day == 11);
    CivilDate first = date_to_civil(INT32_MIN);
    assert_true(first.year == -5877641 && first.month == 6 && first.day == 23);
    for (int64_t day = INT32_MIN; day <= INT32_MAX; day += 99991) {
        CivilDate date = date_to_civil((int32_t)day);
        assert_true(date_from_civil(date.year, date.month, date.day) == day);
    }
}

static void expect_months(const char *date, int months, const char *result)
{
    int32_t days = 0;
    int32_t wanted = 0;
    assert_true(date_parse_iso(str_from(date), &days));
    assert_true(date_parse_iso(str_from(result), &wanted));
    assert_int_equal(date_add_months(days, months), wanted);
}

/* cases/time.yaml: time.leap-day; add_months of Spark. */
static void months(void **state)
{
    (void)state;
    expect_months("2024-02-29", 12, "2025-02-28");
    expect_months("2024-01-31", 1, "2024-02-29");
    expect_months("2023-01-31", 1, "2023-02-28");
    expect_months("2024-03-31", -1, "2024-02-29");
    expect_months("2024-01-15", -13, "2022-12-15");
    expect_months("2024-01-15", 14, "2025-03-15");
    expect_months("2024-12-31", 0, "2024-12-31");
    expect_months("0001-12-31", 119976, "9999-12-31");
}

/* ---- The strict forms (decisions "Records in") ---- */

static void strict_dates(void **state)
{
    (void)state;
    int32_t days = 0;
    assert_true(date_parse_iso(STR("1970-01-02"), &days) && days == 1);
    assert_true(date_parse_iso(STR("0001-01-01"), &days) && days == -719162);
    assert_true(date_parse_iso(STR("9999-12-31"), &days) && days == 2932896);
    static const char *const refused[] = {"",
                                          "2024",
                                          "2024-1-5",
                                          "2024-01-5",
                                          "2024-01-05T",
                                          "2024-01-05 ",
                                          " 2024-01-05",
                                          "2024-02-30",
                                          "2023-02-29",
                                          "2024-13-01",
                                          "2024-00-10",
                                          "0000-01-01",
                                          "-2024-01-05",
                                          "+2024-01-05",
                                          "12024-01-05",
                                          "20240105",
                                          "2024/01/05",
                                          "2024-01-05x",
                                          "2024-01-",
                                          "2024-01-005",
                                          "2024-01-05T00:00:00"};
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        if (date_parse_iso(str_from(refused[i]), &days)) {
            fail_msg("%s is taken", refused[i]);
        }
    }
}

static void expect_instant(const char *text, const char *zone_name, const char *iso)
{
    TimeZone *opened = NULL;
    assert_null(time_zone_open(str_from(zone_name), &opened));
    AUTO(time_zone) TimeZone *zone = opened;
    int64_t us = 0;
    if (!timestamp_parse_iso(str_from(text), zone, &us)) {
        fail_msg("%s is refused", text);
    }
    AUTO_BUFFER Buffer out = {0};
    timestamp_format_iso(us, true, &out);
    assert_string_equal(buffer_cstr(&out), iso);
}

static void strict_timestamps(void **state)
{
    (void)state;
    expect_instant("2026-03-01T00:00:00.000000Z", "Europe/Oslo", "2026-03-01T00:00:00.000000Z");
    expect_instant("2026-03-01T12:30", "UTC", "2026-03-01T12:30:00.000000Z");
    expect_instant("2026-03-01 12:30:45", "America/New_York", "2026-03-01T17:30:45.000000Z");
    expect_instant("2026-03-01T12:30:45+02:00", "America/New_York", "2026-03-01T10:30:45.000000Z");
    expect_instant("2026-03-01T12:30:45+0200", "UTC", "2026-03-01T10:30:45.000000Z");
    expect_instant("2026-03-01T12:30:45-02", "UTC", "2026-03-01T14:30:45.000000Z");
    expect_instant("2026-03-01T12:30Z", "UTC", "2026-03-01T12:30:00.000000Z");
    expect_instant("2026-03-01T12:30:45.1Z", "UTC", "2026-03-01T12:30:45.100000Z");
    /* Digits beyond microseconds are cut toward the past, before 1970 too. */
    expect_instant("2026-03-01T12:30:45.123456789Z", "UTC", "2026-03-01T12:30:45.123456Z");
    expect_instant("1960-03-01T12:30:45.9999999Z", "UTC", "1960-03-01T12:30:45.999999Z");
    expect_instant("1969-12-31T23:59:59.999Z", "UTC", "1969-12-31T23:59:59.999000Z");
    expect_instant("2024-03-10T02:30", "America/New_York", "2024-03-10T07:30:00.000000Z");
    expect_instant("0001-01-01T00:00:00Z", "UTC", "0001-01-01T00:00:00.000000Z");
    expect_instant("9999-12-31T23:59:59.999999Z", "UTC", "9999-12-31T23:59:59.999999Z");
    static const char *const refused[] = {"",
                                          "2026-03-01",
                                          "2026-03-01T",
                                          "2026-03-01T12",
                                          "2026-03-01T12Z",
                                          "2026-03-01t12:30",
                                          "2026-03-01T1:30",
                                          "2026-03-01T12:3",
                                          "2026-03-01T24:00",
                                          "2026-03-01T12:60",
                                          "2026-03-01T12:30:60",
                                          "2026-03-01T12:30:45.",
                                          "2026-03-01T12:30:45.Z",
                                          "2026-03-01T12:30:45,5",
                                          "2026-03-01T12:30:45z",
                                          "2026-03-01T12:30:45 Z",
                                          "2026-03-01T12:30:45Europe/Oslo",
                                          "2026-03-01T12:30:45+2",
                                          "2026-03-01T12:30:45+2:00",
                                          "2026-03-01T12:30:45+02:0",
                                          "2026-03-01T12:30:45+02:00:00",
                                          "2026-03-01T12:30:45+02:60",
                                          "2026-03-01T12:30:45+19:00",
                                          "2026-03-01T12:30:45+020",
                                          "2026-03-01T12:30:45UTC",
                                          " 2026-03-01T12:30:45",
                                          "2026-03-01T12:30:45 ",
                                          "2026-03-01  12:30:45",
                                          "2026-02-29T12:30:45",
                                          "12026-03-01T12:30:45",
                                          "1772368245"};
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        int64_t us = 0;
        if (timestamp_parse_iso(str_from(refused[i]), time_zone_utc(), &us)) {
            fail_msg("%s is taken", refused[i]);
        }
    }
}

static void strict_local_timestamps(void **state)
{
    (void)state;
    int64_t us = 0;
    assert_true(timestamp_ntz_parse_iso(STR("1970-01-01T00:00:01.5"), &us) && us == 1500000);
    assert_true(timestamp_ntz_parse_iso(STR("1970-01-01 00:01"), &us) && us == 60000000);
    assert_false(timestamp_ntz_parse_iso(STR("1970-01-01T00:00:01Z"), &us));
    assert_false(timestamp_ntz_parse_iso(STR("1970-01-01T00:00:01+00:00"), &us));
    AUTO_BUFFER Buffer out = {0};
    timestamp_format_iso(-1, false, &out);
    assert_string_equal(buffer_cstr(&out), "1969-12-31T23:59:59.999999");
}

static void a_zone_in_local_timestamps_is_optional_to_refuse(void **state)
{
    (void)state;
    int64_t us = 0;
    assert_true(timestamp_ntz_parse(STR("1970-01-01 00:00:01 +02:00"), true, &us) && us == 1000000);
    assert_false(timestamp_ntz_parse(STR("1970-01-01 00:00:01 +02:00"), false, &us));
    assert_false(timestamp_ntz_parse(STR("1970-01-01 00:00:01 Nowhere"), true, &us));
    /* Deviation from Spark, which takes today's date: a result must not depend on the moment. */
    assert_false(timestamp_parse(STR("12:30:45"), time_zone_utc(), &us));
    assert_false(timestamp_parse(STR("T12:30:45"), time_zone_utc(), &us));
}

/* ---- Printing ---- */

static void prints_are_those_of_spark(void **state)
{
    (void)state;
    TimeZone *opened = NULL;
    assert_null(time_zone_open(STR("America/New_York"), &opened));
    AUTO(time_zone) TimeZone *zone = opened;
    Golden golden = golden_open("prints.tsv");
    while (golden_next(&golden)) {
        AUTO_BUFFER Buffer out = {0};
        if (str_equal(golden.fields[0], STR("DATE"))) {
            date_format((int32_t)strtol(golden.fields[1].data, NULL, 10), &out);
        } else if (str_equal(golden.fields[0], STR("TIMESTAMP"))) {
            timestamp_format_sql(strtoll(golden.fields[1].data, NULL, 10), zone, &out);
        } else {
            continue; /* nested values: casts.c */
        }
        if (!str_equal(buffer_str(&out), golden.fields[2])) {
            golden_fail(&golden, "Spark %.*s, here %s", STR_ARG(golden.fields[2]),
                        buffer_cstr(&out));
        }
    }
    assert_true(golden.line > 40);
    golden_close(&golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_of_ten_thousand_years),
        cmocka_unit_test(the_ends_of_the_range),
        cmocka_unit_test(months),
        cmocka_unit_test(strict_dates),
        cmocka_unit_test(strict_timestamps),
        cmocka_unit_test(strict_local_timestamps),
        cmocka_unit_test(a_zone_in_local_timestamps_is_optional_to_refuse),
        cmocka_unit_test(prints_are_those_of_spark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
