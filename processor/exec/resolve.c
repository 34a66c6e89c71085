/* Types of functions whose parameters are fixed, and the errors all resolvers share. */
#include "processor/exec/resolve.h"

#include <assert.h>
#include <string.h>

#include "processor/base/banned.h"

/* ---- Errors ---- */

static const char *ordinal(size_t parameter)
{
    static const char *const names[] = {"first", "second", "third",  "fourth",
                                        "fifth", "sixth",  "seventh"};
    return parameter < ARRAY_LENGTH(names) ? names[parameter] : "last";
}

/* "INT", as messages name types. */
static void append_type(const Type *type, Buffer *out)
{
    buffer_append_byte(out, '"');
    type_format(type, out);
    buffer_append_byte(out, '"');
}

Error *wrong_type(const FunctionCall *call, size_t parameter, const char *required)
{
    AUTO_BUFFER Buffer type = {0};
    append_type(call->argument_types[parameter], &type);
    return error_at(ERROR_UNEXPECTED_INPUT_TYPE, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The %s parameter requires "
                    "the %s type, however it has the type %s.",
                    STR_ARG(call->text), ordinal(parameter), required, buffer_cstr(&type));
}

Error *different_operands(const FunctionCall *call)
{
    AUTO_BUFFER Buffer left = {0};
    AUTO_BUFFER Buffer right = {0};
    append_type(call->argument_types[0], &left);
    append_type(call->argument_types[1], &right);
    return error_at(ERROR_BINARY_OP_DIFF_TYPES, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: the left and right "
                    "operands of the binary operator have incompatible types (%s and %s).",
                    STR_ARG(call->text), buffer_cstr(&left), buffer_cstr(&right));
}

Error *wrong_operands(const FunctionCall *call, const char *required)
{
    AUTO_BUFFER Buffer type = {0};
    append_type(call->argument_types[0], &type);
    return error_at(ERROR_BINARY_OP_WRONG_TYPE, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: the binary operator "
                    "requires the input type %s, not %s.",
                    STR_ARG(call->text), required, buffer_cstr(&type));
}

Error *different_inputs(const FunctionCall *call)
{
    AUTO_BUFFER Buffer types = {0};
    for (size_t i = 0; i < call->argument_count; i++) {
        buffer_append_cstr(&types, i == 0 ? "" : ", ");
        append_type(call->argument_types[i], &types);
    }
    return error_at(ERROR_DATA_DIFF_TYPES, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: Input to `%s` should all "
                    "be the same type, but it's [%s].",
                    STR_ARG(call->text), call->function->name, buffer_cstr(&types));
}

Error *not_yet_for(const FunctionCall *call, const char *what)
{
    return error_at(ERROR_NOT_YET, call->place, "`%s` %s is not supported yet.",
                    call->function->name, what);
}

/* ---- Signatures ---- */

static const Type void_array = {.kind = TYPE_ARRAY, .element = &type_null};
static const Type array_of_strings = {.kind = TYPE_ARRAY, .element = &type_string};

/* Spark casts a number to any type of number a parameter names, cutting fractions, unless that type
 * is open ("INTEGRAL"). */
static bool is_implicit(const Type *from, const Type *to)
{
    return type_equal(from, to) || (type_is_numeric(from) && type_is_numeric(to)) ||
           coerce_is_implicit(from, to);
}

/* The type a letter wants for an argument of type `from`; NULL when it cannot be had. */
static const Type *parameter_type(char letter, const Type *from)
{
    const Type *wanted = NULL;
    switch (letter) {
    case 'b':
        wanted = &type_boolean;
        break;
    case 'i':
        wanted = &type_int;
        break;
    case 'l':
        wanted = &type_bigint;
        break;
    case 'L':
        return type_is_integral(from) || from->kind == TYPE_NULL ? &type_bigint : NULL;
    case 'd':
        wanted = &type_double;
        break;
    case 's':
        wanted = &type_string;
        break;
    case 'q':
        return from->kind == TYPE_STRING || from->kind == TYPE_NULL ? &type_string : NULL;
    case 'x':
        wanted = &type_binary;
        break;
    case 'a':
        wanted = &type_date;
        break;
    case 't':
        wanted = &type_timestamp;
        break;
    case 'n':
        wanted = &type_timestamp_ntz;
        break;
    case 'S':
        wanted = &array_of_strings;
        break;
    case 'A':
        return from->kind == TYPE_ARRAY ? from : from->kind == TYPE_NULL ? &void_array : NULL;
    case 'M':
        return from->kind == TYPE_MAP ? from : NULL;
    case 'o':
        wanted = from->kind == TYPE_TIMESTAMP_NTZ ? from : &type_timestamp;
        break;
    case 'y':
        wanted = from->kind == TYPE_BINARY ? from : &type_string;
        break;
    default:
        assert(letter == '?');
        return from;
    }
    return is_implicit(from, wanted) ? wanted : NULL;
}

