/* sum(x), try_sum(x): of integers BIGINT, of FLOAT and DOUBLE DOUBLE, of DECIMAL(p, s)
 * DECIMAL(p + 10, s), of intervals the interval.
 *
 * Overflow is asked for at every addition, in the order of the rows, as Spark does: (MAX, 1, -1)
 * fails although the sum would fit. DECIMALs are summed in 128 bits and compared with their
 * precision at the end; only sums near 10^38 could leave those, and are watched. */
#include "processor/data/decimal.h"
#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

typedef struct IntegerSum {
    int64_t sum;
    int64_t count;
    bool overflow; /* try_sum only: NULL from then on */
} IntegerSum;

typedef struct DoubleSum {
    double sum;
    bool any;
} DoubleSum;

typedef struct DecimalSum {
    int128 sum;
    int64_t count;
    bool overflow; /* of 128 bits */
} DecimalSum;

static bool is_tolerant(const AggregateCall *call)
{
    return call->setup != NULL;
}

COLD static Error *overflow(const AggregateCall *call)
{
    if (type_is_interval(call->result)) {
        return error_new(ERROR_INTERVAL_OVERFLOW_TRY,
                         "Integer overflow while operating with intervals. Use `try_add` to "
                         "tolerate overflow and return NULL instead.");
    }
    return error_new(ERROR_ARITHMETIC_OVERFLOW, "overflow. Use 'try_add' to tolerate overflow and "
                                                "return NULL instead.");
}

/* ---- Integers, intervals ---- */

#define ADD_CHECKED                                                                                \
    if (UNLIKELY(__builtin_add_overflow(s->sum, x, &s->sum))) {                                    \
        if (!is_tolerant(call)) {                                                                  \
            return overflow(call);                                                                 \
        }                                                                                          \
        s->overflow = true;                                                                        \
    }                                                                                              \
    s->count++;

ADD_LOOPS(int8, IntegerSum, int8_t, ADD_CHECKED)
ADD_LOOPS(int16, IntegerSum, int16_t, ADD_CHECKED)
ADD_LOOPS(int32, IntegerSum, int32_t, ADD_CHECKED)
ADD_LOOPS(int64, IntegerSum, int64_t, ADD_CHECKED)
/* Months are 32 bits, and so is their sum. */
ADD_LOOPS(months, IntegerSum, int32_t, {
    s->sum += x;
    if (UNLIKELY(s->sum != (int32_t)s->sum)) {
        if (!is_tolerant(call)) {
            return overflow(call);
        }
        s->overflow = true;
    }
    s->count++;
})

/* A batch of narrow integers cannot leave 64 bits: their sum is added at once, which vectorizes. */
#define ADD_ALL_NARROW(suffix, CType)                                                              \
    static Error *add_batch_##suffix(const AggregateCall *call, void *state, Rows rows)            \
    {                                                                                              \
        IntegerSum *s = state;                                                                     \
        const CType *values = call->arguments[0]->data;                                            \
        if (call->arguments[0]->validity != NULL) {                                                \
            return add_all_##suffix(call, state, rows);                                            \
        }                                                                                          \
        int64_t x = 0;                                                                             \
        FOR_ROWS(rows, i, { x += values[i]; });                                                    \
        ADD_CHECKED                                                                                \
        s->count += (int64_t)rows.count - 1;                                                       \
        return NULL;                                                                               \
    }

ADD_ALL_NARROW(int8, int8_t)
ADD_ALL_NARROW(int16, int16_t)
ADD_ALL_NARROW(int32, int32_t)

static void remove_integer(const AggregateCall *call, void *state, uint32_t row)
{
    if (vector_is_valid(call->arguments[0], row)) {
        IntegerSum *s = state;
        uint64_t value = (uint64_t)vector_int_value(call->arguments[0], row);
        s->sum = (int64_t)((uint64_t)s->sum - value);
        s->count--;
    }
}

FINISH(integer, IntegerSum, int64_t, s->count > 0 && !s->overflow, s->sum)
FINISH(months, IntegerSum, int32_t, s->count > 0 && !s->overflow, s->sum)

static Error *merge_integer(const AggregateCall *call, void *a, const void *b)
{
    IntegerSum *s = a;
    const IntegerSum *other = b;
    s->overflow |= other->overflow;
    s->count += other->count - 1;
    const int64_t x = other->sum;
    ADD_CHECKED
    return NULL;
}

/* ---- Floating point ---- */

