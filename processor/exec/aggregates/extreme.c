/* min(x), max(x): of every type that has an order. Of equal values the first stays (-0.0 equals
 * 0.0); NaN is the largest number. */
#include <math.h>

#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

#define LESS(a, b) ((a) < (b))
#define FLOAT_LESS(a, b) ((a) < (b) || (isnan(b) && !isnan(a)))

/* State, loops and results of one type, both ways. */
#define EXTREME(suffix, CType, LESS)                                                               \
    typedef struct State_##suffix {                                                                \
        CType value;                                                                               \
        bool any;                                                                                  \
    } State_##suffix;                                                                              \
    ADD_LOOPS(min_##suffix, State_##suffix, CType, {                                               \
        s->value = !s->any || LESS(x, s->value) ? x : s->value;                                    \
        s->any = true;                                                                             \
    })                                                                                             \
    ADD_LOOPS(max_##suffix, State_##suffix, CType, {                                               \
        s->value = !s->any || LESS(s->value, x) ? x : s->value;                                    \
        s->any = true;                                                                             \
    })                                                                                             \
    FINISH(suffix, State_##suffix, CType, s->any, s->value)

EXTREME(boolean, uint8_t, LESS)
EXTREME(int8, int8_t, LESS)
EXTREME(int16, int16_t, LESS)
EXTREME(int32, int32_t, LESS)
EXTREME(int64, int64_t, LESS)
EXTREME(int128, int128, LESS)
EXTREME(float, float, FLOAT_LESS)
EXTREME(double, double, FLOAT_LESS)

/* ---- Texts ---- */

typedef struct TextState {
    KeptStr text;
    bool any;
} TextState;

ADD_LOOPS(min_str, TextState, Str, {
    if (!s->any || str_compare(x, s->text.str) < 0) {
        kept_str_set(&s->text, x, call->arena);
        s->any = true;
    }
})
ADD_LOOPS(max_str, TextState, Str, {
    if (!s->any || str_compare(x, s->text.str) > 0) {
        kept_str_set(&s->text, x, call->arena);
        s->any = true;
    }
})

static Error *finish_str(const AggregateCall *call, void *const *states, uint32_t count,
                         Arena *arena, Vector *result)
{
    (void)call;
    for (uint32_t i = 0; i < count; i++) {
        const TextState *s = states[i];
        if (s->any) {
            vector_append_str(result, arena, s->text.str);
        } else {
            vector_append_null(result, arena);
        }
    }
    return NULL;
}

/* ---- Nested values, and "void" ---- */

static void add_nested(const AggregateCall *call, KeptValue *s, uint32_t row, int direction)
{
    const Vector *argument = call->arguments[0];
    if (!vector_is_valid(argument, row) || type_physical(argument->type) == PHYSICAL_NONE) {
        return;
    }
    Vector scratch;
    if (!s->is_set ||
        value_compare(argument, row, kept_view(s, argument->type, &scratch), 0) * direction > 0) {
        kept_set(s, argument, row, call->arena);
    }
}

static Error *add_min_nested(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        add_nested(call, states[i], rows_at(rows, i), -1);
    }
    return NULL;
}

static Error *add_max_nested(const AggregateCall *call, void *const *states, Rows rows)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        add_nested(call, states[i], rows_at(rows, i), 1);
    }
    return NULL;
}

static Error *add_all_min_nested(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_min_nested);
}

static Error *add_all_max_nested(const AggregateCall *call, void *state, Rows rows)
{
    return add_all_by_rows(call, state, rows, add_max_nested);
}

static Error *finish_nested(const AggregateCall *call, void *const *states, uint32_t count,
                            Arena *arena, Vector *result)
{
    (void)call;
    for (uint32_t i = 0; i < count; i++) {
        kept_append(states[i], result, arena);
    }
    return NULL;
}

/* ---- Choice ---- */

#define TYPED(way, suffix)                                                                         \
    {sizeof(State_##suffix), add_##way##_##suffix, add_all_##way##_##suffix, NULL, NULL,           \
     finish_##suffix}
#define NESTED(way)                                                                                \
    {sizeof(KeptValue), add_##way##_nested, add_all_##way##_nested, NULL, NULL, finish_nested}

#define CHOOSE(way)                                                                                \
    static const AggregateLoops *choose_##way(const AggregateCall *call, const void **ret_setup)   \
    {                                                                                              \
        static const AggregateLoops by_kind[PHYSICAL_STRUCT + 1] = {                               \
            [PHYSICAL_NONE] = NESTED(way),                                                         \
            [PHYSICAL_BOOL] = TYPED(way, boolean),                                                 \
            [PHYSICAL_INT8] = TYPED(way, int8),                                                    \
            [PHYSICAL_INT16] = TYPED(way, int16),                                                  \
            [PHYSICAL_INT32] = TYPED(way, int32),                                                  \
            [PHYSICAL_INT64] = TYPED(way, int64),                                                  \
            [PHYSICAL_INT128] = TYPED(way, int128),                                                \
            [PHYSICAL_FLOAT] = TYPED(way, float),                                                  \
            [PHYSICAL_DOUBLE] = TYPED(way, double),                                                \
            [PHYSICAL_STR] = {sizeof(TextState), add_##way##_str, add_all_##way##_str, NULL, NULL, \
                              finish_str},                                                         \
            [PHYSICAL_LIST] = NESTED(way),                                                         \
            [PHYSICAL_STRUCT] = NESTED(way),                                                       \
        };                                                                                         \
        (void)ret_setup;                                                                           \
        return &by_kind[type_physical(call->types[0])];                                            \
    }                                                                                              \
    const AggregateKernel aggregate_##way = {.choose = choose_##way};

CHOOSE(min)
CHOOSE(max)
