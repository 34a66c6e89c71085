/* Names of time zones, for this room: taking them apart without a heap object, so that a zone
 * inside a timestamp's text costs a look-up only. */
#ifndef DATA_TIME_ZONE_NAME_H
#define DATA_TIME_ZONE_NAME_H

#include "processor/data/datetime.h"

enum { TIME_ZONE_NAME_MAX = 64 };

typedef enum TimeZoneNameKind {
    TIME_ZONE_NAME_INVALID,
    TIME_ZONE_NAME_OFFSET, /* a fixed offset: Z, UTC, +02:00, GMT+2 */
    TIME_ZONE_NAME_REGION, /* looks like a region id; whether there is one, the zone data say */
} TimeZoneNameKind;

/* Takes a name apart as Spark does (java.time.ZoneId.of with the short ids, after repairing +h:mm
 * and +hh:m). A region's id is a view of `name` or of `ret_region` (TIME_ZONE_NAME_MAX bytes). */
TimeZoneNameKind time_zone_name_parse(Str name, char *ret_region, int32_t *ret_offset_seconds,
                                      Str *ret_id);

/* A zone that need not be freed. */
typedef struct TimeZoneRef {
    const TimeZone *region; /* NULL: a fixed offset */
    int32_t offset_seconds;
} TimeZoneRef;

/* False when there is no such zone. Thread: any. */
bool time_zone_find(Str name, TimeZoneRef *ret);
/* Offset from UTC in force at that local time. */
int64_t time_zone_ref_local_offset_us(const TimeZoneRef *ref, int64_t local_us);

#endif
