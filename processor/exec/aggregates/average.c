/* avg(x), mean(x), try_avg(x): of numbers DOUBLE, of DECIMAL(p, s) DECIMAL(p + 4, s + 4), of
 * intervals the interval with all its fields. Integers are summed as doubles, as Spark does: the
 * average of BIGINTs cannot overflow but may lose digits. */
#include "processor/data/decimal.h"
#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

typedef struct DoubleAverage {
    double sum;
    int64_t count;
} DoubleAverage;

typedef struct DecimalAverage {
    int128 sum;
    int64_t count;
    bool overflow;
} DecimalAverage;

typedef struct IntervalAverage {
    int64_t sum;
    int64_t count;
    bool overflow; /* try_avg only */
} IntervalAverage;

static bool is_tolerant(const AggregateCall *call)
{
    return call->setup != NULL;
}

/* ---- Numbers ---- */

#define ADD_NUMBER                                                                                 \
    s->sum += (double)x;                                                                           \
    s->count++;

ADD_LOOPS(int8, DoubleAverage, int8_t, ADD_NUMBER)
ADD_LOOPS(int16, DoubleAverage, int16_t, ADD_NUMBER)
ADD_LOOPS(int32, DoubleAverage, int32_t, ADD_NUMBER)
ADD_LOOPS(int64, DoubleAverage, int64_t, ADD_NUMBER)
ADD_LOOPS(float, DoubleAverage, float, ADD_NUMBER)
ADD_LOOPS(double, DoubleAverage, double, ADD_NUMBER)
FINISH(double, DoubleAverage, double, s->count > 0, s->sum / (double)s->count)

static Error *merge_double(const AggregateCall *call, void *a, const void *b)
{
    (void)call;
    ((DoubleAverage *)a)->sum += ((const DoubleAverage *)b)->sum;
    ((DoubleAverage *)a)->count += ((const DoubleAverage *)b)->count;
    return NULL;
}

/* Of integers of up to 32 bits: the sum is exact, so they can be taken back. */
static void remove_integer(const AggregateCall *call, void *state, uint32_t row)
{
    if (vector_is_valid(call->arguments[0], row)) {
        DoubleAverage *s = state;
        s->sum -= (double)vector_int_value(call->arguments[0], row);
        s->count--;
    }
}

/* ---- DECIMAL ---- */

ADD_LOOPS(decimal, DecimalAverage, int128, {
    s->overflow |= __builtin_add_overflow(s->sum, x, &s->sum);
    s->count++;
})

static void remove_decimal(const AggregateCall *call, void *state, uint32_t row)
{
    if (vector_is_valid(call->arguments[0], row)) {
        DecimalAverage *s = state;
        s->sum = (int128)((uint128)s->sum - (uint128)VECTOR_VALUE(call->arguments[0], int128, row));
        s->count--;
    }
}

static Error *merge_decimal(const AggregateCall *call, void *a, const void *b)
{
    (void)call;
    DecimalAverage *s = a;
    const DecimalAverage *other = b;
    s->overflow |= other->overflow | __builtin_add_overflow(s->sum, other->sum, &s->sum);
    s->count += other->count;
    return NULL;
}

/* The sum has the precision sum() would give it, and must fit that first. */
static bool decimal_average(const AggregateCall *call, const DecimalAverage *s, int128 *ret)
{
    const Type *type = call->types[0];
    int sum_precision = type->precision + 10;
    sum_precision = sum_precision > DECIMAL_PRECISION_MAX ? DECIMAL_PRECISION_MAX : sum_precision;
    return !s->overflow && decimal_fits(s->sum, sum_precision) &&
           decimal_divide(s->sum, type->scale, s->count, 0, call->result->precision,
                          call->result->scale, ret);
}

static Error *finish_decimal(const AggregateCall *call, void *const *states, uint32_t count,
                             Arena *arena, Vector *result)
{
    uint32_t first = results_begin(result, arena, count);
    int128 *out = VECTOR_DATA(result, int128) + first;
    for (uint32_t i = 0; i < count; i++) {
        const DecimalAverage *s = states[i];
        out[i] = 0;
        bool fits = s->count == 0 || decimal_average(call, s, &out[i]);
        if (!fits && !is_tolerant(call)) {
            return error_new(ERROR_ARITHMETIC_OVERFLOW,
                             "Overflow in sum of decimals. Use 'try_avg' to tolerate overflow and "
                             "return NULL instead.");
        }
        if (!fits || s->count == 0) {
            vector_set_null(result, arena, first + i);
        }
    }
    return NULL;
}

