/* Types of functions that make arrays and maps of others. */
#include "processor/bind/bound.h"
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

static const Type void_array = {.kind = TYPE_ARRAY, .element = &type_null};

static TypeKind kind_of(const FunctionCall *call, size_t argument)
{
    return call->argument_types[argument]->kind;
}

static Error *want_array(const FunctionCall *call, size_t argument)
{
    return kind_of(call, argument) == TYPE_ARRAY ? NULL : wrong_type(call, argument, "\"ARRAY\"");
}

static Error *want_map(const FunctionCall *call, size_t argument)
{
    return kind_of(call, argument) == TYPE_MAP ? NULL : wrong_type(call, argument, "\"MAP\"");
}

/* An INT as Spark wants it where it does not convert: smaller integers and NULL, nothing else. */
static Error *want_exact_int(FunctionCall *call, size_t argument, bool small)
{
    TypeKind kind = kind_of(call, argument);
    if (kind != TYPE_INT && kind != TYPE_NULL &&
        !(small && (kind == TYPE_TINYINT || kind == TYPE_SMALLINT))) {
        return wrong_type(call, argument, "\"INT\"");
    }
    call->argument_types[argument] = &type_int;
    return NULL;
}

static void append_types(const FunctionCall *call, Buffer *out)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        buffer_append_cstr(out, i == 0 ? "[\"" : ", \"");
        type_format(call->argument_types[i], out);
        buffer_append_byte(out, '"');
    }
    buffer_append_byte(out, ']');
}

/* ---- An array and a value like its elements ---- */

Error *resolve_array_and_value(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    size_t value = call->argument_count - 1;
    TRY(want_array(call, 0));
    const Type *element = tightest_type(call->arena, types[0]->element, types[value]);
    if (element == NULL) {
        AUTO_BUFFER Buffer names = {0};
        append_types(call, &names);
        return error_at(ERROR_ARRAY_FUNCTION_DIFF_TYPES, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: Input to `%s` should "
                        "have been \"ARRAY\" followed by a value with same element type, but it's "
                        "%s.",
                        STR_ARG(call->text), call->function->name, buffer_cstr(&names));
    }
    types[0] = type_array(call->arena, element);
    types[value] = element;
    *ret_type = types[0];
    return NULL;
}

Error *resolve_array_insert(FunctionCall *call, const Type **ret_type)
{
    TRY(resolve_array_and_value(call, ret_type));
    if (kind_of(call, 1) == TYPE_NULL) {
        return wrong_type(call, 1, "\"INT\"");
    }
    return want_exact_int(call, 1, true);
}

Error *resolve_array_remove(FunctionCall *call, const Type **ret_type)
{
    TRY(resolve_array_and_value(call, ret_type));
    return want_orderable(call, (*ret_type)->element);
}

/* ---- Two arrays as sets ---- */

Error *resolve_array_sets(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *element = NULL;
    if (kind_of(call, 0) == TYPE_ARRAY && kind_of(call, 1) == TYPE_ARRAY) {
        element = tightest_type(call->arena, types[0]->element, types[1]->element);
    }
    if (element == NULL) {
        AUTO_BUFFER Buffer names = {0};
        append_types(call, &names);
        return error_at(ERROR_BINARY_ARRAY_DIFF_TYPES, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: Input to function `%s` "
                        "should have been two \"ARRAY\" with same element type, but it's %s.",
                        STR_ARG(call->text), call->function->name, buffer_cstr(&names));
    }
    TRY(want_orderable(call, element));
    types[0] = type_array(call->arena, element);
    types[1] = types[0];
    *ret_type = types[0];
    return NULL;
}

Error *resolve_arrays_overlap(FunctionCall *call, const Type **ret_type)
{
    TRY(resolve_array_sets(call, ret_type));
    *ret_type = &type_boolean;
    return NULL;
}

Error *resolve_array_distinct(FunctionCall *call, const Type **ret_type)
{
    TRY(want_array(call, 0));
    *ret_type = call->argument_types[0];
    return want_orderable(call, (*ret_type)->element);
}

/* ---- Others ---- */

