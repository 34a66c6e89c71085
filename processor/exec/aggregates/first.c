/* first(x), last(x), any_value(x), with their other names; IGNORE NULLS takes the first (last)
 * value that is there.
 *
 * last() goes through a batch backwards and notes in the state that this batch was seen, so that a
 * state copies one value a batch, not one a row. */
#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

typedef struct State {
    KeptValue value;
    uint64_t batch; /* last: of the batch that was seen last */
} State;

/* NULLs are skipped with IGNORE NULLS, or where the second argument says so. */
static bool ignores_nulls(const AggregateCall *call)
{
    if (call->ignore_nulls || call->bound == NULL || call->bound->argument_count < 2) {
        return call->ignore_nulls;
    }
    const BoundExpr *flag = call->bound->arguments[1];
    return flag->kind == BOUND_LITERAL && vector_is_valid(flag->literal, 0) &&
           VECTOR_VALUE(flag->literal, uint8_t, 0) != 0;
}

static bool counts(const AggregateCall *call, bool ignore_nulls, uint32_t row)
{
    return !ignore_nulls || (vector_is_valid(call->arguments[0], row) &&
                             type_physical(call->arguments[0]->type) != PHYSICAL_NONE);
}

/* ---- first ---- */

static Error *add_first(const AggregateCall *call, void *const *states, Rows rows)
{
    bool ignore_nulls = ignores_nulls(call);
    for (uint32_t i = 0; i < rows.count; i++) {
        State *s = states[i];
        uint32_t row = rows_at(rows, i);
        if (!s->value.is_set && counts(call, ignore_nulls, row)) {
            kept_set(&s->value, call->arguments[0], row, call->arena);
        }
    }
    return NULL;
}

static Error *add_all_first(const AggregateCall *call, void *state, Rows rows)
{
    bool ignore_nulls = ignores_nulls(call);
    State *s = state;
    for (uint32_t i = 0; i < rows.count && !s->value.is_set; i++) {
        if (counts(call, ignore_nulls, rows_at(rows, i))) {
            kept_set(&s->value, call->arguments[0], rows_at(rows, i), call->arena);
        }
    }
    return NULL;
}

/* ---- last ---- */

/* The number of the batch at hand, from 1. */
static uint64_t next_batch(const AggregateCall *call)
{
    uint64_t *const *counter = call->setup;
    return ++**counter;
}

static Error *add_last(const AggregateCall *call, void *const *states, Rows rows)
{
    bool ignore_nulls = ignores_nulls(call);
    uint64_t batch = next_batch(call);
    for (uint32_t i = rows.count; i-- > 0;) {
        State *s = states[i];
        uint32_t row = rows_at(rows, i);
        if (s->batch != batch && counts(call, ignore_nulls, row)) {
            kept_set(&s->value, call->arguments[0], row, call->arena);
            s->batch = batch;
        }
    }
    return NULL;
}

static Error *add_all_last(const AggregateCall *call, void *state, Rows rows)
{
    bool ignore_nulls = ignores_nulls(call);
    State *s = state;
    for (uint32_t i = rows.count; i-- > 0;) {
        if (counts(call, ignore_nulls, rows_at(rows, i))) {
            kept_set(&s->value, call->arguments[0], rows_at(rows, i), call->arena);
            return NULL;
        }
    }
    return NULL;
}

/* ---- Both ---- */

static Error *finish(const AggregateCall *call, void *const *states, uint32_t count, Arena *arena,
                     Vector *result)
{
    (void)call;
    for (uint32_t i = 0; i < count; i++) {
        kept_append(&((const State *)states[i])->value, result, arena);
    }
    return NULL;
}

static const AggregateLoops *choose_first(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(State), add_first, add_all_first,
                                         NULL,          NULL,      finish};
    (void)call;
    (void)ret_setup;
    return &loops;
}

static const AggregateLoops *choose_last(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(State), add_last, add_all_last, NULL, NULL, finish};
    uint64_t **counter = arena_new_object(call->arena, uint64_t *);
    *counter = arena_new_object(call->arena, uint64_t);
    *ret_setup = counter;
    return &loops;
}

const AggregateKernel aggregate_first = {.choose = choose_first, .order_dependent = true};
const AggregateKernel aggregate_last = {.choose = choose_last, .order_dependent = true};
