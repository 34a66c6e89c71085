/* Time zones as values: to_utc_timestamp, from_utc_timestamp, convert_timezone, make_timestamp. The
 * zone that was looked up last is kept, since it rarely changes from row to row. */
#include <string.h>

#include "processor/data/time_zone_name.h"
#include "processor/exec/kernels/cast.h"

#include "processor/base/banned.h"

/* ---- Zones by name ---- */

typedef struct KnownZone {
    char name[TIME_ZONE_NAME_MAX];
    size_t size;
    bool known;
    TimeZoneRef ref;
} KnownZone;

enum { ZONES_MAX = 2 };

typedef struct ZoneState {
    KnownZone zones[ZONES_MAX]; /* by argument */
} ZoneState;

static void prepare_zones(KernelSetup *setup)
{
    /* Kernels may change what the holder points to, not the state itself. */
    ZoneState **holder = arena_new_object(setup->arena, ZoneState *);
    *holder = arena_new_object(setup->arena, ZoneState);
    setup->state = holder;
}

/* INVALID_TIMEZONE is an error even for try_ functions. */
static void fail_zone(const KernelCall *call, uint32_t row, Str name)
{
    TimeZone *zone = NULL;
    Error *error = time_zone_open(name, &zone);
    time_zone_free(zone);
    Failures strict = *call->failures;
    strict.tolerant = false;
    KernelCall own = *call;
    own.failures = &strict;
    kernel_fail(&own, row, error);
}

/* The zone of that name, looked up in slot `slot`. False: the row failed. */
static bool zone_find(const KernelCall *call, uint32_t row, size_t slot, Str name, TimeZoneRef *ret)
{
    ZoneState *const *holder = call->state;
    KnownZone *known = &(*holder)->zones[slot];
    if (!known->known || known->size != name.size ||
        memcmp(known->name, name.data, name.size) != 0) {
        known->known = time_zone_find(name, &known->ref);
        if (!known->known) {
            fail_zone(call, row, name);
            return false;
        }
        memcpy(known->name, name.data, name.size);
        known->size = name.size;
    }
    *ret = known->ref;
    return true;
}

static int64_t offset_at(const TimeZoneRef *zone, int64_t us)
{
    return zone->region != NULL ? time_zone_offset_us(zone->region, us)
                                : zone->offset_seconds * SECOND_US;
}

static int64_t to_local(const TimeZoneRef *zone, int64_t us)
{
    return (int64_t)((uint64_t)us + (uint64_t)offset_at(zone, us));
}

static int64_t to_instant(const TimeZoneRef *zone, int64_t local)
{
    return (int64_t)((uint64_t)local - (uint64_t)time_zone_ref_local_offset_us(zone, local));
}

/* ---- Conversions ---- */

static void from_utc(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        TimeZoneRef zone;
        if (zone_find(call, i, 0, ARGUMENT(call, 1, Str)[i], &zone)) {
            RESULT(call, int64_t)[i] = to_local(&zone, ARGUMENT(call, 0, int64_t)[i]);
        }
    }
}

static void to_utc(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        TimeZoneRef zone;
        if (zone_find(call, i, 0, ARGUMENT(call, 1, Str)[i], &zone)) {
            RESULT(call, int64_t)[i] = to_instant(&zone, ARGUMENT(call, 0, int64_t)[i]);
        }
    }
}

/* convert_timezone([from,] to, local time): from the session zone where none is given. */
static void convert(const KernelCall *call)
{
    size_t to_at = call->argument_count - 2;
    FOR_VALID_ROWS(call, i)
    {
        TimeZoneRef from = {.region = call->context->time_zone};
        TimeZoneRef to;
        if ((to_at == 1 && !zone_find(call, i, 0, ARGUMENT(call, 0, Str)[i], &from)) ||
            !zone_find(call, i, 1, ARGUMENT(call, to_at, Str)[i], &to)) {
            continue;
        }
        int64_t us = to_instant(&from, ARGUMENT(call, to_at + 1, int64_t)[i]);
        RESULT(call, int64_t)[i] = to_local(&to, us);
    }
}

#define CHOOSE(name)                                                                               \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        prepare_zones(setup);                                                                      \
        return name;                                                                               \
    }

