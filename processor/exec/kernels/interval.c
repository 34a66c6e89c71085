/* Arithmetic with intervals: of them with each other and with numbers, of dates and times with
 * them, differences of dates and times. Sums of two intervals are sums of integers (arithmetic.c).
 *
 * A day is a day of the calendar, an hour 3,600 seconds: TIMESTAMP plus INTERVAL '1 02' DAY TO HOUR
 * moves a day in local time, then two hours on the time line. */
#include <math.h>

#include "processor/data/decimal.h"
#include "processor/exec/kernels/cast.h"
#include "processor/exec/kernels/wide.h"

#include "processor/base/banned.h"

/* ---- Errors ---- */

Error *interval_overflow(const char *alternative)
{
    if (alternative == NULL) {
        return error_new(ERROR_INTERVAL_OVERFLOW,
                         "Integer overflow while operating with intervals. Try devising "
                         "appropriate values for the interval parameters.");
    }
    return error_new(ERROR_INTERVAL_OVERFLOW_TRY,
                     "Integer overflow while operating with intervals. Use `%s` to tolerate "
                     "overflow and return NULL instead.",
                     alternative);
}

static void fail_overflow(const KernelCall *call, uint32_t row, const char *alternative)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(call, row, interval_overflow(alternative));
    }
}

static void fail_zero(const KernelCall *call, uint32_t row)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(call, row,
                    error_new(ERROR_INTERVAL_DIVIDED_BY_ZERO,
                              "Division by zero. Use `try_divide` to tolerate divisor being 0 and "
                              "return NULL instead."));
    }
}

static void fail_time(const KernelCall *call, uint32_t row, const char *operation)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(
            call, row,
            error_new(ERROR_DATETIME_OVERFLOW, "Datetime operation overflow: %s.", operation));
    }
}

/* ---- Interval and number ---- */

/* Of either width. */
static int64_t interval_at(const Vector *vector, uint32_t row)
{
    return vector_int_value(vector, row);
}

static void store(const KernelCall *call, uint32_t row, int128 value)
{
    bool months = call->result->type->kind == TYPE_INTERVAL_YEAR_MONTH;
    if (months ? value < INT32_MIN || value > INT32_MAX : value < INT64_MIN || value > INT64_MAX) {
        fail_overflow(call, row, NULL);
    } else if (months) {
        RESULT(call, int32_t)[row] = (int32_t)value;
    } else {
        RESULT(call, int64_t)[row] = (int64_t)value;
    }
}

/* Rounded half away from zero. */
static void store_double(const KernelCall *call, uint32_t row, double value)
{
    double rounded = round(value);
    if (!(rounded >= -0x1p63 && rounded < 0x1p63)) {
        fail_overflow(call, row, NULL);
    } else {
        store(call, row, (int64_t)rounded);
    }
}

static void store_wide(const KernelCall *call, uint32_t row, const Wide *wide)
{
    int128 value = 0;
    if (wide_to_int128(wide, &value)) {
        store(call, row, value);
    } else {
        fail_overflow(call, row, NULL);
    }
}

/* The interval is argument `at`, the number the other one. */
static void times_integer(const KernelCall *call, size_t at)
{
    const int64_t *number = ARGUMENT(call, 1 - at, int64_t);
    FOR_VALID_ROWS(call, i)
    {
        store(call, i, (int128)interval_at(call->arguments[at], i) * number[i]);
    }
}

static void times_double(const KernelCall *call, size_t at)
{
    const double *number = ARGUMENT(call, 1 - at, double);
    FOR_VALID_ROWS(call, i)
    {
        store_double(call, i, (double)interval_at(call->arguments[at], i) * number[i]);
    }
}

static void times_decimal(const KernelCall *call, size_t at)
{
    const int128 *number = ARGUMENT(call, 1 - at, int128);
    int scale = call->arguments[1 - at]->type->scale;
    FOR_VALID_ROWS(call, i)
    {
        Wide product = wide_product(interval_at(call->arguments[at], i), number[i]);
        product = wide_round(product, scale);
        store_wide(call, i, &product);
    }
}

#define TIMES(name)                                                                                \
    static void interval_##name(const KernelCall *call)                                            \
    {                                                                                              \
        name(call, 0);                                                                             \
    }                                                                                              \
    static void name##_interval(const KernelCall *call)                                            \
    {                                                                                              \
        name(call, 1);                                                                             \
    }

TIMES(times_integer)
TIMES(times_double)
TIMES(times_decimal)

