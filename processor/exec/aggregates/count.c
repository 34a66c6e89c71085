/* count(*), count(a, b, …), count_if(a). */
#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

typedef struct CountState {
    int64_t count;
} CountState;

FINISH(count, CountState, int64_t, true, s->count)

static Error *merge(const AggregateCall *call, void *a, const void *b)
{
    (void)call;
    ((CountState *)a)->count += ((const CountState *)b)->count;
    return NULL;
}

/* ---- Rows ---- */

static Error *add_rows(const AggregateCall *call, void *const *states, Rows rows)
{
    (void)call;
    for (uint32_t i = 0; i < rows.count; i++) {
        ((CountState *)states[i])->count++;
    }
    return NULL;
}

static Error *add_all_rows(const AggregateCall *call, void *state, Rows rows)
{
    (void)call;
    ((CountState *)state)->count += rows.count;
    return NULL;
}

static void remove_row(const AggregateCall *call, void *state, uint32_t row)
{
    (void)call;
    (void)row;
    ((CountState *)state)->count--;
}

/* ---- Rows whose arguments are all there ---- */

static inline bool has_all(const AggregateCall *call, uint32_t row)
{
    bool all = true;
    for (size_t i = 0; i < call->argument_count; i++) {
        all = all && vector_is_valid(call->arguments[i], row) &&
              type_physical(call->arguments[i]->type) != PHYSICAL_NONE;
    }
    return all;
}

static Error *add_values(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        ((CountState *)states[i])->count += has_all(call, rows_at(rows, i));
    }
    return NULL;
}

static Error *add_all_values(const AggregateCall *call, void *state, Rows rows)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < rows.count; i++) {
        count += has_all(call, rows_at(rows, i));
    }
    ((CountState *)state)->count += count;
    return NULL;
}

static void remove_values(const AggregateCall *call, void *state, uint32_t row)
{
    ((CountState *)state)->count -= has_all(call, row);
}

/* count(1) is count(*). */
static bool counts_rows(const AggregateCall *call)
{
    bool all = true;
    for (size_t i = 0; i < call->bound->argument_count; i++) {
        const BoundExpr *argument = call->bound->arguments[i];
        all = all && argument->kind == BOUND_LITERAL && argument->type->kind != TYPE_NULL &&
              vector_is_valid(argument->literal, 0);
    }
    return all;
}

static const AggregateLoops *choose_count(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops rows = {sizeof(CountState), add_rows,    add_all_rows, merge,
                                        remove_row,         finish_count};
    static const AggregateLoops values = {sizeof(CountState), add_values,  add_all_values, merge,
                                          remove_values,      finish_count};
    (void)ret_setup;
    return counts_rows(call) ? &rows : &values;
}

const AggregateKernel aggregate_count = {.choose = choose_count};

/* ---- Rows where it is TRUE ---- */

ADD_LOOPS(if, CountState, uint8_t, s->count += x;)

static void remove_if(const AggregateCall *call, void *state, uint32_t row)
{
    ((CountState *)state)->count -= vector_is_valid(call->arguments[0], row) &&
                                    VECTOR_VALUE(call->arguments[0], uint8_t, row) != 0;
}

static const AggregateLoops *choose_if(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(CountState), add_if,      add_all_if, merge,
                                         remove_if,          finish_count};
    (void)call;
    (void)ret_setup;
    return &loops;
}

const AggregateKernel aggregate_count_if = {.choose = choose_if};