CHOOSE(from_utc)
CHOOSE(to_utc)
CHOOSE(convert)

const Kernel kernel_from_utc_timestamp = {.choose = choose_from_utc};
const Kernel kernel_to_utc_timestamp = {.choose = choose_to_utc};
const Kernel kernel_convert_timezone = {.choose = choose_convert};

static void current_timezone(const KernelCall *call)
{
    Str *r = RESULT(call, Str);
    Str name = time_zone_name(call->context->time_zone);
    FOR_ROWS(call->rows, i, { r[i] = name; });
}

const Kernel kernel_current_timezone = {.run = current_timezone};

/* ---- make_timestamp ---- */

static Error *out_of_bounds(const char *field, const char *range, long long value)
{
    return error_new(ERROR_DATETIME_FIELD_OUT_OF_BOUNDS,
                     "Invalid value for %s (valid values %s): "
                     "%lld.",
                     field, range, value);
}

typedef struct TimeParts {
    int32_t year;
    int32_t month;
    int32_t day;
    int32_t hour;
    int32_t minute;
    int64_t us; /* of the minute */
} TimeParts;

/* NULL when they are those of a local time. The 60th second is the next minute's first. */
static Error *check_parts(const TimeParts *parts)
{
    int64_t second = floor_div(parts->us, SECOND_US);
    if (second == 60 && parts->us % SECOND_US != 0) {
        return error_new(ERROR_INVALID_FRACTION_OF_SECOND,
                         "Valid range for seconds is [0, 60] (inclusive), but the provided value "
                         "is %lld.%06lld. To avoid this error, use `try_make_timestamp`, which "
                         "returns NULL on error.",
                         (long long)second, (long long)(parts->us % SECOND_US));
    }
    if (!civil_is_in_range(parts->year, parts->month, parts->day)) {
        return invalid_civil_date(parts->year, parts->month, parts->day);
    }
    if (parts->hour < 0 || parts->hour > 23) {
        return out_of_bounds("HourOfDay", "0 - 23", parts->hour);
    }
    if (parts->minute < 0 || parts->minute > 59) {
        return out_of_bounds("MinuteOfHour", "0 - 59", parts->minute);
    }
    return second < 0 || second > 60 ? out_of_bounds("SecondOfMinute", "0 - 59", second) : NULL;
}

static bool local_of(const TimeParts *parts, int64_t *ret_us)
{
    int64_t days = date_from_civil(parts->year, parts->month, parts->day);
    int64_t within = (parts->hour * 60 + parts->minute) * 60 * SECOND_US + parts->us;
    return !__builtin_mul_overflow(days, DAY_US, ret_us) &&
           !__builtin_add_overflow(*ret_us, within, ret_us);
}

static void make_timestamp(const KernelCall *call)
{
    bool local_result = call->result->type->kind == TYPE_TIMESTAMP_NTZ;
    FOR_VALID_ROWS(call, i)
    {
        TimeParts parts = {.year = ARGUMENT(call, 0, int32_t)[i],
                           .month = ARGUMENT(call, 1, int32_t)[i],
                           .day = ARGUMENT(call, 2, int32_t)[i],
                           .hour = ARGUMENT(call, 3, int32_t)[i],
                           .minute = ARGUMENT(call, 4, int32_t)[i],
                           .us = (int64_t)ARGUMENT(call, 5, int128)[i]};
        TimeZoneRef zone = {.region = call->context->time_zone};
        if (call->argument_count > 6 && !zone_find(call, i, 0, ARGUMENT(call, 6, Str)[i], &zone)) {
            continue;
        }
        Error *error = check_parts(&parts);
        int64_t local = 0;
        if (error == NULL && !local_of(&parts, &local)) {
            error = error_new(ERROR_DATETIME_OVERFLOW,
                              "Datetime operation overflow: make a TIMESTAMP.");
        }
        if (error != NULL) {
            kernel_fail(call, i, error);
        } else {
            RESULT(call, int64_t)[i] = local_result ? local : to_instant(&zone, local);
        }
    }
}

CHOOSE(make_timestamp)

const Kernel kernel_make_timestamp = {.choose = choose_make_timestamp};
const Kernel kernel_try_make_timestamp = {.choose = choose_make_timestamp, .tolerant = true};