KernelRun *interval_choose_multiply(const KernelSetup *setup)
{
    bool first = type_is_interval(setup->types[0]);
    switch (setup->types[first ? 1 : 0]->kind) {
    case TYPE_DECIMAL:
        return first ? interval_times_decimal : times_decimal_interval;
    case TYPE_DOUBLE:
        return first ? interval_times_double : times_double_interval;
    default:
        return first ? interval_times_integer : times_integer_interval;
    }
}

/* a / b rounded half away from zero, b != 0. */
static int128 divide_half_up(int128 a, int128 b)
{
    int128 quotient = a / b;
    int128 rest = a % b;
    int128 size = rest < 0 ? -rest : rest;
    int128 divisor = b < 0 ? -b : b;
    if (size >= divisor - size) {
        quotient += (a < 0) == (b < 0) ? 1 : -1;
    }
    return quotient;
}

static void divide_by_integer(const KernelCall *call)
{
    const int64_t *number = ARGUMENT(call, 1, int64_t);
    bool months = call->result->type->kind == TYPE_INTERVAL_YEAR_MONTH;
    int64_t least = months ? INT32_MIN : INT64_MIN;
    FOR_VALID_ROWS(call, i)
    {
        int64_t value = interval_at(call->arguments[0], i);
        if (number[i] == 0) {
            fail_zero(call, i);
        } else if (value == least && number[i] == -1) {
            fail_overflow(call, i, "try_divide");
        } else {
            store(call, i, divide_half_up(value, number[i]));
        }
    }
}

static void divide_by_double(const KernelCall *call)
{
    const double *number = ARGUMENT(call, 1, double);
    FOR_VALID_ROWS(call, i)
    {
        if (number[i] == 0) {
            fail_zero(call, i);
        } else {
            store_double(call, i, (double)interval_at(call->arguments[0], i) / number[i]);
        }
    }
}

/* value * 10^scale / unscaled, rounded half away from zero: the magnitude doubled, plus one
 * divisor, cut by two divisors. */
static void divide_by_decimal(const KernelCall *call)
{
    const int128 *number = ARGUMENT(call, 1, int128);
    int scale = call->arguments[1]->type->scale;
    FOR_VALID_ROWS(call, i)
    {
        if (number[i] == 0) {
            fail_zero(call, i);
            continue;
        }
        int64_t value = interval_at(call->arguments[0], i);
        bool negative = (value < 0) != (number[i] < 0);
        Wide dividend = wide_scaled(value, scale);
        Wide divisor = wide_scaled(number[i], 0);
        dividend.negative = false;
        divisor.negative = false;
        dividend = wide_add(wide_add(dividend, dividend), divisor);
        Wide quotient;
        Wide rest;
        wide_divide(dividend, wide_add(divisor, divisor), &quotient, &rest);
        quotient.negative = negative && !wide_is_zero(&quotient);
        store_wide(call, i, &quotient);
    }
}

KernelRun *interval_choose_divide(const KernelSetup *setup)
{
    switch (setup->types[1]->kind) {
    case TYPE_DECIMAL:
        return divide_by_decimal;
    case TYPE_DOUBLE:
        return divide_by_double;
    default:
        return divide_by_integer;
    }
}

/* How often one interval goes into another; the one quotient that is too large wraps. */
static void interval_div(const KernelCall *call)
{
    int64_t *r = RESULT(call, int64_t);
    bool months = call->arguments[0]->type->kind == TYPE_INTERVAL_YEAR_MONTH;
    FOR_VALID_ROWS(call, i)
    {
        int64_t a = interval_at(call->arguments[0], i);
        int64_t b = interval_at(call->arguments[1], i);
        if (b == 0) {
            fail_division_by_zero(call, i);
        } else if (b == -1) {
            r[i] = months ? (int32_t)(0 - (uint32_t)a) : (int64_t)(0 - (uint64_t)a);
        } else {
            r[i] = a / b;
        }
    }
}

KernelRun *interval_choose_div(const KernelSetup *setup)
{
    (void)setup;
    return interval_div;
}

/* ---- Date or time and interval ---- */

static int64_t offset_at(const KernelCall *call, int64_t us)
{
    return call->result->type->kind == TYPE_TIMESTAMP_NTZ
               ? 0
               : time_zone_offset_us(call->context->time_zone, us);
}

/* The instant of a local time, with the offset it had before where that is still one of its. */
static bool to_instant(const KernelCall *call, int64_t local, int64_t offset, int64_t *ret_us)
{
    int64_t us = 0;
    if (__builtin_sub_overflow(local, offset, &us)) {
        return false;
    }
    if (offset_at(call, us) != offset) {
        us = time_zone_to_instant_us(call->context->time_zone, local);
    }
    *ret_us = us;
    return true;
}

