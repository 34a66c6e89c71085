/* Casts among DATE, TIMESTAMP and TIMESTAMP_NTZ through the session zone, and between TIMESTAMP and
 * numbers (seconds since 1970 UTC). */
#include <math.h>

#include "processor/data/decimal.h"
#include "processor/exec/kernels/cast.h"
#include "processor/exec/kernels/wide.h"

#include "processor/base/banned.h"

/* ---- Among dates and times ---- */

#define TIME_CAST(From, from, To, to, expression)                                                  \
    static void from##_to_##to(const KernelCall *call)                                             \
    {                                                                                              \
        const TimeZone *zone = call->context->time_zone;                                           \
        const From *a = ARGUMENT(call, 0, From);                                                   \
        To *r = RESULT(call, To);                                                                  \
        (void)zone;                                                                                \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            r[i] = (To)(expression);                                                               \
        }                                                                                          \
    }

/* Far instants wrap, as nothing better can be said of a year beyond 294247. */
static int64_t add_wrapping(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t to_local(const TimeZone *zone, int64_t us)
{
    return add_wrapping(us, time_zone_offset_us(zone, us));
}

/* DATE holds more days than TIMESTAMP microseconds. */
static int64_t days_to_us(int32_t days)
{
    int64_t us = 0;
    if (__builtin_mul_overflow((int64_t)days, DAY_US, &us)) {
        return days < 0 ? INT64_MIN : INT64_MAX;
    }
    return us;
}

TIME_CAST(int32_t, date, int64_t, timestamp, time_zone_to_instant_us(zone, days_to_us(a[i])))
TIME_CAST(int32_t, date, int64_t, ntz, days_to_us(a[i]))
TIME_CAST(int64_t, timestamp, int32_t, date, floor_div(to_local(zone, a[i]), DAY_US))
TIME_CAST(int64_t, timestamp, int64_t, ntz, to_local(zone, a[i]))
TIME_CAST(int64_t, ntz, int32_t, date, floor_div(a[i], DAY_US))
TIME_CAST(int64_t, ntz, int64_t, timestamp, time_zone_to_instant_us(zone, a[i]))

/* ---- TIMESTAMP to numbers ---- */

#define TIMESTAMP_TO_INTEGER(CType, suffix, MIN, MAX)                                              \
    static void timestamp_to_##suffix(const KernelCall *call)                                      \
    {                                                                                              \
        const int64_t *a = ARGUMENT(call, 0, int64_t);                                             \
        CType *r = RESULT(call, CType);                                                            \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            int64_t seconds = floor_div(a[i], SECOND_US);                                          \
            if (seconds < (MIN) || seconds > (MAX)) {                                              \
                cast_fail_overflow(call, i);                                                       \
            } else {                                                                               \
                r[i] = (CType)seconds;                                                             \
            }                                                                                      \
        }                                                                                          \
    }

TIMESTAMP_TO_INTEGER(int8_t, int8, INT8_MIN, INT8_MAX)
TIMESTAMP_TO_INTEGER(int16_t, int16, INT16_MIN, INT16_MAX)
TIMESTAMP_TO_INTEGER(int32_t, int32, INT32_MIN, INT32_MAX)
TIME_CAST(int64_t, timestamp, int64_t, int64, floor_div(a[i], SECOND_US))
TIME_CAST(int64_t, timestamp, double, double, (double)a[i] / 1e6)
TIME_CAST(int64_t, timestamp, float, float, (double)a[i] / 1e6)

static void timestamp_to_decimal(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    const Type *type = call->result->type;
    FOR_VALID_ROWS(call, i)
    {
        if (!decimal_rescale(a[i], 6, type->precision, type->scale, &RESULT(call, int128)[i])) {
            AUTO_BUFFER Buffer text = {0};
            decimal_format(a[i], 6, &text);
            cast_fail_decimal(call, i, buffer_str(&text));
        }
    }
}

/* ---- Numbers to TIMESTAMP ---- */

