/* A date and time printed in a pattern. */
#include "processor/data/datetime_pattern_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "processor/base/banned.h"

const char *const pattern_months[12] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
const char *const pattern_weekdays[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                         "Friday", "Saturday", "Sunday"};

enum { SHORT_NAME = 3, JULIAN_DAY_OF_EPOCH = 40587 };

static const int64_t us_per_day = INT64_C(86400000000);

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient - (a % b < 0);
}

/* ---- Texts ---- */

static const char *name_of(const char *name, bool full, char *buffer)
{
    if (full) {
        return name;
    }
    memcpy(buffer, name, SHORT_NAME);
    buffer[SHORT_NAME] = '\0';
    return buffer;
}

const char *pattern_text(PatternField field, bool full, int64_t value, char *ret_buffer)
{
    static const char *const quarters[] = {"1st quarter", "2nd quarter", "3rd quarter",
                                           "4th quarter"};
    switch (field) {
    case PATTERN_ERA:
        return value == 1 ? (full ? "Anno Domini" : "AD") : (full ? "Before Christ" : "BC");
    case PATTERN_QUARTER:
        if (full) {
            return quarters[value - 1];
        }
        (void)snprintf(ret_buffer, PATTERN_TEXT_MAX, "Q%d", (int)value);
        return ret_buffer;
    case PATTERN_MONTH:
        return name_of(pattern_months[value - 1], full, ret_buffer);
    case PATTERN_WEEKDAY:
        return name_of(pattern_weekdays[value - 1], full, ret_buffer);
    case PATTERN_HALF:
        return value == 1 ? "PM" : "AM";
    default:
        return NULL;
    }
}

/* ---- Fields ---- */

typedef struct Printed {
    int64_t local_us;
    int64_t offset_us;
    const TimeZone *zone;
    int32_t days;
    CivilDate date;
    int64_t us_of_day;
} Printed;

static int64_t weekday_of(int32_t days)
{
    return (((int64_t)days + 3) % 7 + 7) % 7 + 1;
}

static int64_t field_value(const Printed *printed, PatternField field)
{
    int64_t second = printed->us_of_day / 1000000;
    int64_t hour = second / 3600;
    int32_t year = printed->date.year;
    switch (field) {
    case PATTERN_ERA:
        return year > 0;
    case PATTERN_YEAR:
        return year;
    case PATTERN_YEAR_OF_ERA:
        return year > 0 ? year : 1 - (int64_t)year;
    case PATTERN_QUARTER:
        return (printed->date.month - 1) / 3 + 1;
    case PATTERN_MONTH:
        return printed->date.month;
    case PATTERN_DAY:
        return printed->date.day;
    case PATTERN_DAY_OF_YEAR:
        return printed->days - date_from_civil(year, 1, 1) + 1;
    case PATTERN_ALIGNED_DAY:
        return (printed->date.day - 1) % 7 + 1;
    case PATTERN_WEEKDAY:
        return weekday_of(printed->days);
    case PATTERN_JULIAN_DAY:
        return (int64_t)printed->days + JULIAN_DAY_OF_EPOCH;
    case PATTERN_HALF:
        return hour / 12;
    case PATTERN_HOUR:
        return hour;
    case PATTERN_CLOCK_HOUR:
        return hour == 0 ? 24 : hour;
    case PATTERN_HALF_HOUR:
        return hour % 12;
    case PATTERN_CLOCK_HALF_HOUR:
        return hour % 12 == 0 ? 12 : hour % 12;
    case PATTERN_MINUTE:
        return second / 60 % 60;
    case PATTERN_SECOND:
        return second % 60;
    case PATTERN_NANOSECOND:
    case PATTERN_FIELD_COUNT:
        break;
    }
    return printed->us_of_day % 1000000 * 1000;
}

/* ---- Parts ---- */

static void put_number(const PatternPart *part, int64_t value, Buffer *out)
{
    char digits[32];
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int width = snprintf(digits, sizeof digits, "%llu", (unsigned long long)size);
    if (value < 0) {
        buffer_append_byte(out, '-');
    } else if (part->sign == PATTERN_SIGN_PADDED && width > part->width_min) {
        buffer_append_byte(out, '+');
    }
    for (int i = width; i < part->width_min; i++) {
        buffer_append_byte(out, '0');
    }
    buffer_append_cstr(out, digits);
}

