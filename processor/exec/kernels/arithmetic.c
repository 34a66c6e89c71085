/* Arithmetic of integers and floats: one loop per operation and type. Overflow is ORed into one
 * flag; only when it is set does a second loop look for the rows. Decimals: decimal.c. */
#include <math.h>

#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* ---- Errors ---- */

static Error *overflow(const char *alternative)
{
    if (alternative == NULL) {
        return error_new(ERROR_ARITHMETIC_OVERFLOW, "overflow.");
    }
    return error_new(ERROR_ARITHMETIC_OVERFLOW,
                     "overflow. Use '%s' to tolerate overflow and return NULL instead.",
                     alternative);
}

/* Spark words TINYINT and SMALLINT with their operands. */
static Error *small_overflow(int64_t a, const char *sign, int64_t b, const char *alternative)
{
    return error_new(ERROR_BINARY_ARITHMETIC_OVERFLOW,
                     "%lldS %s %lldS caused overflow. Use `%s` to ignore overflow problem and "
                     "return NULL.",
                     (long long)a, sign, (long long)b, alternative);
}

static void fail_overflow(const KernelCall *call, uint32_t row, int64_t a, const char *sign,
                          int64_t b, const char *alternative)
{
    if (!kernel_forgives(call, row)) {
        bool small = type_value_size(call->result->type) < sizeof(int32_t);
        if (type_is_interval(call->result->type)) {
            kernel_fail(call, row, interval_overflow(alternative));
            return;
        }
        kernel_fail(call, row,
                    small ? small_overflow(a, sign, b, alternative) : overflow(alternative));
    }
}

void fail_division_by_zero(const KernelCall *call, uint32_t row)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(call, row,
                    error_new(ERROR_DIVIDE_BY_ZERO,
                              "Division by zero. Use `try_divide` to tolerate divisor being 0 and "
                              "return NULL instead."));
    }
}

void fail_remainder_by_zero(const KernelCall *call, uint32_t row)
{
    if (!kernel_forgives(call, row)) {
        kernel_fail(call, row,
                    error_new(ERROR_REMAINDER_BY_ZERO,
                              "Remainder by zero. Use `try_mod` to tolerate divisor being 0 and "
                              "return NULL instead."));
    }
}

/* ---- Sum, difference, product of integers ---- */

/* `find`: the slow loop, with the compiler's exact test. */
#define FIND_OVERFLOW(CType, name, suffix, builtin, sign, alternative)                             \
    static COLD void name##_find_##suffix(const KernelCall *call)                                  \
    {                                                                                              \
        const CType *a = ARGUMENT(call, 0, CType);                                                 \
        const CType *b = ARGUMENT(call, 1, CType);                                                 \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            CType ignored;                                                                         \
            if (builtin(a[i], b[i], &ignored)) {                                                   \
                fail_overflow(call, i, a[i], sign, b[i], alternative);                             \
            }                                                                                      \
        }                                                                                          \
    }

#define ADD_LOOP(CType, Unsigned, suffix)                                                          \
    FIND_OVERFLOW(CType, add, suffix, __builtin_add_overflow, "+", "try_add")                      \
    static void add_##suffix(const KernelCall *call)                                               \
    {                                                                                              \
        const Unsigned *restrict a = ARGUMENT(call, 0, Unsigned);                                  \
        const Unsigned *restrict b = ARGUMENT(call, 1, Unsigned);                                  \
        Unsigned *restrict r = RESULT(call, Unsigned);                                             \
        Unsigned bad = 0;                                                                          \
        FOR_ROWS(call->rows, i, {                                                                  \
            r[i] = (Unsigned)(a[i] + b[i]);                                                        \
            bad |= (Unsigned)((a[i] ^ r[i]) & (b[i] ^ r[i]));                                      \
        });                                                                                        \
        if ((CType)bad < 0) {                                                                      \
            add_find_##suffix(call);                                                               \
        }                                                                                          \
    }

