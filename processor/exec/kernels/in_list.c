/* IN a list of constants. A few numbers are compared one after the other, each in a loop over all
 * rows, which vectorizes; more of them are in a hash table; values of other types are looked up by
 * their key encoding, which is equal exactly when the values are. Not found is NULL when the list
 * holds a NULL. */
#include "processor/base/map.h"
#include "processor/data/key_encoding.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/program.h"

#include "processor/base/banned.h"

enum { FEW_NUMBERS = 16 };

static bool is_null(const Vector *constant)
{
    return !vector_is_valid(constant, 0) || type_physical(constant->type) == PHYSICAL_NONE;
}

/* ---- Numbers ---- */

typedef struct InNumbers {
    int64_t few[FEW_NUMBERS];
    size_t count;
    int64_t *slots; /* of more: open addressing, a power of two of slots */
    uint8_t *taken;
    size_t mask;
    bool has_null;
} InNumbers;

/* Those not found are NULL. */
static void open_misses(const KernelCall *call)
{
    const uint8_t *r = RESULT(call, uint8_t);
    FOR_VALID_ROWS(call, i)
    {
        if (!r[i]) {
            vector_set_null(call->result, call->arena, i);
        }
    }
}

/* The slot of the number, or the free one where it belongs. */
static size_t number_slot(const InNumbers *numbers, int64_t number)
{
    size_t slot = ((uint64_t)number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & numbers->mask;
    while (numbers->taken[slot] && numbers->slots[slot] != number) {
        slot = (slot + 1) & numbers->mask;
    }
    return slot;
}

#define IN_LOOPS(CType, Unsigned, suffix)                                                          \
    static void in_few_##suffix(const KernelCall *call)                                            \
    {                                                                                              \
        const InNumbers *numbers = call->state;                                                    \
        const CType *restrict a = ARGUMENT(call, 0, CType);                                        \
        uint8_t *restrict r = RESULT(call, uint8_t);                                               \
        for (size_t k = 0; k < numbers->count; k++) {                                              \
            const CType number = (CType)numbers->few[k];                                           \
            FOR_ROWS(call->rows, i, { r[i] |= a[i] == number; });                                  \
        }                                                                                          \
        if (numbers->has_null) {                                                                   \
            open_misses(call);                                                                     \
        }                                                                                          \
    }                                                                                              \
    static void in_many_##suffix(const KernelCall *call)                                           \
    {                                                                                              \
        const InNumbers *numbers = call->state;                                                    \
        const CType *a = ARGUMENT(call, 0, CType);                                                 \
        uint8_t *r = RESULT(call, uint8_t);                                                        \
        FOR_ROWS(call->rows, i, { r[i] = numbers->taken[number_slot(numbers, a[i])]; });           \
        if (numbers->has_null) {                                                                   \
            open_misses(call);                                                                     \
        }                                                                                          \
    }

INTEGER_TYPES(IN_LOOPS)

static void make_table(KernelSetup *setup, InNumbers *numbers)
{
    size_t slots = 4 * FEW_NUMBERS;
    while (slots < 2 * setup->argument_count) {
        slots *= 2;
    }
    numbers->mask = slots - 1;
    numbers->slots = arena_new_array(setup->arena, int64_t, slots);
    numbers->taken = arena_new_array(setup->arena, uint8_t, slots);
    for (size_t i = 1; i < setup->argument_count; i++) {
        if (!is_null(setup->constants[i])) {
            int64_t number = vector_int_value(setup->constants[i], 0);
            size_t slot = number_slot(numbers, number);
            numbers->slots[slot] = number;
            numbers->taken[slot] = true;
        }
    }
}

static KernelRun *choose_numbers(KernelSetup *setup)
{
    static KernelRun *const few[PHYSICAL_STRUCT + 1] = {
        [PHYSICAL_INT8] = in_few_int8,
        [PHYSICAL_INT16] = in_few_int16,
        [PHYSICAL_INT32] = in_few_int32,
        [PHYSICAL_INT64] = in_few_int64,
    };
    static KernelRun *const many[PHYSICAL_STRUCT + 1] = {
        [PHYSICAL_INT8] = in_many_int8,
        [PHYSICAL_INT16] = in_many_int16,
        [PHYSICAL_INT32] = in_many_int32,
        [PHYSICAL_INT64] = in_many_int64,
    };
    InNumbers *numbers = arena_new_object(setup->arena, InNumbers);
    PhysicalKind physical = type_physical(setup->types[0]);
    bool is_few = setup->argument_count - 1 <= FEW_NUMBERS;
    setup->state = numbers;
    for (size_t i = 1; i < setup->argument_count; i++) {
        bool valid = !is_null(setup->constants[i]);
        numbers->has_null = numbers->has_null || !valid;
        if (is_few && valid) {
            numbers->few[numbers->count++] = vector_int_value(setup->constants[i], 0);
        }
    }
    if (!is_few) {
        make_table(setup, numbers);
    }
    return is_few ? few[physical] : many[physical];
}

/* ---- Other types ---- */

typedef struct InSet {
    Map values;
    bool has_null;
} InSet;

static bool in_set(const InSet *set, const Vector *vector, uint32_t row, Buffer *key)
{
    Str bytes;
    if (type_physical(vector->type) == PHYSICAL_STR) {
        bytes = VECTOR_VALUE(vector, Str, row);
        bytes.data = bytes.data == NULL ? "" : bytes.data;
    } else {
        buffer_clear(key);
        key_encode_value(vector, row, key);
        bytes = buffer_str(key);
    }
    return map_get(&set->values, bytes) != NULL;
}

static void in(const KernelCall *call)
{
    const InSet *set = call->state;
    uint8_t *r = RESULT(call, uint8_t);
    AUTO_BUFFER Buffer key = {0};
    FOR_VALID_ROWS(call, i)
    {
        r[i] = in_set(set, call->arguments[0], i, &key);
        if (!r[i] && set->has_null) {
            vector_set_null(call->result, call->arena, i);
        }
    }
}

static void release_set(void *set)
{
    map_done(&((InSet *)set)->values);
}

/* Integers, and what is kept as one: dates, times, intervals. */
static bool all_numbers(const KernelSetup *setup)
{
    PhysicalKind physical = type_physical(setup->types[0]);
    for (size_t i = 1; i < setup->argument_count; i++) {
        const Vector *constant = setup->constants[i];
        if (!is_null(constant) && type_physical(constant->type) != physical) {
            return false;
        }
    }
    return physical == PHYSICAL_INT8 || physical == PHYSICAL_INT16 || physical == PHYSICAL_INT32 ||
           physical == PHYSICAL_INT64;
}

KernelRun *in_choose(KernelSetup *setup)
{
    if (all_numbers(setup)) {
        return choose_numbers(setup);
    }
    InSet *set = arena_new_object(setup->arena, InSet);
    arena_on_reset(setup->arena, release_set, set);
    for (size_t i = 1; i < setup->argument_count; i++) {
        const Vector *value = setup->constants[i];
        if (is_null(value)) {
            set->has_null = true;
            continue;
        }
        AUTO_BUFFER Buffer key = {0};
        if (type_physical(value->type) == PHYSICAL_STR) {
            buffer_append_str(&key, VECTOR_VALUE(value, Str, 0));
        } else {
            key_encode_value(value, 0, &key);
        }
        map_put(&set->values, arena_copy_str(setup->arena, buffer_str(&key)), set);
    }
    setup->state = set;
    return in;
}
