/* mode(x): the most frequent value; of equally frequent ones the least, or, in mode() WITHIN GROUP
 * (ORDER BY x DESC), the greatest. (Spark's mode(x) without an order gives any of them.) */
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/value_set.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

static Error *add(const AggregateCall *call, void *const *states, Rows rows)
{
    uint64_t hashes[BATCH_ROWS];
    const Vector *from = call->arguments[0];
    row_hash(call->arguments, 1, rows, hashes);
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        if (vector_is_valid(from, row) && type_physical(from->type) != PHYSICAL_NONE) {
            value_set_add(states[i], from, row, hashes[row], call->arena);
        }
    }
    return NULL;
}

static Error *add_all(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add);
}

static void append_mode(const ValueSet *s, bool greatest, Vector *result, Arena *arena)
{
    if (s->values == NULL) {
        vector_append_null(result, arena);
        return;
    }
    bool ordered = type_is_orderable(s->values->type);
    uint32_t best = 0;
    for (uint32_t i = 1; i < s->values->length; i++) {
        int64_t more = s->counts[i] - s->counts[best];
        if (more == 0 && ordered) {
            int order = value_compare(s->values, best, s->values, i);
            more = greatest ? -order : order;
        }
        best = more > 0 ? i : best;
    }
    vector_append_from(result, arena, s->values, best);
}

static Error *finish(const AggregateCall *call, void *const *states, uint32_t count, Arena *arena,
                     Vector *result)
{
    bool greatest = call->bound->sort_key_count > 0 && call->bound->sort_keys[0].descending;
    for (uint32_t i = 0; i < count; i++) {
        append_mode(states[i], greatest, result, arena);
    }
    return NULL;
}

static const AggregateLoops *choose_mode(const AggregateCall *call, const void **ret_setup)
{
    static const AggregateLoops loops = {sizeof(ValueSet), add, add_all, NULL, NULL, finish};
    (void)call;
    (void)ret_setup;
    return &loops;
}

const AggregateKernel aggregate_mode = {.choose = choose_mode};
