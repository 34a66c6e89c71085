/* Casts from and to DECIMAL. Digits beyond the scale are rounded half up, except on the way to an
 * integer, where they are cut. */
#include <math.h>

#include "processor/data/decimal.h"
#include "processor/data/value_text.h"
#include "processor/exec/kernels/cast.h"

#include "processor/base/banned.h"

/* ---- To DECIMAL ---- */

static void store_integer(const KernelCall *call, uint32_t row, int64_t value)
{
    const Type *type = call->result->type;
    if (!decimal_rescale(value, 0, type->precision, type->scale, &RESULT(call, int128)[row])) {
        AUTO_BUFFER Buffer text = {0};
        buffer_printf(&text, "%lld", (long long)value);
        cast_fail_decimal(call, row, buffer_str(&text));
    }
}

#define INTEGER_TO_DECIMAL(CType, suffix)                                                          \
    static void suffix##_to_decimal(const KernelCall *call)                                        \
    {                                                                                              \
        const CType *a = ARGUMENT(call, 0, CType);                                                 \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            store_integer(call, i, a[i]);                                                          \
        }                                                                                          \
    }

INTEGER_TO_DECIMAL(uint8_t, bool)
INTEGER_TO_DECIMAL(int8_t, int8)
INTEGER_TO_DECIMAL(int16_t, int16)
INTEGER_TO_DECIMAL(int32_t, int32)
INTEGER_TO_DECIMAL(int64_t, int64)

/* NaN and infinities have no DECIMAL: NULL, as in Spark. */
static void store_double(const KernelCall *call, uint32_t row, double number)
{
    const Type *type = call->result->type;
    if (!isfinite(number)) {
        vector_set_null(call->result, call->arena, row);
    } else if (!decimal_from_double(number, type->precision, type->scale,
                                    &RESULT(call, int128)[row])) {
        AUTO_BUFFER Buffer text = {0};
        double_format(number, &text);
        cast_fail_decimal(call, row, buffer_str(&text));
    }
}

static void float_to_decimal(const KernelCall *call)
{
    const float *a = ARGUMENT(call, 0, float);
    FOR_VALID_ROWS(call, i)
    {
        store_double(call, i, (double)a[i]);
    }
}

static void double_to_decimal(const KernelCall *call)
{
    const double *a = ARGUMENT(call, 0, double);
    FOR_VALID_ROWS(call, i)
    {
        store_double(call, i, a[i]);
    }
}

static void decimal_to_decimal(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    int128 *r = RESULT(call, int128);
    const Type *from = call->arguments[0]->type;
    const Type *to = call->result->type;
    FOR_VALID_ROWS(call, i)
    {
        if (!decimal_rescale(a[i], from->scale, to->precision, to->scale, &r[i])) {
            AUTO_BUFFER Buffer text = {0};
            decimal_format(a[i], from->scale, &text);
            cast_fail_decimal(call, i, buffer_str(&text));
        }
    }
}

/* ---- From DECIMAL ---- */

#define DECIMAL_TO_INTEGER(CType, suffix, MIN, MAX)                                                \
    static void decimal_to_##suffix(const KernelCall *call)                                        \
    {                                                                                              \
        const int128 *a = ARGUMENT(call, 0, int128);                                               \
        CType *r = RESULT(call, CType);                                                            \
        int128 unit = decimal_power_of_ten(call->arguments[0]->type->scale);                       \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            int128 whole = a[i] / unit;                                                            \
            if (whole < (MIN) || whole > (MAX)) {                                                  \
                cast_fail_overflow(call, i);                                                       \
            } else {                                                                               \
                r[i] = (CType)whole;                                                               \
            }                                                                                      \
        }                                                                                          \
    }

DECIMAL_TO_INTEGER(int8_t, int8, INT8_MIN, INT8_MAX)
DECIMAL_TO_INTEGER(int16_t, int16, INT16_MIN, INT16_MAX)
DECIMAL_TO_INTEGER(int32_t, int32, INT32_MIN, INT32_MAX)
DECIMAL_TO_INTEGER(int64_t, int64, INT64_MIN, INT64_MAX)

static void decimal_to_bool(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    uint8_t *r = RESULT(call, uint8_t);
    FOR_ROWS(call->rows, i, { r[i] = a[i] != 0; });
}

static void decimal_to_float(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    float *r = RESULT(call, float);
    int scale = call->arguments[0]->type->scale;
    FOR_VALID_ROWS(call, i)
    {
        r[i] = (float)decimal_to_double(a[i], scale);
    }
}

static void decimal_to_double_loop(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    double *r = RESULT(call, double);
    int scale = call->arguments[0]->type->scale;
    FOR_VALID_ROWS(call, i)
    {
        r[i] = decimal_to_double(a[i], scale);
    }
}

/* ---- Choice ---- */

/* NULL: there is no such cast. */
static KernelRun *const to_decimal_from[TYPE_VARIANT + 1] = {
    [TYPE_BOOLEAN] = bool_to_decimal,   [TYPE_TINYINT] = int8_to_decimal,
    [TYPE_SMALLINT] = int16_to_decimal, [TYPE_INT] = int32_to_decimal,
    [TYPE_BIGINT] = int64_to_decimal,   [TYPE_DECIMAL] = decimal_to_decimal,
    [TYPE_FLOAT] = float_to_decimal,    [TYPE_DOUBLE] = double_to_decimal,
};

static KernelRun *const from_decimal_to[TYPE_VARIANT + 1] = {
    [TYPE_BOOLEAN] = decimal_to_bool,       [TYPE_TINYINT] = decimal_to_int8,
    [TYPE_SMALLINT] = decimal_to_int16,     [TYPE_INT] = decimal_to_int32,
    [TYPE_BIGINT] = decimal_to_int64,       [TYPE_FLOAT] = decimal_to_float,
    [TYPE_DOUBLE] = decimal_to_double_loop,
};

KernelRun *cast_choose_decimal(const Type *from, const Type *to)
{
    if (to->kind == TYPE_DECIMAL) {
        return to_decimal_from[from->kind];
    }
    return from->kind == TYPE_DECIMAL ? from_decimal_to[to->kind] : NULL;
}
