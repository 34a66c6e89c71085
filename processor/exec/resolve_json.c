/* Types of the JSON and CSV functions. The schema of from_json is text that must be known when the
 * call is bound; so must the options. */
#include "processor/bind/bind.h"
#include "processor/exec/kernels/json_options.h"
#include "processor/exec/resolve.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

static bool is_constant(const BoundExpr *expr)
{
    if (expr->kind == BOUND_COLUMN || expr->kind == BOUND_PARAMETER ||
        expr->kind == BOUND_SUBQUERY || expr->kind == BOUND_OUTER_COLUMN ||
        (expr->kind == BOUND_CALL && (expr->function->kind != FUNCTION_SCALAR ||
                                      (expr->function->flags & FUNCTION_DETERMINISTIC) == 0))) {
        return false;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (!is_constant(expr->children[i])) {
            return false;
        }
    }
    return true;
}

Error *argument_value(const FunctionCall *call, size_t argument, const Vector **ret)
{
    *ret = NULL;
    if (argument >= call->argument_count || !is_constant(call->arguments[argument])) {
        return NULL;
    }
    return constant_evaluate(call->arguments[argument], time_zone_utc(), call->arena, ret);
}

static Error *want_text(FunctionCall *call, size_t argument)
{
    TypeKind kind = call->argument_types[argument]->kind;
    if (kind != TYPE_STRING && kind != TYPE_NULL) {
        return wrong_type(call, argument, "\"STRING\"");
    }
    call->argument_types[argument] = &type_string;
    return NULL;
}

/* ---- Schemas ---- */

static Error *not_a_schema(const FunctionCall *call, const BoundExpr *argument)
{
    return error_at(ERROR_INVALID_SCHEMA_NON_STRING, call->place,
                    "The input schema \"%.*s\" is not a valid schema string. The input expression "
                    "must be string literal and not null.",
                    STR_ARG(argument->text));
}

/* "a INT, b STRING" is a STRUCT, anything else a type. */
static Error *parse_schema(const FunctionCall *call, Str text, const Type **ret)
{
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    Error *error = sql_parse_column_definitions(text, call->arena, &columns, &count);
    if (error == NULL) {
        Field *fields = arena_new_array(call->arena, Field, count);
        for (size_t i = 0; i < count; i++) {
            fields[i].name = columns[i].name.name;
            TRY(bind_type(call->arena, columns[i].type, &fields[i].type));
        }
        *ret = type_struct(call->arena, fields, count);
        return NULL;
    }
    bool unknown_column_type = error_class(error) == ERROR_UNSUPPORTED_DATATYPE;
    error_free(error);
    AstDataType *type = NULL;
    error = sql_parse_data_type(text, call->arena, &type);
    if (error != NULL && unknown_column_type && error_class(error) == ERROR_UNSUPPORTED_DATATYPE) {
        error_free(error); /* "a Nonsense": as a type, the second word is too much */
        return error_new(ERROR_PARSE_SYNTAX_ERROR,
                         "Syntax error: the schema %.*s is neither one type nor names with types.",
                         STR_ARG(text));
    }
    TRY(error);
    return bind_type(call->arena, type, ret);
}

static Error *schema_of_argument(const FunctionCall *call, size_t argument, const Type **ret)
{
    const BoundExpr *expr = call->arguments[argument];
    if (expr->type->kind != TYPE_STRING || !is_constant(expr)) {
        return not_a_schema(call, expr);
    }
    const Vector *value = NULL;
    TRY(constant_evaluate(expr, time_zone_utc(), call->arena, &value));
    if (!vector_is_valid(value, 0)) {
        return not_a_schema(call, expr);
    }
    Str text = arena_copy_str(call->arena, VECTOR_VALUE(value, Str, 0));
    Error *error = parse_schema(call, text, ret);
    return error == NULL ? NULL : error_set_place(error, call->place);
}

/* ---- Options ---- */

static bool is_map_of_texts(const Type *type)
{
    return type->kind == TYPE_MAP && type->key->kind == TYPE_STRING &&
           type->element->kind == TYPE_STRING;
}

