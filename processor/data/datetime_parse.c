/* Dates and timestamps from text: Spark's tolerant CAST forms and the strict forms of records.
 *
 * The CAST forms follow Spark 4 rule by rule (SparkDateTimeUtils): parts may have one or two
 * digits, a year four to six (DATE: seven), parts may be missing from the right. One deviation: a
 * time without a date ("12:30") is refused, where Spark takes today's date — the result of a cast
 * must not depend on the moment it runs. */
#include "processor/data/datetime.h"

#include <assert.h>

#include "processor/data/number_text.h"
#include "processor/data/time_zone_name.h"
#include "processor/base/banned.h"

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
    while (count < rest->size && count <= max && char_is_digit(rest->data[count])) {
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
    for (; count < rest->size && char_is_digit(rest->data[count]); count++) {
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
    /* The first and the last date an int32 of days holds, as digits yyyymmdd. */
    const int64_t first = INT64_C(-5877641) * 10000 + 623;
    const int64_t last = INT64_C(5881580) * 10000 + 711;
    int64_t digits = time->year * 10000 + time->month * 100 + time->day;
    if (digits < first || digits > last ||
        !date_is_valid((int32_t)time->year, time->month, time->day)) {
        return false;
    }
    *ret_days = date_from_civil((int32_t)time->year, time->month, time->day);
    return true;
}

/* Microseconds of the local time; a little more than 64 bits can be needed on the way. */
static bool to_local_us(const LocalTime *time, int128 *ret_us)
{
    int32_t days;
    if (!to_days(time, &days) || time->hour > 23 || time->minute > 59 || time->second > 59) {
        return false;
    }
    int64_t seconds = time->hour * 3600 + time->minute * 60 + time->second;
    *ret_us = (int128)days * INT64_C(86400000000) + seconds * 1000000 + time->us;
    return true;
}

static bool narrow(int128 us, int64_t *ret_us)
{
    if (us < INT64_MIN || us > INT64_MAX) {
        return false;
    }
    *ret_us = (int64_t)us;
    return true;
}

static int64_t saturate(int128 us)
{
    return us < INT64_MIN ? INT64_MIN : us > INT64_MAX ? INT64_MAX : (int64_t)us;
}

bool date_parse(Str text, int32_t *ret_days)
{
    text = text_trim_all(text);
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
        ret->zone = text_trim_all(*rest);
    }
    return true;
}

static bool parse_cast(Str text, LocalTime *ret)
{
    text = text_trim_all(text);
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
    int128 local;
    if (!to_local_us(time, &local)) {
        return false;
    }
    TimeZoneRef used = {zone, 0};
    if (time->zone.data != NULL && !time_zone_find(time->zone, &used)) {
        return false;
    }
    return narrow(local - time_zone_ref_local_offset_us(&used, saturate(local)), ret_us);
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
    int128 local;
    return to_local_us(&time, &local) && narrow(local, ret_us);
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

/* Z, ±hh, ±hhmm or ±hh:mm? Whether the numbers are in range, the zone's name says. */
static bool is_iso_zone(Str zone)
{
    static const char *const forms[] = {"Z", "+00", "+0000", "+00:00"};
    for (size_t form = 0; form < ARRAY_LENGTH(forms); form++) {
        bool same = strlen(forms[form]) == zone.size;
        for (size_t i = 0; same && i < zone.size; i++) {
            char c = zone.data[i];
            c = char_is_digit(c) ? '0' : c == '-' ? '+' : c;
            same = c == forms[form][i];
        }
        if (same) {
            return true;
        }
    }
    return false;
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

/* Two digits, or a value that is too large for every part of a time. */
static inline unsigned two_digits(const char *at)
{
    unsigned tens = (unsigned char)at[0] - (unsigned)'0';
    unsigned ones = (unsigned char)at[1] - (unsigned)'0';
    return tens <= 9 && ones <= 9 ? tens * 10 + ones : 1000;
}

enum { WRITTEN_TIME_SIZE = 19, FRACTION_DIGITS = 6 };

/* A point and one to six digits, as microseconds. */
static bool parse_written_fraction(Str text, int64_t *ret_us)
{
    size_t digits = text.size - 1;
    if (text.data[0] != '.' || digits == 0 || digits > FRACTION_DIGITS) {
        return false;
    }
    int64_t us = 0;
    for (size_t i = 1; i <= FRACTION_DIGITS; i++) {
        unsigned digit = i <= digits ? (unsigned char)text.data[i] - (unsigned)'0' : 0;
        if (digit > 9) {
            return false;
        }
        us = us * 10 + digit;
    }
    *ret_us = us;
    return true;
}

/* The form nearly all records have, YYYY-MM-DDThh:mm:ss[.f…]Z with at most six digits behind the
 * point, without taking it apart piece by piece. False says nothing: the general way decides. */
static bool parse_written_utc(Str text, int64_t *ret_us)
{
    const char *at = text.data;
    if (text.size < WRITTEN_TIME_SIZE + 1 || text.data[text.size - 1] != 'Z' || at[4] != '-' ||
        at[7] != '-' || (at[10] != 'T' && at[10] != ' ') || at[13] != ':' || at[16] != ':') {
        return false;
    }
    unsigned century = two_digits(at);
    unsigned year = two_digits(at + 2);
    unsigned month = two_digits(at + 5);
    unsigned day = two_digits(at + 8);
    unsigned hour = two_digits(at + 11);
    unsigned minute = two_digits(at + 14);
    unsigned second = two_digits(at + 17);
    if (century > 99 || year > 99 || hour > 23 || minute > 59 || second > 59) {
        return false;
    }
    year += century * 100;
    if (year == 0 || !date_is_valid((int32_t)year, (int32_t)month, (int32_t)day)) {
        return false;
    }
    int64_t us = 0;
    Str fraction = {at + WRITTEN_TIME_SIZE, text.size - WRITTEN_TIME_SIZE - 1};
    if (fraction.size > 0 && !parse_written_fraction(fraction, &us)) {
        return false;
    }
    int64_t days = date_from_civil((int32_t)year, (int32_t)month, (int32_t)day);
    *ret_us = (days * 86400 + (int64_t)(hour * 3600 + minute * 60 + second)) * 1000000 + us;
    return true;
}

bool timestamp_parse_iso(Str text, const TimeZone *zone, int64_t *ret_us)
{
    LocalTime time = {0};
    if (LIKELY(parse_written_utc(text, ret_us))) {
        return true;
    }
    return parse_iso(text, &time) && to_instant(&time, zone, ret_us);
}

bool timestamp_ntz_parse_iso(Str text, int64_t *ret_us)
{
    LocalTime time = {0};
    int128 local;
    return parse_iso(text, &time) && time.zone.data == NULL && to_local_us(&time, &local) &&
           narrow(local, ret_us);
}
