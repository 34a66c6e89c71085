/* Dates and times: parts, shifts, truncation, conversions. Days count from 1970-01-01, a Thursday;
 * instants become local times in the session zone first. */
#include <math.h>

#include "processor/exec/kernels/cast.h"
#include "processor/exec/kernels/wide.h"

#include "processor/base/banned.h"

static int32_t floor_mod(int32_t a, int32_t b)
{
    int32_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

/* ---- Parts of a date ---- */

static int32_t weekday_of(int32_t days) /* Monday is 0 */
{
    return floor_mod(floor_mod(days, 7) + 3, 7);
}

static int32_t day_of_year(int32_t days)
{
    return days - date_from_civil(date_to_civil(days).year, 1, 1) + 1;
}

/* The ISO week belongs to the year of its Thursday. */
static int32_t week_of_year(int32_t days)
{
    int32_t thursday = (int32_t)((int64_t)days - weekday_of(days) + 3);
    return (day_of_year(thursday) - 1) / 7 + 1;
}

#define DATE_PART(name, expression)                                                                \
    static void run_##name(const KernelCall *call)                                                 \
    {                                                                                              \
        const int32_t *a = ARGUMENT(call, 0, int32_t);                                             \
        int32_t *r = RESULT(call, int32_t);                                                        \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            int32_t days = a[i];                                                                   \
            r[i] = (expression);                                                                   \
        }                                                                                          \
    }                                                                                              \
    const Kernel kernel_##name = {.run = run_##name};

DATE_PART(year, date_to_civil(days).year)
DATE_PART(quarter, (date_to_civil(days).month - 1) / 3 + 1)
DATE_PART(month, date_to_civil(days).month)
DATE_PART(day, date_to_civil(days).day)
/* The year an ISO week belongs to. */
static int32_t year_of_week(int32_t days)
{
    return date_to_civil((int32_t)((int64_t)days - weekday_of(days) + 3)).year;
}

DATE_PART(weekday, weekday_of(days))
DATE_PART(iso_weekday, weekday_of(days) + 1)
DATE_PART(yearofweek, year_of_week(days))
DATE_PART(dayofweek, (weekday_of(days) + 1) % 7 + 1)
DATE_PART(dayofyear, day_of_year(days))
DATE_PART(weekofyear, week_of_year(days))
DATE_PART(unix_date, days)
DATE_PART(date_from_unix_date, days)

static int32_t last_day_of(int32_t days)
{
    CivilDate date = date_to_civil(days);
    return days - date.day + date_days_in_month(date.year, date.month);
}

DATE_PART(last_day, last_day_of(days))

/* ---- Parts of a time ---- */

static int64_t local_us(const KernelCall *call, int64_t us)
{
    if (call->arguments[0]->type->kind == TYPE_TIMESTAMP_NTZ) {
        return us;
    }
    return us + time_zone_offset_us(call->context->time_zone, us);
}

/* Whole units of the local time, modulo what the next larger unit holds. */
static void time_part(const KernelCall *call, int64_t unit_us, int64_t modulo)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    int32_t *r = RESULT(call, int32_t);
    FOR_VALID_ROWS(call, i)
    {
        int64_t units = floor_div(local_us(call, a[i]), unit_us);
        r[i] = (int32_t)(units - floor_div(units, modulo) * modulo);
    }
}

static void hour(const KernelCall *call)
{
    time_part(call, 3600 * SECOND_US, 24);
}

static void minute(const KernelCall *call)
{
    time_part(call, 60 * SECOND_US, 60);
}

static void second(const KernelCall *call)
{
    time_part(call, SECOND_US, 60);
}

/* Seconds with their fraction, DECIMAL(8,6): of a time or of an interval. */
static void second_fraction(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    int128 *r = RESULT(call, int128);
    FOR_VALID_ROWS(call, i)
    {
        int64_t us = local_us(call, a[i]);
        r[i] = us - floor_div(us, 60 * SECOND_US) * 60 * SECOND_US;
    }
}

static KernelRun *choose_second_fraction(KernelSetup *setup)
{
    return type_is_interval(setup->types[0]) ? interval_choose_seconds() : second_fraction;
}

const Kernel kernel_second_fraction = {.choose = choose_second_fraction};
const Kernel kernel_hour = {.run = hour};
const Kernel kernel_minute = {.run = minute};
const Kernel kernel_second = {.run = second};

/* ---- Shifts ---- */

/* Days wrap around, as Java's int does. */
#define DAY_SHIFT(name, date, days, operation)                                                     \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const uint32_t *restrict d = ARGUMENT(call, date, uint32_t);                               \
        const uint32_t *restrict n = ARGUMENT(call, days, uint32_t);                               \
        uint32_t *restrict r = RESULT(call, uint32_t);                                             \
        FOR_ROWS(call->rows, i, { r[i] = d[i] operation n[i]; });                                  \
    }

