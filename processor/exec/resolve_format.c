/* Types of functions that print and read numbers by a pattern. */
#include "processor/exec/resolve.h"

#include "processor/bind/coerce.h"
#include "processor/data/number_pattern.h"

#include "processor/base/banned.h"

/* to_char(x, pattern): a DECIMAL of numbers and text, a time, or bytes. */
Error *resolve_to_char(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *type = types[0];
    *ret_type = &type_string;
    if (types[1]->kind != TYPE_STRING && !coerce_is_implicit(types[1], &type_string)) {
        return wrong_type(call, 1, "\"STRING\"");
    }
    types[1] = &type_string;
    if (type_is_datetime(type)) {
        types[0] = &type_timestamp;
        return NULL;
    }
    if (type->kind == TYPE_BINARY) {
        return not_yet_for(call, "of BINARY");
    }
    if (!type_is_numeric(type) && type->kind != TYPE_STRING && type->kind != TYPE_NULL) {
        return wrong_type(call, 0, "\"NUMERIC\"");
    }
    types[0] = type_is_numeric(type) ? coerce_to_decimal(call->arena, type)
                                     : type_decimal(call->arena, 30, 15);
    return NULL;
}

/* to_number(text, pattern): the pattern's digits are the type's. */
Error *resolve_to_number(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    for (size_t i = 0; i < 2; i++) {
        if (types[i]->kind != TYPE_STRING && !coerce_is_implicit(types[i], &type_string)) {
            return wrong_type(call, i, "\"STRING\"");
        }
        types[i] = &type_string;
    }
    const BoundExpr *format = call->arguments == NULL ? NULL : call->arguments[1];
    if (format == NULL || format->kind != BOUND_LITERAL) {
        return error_at(ERROR_NON_FOLDABLE_ARGUMENT, call->place,
                        "The function `%s` requires the parameter `format` to be a foldable "
                        "expression of the type \"STRING\", but the actual argument is a "
                        "non-foldable.",
                        call->function->name);
    }
    *ret_type = type_decimal(call->arena, 10, 0);
    if (!vector_is_valid(format->literal, 0) || format->type->kind != TYPE_STRING) {
        return NULL;
    }
    NumberPattern pattern;
    Error *error = number_pattern_parse(VECTOR_VALUE(format->literal, Str, 0), &pattern);
    if (error != NULL) {
        return error_set_place(error, call->place);
    }
    size_t precision = pattern.whole_digits + pattern.fraction_digits;
    if (precision > DECIMAL_PRECISION_MAX) {
        return error_at(ERROR_DECIMAL_PRECISION_EXCEEDS_MAX, call->place,
                        "Decimal precision %zu exceeds max precision %d.", precision,
                        DECIMAL_PRECISION_MAX);
    }
    *ret_type = type_decimal(call->arena, (int)precision, (int)pattern.fraction_digits);
    return NULL;
}

/* format_number(x, digits or pattern) */
Error *resolve_format_number(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    *ret_type = &type_string;
    if (types[0]->kind == TYPE_NULL) {
        types[0] = &type_double;
    }
    if (!type_is_numeric(types[0])) {
        return wrong_type(call, 0, "\"NUMERIC\"");
    }
    bool digits = types[1]->kind == TYPE_INT || types[1]->kind == TYPE_SMALLINT ||
                  types[1]->kind == TYPE_TINYINT || types[1]->kind == TYPE_NULL;
    if (!digits && types[1]->kind != TYPE_STRING) {
        return wrong_type(call, 1, "(\"INT\" or \"STRING\")");
    }
    types[0] = types[0]->kind == TYPE_FLOAT    ? &type_double
               : types[0]->kind == TYPE_DOUBLE ? types[0]
                                               : coerce_to_decimal(call->arena, types[0]);
    types[1] = digits ? &type_int : &type_string;
    return NULL;
}

/* format_string(format, …): the others stay what they are. */
Error *resolve_format_string(FunctionCall *call, const Type **ret_type)
{
    if (call->argument_types[0]->kind != TYPE_STRING &&
        !coerce_is_implicit(call->argument_types[0], &type_string)) {
        return wrong_type(call, 0, "\"STRING\"");
    }
    for (size_t i = 1; i < call->argument_count; i++) {
        const Type *type = call->argument_types[i];
        if (type->kind == TYPE_BINARY || type->kind == TYPE_VARIANT || type_child_count(type) > 0) {
            return not_yet_for(call, "of arrays, maps, structs and bytes");
        }
    }
    call->argument_types[0] = &type_string;
    *ret_type = &type_string;
    return NULL;
}

/* width_bucket(value, from, to, count): numbers, or intervals of one family. */
Error *resolve_width_bucket(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *common = &type_null;
    for (size_t i = 0; i < 3; i++) {
        const Type *type = type_is_numeric(types[i]) ? &type_double : types[i];
        common = common == NULL ? NULL : coerce_common_type(call->arena, common, type);
    }
    if (common == NULL || common->kind == TYPE_NULL || common->kind == TYPE_STRING) {
        common = &type_double;
    }
    for (size_t i = 0; i < 3; i++) {
        if (!type_equal(types[i], common) && !type_is_interval(types[i]) &&
            !coerce_is_implicit(types[i], common)) {
            return wrong_type(call, i, "\"DOUBLE\"");
        }
        types[i] = common;
    }
    if (!type_is_integral(types[3]) && types[3]->kind != TYPE_NULL &&
        types[3]->kind != TYPE_STRING) {
        return wrong_type(call, 3, "\"BIGINT\"");
    }
    types[3] = &type_bigint;
    *ret_type = &type_bigint;
    return NULL;
}

Error *resolve_bit_count(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    if (!type_is_integral(type) && type->kind != TYPE_BOOLEAN && type->kind != TYPE_NULL) {
        return wrong_type(call, 0, "(\"INTEGRAL\" or \"BOOLEAN\")");
    }
    call->argument_types[0] = &type_bigint;
    *ret_type = &type_int;
    return NULL;
}

Error *resolve_getbit(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[0]->kind == TYPE_NULL) {
        types[0] = &type_int;
    }
    if (!type_is_integral(types[0])) {
        return wrong_type(call, 0, "\"INTEGRAL\"");
    }
    if (!type_is_numeric(types[1]) && types[1]->kind != TYPE_NULL) {
        return wrong_type(call, 1, "\"INT\"");
    }
    types[1] = &type_int;
    *ret_type = &type_tinyint;
    return NULL;
}