#define SUBTRACT_LOOP(CType, Unsigned, suffix)                                                     \
    FIND_OVERFLOW(CType, subtract, suffix, __builtin_sub_overflow, "-", "try_subtract")            \
    static void subtract_##suffix(const KernelCall *call)                                          \
    {                                                                                              \
        const Unsigned *restrict a = ARGUMENT(call, 0, Unsigned);                                  \
        const Unsigned *restrict b = ARGUMENT(call, 1, Unsigned);                                  \
        Unsigned *restrict r = RESULT(call, Unsigned);                                             \
        Unsigned bad = 0;                                                                          \
        FOR_ROWS(call->rows, i, {                                                                  \
            r[i] = (Unsigned)(a[i] - b[i]);                                                        \
            bad |= (Unsigned)((a[i] ^ b[i]) & (a[i] ^ r[i]));                                      \
        });                                                                                        \
        if ((CType)bad < 0) {                                                                      \
            subtract_find_##suffix(call);                                                          \
        }                                                                                          \
    }

/* The product of types below BIGINT is exact in 64 bits. */
#define MULTIPLY_LOOP(CType, Unsigned, suffix)                                                     \
    FIND_OVERFLOW(CType, multiply, suffix, __builtin_mul_overflow, "*", "try_multiply")            \
    static void multiply_##suffix(const KernelCall *call)                                          \
    {                                                                                              \
        const CType *restrict a = ARGUMENT(call, 0, CType);                                        \
        const CType *restrict b = ARGUMENT(call, 1, CType);                                        \
        CType *restrict r = RESULT(call, CType);                                                   \
        bool bad = false;                                                                          \
        if (sizeof(CType) == sizeof(int64_t)) {                                                    \
            FOR_ROWS(call->rows, i, { bad |= __builtin_mul_overflow(a[i], b[i], &r[i]); });        \
        } else {                                                                                   \
            int64_t beyond = 0;                                                                    \
            FOR_ROWS(call->rows, i, {                                                              \
                int64_t exact = (int64_t)((uint64_t)a[i] * (uint64_t)b[i]);                        \
                r[i] = (CType)exact;                                                               \
                beyond |= exact ^ r[i];                                                            \
            });                                                                                    \
            bad = beyond != 0;                                                                     \
        }                                                                                          \
        if (bad) {                                                                                 \
            multiply_find_##suffix(call);                                                          \
        }                                                                                          \
    }

INTEGER_TYPES(ADD_LOOP)
INTEGER_TYPES(SUBTRACT_LOOP)
INTEGER_TYPES(MULTIPLY_LOOP)

/* ---- Floats ---- */

#define FLOAT_LOOP(CType, name, expression)                                                        \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const CType *restrict a = ARGUMENT(call, 0, CType);                                        \
        const CType *restrict b = ARGUMENT(call, 1, CType);                                        \
        CType *restrict r = RESULT(call, CType);                                                   \
        FOR_ROWS(call->rows, i, { r[i] = expression; });                                           \
    }

FLOAT_LOOP(float, add_float, a[i] + b[i])
FLOAT_LOOP(double, add_double, a[i] + b[i])
FLOAT_LOOP(float, subtract_float, a[i] - b[i])
FLOAT_LOOP(double, subtract_double, a[i] - b[i])
FLOAT_LOOP(float, multiply_float, a[i] * b[i])
FLOAT_LOOP(double, multiply_double, a[i] * b[i])

/* ---- Division ---- */

static void divide_double(const KernelCall *call)
{
    const double *restrict a = ARGUMENT(call, 0, double);
    const double *restrict b = ARGUMENT(call, 1, double);
    double *restrict r = RESULT(call, double);
    unsigned zero = 0;
    FOR_ROWS(call->rows, i, {
        zero |= b[i] == 0;
        r[i] = a[i] / (b[i] == 0 ? 1 : b[i]);
    });
    if (zero != 0) {
        FOR_VALID_ROWS(call, i)
        {
            if (b[i] == 0) {
                fail_division_by_zero(call, i);
            }
        }
    }
}

static void divide_integers(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    const int64_t *b = ARGUMENT(call, 1, int64_t);
    int64_t *r = RESULT(call, int64_t);
    FOR_VALID_ROWS(call, i)
    {
        if (b[i] == 0) {
            fail_division_by_zero(call, i);
        } else if (a[i] == INT64_MIN && b[i] == -1) {
            kernel_fail(call, i,
                        error_new(ERROR_ARITHMETIC_OVERFLOW,
                                  "Overflow in integral divide. Use 'try_divide' to tolerate "
                                  "overflow and return NULL instead."));
        } else {
            r[i] = a[i] / b[i];
        }
    }
}