static Error *options_of_argument(const FunctionCall *call, size_t argument, JsonOptions *ret)
{
    *ret = json_options_of(NULL, 0);
    if (argument >= call->argument_count) {
        return NULL;
    }
    const BoundExpr *expr = call->arguments[argument];
    if (expr->type->kind != TYPE_MAP || !is_constant(expr)) {
        return error_at(ERROR_INVALID_OPTIONS_NON_MAP, call->place,
                        "Invalid options: Must use the `map()` function for options.");
    }
    if (!is_map_of_texts(expr->type)) {
        AUTO_BUFFER Buffer name = {0};
        type_format(expr->type, &name);
        return error_at(ERROR_INVALID_OPTIONS_NON_STRING, call->place,
                        "Invalid options: A type of keys and values in `map()` must be string, but "
                        "got \"%s\".",
                        buffer_cstr(&name));
    }
    const Vector *value = NULL;
    TRY(constant_evaluate(expr, time_zone_utc(), call->arena, &value));
    *ret = json_options_of(value, 0);
    bool parsing = call->function->name[0] != 't'; /* to_json writes */
    Error *error = json_options_compile(ret, call->arena, parsing);
    return error == NULL ? NULL : error_set_place(error, call->place);
}

/* ---- JSON ---- */

static Error *wrong_schema(const FunctionCall *call, const Type *type)
{
    AUTO_BUFFER Buffer name = {0};
    type_format(type, &name);
    return error_at(
        ERROR_INVALID_JSON_SCHEMA, call->place,
        "Cannot resolve \"%.*s\" due to data type mismatch: Input schema \"%s\" must be "
        "a struct, an array, a map or a variant.",
        STR_ARG(call->text), buffer_cstr(&name));
}

/* Keys of maps are texts; VARIANT is not built. */
static Error *check_parts(const FunctionCall *call, const Type *whole, const Type *type)
{
    if (type->kind == TYPE_VARIANT) {
        return not_yet_for(call, "of a VARIANT");
    }
    if (type->kind == TYPE_MAP && type->key->kind != TYPE_STRING) {
        AUTO_BUFFER Buffer name = {0};
        type_format(whole, &name);
        return error_at(
            ERROR_INVALID_JSON_MAP_KEY_TYPE, call->place,
            "Cannot resolve \"%.*s\" due to data type mismatch: Input schema \"%s\" can "
            "only contain STRING as a key type for a MAP.",
            STR_ARG(call->text), buffer_cstr(&name));
    }
    for (uint32_t i = 0; i < type_child_count(type); i++) {
        TRY(check_parts(call, whole, type_child(type, i)));
    }
    return NULL;
}

static bool is_nested(const Type *type)
{
    return type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY || type->kind == TYPE_MAP;
}

static Error *check_corrupt_column(const FunctionCall *call, const Type *type, Str name)
{
    for (size_t i = 0; type->kind == TYPE_STRUCT && i < type->field_count; i++) {
        const Field *field = &type->fields[i];
        if (str_equal(field->name, name) && field->type->kind != TYPE_STRING) {
            AUTO_BUFFER Buffer type_name = {0};
            type_format(field->type, &type_name);
            return error_at(ERROR_INVALID_CORRUPT_RECORD_TYPE, call->place,
                            "The column `%.*s` for corrupt records must have the nullable STRING "
                            "type, but got \"%s\".",
                            STR_ARG(name), buffer_cstr(&type_name));
        }
    }
    return NULL;
}

static Error *check_mode(const FunctionCall *call, const JsonOptions *options)
{
    return !options->drop_malformed
               ? NULL
               : error_at(ERROR_PARSE_MODE_UNSUPPORTED, call->place,
                          "The function `%s` doesn't support the DROPMALFORMED mode. Acceptable "
                          "modes are PERMISSIVE and FAILFAST.",
                          call->function->name);
}

