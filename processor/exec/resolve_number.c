/* Types of arithmetic, as Spark 4 gives them in ANSI mode.
 *
 *     numbers         the wider integer; FLOAT with an integer, DOUBLE with anything: DOUBLE
 *     / of integers   DOUBLE; div: BIGINT
 *     DECIMALs        each keeps its own type, the result's follows from both (decimal_exact_shape)
 *     text            becomes BIGINT beside an integer, DOUBLE beside a fraction; two texts: error
 *     dates, times and intervals: resolve_interval.c */
#include "processor/exec/resolve.h"

#include <string.h>

#include "processor/bind/coerce.h"
#include "processor/data/value_text.h"

#include "processor/base/banned.h"

static const char *const numeric_or_interval =
    "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\")";

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

DecimalShape decimal_exact_shape(ArithmeticOp op, const Type *a, const Type *b)
{
    int scale = max_int(a->scale, b->scale);
    int integral_a = a->precision - a->scale;
    int integral_b = b->precision - b->scale;
    switch (op) {
    case OP_ADD:
    case OP_SUBTRACT:
        return (DecimalShape){max_int(integral_a, integral_b) + scale + 1, scale};
    case OP_MULTIPLY:
        return (DecimalShape){a->precision + b->precision + 1, a->scale + b->scale};
    case OP_DIVIDE:
        scale = max_int(6, a->scale + b->precision + 1);
        return (DecimalShape){integral_a + b->scale + scale, scale};
    case OP_REMAINDER:
        return (DecimalShape){min_int(integral_a, integral_b) + scale, scale};
    }
    return (DecimalShape){DECIMAL_PRECISION_MAX, scale};
}

DecimalShape decimal_adjusted(DecimalShape exact)
{
    if (exact.precision <= DECIMAL_PRECISION_MAX) {
        return exact;
    }
    int integral = exact.precision - exact.scale;
    int scale_min = min_int(exact.scale, 6);
    return (DecimalShape){DECIMAL_PRECISION_MAX,
                          max_int(DECIMAL_PRECISION_MAX - integral, scale_min)};
}

/* DECIMAL that holds every value of the type, when it is integral. */
static const Type *as_decimal(Arena *arena, const Type *type)
{
    return type_is_integral(type) ? coerce_to_decimal(arena, type) : type;
}

/* NULL and text take their type from the other operand. */
static void settle_operand(FunctionCall *call, size_t i)
{
    const Type **types = call->argument_types;
    const Type *other = types[1 - i];
    if (types[i]->kind == TYPE_NULL) {
        types[i] = other->kind == TYPE_NULL ? &type_double : other;
    } else if (types[i]->kind == TYPE_STRING && type_is_numeric(other)) {
        types[i] = type_is_integral(other) ? &type_bigint : &type_double;
    }
}

static Error *check_operands(const FunctionCall *call)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    if (type_is_numeric(a) && type_is_numeric(b)) {
        return NULL;
    }
    if (type_equal(a, b)) {
        return wrong_operands(call, numeric_or_interval);
    }
    return different_operands(call);
}

static bool is_named(const FunctionCall *call, const char *name)
{
    return strcmp(call->function->name, name) == 0;
}

static ArithmeticOp op_of(const FunctionCall *call)
{
    const char *name = call->function->name;
    if (is_named(call, "+") || is_named(call, "try_add")) {
        return OP_ADD;
    }
    if (is_named(call, "-") || is_named(call, "try_subtract")) {
        return OP_SUBTRACT;
    }
    if (is_named(call, "*") || is_named(call, "try_multiply")) {
        return OP_MULTIPLY;
    }
    if (is_named(call, "/") || is_named(call, "try_divide") || strcmp(name, "div") == 0) {
        return OP_DIVIDE;
    }
    return OP_REMAINDER;
}

/* An integer literal beside a DECIMAL has just its own digits: DECIMAL(10,2) * 2 is DECIMAL(12,2).
 */
