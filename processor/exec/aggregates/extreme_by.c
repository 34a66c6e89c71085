/* min_by(x, y), max_by(x, y): x of the row whose y is the least or greatest. Rows whose y is NULL
 * do not count; of equal ones the last wins, as in Spark.
 *
 * min_by(x, y, k), max_by(x, y, k): the k best as an array, here of equal ones the first. A state
 * keeps up to 2k rows, then sorts and keeps k; from then on only rows that beat the worst of them
 * are taken, which soon are few. */
#include "processor/base/memory.h"
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/constants.h"
#include "processor/exec/aggregates/row_order.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

static bool is_there(const Vector *vector, uint32_t row)
{
    return vector_is_valid(vector, row) && type_physical(vector->type) != PHYSICAL_NONE;
}

/* ---- One ---- */

typedef struct One {
    KeptValue best; /* y */
    KeptValue value;
} One;

static void add_one(const AggregateCall *call, One *s, uint32_t row, int direction)
{
    const Vector *by = call->arguments[1];
    if (!is_there(by, row)) {
        return;
    }
    Vector scratch;
    if (!s->best.is_set ||
        value_compare(by, row, kept_view(&s->best, by->type, &scratch), 0) * direction >= 0) {
        kept_set(&s->best, by, row, call->arena);
        kept_set(&s->value, call->arguments[0], row, call->arena);
    }
}

static Error *add_min_one(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        add_one(call, states[i], rows_at(rows, i), -1);
    }
    return NULL;
}

static Error *add_max_one(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        add_one(call, states[i], rows_at(rows, i), 1);
    }
    return NULL;
}

static Error *add_all_min_one(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_min_one);
}

static Error *add_all_max_one(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_max_one);
}

static Error *finish_one(const AggregateCall *call, void *const *states, uint32_t count,
                         Arena *arena, Vector *result)
{
    (void)call;
    for (uint32_t i = 0; i < count; i++) {
        kept_append(&((const One *)states[i])->value, result, arena);
    }
    return NULL;
}

/* ---- The k best ---- */

typedef struct Setup {
    uint32_t k;
    int direction; /* 1: greatest first */
} Setup;

typedef struct Best {
    Vector *values; /* NULL: none yet */
    Vector *by;
    bool is_cut; /* the first k are sorted, the last of them is the worst that counts */
} Best;

/* Rows of a state under its direction. */
typedef struct Order {
    const Vector *by;
    int direction;
} Order;

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
    const Order *order = context;
    return value_compare(order->by, a, order->by, b) * order->direction < 0;
}

/* Appends the best k rows of the state, in order. */
static void append_best(const Best *s, const Setup *setup, Arena *arena, Vector *values,
                        Vector *ret_by)
{
    const Order order = {s->by, setup->direction};
    uint32_t *rows = row_order_new(s->by->length, is_behind, &order);
    for (uint32_t i = 0; i < s->by->length && i < setup->k; i++) {
        vector_append_from(values, arena, s->values, rows[i]);
        if (ret_by != NULL) {
            vector_append_from(ret_by, arena, s->by, rows[i]);
        }
    }
    mem_free(rows);
}

static void cut(Best *s, const Setup *setup, Arena *arena)
{
    Vector *values = vector_new(arena, s->values->type, 2 * setup->k);
    Vector *by = vector_new(arena, s->by->type, 2 * setup->k);
    append_best(s, setup, arena, values, by);
    *s = (Best){values, by, true};
}

static void add_best_row(const AggregateCall *call, Best *s, uint32_t row)
{
    const Setup *setup = call->setup;
    const Vector *by = call->arguments[1];
    if (!is_there(by, row)) {
        return;
    }
    if (s->values == NULL) {
        s->values = vector_new(call->arena, call->types[0], 0);
        s->by = vector_new(call->arena, call->types[1], 0);
    }
    if (s->is_cut && value_compare(by, row, s->by, setup->k - 1) * setup->direction <= 0) {
        return;
    }
    append_copy(s->values, call->arguments[0], row, call->arena);
    append_copy(s->by, by, row, call->arena);
    if (s->by->length >= 2 * setup->k) {
        cut(s, setup, call->arena);
    }
}

static Error *add_best(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        add_best_row(call, states[i], rows_at(rows, i));
    }
    return NULL;
}

static Error *add_all_best(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_best);
}

static Error *finish_best(const AggregateCall *call, void *const *states, uint32_t count,
                          Arena *arena, Vector *result)
{
    for (uint32_t i = 0; i < count; i++) {
        const Best *s = states[i];
        if (s->values == NULL) {
            vector_append_null(result, arena);
            continue;
        }
        append_best(s, call->setup, arena, result->children[0], NULL);
        vector_finish_list(result, arena);
    }
    return NULL;
}

/* ---- Choice ---- */

static const AggregateLoops *choose(const AggregateCall *call, int direction,
                                    const void **ret_setup)
{
    static const AggregateLoops min = {sizeof(One), add_min_one, add_all_min_one,
                                       NULL,        NULL,        finish_one};
    static const AggregateLoops max = {sizeof(One), add_max_one, add_all_max_one,
                                       NULL,        NULL,        finish_one};
    static const AggregateLoops best = {sizeof(Best), add_best, add_all_best,
                                        NULL,         NULL,     finish_best};
    const Vector *k = call_constant(call, 2);
    if (k == NULL) {
        return direction > 0 ? &max : &min;
    }
    Setup *setup = arena_new_object(call->arena, Setup);
    *setup = (Setup){(uint32_t)vector_int_value(k, 0), direction};
    *ret_setup = setup;
    return &best;
}

static const AggregateLoops *choose_min_by(const AggregateCall *call, const void **ret_setup)
{
    return choose(call, -1, ret_setup);
}

static const AggregateLoops *choose_max_by(const AggregateCall *call, const void **ret_setup)
{
    return choose(call, 1, ret_setup);
}

const AggregateKernel aggregate_min_by = {.choose = choose_min_by, .order_dependent = true};
const AggregateKernel aggregate_max_by = {.choose = choose_max_by, .order_dependent = true};
