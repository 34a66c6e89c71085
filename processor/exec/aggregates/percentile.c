/* Exact percentiles: percentile(x, p [, frequency]), median(x), percentile_cont(p) and
 * percentile_disc(p) WITHIN GROUP (ORDER BY x). A state keeps all values, as doubles (Spark
 * computes with doubles too), and sorts them once at the end.
 *
 * The percentile of n values lies at the position p * (n - 1) of the sorted ones; between two
 * values it is interpolated. percentile_disc takes the value at ceil(p * n). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/constants.h"

#include "processor/base/banned.h"

typedef struct Value {
    double value;
    int64_t count;
} Value;

typedef struct State {
    Value *values;
    uint32_t count;
    uint32_t capacity;
} State;

typedef struct Setup {
    size_t value; /* which argument holds the values */
    bool has_frequency;
    bool descending;
    bool discrete;
    double *percentages;
    uint32_t percentage_count;
} Setup;

/* ---- Adding ---- */

static void push(State *s, Value value, Arena *arena)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity == 0 ? 4 : s->capacity * 2;
        Value *values = arena_alloc(arena, arena_array_size_(s->capacity, sizeof(Value)));
        if (s->count > 0) {
            memcpy(values, s->values, s->count * sizeof(Value));
        }
        s->values = values;
    }
    s->values[s->count++] = value;
}

static Error *add_row(const AggregateCall *call, State *s, uint32_t row)
{
    const Setup *setup = call->setup;
    Value value = {0, 1};
    if (!constant_double(call->arguments[setup->value], row, &value.value)) {
        return NULL;
    }
    if (setup->has_frequency) {
        const Vector *frequency = call->arguments[2];
        value.count = vector_is_valid(frequency, row) ? VECTOR_VALUE(frequency, int64_t, row) : 0;
    }
    if (value.count < 0) {
        return error_new(ERROR_NEGATIVE_FREQUENCY,
                         "Found the negative value %lld as a frequency, but expected a positive "
                         "integral value.",
                         (long long)value.count);
    }
    if (value.count > 0) {
        push(s, value, call->arena);
    }
    return NULL;
}

static Error *add(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        TRY(add_row(call, states[i], rows_at(rows, i)));
    }
    return NULL;
}

static Error *add_all(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add);
}

/* ---- Finding ---- */

/* NaN is the greatest. */
static int compare(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a)) ? -1 : a > b || (isnan(a) && !isnan(b));
}

static int ascending(const void *a, const void *b)
{
    return compare(((const Value *)a)->value, ((const Value *)b)->value);
}

static int descending(const void *a, const void *b)
{
    return compare(((const Value *)b)->value, ((const Value *)a)->value);
}

/* Sorts, and makes each count the number of values up to and with this one. */
static void settle(State *s, bool is_descending)
{
    qsort(s->values, s->count, sizeof(Value), is_descending ? descending : ascending);
    for (uint32_t i = 1; i < s->count; i++) {
        s->values[i].count += s->values[i - 1].count;
    }
}

/* The value at a position counted from 0. */
static double value_at(const State *s, int64_t position)
{
    uint32_t low = 0;
    uint32_t high = s->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->values[middle].count > position) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return s->values[low].value;
}

static double percentile_of(const State *s, const Setup *setup, double percentage)
{
    int64_t count = s->values[s->count - 1].count;
    if (setup->discrete) {
        int64_t position = (int64_t)ceil(percentage * (double)count) - 1;
        return value_at(s, position < 0 ? 0 : position);
    }
    double position = (double)(count - 1) * percentage;
    double lower = floor(position);
    double higher = ceil(position);
    double lower_value = value_at(s, (int64_t)lower);
    double higher_value = value_at(s, (int64_t)higher);
    if (higher == lower || compare(lower_value, higher_value) == 0) {
        return lower_value;
    }
    return lower_value + (position - lower) * (higher_value - lower_value);
}

