/* Circles, hyperbolas and their like, in the formulas Spark uses. */
#include <math.h>

#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

#define ONE_NUMBER(name, expression)                                                               \
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

#define TWO_NUMBERS(name, expression)                                                              \
    static void run_##name(const KernelCall *call)                                                 \
    {                                                                                              \
        const double *restrict a = ARGUMENT(call, 0, double);                                      \
        const double *restrict b = ARGUMENT(call, 1, double);                                      \
        double *restrict r = RESULT(call, double);                                                 \
        FOR_ROWS(call->rows, i, {                                                                  \
            double x = a[i];                                                                       \
            double y = b[i];                                                                       \
            r[i] = (expression);                                                                   \
        });                                                                                        \
    }                                                                                              \
    const Kernel kernel_##name = {.run = run_##name};

ONE_NUMBER(asin, asin(x))
ONE_NUMBER(acos, acos(x))
ONE_NUMBER(atan, atan(x))
ONE_NUMBER(sinh, sinh(x))
ONE_NUMBER(cosh, cosh(x))
ONE_NUMBER(tanh, tanh(x))
ONE_NUMBER(asinh, asinh(x))
ONE_NUMBER(acosh, log(x + sqrt(x * x - 1.0)))
ONE_NUMBER(atanh, 0.5 * (log1p(x) - log1p(-x)))
ONE_NUMBER(cot, 1.0 / tan(x))
ONE_NUMBER(sec, 1.0 / cos(x))
ONE_NUMBER(csc, 1.0 / sin(x))
ONE_NUMBER(rint, rint(x))
/* -0.0 counts as 0.0 */
TWO_NUMBERS(atan2, atan2(x + 0.0, y + 0.0))
TWO_NUMBERS(hypot, hypot(x, y))

/* NULL beyond what a BIGINT holds. */
static void factorial(const KernelCall *call)
{
    enum { FACTORIAL_MAX = 20 };
    const int32_t *a = ARGUMENT(call, 0, int32_t);
    int64_t products[FACTORIAL_MAX + 1] = {1};
    for (int i = 1; i <= FACTORIAL_MAX; i++) {
        products[i] = products[i - 1] * i;
    }
    FOR_VALID_ROWS(call, i)
    {
        if (a[i] < 0 || a[i] > FACTORIAL_MAX) {
            vector_set_null(call->result, call->arena, i);
        } else {
            RESULT(call, int64_t)[i] = products[a[i]];
        }
    }
}

const Kernel kernel_factorial = {.run = factorial};

/* ---- width_bucket ---- */

static double number_at(const Vector *vector, uint32_t row)
{
    return vector->type->kind == TYPE_DOUBLE ? VECTOR_VALUE(vector, double, row)
                                             : (double)vector_int_value(vector, row);
}

/* Which of `count` equal parts of [from, to) holds the value? 0 before, count + 1 behind. */
static int64_t bucket_of(double value, double from, double to, int64_t count)
{
    double low = from < to ? from : to;
    double high = from < to ? to : from;
    if (from < to) {
        return value < low     ? 0
               : value >= high ? count + 1
                               : (int64_t)((double)count * (value - low) / (high - low)) + 1;
    }
    return value > high   ? 0
           : value <= low ? count + 1
                          : (int64_t)((double)count * (high - value) / (high - low)) + 1;
}

static void width_bucket(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        double value = number_at(call->arguments[0], i);
        double from = number_at(call->arguments[1], i);
        double to = number_at(call->arguments[2], i);
        int64_t count = ARGUMENT(call, 3, int64_t)[i];
        if (count <= 0 || count == INT64_MAX || isnan(value) || !isfinite(from) || !isfinite(to) ||
            from == to) {
            vector_set_null(call->result, call->arena, i);
        } else {
            RESULT(call, int64_t)[i] = bucket_of(value, from, to, count);
        }
    }
}

const Kernel kernel_width_bucket = {.run = width_bucket};
