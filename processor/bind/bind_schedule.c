/* SCHEDULE EVERY, SCHEDULE CRON, TRIGGER ON UPDATE: how often, in which zone. */
#include "processor/bind/schedule.h"

#include "processor/data/cron.h"

#include "processor/base/banned.h"

/* ST-40: tables with a TRIGGER in one installation. */
enum { TRIGGER_TABLES_MAX = 1000 };

/* -------------------------------------------------------------- intervals --- */

Error *interval_microseconds(Binder *binder, const AstInterval *interval, bool *ret_months,
                             int64_t *ret_value)
{
    AstExpr expr = {.kind = AST_EXPR_INTERVAL,
                    .place = interval->place,
                    .text = interval->text,
                    .interval = *interval};
    BoundExpr *bound = NULL;
    const Vector *value = NULL;
    TRY(bind_interval_literal(binder, &expr, &bound));
    TRY(bound_evaluate(binder, bound, &value));
    *ret_months = bound->type->kind == TYPE_INTERVAL_YEAR_MONTH;
    *ret_value = vector_int_value(value, 0);
    return NULL;
}

/* ------------------------------------------------------------------ EVERY --- */

/* ST-32, ST-33 */
static Error *check_every(const AstSchedule *schedule)
{
    bool hours = schedule->every_unit == AST_UNIT_HOUR;
    bool days = schedule->every_unit == AST_UNIT_DAY;
    int64_t limit = hours ? 72 : days ? 31 : 8;
    if (schedule->every.value >= 1 && schedule->every.value <= limit) {
        return NULL;
    }
    return error_at(ERROR_INVALID_SCHEDULE, schedule->every.place,
                    "SCHEDULE EVERY takes 1 to %lld %s.", (long long)limit,
                    hours  ? "HOURS"
                    : days ? "DAYS"
                           : "WEEKS");
}

/* ------------------------------------------------------------------- CRON --- */

/* The place inside the literal, where its text is what stands between the quotes. */
static Error *place_in_literal(const AstString *literal, Error *error)
{
    SourcePlace inside = error_place(error);
    bool plain = (size_t)literal->place.length == literal->value.size + 2;
    SourcePlace place = literal->place;
    if (plain && inside.line == 1) {
        place = (SourcePlace){place.line, place.column + inside.column, inside.length};
    }
    return error_set_place(error, place);
}

static Error *check_cron_text(const AstSchedule *schedule)
{
    Cron cron;
    Error *error = cron_parse(schedule->cron.value, &cron);
    return error == NULL ? NULL : place_in_literal(&schedule->cron, error); /* ST-35 */
}

/* ST-36 */
static Error *check_cron_zone(const Binder *binder, const AstSchedule *schedule)
{
    if (schedule->time_zone_local) {
        return local_time_zone(schedule->time_zone_place);
    }
    if (schedule->time_zone.value.data != NULL) {
        return check_time_zone(schedule->time_zone.value, schedule->time_zone.place);
    }
    return binder->context->no_session_zone
               ? error_set_hint(error_at(ERROR_TIME_ZONE_REQUIRED, schedule->cron.place,
                                         "SCHEDULE CRON needs a time zone, and the session has "
                                         "none."),
                                "write AT TIME ZONE 'UTC' behind the expression")
               : NULL;
}

/* ---------------------------------------------------------------- TRIGGER --- */

/* ST-38 */
static Error *check_at_most_every(Binder *binder, const AstInterval *interval)
{
    const int64_t minute = INT64_C(60) * 1000000;
    bool months = false;
    int64_t value = 0;
    TRY(interval_microseconds(binder, interval, &months, &value));
    return value >= (months ? 1 : minute)
               ? NULL
               : error_at(ERROR_INVALID_TRIGGER_INTERVAL, interval->place,
                          "TRIGGER ON UPDATE AT MOST EVERY takes an interval of one minute or "
                          "more.");
}

Error *check_trigger_count(size_t before, SourcePlace place)
{
    return before < TRIGGER_TABLES_MAX
               ? NULL
               : error_set_hint(error_at(ERROR_TOO_MANY_TRIGGER_TABLES, place,
                                         "%zu tables have a TRIGGER ON UPDATE already, and %d may.",
                                         before, TRIGGER_TABLES_MAX),
                                "SCHEDULE refreshes a table by the clock");
}

void bind_schedule(Binder *binder, const AstSchedule *schedule)
{
    switch (schedule->kind) {
    case AST_SCHEDULE_EVERY:
        binder_report(binder, check_every(schedule));
        return;
    case AST_SCHEDULE_CRON:
        binder_report(binder, check_cron_text(schedule));
        binder_report(binder, check_cron_zone(binder, schedule));
        return;
    case AST_SCHEDULE_TRIGGER:
        if (schedule->at_most_every != NULL) {
            binder_report(binder, check_at_most_every(binder, schedule->at_most_every));
        }
        return;
    }
}