/* Intervals are cut toward zero. */
static void append_number(Vector *result, double value, Arena *arena)
{
    if (type_physical(result->type) == PHYSICAL_DOUBLE) {
        vector_append_double(result, arena, value);
    } else {
        vector_append_int(result, arena, (int64_t)value);
    }
}

static void append_result(State *s, const Setup *setup, Vector *result, Arena *arena)
{
    if (s->count == 0) {
        vector_append_null(result, arena);
        return;
    }
    settle(s, setup->descending);
    if (result->type->kind != TYPE_ARRAY) {
        append_number(result, percentile_of(s, setup, setup->percentages[0]), arena);
        return;
    }
    for (uint32_t i = 0; i < setup->percentage_count; i++) {
        append_number(result->children[0], percentile_of(s, setup, setup->percentages[i]), arena);
    }
    vector_finish_list(result, arena);
}

/* Sorting is done in a copy: a window frame may go on with the state. */
static Error *finish(const AggregateCall *call, void *const *states, uint32_t count, Arena *arena,
                     Vector *result)
{
    for (uint32_t i = 0; i < count; i++) {
        State own = *(const State *)states[i];
        own.values = mem_alloc_array(own.count + 1, sizeof(Value));
        if (own.count > 0) {
            memcpy(own.values, ((const State *)states[i])->values, own.count * sizeof(Value));
        }
        append_result(&own, call->setup, result, arena);
        mem_free(own.values);
    }
    return NULL;
}

/* ---- Choice ---- */

static void take_percentages(Setup *setup, const AggregateCall *call, size_t argument)
{
    const Vector *value = call_constant(call, argument);
    const Vector *values = value;
    if (value != NULL && value->type->kind == TYPE_ARRAY) {
        values = value->children[0];
    }
    setup->percentage_count = values == NULL ? 0 : values->length;
    setup->percentages = arena_new_array(call->arena, double, setup->percentage_count + 1);
    for (uint32_t i = 0; i < setup->percentage_count; i++) {
        (void)constant_double(values, i, &setup->percentages[i]);
    }
}

static Setup *new_setup(const AggregateCall *call, const void **ret_setup)
{
    Setup *setup = arena_new_object(call->arena, Setup);
    *ret_setup = setup;
    return setup;
}

static const AggregateLoops loops = {sizeof(State), add, add_all, NULL, NULL, finish};

static const AggregateLoops *choose_percentile(const AggregateCall *call, const void **ret_setup)
{
    Setup *setup = new_setup(call, ret_setup);
    setup->has_frequency = call->bound->argument_count > 2;
    take_percentages(setup, call, 1);
    return &loops;
}

static const AggregateLoops *choose_median(const AggregateCall *call, const void **ret_setup)
{
    Setup *setup = new_setup(call, ret_setup);
    setup->percentages = arena_new_object(call->arena, double);
    setup->percentages[0] = 0.5;
    setup->percentage_count = 1;
    return &loops;
}

/* The sort key stands behind the percentage. */
static Setup *setup_within(const AggregateCall *call, const void **ret_setup)
{
    Setup *setup = new_setup(call, ret_setup);
    setup->value = call->bound->argument_count;
    setup->descending = call->bound->sort_keys[0].descending;
    take_percentages(setup, call, 0);
    return setup;
}

static const AggregateLoops *choose_cont(const AggregateCall *call, const void **ret_setup)
{
    (void)setup_within(call, ret_setup);
    return &loops;
}

static const AggregateLoops *choose_disc(const AggregateCall *call, const void **ret_setup)
{
    setup_within(call, ret_setup)->discrete = true;
    return &loops;
}

const AggregateKernel aggregate_percentile = {.choose = choose_percentile};
const AggregateKernel aggregate_median = {.choose = choose_median};
const AggregateKernel aggregate_percentile_cont = {.choose = choose_cont};
const AggregateKernel aggregate_percentile_disc = {.choose = choose_disc};
