/* Dates and timestamps from text: Spark's tolerant CAST forms and the strict forms of records.
 *
 * The CAST forms follow Spark 4 rule by rule (SparkDateTimeUtils): parts may have one or two
 * digits, a year four to six (DATE: seven), parts may be missing from the right. One deviation: a
 * time without a date ("12:30") is refused, where Spark takes today's date — the result of a cast
 * must not depend on the moment it runs. */
#include "processor/data/datetime.h"

#include <assert.h>

#include "processor/base/banned.h"
#include "processor/data/time_zone_name.h"

enum {
    DATE_YEAR_DIGITS_MAX = 7,
    TIMESTAMP_YEAR_DIGITS_MAX = 6,
};

/* A local date and time in parts, as read. */
typedef struct LocalTime {
    int64_t year;
    int32_t month;
    int32_t day;
    int32_t hour;
    int32_t minute;
    int32_t second;
    int32_t us;
    Str zone; /* STR_NULL: none given */
} LocalTime;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Spark trims white space and control characters (UTF8String.trimAll). */
static Str trim_all(Str text)
{
    while (text.size > 0 && ((unsigned char)text.data[0] <= ' ' || text.data[0] == 0x7F)) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 &&
           ((unsigned char)text.data[text.size - 1] <= ' ' || text.data[text.size - 1] == 0x7F)) {
        text.size--;
    }
    return text;
}

static bool skip_byte(Str *rest, char byte)
{
    if (rest->size == 0 || rest->data[0] != byte) {
        return false;
    }
    *rest = (Str){rest->data + 1, rest->size - 1};
    return true;
}

/* A number of `min` to `max` digits; false when there are fewer or more. */
static bool take_number(Str *rest, size_t min, size_t max, int32_t *ret)
{
    size_t count = 0;
    int32_t value = 0;
    while (count < rest->size && count <= max && is_digit(rest->data[count])) {
        value = count < max ? value * 10 + (rest->data[count] - '0') : value;
        count++;
    }
    if (count < min || count > max) {
        return false;
    }
    *rest = (Str){rest->data + count, rest->size - count};
    *ret = value;
    return true;
}

/* Any number of digits after the point; those beyond microseconds are cut. */
static size_t take_fraction(Str *rest, int32_t *ret_us)
{
    size_t count = 0;
    int32_t us = 0;
    for (; count < rest->size && is_digit(rest->data[count]); count++) {
        us = count < 6 ? us * 10 + (rest->data[count] - '0') : us;
    }
    for (size_t i = count; i < 6; i++) {
        us *= 10;
    }
    *rest = (Str){rest->data + count, rest->size - count};
    *ret_us = us;
    return count;
}

/* [+-]yyyy[-m[-d]]; what is not given is 1. *ret_parts says how many parts there were. */
static bool take_date(Str *rest, size_t year_digits_max, LocalTime *ret, int *ret_parts)
{
    bool negative = rest->size > 0 && rest->data[0] == '-';
    if (negative || (rest->size > 0 && rest->data[0] == '+')) {
        *rest = (Str){rest->data + 1, rest->size - 1};
    }
    int32_t year = 0;
    if (!take_number(rest, 4, year_digits_max, &year)) {
        return false;
    }
    ret->year = negative ? -year : year;
    ret->month = 1;
    ret->day = 1;
    *ret_parts = 1;
    if (skip_byte(rest, '-')) {
        if (!take_number(rest, 1, 2, &ret->month)) {
            return false;
        }
        *ret_parts = 2;
        if (skip_byte(rest, '-')) {
            *ret_parts = 3;
            return take_number(rest, 1, 2, &ret->day);
        }
    }
    return true;
}

/* Days of a date in parts; false when there is no such day or it is out of range. */
static bool to_days(const LocalTime *time, int32_t *ret_days)
{
    /* The first and last whole year an int32 of days holds. */
    if (time->year < -5877640 || time->year > 5881579 ||
        !date_is_valid((int32_t)time->year, time->month, time->day)) {
        return false;
    }
    *ret_days = date_from_civil((int32_t)time->year, time->month, time->day);
    return true;
}

static bool to_local_us(const LocalTime *time, int64_t *ret_us)
{
    int32_t days;
    if (!to_days(time, &days) || time->hour > 23 || time->minute > 59 || time->second > 59) {
        return false;
    }
    int64_t seconds = time->hour * 3600 + time->minute * 60 + time->second;
    int64_t us;
    return !__builtin_mul_overflow((int64_t)days, INT64_C(86400000000), &us) &&
           !__builtin_add_overflow(us, seconds * 1000000 + time->us, ret_us);
}

bool date_parse(Str text, int32_t *ret_days)
{
    text = trim_all(text);
    LocalTime time = {0};
    int parts = 0;
    if (!take_date(&text, DATE_YEAR_DIGITS_MAX, &time, &parts)) {
        return false;
    }
    /* After a whole date anything may follow a T or a blank; a shorter one stands alone. */
    if (text.size > 0 && (parts < 3 || (text.data[0] != 'T' && text.data[0] != ' '))) {
        return false;
    }
    return to_days(&time, ret_days);
}

/* hh:mm[:ss[.fraction]][zone] as Spark's timestamp cast reads it. Hours and minutes alone are
 * complete, but a zone may only follow seconds. */
