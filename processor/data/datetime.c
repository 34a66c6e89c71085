/* The calendar (proleptic Gregorian for every year, as java.time) and the printed forms of dates
 * and timestamps.
 *
 * Days and civil dates convert by counting years from March, so that the leap day is a year's last
 * day, in eras of 400 years (146,097 days), after which the calendar repeats. */
#include "processor/data/datetime.h"

#include <assert.h>
#include <stdlib.h>

#include "processor/data/digits.h"

#include "processor/base/banned.h"

enum {
    DAYS_PER_ERA = 146097,
    YEARS_PER_ERA = 400,
    DAYS_FROM_0000_03_01_TO_EPOCH = 719468,
};

static const int64_t us_per_second = INT64_C(1000000);
static const int64_t us_per_day = INT64_C(86400000000);

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient - (a % b < 0);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int32_t date_days_in_month(int32_t year, int32_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    assert(month >= 1 && month <= 12);
    return days[month - 1] + (month == 2 && is_leap(year));
}

bool date_is_valid(int32_t year, int32_t month, int32_t day)
{
    return month >= 1 && month <= 12 && day >= 1 && day <= date_days_in_month(year, month);
}

int32_t date_from_civil(int32_t year, int32_t month, int32_t day)
{
    assert(date_is_valid(year, month, day));
    int64_t march_year = (int64_t)year - (month <= 2);
    int64_t era = floor_divide(march_year, YEARS_PER_ERA);
    int64_t year_of_era = march_year - era * YEARS_PER_ERA;
    int64_t march_month = month > 2 ? month - 3 : month + 9;
    int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    int64_t days = era * DAYS_PER_ERA + day_of_era - DAYS_FROM_0000_03_01_TO_EPOCH;
    assert(days >= INT32_MIN && days <= INT32_MAX);
    return (int32_t)days;
}

/* Counted from 0000-03-01 a century has 146097/4 days and a year 1461/4, so four times the days
 * (and 3, to stand at a day's end) divide to centuries and years with the leap days at their right
 * places. Months from March on have 153 days in five: (2141 n + 197913) / 2^16 is the month of day
 * n of the year, for all of the 366 days. After Neri and Schneider, "Euclidean affine functions and
 * their application to calendar algorithms" (2021). */
CivilDate date_to_civil(int32_t days)
{
    int64_t shifted = (int64_t)days + DAYS_FROM_0000_03_01_TO_EPOCH;
    int32_t era = 0;
    if (UNLIKELY(shifted < 0 || shifted >= 10000LL * 366)) {
        era = (int32_t)floor_divide(shifted, DAYS_PER_ERA);
        shifted -= (int64_t)era * DAYS_PER_ERA;
    }
    uint32_t quarters = 4 * (uint32_t)shifted + 3;
    uint32_t century = quarters / DAYS_PER_ERA;
    quarters = (quarters - century * DAYS_PER_ERA) | 3;
    uint32_t year_of_century = quarters / 1461;
    uint32_t day_of_year = (quarters - year_of_century * 1461) / 4;
    uint32_t month_and_day = 2141 * day_of_year + 197913;
    uint32_t month = month_and_day >> 16;
    bool after_new_year = month > 12;
    return (CivilDate){
        .year = era * YEARS_PER_ERA + (int32_t)(century * 100 + year_of_century) + after_new_year,
        .month = (int32_t)(after_new_year ? month - 12 : month),
        .day = (int32_t)((month_and_day & 0xFFFF) / 2141) + 1,
    };
}

int32_t date_add_months(int32_t days, int32_t months)
{
    CivilDate date = date_to_civil(days);
    int64_t total = (int64_t)date.year * 12 + (date.month - 1) + months;
    int64_t year = floor_divide(total, 12);
    int32_t month = (int32_t)(total - year * 12) + 1;
    assert(year >= INT32_MIN && year <= INT32_MAX);
    int32_t last = date_days_in_month((int32_t)year, month);
    return date_from_civil((int32_t)year, month, date.day < last ? date.day : last);
}