/* The remainder has the dividend's sign; -1 divides everything (and INT_MIN % -1 would trap). */
#define REMAINDER_LOOP(CType, Unsigned, suffix)                                                    \
    static void remainder_##suffix(const KernelCall *call)                                         \
    {                                                                                              \
        const CType *a = ARGUMENT(call, 0, CType);                                                 \
        const CType *b = ARGUMENT(call, 1, CType);                                                 \
        CType *r = RESULT(call, CType);                                                            \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            if (b[i] == 0) {                                                                       \
                fail_remainder_by_zero(call, i);                                                   \
            } else {                                                                               \
                r[i] = (CType)(b[i] == -1 ? 0 : a[i] % b[i]);                                      \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void pmod_##suffix(const KernelCall *call)                                              \
    {                                                                                              \
        const CType *b = ARGUMENT(call, 1, CType);                                                 \
        CType *r = RESULT(call, CType);                                                            \
        remainder_##suffix(call);                                                                  \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            if (r[i] < 0 && b[i] != -1) {                                                          \
                r[i] = (CType)(((int128)r[i] + b[i]) % b[i]);                                      \
            }                                                                                      \
        }                                                                                          \
    }

INTEGER_TYPES(REMAINDER_LOOP)

#define FLOAT_REMAINDER_LOOP(CType, suffix, modulo)                                                \
    static void remainder_##suffix(const KernelCall *call)                                         \
    {                                                                                              \
        const CType *a = ARGUMENT(call, 0, CType);                                                 \
        const CType *b = ARGUMENT(call, 1, CType);                                                 \
        CType *r = RESULT(call, CType);                                                            \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            if (b[i] == 0) {                                                                       \
                fail_remainder_by_zero(call, i);                                                   \
            } else {                                                                               \
                r[i] = modulo(a[i], b[i]);                                                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void pmod_##suffix(const KernelCall *call)                                              \
    {                                                                                              \
        const CType *b = ARGUMENT(call, 1, CType);                                                 \
        CType *r = RESULT(call, CType);                                                            \
        remainder_##suffix(call);                                                                  \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            if (r[i] < 0) {                                                                        \
                r[i] = modulo(r[i] + b[i], b[i]);                                                  \
            }                                                                                      \
        }                                                                                          \
    }

FLOAT_REMAINDER_LOOP(float, float, fmodf)
FLOAT_REMAINDER_LOOP(double, double, fmod)

/* ---- One operand ---- */