static const Type *literal_as_decimal(const FunctionCall *call, size_t i)
{
    const BoundExpr *literal = call->arguments == NULL ? NULL : call->arguments[i];
    const Type *type = call->argument_types[i];
    if (literal == NULL || literal->kind != BOUND_LITERAL || !type_is_integral(type) ||
        !type_is_integral(literal->type) || !vector_is_valid(literal->literal, 0)) {
        return as_decimal(call->arena, type);
    }
    AUTO_BUFFER Buffer text = {0};
    value_format(literal->literal, 0, time_zone_utc(), &text);
    bool negative = text.data[0] == '-';
    return type_decimal(call->arena, (int)text.size - negative, 0);
}

static Error *resolve_decimal(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *first = literal_as_decimal(call, 0);
    types[1] = literal_as_decimal(call, 1);
    types[0] = first;
    if (is_named(call, "div")) {
        *ret_type = &type_bigint;
        return NULL;
    }
    DecimalShape shape = decimal_adjusted(decimal_exact_shape(op_of(call), types[0], types[1]));
    *ret_type = type_decimal(call->arena, shape.precision, shape.scale);
    return NULL;
}

static Error *resolve_numbers(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    bool floating = types[0]->kind == TYPE_FLOAT || types[0]->kind == TYPE_DOUBLE ||
                    types[1]->kind == TYPE_FLOAT || types[1]->kind == TYPE_DOUBLE;
    if (!floating && (types[0]->kind == TYPE_DECIMAL || types[1]->kind == TYPE_DECIMAL)) {
        return resolve_decimal(call, ret_type);
    }
    const Type *common = coerce_common_type(call->arena, types[0], types[1]);
    if (is_named(call, "div")) {
        if (floating) {
            return type_equal(types[0], types[1])
                       ? wrong_operands(call, "(\"BIGINT\" or \"DECIMAL\")")
                       : different_operands(call);
        }
        common = &type_bigint;
    } else if (op_of(call) == OP_DIVIDE) {
        common = &type_double;
    }
    types[0] = common;
    types[1] = common;
    *ret_type = common;
    return NULL;
}

static Error *resolve_times(FunctionCall *call, const Type **ret_type)
{
    if (is_named(call, "div")) {
        return resolve_time_div(call, ret_type);
    }
    switch (op_of(call)) {
    case OP_ADD:
        return resolve_time_sum(call, ret_type);
    case OP_SUBTRACT:
        return resolve_time_difference(call, ret_type);
    case OP_MULTIPLY:
        return resolve_time_product(call, ret_type);
    case OP_DIVIDE:
        return resolve_time_quotient(call, ret_type);
    case OP_REMAINDER:
        break;
    }
    return resolve_time_remainder(call, ret_type);
}

Error *resolve_arithmetic(FunctionCall *call, const Type **ret_type)
{
    if (resolve_has_times(call)) {
        return resolve_times(call, ret_type);
    }
    settle_operand(call, 0);
    settle_operand(call, 1);
    TRY(check_operands(call));
    return resolve_numbers(call, ret_type);
}

/* Unary: a number, NULL and text are DOUBLE. */
Error *resolve_sign(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    if (type->kind == TYPE_NULL || type->kind == TYPE_STRING) {
        type = &type_double;
    }
    if (!type_is_numeric(type) && !type_is_interval(type)) {
        return wrong_type(call, 0, numeric_or_interval);
    }
    call->argument_types[0] = type;
    *ret_type = type;
    return NULL;
}

/* sign, signum: DOUBLE of a number or interval. */
Error *resolve_signum(FunctionCall *call, const Type **ret_type)
{
    if (!type_is_interval(call->argument_types[0])) {
        return resolve_signature(call, ret_type);
    }
    *ret_type = &type_double;
    return NULL;
}

Error *resolve_bits(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (call->argument_count == 2) {
        settle_operand(call, 0);
        settle_operand(call, 1);
        if (!type_is_integral(types[0]) || !type_is_integral(types[1])) {
            return type_equal(types[0], types[1]) ? wrong_operands(call, "\"INTEGRAL\"")
                                                  : different_operands(call);
        }
        types[0] = coerce_common_type(call->arena, types[0], types[1]);
        types[1] = types[0];
    } else if (types[0]->kind == TYPE_NULL) {
        types[0] = &type_int;
    } else if (!type_is_integral(types[0])) {
        return wrong_type(call, 0, "\"INTEGRAL\"");
    }
    *ret_type = types[0];
    return NULL;
}

