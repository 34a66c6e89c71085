/* Time zones: names as java.time.ZoneId and Spark take them, offsets as ICU's zone data has them.
 *
 * ICU is asked once for a zone, when it is first opened: all its transitions (instants at which the
 * offset changes) go into a sorted table, and every conversion is a search in it. The last rule of
 * a zone repeats for ever; since the Gregorian calendar repeats after 400 years with the same days
 * of the week, the table ends 400 years after the last irregular transition, and later instants are
 * looked up 400·n years earlier. ICU's own calendar (Julian before 1582) is never used.
 *
 * Around one transition at instant T from offset `before` to `after`, in local time:
 *
 *     clock goes forward (gap):      … T+before |  does not exist  | T+after …
 *     clock goes back (overlap):     … T+after  |  happens twice   | T+before …
 *
 * java.time takes `before` inside both: in a gap that moves the time forward by the gap's length,
 * in an overlap it is the earlier instant. So `after` holds from local time T + max(before, after)
 * on, and a second table of those local times makes the way back the same search.
 *
 * Zones with a table are made once and kept (a fixed set: the names ICU knows) in a registry behind
 * a mutex; the rest of the program sees them as constants. Fixed offsets are small objects. */
#include "processor/data/datetime.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <unicode/ucal.h>

#include "processor/base/map.h"
#include "processor/base/memory.h"
#include "processor/data/time_zone_name.h"

#include "processor/base/banned.h"

static const int64_t us_per_ms = INT64_C(1000);
static const int64_t us_per_second = INT64_C(1000000);
static const int64_t us_per_era = INT64_C(146097) * 86400 * 1000000; /* 400 years */
/* Every zone is on its last rule by 2100-01-01; the table goes 400 years further. */
static const int64_t regular_from_us = INT64_C(4102444800) * 1000000;

enum { TRANSITIONS_MAX = 4096 };

struct TimeZone {
    int64_t first_offset_us;       /* before the first transition; the only one of a fixed zone */
    size_t count;                  /* of transitions, 0: fixed */
    const int64_t *instants;       /* transition i happens at instants[i] … */
    const int64_t *locals;         /* … and its offset counts from this local time on … */
    const int64_t *offsets;        /* … and is offsets[i] */
    bool repeats;                  /* transitions go on after the table's end as 400 years before */
    bool shared;                   /* lives in the registry: time_zone_free leaves it alone */
    char name[TIME_ZONE_NAME_MAX]; /* as it was opened; empty: in the registry */
    char id[TIME_ZONE_NAME_MAX];   /* as java.time.ZoneId prints it; likewise */
};

static const TimeZone utc_zone = {.shared = true, .name = "UTC", .id = "UTC"};

const TimeZone *time_zone_utc(void)
{
    return &utc_zone;
}

/* ---- Conversions ---- */

/* How many of the sorted `times` are at or before `time`. */
static size_t count_until(const int64_t *times, size_t count, int64_t time)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        bool right = times[low + half] <= time;
        low = right ? low + half + 1 : low;
        count = right ? count - half - 1 : half;
    }
    return low;
}

/* Into the part the table covers. */
static int64_t fold(const TimeZone *zone, int64_t time_us)
{
    if (UNLIKELY(zone->repeats && time_us >= regular_from_us + us_per_era)) {
        time_us = regular_from_us + (time_us - regular_from_us) % us_per_era;
    }
    return time_us;
}

static int64_t search(const TimeZone *zone, const int64_t *times, int64_t time_us)
{
    size_t passed = count_until(times, zone->count, fold(zone, time_us));
    return passed == 0 ? zone->first_offset_us : zone->offsets[passed - 1];
}

int64_t time_zone_offset_us(const TimeZone *zone, int64_t instant_us)
{
    return zone->count == 0 ? zone->first_offset_us : search(zone, zone->instants, instant_us);
}

static int64_t local_offset_us(const TimeZone *zone, int64_t local_us)
{
    return zone->count == 0 ? zone->first_offset_us : search(zone, zone->locals, local_us);
}

int64_t time_zone_to_instant_us(const TimeZone *zone, int64_t local_us)
{
    int64_t offset = local_offset_us(zone, local_us);
    int64_t instant;
    if (__builtin_sub_overflow(local_us, offset, &instant)) {
        return offset > 0 ? INT64_MIN : INT64_MAX;
    }
    return instant;
}

