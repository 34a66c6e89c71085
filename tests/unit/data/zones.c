/* Time zones: conversions against Apache Spark 4.3 (golden/zones.tsv: java.time), gaps and
 * overlaps, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "processor/data/datetime.h"

#include "golden.h"

static TimeZone *open_zone(Str name)
{
    TimeZone *zone = NULL;
    Error *error = time_zone_open(name, &zone);
    assert_null(error);
    return zone;
}

static void conversions_are_those_of_java(void **state)
{
    (void)state;
    Golden golden = golden_open("zones.tsv");
    int wrong = 0;
    while (golden_next(&golden)) {
        AUTO(time_zone) TimeZone *zone = open_zone(golden.fields[0]);
        int64_t us = strtoll(golden.fields[1].data, NULL, 10);
        int64_t local = us + time_zone_offset_us(zone, us);
        int64_t instant = time_zone_to_instant_us(zone, us);
        if (local != strtoll(golden.fields[2].data, NULL, 10) ||
            instant != strtoll(golden.fields[3].data, NULL, 10)) {
            wrong++;
            print_error("line %d: %.*s %.*s: Spark local %.*s instant %.*s, here %lld %lld\n",
                        golden.line, STR_ARG(golden.fields[0]), STR_ARG(golden.fields[1]),
                        STR_ARG(golden.fields[2]), STR_ARG(golden.fields[3]), (long long)local,
                        (long long)instant);
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(golden.line > 4000);
    golden_close(&golden);
}

static int64_t local_us(const char *text)
{
    int64_t us = 0;
    assert_true(timestamp_ntz_parse_iso(str_from(text), &us));
    return us;
}

static void expect_instant(const char *zone_name, const char *local, const char *utc)
{
    AUTO(time_zone) TimeZone *zone = open_zone(str_from(zone_name));
    assert_int_equal(time_zone_to_instant_us(zone, local_us(local)), local_us(utc));
}

/* A local time in a gap moves forward by the gap, one that happens twice is the earlier. */
static void gaps_and_overlaps(void **state)
{
    (void)state;
    expect_instant("America/New_York", "2024-03-10T02:30", "2024-03-10T07:30");
    expect_instant("America/New_York", "2024-03-10T01:59:59.999999", "2024-03-10T06:59:59.999999");
    expect_instant("America/New_York", "2024-03-10T03:00", "2024-03-10T07:00");
    expect_instant("America/New_York", "2024-11-03T01:30", "2024-11-03T05:30");
    expect_instant("America/New_York", "2024-11-03T02:00", "2024-11-03T07:00");
    expect_instant("Europe/Oslo", "2024-03-31T02:30", "2024-03-31T01:30");
    expect_instant("Europe/Oslo", "2024-10-27T02:30", "2024-10-27T00:30");
    expect_instant("Asia/Kolkata", "2024-10-27T02:30", "2024-10-26T21:00");
    /* Far in the future the last rule goes on: the second Sunday of March 4024 is the 10th, as in
     * 2024. */
    expect_instant("America/New_York", "4024-03-10T02:30", "4024-03-10T07:30");
    expect_instant("America/New_York", "4024-07-01T00:00", "4024-07-01T04:00");
    /* Samoa skipped 2011-12-30. */
    expect_instant("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00");
}

/* Every instant of two years, hour by hour: to local and back is the same, but in an overlap. */
static void there_and_back(void **state)
{
    (void)state;
    AUTO(time_zone) TimeZone *zone = open_zone(STR("Europe/Oslo"));
    int64_t hour = INT64_C(3600000000);
    int64_t begin = local_us("2023-01-01T00:00");
    int later = 0;
    for (int64_t us = begin; us < begin + 24 * 731 * hour; us += hour / 2) {
        int64_t back = time_zone_to_instant_us(zone, us + time_zone_offset_us(zone, us));
        if (back != us) {
            assert_int_equal(us - back, hour); /* the second of two equal local times */
            later++;
        }
    }
    assert_int_equal(later, 4); /* two half hours in each autumn */
}

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int seconds;
    } fixed[] = {{"UTC", 0},
                 {"Z", 0},
                 {"GMT", 0},
                 {"+02:00", 7200},
                 {"-02:30", -9000},
                 {"GMT+2", 7200},
                 {"UTC+02:00", 7200},
                 {"UT-1", -3600},
                 {"+2", 7200},
                 {"+02", 7200},
                 {"+0230", 9000},
                 {"+02:30:15", 9015},
                 {"+7:30", 27000},
                 {"+07:5", 25500},
                 {"EST", -18000},
                 {"Etc/GMT+2", -7200},
                 {"Asia/Kolkata", 19800},
                 {"IST", 19800},
                 {"Zulu", 0},
                 {"+18:00", 64800}};
    for (size_t i = 0; i < ARRAY_LENGTH(fixed); i++) {
        AUTO(time_zone) TimeZone *zone = open_zone(str_from(fixed[i].name));
        assert_int_equal(time_zone_offset_us(zone, 1704457845000000),
                         (int64_t)fixed[i].seconds * 1000000);
    }
    static const char *const wrong[] = {"",       "z",           "utc",         "+25:00",
                                        "+18:01", "GMT+",        "Mars/X",      "X",
                                        "UTCx",   "Etc/Unknown", "europe/oslo", "+",
                                        "+123",   "+02:60",      "\xFF\xFE",    "Europe/Oslo "};
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        TimeZone *zone = NULL;
        AUTO(error) Error *error = time_zone_open(str_from(wrong[i]), &zone);
        if (error == NULL) {
            fail_msg("%s is taken", wrong[i]);
        }
        assert_int_equal(error_class(error), ERROR_INVALID_TIME_ZONE);
        assert_null(zone);
    }
}

static void a_wrong_name_brings_the_nearest(void **state)
{
    (void)state;
    TimeZone *zone = NULL;
    AUTO(error) Error *error = time_zone_open(STR("Europe/Olso"), &zone);
    assert_non_null(error);
    assert_string_equal(error_hint(error), "did you mean `Europe/Oslo`?");
    assert_non_null(strstr(error_message(error), "The timezone: Europe/Olso is invalid."));
    AUTO(error) Error *far = time_zone_open(STR("nowhere near anything"), &zone);
    assert_null(error_hint(far));
}

static void *convert_in_many_zones(void *argument)
{
    static const char *const zones[] = {"Europe/Oslo",     "America/New_York", "Asia/Tokyo",
                                        "Pacific/Chatham", "Asia/Kolkata",     "Europe/Paris"};
    int64_t *sum = argument;
    for (int i = 0; i < 600; i++) {
        TimeZone *zone = NULL;
        Error *error = time_zone_open(str_from(zones[i % 6]), &zone);
        if (error != NULL) {
            error_free(error);
            return NULL;
        }
        *sum += time_zone_offset_us(zone, 1720180800000000) / 60000000;
        time_zone_free(zone);
    }
    return NULL;
}

/* Zones are shared by all threads; the first to name one reads its rules. */
static void any_thread_may_open_zones(void **state)
{
    (void)state;
    pthread_t threads[4];
    int64_t sums[4] = {0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, convert_in_many_zones, &sums[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        /* July: +120, -240, +540, +765 (no summer time in the south), +330, +120 minutes */
        assert_int_equal(sums[i], 100 * (120 - 240 + 540 + 765 + 330 + 120));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_are_those_of_java),
        cmocka_unit_test(gaps_and_overlaps),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(names),
        cmocka_unit_test(a_wrong_name_brings_the_nearest),
        cmocka_unit_test(any_thread_may_open_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