DAY_SHIFT(date_add, 0, 1, +)
DAY_SHIFT(date_sub, 0, 1, -)

/* DATE + INT and INT + DATE are the same sum. */
void date_plus_days(const KernelCall *call)
{
    date_add(call);
}

void date_minus_days(const KernelCall *call)
{
    date_sub(call);
}

const Kernel kernel_date_add = {.run = date_add};
const Kernel kernel_date_sub = {.run = date_sub};
const Kernel kernel_datediff = {.run = date_sub};

/* The first and last year of which every day is a 32-bit number. */
enum { YEAR_MIN = -5877640, YEAR_MAX = 5881579 };

static void fail_overflow(const KernelCall *call, uint32_t row, const char *operation)
{
    kernel_fail(call, row,
                error_new(ERROR_DATETIME_OVERFLOW, "Datetime operation overflow: %s.", operation));
}

static void add_months(const KernelCall *call)
{
    const int32_t *days = ARGUMENT(call, 0, int32_t);
    const int32_t *months = ARGUMENT(call, 1, int32_t);
    FOR_VALID_ROWS(call, i)
    {
        int64_t year = date_to_civil(days[i]).year + (int64_t)months[i] / 12;
        if (year <= YEAR_MIN || year >= YEAR_MAX) {
            kernel_fail(
                call, i,
                error_new(ERROR_ARITHMETIC_OVERFLOW, "Overflow in adding months to a DATE."));
        } else {
            RESULT(call, int32_t)[i] = date_add_months(days[i], months[i]);
        }
    }
}

const Kernel kernel_add_months = {.run = add_months};

/* Number of a weekday's name from Monday 0; -1 for no name. */
static int32_t weekday_by_name(Str name)
{
    static const char *const names[7][3] = {
        {"MO", "MON", "MONDAY"},   {"TU", "TUE", "TUESDAY"}, {"WE", "WED", "WEDNESDAY"},
        {"TH", "THU", "THURSDAY"}, {"FR", "FRI", "FRIDAY"},  {"SA", "SAT", "SATURDAY"},
        {"SU", "SUN", "SUNDAY"},
    };
    for (int32_t day = 0; day < 7; day++) {
        for (size_t k = 0; k < 3; k++) {
            if (str_equal_ignore_case(name, str_from(names[day][k]))) {
                return day;
            }
        }
    }
    return -1;
}

static void next_day(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        int32_t days = ARGUMENT(call, 0, int32_t)[i];
        Str name = ARGUMENT(call, 1, Str)[i];
        int32_t wanted = weekday_by_name(name);
        if (wanted < 0) {
            kernel_fail(call, i,
                        error_new(ERROR_ILLEGAL_DAY_OF_WEEK, "Illegal input for day of week: %.*s.",
                                  STR_ARG(name)));
            continue;
        }
        uint32_t ahead = (uint32_t)floor_mod(wanted - weekday_of(days) - 1, 7) + 1;
        RESULT(call, uint32_t)[i] = (uint32_t)days + ahead;
    }
}

const Kernel kernel_next_day = {.run = next_day};

/* ---- make_date ---- */

static const char *month_name(int32_t month)
{
    static const char *const names[] = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                        "MAY",       "JUNE",     "JULY",     "AUGUST",
                                        "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};
    return names[month - 1];
}

/* As java.time words it. */
Error *invalid_civil_date(int32_t year, int32_t month, int32_t day)
{
    ErrorClass class = ERROR_DATETIME_FIELD_OUT_OF_BOUNDS;
    if (month < 1 || month > 12) {
        return error_new(class, "Invalid value for MonthOfYear (valid values 1 - 12): %d.", month);
    }
    if (day < 1 || day > 31) {
        return error_new(class, "Invalid value for DayOfMonth (valid values 1 - 28/31): %d.", day);
    }
    if (year <= YEAR_MIN || year >= YEAR_MAX) {
        return error_new(ERROR_ARITHMETIC_OVERFLOW, "integer overflow.");
    }
    if (month == 2 && day == 29) {
        return error_new(class, "Invalid date 'February 29' as '%d' is not a leap year.", year);
    }
    return error_new(class, "Invalid date '%s %d'.", month_name(month), day);
}

bool civil_is_in_range(int32_t year, int32_t month, int32_t day)
{
    return year > YEAR_MIN && year < YEAR_MAX && date_is_valid(year, month, day);
}

static void make_date(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        int32_t year = ARGUMENT(call, 0, int32_t)[i];
        int32_t month = ARGUMENT(call, 1, int32_t)[i];
        int32_t day = ARGUMENT(call, 2, int32_t)[i];
        if (civil_is_in_range(year, month, day)) {
            RESULT(call, int32_t)[i] = date_from_civil(year, month, day);
        } else {
            kernel_fail(call, i, invalid_civil_date(year, month, day));
        }
    }
}