int64_t date_to_timestamp_us(int32_t days, const TimeZone *zone)
{
    int64_t us = 0;
    if (__builtin_mul_overflow((int64_t)days, INT64_C(86400000000), &us)) {
        us = days < 0 ? INT64_MIN : INT64_MAX;
    }
    return zone == NULL ? us : time_zone_to_instant_us(zone, us);
}

/* ---- Reading ICU's rules ---- */

typedef struct TransitionList {
    int64_t *instants;
    int64_t *offsets;
    size_t count;
    size_t capacity;
} TransitionList;

static int64_t icu_offset_us(UCalendar *calendar, UDate instant_ms, UErrorCode *status)
{
    ucal_setMillis(calendar, instant_ms, status);
    int64_t offset_ms = ucal_get(calendar, UCAL_ZONE_OFFSET, status);
    offset_ms += ucal_get(calendar, UCAL_DST_OFFSET, status);
    return offset_ms * us_per_ms;
}

static void list_add(TransitionList *list, int64_t instant_us, int64_t offset_us)
{
    if (list->count == list->capacity) {
        mem_reserve(list->instants, &list->capacity, list->count + 1);
        list->offsets = (int64_t *)mem_realloc(list->offsets, list->capacity * sizeof(int64_t));
    }
    list->instants[list->count] = instant_us;
    list->offsets[list->count] = offset_us;
    list->count++;
}

/* All changes of the offset from the beginning to the end of the covered part. ICU also reports
 * changes of the name or of the standard part alone; those are left out. */
static void read_transitions(UCalendar *calendar, TimeZone *zone, TransitionList *list,
                             UErrorCode *status)
{
    const UDate beginning_ms = -1e14; /* the year -1200, long before any rule */
    zone->first_offset_us = icu_offset_us(calendar, beginning_ms, status);
    ucal_setMillis(calendar, beginning_ms, status);
    int64_t offset = zone->first_offset_us;
    int64_t end_us = regular_from_us + us_per_era;
    UDate at_ms = 0;
    while (list->count < TRANSITIONS_MAX && U_SUCCESS(*status) &&
           ucal_getTimeZoneTransitionDate(calendar, UCAL_TZ_TRANSITION_NEXT, &at_ms, status)) {
        int64_t instant = (int64_t)at_ms * us_per_ms;
        if (instant >= end_us) {
            zone->repeats = true;
            break;
        }
        int64_t next = icu_offset_us(calendar, at_ms, status);
        if (next != offset) {
            list_add(list, instant, next);
            offset = next;
        }
    }
}

static void set_tables(TimeZone *zone, const TransitionList *list)
{
    int64_t *locals = (int64_t *)mem_alloc_array(list->count, sizeof(int64_t));
    int64_t before = zone->first_offset_us;
    for (size_t i = 0; i < list->count; i++) {
        int64_t after = list->offsets[i];
        locals[i] = list->instants[i] + (before > after ? before : after);
        before = after;
    }
    zone->count = list->count;
    zone->instants = list->instants;
    zone->offsets = list->offsets;
    zone->locals = locals;
}

static TimeZone *load_region(const UChar *id)
{
    UErrorCode status = U_ZERO_ERROR;
    UCalendar *calendar = ucal_open(id, -1, "en", UCAL_GREGORIAN, &status);
    if (U_FAILURE(status)) {
        return NULL;
    }
    TimeZone *zone = mem_new(TimeZone);
    TransitionList list = {0};
    read_transitions(calendar, zone, &list, &status);
    ucal_close(calendar);
    if (U_FAILURE(status)) {
        mem_free(list.instants);
        mem_free(list.offsets);
        mem_free(zone);
        return NULL;
    }
    zone->shared = true;
    if (list.count > 0) {
        set_tables(zone, &list);
    }
    return zone;
}

/* ---- The registry ---- */