static bool take_cast_time(Str *rest, LocalTime *ret)
{
    if (!take_number(rest, 1, 2, &ret->hour)) {
        return false;
    }
    if (rest->size == 0) {
        return true;
    }
    if (!skip_byte(rest, ':') || !take_number(rest, 1, 2, &ret->minute)) {
        return false;
    }
    if (rest->size == 0) {
        return true;
    }
    if (!skip_byte(rest, ':') || !take_number(rest, 1, 2, &ret->second)) {
        return false;
    }
    if (skip_byte(rest, '.')) {
        (void)take_fraction(rest, &ret->us);
    }
    if (rest->size > 0) {
        ret->zone = trim_all(*rest);
    }
    return true;
}

static bool parse_cast(Str text, LocalTime *ret)
{
    text = trim_all(text);
    int parts = 0;
    if (!take_date(&text, TIMESTAMP_YEAR_DIGITS_MAX, ret, &parts)) {
        return false;
    }
    if (text.size == 0) {
        return true;
    }
    if (parts < 3 || (!skip_byte(&text, 'T') && !skip_byte(&text, ' '))) {
        return false;
    }
    return take_cast_time(&text, ret);
}

/* The instant of a local time in the zone its text names, else in `zone`. */
static bool to_instant(const LocalTime *time, const TimeZone *zone, int64_t *ret_us)
{
    int64_t local;
    if (!to_local_us(time, &local)) {
        return false;
    }
    int64_t instant;
    if (time->zone.data == NULL) {
        instant = time_zone_to_instant_us(zone, local);
    } else {
        TimeZoneRef named;
        if (!time_zone_find(time->zone, &named)) {
            return false;
        }
        instant = time_zone_ref_to_instant_us(&named, local);
    }
    if (instant == INT64_MIN || instant == INT64_MAX) {
        return false; /* beyond what microseconds can say */
    }
    *ret_us = instant;
    return true;
}

bool timestamp_parse(Str text, const TimeZone *zone, int64_t *ret_us)
{
    LocalTime time = {0};
    return parse_cast(text, &time) && to_instant(&time, zone, ret_us);
}

bool timestamp_ntz_parse(Str text, bool allow_zone, int64_t *ret_us)
{
    LocalTime time = {0};
    if (!parse_cast(text, &time)) {
        return false;
    }
    if (time.zone.data != NULL) {
        TimeZoneRef named;
        if (!allow_zone || !time_zone_find(time.zone, &named)) {
            return false;
        }
    }
    return to_local_us(&time, ret_us);
}

/* ---- The strict forms ---- */

/* YYYY-MM-DD, year 0001 to 9999. */
static bool take_iso_date(Str *rest, LocalTime *ret)
{
    int32_t year = 0;
    bool ok = take_number(rest, 4, 4, &year) && skip_byte(rest, '-') &&
              take_number(rest, 2, 2, &ret->month) && skip_byte(rest, '-') &&
              take_number(rest, 2, 2, &ret->day);
    ret->year = year;
    return ok && year > 0;
}

/* hh:mm[:ss[.fraction]] */
static bool take_iso_time(Str *rest, LocalTime *ret)
{
    if (!take_number(rest, 2, 2, &ret->hour) || !skip_byte(rest, ':') ||
        !take_number(rest, 2, 2, &ret->minute)) {
        return false;
    }
    if (!skip_byte(rest, ':')) {
        return true;
    }
    if (!take_number(rest, 2, 2, &ret->second)) {
        return false;
    }
    return !skip_byte(rest, '.') || take_fraction(rest, &ret->us) > 0;
}

/* Z, ±hh, ±hhmm or ±hh:mm at the end; false when something else is left. */
static bool is_iso_zone(Str zone)
{
    if (zone.size == 1) {
        return zone.data[0] == 'Z';
    }
    if (zone.size < 3 || (zone.data[0] != '+' && zone.data[0] != '-')) {
        return false;
    }
    Str rest = {zone.data + 1, zone.size - 1};
    int32_t hours = 0;
    int32_t minutes = 0;
    if (!take_number(&rest, 2, 2, &hours) && !(rest.size == 4 && is_digit(rest.data[2]))) {
        return false;
    }
    if (rest.size == 0) {
        return true;
    }
    (void)skip_byte(&rest, ':');
    return rest.size == 2 && take_number(&rest, 2, 2, &minutes);
}

static bool parse_iso(Str text, LocalTime *ret)
{
    if (!take_iso_date(&text, ret) || (!skip_byte(&text, 'T') && !skip_byte(&text, ' ')) ||
        !take_iso_time(&text, ret)) {
        return false;
    }
    if (text.size > 0) {
        ret->zone = text;
        return is_iso_zone(text);
    }
    return true;
}

bool date_parse_iso(Str text, int32_t *ret_days)
{
    LocalTime time = {0};
    return take_iso_date(&text, &time) && text.size == 0 && to_days(&time, ret_days);
}

bool timestamp_parse_iso(Str text, const TimeZone *zone, int64_t *ret_us)
{
    LocalTime time = {0};
    return parse_iso(text, &time) && to_instant(&time, zone, ret_us);
}

bool timestamp_ntz_parse_iso(Str text, int64_t *ret_us)
{
    LocalTime time = {0};
    return parse_iso(text, &time) && time.zone.data == NULL && to_local_us(&time, ret_us);
}
