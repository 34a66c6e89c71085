/* Casts among BOOLEAN, integers, FLOAT and DOUBLE. Narrowing loops OR what was lost into one value;
 * only when that is not zero does a second loop look for the rows. */
#include <math.h>

#include "processor/exec/kernels/cast.h"

#include "processor/base/banned.h"

/* X(CType, suffix) */
#define INTEGERS(X, ...)                                                                           \
    X(int8_t, int8, __VA_ARGS__)                                                                   \
    X(int16_t, int16, __VA_ARGS__)                                                                 \
    X(int32_t, int32, __VA_ARGS__)                                                                 \
    X(int64_t, int64, __VA_ARGS__)

/* ---- Integer to integer ---- */

#define INTEGER_CAST(From, from, To, to)                                                           \
    static void from##_to_##to(const KernelCall *call)                                             \
    {                                                                                              \
        const From *restrict a = ARGUMENT(call, 0, From);                                          \
        To *restrict r = RESULT(call, To);                                                         \
        int64_t lost = 0;                                                                          \
        FOR_ROWS(call->rows, i, {                                                                  \
            r[i] = (To)a[i];                                                                       \
            lost |= (int64_t)a[i] ^ (int64_t)r[i];                                                 \
        });                                                                                        \
        if (lost != 0) {                                                                           \
            FOR_VALID_ROWS(call, i)                                                                \
            {                                                                                      \
                if ((int64_t)a[i] != (int64_t)(To)a[i]) {                                          \
                    cast_fail_overflow(call, i);                                                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define INTEGER_CASTS(From, from, ignored)                                                         \
    INTEGER_CAST(From, from, int8_t, int8)                                                         \
    INTEGER_CAST(From, from, int16_t, int16)                                                       \
    INTEGER_CAST(From, from, int32_t, int32)                                                       \
    INTEGER_CAST(From, from, int64_t, int64)

INTEGERS(INTEGER_CASTS, )

/* ---- What cannot fail ---- */

#define PLAIN_CAST(From, from, To, to, expression)                                                 \
    static void from##_to_##to(const KernelCall *call)                                             \
    {                                                                                              \
        const From *restrict a = ARGUMENT(call, 0, From);                                          \
        To *restrict r = RESULT(call, To);                                                         \
        FOR_ROWS(call->rows, i, { r[i] = (To)(expression); });                                     \
    }

#define FROM_INTEGER(From, from, ignored)                                                          \
    PLAIN_CAST(From, from, float, float, a[i])                                                     \
    PLAIN_CAST(From, from, double, double, a[i])                                                   \
    PLAIN_CAST(From, from, uint8_t, bool, a[i] != 0)

INTEGERS(FROM_INTEGER, )
PLAIN_CAST(float, float, double, double, a[i])
PLAIN_CAST(float, float, uint8_t, bool, a[i] != 0)
PLAIN_CAST(double, double, float, float, a[i])
PLAIN_CAST(double, double, uint8_t, bool, a[i] != 0)
PLAIN_CAST(uint8_t, bool, int8_t, int8, a[i])
PLAIN_CAST(uint8_t, bool, int16_t, int16, a[i])
PLAIN_CAST(uint8_t, bool, int32_t, int32, a[i])
PLAIN_CAST(uint8_t, bool, int64_t, int64, a[i])
PLAIN_CAST(uint8_t, bool, float, float, a[i])
PLAIN_CAST(uint8_t, bool, double, double, a[i])

/* ---- Float to integer ---- */

bool double_in_range(double number, double min, double max)
{
    return floor(number) <= max && ceil(number) >= min;
}

/* Cut toward zero. 2^63 passes as BIGINT's largest, as in Spark (Java's conversion saturates). */
#define FLOAT_TO_INTEGER(From, from, To, to, MIN, MAX)                                             \
    static void from##_to_##to(const KernelCall *call)                                             \
    {                                                                                              \
        const From *a = ARGUMENT(call, 0, From);                                                   \
        To *r = RESULT(call, To);                                                                  \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            double number = (double)a[i];                                                          \
            if (!double_in_range(number, (double)(MIN), (double)(MAX))) {                          \
                cast_fail_overflow(call, i);                                                       \
            } else {                                                                               \
                r[i] = number >= 0x1p63 ? (To)(MAX) : (To)number;                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define FLOAT_TO_INTEGERS(From, from)                                                              \
    FLOAT_TO_INTEGER(From, from, int8_t, int8, INT8_MIN, INT8_MAX)                                 \
    FLOAT_TO_INTEGER(From, from, int16_t, int16, INT16_MIN, INT16_MAX)                             \
    FLOAT_TO_INTEGER(From, from, int32_t, int32, INT32_MIN, INT32_MAX)                             \
    FLOAT_TO_INTEGER(From, from, int64_t, int64, INT64_MIN, INT64_MAX)

FLOAT_TO_INTEGERS(float, float)
FLOAT_TO_INTEGERS(double, double)

/* ---- Choice ---- */

enum { NUMBER_KINDS = 7 };

/* Row and column of the table: BOOLEAN, TINYINT … BIGINT, FLOAT, DOUBLE; -1 for other types. */
static int number_index(const Type *type)
{
    return type->kind >= TYPE_BOOLEAN && type->kind <= TYPE_DOUBLE ? (int)type->kind - TYPE_BOOLEAN
                                                                   : -1;
}

KernelRun *cast_choose_number(const Type *from, const Type *to)
{
#define TO_INTEGERS(from) from##_to_int8, from##_to_int16, from##_to_int32, from##_to_int64
    static KernelRun *const table[NUMBER_KINDS][NUMBER_KINDS] = {
        {NULL, TO_INTEGERS(bool), bool_to_float, bool_to_double},
        {int8_to_bool, TO_INTEGERS(int8), int8_to_float, int8_to_double},
        {int16_to_bool, TO_INTEGERS(int16), int16_to_float, int16_to_double},
        {int32_to_bool, TO_INTEGERS(int32), int32_to_float, int32_to_double},
        {int64_to_bool, TO_INTEGERS(int64), int64_to_float, int64_to_double},
        {float_to_bool, TO_INTEGERS(float), NULL, float_to_double},
        {double_to_bool, TO_INTEGERS(double), double_to_float, NULL},
    };
#undef TO_INTEGERS
    int row = number_index(from);
    int column = number_index(to);
    return row < 0 || column < 0 ? NULL : table[row][column];
}
