/* Dates and times: proleptic Gregorian calendar, years 1 to 9999 in text; DATE is days, TIMESTAMP
 * microseconds since 1970 UTC. Text forms as Spark 4's CAST reads and prints them. */
#ifndef DATA_DATETIME_H
#define DATA_DATETIME_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

typedef struct CivilDate {
    int32_t year;
    int32_t month; /* 1 … 12 */
    int32_t day;   /* 1 … 31 */
} CivilDate;

int32_t date_from_civil(int32_t year, int32_t month, int32_t day); /* a valid date */
CivilDate date_to_civil(int32_t days);
bool date_is_valid(int32_t year, int32_t month, int32_t day);
int32_t date_days_in_month(int32_t year, int32_t month);
/* Adds months; a day beyond the target month's end becomes its last day. */
int32_t date_add_months(int32_t days, int32_t months);

/* A time zone: "UTC", "Europe/Oslo", "+02:00", … Zone data of ICU. Shared and immutable; any
 * thread. */
typedef struct TimeZone TimeZone;

/* INVALID_TIME_ZONE with the nearest known name as hint. Free with time_zone_free. */
NODISCARD Error *time_zone_open(Str name, TimeZone **ret_zone);
void time_zone_free(TimeZone *zone);
const TimeZone *time_zone_utc(void);
/* The name a zone was opened with ("PST", "GMT+2"), and its id as java.time prints it
 * ("America/Los_Angeles", "GMT+02:00"). */
Str time_zone_name(const TimeZone *zone);
Str time_zone_id(const TimeZone *zone);
/* "CET", "Central European Standard Time": what the zone calls itself at that instant, as ICU has
 * it in English; a fixed offset by its id. */
void time_zone_put_display_name(const TimeZone *zone, int64_t instant_us, bool full, Buffer *out);
/* Offset from UTC in microseconds in force at that instant. */
int64_t time_zone_offset_us(const TimeZone *zone, int64_t instant_us);
/* The instant of a local time; a local time in a gap moves forward by the gap, one that happens
 * twice is the earlier (as java.time and Spark). */
int64_t time_zone_to_instant_us(const TimeZone *zone, int64_t local_us);
/* The beginning of the day in the zone, as CAST(date AS TIMESTAMP); zone NULL: the local time, as
 * TIMESTAMP_NTZ. The least or largest instant for what lies beyond. */
int64_t date_to_timestamp_us(int32_t days, const TimeZone *zone);

/* Spark's CAST(text AS DATE): [+-]yyyy[-m[-d]] with optional trailing T… or blank …; white space at
 * both ends is skipped. False when it is no date. */
bool date_parse(Str text, int32_t *ret_days);
/* Spark's CAST(text AS TIMESTAMP): date, [T or blank] time with 0 … 9 fraction digits (cut to
 * microseconds toward the past), optional zone (Z, ±hh:mm, region id); without zone: `zone`.
 * A time alone is refused (Spark takes today's date). */
bool timestamp_parse(Str text, const TimeZone *zone, int64_t *ret_us);
/* The same for TIMESTAMP_NTZ: a zone in the text is refused when allow_zone is false, else ignored.
 */
bool timestamp_ntz_parse(Str text, bool allow_zone, int64_t *ret_us);
/* The strict forms JSON brings (decisions "Records in"): DATE exactly YYYY-MM-DD; timestamps ISO
 * 8601 with T or blank, full date and at least hh:mm, optional fraction and zone. */
bool date_parse_iso(Str text, int32_t *ret_days);
bool timestamp_parse_iso(Str text, const TimeZone *zone, int64_t *ret_us);
bool timestamp_ntz_parse_iso(Str text, int64_t *ret_us);

void date_format(int32_t days, Buffer *out); /* 2026-03-01 */
void timestamp_format_iso(int64_t us, bool utc_suffix,
                          Buffer *out); /* 2026-03-01T00:00:00.000000Z */
/* The same to memory with room for DATETIME_TEXT_MAX bytes; they return the end of the text. */
enum { DATETIME_TEXT_MAX = 48 };
char *date_put(char *to, int32_t days);
char *timestamp_put_iso(char *to, int64_t us, bool utc_suffix);
/* Spark's CAST(ts AS STRING): 2026-03-01 00:00:00[.fraction without trailing zeros] in the zone. */
void timestamp_format_sql(int64_t us, const TimeZone *zone, Buffer *out);

DEFINE_AUTO(time_zone, TimeZone, time_zone_free)

#endif