Error *resolve_sort_array(FunctionCall *call, const Type **ret_type)
{
    TRY(resolve_array_distinct(call, ret_type));
    if (call->argument_count > 1) {
        if (kind_of(call, 1) != TYPE_BOOLEAN && kind_of(call, 1) != TYPE_NULL) {
            return wrong_type(call, 1, "\"BOOLEAN\"");
        }
        call->argument_types[1] = &type_boolean;
    }
    return NULL;
}

Error *resolve_flatten(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    if (type->kind != TYPE_ARRAY || type->element->kind != TYPE_ARRAY) {
        return wrong_type(call, 0, "\"ARRAY\" of \"ARRAY\"");
    }
    *ret_type = type->element;
    return NULL;
}

Error *resolve_array_repeat(FunctionCall *call, const Type **ret_type)
{
    *ret_type = type_array(call->arena, call->argument_types[0]);
    return want_exact_int(call, 1, false);
}

static Str bound_last_name(const BoundExpr *expr)
{
    if (expr->kind == BOUND_FIELD) {
        return expr->children[0]->type->fields[expr->field].name;
    }
    size_t dot = expr->text.size;
    while (dot > 0 && expr->text.data[dot - 1] != '.') {
        dot--;
    }
    return (Str){expr->text.data + dot, expr->text.size - dot};
}

/* The fields are called as the columns the arrays come from, others by their number. */
Error *resolve_arrays_zip(FunctionCall *call, const Type **ret_type)
{
    Field *fields = arena_new_array(call->arena, Field, call->argument_count);
    for (size_t i = 0; i < call->argument_count; i++) {
        /* A bare NULL is an array of nothing; the result is NULL then. */
        if (kind_of(call, i) == TYPE_NULL) {
            call->argument_types[i] = type_array(call->arena, &type_null);
        }
        TRY(want_array(call, i));
        fields[i].type = call->argument_types[i]->element;
        fields[i].name = str_from(arena_printf(call->arena, "%zu", i));
        const BoundExpr *argument = call->arguments == NULL ? NULL : call->arguments[i];
        if (argument != NULL && (argument->kind == BOUND_COLUMN || argument->kind == BOUND_FIELD)) {
            fields[i].name = bound_last_name(argument);
        }
    }
    *ret_type = type_array(call->arena, type_struct(call->arena, fields, call->argument_count));
    return NULL;
}

/* ---- sequence ---- */

static Error *wrong_sequence(const FunctionCall *call)
{
    return error_at(
        ERROR_SEQUENCE_WRONG_INPUT_TYPES, call->place,
        "Cannot resolve \"%.*s\" due to data type mismatch: `sequence` uses the wrong "
        "parameter type. The parameter type must conform to:\n1. The start and stop "
        "expressions must resolve to the same type.\n2. If start and stop expressions "
        "resolve to the (\"TIMESTAMP\" or \"TIMESTAMP_NTZ\" or \"DATE\") type, then the "
        "step expression must resolve to the (\"INTERVAL\" or \"INTERVAL YEAR TO "
        "MONTH\" or \"INTERVAL DAY TO SECOND\") type.\n3. Otherwise, if start and stop "
        "expressions resolve to the \"INTEGRAL\" type, then the step expression must "
        "resolve to the same type.",
        STR_ARG(call->text));
}

/* Numbers: all arguments of one type. */
static Error *resolve_number_sequence(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *common = &type_null;
    for (size_t i = 0; i < call->argument_count && common != NULL; i++) {
        common = coerce_common_type(call->arena, common, types[i]);
    }
    bool text = kind_of(call, 0) == TYPE_STRING || kind_of(call, 1) == TYPE_STRING;
    if (common != NULL && common->kind == TYPE_NULL) {
        common = &type_int;
    }
    if (common == NULL || text || !type_is_integral(common)) {
        return wrong_sequence(call);
    }
    for (size_t i = 0; i < call->argument_count; i++) {
        types[i] = common;
    }
    *ret_type = type_array(call->arena, common);
    return NULL;
}

Error *resolve_sequence(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (!type_is_datetime(types[0]) && !type_is_datetime(types[1])) {
        return resolve_number_sequence(call, ret_type);
    }
    const Type *common = coerce_common_type(call->arena, types[0], types[1]);
    if (common == NULL || !type_is_datetime(common)) {
        return wrong_sequence(call);
    }
    if (call->argument_count > 2) {
        if (types[2]->kind == TYPE_NULL) {
            types[2] = type_interval(call->arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND);
        } else if (!type_is_interval(types[2])) {
            return wrong_sequence(call);
        }
    }
    types[0] = common;
    types[1] = common;
    *ret_type = type_array(call->arena, common);
    return NULL;
}