const Kernel kernel_make_date = {.run = make_date};

/* ---- Truncation ---- */

typedef enum TimeUnit {
    UNIT_NONE,
    UNIT_MICROSECOND,
    UNIT_MILLISECOND,
    UNIT_SECOND,
    UNIT_MINUTE,
    UNIT_HOUR,
    UNIT_DAY,
    UNIT_WEEK,
    UNIT_MONTH,
    UNIT_QUARTER,
    UNIT_YEAR,
} TimeUnit;

static TimeUnit unit_by_name(Str name)
{
    static const struct {
        const char *name;
        TimeUnit unit;
    } names[] = {
        {"MICROSECOND", UNIT_MICROSECOND},
        {"MILLISECOND", UNIT_MILLISECOND},
        {"SECOND", UNIT_SECOND},
        {"MINUTE", UNIT_MINUTE},
        {"HOUR", UNIT_HOUR},
        {"DAY", UNIT_DAY},
        {"DD", UNIT_DAY},
        {"WEEK", UNIT_WEEK},
        {"MONTH", UNIT_MONTH},
        {"MM", UNIT_MONTH},
        {"MON", UNIT_MONTH},
        {"QUARTER", UNIT_QUARTER},
        {"YEAR", UNIT_YEAR},
        {"YYYY", UNIT_YEAR},
        {"YY", UNIT_YEAR},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_equal_ignore_case(name, str_from(names[i].name))) {
            return names[i].unit;
        }
    }
    return UNIT_NONE;
}

/* First day of the unit the day lies in; DAY and smaller: the day itself. */
static int32_t truncate_days(int32_t days, TimeUnit unit)
{
    CivilDate date = date_to_civil(days);
    switch (unit) {
    case UNIT_WEEK:
        return (int32_t)((uint32_t)days - (uint32_t)weekday_of(days));
    case UNIT_MONTH:
        return days - date.day + 1;
    case UNIT_QUARTER:
        return date_from_civil(date.year, (date.month - 1) / 3 * 3 + 1, 1);
    case UNIT_YEAR:
        return date_from_civil(date.year, 1, 1);
    case UNIT_NONE:
    case UNIT_MICROSECOND:
    case UNIT_MILLISECOND:
    case UNIT_SECOND:
    case UNIT_MINUTE:
    case UNIT_HOUR:
    case UNIT_DAY:
        break;
    }
    return days;
}

static int64_t unit_us(TimeUnit unit)
{
    switch (unit) {
    case UNIT_MILLISECOND:
        return 1000;
    case UNIT_SECOND:
        return SECOND_US;
    case UNIT_MINUTE:
        return 60 * SECOND_US;
    case UNIT_HOUR:
        return 3600 * SECOND_US;
    case UNIT_NONE:
    case UNIT_MICROSECOND:
    case UNIT_DAY:
    case UNIT_WEEK:
    case UNIT_MONTH:
    case UNIT_QUARTER:
    case UNIT_YEAR:
        break;
    }
    return 1;
}

/* Cut in local time. Below a day the offset stays if the cut time has it too (an hour that comes
 * twice is cut within itself). */
static int64_t truncate_us(const TimeZone *zone, int64_t us, TimeUnit unit)
{
    int64_t offset = time_zone_offset_us(zone, us);
    int64_t local = us + offset;
    if (unit >= UNIT_DAY) {
        int32_t days = truncate_days((int32_t)floor_div(local, DAY_US), unit);
        return time_zone_to_instant_us(zone, days * DAY_US);
    }
    int64_t cut = floor_div(local, unit_us(unit)) * unit_us(unit);
    return time_zone_offset_us(zone, cut - offset) == offset ? cut - offset
                                                             : time_zone_to_instant_us(zone, cut);
}

static void date_trunc(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        TimeUnit unit = unit_by_name(ARGUMENT(call, 0, Str)[i]);
        if (unit == UNIT_NONE) {
            vector_set_null(call->result, call->arena, i);
        } else {
            RESULT(call, int64_t)
            [i] = truncate_us(call->context->time_zone, ARGUMENT(call, 1, int64_t)[i], unit);
        }
    }
}

static void trunc_date(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        TimeUnit unit = unit_by_name(ARGUMENT(call, 1, Str)[i]);
        if (unit < UNIT_WEEK) {
            vector_set_null(call->result, call->arena, i);
        } else {
            RESULT(call, int32_t)[i] = truncate_days(ARGUMENT(call, 0, int32_t)[i], unit);
        }
    }
}

const Kernel kernel_date_trunc = {.run = date_trunc};
const Kernel kernel_trunc = {.run = trunc_date};

