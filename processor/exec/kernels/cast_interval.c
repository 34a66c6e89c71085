/* Casts among intervals of one family, and between intervals and numbers. As a number an interval
 * is a count of its type's last field: INTERVAL '1 02' DAY TO HOUR is 26. */
#include "processor/data/decimal.h"
#include "processor/exec/kernels/cast.h"
#include "processor/exec/kernels/wide.h"

#include "processor/base/banned.h"

/* Months or microseconds of the type's last field. */
static int64_t last_unit(const Type *type)
{
    switch ((enum IntervalField)type->scale) {
    case FIELD_YEAR:
        return 12;
    case FIELD_MONTH:
        return 1;
    case FIELD_DAY:
        return DAY_US;
    case FIELD_HOUR:
        return 3600 * SECOND_US;
    case FIELD_MINUTE:
        return 60 * SECOND_US;
    case FIELD_SECOND:
        break;
    }
    return SECOND_US;
}

static bool is_months(const Type *type)
{
    return type->kind == TYPE_INTERVAL_YEAR_MONTH;
}

static int64_t interval_at(const KernelCall *call, uint32_t row)
{
    return is_months(call->arguments[0]->type) ? ARGUMENT(call, 0, int32_t)[row]
                                               : ARGUMENT(call, 0, int64_t)[row];
}

/* ---- Interval to interval ---- */

/* What is smaller than the last field is cut. */
static void months_to_months(const KernelCall *call)
{
    const int32_t *a = ARGUMENT(call, 0, int32_t);
    int32_t *r = RESULT(call, int32_t);
    int32_t unit = (int32_t)last_unit(call->result->type);
    FOR_ROWS(call->rows, i, { r[i] = a[i] - a[i] % unit; });
}

static void us_to_us(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    int64_t *r = RESULT(call, int64_t);
    int64_t unit = call->result->type->scale == FIELD_SECOND ? 1 : last_unit(call->result->type);
    FOR_ROWS(call->rows, i, { r[i] = a[i] - a[i] % unit; });
}

/* ---- Interval to number ---- */

static void store_integer(const KernelCall *call, uint32_t row, int64_t value)
{
    unsigned unused_bits = 64 - 8 * (unsigned)type_value_size(call->result->type);
    if (value < INT64_MIN >> unused_bits || value > INT64_MAX >> unused_bits) {
        cast_fail_overflow(call, row);
        return;
    }
    switch (call->result->type->kind) {
    case TYPE_TINYINT:
        RESULT(call, int8_t)[row] = (int8_t)value;
        return;
    case TYPE_SMALLINT:
        RESULT(call, int16_t)[row] = (int16_t)value;
        return;
    case TYPE_INT:
        RESULT(call, int32_t)[row] = (int32_t)value;
        return;
    default:
        RESULT(call, int64_t)[row] = value;
        return;
    }
}

static void interval_to_integer(const KernelCall *call)
{
    int64_t unit = last_unit(call->arguments[0]->type);
    FOR_VALID_ROWS(call, i)
    {
        store_integer(call, i, interval_at(call, i) / unit);
    }
}

/* Seconds keep their fraction. */
static void interval_to_decimal(const KernelCall *call)
{
    const Type *from = call->arguments[0]->type;
    const Type *to = call->result->type;
    int scale = from->scale == FIELD_SECOND ? 6 : 0;
    int64_t unit = scale == 6 ? 1 : last_unit(from);
    FOR_VALID_ROWS(call, i)
    {
        int64_t value = interval_at(call, i) / unit;
        if (!decimal_rescale(value, scale, to->precision, to->scale, &RESULT(call, int128)[i])) {
            AUTO_BUFFER Buffer text = {0};
            decimal_format(value, scale, &text);
            cast_fail_decimal(call, i, buffer_str(&text));
        }
    }
}

/* ---- Number to interval ---- */

static void store_interval(const KernelCall *call, uint32_t row, int128 value)
{
    bool months = is_months(call->result->type);
    if (months ? value < INT32_MIN || value > INT32_MAX : value < INT64_MIN || value > INT64_MAX) {
        cast_fail_overflow(call, row);
    } else if (months) {
        RESULT(call, int32_t)[row] = (int32_t)value;
    } else {
        RESULT(call, int64_t)[row] = (int64_t)value;
    }
}

static void integer_to_interval(const KernelCall *call)
{
    const Vector *from = call->arguments[0];
    int64_t unit = last_unit(call->result->type);
    FOR_VALID_ROWS(call, i)
    {
        store_interval(call, i, (int128)vector_int_value(from, i) * unit);
    }
}

static void decimal_to_interval(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    int scale = call->arguments[0]->type->scale;
    int64_t unit = last_unit(call->result->type);
    FOR_VALID_ROWS(call, i)
    {
        Wide rounded = wide_round(wide_product(a[i], unit), scale);
        int128 value = 0;
        if (wide_to_int128(&rounded, &value)) {
            store_interval(call, i, value);
        } else {
            cast_fail_overflow(call, i);
        }
    }
}

KernelRun *cast_choose_interval(const Type *from, const Type *to)
{
    if (type_is_interval(from) && type_is_interval(to)) {
        return from->kind != to->kind ? NULL : is_months(to) ? months_to_months : us_to_us;
    }
    if (type_is_interval(from)) {
        return to->kind == TYPE_DECIMAL ? interval_to_decimal
               : type_is_integral(to)   ? interval_to_integer
                                        : NULL;
    }
    return from->kind == TYPE_DECIMAL ? decimal_to_interval
           : type_is_integral(from)   ? integer_to_interval
                                      : NULL;
}
