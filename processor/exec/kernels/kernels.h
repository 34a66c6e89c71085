/* What the kernel files share among themselves, and their entries in functions.def. */
#ifndef EXEC_KERNELS_KERNELS_H
#define EXEC_KERNELS_KERNELS_H

#include "processor/exec/kernel.h"

#define FUNCTION(name, flags, min, max, resolve, signature, kernel, doc, example)                  \
    extern const Kernel kernel_##kernel;
#define AGGREGATE(...)
#define WINDOW(...)
#define GENERATOR(...)
#define LATER(name, kind, flags, min, max)
#include "processor/exec/functions.def"
#undef FUNCTION
#undef AGGREGATE
#undef WINDOW
#undef GENERATOR
#undef LATER

/* Entries of a table of loops by PhysicalKind: add_int8 … add_double. */
#define NUMBER_LOOPS(name)                                                                         \
    [PHYSICAL_INT8] = name##_int8, [PHYSICAL_INT16] = name##_int16,                                \
    [PHYSICAL_INT32] = name##_int32, [PHYSICAL_INT64] = name##_int64,                              \
    [PHYSICAL_FLOAT] = name##_float, [PHYSICAL_DOUBLE] = name##_double

/* decimal.c: DECIMAL arithmetic by the types at hand */
KernelRun *decimal_choose_add(KernelSetup *setup);
KernelRun *decimal_choose_subtract(KernelSetup *setup);
KernelRun *decimal_choose_multiply(KernelSetup *setup);
KernelRun *decimal_choose_divide(KernelSetup *setup);
KernelRun *decimal_choose_integral_divide(KernelSetup *setup);
KernelRun *decimal_choose_remainder(KernelSetup *setup);
KernelRun *decimal_choose_pmod(KernelSetup *setup);
KernelRun decimal_negative;
KernelRun decimal_abs;

/* date.c */
KernelRun date_plus_days;
KernelRun date_minus_days;

/* interval.c: arithmetic with an interval, or of two dates or times; add and subtract give NULL for
 * two intervals, which are integers to them, sign for what is no interval */
KernelRun *interval_choose_add(KernelSetup *setup);
KernelRun *interval_choose_subtract(KernelSetup *setup);
KernelRun *interval_choose_multiply(const KernelSetup *setup);
KernelRun *interval_choose_divide(const KernelSetup *setup);
KernelRun *interval_choose_div(const KernelSetup *setup);
KernelRun *interval_choose_sign(const KernelSetup *setup);
/* The seconds of an interval with their fraction, DECIMAL(8,6). */
KernelRun *interval_choose_seconds(void);
/* INTERVAL_ARITHMETIC_OVERFLOW; `alternative` names a function that tolerates it, or is NULL. */
COLD RETURNS_NONNULL Error *interval_overflow(const char *alternative);
/* Moves in local time of the session zone (TIMESTAMP_NTZ results: as they are); false when the
 * result is out of range. */
bool timestamp_add_days(const KernelCall *call, int64_t us, int64_t days, int64_t *ret_us);
bool timestamp_add_months(const KernelCall *call, int64_t us, int64_t months, int64_t *ret_us);

/* arithmetic.c */
COLD void fail_division_by_zero(const KernelCall *call, uint32_t row);
COLD void fail_remainder_by_zero(const KernelCall *call, uint32_t row);

/* collection.c: calls `one` for each asked row, in order; it appends exactly one row to the result.
 */
typedef void AppendRow(const KernelCall *call, uint32_t row);
void append_rows(const KernelCall *call, AppendRow *one);

/* compare.c: <0, 0, >0 by SQL's order of the type (NULL first); both rows of one type. */
int value_compare(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b);

#endif