/* ---- Maps ---- */

Error *resolve_map_concat(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *common = &type_null;
    for (size_t i = 0; i < call->argument_count; i++) {
        if (kind_of(call, i) != TYPE_MAP && kind_of(call, i) != TYPE_NULL) {
            AUTO_BUFFER Buffer names = {0};
            append_types(call, &names);
            return error_at(ERROR_MAP_CONCAT_DIFF_TYPES, call->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: The `map_concat` "
                            "should all be of type map, but it's %s.",
                            STR_ARG(call->text), buffer_cstr(&names));
        }
    }
    for (size_t i = 0; i < call->argument_count && common != NULL; i++) {
        bool text_meets_other =
            common->kind == TYPE_MAP && types[i]->kind == TYPE_MAP &&
            (common->key->kind == TYPE_STRING) != (types[i]->key->kind == TYPE_STRING) &&
            common->key->kind != TYPE_NULL && types[i]->key->kind != TYPE_NULL;
        common = text_meets_other ? NULL : coerce_common_type(call->arena, common, types[i]);
    }
    if (common == NULL) {
        return different_inputs(call);
    }
    if (call->argument_count == 0 || common->kind == TYPE_NULL) {
        common = type_map(call->arena, &type_string, &type_string);
    }
    for (size_t i = 0; i < call->argument_count; i++) {
        types[i] = common;
    }
    *ret_type = common;
    return NULL;
}

Error *resolve_map_entries(FunctionCall *call, const Type **ret_type)
{
    TRY(want_map(call, 0));
    const Type *map = call->argument_types[0];
    Field fields[2] = {{.name = STR("key"), .type = map->key, .not_null = true},
                       {.name = STR("value"), .type = map->element}};
    *ret_type = type_array(call->arena, type_struct(call->arena, fields, 2));
    return NULL;
}

Error *resolve_map_from_entries(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    if (type->kind != TYPE_ARRAY || type->element->kind != TYPE_STRUCT ||
        type->element->field_count != 2) {
        return wrong_type(call, 0, "\"ARRAY\" of pair \"STRUCT\"");
    }
    const Field *fields = type->element->fields;
    *ret_type = type_map(call->arena, fields[0].type, fields[1].type);
    return want_map_key(call, fields[0].type);
}

Error *resolve_map_from_arrays(FunctionCall *call, const Type **ret_type)
{
    for (size_t i = 0; i < 2; i++) {
        if (kind_of(call, i) == TYPE_NULL) {
            call->argument_types[i] = &void_array;
        }
        TRY(want_array(call, i));
    }
    const Type *key = call->argument_types[0]->element;
    *ret_type = type_map(call->arena, key, call->argument_types[1]->element);
    return want_map_key(call, key);
}

Error *resolve_map_contains_key(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[1]->kind == TYPE_NULL) {
        return error_at(
            ERROR_NULL_TYPE, call->place,
            "Cannot resolve \"%.*s\" due to data type mismatch: Null typed values cannot "
            "be used as arguments of `%s`.",
            STR_ARG(call->text), call->function->name);
    }
    const Type *key = NULL;
    if (types[0]->kind == TYPE_MAP &&
        ((types[0]->key->kind == TYPE_STRING) == (types[1]->kind == TYPE_STRING) ||
         types[0]->key->kind == TYPE_NULL)) {
        key = coerce_common_type(call->arena, types[0]->key, types[1]);
    }
    if (key == NULL) {
        return different_key(call);
    }
    types[0] = type_map(call->arena, key, types[0]->element);
    types[1] = key;
    *ret_type = &type_boolean;
    return NULL;
}

/* Spark takes nothing but texts here. */
Error *resolve_str_to_map(FunctionCall *call, const Type **ret_type)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        if (kind_of(call, i) != TYPE_STRING && kind_of(call, i) != TYPE_NULL) {
            return wrong_type(call, i, "\"STRING\"");
        }
        call->argument_types[i] = &type_string;
    }
    *ret_type = type_map(call->arena, &type_string, &type_string);
    return NULL;
}
