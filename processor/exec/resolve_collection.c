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

/* ---- Careful conversion ---- */

/* Types of the parts, one by one; NULL when some have none. */
static const Type *tightest_nested(Arena *arena, const Type *a, const Type *b)
{
    uint32_t count = type_child_count(a);
    const Type **parts = arena_new_array(arena, const Type *, count);
    if (count != type_child_count(b)) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = tightest_type(arena, type_child(a, i), type_child(b, i));
        if (parts[i] == NULL) {
            return NULL;
        }
    }
    if (a->kind == TYPE_ARRAY) {
        return type_array(arena, parts[0]);
    }
    if (a->kind == TYPE_MAP) {
        return type_map(arena, parts[0], parts[1]);
    }
    Field *fields = arena_new_array(arena, Field, count);
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = a->fields[i];
        fields[i].type = parts[i];
        if (!str_equal_ignore_case(a->fields[i].name, b->fields[i].name)) {
            return NULL;
        }
    }
    return type_struct(arena, fields, count);
}

static const Type *tightest_number(Arena *arena, const Type *a, const Type *b)
{
    if (a->kind != TYPE_DECIMAL && b->kind != TYPE_DECIMAL) {
        if (a->kind == TYPE_FLOAT || b->kind == TYPE_FLOAT) {
            return a->kind == TYPE_DOUBLE || b->kind == TYPE_DOUBLE ? &type_double : &type_float;
        }
        return coerce_common_type(arena, a, b);
    }
    /* A DECIMAL stays when it holds all values of the integers. */
    const Type *decimal = a->kind == TYPE_DECIMAL ? a : b;
    const Type *other = a->kind == TYPE_DECIMAL ? b : a;
    bool wide = type_is_integral(other) && type_whole_digits(decimal) >= type_whole_digits(other);
    return wide ? decimal : NULL;
}

const Type *tightest_type(Arena *arena, const Type *a, const Type *b)
{
    if (a->kind == TYPE_NULL || type_equal(a, b)) {
        return b;
    }
    if (b->kind == TYPE_NULL) {
        return a;
    }
    if (type_is_numeric(a) && type_is_numeric(b)) {
        return tightest_number(arena, a, b);
    }
    if (type_is_datetime(a) && type_is_datetime(b)) {
        return coerce_common_type(arena, a, b);
    }
    bool nested = a->kind == TYPE_ARRAY || a->kind == TYPE_MAP || a->kind == TYPE_STRUCT;
    return nested && a->kind == b->kind ? tightest_nested(arena, a, b) : NULL;
}

Error *want_map_key(const FunctionCall *call, const Type *type)
{
    if (type->kind == TYPE_NULL || type_is_orderable(type)) {
        return NULL;
    }
    AUTO_BUFFER Buffer name = {0};
    type_format(type, &name);
    return error_at(ERROR_INVALID_MAP_KEY_TYPE, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The key of map cannot "
                    "be/contain \"%s\".",
                    STR_ARG(call->text), buffer_cstr(&name));
}

/* ---- Making ---- */

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
    TRY(want_map_key(call, key));
    for (size_t i = 0; i < call->argument_count; i++) {
        call->argument_types[i] = i % 2 == 0 ? key : value;
    }
    *ret_type = type_map(call->arena, key, value);
    return NULL;
}

Error *different_key(const FunctionCall *call)
{
    AUTO_BUFFER Buffer map = {0};
    AUTO_BUFFER Buffer key = {0};
    type_format(call->argument_types[0], &map);
    type_format(call->argument_types[1], &key);
    return error_at(ERROR_MAP_FUNCTION_DIFF_TYPES, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: Input to `%s` should have "
                    "been \"MAP\" followed by a value with same key type, but it's [\"%s\", "
                    "\"%s\"].",
                    STR_ARG(call->text), call->function->name, buffer_cstr(&map),
                    buffer_cstr(&key));
}

/* element_at(map, key): both may give way; map[key]: the key does. */
static Error *resolve_value_of_key(FunctionCall *call, bool by_name, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *map = types[0];
    const Type *key = map->key;
    if (by_name) {
        key = tightest_type(call->arena, map->key, types[1]);
        if (key == NULL) {
            return different_key(call);
        }
        types[0] = type_map(call->arena, key, map->element);
    } else if (!type_equal(types[1], key) && !coerce_is_implicit(types[1], key) &&
               !(type_is_numeric(types[1]) && type_is_numeric(key))) {
        return wrong_type(call, 1, "map's key");
    }
    types[1] = key;
    *ret_type = map->element;
    return NULL;
}

Error *resolve_get(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[0]->kind != TYPE_ARRAY) {
        return wrong_type(call, 0, "\"ARRAY\"");
    }
    if (!type_is_numeric(types[1]) && !coerce_is_implicit(types[1], &type_int)) {
        return wrong_type(call, 1, "\"INTEGRAL\"");
    }
    types[1] = &type_int;
    *ret_type = types[0]->element;
    return NULL;
}

static Error *nothing_inside(const FunctionCall *call, bool by_name)
{
    if (by_name) {
        return wrong_type(call, 0, "(\"ARRAY\" or \"MAP\")");
    }
    AUTO_BUFFER Buffer name = {0};
    type_format(call->argument_types[0], &name);
    return error_at(ERROR_INVALID_EXTRACT_BASE_FIELD_TYPE, call->place,
                    "Can't extract a value from \"%.*s\". Need a complex type [STRUCT, ARRAY, "
                    "MAP] but got \"%s\".",
                    STR_ARG(call->text), buffer_cstr(&name));
}

Error *resolve_subscript(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    bool by_name = call->function->name[0] != '[';
    if (types[0]->kind == TYPE_MAP) {
        return resolve_value_of_key(call, by_name, ret_type);
    }
    if (types[0]->kind != TYPE_ARRAY) {
        return nothing_inside(call, by_name);
    }
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
    bool of_array = call->function->name[0] == 'a'; /* array_size */
    if (kind == TYPE_NULL) {
        call->argument_types[0] = &null_array;
    } else if (of_array && kind != TYPE_ARRAY) {
        return wrong_type(call, 0, "\"ARRAY\"");
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
    bool contains = call->function->name[6] == 'c'; /* array_contains, not array_position */
    if (element == NULL || (contains && types[1]->kind == TYPE_NULL)) {
        return error_at(
            ERROR_NULL_TYPE, call->place,
            "Cannot resolve \"%.*s\" due to data type mismatch: Null typed values cannot "
            "be used as arguments of `%s`.",
            STR_ARG(call->text), call->function->name);
    }
    /* Text and other types do not meet here, as Spark has it. */
    bool text_meets_other = (element->kind == TYPE_STRING) != (types[1]->kind == TYPE_STRING) &&
                            element->kind != TYPE_NULL && types[1]->kind != TYPE_NULL;
    const Type *common = contains ? coerce_common_type(call->arena, element, types[1])
                                  : tightest_type(call->arena, element, types[1]);
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
    *ret_type = contains ? &type_boolean : &type_bigint;
    return NULL;
}

static Error *want_array(const FunctionCall *call)
{
    return call->argument_types[0]->kind == TYPE_ARRAY ? NULL : wrong_type(call, 0, "\"ARRAY\"");
}

Error *resolve_array_element(FunctionCall *call, const Type **ret_type)
{
    TRY(want_array(call));
    *ret_type = call->argument_types[0]->element;
    return want_orderable(call, *ret_type);
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
