/* DECIMAL arithmetic. The exact result has a shape (precision, scale) that follows from the
 * operands' types; where it fits 38 digits the loops work in 128 bits and cannot overflow. Where
 * the shape was cut to 38 digits, rows go through 256-bit integers: computed exactly, rounded half
 * up to the result's scale, NUMERIC_VALUE_OUT_OF_RANGE when they do not fit. */
#include "processor/data/decimal.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/kernels/wide.h"
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

/* What the loops need of the types. */
typedef struct DecimalPlan {
    int exact_scale; /* of the exact result of + - * % */
    int power_a;     /* operands are brought to the exact scale by 10^power */
    int power_b;
    int128 factor_a; /* 10^power */
    int128 factor_b;
    int scale_a;
    int scale_b;
    int precision; /* of the result */
    int scale;
} DecimalPlan;

static void fail_out_of_range(const KernelCall *call, uint32_t row, const Wide *value, int scale)
{
    if (kernel_forgives(call, row)) {
        return;
    }
    AUTO_BUFFER Buffer text = {0};
    wide_format(value, scale, &text);
    kernel_fail(call, row,
                error_new(ERROR_NUMERIC_VALUE_OUT_OF_RANGE,
                          "%s cannot be represented as Decimal(%d, %d).", buffer_cstr(&text),
                          call->result->type->precision, call->result->type->scale));
}

/* Stores the exact value, rounded to the result's scale. */
static void store(const KernelCall *call, uint32_t row, Wide exact, int exact_scale)
{
    const DecimalPlan *plan = call->state;
    Wide rounded = exact_scale > plan->scale ? wide_round(exact, exact_scale - plan->scale) : exact;
    int128 value = 0;
    if (!wide_to_int128(&rounded, &value) || !decimal_fits(value, plan->precision)) {
        fail_out_of_range(call, row, &exact, exact_scale);
        return;
    }
    RESULT(call, int128)[row] = value;
}

/* ---- Loops for results of at most 38 digits ---- */

#define NARROW_LOOP(name, expression)                                                              \
    static void name(const KernelCall *call)                                                       \
    {                                                                                              \
        const DecimalPlan *plan = call->state;                                                     \
        const uint128 fa = (uint128)plan->factor_a;                                                \
        const uint128 fb = (uint128)plan->factor_b;                                                \
        const uint128 *restrict a = ARGUMENT(call, 0, uint128);                                    \
        const uint128 *restrict b = ARGUMENT(call, 1, uint128);                                    \
        uint128 *restrict r = RESULT(call, uint128);                                               \
        (void)fa;                                                                                  \
        (void)fb;                                                                                  \
        FOR_ROWS(call->rows, i, { r[i] = expression; });                                           \
    }

NARROW_LOOP(add_narrow, a[i] * fa + b[i] * fb)
NARROW_LOOP(subtract_narrow, a[i] * fa - b[i] * fb)
NARROW_LOOP(multiply_narrow, a[i] * b[i])

/* ---- Loops through 256 bits ---- */

static void add_wide(const KernelCall *call)
{
    const DecimalPlan *plan = call->state;
    FOR_VALID_ROWS(call, i)
    {
        Wide a = wide_scaled(ARGUMENT(call, 0, int128)[i], plan->power_a);
        Wide b = wide_scaled(ARGUMENT(call, 1, int128)[i], plan->power_b);
        store(call, i, wide_add(a, b), plan->exact_scale);
    }
}

static void subtract_wide(const KernelCall *call)
{
    const DecimalPlan *plan = call->state;
    FOR_VALID_ROWS(call, i)
    {
        Wide a = wide_scaled(ARGUMENT(call, 0, int128)[i], plan->power_a);
        Wide b = wide_scaled(ARGUMENT(call, 1, int128)[i], plan->power_b);
        store(call, i, wide_add(a, wide_negate(b)), plan->exact_scale);
    }
}

static void multiply_wide(const KernelCall *call)
{
    const DecimalPlan *plan = call->state;
    FOR_VALID_ROWS(call, i)
    {
        Wide product = wide_product(ARGUMENT(call, 0, int128)[i], ARGUMENT(call, 1, int128)[i]);
        store(call, i, product, plan->exact_scale);
    }
}

/* ---- Division ---- */

static void divide(const KernelCall *call)
{
    const DecimalPlan *plan = call->state;
    const int128 *a = ARGUMENT(call, 0, int128);
    const int128 *b = ARGUMENT(call, 1, int128);
    int128 *r = RESULT(call, int128);
    FOR_VALID_ROWS(call, i)
    {
        if (b[i] == 0) {
            fail_division_by_zero(call, i);
        } else if (!decimal_divide(a[i], plan->scale_a, b[i], plan->scale_b, plan->precision,
                                   plan->scale, &r[i])) {
            Wide quotient;
            Wide rest;
            wide_divide(wide_scaled(a[i], plan->power_a), wide_scaled(b[i], plan->power_b),
                        &quotient, &rest);
            fail_out_of_range(call, i, &quotient, 0);
        }
    }
}