static const char *letter_name(char letter)
{
    switch (letter) {
    case 'b':
        return "\"BOOLEAN\"";
    case 'i':
        return "\"INT\"";
    case 'l':
        return "\"BIGINT\"";
    case 'L':
        return "\"INTEGRAL\"";
    case 'd':
        return "\"DOUBLE\"";
    case 's':
    case 'q':
        return "\"STRING\"";
    case 'x':
        return "\"BINARY\"";
    case 'a':
        return "\"DATE\"";
    case 't':
        return "\"TIMESTAMP\"";
    case 'n':
        return "\"TIMESTAMP_NTZ\"";
    case 'S':
        return "\"ARRAY<STRING>\"";
    case 'A':
        return "\"ARRAY\"";
    case 'M':
        return "\"MAP\"";
    case 'o':
        return "(\"TIMESTAMP_NTZ\" or \"TIMESTAMP\")";
    default:
        return "(\"STRING\" or \"BINARY\")";
    }
}

Error *resolve_signature(FunctionCall *call, const Type **ret_type)
{
    const char *signature = ((const FunctionEntry *)call->function)->signature;
    const char *parameter = signature;
    for (size_t i = 0; i < call->argument_count; i++) {
        const Type *wanted = parameter_type(*parameter, call->argument_types[i]);
        if (wanted == NULL) {
            return wrong_type(call, i, letter_name(*parameter));
        }
        call->argument_types[i] = wanted;
        parameter += parameter[1] != '>';
    }
    char result = strchr(signature, '>')[1];
    *ret_type = result == '=' ? call->argument_types[0] : parameter_type(result, &type_null);
    return NULL;
}

/* ---- Comparison ---- */

/* Brings all arguments to their common type; NULL when there is none. DECIMALs may stay as they
 * are where the kernel compares them exactly. */
static const Type *common_type(const FunctionCall *call)
{
    const Type *common = &type_null;
    for (size_t i = 0; i < call->argument_count && common != NULL; i++) {
        common = coerce_common_type(call->arena, common, call->argument_types[i]);
    }
    return common;
}

static bool is_comparable(const Type *type)
{
    return type->kind == TYPE_NULL || type_is_orderable(type);
}

Error *want_orderable(const FunctionCall *call, const Type *type)
{
    if (is_comparable(type)) {
        return NULL;
    }
    AUTO_BUFFER Buffer name = {0};
    append_type(type, &name);
    return error_at(ERROR_INVALID_ORDERING_TYPE, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The `%s` does not support "
                    "ordering on type %s.",
                    STR_ARG(call->text), call->function->name, buffer_cstr(&name));
}

/* Structs compare field by field, whatever the fields are called: the common type has the names of
 * the first. NULL when the fields do not fit. */
static const Type *common_struct(Arena *arena, const Type *a, const Type *b)
{
    if (a->kind != TYPE_STRUCT || b->kind != TYPE_STRUCT || a->field_count != b->field_count) {
        return NULL;
    }
    Field *fields = arena_new_array(arena, Field, a->field_count);
    for (size_t i = 0; i < a->field_count; i++) {
        const Type *type = coerce_common_type(arena, a->fields[i].type, b->fields[i].type);
        if (type == NULL) {
            return NULL;
        }
        fields[i] = a->fields[i];
        fields[i].type = type;
    }
    return type_struct(arena, fields, a->field_count);
}

Error *resolve_comparison(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    *ret_type = &type_boolean;
    if (types[0]->kind == TYPE_DECIMAL && types[1]->kind == TYPE_DECIMAL) {
        return NULL;
    }
    const Type *common = common_type(call);
    if (common == NULL) {
        common = common_struct(call->arena, types[0], types[1]);
    }
    if (common == NULL) {
        return different_operands(call);
    }
    TRY(want_orderable(call, common));
    if (common->kind == TYPE_NULL) {
        common = &type_boolean;
    }
    types[0] = common;
    types[1] = common;
    return NULL;
}