ADD_LOOPS(float, DoubleSum, float, {
    s->sum += (double)x;
    s->any = true;
})
ADD_LOOPS(double, DoubleSum, double, {
    s->sum += x;
    s->any = true;
})
FINISH(double, DoubleSum, double, s->any, s->sum)

static Error *merge_double(const AggregateCall *call, void *a, const void *b)
{
    (void)call;
    ((DoubleSum *)a)->sum += ((const DoubleSum *)b)->sum;
    ((DoubleSum *)a)->any |= ((const DoubleSum *)b)->any;
    return NULL;
}

/* ---- DECIMAL ---- */

ADD_LOOPS(decimal, DecimalSum, int128, {
    s->overflow |= __builtin_add_overflow(s->sum, x, &s->sum);
    s->count++;
})

static void remove_decimal(const AggregateCall *call, void *state, uint32_t row)
{
    if (vector_is_valid(call->arguments[0], row)) {
        DecimalSum *s = state;
        s->sum = (int128)((uint128)s->sum - (uint128)VECTOR_VALUE(call->arguments[0], int128, row));
        s->count--;
    }
}

static Error *merge_decimal(const AggregateCall *call, void *a, const void *b)
{
    (void)call;
    DecimalSum *s = a;
    const DecimalSum *other = b;
    s->overflow |= other->overflow | __builtin_add_overflow(s->sum, other->sum, &s->sum);
    s->count += other->count;
    return NULL;
}

static Error *finish_decimal(const AggregateCall *call, void *const *states, uint32_t count,
                             Arena *arena, Vector *result)
{
    uint32_t first = results_begin(result, arena, count);
    int128 *out = VECTOR_DATA(result, int128) + first;
    for (uint32_t i = 0; i < count; i++) {
        const DecimalSum *s = states[i];
        bool fits = !s->overflow && decimal_fits(s->sum, call->result->precision);
        out[i] = fits ? s->sum : 0;
        if (!fits && !is_tolerant(call)) {
            return error_new(ERROR_ARITHMETIC_OVERFLOW,
                             "Overflow in sum of decimals. Use 'try_sum' to tolerate overflow and "
                             "return NULL instead.");
        }
        if (!fits || s->count == 0) {
            vector_set_null(result, arena, first + i);
        }
    }
    return NULL;
}

/* ---- Choice ---- */

#define LOOPS(State, add, add_all, merge, remove, finish)                                          \
    {sizeof(State), add, add_all, merge, remove, finish}

static const AggregateLoops *choose(const AggregateCall *call)
{
    static const AggregateLoops by_kind[PHYSICAL_STRUCT + 1] = {
        [PHYSICAL_INT8] = LOOPS(IntegerSum, add_int8, add_batch_int8, merge_integer, remove_integer,
                                finish_integer),
        [PHYSICAL_INT16] = LOOPS(IntegerSum, add_int16, add_batch_int16, merge_integer,
                                 remove_integer, finish_integer),
        [PHYSICAL_INT32] = LOOPS(IntegerSum, add_int32, add_batch_int32, merge_integer,
                                 remove_integer, finish_integer),
        [PHYSICAL_INT64] = LOOPS(IntegerSum, add_int64, add_all_int64, merge_integer,
                                 remove_integer, finish_integer),
        [PHYSICAL_INT128] = LOOPS(DecimalSum, add_decimal, add_all_decimal, merge_decimal,
                                  remove_decimal, finish_decimal),
        /* A sum of doubles depends on the order: nothing can be taken back. */
        [PHYSICAL_FLOAT] =
            LOOPS(DoubleSum, add_float, add_all_float, merge_double, NULL, finish_double),
        [PHYSICAL_DOUBLE] =
            LOOPS(DoubleSum, add_double, add_all_double, merge_double, NULL, finish_double),
    };
    static const AggregateLoops months =
        LOOPS(IntegerSum, add_months, add_all_months, NULL, remove_integer, finish_months);
    return call->types[0]->kind == TYPE_INTERVAL_YEAR_MONTH
               ? &months
               : &by_kind[type_physical(call->types[0])];
}

static const AggregateLoops *choose_sum(const AggregateCall *call, const void **ret_setup)
{
    *ret_setup = NULL;
    return choose(call);
}

static const AggregateLoops *choose_try_sum(const AggregateCall *call, const void **ret_setup)
{
    static const bool tolerant = true;
    *ret_setup = &tolerant;
    return choose(call);
}

const AggregateKernel aggregate_sum = {.choose = choose_sum};
const AggregateKernel aggregate_try_sum = {.choose = choose_try_sum};