static struct {
    pthread_mutex_t lock;
    Map zones; /* region id → TimeZone; keys and values live as long as the process */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Is it the name of a zone, as written? Two names of ICU are none for java.time. */
static bool to_icu_id(Str name, UChar *ret_id, size_t capacity)
{
    if (name.size >= capacity || str_equal(name, STR("Etc/Unknown")) ||
        str_equal(name, STR("ROC"))) {
        return false;
    }
    for (size_t i = 0; i < name.size; i++) {
        ret_id[i] = (UChar)(unsigned char)name.data[i];
    }
    ret_id[name.size] = 0;
    UErrorCode status = U_ZERO_ERROR;
    UBool system = false;
    UChar canonical[128];
    ucal_getCanonicalTimeZoneID(ret_id, -1, canonical, ARRAY_LENGTH(canonical), &system, &status);
    return U_SUCCESS(status) && system;
}

/* Thread: any, takes registry.lock. */
static const TimeZone *find_region(Str name)
{
    UChar id[TIME_ZONE_NAME_MAX + 1];
    pthread_mutex_lock(&registry.lock);
    const TimeZone *zone = map_get(&registry.zones, name);
    if (zone == NULL && to_icu_id(name, id, ARRAY_LENGTH(id))) {
        TimeZone *loaded = load_region(id);
        if (loaded != NULL) {
            char *key = (char *)mem_alloc(name.size + 1);
            memcpy(key, name.data, name.size);
            map_put(&registry.zones, (Str){key, name.size}, loaded);
        }
        zone = loaded;
    }
    pthread_mutex_unlock(&registry.lock);
    return zone;
}

/* ---- Names ---- */

bool time_zone_find(Str name, TimeZoneRef *ret)
{
    char region[TIME_ZONE_NAME_MAX];
    int32_t seconds = 0;
    Str id = STR_NULL;
    switch (time_zone_name_parse(name, region, &seconds, &id)) {
    case TIME_ZONE_NAME_OFFSET:
        *ret = (TimeZoneRef){NULL, seconds};
        return true;
    case TIME_ZONE_NAME_REGION:
        *ret = (TimeZoneRef){find_region(id), 0};
        return ret->region != NULL;
    case TIME_ZONE_NAME_INVALID:
        break;
    }
    return false;
}

int64_t time_zone_ref_local_offset_us(const TimeZoneRef *ref, int64_t local_us)
{
    return ref->region == NULL ? ref->offset_seconds * us_per_second
                               : local_offset_us(ref->region, local_us);
}

static void copy_name(char *to, Str name)
{
    assert(name.size < TIME_ZONE_NAME_MAX);
    memcpy(to, name.data, name.size);
    to[name.size] = '\0';
}

/* +02:00, with seconds where there are any. */
static void put_offset(int32_t seconds, Buffer *out)
{
    int32_t size = seconds < 0 ? -seconds : seconds;
    buffer_printf(out, "%c%02d:%02d", seconds < 0 ? '-' : '+', size / 3600, size / 60 % 60);
    if (size % 60 != 0) {
        buffer_printf(out, ":%02d", size % 60);
    }
}

/* Z, UTC, GMT+02:00, +02:00; a region by its name. */
static void set_names(TimeZone *zone, Str name)
{
    char region[TIME_ZONE_NAME_MAX];
    int32_t seconds = 0;
    Str id = STR_NULL;
    copy_name(zone->name, name);
    if (time_zone_name_parse(name, region, &seconds, &id) == TIME_ZONE_NAME_REGION) {
        copy_name(zone->id, id);
        return;
    }
    AUTO_BUFFER Buffer text = {0};
    bool long_prefix = str_starts_with(name, STR("UTC")) || str_starts_with(name, STR("GMT"));
    size_t prefix = long_prefix ? 3 : str_starts_with(name, STR("UT")) ? 2 : 0;
    buffer_append_str(&text, (Str){name.data, prefix});
    if (seconds != 0) {
        put_offset(seconds, &text);
    } else if (prefix == 0) {
        buffer_append_byte(&text, 'Z');
    }
    copy_name(zone->id, buffer_str(&text));
}

Str time_zone_name(const TimeZone *zone)
{
    return str_from(zone->name);
}

Str time_zone_id(const TimeZone *zone)
{
    return str_from(zone->id);
}

/* What a zone calls itself, in full, as ICU has it in English; false when it has no name. */
static bool full_name(const TimeZone *zone, int64_t instant_us, char *ret_name, size_t capacity)
{
    UChar id[TIME_ZONE_NAME_MAX];
    UChar name[128];
    UErrorCode status = U_ZERO_ERROR;
    if (zone->count == 0 || !to_icu_id(str_from(zone->id), id, ARRAY_LENGTH(id))) {
        return false;
    }
    UCalendar *calendar = ucal_open(id, -1, "en_US", UCAL_GREGORIAN, &status);
    ucal_setMillis(calendar, (UDate)instant_us / 1000, &status);
    bool summer = ucal_get(calendar, UCAL_DST_OFFSET, &status) != 0;
    int32_t size = ucal_getTimeZoneDisplayName(calendar, summer ? UCAL_DST : UCAL_STANDARD, "en_US",
                                               name, ARRAY_LENGTH(name), &status);
    ucal_close(calendar);
    if (U_FAILURE(status) || size <= 0 || (size_t)size >= capacity) {
        return false;
    }
    for (int32_t i = 0; i < size; i++) {
        ret_name[i] = (char)name[i];
    }
    ret_name[size] = '\0';
    return true;
}

static const char *abbreviation(const char *full)
{
    static const struct {
        const char *full;
        const char *abbreviation;
    } names[] = {
#define ZONE_ABBREVIATION(full_, abbreviation_) {full_, abbreviation_},
#include "processor/data/time_zone_abbreviations.def"
#undef ZONE_ABBREVIATION
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcmp(names[i].full, full) == 0) {
            return names[i].abbreviation;
        }
    }
    return NULL;
}

