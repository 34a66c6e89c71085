/* Mathematical functions of DOUBLE, and rounding of every numeric type. exp, ln, power and their
 * like come from the C library: right to the last digit or one unit beside it, as are Java's, which
 * sometimes errs to the other side. */
#include <math.h>

#include "processor/data/decimal.h"
#include "processor/data/value_text.h"
#include "processor/exec/kernels/cast.h"

#include "processor/base/banned.h"

/* ---- One DOUBLE in, one out ---- */

#define DOUBLE_FUNCTION(name, expression)                                                          \
    static void run_##name(const KernelCall *call)                                                 \
    {                                                                                              \
        const double *restrict a = ARGUMENT(call, 0, double);                                      \
        double *restrict r = RESULT(call, double);                                                 \
        FOR_ROWS(call->rows, i, {                                                                  \
            double x = a[i];                                                                       \
            r[i] = (expression);                                                                   \
        });                                                                                        \
    }                                                                                              \
    const Kernel kernel_##name = {.run = run_##name};

static void double_sign(const KernelCall *call)
{
    const double *restrict a = ARGUMENT(call, 0, double);
    double *restrict r = RESULT(call, double);
    FOR_ROWS(call->rows, i, { r[i] = a[i] > 0 ? 1.0 : a[i] < 0 ? -1.0 : a[i]; });
}

static KernelRun *choose_sign(KernelSetup *setup)
{
    KernelRun *run = interval_choose_sign(setup);
    return run != NULL ? run : double_sign;
}

const Kernel kernel_sign = {.choose = choose_sign};

DOUBLE_FUNCTION(sqrt, sqrt(x))
DOUBLE_FUNCTION(cbrt, (double)cbrtl((long double)x)) /* cbrt(27) is 3.0, not 3.0000000000000004 */
DOUBLE_FUNCTION(exp, exp(x))
DOUBLE_FUNCTION(expm1, expm1(x))
DOUBLE_FUNCTION(sin, sin(x))
DOUBLE_FUNCTION(cos, cos(x))
DOUBLE_FUNCTION(tan, tan(x))
DOUBLE_FUNCTION(degrees, x * (180.0 / M_PI))
DOUBLE_FUNCTION(radians, x *(M_PI / 180.0))

