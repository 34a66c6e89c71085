/* Comparison: six operators over every orderable type, `<=>`, greatest, least.
 *
 * Floats follow Spark's total order: NaN equals NaN and is above Infinity, -0.0 equals 0.0. Strings
 * and binaries compare by bytes. Decimals of different scales compare exactly. Arrays compare
 * element by element, structs field by field, NULL first. */
#include <math.h>
#include <string.h>

#include "processor/data/decimal.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/program.h"

#include "processor/base/banned.h"

/* ---- One loop per operator and type ---- */

/* LESS(x, y) and EQUAL(x, y) are the type's two questions; the six operators follow. */
#define COMPARE_LOOPS(CType, suffix, LESS, EQUAL)                                                  \
    COMPARE_LOOP(CType, equal_##suffix, EQUAL(a[i], b[i]))                                         \
    COMPARE_LOOP(CType, not_equal_##suffix, !EQUAL(a[i], b[i]))                                    \
    COMPARE_LOOP(CType, less_##suffix, LESS(a[i], b[i]))                                           \
    COMPARE_LOOP(CType, less_equal_##suffix, !LESS(b[i], a[i]))                                    \
    COMPARE_LOOP(CType, greater_##suffix, LESS(b[i], a[i]))                                        \
    COMPARE_LOOP(CType, greater_equal_##suffix, !LESS(a[i], b[i]))

#define COMPARE_LOOP(CType, name, expression)                                                      \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const CType *restrict a = ARGUMENT(call, 0, CType);                                        \
        const CType *restrict b = ARGUMENT(call, 1, CType);                                        \
        uint8_t *restrict r = RESULT(call, uint8_t);                                               \
        FOR_ROWS(call->rows, i, { r[i] = (expression); });                                         \
    }

#define PLAIN_LESS(x, y) ((x) < (y))
#define PLAIN_EQUAL(x, y) ((x) == (y))
/* Without branches, which random values would mispredict. */
#define FLOAT_LESS(x, y) (((x) < (y)) | (((y) != (y)) & ((x) == (x))))
#define FLOAT_EQUAL(x, y) (((x) == (y)) | (((x) != (x)) & ((y) != (y))))

COMPARE_LOOPS(uint8_t, bool, PLAIN_LESS, PLAIN_EQUAL)
COMPARE_LOOPS(int8_t, int8, PLAIN_LESS, PLAIN_EQUAL)
COMPARE_LOOPS(int16_t, int16, PLAIN_LESS, PLAIN_EQUAL)
COMPARE_LOOPS(int32_t, int32, PLAIN_LESS, PLAIN_EQUAL)
COMPARE_LOOPS(int64_t, int64, PLAIN_LESS, PLAIN_EQUAL)
COMPARE_LOOPS(int128, int128, PLAIN_LESS, PLAIN_EQUAL)
COMPARE_LOOPS(float, float, FLOAT_LESS, FLOAT_EQUAL)
COMPARE_LOOPS(double, double, FLOAT_LESS, FLOAT_EQUAL)

/* Strings, decimals of two scales, nested values: rows under nulls are left alone. */
#define ORDER_LOOPS(suffix, CType, order, same)                                                    \
    ORDER_LOOP(equal_##suffix, CType, same)                                                        \
    ORDER_LOOP(not_equal_##suffix, CType, !(same))                                                 \
    ORDER_LOOP(less_##suffix, CType, (order) < 0)                                                  \
    ORDER_LOOP(less_equal_##suffix, CType, (order) <= 0)                                           \
    ORDER_LOOP(greater_##suffix, CType, (order) > 0)                                               \
    ORDER_LOOP(greater_equal_##suffix, CType, (order) >= 0)

#define ORDER_LOOP(name, CType, expression)                                                        \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const Vector *va = call->arguments[0];                                                     \
        const Vector *vb = call->arguments[1];                                                     \
        const CType *a = va->data;                                                                 \
        const CType *b = vb->data;                                                                 \
        uint8_t *r = RESULT(call, uint8_t);                                                        \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            r[i] = (expression);                                                                   \
        }                                                                                          \
    }

ORDER_LOOPS(str, Str, str_compare(a[i], b[i]), str_equal(a[i], b[i]))
ORDER_LOOPS(scaled, int128, decimal_compare(a[i], va->type->scale, b[i], vb->type->scale),
            decimal_compare(a[i], va->type->scale, b[i], vb->type->scale) == 0)
ORDER_LOOPS(nested, void, value_compare(va, i, vb, i), vector_value_equal(va, i, vb, i))

/* ---- Order of any two values ---- */

static int lists_compare(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    uint32_t count_a = a->offsets[row_a + 1] - a->offsets[row_a];
    uint32_t count_b = b->offsets[row_b + 1] - b->offsets[row_b];
    for (uint32_t i = 0; i < count_a && i < count_b; i++) {
        int order = value_compare(a->children[0], a->offsets[row_a] + i, b->children[0],
                                  b->offsets[row_b] + i);
        if (order != 0) {
            return order;
        }
    }
    return (count_a > count_b) - (count_a < count_b);
}

static int structs_compare(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    for (uint32_t child = 0; child < a->child_count; child++) {
        int order = value_compare(a->children[child], row_a, b->children[child], row_b);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

#define ORDER_OF(CType, LESS)                                                                      \
    do {                                                                                           \
        CType x = VECTOR_VALUE(a, CType, row_a);                                                   \
        CType y = VECTOR_VALUE(b, CType, row_b);                                                   \
        return (LESS(y, x)) - (LESS(x, y));                                                        \
    } while (0)

int value_compare(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b)
{
    bool valid_a = vector_is_valid(a, row_a);
    bool valid_b = vector_is_valid(b, row_b);
    if (!valid_a || !valid_b) {
        return (int)valid_a - (int)valid_b;
    }
    switch (type_physical(a->type)) {
    case PHYSICAL_NONE:
        return 0;
    case PHYSICAL_BOOL:
        ORDER_OF(uint8_t, PLAIN_LESS);
    case PHYSICAL_INT8:
        ORDER_OF(int8_t, PLAIN_LESS);
    case PHYSICAL_INT16:
        ORDER_OF(int16_t, PLAIN_LESS);
    case PHYSICAL_INT32:
        ORDER_OF(int32_t, PLAIN_LESS);
    case PHYSICAL_INT64:
        ORDER_OF(int64_t, PLAIN_LESS);
    case PHYSICAL_INT128:
        ORDER_OF(int128, PLAIN_LESS);
    case PHYSICAL_FLOAT:
        ORDER_OF(float, FLOAT_LESS);
    case PHYSICAL_DOUBLE:
        ORDER_OF(double, FLOAT_LESS);
    case PHYSICAL_STR:
        return str_compare(VECTOR_VALUE(a, Str, row_a), VECTOR_VALUE(b, Str, row_b));
    case PHYSICAL_LIST:
        return lists_compare(a, row_a, b, row_b);
    case PHYSICAL_STRUCT:
        return structs_compare(a, row_a, b, row_b);
    }
    return 0;
}

/* ---- Choice by type ---- */

#define CHOOSE_COMPARE(name)                                                                       \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        static KernelRun *const loops[PHYSICAL_STRUCT + 1] = {                                     \
            NUMBER_LOOPS(name),                                                                    \
            [PHYSICAL_BOOL] = name##_bool,                                                         \
            [PHYSICAL_INT128] = name##_int128,                                                     \
            [PHYSICAL_STR] = name##_str,                                                           \
            [PHYSICAL_NONE] = name##_nested,                                                       \
            [PHYSICAL_LIST] = name##_nested,                                                       \
            [PHYSICAL_STRUCT] = name##_nested,                                                     \
        };                                                                                         \
        const Type *a = setup->types[0];                                                           \
        return a->scale == setup->types[1]->scale || a->kind != TYPE_DECIMAL                       \
                   ? loops[type_physical(a)]                                                       \
                   : name##_scaled;                                                                \
    }                                                                                              \
    const Kernel kernel_##name = {.choose = choose_##name};

CHOOSE_COMPARE(equal)
CHOOSE_COMPARE(not_equal)
CHOOSE_COMPARE(less)
CHOOSE_COMPARE(less_equal)
CHOOSE_COMPARE(greater)
CHOOSE_COMPARE(greater_equal)

KernelRun *equal_choose(KernelSetup *setup)
{
    return choose_equal(setup);
}

/* ---- <=> ---- */

/* Runs `=` where both are there; the other rows are decided by validity alone. */
static void null_safe_equal(const KernelCall *call)
{
    KernelRun *const *equal = call->state;
    const Vector *a = call->arguments[0];
    const Vector *b = call->arguments[1];
    uint8_t *r = RESULT(call, uint8_t);
    FOR_ROWS(call->rows, i, {
        bool valid_a = vector_is_valid(a, i) && type_physical(a->type) != PHYSICAL_NONE;
        bool valid_b = vector_is_valid(b, i) && type_physical(b->type) != PHYSICAL_NONE;
        if (!valid_a || !valid_b) {
            r[i] = valid_a == valid_b;
            vector_set_null(call->result, call->arena, i);
        }
    });
    if (call->result->validity == NULL) {
        (*equal)(call);
        return;
    }
    Vector *result = call->result;
    uint32_t count = 0;
    uint16_t *selection =
        arena_alloc(call->arena, arena_array_size_(call->rows.count, sizeof(uint16_t)));
    FOR_VALID_ROWS(call, i)
    {
        selection[count++] = (uint16_t)i;
    }
    result->validity = NULL;
    KernelCall both = *call;
    both.rows = (Rows){selection, count};
    (*equal)(&both);
}

static KernelRun *choose_null_safe_equal(KernelSetup *setup)
{
    KernelRun **equal = arena_new_object(setup->arena, KernelRun *);
    *equal = choose_equal(setup);
    setup->state = equal;
    return null_safe_equal;
}

const Kernel kernel_null_safe_equal = {.choose = choose_null_safe_equal};

/* ---- greatest, least ---- */

/* `direction` 1: the greatest, -1: the least. NULLs are skipped. */
static size_t extreme_of(const KernelCall *call, uint32_t row, int direction)
{
    size_t best = 0;
    for (size_t k = 1; k < call->argument_count; k++) {
        const Vector *candidate = call->arguments[k];
        const Vector *so_far = call->arguments[best];
        if (vector_is_valid(candidate, row) &&
            (!vector_is_valid(so_far, row) ||
             value_compare(candidate, row, so_far, row) * direction > 0)) {
            best = k;
        }
    }
    return best;
}

/* Rows in order, appended: works for every type, nested ones too. */
static void extreme(const KernelCall *call, int direction)
{
    Vector *result = call->result;
    uint32_t row_count = result->length;
    result->length = 0;
    for (uint32_t i = 0; i < call->rows.count; i++) {
        uint32_t row = rows_at(call->rows, i);
        list_skip_to(call, row);
        const Vector *best = call->arguments[extreme_of(call, row, direction)];
        vector_append_from(result, call->arena, best, row);
    }
    list_skip_to(call, row_count);
}

static void greatest_any(const KernelCall *call)
{
    extreme(call, 1);
}

static void least_any(const KernelCall *call)
{
    extreme(call, -1);
}

/* The result begins as the first argument. */
static void copy_first(const KernelCall *call)
{
    const Vector *first = call->arguments[0];
    Vector *result = call->result;
    memcpy(result->data, first->data, call->row_count * type_value_size(result->type));
    if (first->validity != NULL) {
        memcpy(vector_need_validity(result, call->arena), first->validity,
               ((size_t)call->row_count + 63) / 64 * sizeof(uint64_t));
    }
}

/* Numbers: argument by argument. BETTER(x, y): is y to take the place of x? */
#define EXTREME_LOOP(CType, name, BETTER)                                                          \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        Vector *result = call->result;                                                             \
        CType *restrict r = RESULT(call, CType);                                                   \
        copy_first(call);                                                                          \
        for (size_t k = 1; k < call->argument_count; k++) {                                        \
            const Vector *other = call->arguments[k];                                              \
            const CType *restrict a = ARGUMENT(call, k, CType);                                    \
            if (result->validity == NULL && other->validity == NULL) {                             \
                FOR_ROWS(call->rows, i, { r[i] = BETTER(r[i], a[i]) ? a[i] : r[i]; });             \
                continue;                                                                          \
            }                                                                                      \
            FOR_ROWS(call->rows, i, {                                                              \
                bool is_there = vector_is_valid(result, i);                                        \
                if (vector_is_valid(other, i) && (!is_there || BETTER(r[i], a[i]))) {              \
                    r[i] = a[i];                                                                   \
                    vector_set_valid(result, i);                                                   \
                }                                                                                  \
            });                                                                                    \
        }                                                                                          \
    }

#define PLAIN_GREATER(x, y) ((x) > (y))
#define FLOAT_GREATER(x, y) FLOAT_LESS(y, x)
#define EXTREME_LOOPS(CType, suffix, LESS, GREATER)                                                \
    EXTREME_LOOP(CType, greatest_##suffix, LESS)                                                   \
    EXTREME_LOOP(CType, least_##suffix, GREATER)

EXTREME_LOOPS(int8_t, int8, PLAIN_LESS, PLAIN_GREATER)
EXTREME_LOOPS(int16_t, int16, PLAIN_LESS, PLAIN_GREATER)
EXTREME_LOOPS(int32_t, int32, PLAIN_LESS, PLAIN_GREATER)
EXTREME_LOOPS(int64_t, int64, PLAIN_LESS, PLAIN_GREATER)
EXTREME_LOOPS(int128, int128, PLAIN_LESS, PLAIN_GREATER)
EXTREME_LOOPS(float, float, FLOAT_LESS, FLOAT_GREATER)
EXTREME_LOOPS(double, double, FLOAT_LESS, FLOAT_GREATER)

#define CHOOSE_EXTREME(name)                                                                       \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        static KernelRun *const loops[PHYSICAL_STRUCT + 1] = {                                     \
            NUMBER_LOOPS(name),                                                                    \
            [PHYSICAL_INT128] = name##_int128,                                                     \
        };                                                                                         \
        KernelRun *loop = loops[type_physical(setup->result)];                                     \
        return loop == NULL ? name##_any : loop;                                                   \
    }                                                                                              \
    const Kernel kernel_##name = {.choose = choose_##name};

CHOOSE_EXTREME(greatest)
CHOOSE_EXTREME(least)