#define NEGATE_LOOP(CType, Unsigned, suffix)                                                       \
    static COLD void sign_find_##suffix(const KernelCall *call, Error *(*error)(const char *))     \
    {                                                                                              \
        const CType *a = ARGUMENT(call, 0, CType);                                                 \
        FOR_VALID_ROWS(call, i)                                                                    \
        {                                                                                          \
            CType ignored;                                                                         \
            if (__builtin_sub_overflow((CType)0, a[i], &ignored)) {                                \
                kernel_fail(call, i, error(NULL));                                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void negative_##suffix(const KernelCall *call)                                          \
    {                                                                                              \
        const Unsigned *restrict a = ARGUMENT(call, 0, Unsigned);                                  \
        Unsigned *restrict r = RESULT(call, Unsigned);                                             \
        Unsigned bad = 0;                                                                          \
        FOR_ROWS(call->rows, i, {                                                                  \
            r[i] = (Unsigned)(0 - a[i]);                                                           \
            bad |= (Unsigned)(a[i] & r[i]);                                                        \
        });                                                                                        \
        if ((CType)bad < 0) {                                                                      \
            bool interval = type_is_interval(call->result->type);                                  \
            sign_find_##suffix(call, interval ? interval_overflow : overflow);                     \
        }                                                                                          \
    }                                                                                              \
    static void abs_##suffix(const KernelCall *call)                                               \
    {                                                                                              \
        const Unsigned *restrict a = ARGUMENT(call, 0, Unsigned);                                  \
        Unsigned *restrict r = RESULT(call, Unsigned);                                             \
        Unsigned bad = 0;                                                                          \
        FOR_ROWS(call->rows, i, {                                                                  \
            r[i] = (CType)a[i] < 0 ? (Unsigned)(0 - a[i]) : a[i];                                  \
            bad |= r[i];                                                                           \
        });                                                                                        \
        if ((CType)bad < 0) {                                                                      \
            sign_find_##suffix(call, overflow);                                                    \
        }                                                                                          \
    }

INTEGER_TYPES(NEGATE_LOOP)

#define FLOAT_SIGN_LOOP(CType, name, expression)                                                   \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const CType *restrict a = ARGUMENT(call, 0, CType);                                        \
        CType *restrict r = RESULT(call, CType);                                                   \
        FOR_ROWS(call->rows, i, { r[i] = expression; });                                           \
    }

FLOAT_SIGN_LOOP(float, negative_float, -a[i])
FLOAT_SIGN_LOOP(double, negative_double, -a[i])
FLOAT_SIGN_LOOP(float, abs_float, fabsf(a[i]))
FLOAT_SIGN_LOOP(double, abs_double, fabs(a[i]))

/* ---- Choice by type ---- */

#define CHOOSE(name, decimal)                                                                      \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        static KernelRun *const loops[PHYSICAL_STRUCT + 1] = {NUMBER_LOOPS(name)};                 \
        PhysicalKind physical = type_physical(setup->types[0]);                                    \
        return physical == PHYSICAL_INT128 ? (decimal) : loops[physical];                          \
    }

CHOOSE(add, decimal_choose_add(setup))
CHOOSE(subtract, decimal_choose_subtract(setup))
CHOOSE(multiply, decimal_choose_multiply(setup))
CHOOSE(remainder, decimal_choose_remainder(setup))
CHOOSE(pmod, decimal_choose_pmod(setup))
CHOOSE(negative, decimal_negative)
CHOOSE(abs, decimal_abs)

static bool has_interval(const KernelSetup *setup)
{
    return type_is_interval(setup->types[0]) || type_is_interval(setup->types[1]);
}

static KernelRun *choose_plus(KernelSetup *setup)
{
    if (has_interval(setup)) {
        KernelRun *run = interval_choose_add(setup);
        return run != NULL ? run : choose_add(setup);
    }
    return setup->result->kind == TYPE_DATE ? date_plus_days : choose_add(setup);
}

static KernelRun *choose_minus(KernelSetup *setup)
{
    if (has_interval(setup) || type_is_interval(setup->result)) {
        KernelRun *run = interval_choose_subtract(setup);
        return run != NULL ? run : choose_subtract(setup);
    }
    return setup->result->kind == TYPE_DATE ? date_minus_days : choose_subtract(setup);
}

static KernelRun *choose_times(KernelSetup *setup)
{
    return has_interval(setup) ? interval_choose_multiply(setup) : choose_multiply(setup);
}

static KernelRun *choose_divide(KernelSetup *setup)
{
    if (has_interval(setup)) {
        return interval_choose_divide(setup);
    }
    return setup->types[0]->kind == TYPE_DECIMAL ? decimal_choose_divide(setup) : divide_double;
}

static KernelRun *choose_integral_divide(KernelSetup *setup)
{
    if (has_interval(setup)) {
        return interval_choose_div(setup);
    }
    return setup->types[0]->kind == TYPE_DECIMAL ? decimal_choose_integral_divide(setup)
                                                 : divide_integers;
}

const Kernel kernel_add = {.choose = choose_plus};
const Kernel kernel_subtract = {.choose = choose_minus};
const Kernel kernel_multiply = {.choose = choose_times};
const Kernel kernel_divide = {.choose = choose_divide};
const Kernel kernel_remainder = {.choose = choose_remainder};
const Kernel kernel_pmod = {.choose = choose_pmod};
const Kernel kernel_integral_divide = {.choose = choose_integral_divide};
const Kernel kernel_try_add = {.choose = choose_plus, .tolerant = true};
const Kernel kernel_try_subtract = {.choose = choose_minus, .tolerant = true};
const Kernel kernel_try_multiply = {.choose = choose_times, .tolerant = true};
const Kernel kernel_try_divide = {.choose = choose_divide, .tolerant = true};
const Kernel kernel_try_mod = {.choose = choose_remainder, .tolerant = true};
const Kernel kernel_negative = {.choose = choose_negative};
const Kernel kernel_abs = {.choose = choose_abs};