static void put_offset(int form, Str none, int64_t offset_us, Buffer *out)
{
    int64_t seconds = offset_us / 1000000;
    int64_t size = seconds < 0 ? -seconds : seconds;
    int hours = (int)(size / 3600);
    int minutes = (int)(size / 60 % 60);
    int rest = (int)(size % 60);
    bool colons = form == OFFSET_HH_MM || form == OFFSET_HH_MM_SS;
    if (seconds == 0 || (form <= OFFSET_HH_MM && hours == 0 && minutes == 0)) {
        buffer_append_str(out, none);
        return;
    }
    buffer_printf(out, "%c%02d", seconds < 0 ? '-' : '+', hours);
    if (form != OFFSET_HH_OPTIONAL_MM || minutes > 0) {
        buffer_printf(out, "%s%02d", colons ? ":" : "", minutes);
    }
    if (form >= OFFSET_HHMMSS && rest > 0) {
        buffer_printf(out, "%s%02d", colons ? ":" : "", rest);
    }
}

/* GMT+1, GMT+01:30; in full always with minutes. */
static void put_gmt_offset(bool full, int64_t offset_us, Buffer *out)
{
    int64_t seconds = offset_us / 1000000;
    int64_t size = seconds < 0 ? -seconds : seconds;
    int minutes = (int)(size / 60 % 60);
    int rest = (int)(size % 60);
    buffer_append_cstr(out, "GMT");
    if (seconds == 0) {
        return;
    }
    buffer_printf(out, full ? "%c%02d" : "%c%d", seconds < 0 ? '-' : '+', (int)(size / 3600));
    if (full || minutes > 0 || rest > 0) {
        buffer_printf(out, ":%02d", minutes);
    }
    if (rest > 0) {
        buffer_printf(out, ":%02d", rest);
    }
}

static void put_fraction(const PatternPart *part, int64_t nanoseconds, Buffer *out)
{
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%09d", (int)nanoseconds);
    buffer_append_str(out, (Str){digits, (size_t)part->width_max});
}

static void put_part(const PatternPart *part, const Printed *printed, Buffer *out)
{
    char name[PATTERN_TEXT_MAX];
    int64_t value = 0;
    switch (part->kind) {
    case PATTERN_NUMBER:
        put_number(part, field_value(printed, part->field), out);
        return;
    case PATTERN_TWO_DIGIT_YEAR:
        value = field_value(printed, part->field);
        put_number(part, (value < 0 ? -value : value) % 100, out);
        return;
    case PATTERN_FRACTION:
        put_fraction(part, field_value(printed, PATTERN_NANOSECOND), out);
        return;
    case PATTERN_TEXT:
        buffer_append_cstr(
            out, pattern_text(part->field, part->full, field_value(printed, part->field), name));
        return;
    case PATTERN_LITERAL:
        buffer_append_str(out, part->literal);
        return;
    case PATTERN_ZONE_ID:
        buffer_append_str(out, time_zone_id(printed->zone));
        return;
    case PATTERN_ZONE_NAME:
        time_zone_put_display_name(printed->zone, printed->local_us - printed->offset_us,
                                   part->full, out);
        return;
    case PATTERN_OFFSET:
        put_offset(part->offset, part->literal, printed->offset_us, out);
        return;
    case PATTERN_GMT_OFFSET:
        put_gmt_offset(part->full, printed->offset_us, out);
        return;
    case PATTERN_OPTIONAL: /* its parts follow */
        return;
    }
}

void date_pattern_format(const DatePattern *pattern, int64_t instant_us, const TimeZone *zone,
                         Buffer *out)
{
    int64_t offset = time_zone_offset_us(zone, instant_us);
    Printed printed = {.local_us = (int64_t)((uint64_t)instant_us + (uint64_t)offset),
                       .offset_us = offset,
                       .zone = zone};
    printed.days = (int32_t)floor_divide(printed.local_us, us_per_day);
    printed.date = date_to_civil(printed.days);
    printed.us_of_day = printed.local_us - printed.days * us_per_day;
    for (size_t i = 0; i < pattern->count; i++) {
        put_part(&pattern->parts[i], &printed, out);
    }
}
