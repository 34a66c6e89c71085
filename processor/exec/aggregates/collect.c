/* collect_list(x) (array_agg), collect_set(x), collect_union(array): arrays of the values but
 * NULLs, in the order of the rows. */
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/value_set.h"
#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

static bool is_there(const Vector *vector, uint32_t row)
{
    return vector_is_valid(vector, row) && type_physical(vector->type) != PHYSICAL_NONE;
}

/* NULLs count only with RESPECT NULLS. */
static bool is_taken(const AggregateCall *call, const Vector *vector, uint32_t row)
{
    return !call->ignore_nulls || is_there(vector, row);
}

static void append_list(Vector *result, const Vector *values, Arena *arena)
{
    for (uint32_t i = 0; values != NULL && i < values->length; i++) {
        vector_append_from(result->children[0], arena, values, i);
    }
    vector_finish_list(result, arena);
}

/* ---- Lists ---- */

typedef struct List {
    Vector *values; /* NULL: none yet */
} List;

static Error *add_list(const AggregateCall *call, void *const *states, Rows rows)
{
    const Vector *from = call->arguments[0];
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        List *s = states[i];
        if (is_taken(call, from, row)) {
            if (s->values == NULL) {
                s->values = vector_new(call->arena, from->type, 0);
            }
            append_copy(s->values, from, row, call->arena);
        }
    }
    return NULL;
}

static Error *add_all_list(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_list);
}

static Error *finish_list(const AggregateCall *call, void *const *states, uint32_t count,
                          Arena *arena, Vector *result)
{
    (void)call;
    for (uint32_t i = 0; i < count; i++) {
        append_list(result, ((const List *)states[i])->values, arena);
    }
    return NULL;
}

static const AggregateLoops *choose_list(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(List), add_list, add_all_list,
                                         NULL,         NULL,     finish_list};
    (void)call;
    (void)ret_setup;
    return &loops;
}

const AggregateKernel aggregate_collect_list = {.choose = choose_list, .order_dependent = true};

/* ---- Sets ---- */

static Error *add_set(const AggregateCall *call, void *const *states, Rows rows)
{
    uint64_t hashes[BATCH_ROWS];
    const Vector *from = call->arguments[0];
    row_hash(call->arguments, 1, rows, hashes);
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        if (is_taken(call, from, row)) {
            value_set_add(states[i], from, row, hashes[row], call->arena);
        }
    }
    return NULL;
}

static Error *add_all_set(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_set);
}

static Error *finish_set(const AggregateCall *call, void *const *states, uint32_t count,
                         Arena *arena, Vector *result)
{
    (void)call;
    for (uint32_t i = 0; i < count; i++) {
        append_list(result, ((const ValueSet *)states[i])->values, arena);
    }
    return NULL;
}

static const AggregateLoops *choose_set(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(ValueSet), add_set, add_all_set, NULL, NULL,
                                         finish_set};
    (void)call;
    (void)ret_setup;
    return &loops;
}

const AggregateKernel aggregate_collect_set = {.choose = choose_set, .order_dependent = true};

/* ---- The elements of arrays ---- */

static void add_elements(const AggregateCall *call, ValueSet *s, uint32_t row)
{
    const Vector *arrays = call->arguments[0];
    const Vector *elements = arrays->children[0];
    for (uint32_t i = arrays->offsets[row]; i < arrays->offsets[row + 1]; i++) {
        if (is_taken(call, elements, i)) {
            value_set_add(s, elements, i, row_value_hash(elements, i), call->arena);
        }
    }
}

static Error *add_union(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        if (vector_is_valid(call->arguments[0], row)) {
            add_elements(call, states[i], row);
        }
    }
    return NULL;
}

static Error *add_all_union(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_union);
}

static const AggregateLoops *choose_union(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(ValueSet), add_union, add_all_union, NULL, NULL,
                                         finish_set};
    (void)call;
    (void)ret_setup;
    return &loops;
}

const AggregateKernel aggregate_collect_union = {.choose = choose_union, .order_dependent = true};
