/* Casts: what the cast_*.c files share. */
#ifndef EXEC_KERNELS_CAST_H
#define EXEC_KERNELS_CAST_H

#include "processor/exec/kernels/kernels.h"

enum { DAY_SECONDS = 86400 };
#define SECOND_US INT64_C(1000000)
#define DAY_US (INT64_C(86400) * SECOND_US)

/* By kind of cast; NULL when the pair is not theirs. */
KernelRun *cast_choose_number(const Type *from, const Type *to);
KernelRun *cast_choose_decimal(const Type *from, const Type *to);
KernelRun *cast_choose_time(const Type *from, const Type *to);
/* One of the types is an interval, none a STRING. */
KernelRun *cast_choose_interval(const Type *from, const Type *to);
KernelRun *cast_choose_nested(KernelSetup *setup);

/* CAST_OVERFLOW of the row's value (argument 0), to the type of the result. */
COLD void cast_fail_overflow(const KernelCall *call, uint32_t row);
/* CAST_INVALID_INPUT of the row's value. */
COLD void cast_fail_invalid(const KernelCall *call, uint32_t row);
/* NUMERIC_VALUE_OUT_OF_RANGE: `text` does not fit the result's DECIMAL. */
COLD void cast_fail_decimal(const KernelCall *call, uint32_t row, Str text);

/* Is the double's whole part within [min, max], as Spark asks? NaN is not. */
bool double_in_range(double number, double min, double max);

/* date.c: is it a date of 32-bit days? And the error when it is none, as java.time words it. */
bool civil_is_in_range(int32_t year, int32_t month, int32_t day);
COLD RETURNS_NONNULL Error *invalid_civil_date(int32_t year, int32_t month, int32_t day);

/* a / b rounded down, for b > 0. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient - (a % b < 0);
}

#endif