/* Logarithms: NULL where the argument is not above the limit. */
#define LOGARITHM(name, limit, expression)                                                         \
    static void run_##name(const KernelCall *call)                                                 \
    {                                                                                              \
        const double *a = ARGUMENT(call, 0, double);                                               \
        double *r = RESULT(call, double);                                                          \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            double x = a[i];                                                                       \
            if (x <= (limit)) {                                                                    \
                vector_set_null(call->result, call->arena, i);                                     \
            } else {                                                                               \
                r[i] = (expression);                                                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    const Kernel kernel_##name = {.run = run_##name};

LOGARITHM(ln, 0, log(x))
LOGARITHM(log10, 0, log10(x))
LOGARITHM(log2, 0, log(x) / log(2.0))
LOGARITHM(log1p, -1, log1p(x))

/* log(base, x) */
static void log_to_base(const KernelCall *call)
{
    const double *base = ARGUMENT(call, 0, double);
    const double *x = ARGUMENT(call, 1, double);
    FOR_VALID_ROWS(call, i)
    {
        if (base[i] <= 0 || x[i] <= 0) {
            vector_set_null(call->result, call->arena, i);
        } else {
            RESULT(call, double)[i] = log(x[i]) / log(base[i]);
        }
    }
}

static KernelRun *choose_log(KernelSetup *setup)
{
    return setup->argument_count == 1 ? run_ln : log_to_base;
}

const Kernel kernel_log = {.choose = choose_log};

/* As Java, where C has 1: 1 to the power of NaN, and 1 or -1 to an infinite one, are NaN. */
static double java_pow(double base, double exponent)
{
    bool unknown = isnan(exponent) || (fabs(base) == 1 && isinf(exponent));
    return unknown ? (double)NAN : pow(base, exponent);
}

static void power(const KernelCall *call)
{
    const double *a = ARGUMENT(call, 0, double);
    const double *b = ARGUMENT(call, 1, double);
    double *r = RESULT(call, double);
    FOR_ROWS(call->rows, i, { r[i] = java_pow(a[i], b[i]); });
}

const Kernel kernel_power = {.run = power};

#define CONSTANT(name, value)                                                                      \
    static void run_##name(const KernelCall *call)                                                 \
    {                                                                                              \
        double *r = RESULT(call, double);                                                          \
        FOR_ROWS(call->rows, i, { r[i] = (value); });                                              \
    }                                                                                              \
    const Kernel kernel_##name = {.run = run_##name};

CONSTANT(pi, M_PI)
CONSTANT(e, M_E)

/* ---- Rounding ---- */

typedef enum Rounding { HALF_UP, HALF_EVEN, CEILING, FLOOR } Rounding;

/* value / unit rounded to a whole number; unit > 0. */
static int128 divide_rounded(int128 value, int128 unit, Rounding rounding)
{
    int128 quotient = value / unit;
    int128 rest = value % unit;
    if (rest == 0) {
        return quotient;
    }
    int away = value < 0 ? -1 : 1;
    int128 magnitude = rest < 0 ? -rest : rest;
    /* Compared without doubling: unit may be 10^38. */
    int half = magnitude > unit - magnitude ? 1 : magnitude < unit - magnitude ? -1 : 0;
    switch (rounding) {
    case HALF_UP:
        return quotient + (half >= 0 ? away : 0);
    case HALF_EVEN:
        return quotient + (half > 0 || (half == 0 && quotient % 2 != 0) ? away : 0);
    case CEILING:
        return quotient + (value > 0);
    case FLOOR:
        return quotient - (value < 0);
    }
    return quotient;
}

/* Rounds an unscaled value of `scale` to `digits` fraction digits (negative: before the point), and
 * gives it with scale max(digits, 0). False when it would need more than 38 digits. */
static bool round_unscaled(int128 value, int scale, int digits, Rounding rounding, int128 *ret)
{
    if (digits >= scale) {
        *ret = value;
        return true;
    }
    int dropped = scale - digits;
    if (dropped > DECIMAL_PRECISION_MAX) {
        bool up = (rounding == CEILING && value > 0) || (rounding == FLOOR && value < 0);
        *ret = 0;
        return !up;
    }
    int128 rounded = divide_rounded(value, decimal_power_of_ten(dropped), rounding);
    int zeros = digits < 0 ? -digits : 0;
    return decimal_rescale(rounded, 0, DECIMAL_PRECISION_MAX, zeros, ret);
}

static void fail_rounding(const KernelCall *call, uint32_t row)
{
    kernel_fail(call, row, error_new(ERROR_ARITHMETIC_OVERFLOW, "Overflow."));
}

static int digits_of(const KernelCall *call, uint32_t row)
{
    if (call->argument_count < 2) {
        return 0;
    }
    int32_t digits = ARGUMENT(call, 1, int32_t)[row];
    return digits > 400 ? 400 : digits < -400 ? -400 : digits;
}

static Rounding rounding_of(const KernelCall *call)
{
    return *(const Rounding *)call->state;
}

#define ROUND_INTEGER(CType, suffix, MIN, MAX)                                                     \
    static void round_##suffix(const KernelCall *call)                                             \
    {                                                                                              \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            int128 value = 0;                                                                      \
            if (!round_unscaled(ARGUMENT(call, 0, CType)[i], 0, digits_of(call, i),                \
                                rounding_of(call), &value) ||                                      \
                value < (MIN) || value > (MAX)) {                                                  \
                fail_rounding(call, i);                                                            \
            } else {                                                                               \
                RESULT(call, CType)[i] = (CType)value;                                             \
            }                                                                                      \
        }                                                                                          \
    }

ROUND_INTEGER(int8_t, int8, INT8_MIN, INT8_MAX)
ROUND_INTEGER(int16_t, int16, INT16_MIN, INT16_MAX)
ROUND_INTEGER(int32_t, int32, INT32_MIN, INT32_MAX)
ROUND_INTEGER(int64_t, int64, INT64_MIN, INT64_MAX)

/* The result's scale is what was asked for, at most the argument's. */
static void round_decimal(const KernelCall *call)
{
    const Type *from = call->arguments[0]->type;
    const Type *to = call->result->type;
    FOR_VALID_ROWS(call, i)
    {
        int digits = digits_of(call, i);
        int128 value = 0;
        int scale = digits < 0 ? 0 : digits < from->scale ? digits : from->scale;
        if (!round_unscaled(ARGUMENT(call, 0, int128)[i], from->scale, digits, rounding_of(call),
                            &value) ||
            !decimal_rescale(value, scale, to->precision, to->scale, &RESULT(call, int128)[i])) {
            AUTO_BUFFER Buffer text = {0};
            decimal_format(ARGUMENT(call, 0, int128)[i], from->scale, &text);
            cast_fail_decimal(call, i, buffer_str(&text));
        }
    }
}

/* Spark rounds the decimal number a double prints as: round(1.005, 2) is 1.01. */
static double round_number(double number, Str text, int digits, Rounding rounding)
{
    if (!isfinite(number) || number == 0) {
        return number;
    }
    int magnitude = (int)floor(log10(fabs(number))) + 1;
    int scale = DECIMAL_PRECISION_MAX - 2 - (magnitude > 0 ? magnitude : 0);
    int128 unscaled = 0;
    int128 value = 0;
    if (digits >= scale || scale < 0 ||
        decimal_parse(text, DECIMAL_PRECISION_MAX, scale, true, &unscaled) != DECIMAL_OK ||
        !round_unscaled(unscaled, scale, digits, rounding, &value)) {
        return number;
    }
    return decimal_to_double(value, digits > 0 ? digits : 0);
}

static void round_double(const KernelCall *call)
{
    AUTO_BUFFER Buffer text = {0};
    FOR_VALID_ROWS(call, i)
    {
        double number = ARGUMENT(call, 0, double)[i];
        buffer_clear(&text);
        double_format(number, &text);
        RESULT(call, double)
        [i] = round_number(number, buffer_str(&text), digits_of(call, i), rounding_of(call));
    }
}

static void round_float(const KernelCall *call)
{
    AUTO_BUFFER Buffer text = {0};
    FOR_VALID_ROWS(call, i)
    {
        float number = ARGUMENT(call, 0, float)[i];
        buffer_clear(&text);
        float_format(number, &text);
        RESULT(call, float)
        [i] = (float)round_number((double)number, buffer_str(&text), digits_of(call, i),
                                  rounding_of(call));
    }
}

static KernelRun *choose_rounding(KernelSetup *setup, Rounding rounding)
{
    Rounding *state = arena_new_object(setup->arena, Rounding);
    *state = rounding;
    setup->state = state;
    switch (type_physical(setup->types[0])) {
    case PHYSICAL_INT8:
        return round_int8;
    case PHYSICAL_INT16:
        return round_int16;
    case PHYSICAL_INT32:
        return round_int32;
    case PHYSICAL_INT64:
        return round_int64;
    case PHYSICAL_INT128:
        return round_decimal;
    case PHYSICAL_FLOAT:
        return round_float;
    case PHYSICAL_DOUBLE:
        return round_double;
    case PHYSICAL_NONE:
    case PHYSICAL_BOOL:
    case PHYSICAL_STR:
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        break;
    }
    return NULL;
}

/* ---- ceil and floor of a DOUBLE: a BIGINT ---- */

/* NaN is 0 and what is beyond overflows: Java's conversion, checked. */
static void whole_double(const KernelCall *call)
{
    bool up = rounding_of(call) == CEILING;
    FOR_VALID_ROWS(call, i)
    {
        double number = ARGUMENT(call, 0, double)[i];
        double whole = up ? ceil(number) : floor(number);
        if (isnan(whole)) {
            RESULT(call, int64_t)[i] = 0;
        } else if (whole >= -0x1p63 && whole <= 0x1p63) {
            RESULT(call, int64_t)[i] = whole >= 0x1p63 ? INT64_MAX : (int64_t)whole;
        } else {
            kernel_fail(call, i, error_new(ERROR_ARITHMETIC_OVERFLOW, "overflow."));
        }
    }
}

static KernelRun *choose_whole(KernelSetup *setup, Rounding rounding)
{
    KernelRun *run = choose_rounding(setup, rounding);
    return setup->types[0]->kind == TYPE_DOUBLE ? whole_double : run;
}

static KernelRun *choose_round(KernelSetup *setup)
{
    return choose_rounding(setup, HALF_UP);
}

static KernelRun *choose_bround(KernelSetup *setup)
{
    return choose_rounding(setup, HALF_EVEN);
}

static KernelRun *choose_ceil(KernelSetup *setup)
{
    return choose_whole(setup, CEILING);
}

static KernelRun *choose_floor(KernelSetup *setup)
{
    return choose_whole(setup, FLOOR);
}

const Kernel kernel_round = {.choose = choose_round};
const Kernel kernel_bround = {.choose = choose_bround};
const Kernel kernel_ceil = {.choose = choose_ceil};
const Kernel kernel_floor = {.choose = choose_floor};