bool timestamp_add_days(const KernelCall *call, int64_t us, int64_t days, int64_t *ret_us)
{
    if (days == 0) {
        *ret_us = us;
        return true;
    }
    int64_t offset = offset_at(call, us);
    int64_t local = 0;
    int64_t shift = 0;
    return !__builtin_add_overflow(us, offset, &local) &&
           !__builtin_mul_overflow(days, DAY_US, &shift) &&
           !__builtin_add_overflow(local, shift, &local) && to_instant(call, local, offset, ret_us);
}

bool timestamp_add_months(const KernelCall *call, int64_t us, int64_t months, int64_t *ret_us)
{
    if (months == 0) {
        *ret_us = us;
        return true;
    }
    int64_t offset = offset_at(call, us);
    int64_t local = 0;
    if (__builtin_add_overflow(us, offset, &local)) {
        return false;
    }
    int64_t days = floor_div(local, DAY_US);
    /* More than all years a TIMESTAMP has. */
    const int64_t months_max = INT64_C(12) * 600000;
    if (months > months_max || months < -months_max) {
        return false;
    }
    int64_t within = local - days * DAY_US;
    days = date_add_months((int32_t)days, (int32_t)months);
    return !__builtin_mul_overflow(days, DAY_US, &local) &&
           !__builtin_add_overflow(local, within, &local) &&
           to_instant(call, local, offset, ret_us);
}

/* Which argument is the interval, and does it count backwards? */
typedef struct Shift {
    size_t interval;
    bool minus;
} Shift;

static bool interval_of(const KernelCall *call, const Shift *shift, uint32_t row, int64_t *ret)
{
    const Vector *vector = call->arguments[shift->interval];
    int64_t value = interval_at(vector, row);
    bool months = vector->type->kind == TYPE_INTERVAL_YEAR_MONTH;
    if (shift->minus && value == (months ? INT32_MIN : INT64_MIN)) {
        fail_overflow(call, row, NULL);
        return false;
    }
    *ret = shift->minus ? -value : value;
    return true;
}

/* The first and last year of which every day is a 32-bit number. */
enum { YEAR_MIN = -5877640, YEAR_MAX = 5881579 };

static void shift_date_months(const KernelCall *call)
{
    const Shift *shift = call->state;
    const int32_t *days = ARGUMENT(call, 1 - shift->interval, int32_t);
    FOR_VALID_ROWS(call, i)
    {
        int64_t months = 0;
        if (!interval_of(call, shift, i, &months)) {
            continue;
        }
        int64_t year = date_to_civil(days[i]).year + months / 12;
        if (year > YEAR_MIN && year < YEAR_MAX) {
            RESULT(call, int32_t)[i] = date_add_months(days[i], (int32_t)months);
        } else if (!kernel_forgives(call, i)) {
            kernel_fail(
                call, i,
                error_new(ERROR_ARITHMETIC_OVERFLOW, "Overflow in adding months to a DATE."));
        }
    }
}

/* Days wrap around, as they do for DATE + INT. */
static void shift_date_days(const KernelCall *call)
{
    const Shift *shift = call->state;
    const uint32_t *days = ARGUMENT(call, 1 - shift->interval, uint32_t);
    FOR_VALID_ROWS(call, i)
    {
        int64_t us = ARGUMENT(call, shift->interval, int64_t)[i];
        uint32_t count = (uint32_t)(us / DAY_US);
        RESULT(call, uint32_t)[i] = shift->minus ? days[i] - count : days[i] + count;
    }
}

static void shift_time_months(const KernelCall *call)
{
    const Shift *shift = call->state;
    const int64_t *times = ARGUMENT(call, 1 - shift->interval, int64_t);
    FOR_VALID_ROWS(call, i)
    {
        int64_t months = 0;
        if (interval_of(call, shift, i, &months) &&
            !timestamp_add_months(call, times[i], months, &RESULT(call, int64_t)[i])) {
            fail_time(call, i, "add months to a TIMESTAMP");
        }
    }
}

static void shift_time(const KernelCall *call)
{
    const Shift *shift = call->state;
    const int64_t *times = ARGUMENT(call, 1 - shift->interval, int64_t);
    FOR_VALID_ROWS(call, i)
    {
        int64_t us = 0;
        if (!interval_of(call, shift, i, &us)) {
            continue;
        }
        int64_t moved = 0;
        if (!timestamp_add_days(call, times[i], us / DAY_US, &moved) ||
            __builtin_add_overflow(moved, us % DAY_US, &RESULT(call, int64_t)[i])) {
            fail_time(call, i, "add an INTERVAL to a TIMESTAMP");
        }
    }
}

