/* Types of higher-order functions: what their lambdas get (Function.lambda_types), and what comes
 * out once the lambdas' bodies have types. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

static bool is_kind(const FunctionCall *call, size_t argument, TypeKind kind)
{
    return call->argument_types[argument]->kind == kind;
}

static Error *want_kind(const FunctionCall *call, size_t argument, TypeKind kind)
{
    if (is_kind(call, argument, kind)) {
        return NULL;
    }
    return wrong_type(call, argument, kind == TYPE_ARRAY ? "\"ARRAY\"" : "\"MAP\"");
}

static Error *want_boolean(FunctionCall *call, size_t argument)
{
    if (!is_kind(call, argument, TYPE_BOOLEAN) && !is_kind(call, argument, TYPE_NULL)) {
        return wrong_type(call, argument, "\"BOOLEAN\"");
    }
    call->argument_types[argument] = &type_boolean;
    return NULL;
}

/* ---- Lambdas over arrays ---- */

Error *lambda_of_element(const FunctionCall *call, size_t argument, LambdaTypes *ret)
{
    if (argument == 0) {
        return NULL;
    }
    TRY(want_kind(call, 0, TYPE_ARRAY));
    *ret = (LambdaTypes){{call->argument_types[0]->element}, 1, 1};
    return NULL;
}

Error *lambda_of_element_and_index(const FunctionCall *call, size_t argument, LambdaTypes *ret)
{
    TRY(lambda_of_element(call, argument, ret));
    if (argument > 0) {
        ret->types[1] = &type_int;
        ret->count = 2;
    }
    return NULL;
}

Error *lambda_of_two_elements(const FunctionCall *call, size_t argument, LambdaTypes *ret)
{
    TRY(lambda_of_element(call, argument, ret));
    if (argument > 0) {
        *ret = (LambdaTypes){{ret->types[0], ret->types[0]}, 2, 2};
    }
    return NULL;
}

/* aggregate(array, start, (start's type, element) -> …, start's type -> …) */
Error *lambda_of_aggregate(const FunctionCall *call, size_t argument, LambdaTypes *ret)
{
    const Type *start = argument < 2 ? NULL : call->argument_types[1];
    if (argument == 2) {
        TRY(want_kind(call, 0, TYPE_ARRAY));
        *ret = (LambdaTypes){{start, call->argument_types[0]->element}, 2, 2};
    } else if (argument == 3) {
        *ret = (LambdaTypes){{start}, 1, 1};
    }
    return NULL;
}

Error *lambda_of_zip(const FunctionCall *call, size_t argument, LambdaTypes *ret)
{
    if (argument == 2) {
        TRY(want_kind(call, 0, TYPE_ARRAY));
        TRY(want_kind(call, 1, TYPE_ARRAY));
        const Type *const *types = call->argument_types;
        *ret = (LambdaTypes){{types[0]->element, types[1]->element}, 2, 2};
    }
    return NULL;
}

/* ---- Lambdas over maps ---- */

Error *lambda_of_entry(const FunctionCall *call, size_t argument, LambdaTypes *ret)
{
    if (argument > 0) {
        TRY(want_kind(call, 0, TYPE_MAP));
        *ret =
            (LambdaTypes){{call->argument_types[0]->key, call->argument_types[0]->element}, 2, 2};
    }
    return NULL;
}

/* The key type both maps can have; as Spark, text does not meet other types here. */
static Error *common_key(const FunctionCall *call, const Type **ret)
{
    TRY(want_kind(call, 0, TYPE_MAP));
    TRY(want_kind(call, 1, TYPE_MAP));
    const Type *left = call->argument_types[0]->key;
    const Type *right = call->argument_types[1]->key;
    bool text_meets_other = (left->kind == TYPE_STRING) != (right->kind == TYPE_STRING) &&
                            left->kind != TYPE_NULL && right->kind != TYPE_NULL;
    *ret = text_meets_other ? NULL : coerce_common_type(call->arena, left, right);
    if (*ret != NULL) {
        return NULL;
    }
    return error_at(
        ERROR_MAP_ZIP_WITH_DIFF_TYPES, call->place,
        "Cannot resolve \"%.*s\" due to data type mismatch: Input to the `map_zip_with` "
        "should have been two \"MAP\"s with compatible key types.",
        STR_ARG(call->text));
}