/* ---- Intervals ---- */

COLD static Error *overflow(void)
{
    return error_new(ERROR_INTERVAL_OVERFLOW_TRY,
                     "Integer overflow while operating with intervals. Use `try_add` to tolerate "
                     "overflow and return NULL instead.");
}

ADD_LOOPS(months, IntervalAverage, int32_t, {
    s->sum += x;
    if (UNLIKELY(s->sum != (int32_t)s->sum)) {
        if (!is_tolerant(call)) {
            return overflow();
        }
        s->overflow = true;
    }
    s->count++;
})
ADD_LOOPS(micros, IntervalAverage, int64_t, {
    if (UNLIKELY(__builtin_add_overflow(s->sum, x, &s->sum))) {
        if (!is_tolerant(call)) {
            return overflow();
        }
        s->overflow = true;
    }
    s->count++;
})

/* Half up, away from zero. */
static int64_t divide_half_up(int64_t sum, int64_t count)
{
    int64_t quotient = sum / count;
    int64_t rest = sum % count;
    uint64_t twice = 2 * (rest < 0 ? -(uint64_t)rest : (uint64_t)rest);
    return quotient + (twice >= (uint64_t)count ? (sum < 0 ? -1 : 1) : 0);
}

static void remove_interval(const AggregateCall *call, void *state, uint32_t row)
{
    if (vector_is_valid(call->arguments[0], row)) {
        IntervalAverage *s = state;
        s->sum -= vector_int_value(call->arguments[0], row);
        s->count--;
    }
}

FINISH(months, IntervalAverage, int32_t, s->count > 0 && !s->overflow,
       divide_half_up(s->sum, s->count))
FINISH(micros, IntervalAverage, int64_t, s->count > 0 && !s->overflow,
       divide_half_up(s->sum, s->count))

/* ---- Choice ---- */

#define NUMBER(suffix, remove)                                                                     \
    {sizeof(DoubleAverage), add_##suffix, add_all_##suffix, merge_double, remove, finish_double}

static const AggregateLoops *choose(const AggregateCall *call)
{
    static const AggregateLoops by_kind[PHYSICAL_STRUCT + 1] = {
        [PHYSICAL_INT8] = NUMBER(int8, remove_integer),
        [PHYSICAL_INT16] = NUMBER(int16, remove_integer),
        [PHYSICAL_INT32] = NUMBER(int32, remove_integer),
        [PHYSICAL_INT64] = NUMBER(int64, NULL),
        [PHYSICAL_FLOAT] = NUMBER(float, NULL),
        [PHYSICAL_DOUBLE] = NUMBER(double, NULL),
        [PHYSICAL_INT128] = {sizeof(DecimalAverage), add_decimal, add_all_decimal, merge_decimal,
                             remove_decimal, finish_decimal},
    };
    static const AggregateLoops months = {
        sizeof(IntervalAverage), add_months, add_all_months, NULL, remove_interval, finish_months};
    static const AggregateLoops micros = {
        sizeof(IntervalAverage), add_micros, add_all_micros, NULL, remove_interval, finish_micros};
    switch (call->types[0]->kind) {
    case TYPE_INTERVAL_YEAR_MONTH:
        return &months;
    case TYPE_INTERVAL_DAY_TIME:
        return &micros;
    default:
        return &by_kind[type_physical(call->types[0])];
    }
}

static const AggregateLoops *choose_avg(const AggregateCall *call, const void **ret_setup)
{
    *ret_setup = NULL;
    return choose(call);
}

static const AggregateLoops *choose_try_avg(const AggregateCall *call, const void **ret_setup)
{
    static const bool tolerant = true;
    *ret_setup = &tolerant;
    return choose(call);
}

const AggregateKernel aggregate_avg = {.choose = choose_avg};
const AggregateKernel aggregate_try_avg = {.choose = choose_try_avg};