static void integral_divide(const KernelCall *call)
{
    const DecimalPlan *plan = call->state;
    const int128 *a = ARGUMENT(call, 0, int128);
    const int128 *b = ARGUMENT(call, 1, int128);
    FOR_VALID_ROWS(call, i)
    {
        if (b[i] == 0) {
            fail_division_by_zero(call, i);
            continue;
        }
        Wide quotient;
        Wide rest;
        int128 value = 0;
        wide_divide(wide_scaled(a[i], plan->power_a), wide_scaled(b[i], plan->power_b), &quotient,
                    &rest);
        if (!wide_to_int128(&quotient, &value) || value < INT64_MIN || value > INT64_MAX) {
            kernel_fail(call, i,
                        error_new(ERROR_ARITHMETIC_OVERFLOW,
                                  "Overflow in integral divide. Use 'try_divide' to tolerate "
                                  "overflow and return NULL instead."));
            continue;
        }
        RESULT(call, int64_t)[i] = (int64_t)value;
    }
}

static Wide remainder_of(const DecimalPlan *plan, int128 a, int128 b)
{
    Wide quotient;
    Wide rest;
    wide_divide(wide_scaled(a, plan->power_a), wide_scaled(b, plan->power_b), &quotient, &rest);
    return rest;
}

static void remainder_wide(const KernelCall *call)
{
    const DecimalPlan *plan = call->state;
    const int128 *a = ARGUMENT(call, 0, int128);
    const int128 *b = ARGUMENT(call, 1, int128);
    FOR_VALID_ROWS(call, i)
    {
        if (b[i] == 0) {
            fail_remainder_by_zero(call, i);
        } else {
            store(call, i, remainder_of(plan, a[i], b[i]), plan->exact_scale);
        }
    }
}

static void pmod(const KernelCall *call)
{
    const DecimalPlan *plan = call->state;
    const int128 *a = ARGUMENT(call, 0, int128);
    const int128 *b = ARGUMENT(call, 1, int128);
    FOR_VALID_ROWS(call, i)
    {
        if (b[i] == 0) {
            fail_remainder_by_zero(call, i);
            continue;
        }
        Wide divisor = wide_scaled(b[i], plan->power_b);
        Wide rest = remainder_of(plan, a[i], b[i]);
        if (rest.negative && !wide_is_zero(&rest)) {
            Wide quotient;
            wide_divide(wide_add(rest, divisor), divisor, &quotient, &rest);
        }
        store(call, i, rest, plan->exact_scale);
    }
}

/* ---- One operand ---- */

void decimal_negative(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    int128 *r = RESULT(call, int128);
    FOR_ROWS(call->rows, i, { r[i] = (int128)(0 - (uint128)a[i]); });
}

void decimal_abs(const KernelCall *call)
{
    const int128 *a = ARGUMENT(call, 0, int128);
    int128 *r = RESULT(call, int128);
    FOR_ROWS(call->rows, i, { r[i] = a[i] < 0 ? (int128)(0 - (uint128)a[i]) : a[i]; });
}

/* ---- Choice ---- */

/* Makes the plan; true when the exact result fits 38 digits. */
static bool make_plan(KernelSetup *setup, ArithmeticOp op)
{
    const Type *a = setup->types[0];
    const Type *b = setup->types[1];
    DecimalPlan *plan = arena_new_object(setup->arena, DecimalPlan);
    setup->state = plan;
    DecimalShape exact = decimal_exact_shape(op, a, b);
    int common = a->scale > b->scale ? a->scale : b->scale;
    plan->exact_scale = exact.scale;
    plan->power_a = common - a->scale;
    plan->power_b = common - b->scale;
    plan->factor_a = decimal_power_of_ten(plan->power_a);
    plan->factor_b = decimal_power_of_ten(plan->power_b);
    plan->scale_a = a->scale;
    plan->scale_b = b->scale;
    plan->precision = setup->result->precision;
    plan->scale = setup->result->scale;
    return exact.precision <= DECIMAL_PRECISION_MAX;
}

KernelRun *decimal_choose_add(KernelSetup *setup)
{
    return make_plan(setup, OP_ADD) ? add_narrow : add_wide;
}

KernelRun *decimal_choose_subtract(KernelSetup *setup)
{
    return make_plan(setup, OP_SUBTRACT) ? subtract_narrow : subtract_wide;
}

KernelRun *decimal_choose_multiply(KernelSetup *setup)
{
    return make_plan(setup, OP_MULTIPLY) ? multiply_narrow : multiply_wide;
}

KernelRun *decimal_choose_divide(KernelSetup *setup)
{
    (void)make_plan(setup, OP_DIVIDE);
    return divide;
}

KernelRun *decimal_choose_integral_divide(KernelSetup *setup)
{
    (void)make_plan(setup, OP_DIVIDE);
    return integral_divide;
}

KernelRun *decimal_choose_remainder(KernelSetup *setup)
{
    (void)make_plan(setup, OP_REMAINDER);
    return remainder_wide;
}

KernelRun *decimal_choose_pmod(KernelSetup *setup)
{
    (void)make_plan(setup, OP_REMAINDER);
    return pmod;
}