Error *resolve_extreme(FunctionCall *call, const Type **ret_type)
{
    bool text = false;
    bool other = false;
    for (size_t i = 0; i < call->argument_count; i++) {
        TypeKind kind = call->argument_types[i]->kind;
        text = text || kind == TYPE_STRING;
        other = other || (kind != TYPE_STRING && kind != TYPE_NULL);
    }
    const Type *common = text && other ? NULL : common_type(call);
    if (common == NULL) {
        return different_inputs(call);
    }
    TRY(want_orderable(call, common));
    for (size_t i = 0; i < call->argument_count; i++) {
        call->argument_types[i] = common;
    }
    *ret_type = common;
    return NULL;
}

/* ---- Strings ---- */

static Error *want_text(FunctionCall *call, size_t i)
{
    if (call->argument_types[i]->kind != TYPE_STRING &&
        !coerce_is_implicit(call->argument_types[i], &type_string)) {
        return wrong_type(call, i, "\"STRING\"");
    }
    call->argument_types[i] = &type_string;
    return NULL;
}

static size_t count_of_kind(const FunctionCall *call, TypeKind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < call->argument_count; i++) {
        count += call->argument_types[i]->kind == kind;
    }
    return count;
}

Error *resolve_concat(FunctionCall *call, const Type **ret_type)
{
    const Type *common = &type_string;
    size_t arrays = count_of_kind(call, TYPE_ARRAY);
    size_t binaries = count_of_kind(call, TYPE_BINARY);
    if (arrays > 0) {
        common = arrays == call->argument_count ? common_type(call) : NULL;
        if (common == NULL) {
            return different_inputs(call);
        }
    } else if (binaries > 0 && binaries == call->argument_count) {
        common = &type_binary;
    } else {
        for (size_t i = 0; i < call->argument_count; i++) {
            TRY(want_text(call, i));
        }
    }
    for (size_t i = 0; i < call->argument_count; i++) {
        call->argument_types[i] = common;
    }
    *ret_type = common;
    return NULL;
}

Error *resolve_concat_ws(FunctionCall *call, const Type **ret_type)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        if (i > 0 && call->argument_types[i]->kind == TYPE_ARRAY) {
            call->argument_types[i] = type_array(call->arena, &type_string);
        } else {
            TRY(want_text(call, i));
        }
    }
    *ret_type = &type_string;
    return NULL;
}

Error *resolve_reverse(FunctionCall *call, const Type **ret_type)
{
    if (call->argument_types[0]->kind != TYPE_ARRAY) {
        TRY(want_text(call, 0));
    }
    *ret_type = call->argument_types[0];
    return NULL;
}

Error *resolve_hex(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    *ret_type = &type_string;
    if (type->kind == TYPE_STRING || type->kind == TYPE_BINARY) {
        return NULL;
    }
    if (type->kind == TYPE_NULL || type_is_numeric(type)) {
        call->argument_types[0] = &type_bigint;
        return NULL;
    }
    if (!coerce_is_implicit(type, &type_string)) {
        return wrong_type(call, 0, "(\"BIGINT\" or \"BINARY\" or \"STRING\")");
    }
    call->argument_types[0] = &type_string;
    return NULL;
}

/* ---- Dates ---- */

Error *resolve_date_shift(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[0]->kind != TYPE_DATE && !coerce_is_implicit(types[0], &type_date)) {
        return wrong_type(call, 0, "\"DATE\"");
    }
    if (types[1]->kind != TYPE_INT && types[1]->kind != TYPE_SMALLINT &&
        types[1]->kind != TYPE_TINYINT && types[1]->kind != TYPE_STRING &&
        types[1]->kind != TYPE_NULL) {
        return wrong_type(call, 1, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
    }
    types[0] = &type_date;
    types[1] = &type_int;
    *ret_type = &type_date;
    return NULL;
}

Error *resolve_timestamp_seconds(FunctionCall *call, const Type **ret_type)
{
    const Type *type = call->argument_types[0];
    *ret_type = &type_timestamp;
    if (type->kind == TYPE_DECIMAL || type->kind == TYPE_DOUBLE) {
        return NULL;
    }
    if (type->kind == TYPE_FLOAT) {
        call->argument_types[0] = &type_double;
        return NULL;
    }
    if (type->kind != TYPE_NULL && !type_is_integral(type)) {
        return wrong_type(call, 0, "\"NUMERIC\"");
    }
    call->argument_types[0] = &type_bigint;
    return NULL;
}
