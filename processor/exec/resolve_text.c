/* Types of hashes, random numbers and of functions of texts whose signature does not say it all. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

static TypeKind kind_of(const FunctionCall *call, size_t argument)
{
    return call->argument_types[argument]->kind;
}

/* ---- Hashes ---- */

static bool holds_map(const Type *type)
{
    bool found = type->kind == TYPE_MAP;
    for (uint32_t i = 0; i < type_child_count(type) && !found; i++) {
        found = holds_map(type_child(type, i));
    }
    return found;
}

Error *resolve_hash(FunctionCall *call, const Type **ret_type)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        if (holds_map(call->argument_types[i])) {
            return error_at(ERROR_HASH_MAP_TYPE, call->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: Input to the "
                            "function `%s` cannot contain elements of the \"MAP\" type. In Spark, "
                            "same maps may have different hashcode, thus hash expressions are "
                            "prohibited on \"MAP\" elements.",
                            STR_ARG(call->text), call->function->name);
        }
    }
    *ret_type = call->function->name[0] == 'x' ? &type_bigint : &type_int;
    return NULL;
}

/* ---- Random numbers ---- */

static Error *want_seed(FunctionCall *call, size_t argument)
{
    if (argument >= call->argument_count) {
        return NULL;
    }
    if (kind_of(call, argument) != TYPE_NULL && !type_is_integral(call->argument_types[argument])) {
        return wrong_type(call, argument, "(\"INT\" or \"BIGINT\")");
    }
    call->argument_types[argument] = &type_bigint;
    return NULL;
}

Error *resolve_random(FunctionCall *call, const Type **ret_type)
{
    *ret_type = &type_double;
    return want_seed(call, 0);
}

Error *resolve_uuid(FunctionCall *call, const Type **ret_type)
{
    *ret_type = &type_string;
    return want_seed(call, 0);
}

Error *resolve_shuffle(FunctionCall *call, const Type **ret_type)
{
    if (kind_of(call, 0) != TYPE_ARRAY) {
        return wrong_type(call, 0, "\"ARRAY\"");
    }
    *ret_type = call->argument_types[0];
    return want_seed(call, 1);
}

/* ---- Errors ---- */

Error *resolve_raise_error(FunctionCall *call, const Type **ret_type)
{
    if (kind_of(call, 0) != TYPE_STRING &&
        !coerce_is_implicit(call->argument_types[0], &type_string)) {
        return wrong_type(call, 0, "\"STRING\"");
    }
    call->argument_types[0] = &type_string;
    *ret_type = &type_null;
    return NULL;
}

Error *resolve_assert_true(FunctionCall *call, const Type **ret_type)
{
    if (kind_of(call, 0) != TYPE_BOOLEAN &&
        !coerce_is_implicit(call->argument_types[0], &type_boolean)) {
        return wrong_type(call, 0, "\"BOOLEAN\"");
    }
    call->argument_types[0] = &type_boolean;
    if (call->argument_count > 1) {
        call->argument_types[1] = &type_string;
    }
    *ret_type = &type_null;
    return NULL;
}

/* ---- Texts ---- */

/* Bytes are padded with bytes. */
Error *resolve_pad(FunctionCall *call, const Type **ret_type)
{
    bool binary = kind_of(call, 0) == TYPE_BINARY &&
                  (call->argument_count < 3 || kind_of(call, 2) == TYPE_BINARY);
    if (!binary) {
        return resolve_signature(call, ret_type);
    }
    if (!coerce_is_implicit(call->argument_types[1], &type_int) &&
        !type_is_numeric(call->argument_types[1])) {
        return wrong_type(call, 1, "\"INT\"");
    }
    call->argument_types[1] = &type_int;
    *ret_type = &type_binary;
    return NULL;
}

/* All BINARY, or else STRINGs. */
Error *resolve_elt(FunctionCall *call, const Type **ret_type)
{
    const Type *common = &type_binary;
    for (size_t i = 1; i < call->argument_count; i++) {
        common = kind_of(call, i) == TYPE_BINARY ? common : &type_string;
    }
    if (!coerce_is_implicit(call->argument_types[0], &type_int) &&
        !type_is_numeric(call->argument_types[0])) {
        return wrong_type(call, 0, "\"INT\"");
    }
    call->argument_types[0] = &type_int;
    for (size_t i = 1; i < call->argument_count; i++) {
        if (!type_equal(call->argument_types[i], common) &&
            !coerce_is_implicit(call->argument_types[i], common)) {
            return wrong_type(call, i, "\"STRING\"");
        }
        call->argument_types[i] = common;
    }
    *ret_type = common;
    return NULL;
}

static size_t character_count(Str s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.size; i++) {
        count += ((unsigned char)s.data[i] & 0xC0) != 0x80;
    }
    return count;
}

/* What stands for a class of characters is a text that is known beforehand. */
static Error *check_mask_argument(const FunctionCall *call, size_t i, const Vector *value)
{
    static const char *const names[] = {"input", "upperChar", "lowerChar", "digitChar",
                                        "otherChar"};
    if (kind_of(call, i) != TYPE_STRING && kind_of(call, i) != TYPE_NULL) {
        return wrong_type(call, i, "\"STRING\"");
    }
    if (value != NULL || call->arguments == NULL || call->arguments[i]->kind == BOUND_CAST ||
        call->arguments[i]->kind == BOUND_CALL) {
        return NULL;
    }
    return error_at(ERROR_NON_FOLDABLE_INPUT, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: the input `%s` should be a "
                    "foldable \"STRING\" expression; however, got \"%.*s\".",
                    STR_ARG(call->text), names[i], STR_ARG(call->arguments[i]->text));
}

/* And one character. */
Error *resolve_mask(FunctionCall *call, const Type **ret_type)
{
    for (size_t i = 1; i < call->argument_count; i++) {
        const Vector *value = NULL;
        TRY(argument_value(call, i, &value));
        TRY(check_mask_argument(call, i, value));
        if (value != NULL && value->type->kind == TYPE_STRING && vector_is_valid(value, 0) &&
            character_count(VECTOR_VALUE(value, Str, 0)) != 1) {
            return error_at(ERROR_INPUT_SIZE_NOT_ONE, call->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: Length of argument "
                            "%zu should be 1.",
                            STR_ARG(call->text), i + 1);
        }
    }
    return resolve_signature(call, ret_type);
}

/* Positions count from 1. */
Error *resolve_regexp_replace(FunctionCall *call, const Type **ret_type)
{
    const Vector *value = NULL;
    TRY(argument_value(call, 3, &value));
    if (value != NULL && value->type->kind == TYPE_INT && vector_is_valid(value, 0) &&
        VECTOR_VALUE(value, int32_t, 0) < 1) {
        return error_at(ERROR_VALUE_OUT_OF_RANGE, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: The position must be "
                        "between (0, 2147483647] (current value = %d).",
                        STR_ARG(call->text), VECTOR_VALUE(value, int32_t, 0));
    }
    return resolve_signature(call, ret_type);
}
