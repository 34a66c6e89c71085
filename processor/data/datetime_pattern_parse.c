/* A date and time read in a pattern, as strictly as java.time does: part after part takes its piece
 * of the text, then the fields must make one date and one time. */
#include "processor/data/datetime_pattern_parts.h"

#include <string.h>

#include "processor/data/number_text.h"
#include "processor/data/time_zone_name.h"

#include "processor/base/banned.h"

static const int64_t us_per_day = INT64_C(86400000000);

/* Fields found so far, and the zone. */
typedef struct Found {
    int64_t values[PATTERN_FIELD_COUNT];
    uint32_t has; /* 1 << PatternField */
    bool has_zone;
    TimeZoneRef zone;
} Found;

typedef struct Reader {
    Str text;
    size_t at;
    Found found;
} Reader;

static bool has(const Found *found, PatternField field)
{
    return (found->has >> field & 1) != 0;
}

/* A field that occurs twice must have one value. */
static bool set_field(Reader *reader, PatternField field, int64_t value)
{
    Found *found = &reader->found;
    if (has(found, field) && found->values[field] != value) {
        return false;
    }
    found->values[field] = value;
    found->has |= 1U << field;
    return true;
}

/* ---- Numbers ---- */

/* min … max digits from `at` on; the value of the longest run is cut to what int64 holds. */
static size_t digits_at(const Reader *reader, size_t at, size_t max, int64_t *ret_value)
{
    size_t count = 0;
    int64_t value = 0;
    while (count < max && at + count < reader->text.size &&
           char_is_digit(reader->text.data[at + count])) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, reader->text.data[at + count] - '0', &value)) {
            value = INT64_MAX;
        }
        count++;
    }
    *ret_value = value;
    return count;
}

/* The sign, when the part may have one. */
static bool take_sign(Reader *reader, const PatternPart *part, char *ret_sign)
{
    *ret_sign = '\0';
    if (reader->at == reader->text.size) {
        return true;
    }
    char c = reader->text.data[reader->at];
    if (c == '-' || c == '+') {
        if (part->sign == PATTERN_SIGN_NONE || (c == '+' && part->sign != PATTERN_SIGN_PADDED)) {
            return false;
        }
        *ret_sign = c;
        reader->at++;
    }
    return true;
}

static bool take_number(Reader *reader, const PatternPart *part)
{
    char sign = '\0';
    if (!take_sign(reader, part, &sign)) {
        return false;
    }
    size_t min = (size_t)part->width_min;
    size_t max = (size_t)part->width_max;
    size_t reserved = (size_t)part->reserved;
    int64_t value = 0;
    size_t count = digits_at(reader, reader->at, max + reserved, &value);
    if (reserved > 0) {
        size_t kept = count > reserved ? count - reserved : 0;
        max = kept < min ? min : kept;
        count = digits_at(reader, reader->at, max, &value);
    }
    if (count < min || (sign == '-' && value == 0)) {
        return false;
    }
    if (part->sign == PATTERN_SIGN_PADDED && sign != '-' &&
        (sign == '+') != (count > (size_t)part->width_min)) {
        return false;
    }
    reader->at += count;
    return set_field(reader, part->field, sign == '-' ? -value : value);
}

static bool take_two_digit_year(Reader *reader, const PatternPart *part)
{
    int64_t value = 0;
    if (digits_at(reader, reader->at, 2, &value) != 2) {
        return false;
    }
    reader->at += 2;
    return set_field(reader, part->field, 2000 + value);
}

static bool take_fraction(Reader *reader, const PatternPart *part)
{
    int64_t value = 0;
    size_t count = digits_at(reader, reader->at, (size_t)part->width_max, &value);
    if (count < (size_t)part->width_min) {
        return false;
    }
    reader->at += count;
    for (size_t i = count; i < 9; i++) {
        value *= 10;
    }
    return set_field(reader, PATTERN_NANOSECOND, value);
}

/* ---- Texts ---- */

