/* Times counted in units: timestampadd, timestampdiff, months_between. Months, weeks and days are
 * those of the local calendar, hours and less lie on the time line. */
#include <math.h>

#include "processor/exec/kernels/cast.h"

#include "processor/base/banned.h"

/* ---- Units ---- */

typedef struct Unit {
    const char *name;
    int32_t months; /* or */
    int32_t days;   /* or */
    int64_t us;
    const char *plural; /* for messages */
} Unit;

static const Unit units[] = {
    {"YEAR", 12, 0, 0, "YEARS"},
    {"QUARTER", 3, 0, 0, "QUARTERS"},
    {"MONTH", 1, 0, 0, "MONTHS"},
    {"WEEK", 0, 7, 0, "WEEKS"},
    {"DAY", 0, 1, 0, "DAYS"},
    {"DAYOFYEAR", 0, 1, 0, "DAYS"},
    {"HOUR", 0, 0, 3600 * SECOND_US, "HOURS"},
    {"MINUTE", 0, 0, 60 * SECOND_US, "MINUTES"},
    {"SECOND", 0, 0, SECOND_US, "SECONDS"},
    {"MILLISECOND", 0, 0, 1000, "MILLISECONDS"},
    {"MICROSECOND", 0, 0, 1, "MICROSECONDS"},
};

/* The binder lets known units pass only. */
static const Unit *unit_at(const KernelCall *call, uint32_t row)
{
    Str name = ARGUMENT(call, 0, Str)[row];
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        if (str_equal_ignore_case(name, str_from(units[i].name))) {
            return &units[i];
        }
    }
    return &units[ARRAY_LENGTH(units) - 1];
}

/* ---- timestampadd ---- */

static bool add_units(const KernelCall *call, const Unit *unit, int64_t count, int64_t us,
                      int64_t *ret_us)
{
    int64_t amount = 0;
    if (unit->months != 0) {
        return !__builtin_mul_overflow(count, unit->months, &amount) &&
               timestamp_add_months(call, us, amount, ret_us);
    }
    /* As with intervals: whole days in them are days of the calendar. */
    int64_t size = unit->days != 0 ? unit->days * DAY_US : unit->us;
    return !__builtin_mul_overflow(count, size, &amount) &&
           timestamp_add_days(call, us, amount / DAY_US, ret_us) &&
           !__builtin_add_overflow(*ret_us, amount % DAY_US, ret_us);
}

static void timestampadd(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        const Unit *unit = unit_at(call, i);
        int64_t count = ARGUMENT(call, 1, int64_t)[i];
        if (!add_units(call, unit, count, ARGUMENT(call, 2, int64_t)[i],
                       &RESULT(call, int64_t)[i]) &&
            !kernel_forgives(call, i)) {
            kernel_fail(call, i,
                        error_new(ERROR_DATETIME_OVERFLOW,
                                  "Datetime operation overflow: add %lldL %s to a TIMESTAMP.",
                                  (long long)count, unit->plural));
        }
    }
}

const Kernel kernel_timestampadd = {.run = timestampadd};

/* ---- timestampdiff ---- */

static int64_t local_of(const KernelCall *call, size_t argument, uint32_t row)
{
    int64_t us = ARGUMENT(call, argument, int64_t)[row];
    if (call->arguments[argument]->type->kind == TYPE_TIMESTAMP_NTZ) {
        return us;
    }
    return (int64_t)((uint64_t)us + (uint64_t)time_zone_offset_us(call->context->time_zone, us));
}

/* Month, day and time of the month as one number that grows with time; months apart. */
static int64_t month_number(int64_t local, int64_t *ret_within)
{
    int64_t days = floor_div(local, DAY_US);
    CivilDate date = date_to_civil((int32_t)days);
    *ret_within = (date.day - 1) * DAY_US + (local - days * DAY_US);
    return (int64_t)date.year * 12 + date.month - 1;
}

/* Whole months from one local time to another. */
static int64_t whole_months(int64_t from, int64_t to)
{
    int64_t from_within = 0;
    int64_t to_within = 0;
    int64_t months = -month_number(from, &from_within);
    months += month_number(to, &to_within);
    if (months > 0 && to_within < from_within) {
        return months - 1;
    }
    return months < 0 && to_within > from_within ? months + 1 : months;
}

static void timestampdiff(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        const Unit *unit = unit_at(call, i);
        int64_t from = local_of(call, 1, i);
        int64_t to = local_of(call, 2, i);
        int64_t *r = &RESULT(call, int64_t)[i];
        if (unit->months != 0) {
            *r = whole_months(from, to) / unit->months;
        } else {
            int64_t size = unit->days != 0 ? unit->days * DAY_US : unit->us;
            *r = (int64_t)(((int128)to - from) / size);
        }
    }
}

const Kernel kernel_timestampdiff = {.run = timestampdiff};

/* ---- months_between ---- */

static int64_t local_day(const TimeZone *zone, int64_t us)
{
    return floor_div((int64_t)((uint64_t)us + (uint64_t)time_zone_offset_us(zone, us)), DAY_US);
}

/* Whole months between equal days of the month or two last days; else parts of months of 31 days.
 */
static double months_between(const TimeZone *zone, int64_t us_a, int64_t us_b)
{
    int64_t day_a = local_day(zone, us_a);
    int64_t day_b = local_day(zone, us_b);
    CivilDate a = date_to_civil((int32_t)day_a);
    CivilDate b = date_to_civil((int32_t)day_b);
    double months = ((double)a.year * 12 + a.month) - ((double)b.year * 12 + b.month);
    bool both_last = a.day == date_days_in_month(a.year, a.month) &&
                     b.day == date_days_in_month(b.year, b.month);
    if (a.day == b.day || both_last) {
        return months;
    }
    const double seconds_per_month = 31.0 * DAY_SECONDS;
    int64_t seconds_a = (us_a - time_zone_to_instant_us(zone, day_a * DAY_US)) / SECOND_US;
    int64_t seconds_b = (us_b - time_zone_to_instant_us(zone, day_b * DAY_US)) / SECOND_US;
    int64_t seconds = (int64_t)(a.day - b.day) * DAY_SECONDS + seconds_a - seconds_b;
    return months + (double)seconds / seconds_per_month;
}

/* To eight digits behind the point, unless a third argument says no. */
static void run_months_between(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        double months = months_between(call->context->time_zone, ARGUMENT(call, 0, int64_t)[i],
                                       ARGUMENT(call, 1, int64_t)[i]);
        bool exact = call->argument_count > 2 && ARGUMENT(call, 2, uint8_t)[i] == 0;
        /* As Java's Math.round: half up. */
        RESULT(call, double)[i] = exact ? months : floor(months * 1e8 + 0.5) / 1e8;
    }
}

const Kernel kernel_months_between = {.run = run_months_between};
