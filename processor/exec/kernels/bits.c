/* Bitwise operators on integers. A shift's distance counts modulo the width, as in Java. */
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

#define BITS_LOOP(CType, Unsigned, suffix)                                                         \
    BITS_BINARY(Unsigned, bit_and_##suffix, &)                                                     \
    BITS_BINARY(Unsigned, bit_or_##suffix, |)                                                      \
    BITS_BINARY(Unsigned, bit_xor_##suffix, ^)                                                     \
    static void bit_not_##suffix(const KernelCall *call)                                           \
    {                                                                                              \
        const Unsigned *restrict a = ARGUMENT(call, 0, Unsigned);                                  \
        Unsigned *restrict r = RESULT(call, Unsigned);                                             \
        FOR_ROWS(call->rows, i, { r[i] = (Unsigned)~a[i]; });                                      \
    }

#define BITS_BINARY(Unsigned, name, operation)                                                     \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const Unsigned *restrict a = ARGUMENT(call, 0, Unsigned);                                  \
        const Unsigned *restrict b = ARGUMENT(call, 1, Unsigned);                                  \
        Unsigned *restrict r = RESULT(call, Unsigned);                                             \
        FOR_ROWS(call->rows, i, { r[i] = (Unsigned)(a[i] operation b[i]); });                      \
    }

INTEGER_TYPES(BITS_LOOP)

#define SHIFT_LOOP(CType, Unsigned, name, expression)                                              \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const CType *restrict a = ARGUMENT(call, 0, CType);                                        \
        const uint32_t *restrict distance = ARGUMENT(call, 1, uint32_t);                           \
        CType *restrict r = RESULT(call, CType);                                                   \
        FOR_ROWS(call->rows, i, {                                                                  \
            uint32_t d = distance[i] & (sizeof(CType) * 8 - 1);                                    \
            r[i] = (CType)(expression);                                                            \
        });                                                                                        \
    }

SHIFT_LOOP(int32_t, uint32_t, shift_left_int32, (uint32_t)a[i] << d)
SHIFT_LOOP(int64_t, uint64_t, shift_left_int64, (uint64_t)a[i] << d)
SHIFT_LOOP(int32_t, uint32_t, shift_right_int32, a[i] >> d)
SHIFT_LOOP(int64_t, uint64_t, shift_right_int64, a[i] >> d)
SHIFT_LOOP(int32_t, uint32_t, shift_right_unsigned_int32, (uint32_t)a[i] >> d)
SHIFT_LOOP(int64_t, uint64_t, shift_right_unsigned_int64, (uint64_t)a[i] >> d)

#define CHOOSE_BITS(name)                                                                          \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        switch (type_value_size(setup->types[0])) {                                                \
        case sizeof(int8_t):                                                                       \
            return name##_int8;                                                                    \
        case sizeof(int16_t):                                                                      \
            return name##_int16;                                                                   \
        case sizeof(int32_t):                                                                      \
            return name##_int32;                                                                   \
        default:                                                                                   \
            return name##_int64;                                                                   \
        }                                                                                          \
    }                                                                                              \
    const Kernel kernel_##name = {.choose = choose_##name};

CHOOSE_BITS(bit_and)
CHOOSE_BITS(bit_or)
CHOOSE_BITS(bit_xor)
CHOOSE_BITS(bit_not)

#define CHOOSE_SHIFT(name)                                                                         \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        return setup->types[0]->kind == TYPE_BIGINT ? name##_int64 : name##_int32;                 \
    }                                                                                              \
    const Kernel kernel_##name = {.choose = choose_##name};

CHOOSE_SHIFT(shift_left)
CHOOSE_SHIFT(shift_right)
CHOOSE_SHIFT(shift_right_unsigned)