/* ---- Printing ---- */

static char *put_digits(char *at, int64_t value, int width)
{
    digits_put(at, (unsigned)width, (uint64_t)value);
    return at + width;
}

/* A year of another length than four digits: a sign before more digits and before negative ones,
 * as java.time. */
static COLD char *put_far_year(char *at, int32_t year)
{
    *at++ = year < 0 ? '-' : '+';
    int64_t size = year < 0 ? -(int64_t)year : year;
    unsigned width = digits_count((uint64_t)size);
    return put_digits(at, size, width < 4 ? 4 : (int)width);
}

static char *put_date(char *at, CivilDate date)
{
    if (LIKELY(date.year >= 0 && date.year <= 9999)) {
        digits_put_pair(at, (unsigned)date.year / 100);
        digits_put_pair(at + 2, (unsigned)date.year % 100);
        at += 4;
    } else {
        at = put_far_year(at, date.year);
    }
    *at++ = '-';
    digits_put_pair(at, (unsigned)date.month);
    at[2] = '-';
    digits_put_pair(at + 3, (unsigned)date.day);
    return at + 5;
}

/* The second of the day, hh:mm:ss. */
static char *put_time(char *at, int64_t second)
{
    unsigned minutes = (unsigned)second / 60;
    digits_put_pair(at, minutes / 60);
    at[2] = ':';
    digits_put_pair(at + 3, minutes % 60);
    at[5] = ':';
    digits_put_pair(at + 6, (unsigned)second % 60);
    return at + 8;
}

char *date_put(char *to, int32_t days)
{
    return put_date(to, date_to_civil(days));
}

void date_format(int32_t days, Buffer *out)
{
    char *to = buffer_reserve(out, DATETIME_TEXT_MAX);
    out->size += (size_t)(date_put(to, days) - to);
}

typedef struct DayTime {
    int32_t day;
    int64_t second; /* of the day */
    int64_t us;     /* of the second */
} DayTime;

/* Takes an instant apart in local time. The day is cut off first, so that the ends of int64 need no
 * care; a time before the epoch counts down, so only the day can be negative. */
static DayTime split(int64_t us, int64_t offset_us)
{
    int64_t within = us % us_per_day;
    within += (within < 0 ? us_per_day : 0) + offset_us;
    int64_t day = floor_divide(us, us_per_day) + floor_divide(within, us_per_day);
    within %= us_per_day;
    within += within < 0 ? us_per_day : 0;
    return (DayTime){(int32_t)day, within / us_per_second, within % us_per_second};
}

char *timestamp_put_iso(char *to, int64_t us, bool utc_suffix)
{
    DayTime time = split(us, 0);
    char *at = date_put(to, time.day);
    *at++ = 'T';
    at = put_time(at, time.second);
    *at++ = '.';
    digits_put_last(at, 6, digits_word((uint32_t)time.us));
    at[6] = 'Z';
    return at + 6 + utc_suffix;
}

void timestamp_format_iso(int64_t us, bool utc_suffix, Buffer *out)
{
    char *to = buffer_reserve(out, DATETIME_TEXT_MAX);
    out->size += (size_t)(timestamp_put_iso(to, us, utc_suffix) - to);
}

void timestamp_format_sql(int64_t us, const TimeZone *zone, Buffer *out)
{
    DayTime time = split(us, time_zone_offset_us(zone, us));
    char *begin = buffer_reserve(out, DATETIME_TEXT_MAX);
    char *at = put_date(begin, date_to_civil(time.day));
    *at++ = ' ';
    at = put_time(at, time.second);
    if (time.us > 0) {
        *at++ = '.';
        int width = 6;
        for (; time.us % 10 == 0; time.us /= 10) {
            width--;
        }
        at = put_digits(at, time.us, width);
    }
    out->size += (size_t)(at - begin);
}