Error *lambda_of_map_zip(const FunctionCall *call, size_t argument, LambdaTypes *ret)
{
    if (argument == 2) {
        const Type *key = NULL;
        TRY(common_key(call, &key));
        const Type *const *types = call->argument_types;
        *ret = (LambdaTypes){{key, types[0]->element, types[1]->element}, 3, 3};
    }
    return NULL;
}

/* ---- Results ---- */

Error *resolve_transform(FunctionCall *call, const Type **ret_type)
{
    *ret_type = type_array(call->arena, call->argument_types[call->argument_count - 1]);
    return NULL;
}

Error *resolve_filter(FunctionCall *call, const Type **ret_type)
{
    TRY(want_boolean(call, 1));
    *ret_type = call->argument_types[0];
    return NULL;
}

Error *resolve_exists(FunctionCall *call, const Type **ret_type)
{
    TRY(want_boolean(call, 1));
    *ret_type = &type_boolean;
    return NULL;
}

/* Are they equal but for the names of fields? */
static bool same_shape(const Type *a, const Type *b)
{
    uint32_t count = type_child_count(a);
    if (count == 0 || a->kind != b->kind || count != type_child_count(b)) {
        return type_equal(a, b);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!same_shape(type_child(a, i), type_child(b, i))) {
            return false;
        }
    }
    return true;
}

Error *resolve_aggregate(FunctionCall *call, const Type **ret_type)
{
    const Type *start = call->argument_types[1];
    const Type *merged = call->argument_types[2];
    if (!same_shape(start, merged) && merged->kind != TYPE_NULL) {
        AUTO_BUFFER Buffer name = {0};
        buffer_append_byte(&name, '"');
        type_format(start, &name);
        buffer_append_byte(&name, '"');
        return wrong_type(call, 2, buffer_cstr(&name));
    }
    call->argument_types[2] = start;
    *ret_type = call->argument_count > 3 ? call->argument_types[3] : start;
    return NULL;
}

Error *resolve_array_sort(FunctionCall *call, const Type **ret_type)
{
    TRY(want_kind(call, 0, TYPE_ARRAY));
    *ret_type = call->argument_types[0];
    if (call->argument_count == 1) {
        return want_orderable(call, (*ret_type)->element);
    }
    if (!is_kind(call, 1, TYPE_INT)) {
        AUTO_BUFFER Buffer name = {0};
        type_format(call->argument_types[1], &name);
        return error_at(
            ERROR_UNEXPECTED_RETURN_TYPE, call->place,
            "Cannot resolve \"%.*s\" due to data type mismatch: The `%s` requires return "
            "\"INT\" type, but the actual is \"%s\" type.",
            STR_ARG(call->text), call->function->name, buffer_cstr(&name));
    }
    return NULL;
}

Error *resolve_transform_keys(FunctionCall *call, const Type **ret_type)
{
    const Type *key = call->argument_types[1];
    TRY(want_map_key(call, key));
    *ret_type = type_map(call->arena, key, call->argument_types[0]->element);
    return NULL;
}

Error *resolve_transform_values(FunctionCall *call, const Type **ret_type)
{
    *ret_type = type_map(call->arena, call->argument_types[0]->key, call->argument_types[1]);
    return NULL;
}

Error *resolve_map_zip_with(FunctionCall *call, const Type **ret_type)
{
    const Type *key = NULL;
    TRY(common_key(call, &key));
    for (size_t i = 0; i < 2; i++) {
        call->argument_types[i] = type_map(call->arena, key, call->argument_types[i]->element);
    }
    *ret_type = type_map(call->arena, key, call->argument_types[2]);
    return NULL;
}