static bool matches(const Reader *reader, Str wanted)
{
    return reader->text.size - reader->at >= wanted.size &&
           str_equal_ignore_case((Str){reader->text.data + reader->at, wanted.size}, wanted);
}

static bool take_literal(Reader *reader, Str literal)
{
    if (!matches(reader, literal)) {
        return false;
    }
    reader->at += literal.size;
    return true;
}

static bool take_text(Reader *reader, const PatternPart *part)
{
    static const int64_t last[PATTERN_FIELD_COUNT] = {
        [PATTERN_ERA] = 1, [PATTERN_MONTH] = 12, [PATTERN_HALF] = 1};
    char name[PATTERN_TEXT_MAX];
    int64_t first = part->field == PATTERN_MONTH ? 1 : 0;
    for (int64_t value = first; value <= last[part->field]; value++) {
        Str text = str_from(pattern_text(part->field, part->full, value, name));
        if (take_literal(reader, text)) {
            return set_field(reader, part->field, value);
        }
    }
    return false;
}

/* ---- Zones ---- */

static bool set_zone(Reader *reader, TimeZoneRef zone)
{
    reader->found.zone = zone;
    reader->found.has_zone = true;
    return true;
}

static bool set_offset(Reader *reader, int64_t seconds)
{
    return set_zone(reader, (TimeZoneRef){NULL, (int32_t)seconds});
}

/* Two digits, or `min` to two. */
static bool take_pair(Reader *reader, size_t min, int64_t *ret_value)
{
    size_t count = digits_at(reader, reader->at, 2, ret_value);
    reader->at += count;
    return count >= min;
}

static bool skip_colon(Reader *reader)
{
    if (reader->at < reader->text.size && reader->text.data[reader->at] == ':') {
        reader->at++;
        return true;
    }
    return false;
}

/* Minutes, or seconds, of an offset: [:]dd. Missing ones are 0 where they may be missing. */
static bool take_offset_pair(Reader *reader, bool colon, bool needed, int64_t *ret_value)
{
    Reader before = *reader;
    *ret_value = 0;
    if ((!colon || skip_colon(reader)) && take_pair(reader, 2, ret_value)) {
        return *ret_value <= 59;
    }
    *reader = before;
    *ret_value = 0;
    return !needed;
}

static bool take_offset(Reader *reader, const PatternPart *part)
{
    char sign = reader->at < reader->text.size ? reader->text.data[reader->at] : '\0';
    if (sign != '+' && sign != '-') {
        return take_literal(reader, part->literal) && set_offset(reader, 0);
    }
    bool colons = part->offset == OFFSET_HH_MM || part->offset == OFFSET_HH_MM_SS;
    bool minutes_needed = part->offset != OFFSET_HH_OPTIONAL_MM;
    bool has_seconds = part->offset >= OFFSET_HHMMSS;
    int64_t hours = 0;
    int64_t minutes = 0;
    int64_t seconds = 0;
    reader->at++;
    if (!take_pair(reader, 2, &hours) ||
        !take_offset_pair(reader, colons, minutes_needed, &minutes) ||
        (has_seconds && !take_offset_pair(reader, colons, false, &seconds))) {
        return false;
    }
    int64_t total = hours * 3600 + minutes * 60 + seconds;
    return total <= 18 * 3600 && set_offset(reader, sign == '-' ? -total : total);
}

/* GMT[±h[h][:mm[:ss]]] */
static bool take_gmt_offset(Reader *reader, const PatternPart *part)
{
    if (!take_literal(reader, STR("GMT"))) {
        return false;
    }
    char sign = reader->at < reader->text.size ? reader->text.data[reader->at] : '\0';
    if (sign != '+' && sign != '-') {
        return set_offset(reader, 0);
    }
    int64_t hours = 0;
    int64_t minutes = 0;
    int64_t seconds = 0;
    reader->at++;
    if (!take_pair(reader, part->full ? 2 : 1, &hours) ||
        !take_offset_pair(reader, true, part->full, &minutes) ||
        !take_offset_pair(reader, true, false, &seconds)) {
        return false;
    }
    int64_t total = hours * 3600 + minutes * 60 + seconds;
    return total <= 18 * 3600 && set_offset(reader, sign == '-' ? -total : total);
}