static KernelRun *choose_shift(KernelSetup *setup, bool minus)
{
    Shift *shift = arena_new_object(setup->arena, Shift);
    *shift = (Shift){.interval = type_is_interval(setup->types[0]) ? 0 : 1, .minus = minus};
    setup->state = shift;
    bool date = setup->types[1 - shift->interval]->kind == TYPE_DATE;
    if (setup->types[shift->interval]->kind == TYPE_INTERVAL_YEAR_MONTH) {
        return date ? shift_date_months : shift_time_months;
    }
    return date ? shift_date_days : shift_time;
}

/* ---- Differences ---- */

static void date_difference(const KernelCall *call)
{
    const int32_t *a = ARGUMENT(call, 0, int32_t);
    const int32_t *b = ARGUMENT(call, 1, int32_t);
    FOR_VALID_ROWS(call, i)
    {
        int32_t days = 0;
        if (__builtin_sub_overflow(a[i], b[i], &days) ||
            __builtin_mul_overflow((int64_t)days, DAY_US, &RESULT(call, int64_t)[i])) {
            fail_overflow(call, i, NULL);
        }
    }
}

/* Between local times: a day that has 23 hours counts as a day. */
static void time_difference(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    const int64_t *b = ARGUMENT(call, 1, int64_t);
    bool zoned = call->arguments[0]->type->kind == TYPE_TIMESTAMP;
    const TimeZone *zone = zoned ? call->context->time_zone : time_zone_utc();
    FOR_VALID_ROWS(call, i)
    {
        int128 from = (int128)b[i] + time_zone_offset_us(zone, b[i]);
        int128 to = (int128)a[i] + time_zone_offset_us(zone, a[i]);
        store(call, i, to - from);
    }
}

KernelRun *interval_choose_add(KernelSetup *setup)
{
    return type_is_datetime(setup->result) ? choose_shift(setup, false) : NULL;
}

KernelRun *interval_choose_subtract(KernelSetup *setup)
{
    if (type_is_datetime(setup->result)) {
        return choose_shift(setup, true);
    }
    if (type_is_datetime(setup->types[0])) {
        return setup->types[0]->kind == TYPE_DATE ? date_difference : time_difference;
    }
    return NULL;
}

/* ---- Sign ---- */

static void interval_sign(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        int64_t value = interval_at(call->arguments[0], i);
        RESULT(call, double)[i] = (value > 0) - (value < 0);
    }
}

KernelRun *interval_choose_sign(const KernelSetup *setup)
{
    return type_is_interval(setup->types[0]) ? interval_sign : NULL;
}

/* ---- make_ym_interval, make_dt_interval ---- */

static int64_t part_at(const KernelCall *call, size_t part, uint32_t row)
{
    return part < call->argument_count ? ARGUMENT(call, part, int32_t)[row] : 0;
}

static void make_ym_interval(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        store(call, i, (int128)part_at(call, 0, i) * 12 + part_at(call, 1, i));
    }
}

static void make_dt_interval(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        int128 minutes =
            ((int128)part_at(call, 0, i) * 24 + part_at(call, 1, i)) * 60 + part_at(call, 2, i);
        int128 us = call->argument_count < 4 ? 0 : ARGUMENT(call, 3, int128)[i];
        store(call, i, minutes * 60 * SECOND_US + us);
    }
}

const Kernel kernel_make_ym_interval = {.run = make_ym_interval};
const Kernel kernel_make_dt_interval = {.run = make_dt_interval};

/* ---- Fields ---- */

#define INTERVAL_PART(name, CType, From, unit, modulo)                                             \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const From *a = ARGUMENT(call, 0, From);                                                   \
        CType *r = RESULT(call, CType);                                                            \
        FOR_ROWS(call->rows, i, { r[i] = (CType)((a[i] / (unit)) modulo); });                      \
    }

INTERVAL_PART(years_of, int32_t, int32_t, 12, )
INTERVAL_PART(months_of, int8_t, int32_t, 1, % 12)
INTERVAL_PART(days_of, int32_t, int64_t, DAY_US, )
INTERVAL_PART(hours_of, int8_t, int64_t, 3600 * SECOND_US, % 24)
INTERVAL_PART(minutes_of, int8_t, int64_t, 60 * SECOND_US, % 60)
INTERVAL_PART(seconds_of, int128, int64_t, 1, % (60 * SECOND_US))

const Kernel kernel_interval_year = {.run = years_of};
const Kernel kernel_interval_month = {.run = months_of};
const Kernel kernel_interval_day = {.run = days_of};
const Kernel kernel_interval_hour = {.run = hours_of};
const Kernel kernel_interval_minute = {.run = minutes_of};

KernelRun *interval_choose_seconds(void)
{
    return seconds_of;
}
