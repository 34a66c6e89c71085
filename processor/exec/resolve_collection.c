/* Types of functions over arrays and maps. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

/* Least common type of every `stride`-th argument; NULL when there is none. */
static const Type *common_of(const FunctionCall *call, size_t first, size_t stride)
{
    const Type *common = &type_null;
    for (size_t i = first; i < call->argument_count && common != NULL; i += stride) {
        common = coerce_common_type(call->arena, common, call->argument_types[i]);
    }
    return common;
}

Error *resolve_array(FunctionCall *call, const Type **ret_type)
{
    const Type *element = common_of(call, 0, 1);
    if (element == NULL) {
        return different_inputs(call);
    }
    for (size_t i = 0; i < call->argument_count; i++) {
        call->argument_types[i] = element;
    }
    *ret_type = type_array(call->arena, element);
    return NULL;
}

Error *resolve_map(FunctionCall *call, const Type **ret_type)
{
    if (call->argument_count % 2 != 0) {
        return error_at(ERROR_WRONG_NUM_ARGS, call->place,
                        "The `map` requires 2n (n > 0) parameters but the actual number is %zu.",
                        call->argument_count);
    }
    const Type *key = common_of(call, 0, 2);
    const Type *value = common_of(call, 1, 2);
    if (key == NULL || value == NULL) {
        return different_inputs(call);
    }
    for (size_t i = 0; i < call->argument_count; i++) {
        call->argument_types[i] = i % 2 == 0 ? key : value;
    }
    *ret_type = type_map(call->arena, key, value);
    return NULL;
}

Error *resolve_subscript(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[0]->kind == TYPE_MAP) {
        if (!type_equal(types[1], types[0]->key) && !coerce_is_implicit(types[1], types[0]->key)) {
            return wrong_type(call, 1, "map's key");
        }
        types[1] = types[0]->key;
        *ret_type = types[0]->element;
        return NULL;
    }
    if (types[0]->kind != TYPE_ARRAY) {
        AUTO_BUFFER Buffer name = {0};
        type_format(types[0], &name);
        return error_at(ERROR_INVALID_EXTRACT_BASE_FIELD_TYPE, call->place,
                        "Can't extract a value from \"%.*s\". Need a complex type [STRUCT, ARRAY, "
                        "MAP] but got \"%s\".",
                        STR_ARG(call->text), buffer_cstr(&name));
    }
    bool by_name = call->function->name[0] != '[' && call->function->name[0] != 'g';
    if ((!type_is_integral(types[1]) && types[1]->kind != TYPE_NULL) ||
        (by_name && types[1]->kind == TYPE_BIGINT)) {
        return wrong_type(call, 1, by_name ? "\"INT\"" : "\"INTEGRAL\"");
    }
    types[1] = &type_int;
    *ret_type = types[0]->element;
    return NULL;
}

static const Type null_array = {.kind = TYPE_ARRAY, .element = &type_null};

Error *resolve_size(FunctionCall *call, const Type **ret_type)
{
    TypeKind kind = call->argument_types[0]->kind;
    if (kind == TYPE_NULL) {
        call->argument_types[0] = &null_array;
    } else if (kind != TYPE_ARRAY && kind != TYPE_MAP) {
        return wrong_type(call, 0, "(\"ARRAY\" or \"MAP\")");
    }
    *ret_type = &type_int;
    return NULL;
}

Error *resolve_array_contains(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *element = types[0]->kind == TYPE_ARRAY ? types[0]->element : NULL;
    if (element == NULL && types[0]->kind != TYPE_NULL) {
        return wrong_type(call, 0, "\"ARRAY\"");
    }
    if (element == NULL || types[1]->kind == TYPE_NULL) {
        return error_at(
            ERROR_NULL_TYPE, call->place,
            "Cannot resolve \"%.*s\" due to data type mismatch: Null typed values cannot "
            "be used as arguments of `%s`.",
            STR_ARG(call->text), call->function->name);
    }
    /* Text and other types do not meet here, as Spark has it. */
    bool text_meets_other = (element->kind == TYPE_STRING) != (types[1]->kind == TYPE_STRING) &&
                            element->kind != TYPE_NULL;
    const Type *common = coerce_common_type(call->arena, element, types[1]);
    if (common == NULL || text_meets_other) {
        return error_at(ERROR_ARRAY_FUNCTION_DIFF_TYPES, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: Input to `%s` should "
                        "have been \"ARRAY\" followed by a value with same element type.",
                        STR_ARG(call->text), call->function->name);
    }
    if (!type_is_orderable(common)) {
        return wrong_type(call, 1, "orderable");
    }
    types[0] = type_array(call->arena, common);
    types[1] = common;
    *ret_type = call->function->name[6] == 'c' ? &type_boolean : &type_bigint;
    return NULL;
}

static Error *want_array(const FunctionCall *call)
{
    return call->argument_types[0]->kind == TYPE_ARRAY ? NULL : wrong_type(call, 0, "\"ARRAY\"");
}

Error *resolve_array_same(FunctionCall *call, const Type **ret_type)
{
    TRY(want_array(call));
    *ret_type = call->argument_types[0];
    return NULL;
}

Error *resolve_array_element(FunctionCall *call, const Type **ret_type)
{
    TRY(want_array(call));
    *ret_type = call->argument_types[0]->element;
    if (!type_is_orderable(*ret_type)) {
        return wrong_type(call, 0, "orderable \"ARRAY\"");
    }
    return NULL;
}

Error *resolve_map_part(FunctionCall *call, const Type **ret_type)
{
    const Type *map = call->argument_types[0];
    if (map->kind != TYPE_MAP) {
        return wrong_type(call, 0, "\"MAP\"");
    }
    bool keys = call->function->name[4] == 'k';
    *ret_type = type_array(call->arena, keys ? map->key : map->element);
    return NULL;
}