static bool is_zone_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || char_is_digit(c) ||
           (c != '\0' && strchr("~/._+-:", c) != NULL);
}

/* The longest piece of the text that names a zone. */
static bool take_zone(Reader *reader)
{
    Str rest = {reader->text.data + reader->at, reader->text.size - reader->at};
    size_t size = 0;
    while (size < rest.size && size < TIME_ZONE_NAME_MAX && is_zone_char(rest.data[size])) {
        size++;
    }
    for (; size > 0; size--) {
        TimeZoneRef zone;
        if (time_zone_find((Str){rest.data, size}, &zone)) {
            reader->at += size;
            return set_zone(reader, zone);
        }
    }
    return false;
}

/* ---- Parts ---- */

static bool take_part(Reader *reader, const PatternPart *part)
{
    switch (part->kind) {
    case PATTERN_NUMBER:
        return take_number(reader, part);
    case PATTERN_TWO_DIGIT_YEAR:
        return take_two_digit_year(reader, part);
    case PATTERN_FRACTION:
        return take_fraction(reader, part);
    case PATTERN_TEXT:
        return take_text(reader, part);
    case PATTERN_LITERAL:
        return take_literal(reader, part->literal);
    case PATTERN_ZONE_ID:
    case PATTERN_ZONE_NAME:
        return take_zone(reader);
    case PATTERN_OFFSET:
        return take_offset(reader, part);
    case PATTERN_GMT_OFFSET:
        return take_gmt_offset(reader, part);
    case PATTERN_OPTIONAL:
        return true;
    }
    return false;
}

/* Recursion is as deep as optional sections nest, which the compiler bounds. */
static bool take_parts(Reader *reader, const PatternPart *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].kind != PATTERN_OPTIONAL) {
            if (!take_part(reader, &parts[i])) {
                return false;
            }
            continue;
        }
        Reader before = *reader;
        if (!take_parts(reader, &parts[i + 1], parts[i].inner)) {
            *reader = before;
        }
        i += parts[i].inner;
    }
    return true;
}

/* ---- Fields to a date and a time ---- */

static bool in_range(const Found *found, PatternField field, int64_t min, int64_t max)
{
    return !has(found, field) || (found->values[field] >= min && found->values[field] <= max);
}

static bool times_in_range(const Found *found)
{
    return in_range(found, PATTERN_HOUR, 0, 23) && in_range(found, PATTERN_CLOCK_HOUR, 1, 24) &&
           in_range(found, PATTERN_HALF_HOUR, 0, 11) &&
           in_range(found, PATTERN_CLOCK_HALF_HOUR, 1, 12) &&
           in_range(found, PATTERN_MINUTE, 0, 59) && in_range(found, PATTERN_SECOND, 0, 59);
}

static int64_t value_or(const Found *found, PatternField field, int64_t otherwise)
{
    return has(found, field) ? found->values[field] : otherwise;
}

/* The hour by whichever fields there are; they must not contradict each other. */
static bool resolve_hour(const Found *found, int64_t *ret_hour)
{
    int64_t half = value_or(found, PATTERN_HALF, 0);
    int64_t half_hour = -1;
    if (has(found, PATTERN_CLOCK_HALF_HOUR)) {
        half_hour = found->values[PATTERN_CLOCK_HALF_HOUR] % 12;
    }
    if (has(found, PATTERN_HALF_HOUR)) {
        if (half_hour >= 0 && half_hour != found->values[PATTERN_HALF_HOUR]) {
            return false;
        }
        half_hour = found->values[PATTERN_HALF_HOUR];
    }
    int64_t hour = -1;
    if (has(found, PATTERN_CLOCK_HOUR)) {
        hour = found->values[PATTERN_CLOCK_HOUR] % 24;
    }
    if (has(found, PATTERN_HOUR)) {
        if (hour >= 0 && hour != found->values[PATTERN_HOUR]) {
            return false;
        }
        hour = found->values[PATTERN_HOUR];
    }
    if (hour >= 0) {
        *ret_hour = hour;
        return (half_hour < 0 || half_hour == hour % 12) &&
               (!has(found, PATTERN_HALF) || half == hour / 12);
    }
    *ret_hour = half * 12 + (half_hour < 0 ? 0 : half_hour);
    return true;
}