/* ---- Instants and numbers ---- */

#define INSTANT_TO(name, expression)                                                               \
    static void run_##name(const KernelCall *call)                                                 \
    {                                                                                              \
        const int64_t *a = ARGUMENT(call, 0, int64_t);                                             \
        int64_t *r = RESULT(call, int64_t);                                                        \
        FOR_ROWS(call->rows, i, { r[i] = (expression); });                                         \
    }                                                                                              \
    const Kernel kernel_##name = {.run = run_##name};

INSTANT_TO(unix_seconds, floor_div(a[i], SECOND_US))
INSTANT_TO(unix_millis, floor_div(a[i], 1000))
INSTANT_TO(unix_micros, a[i])
INSTANT_TO(timestamp_micros, a[i])

static void scale_to_us(const KernelCall *call, int64_t unit, const char *name)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    FOR_VALID_ROWS(call, i)
    {
        if (__builtin_mul_overflow(a[i], unit, &RESULT(call, int64_t)[i])) {
            kernel_fail(call, i,
                        error_new(ERROR_DATETIME_OVERFLOW,
                                  "Datetime operation overflow: create a TIMESTAMP from %lldL %s "
                                  "since the epoch.",
                                  (long long)a[i], name));
        }
    }
}

static void timestamp_millis(const KernelCall *call)
{
    scale_to_us(call, 1000, "milliseconds");
}

static void timestamp_whole_seconds(const KernelCall *call)
{
    scale_to_us(call, SECOND_US, "seconds");
}

/* NaN and infinities are NULL; beyond the range it saturates, as Java's conversion does. */
static void timestamp_double_seconds(const KernelCall *call)
{
    const double *a = ARGUMENT(call, 0, double);
    FOR_VALID_ROWS(call, i)
    {
        double us = a[i] * 1e6;
        if (!isfinite(a[i])) {
            vector_set_null(call->result, call->arena, i);
        } else {
            RESULT(call, int64_t)
            [i] = us >= 0x1p63 ? INT64_MAX : us < -0x1p63 ? INT64_MIN : (int64_t)us;
        }
    }
}

/* Exact: a fraction below a microsecond is an error, as is what does not fit. */
static void timestamp_decimal_seconds(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    const Wide unit = wide_scaled(1, call->arguments[0]->type->scale);
    FOR_VALID_ROWS(call, i)
    {
        Wide whole;
        Wide rest;
        int128 us = 0;
        wide_divide(wide_scaled(a[i], 6), unit, &whole, &rest);
        if (!wide_is_zero(&rest) || !wide_to_int128(&whole, &us) || us < INT64_MIN ||
            us > INT64_MAX) {
            fail_overflow(call, i, "create a TIMESTAMP from seconds since the epoch");
        } else {
            RESULT(call, int64_t)[i] = (int64_t)us;
        }
    }
}

static KernelRun *choose_timestamp_seconds(KernelSetup *setup)
{
    if (setup->types[0]->kind == TYPE_DECIMAL) {
        return timestamp_decimal_seconds;
    }
    return setup->types[0]->kind == TYPE_DOUBLE ? timestamp_double_seconds
                                                : timestamp_whole_seconds;
}

const Kernel kernel_timestamp_millis = {.run = timestamp_millis};
const Kernel kernel_timestamp_seconds = {.choose = choose_timestamp_seconds};

/* ---- The update's clock and user ---- */

static void current_timestamp(const KernelCall *call)
{
    int64_t *r = RESULT(call, int64_t);
    int64_t now = call->context->now_us;
    FOR_ROWS(call->rows, i, { r[i] = now; });
}

static void current_date(const KernelCall *call)
{
    int32_t *r = RESULT(call, int32_t);
    int64_t now = call->context->now_us;
    int64_t local = now + time_zone_offset_us(call->context->time_zone, now);
    int32_t today = (int32_t)floor_div(local, DAY_US);
    FOR_ROWS(call->rows, i, { r[i] = today; });
}

static void current_user(const KernelCall *call)
{
    Str *r = RESULT(call, Str);
    Str user = call->context->current_user;
    user = user.data == NULL ? STR("") : user;
    FOR_ROWS(call->rows, i, { r[i] = user; });
}

static void localtimestamp(const KernelCall *call)
{
    int64_t *r = RESULT(call, int64_t);
    int64_t now = call->context->now_us;
    int64_t local = now + time_zone_offset_us(call->context->time_zone, now);
    FOR_ROWS(call->rows, i, { r[i] = local; });
}

const Kernel kernel_localtimestamp = {.run = localtimestamp};
const Kernel kernel_current_timestamp = {.run = current_timestamp};
const Kernel kernel_current_date = {.run = current_date};
const Kernel kernel_current_user = {.run = current_user};