void time_zone_put_display_name(const TimeZone *zone, int64_t instant_us, bool full, Buffer *out)
{
    char name[128];
    const char *shown = zone->id;
    if (strcmp(zone->id, "UTC") == 0 || strcmp(zone->id, "GMT") == 0) {
        bool utc = zone->id[0] == 'U';
        shown = !full ? zone->id : utc ? "Coordinated Universal Time" : "Greenwich Mean Time";
    } else if (full_name(zone, instant_us, name, sizeof name)) {
        const char *known = full ? name : abbreviation(name);
        shown = known == NULL ? name : known;
    }
    buffer_append_cstr(out, shown);
}

/* The known name nearest to a wrong one, in `ret` (TIME_ZONE_NAME_MAX bytes). */
static bool nearest_name(Str name, char *ret)
{
    UErrorCode status = U_ZERO_ERROR;
    UEnumeration *names = ucal_openTimeZones(&status);
    size_t best = name.size / 3 + 1;
    bool found = false;
    int32_t length = 0;
    const char *candidate;
    while (U_SUCCESS(status) && (candidate = uenum_next(names, &length, &status)) != NULL) {
        size_t distance = str_distance((Str){candidate, (size_t)length}, name);
        if (distance < best && (size_t)length < TIME_ZONE_NAME_MAX) {
            best = distance;
            found = true;
            memcpy(ret, candidate, (size_t)length + 1);
        }
    }
    uenum_close(names);
    return found;
}

Error *time_zone_open(Str name, TimeZone **ret_zone)
{
    TimeZoneRef ref;
    if (!time_zone_find(name, &ref)) {
        Error *error = error_new(ERROR_INVALID_TIME_ZONE,
                                 "The timezone: %.*s is invalid. The timezone must be either a "
                                 "region-based zone ID or a zone offset. Region IDs must have the "
                                 "form 'area/city', such as 'America/Los_Angeles'. Zone offsets "
                                 "must be in the format '(+|-)HH', '(+|-)HH:mm' or "
                                 "'(+|-)HH:mm:ss', e.g '-08' , '+01:00' or '-13:33:33', and must "
                                 "be in the range from -18:00 to +18:00. 'Z' and 'UTC' are "
                                 "accepted as synonyms for '+00:00'.",
                                 STR_ARG(name));
        char nearest[TIME_ZONE_NAME_MAX];
        if (name.size < TIME_ZONE_NAME_MAX && nearest_name(name, nearest)) {
            error_set_hint(error, "did you mean `%s`?", nearest);
        }
        return error;
    }
    TimeZone *zone = mem_new(TimeZone);
    if (ref.region != NULL) {
        *zone = *ref.region; /* the tables stay the registry's */
    } else {
        zone->first_offset_us = ref.offset_seconds * us_per_second;
    }
    zone->shared = false;
    set_names(zone, name);
    *ret_zone = zone;
    return NULL;
}

void time_zone_free(TimeZone *zone)
{
    if (zone != NULL && !zone->shared) {
        mem_free(zone);
    }
}