static bool resolve_time(const Found *found, int64_t *ret_us)
{
    int64_t hour = 0;
    if (!times_in_range(found) || !resolve_hour(found, &hour)) {
        return false;
    }
    int64_t second =
        hour * 3600 + value_or(found, PATTERN_MINUTE, 0) * 60 + value_or(found, PATTERN_SECOND, 0);
    *ret_us = second * 1000000 + value_or(found, PATTERN_NANOSECOND, 0) / 1000;
    return true;
}

static bool resolve_year(const Found *found, int64_t *ret_year)
{
    *ret_year = value_or(found, PATTERN_YEAR, 1970);
    if (has(found, PATTERN_YEAR_OF_ERA)) {
        int64_t year = found->values[PATTERN_YEAR_OF_ERA];
        if (year < 1) {
            return false;
        }
        *ret_year = value_or(found, PATTERN_ERA, 1) == 1 ? year : 1 - year;
    }
    /* Beyond, no day is a 32-bit number. */
    return *ret_year > -5877640 && *ret_year < 5881579;
}

/* The day of the year; a month and a day beside it must say the same. */
static bool resolve_day_of_year(const Found *found, int32_t year, int64_t *ret_days)
{
    int64_t day_of_year = found->values[PATTERN_DAY_OF_YEAR];
    int32_t length = date_is_valid(year, 2, 29) ? 366 : 365;
    *ret_days = date_from_civil(year, 1, 1) + day_of_year - 1;
    if (day_of_year > length) {
        return false;
    }
    CivilDate date = date_to_civil((int32_t)*ret_days);
    return value_or(found, PATTERN_MONTH, date.month) == date.month &&
           value_or(found, PATTERN_DAY, date.day) == date.day;
}

static bool resolve_date(const Found *found, int64_t *ret_days)
{
    int64_t year = 0;
    if (has(found, PATTERN_JULIAN_DAY)) {
        *ret_days = found->values[PATTERN_JULIAN_DAY] - 40587;
        return *ret_days >= INT32_MIN && *ret_days <= INT32_MAX;
    }
    if (!resolve_year(found, &year) || !in_range(found, PATTERN_MONTH, 1, 12) ||
        !in_range(found, PATTERN_DAY, 1, 31) || !in_range(found, PATTERN_DAY_OF_YEAR, 1, 366)) {
        return false;
    }
    if (has(found, PATTERN_DAY_OF_YEAR)) {
        return resolve_day_of_year(found, (int32_t)year, ret_days);
    }
    int32_t month = (int32_t)value_or(found, PATTERN_MONTH, 1);
    int32_t day = (int32_t)value_or(found, PATTERN_DAY, 1);
    if (!date_is_valid((int32_t)year, month, day)) {
        return false;
    }
    *ret_days = date_from_civil((int32_t)year, month, day);
    return true;
}

bool date_pattern_parse(const DatePattern *pattern, Str text, const TimeZone *zone, bool local,
                        int64_t *ret_us)
{
    Reader reader = {.text = text};
    int64_t days = 0;
    int64_t within = 0;
    int64_t us = 0;
    if (!take_parts(&reader, pattern->parts, pattern->count) || reader.at < text.size ||
        !resolve_date(&reader.found, &days) || !resolve_time(&reader.found, &within) ||
        __builtin_mul_overflow(days, us_per_day, &us) || __builtin_add_overflow(us, within, &us)) {
        return false;
    }
    TimeZoneRef used = {zone, 0};
    if (reader.found.has_zone) {
        used = reader.found.zone;
    }
    int64_t offset = local ? 0 : time_zone_ref_local_offset_us(&used, us);
    return !__builtin_sub_overflow(us, offset, ret_us);
}
