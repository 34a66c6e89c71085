/* SET TIME ZONE and SET name = value: which settings there are (SQ-50, ST-36). */
#include "processor/bind/statement.h"

#include "processor/bind/schedule.h"

#include "processor/base/banned.h"

Error *check_time_zone(Str name, SourcePlace place)
{
    TimeZone *zone = NULL;
    Error *error = time_zone_open(name, &zone);
    time_zone_free(zone);
    return error == NULL ? NULL : error_set_place(error, place);
}

Error *local_time_zone(SourcePlace place)
{
    return error_set_hint(error_at(ERROR_INVALID_TIME_ZONE, place,
                                   "The time zone LOCAL is not supported: it would be the zone of "
                                   "whichever machine runs the statement."),
                          "name a zone, such as 'Europe/Paris'");
}

/* An offset from UTC: whole minutes, at most 18 hours, as Spark has it. */
static Error *check_offset(Binder *binder, const AstInterval *interval)
{
    enum { HOURS_MAX = 18 };
    int64_t microseconds = 0;
    bool months = false;
    TRY(interval_microseconds(binder, interval, &months, &microseconds));
    int64_t limit = (int64_t)HOURS_MAX * 3600 * 1000000;
    bool whole = microseconds % 1000000 == 0;
    if (months || !whole || microseconds > limit || microseconds < -limit) {
        return error_at(ERROR_INVALID_TIME_ZONE, interval->place,
                        "A time zone's offset is an interval of whole seconds from -%d to %d "
                        "hours.",
                        HOURS_MAX, HOURS_MAX);
    }
    return NULL;
}

static const char session_time_zone[] = "spark.sql.session.timeZone";

static Error *check_setting(const AstSet *set)
{
    if (!str_equal_ignore_case(set->name, str_from(session_time_zone))) {
        return error_set_hint(error_at(ERROR_CONFIG_NOT_AVAILABLE, set->name_place,
                                       "Configuration %.*s is not available.", STR_ARG(set->name)),
                              "the setting there is: %s", session_time_zone);
    }
    return check_time_zone(set->value, set->value_place);
}

void bind_set_statement(Binder *binder, const AstSet *set)
{
    Error *error = NULL;
    if (!set->time_zone) {
        error = check_setting(set);
    } else if (set->zone_local) {
        error = local_time_zone(set->value_place);
    } else if (set->zone_interval != NULL) {
        error = check_offset(binder, set->zone_interval);
    } else {
        error = check_time_zone(set->zone.value, set->zone.place);
    }
    binder_report(binder, error);
}