Error *resolve_from_json(FunctionCall *call, const Type **ret_type)
{
    const Type *type = NULL;
    JsonOptions options;
    TRY(schema_of_argument(call, 1, &type));
    TRY(options_of_argument(call, 2, &options));
    TRY(want_text(call, 0));
    if (!is_nested(type)) {
        return wrong_schema(call, type);
    }
    TRY(check_parts(call, type, type));
    TRY(check_mode(call, &options));
    TRY(check_corrupt_column(call, type, options.corrupt_column));
    *ret_type = type;
    return NULL;
}

Error *resolve_to_json(FunctionCall *call, const Type **ret_type)
{
    JsonOptions options;
    const Type *type = call->argument_types[0];
    TRY(options_of_argument(call, 1, &options));
    if (type->kind != TYPE_NULL && !is_nested(type)) {
        return wrong_schema(call, type);
    }
    if (type->kind == TYPE_VARIANT) {
        return not_yet_for(call, "of a VARIANT");
    }
    *ret_type = &type_string;
    return NULL;
}

Error *resolve_schema_of_json(FunctionCall *call, const Type **ret_type)
{
    JsonOptions options;
    TRY(options_of_argument(call, 1, &options));
    const BoundExpr *expr = call->arguments[0];
    if (call->argument_types[0]->kind == TYPE_NULL) {
        return error_at(ERROR_UNEXPECTED_NULL, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: The %s must not be "
                        "null.",
                        STR_ARG(call->text), call->function->name + sizeof "schema_of_" - 1);
    }
    TRY(want_text(call, 0));
    if (!is_constant(expr)) {
        return error_at(ERROR_NON_FOLDABLE_INPUT, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: the input `%s` should "
                        "be a foldable \"STRING\" expression; however, got \"%.*s\".",
                        STR_ARG(call->text), call->function->name + sizeof "schema_of_" - 1,
                        STR_ARG(expr->text));
    }
    *ret_type = &type_string;
    return NULL;
}

/* ---- CSV ---- */

Error *resolve_from_csv(FunctionCall *call, const Type **ret_type)
{
    const Type *type = NULL;
    JsonOptions options;
    TRY(schema_of_argument(call, 1, &type));
    TRY(options_of_argument(call, 2, &options));
    TRY(want_text(call, 0));
    if (type->kind != TYPE_STRUCT) {
        return error_at(ERROR_INVALID_SCHEMA_NON_STRUCT, call->place,
                        "The input expression must be evaluated to struct type, but got another.");
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const Type *field = type->fields[i].type;
        if (is_nested(field) || type_is_interval(field) || field->kind == TYPE_VARIANT) {
            AUTO_BUFFER Buffer name = {0};
            type_format(field, &name);
            return error_at(ERROR_UNSUPPORTED_DATATYPE, call->place,
                            "Unsupported data type \"%s\".", buffer_cstr(&name));
        }
    }
    TRY(check_mode(call, &options));
    TRY(check_corrupt_column(call, type, options.corrupt_column));
    *ret_type = type;
    return NULL;
}

Error *resolve_to_csv(FunctionCall *call, const Type **ret_type)
{
    JsonOptions options;
    TRY(options_of_argument(call, 1, &options));
    if (call->argument_types[0]->kind != TYPE_STRUCT) {
        AUTO_BUFFER Buffer name = {0};
        type_format(call->argument_types[0], &name);
        return error_at(ERROR_UNSUPPORTED_INPUT_TYPE, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: The input of `to_csv` "
                        "can't be \"%s\" type data.",
                        STR_ARG(call->text), buffer_cstr(&name));
    }
    *ret_type = &type_string;
    return NULL;
}

/* Texts and nothing that could be made one. */
Error *resolve_texts(FunctionCall *call, const Type **ret_type)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        TRY(want_text(call, i));
    }
    const char *signature = ((const FunctionEntry *)call->function)->signature;
    *ret_type = signature[0] == 'i'   ? &type_int
                : signature[0] == 'S' ? type_array(call->arena, &type_string)
                                      : &type_string;
    return NULL;
}