/* Seconds beyond the range saturate, as Java's TimeUnit does. */
static int64_t seconds_to_us(int64_t seconds)
{
    int64_t us = 0;
    if (__builtin_mul_overflow(seconds, SECOND_US, &us)) {
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    return us;
}

TIME_CAST(int8_t, int8, int64_t, timestamp, seconds_to_us(a[i]))
TIME_CAST(int16_t, int16, int64_t, timestamp, seconds_to_us(a[i]))
TIME_CAST(int32_t, int32, int64_t, timestamp, seconds_to_us(a[i]))
TIME_CAST(int64_t, int64, int64_t, timestamp, seconds_to_us(a[i]))

static void store_seconds(const KernelCall *call, uint32_t row, double seconds)
{
    double us = seconds * 1e6;
    if (!isfinite(seconds)) {
        cast_fail_invalid(call, row);
    } else if (!double_in_range(us, (double)INT64_MIN, (double)INT64_MAX)) {
        cast_fail_overflow(call, row);
    } else {
        RESULT(call, int64_t)[row] = us >= 0x1p63 ? INT64_MAX : (int64_t)us;
    }
}

static void float_to_timestamp(const KernelCall *call)
{
    const float *a = ARGUMENT(call, 0, float);
    FOR_VALID_ROWS(call, i)
    {
        store_seconds(call, i, (double)a[i]);
    }
}

static void double_to_timestamp(const KernelCall *call)
{
    const double *a = ARGUMENT(call, 0, double);
    FOR_VALID_ROWS(call, i)
    {
        store_seconds(call, i, a[i]);
    }
}

/* Spark keeps the low 64 bits of what is beyond the range. */
static void decimal_to_timestamp(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    const Wide unit = wide_scaled(1, call->arguments[0]->type->scale);
    FOR_VALID_ROWS(call, i)
    {
        Wide whole;
        Wide rest;
        wide_divide(wide_scaled(a[i], 6), unit, &whole, &rest);
        uint64_t bits = whole.negative ? 0 - whole.limbs[0] : whole.limbs[0];
        RESULT(call, int64_t)[i] = (int64_t)bits;
    }
}

/* ---- Choice ---- */

/* NULL: there is no such cast. */
static KernelRun *const from_timestamp_to[TYPE_VARIANT + 1] = {
    [TYPE_DATE] = timestamp_to_date,       [TYPE_TIMESTAMP_NTZ] = timestamp_to_ntz,
    [TYPE_TINYINT] = timestamp_to_int8,    [TYPE_SMALLINT] = timestamp_to_int16,
    [TYPE_INT] = timestamp_to_int32,       [TYPE_BIGINT] = timestamp_to_int64,
    [TYPE_FLOAT] = timestamp_to_float,     [TYPE_DOUBLE] = timestamp_to_double,
    [TYPE_DECIMAL] = timestamp_to_decimal,
};

static KernelRun *const to_timestamp_from[TYPE_VARIANT + 1] = {
    [TYPE_DATE] = date_to_timestamp,       [TYPE_TIMESTAMP_NTZ] = ntz_to_timestamp,
    [TYPE_TINYINT] = int8_to_timestamp,    [TYPE_SMALLINT] = int16_to_timestamp,
    [TYPE_INT] = int32_to_timestamp,       [TYPE_BIGINT] = int64_to_timestamp,
    [TYPE_FLOAT] = float_to_timestamp,     [TYPE_DOUBLE] = double_to_timestamp,
    [TYPE_DECIMAL] = decimal_to_timestamp,
};

KernelRun *cast_choose_time(const Type *from, const Type *to)
{
    if (to->kind == TYPE_TIMESTAMP) {
        return to_timestamp_from[from->kind];
    }
    if (from->kind == TYPE_TIMESTAMP) {
        return from_timestamp_to[to->kind];
    }
    if (from->kind == TYPE_DATE && to->kind == TYPE_TIMESTAMP_NTZ) {
        return date_to_ntz;
    }
    return from->kind == TYPE_TIMESTAMP_NTZ && to->kind == TYPE_DATE ? ntz_to_date : NULL;
}
