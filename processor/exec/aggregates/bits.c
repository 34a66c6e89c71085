/* bool_and, bool_or with their other names; bit_and, bit_or, bit_xor. NULLs are skipped. */
#include "processor/exec/aggregates/aggregates.h"

#include "processor/base/banned.h"

#define CHOOSE(name, ...)                                                                          \
    static const AggregateLoops *choose_##name(const AggregateCall *call, const void **ret_setup)  \
    {                                                                                              \
        static const AggregateLoops by_kind[PHYSICAL_STRUCT + 1] = {__VA_ARGS__};                  \
        (void)ret_setup;                                                                           \
        return &by_kind[type_physical(call->types[0])];                                            \
    }                                                                                              \
    const AggregateKernel aggregate_##name = {.choose = choose_##name};

#define LOOPS(way, suffix, State, remove)                                                          \
    {sizeof(State), add_##way##_##suffix, add_all_##way##_##suffix, NULL, remove, finish_##suffix}

/* ---- BOOLEAN ---- */

/* How many of both there were: rows can be taken back. */
typedef struct Truths {
    int64_t true_count;
    int64_t false_count;
} Truths;

#define COUNT_TRUTH                                                                                \
    s->true_count += x;                                                                            \
    s->false_count += !x;

ADD_LOOPS(truth, Truths, uint8_t, COUNT_TRUTH)
FINISH(and, Truths, uint8_t, s->true_count + s->false_count > 0, s->false_count == 0)
FINISH(or, Truths, uint8_t, s->true_count + s->false_count > 0, s->true_count > 0)

static void remove_truth(const AggregateCall *call, void *state, uint32_t row)
{
    if (vector_is_valid(call->arguments[0], row)) {
        bool truth = VECTOR_VALUE(call->arguments[0], uint8_t, row) != 0;
        Truths *s = state;
        s->true_count -= truth;
        s->false_count -= !truth;
    }
}

#define TRUTH(way) {sizeof(Truths), add_truth, add_all_truth, NULL, remove_truth, finish_##way}

CHOOSE(bool_and, [PHYSICAL_BOOL] = TRUTH(and))
CHOOSE(bool_or, [PHYSICAL_BOOL] = TRUTH(or))

/* ---- Bits ---- */

/* Bits of any width: a signed value cut to 64 bits and back is itself. */
typedef struct Bits {
    uint64_t bits;
    bool any;
} Bits;

#define BIT_LOOPS(suffix, CType)                                                                   \
    ADD_LOOPS(bit_and_##suffix, Bits, CType, {                                                     \
        s->bits = s->any ? s->bits & (uint64_t)x : (uint64_t)x;                                    \
        s->any = true;                                                                             \
    })                                                                                             \
    ADD_LOOPS(bit_or_##suffix, Bits, CType, {                                                      \
        s->bits |= (uint64_t)x;                                                                    \
        s->any = true;                                                                             \
    })                                                                                             \
    ADD_LOOPS(bit_xor_##suffix, Bits, CType, {                                                     \
        s->bits ^= (uint64_t)x;                                                                    \
        s->any = true;                                                                             \
    })                                                                                             \
    FINISH(suffix, Bits, CType, s->any, s->bits)

BIT_LOOPS(int8, int8_t)
BIT_LOOPS(int16, int16_t)
BIT_LOOPS(int32, int32_t)
BIT_LOOPS(int64, int64_t)

#define BITS(way)                                                                                  \
    CHOOSE(way, [PHYSICAL_INT8] = LOOPS(way, int8, Bits, NULL),                                    \
           [PHYSICAL_INT16] = LOOPS(way, int16, Bits, NULL),                                       \
           [PHYSICAL_INT32] = LOOPS(way, int32, Bits, NULL),                                       \
           [PHYSICAL_INT64] = LOOPS(way, int64, Bits, NULL))

BITS(bit_and)
BITS(bit_or)
BITS(bit_xor)
