/* approx_count_distinct(x [, relative error]): HyperLogLog, with Spark's hash and registers, so
 * that small and large counts are Spark's to the last digit.
 *
 * A value's hash chooses a register by its first p bits; the register keeps the longest run of
 * zeros seen in the others. The raw estimate is too high for small counts. Where Spark looks the
 * bias up in tables found by simulation, we invert the expectation: with n values spread over m
 * registers (Poisson), a register is at most k with probability exp(-n / m * 2^-k), which gives the
 * raw estimate that n values lead to; the n whose raw estimate is the one at hand is the answer.
 *
 * Few values are kept as a list of what they would write; registers come when it is full. */
#include <math.h>

#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/constants.h"
#include "processor/exec/kernels/hash.h"

#include "processor/base/banned.h"

enum { SPARSE_MAX = 15, HASH_SEED = 42, BISECTION_STEPS = 60 };

typedef struct State {
    uint8_t *registers;
    uint32_t sparse[SPARSE_MAX]; /* register << 8 | value; while there are no registers */
    uint32_t sparse_count;
} State;

typedef struct Setup {
    unsigned p;
    uint32_t register_count; /* 1 << p */
} Setup;

/* ---- Adding ---- */

static void set_register(State *s, uint32_t number, uint8_t value)
{
    if (s->registers[number] < value) {
        s->registers[number] = value;
    }
}

static void make_registers(State *s, const Setup *setup, Arena *arena)
{
    s->registers = arena_new_array(arena, uint8_t, setup->register_count);
    for (uint32_t i = 0; i < s->sparse_count; i++) {
        set_register(s, s->sparse[i] >> 8, (uint8_t)s->sparse[i]);
    }
}

static void add_hash(State *s, const Setup *setup, uint64_t hash, Arena *arena)
{
    uint32_t number = (uint32_t)(hash >> (64 - setup->p));
    uint64_t rest = hash << setup->p | UINT64_C(1) << (setup->p - 1);
    uint8_t value = (uint8_t)(__builtin_clzll(rest) + 1);
    if (s->registers != NULL) {
        set_register(s, number, value);
        return;
    }
    uint32_t entry = number << 8 | value;
    for (uint32_t i = 0; i < s->sparse_count; i++) {
        if (s->sparse[i] == entry) {
            return;
        }
    }
    if (s->sparse_count == SPARSE_MAX) {
        make_registers(s, setup, arena);
        set_register(s, number, value);
        return;
    }
    s->sparse[s->sparse_count++] = entry;
}

static Error *add(const AggregateCall *call, void *const *states, Rows rows)
{
    const Vector *values = call->arguments[0];
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        if (vector_is_valid(values, row) && type_physical(values->type) != PHYSICAL_NONE) {
            add_hash(states[i], call->setup, xxhash64_of_value(values, row, HASH_SEED),
                     call->arena);
        }
    }
    return NULL;
}

static Error *add_all(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add);
}

/* ---- Estimating ---- */

static double alpha(const Setup *setup)
{
    double m = setup->register_count;
    switch (setup->p) {
    case 4:
        return 0.673;
    case 5:
        return 0.697;
    case 6:
        return 0.709;
    default:
        return 0.7213 / (1.0 + 1.079 / m);
    }
}

/* What the raw estimate is expected to be when there are n values. */
static double expected_raw(const Setup *setup, double n)
{
    double m = setup->register_count;
    double sum = 0; /* of 2^-register, expected */
    double below = 0;
    for (unsigned k = 0; k <= 64 - setup->p; k++) {
        double at_most = exp(-n / m * ldexp(1, -(int)k));
        sum += ldexp(at_most - below, -(int)k);
        below = at_most;
    }
    return alpha(setup) * m / sum;
}

/* The count whose expected raw estimate is `raw`. */
static double without_bias(const Setup *setup, double raw)
{
    double low = 0;
    double high = raw;
    for (int i = 0; i < BISECTION_STEPS; i++) {
        double middle = (low + high) / 2;
        if (expected_raw(setup, middle) < raw) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}

/* Up to there counting the empty registers is more exact (the paper's appendix). */
static double linear_max(unsigned p)
{
    static const double thresholds[] = {10,   20,   40,    80,    220,   400,    900,   1800,
                                        3100, 6500, 11500, 20000, 50000, 120000, 350000};
    return p - 4 < ARRAY_LENGTH(thresholds) ? thresholds[p - 4] : 0;
}

static double estimate(const State *s, const Setup *setup)
{
    double m = setup->register_count;
    double sum = 0;
    double empty = 0;
    for (uint32_t i = 0; i < setup->register_count; i++) {
        sum += ldexp(1, -s->registers[i]);
        empty += s->registers[i] == 0;
    }
    double raw = alpha(setup) * m * m / sum;
    double corrected = raw < 5 * m ? without_bias(setup, raw) : raw;
    double linear = empty > 0 ? m * log(m / empty) : 0;
    return empty > 0 && (linear <= linear_max(setup->p) || corrected <= 2.5 * m) ? linear
                                                                                 : corrected;
}

static Error *finish(const AggregateCall *call, void *const *states, uint32_t count, Arena *arena,
                     Vector *result)
{
    const Setup *setup = call->setup;
    for (uint32_t i = 0; i < count; i++) {
        State s = *(const State *)states[i];
        if (s.registers == NULL && s.sparse_count > 0) {
            make_registers(&s, setup, arena);
        }
        vector_append_int(result, arena,
                          s.registers == NULL ? 0 : (int64_t)floor(estimate(&s, setup) + 0.5));
    }
    return NULL;
}

static const AggregateLoops *choose(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(State), add, add_all, NULL, NULL, finish};
    double error = 0.05;
    const Vector *constant = call_constant(call, 1);
    if (constant != NULL) {
        (void)constant_double(constant, 0, &error);
    }
    Setup *setup = arena_new_object(call->arena, Setup);
    setup->p = (unsigned)ceil(2.0 * log(1.106 / error) / log(2));
    setup->register_count = UINT32_C(1) << setup->p;
    *ret_setup = setup;
    return &loops;
}

const AggregateKernel aggregate_approx_count_distinct = {.choose = choose};
