/* approx_percentile(x, p [, accuracy]): a value whose rank is off by at most count / accuracy. The
 * result has x's type; values are held as doubles, as Spark holds them. */

#include "processor/data/decimal.h"
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/constants.h"
#include "processor/exec/aggregates/quantiles.h"

#include "processor/base/banned.h"

typedef struct Setup {
    double error;
    double *percentages;
    uint32_t count;
} Setup;

static Error *add(const AggregateCall *call, void *const *states, Rows rows)
{
    const Setup *setup = call->setup;
    for (uint32_t i = 0; i < rows.count; i++) {
        double value = 0;
        if (constant_double(call->arguments[0], rows_at(rows, i), &value)) {
            quantiles_add(states[i], value, setup->error, call->arena);
        }
    }
    return NULL;
}

static Error *add_all(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add);
}

static void append_value(Vector *result, double value, Arena *arena)
{
    switch (type_physical(result->type)) {
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        vector_append_double(result, arena, value);
        return;
    case PHYSICAL_INT128: {
        int128 decimal = 0;
        (void)decimal_from_double(value, result->type->precision, result->type->scale, &decimal);
        vector_append_int128(result, arena, decimal);
        return;
    }
    default:
        /* 2^63 as a double is beyond BIGINT: Java's conversion stops there too. */
        vector_append_int(result, arena, value >= 0x1p63 ? INT64_MAX : (int64_t)value);
    }
}

static void append_result(const Quantiles *q, const Setup *setup, Vector *result, Arena *arena)
{
    if (q->count == 0) {
        vector_append_null(result, arena);
        return;
    }
    if (result->type->kind != TYPE_ARRAY) {
        append_value(result, quantiles_find(q, setup->percentages[0], setup->error), arena);
        return;
    }
    for (uint32_t i = 0; i < setup->count; i++) {
        append_value(result->children[0], quantiles_find(q, setup->percentages[i], setup->error),
                     arena);
    }
    vector_finish_list(result, arena);
}

/* The state stays as it is: a window frame may go on with it. */
static Error *finish(const AggregateCall *call, void *const *states, uint32_t count, Arena *arena,
                     Vector *result)
{
    const Setup *setup = call->setup;
    Arena *scratch = arena_new("quantiles");
    for (uint32_t i = 0; i < count; i++) {
        Quantiles own = *(const Quantiles *)states[i];
        QuantileSample *samples =
            arena_new_array(scratch, QuantileSample, (size_t)own.sample_count + 1);
        for (uint32_t k = 0; k < own.sample_count; k++) {
            samples[k] = own.samples[k];
        }
        own.samples = samples;
        quantiles_compress(&own, setup->error, scratch);
        append_result(&own, setup, result, arena);
        arena_reset(scratch);
    }
    arena_free(scratch);
    return NULL;
}

static const AggregateLoops *choose(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(Quantiles), add, add_all, NULL, NULL, finish};
    Setup *setup = arena_new_object(call->arena, Setup);
    double accuracy = 10000;
    const Vector *wanted = call_constant(call, 2);
    if (wanted != NULL) {
        (void)constant_double(wanted, 0, &accuracy);
    }
    setup->error = 1.0 / accuracy;
    const Vector *values = call_constant(call, 1);
    if (values != NULL && values->type->kind == TYPE_ARRAY) {
        values = values->children[0];
    }
    setup->count = values == NULL ? 0 : values->length;
    setup->percentages = arena_new_array(call->arena, double, setup->count + 1);
    for (uint32_t i = 0; i < setup->count; i++) {
        (void)constant_double(values, i, &setup->percentages[i]);
    }
    *ret_setup = setup;
    return &loops;
}

const AggregateKernel aggregate_percentile_approx = {.choose = choose};