Error *resolve_shift(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    for (size_t i = 0; i < 2; i++) {
        bool wide = i == 0 && types[i]->kind == TYPE_BIGINT;
        if (types[i]->kind != TYPE_NULL && !type_is_numeric(types[i]) &&
            types[i]->kind != TYPE_STRING) {
            return wrong_type(call, i, i == 0 ? "(\"INT\" or \"BIGINT\")" : "\"INT\"");
        }
        types[i] = wide ? &type_bigint : &type_int;
    }
    *ret_type = types[0];
    return NULL;
}

/* The digits to keep when they are a literal: the result's DECIMAL type depends on them. */
static bool literal_digits(const FunctionCall *call, int *ret_digits)
{
    *ret_digits = 0;
    if (call->argument_count < 2) {
        return true;
    }
    if (call->arguments == NULL || call->arguments[1]->kind != BOUND_LITERAL ||
        call->arguments[1]->type->kind != TYPE_INT ||
        !vector_is_valid(call->arguments[1]->literal, 0)) {
        return false;
    }
    *ret_digits = VECTOR_VALUE(call->arguments[1]->literal, int32_t, 0);
    return true;
}

/* DECIMAL(p, s) rounded to d digits: Spark's RoundBase. */
static const Type *rounded_decimal(Arena *arena, const Type *type, int digits)
{
    int integral = type->precision - type->scale + 1;
    if (digits < 0) {
        int precision = max_int(integral, -digits + 1);
        return type_decimal(arena, min_int(precision, DECIMAL_PRECISION_MAX), 0);
    }
    int scale = min_int(type->scale, digits);
    return type_decimal(arena, min_int(integral + scale, DECIMAL_PRECISION_MAX), scale);
}

static Error *resolve_digits(FunctionCall *call, int *ret_digits)
{
    *ret_digits = 0;
    if (call->argument_count < 2) {
        return NULL;
    }
    if (!literal_digits(call, ret_digits)) {
        return not_yet_for(call, "of a DECIMAL to a number of digits that is no literal");
    }
    return NULL;
}

Error *resolve_round(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[0]->kind == TYPE_NULL || types[0]->kind == TYPE_STRING) {
        types[0] = &type_double;
    }
    if (!type_is_numeric(types[0])) {
        return wrong_type(call, 0, "\"NUMERIC\"");
    }
    *ret_type = types[0];
    if (types[0]->kind == TYPE_DECIMAL) {
        int digits = 0;
        TRY(resolve_digits(call, &digits));
        *ret_type = rounded_decimal(call->arena, types[0], digits);
    }
    if (call->argument_count > 1) {
        types[1] = &type_int;
    }
    return NULL;
}

/* ceil(x), floor(x): BIGINT of integers and floats, DECIMAL(p - s + 1, 0) of decimals; with digits
 * the DECIMAL of round. */
Error *resolve_ceil(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[0]->kind == TYPE_NULL || types[0]->kind == TYPE_STRING ||
        types[0]->kind == TYPE_FLOAT) {
        types[0] = &type_double;
    }
    if (!type_is_numeric(types[0])) {
        return wrong_type(call, 0, "\"NUMERIC\"");
    }
    if (call->argument_count > 1 && types[0]->kind != TYPE_DECIMAL) {
        types[0] = types[0]->kind == TYPE_DOUBLE ? type_decimal(call->arena, 30, 15)
                                                 : as_decimal(call->arena, types[0]);
    }
    if (types[0]->kind != TYPE_DECIMAL) {
        types[0] = types[0]->kind == TYPE_DOUBLE ? types[0] : &type_bigint;
        *ret_type = &type_bigint;
        return NULL;
    }
    int digits = 0;
    TRY(resolve_digits(call, &digits));
    *ret_type = rounded_decimal(call->arena, types[0], digits);
    if (call->argument_count > 1) {
        types[1] = &type_int;
    }
    return NULL;
}
