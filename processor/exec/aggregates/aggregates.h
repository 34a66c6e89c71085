/* What the files of aggregates/ share: loops over the rows of one argument, writing results, values
 * of any type kept in a state.
 *
 * A family is one struct (the state), macros that make its loops for each type, and choose(), which
 * looks at the types once. */
#ifndef EXEC_AGGREGATES_AGGREGATES_H
#define EXEC_AGGREGATES_AGGREGATES_H

#include "processor/exec/aggregate.h"

#define FUNCTION(...)
#define AGGREGATE(name, flags, min, max, resolve, signature, kernel, doc, example)                 \
    extern const AggregateKernel aggregate_##kernel;
#define WINDOW(...)
#define GENERATOR(...)
#define LATER(name, kind, flags, min, max)
#include "processor/exec/functions.def"
#undef FUNCTION
#undef AGGREGATE
#undef WINDOW
#undef GENERATOR
#undef LATER

/* ADD_LOOPS(sum_int32, SumState, int32_t, s->sum += x;) makes add_sum_int32 and add_all_sum_int32:
 * the body runs for every row whose first argument is there; `s` is the state, `x` the value. It
 * may return an Error. Of one state a copy is worked on, so that it can stay in registers. */
#define ADD_LOOPS(name, State, CType, ...)                                                         \
    static Error *add_##name(const AggregateCall *call, void *const *states, Rows rows)            \
    {                                                                                              \
        const Vector *argument = call->arguments[0];                                               \
        const CType *values = argument->data;                                                      \
        for (uint32_t i = 0; i < rows.count; i++) {                                                \
            const uint32_t row = rows_at(rows, i);                                                 \
            if (vector_is_valid(argument, row)) {                                                  \
                State *s = states[i];                                                              \
                const CType x = values[row];                                                       \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
        return NULL;                                                                               \
    }                                                                                              \
    static Error *add_all_##name(const AggregateCall *call, void *state, Rows rows)                \
    {                                                                                              \
        const Vector *argument = call->arguments[0];                                               \
        const CType *values = argument->data;                                                      \
        State own = *(State *)state;                                                               \
        State *s = &own;                                                                           \
        for (uint32_t i = 0; i < rows.count; i++) {                                                \
            const uint32_t row = rows_at(rows, i);                                                 \
            if (vector_is_valid(argument, row)) {                                                  \
                const CType x = values[row];                                                       \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
        *(State *)state = own;                                                                     \
        return NULL;                                                                               \
    }

/* The same where both arguments must be there: `x` and `y`, both DOUBLE. */
#define ADD_PAIR_LOOPS(name, State, ...)                                                           \
    static Error *add_##name(const AggregateCall *call, void *const *states, Rows rows)            \
    {                                                                                              \
        const double *first = call->arguments[0]->data;                                            \
        const double *second = call->arguments[1]->data;                                           \
        for (uint32_t i = 0; i < rows.count; i++) {                                                \
            const uint32_t row = rows_at(rows, i);                                                 \
            if (vector_is_valid(call->arguments[0], row) &&                                        \
                vector_is_valid(call->arguments[1], row)) {                                        \
                State *s = states[i];                                                              \
                const double x = first[row];                                                       \
                const double y = second[row];                                                      \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
        return NULL;                                                                               \
    }                                                                                              \
    static Error *add_all_##name(const AggregateCall *call, void *state, Rows rows)                \
    {                                                                                              \
        void *states[BATCH_ROWS];                                                                  \
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {                                                \
            states[i] = state;                                                                     \
        }                                                                                          \
        return add_##name(call, states, rows);                                                     \
    }

/* FINISH(sum, SumState, int64_t, s->count > 0, s->sum) makes finish_sum: the value of the state `s`
 * where the condition holds, else NULL. */
#define FINISH(name, State, CType, condition, value)                                               \
    static Error *finish_##name(const AggregateCall *call, void *const *states, uint32_t count,    \
                                Arena *arena, Vector *result)                                      \
    {                                                                                              \
        (void)call;                                                                                \
        const uint32_t first = results_begin(result, arena, count);                                \
        CType *out = VECTOR_DATA(result, CType) + first;                                           \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const State *s = states[i];                                                            \
            const bool valid = (condition);                                                        \
            out[i] = valid ? (CType)(value) : (CType)0;                                            \
            if (!valid) {                                                                          \
                vector_set_null(result, arena, first + i);                                         \
            }                                                                                      \
        }                                                                                          \
        return NULL;                                                                               \
    }

/* Makes room for `count` more rows and counts them; the first one's number. */
static inline uint32_t results_begin(Vector *result, Arena *arena, uint32_t count)
{
    uint32_t first = result->length;
    vector_reserve(result, arena, first + count);
    result->length += count;
    return first;
}

/* add_all by way of add, for loops that have nothing to gain from knowing the state. */
NODISCARD Error *add_all_by_rows(const AggregateCall *call, void *state, Rows rows,
                                 Error *(*add)(const AggregateCall *, void *const *, Rows));

/* ---- A value of any type in a state ---- */

/* A text whose memory is used again when it is replaced. */
typedef struct KeptStr {
    Str str; /* first: a vector of one text may look at it */
    size_t capacity;
} KeptStr;

typedef struct KeptValue {
    union {
        uint64_t fixed[2];
        KeptStr text;
        Vector *nested; /* of length 1 */
    };
    bool is_set;   /* NULL too is a value */
    bool is_valid; /* not NULL */
} KeptValue;

/* Appends a deep copy of the row. */
void append_copy(Vector *values, const Vector *from, uint32_t row, Arena *arena);
void kept_str_set(KeptStr *kept, Str value, Arena *arena);
/* Replaces what is kept by a deep copy of the row in `arena`. */
void kept_set(KeptValue *kept, const Vector *from, uint32_t row, Arena *arena);
/* The value as a vector of length 1: `scratch`, or the nested one. It must be set and valid. */
const Vector *kept_view(const KeptValue *kept, const Type *type, Vector *scratch);
/* Appends it, NULL when nothing is kept. */
void kept_append(const KeptValue *kept, Vector *result, Arena *arena);

#endif
