/* Types of generators: a STRUCT of the columns they give. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

static const Type *struct_of(const FunctionCall *call, const Field *fields, size_t count)
{
    return type_struct(call->arena, fields, count);
}

/* An array's elements as `col`, a map's entries as `key` and `value`; before them `pos`. */
static Error *resolve_elements(const FunctionCall *call, bool position, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    Field fields[3] = {{.name = STR("pos"), .type = &type_int}};
    size_t count = position ? 1 : 0;
    if (type->kind == TYPE_ARRAY) {
        fields[count++] = (Field){.name = STR("col"), .type = type->element};
    } else if (type->kind == TYPE_MAP) {
        fields[count++] = (Field){.name = STR("key"), .type = type->key};
        fields[count++] = (Field){.name = STR("value"), .type = type->element};
    } else {
        return wrong_type(call, 0, "(\"ARRAY\" or \"MAP\")");
    }
    *ret_type = struct_of(call, fields, count);
    return NULL;
}

Error *resolve_explode(FunctionCall *call, const Type **ret_type)
{
    return resolve_elements(call, false, ret_type);
}

Error *resolve_posexplode(FunctionCall *call, const Type **ret_type)
{
    return resolve_elements(call, true, ret_type);
}

Error *resolve_inline(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    if (type->kind != TYPE_ARRAY || type->element->kind != TYPE_STRUCT) {
        return wrong_type(call, 0, "\"ARRAY<STRUCT>\"");
    }
    *ret_type = struct_of(call, type->element->fields, type->element->field_count);
    return NULL;
}

/* ------------------------------------------------------------------- stack --- */

static bool is_constant(const BoundExpr *expr)
{
    bool constant = expr->kind != BOUND_COLUMN && expr->kind != BOUND_OUTER_COLUMN &&
                    expr->kind != BOUND_SUBQUERY;
    for (size_t i = 0; i < expr->child_count && constant; i++) {
        constant = is_constant(expr->children[i]);
    }
    return constant;
}

/* The number of rows, a constant. */
static Error *stack_rows(const FunctionCall *call, int64_t *ret_rows)
{
    BoundExpr *expr = call->arguments == NULL ? NULL : call->arguments[0];
    if (call->argument_types[0]->kind != TYPE_INT) {
        return wrong_type(call, 0, "\"INT\"");
    }
    const Vector *value = NULL;
    Error *error = expr == NULL || !is_constant(expr)
                       ? NULL
                       : constant_evaluate(expr, time_zone_utc(), call->arena, &value);
    if (error != NULL || value == NULL) {
        error_free(error);
        return error_at(ERROR_NON_FOLDABLE_INPUT, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: the input `n` should "
                        "be a foldable \"INT\" expression.",
                        STR_ARG(call->text));
    }
    *ret_rows = vector_is_valid(value, 0) ? vector_int_value(value, 0) : 0;
    if (*ret_rows > 0) {
        return NULL;
    }
    return error_at(ERROR_VALUE_OUT_OF_RANGE, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The `n` must be between "
                    "(0, 2147483647] (current value = %lld).",
                    STR_ARG(call->text), (long long)*ret_rows);
}

static COLD RETURNS_NONNULL Error *stack_types(const FunctionCall *call, size_t column,
                                               size_t argument, const Type *before)
{
    AUTO_BUFFER Buffer first = {0};
    AUTO_BUFFER Buffer second = {0};
    type_format(before, &first);
    type_format(call->argument_types[argument], &second);
    return error_at(ERROR_STACK_COLUMN_DIFF_TYPES, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The data type of the "
                    "column (%zu) do not have the same type: \"%s\" <> \"%s\" (%zu).",
                    STR_ARG(call->text), column, buffer_cstr(&first), buffer_cstr(&second),
                    argument);
}

/* Values of a column are of one type, NULLs of any. */
static Error *stack_column(FunctionCall *call, size_t column, size_t width, Field *field)
{
    const Type *type = &type_null;
    for (size_t i = 1 + column; i < call->argument_count; i += width) {
        const Type *own = call->argument_types[i];
        if (type->kind == TYPE_NULL) {
            type = own;
        } else if (own->kind != TYPE_NULL && !type_equal(own, type)) {
            return stack_types(call, column, i, type);
        }
    }
    for (size_t i = 1 + column; i < call->argument_count; i += width) {
        call->argument_types[i] = type;
    }
    *field = (Field){.name = str_from(arena_printf(call->arena, "col%zu", column)), .type = type};
    return NULL;
}

Error *resolve_stack(FunctionCall *call, const Type **ret_type)
{
    int64_t rows = 0;
    TRY(stack_rows(call, &rows));
    size_t values = call->argument_count - 1;
    size_t width = (values + (size_t)rows - 1) / (size_t)rows;
    Field *fields = arena_new_array(call->arena, Field, width);
    for (size_t i = 0; i < width; i++) {
        TRY(stack_column(call, i, width, &fields[i]));
    }
    *ret_type = struct_of(call, fields, width);
    return NULL;
}

/* -------------------------------------------------------------- json_tuple --- */

Error *resolve_json_tuple(FunctionCall *call, const Type **ret_type)
{
    size_t width = call->argument_count - 1;
    Field *fields = arena_new_array(call->arena, Field, width);
    for (size_t i = 0; i < call->argument_count; i++) {
        if (call->argument_types[i]->kind != TYPE_STRING) {
            return error_at(ERROR_NON_STRING_TYPE, call->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: all arguments of "
                            "the function `json_tuple` must be strings.",
                            STR_ARG(call->text));
        }
        if (i > 0) {
            fields[i - 1].name = str_from(arena_printf(call->arena, "c%zu", i - 1));
            fields[i - 1].type = &type_string;
        }
    }
    *ret_type = struct_of(call, fields, width);
    return NULL;
}
