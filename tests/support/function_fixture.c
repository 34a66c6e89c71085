/* Type rules here are Spark's for the cases the tests use: enough to see what the binder does. */
#include "tests/support/function_fixture.h"

#include "processor/bind/coerce.h"

typedef Error *Resolve(FunctionCall *call, const Type **ret_type);

static Error *mismatch(const FunctionCall *call)
{
    AUTO_BUFFER Buffer left = {0};
    AUTO_BUFFER Buffer right = {0};
    type_format(call->argument_types[0], &left);
    type_format(call->argument_types[call->argument_count - 1], &right);
    return error_at(ERROR_BINARY_OP_DIFF_TYPES, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: the left and right "
                    "operands of the binary operator have incompatible types (\"%s\" and \"%s\").",
                    STR_ARG(call->text), buffer_cstr(&left), buffer_cstr(&right));
}

static Error *resolve_comparison(FunctionCall *call, const Type **ret_type)
{
    const Type *type =
        coerce_common_type(call->arena, call->argument_types[0], call->argument_types[1]);
    if (type == NULL || (!type_is_orderable(type) && type->kind != TYPE_NULL)) {
        return mismatch(call);
    }
    call->argument_types[0] = call->argument_types[1] = type;
    *ret_type = &type_boolean;
    return NULL;
}

static Error *resolve_arithmetic(FunctionCall *call, const Type **ret_type)
{
    const Type *a = call->argument_types[0];
    const Type *b = call->argument_types[1];
    const Type *type = coerce_common_type(call->arena, a, b);
    if (type == NULL || !type_is_numeric(type)) {
        return mismatch(call);
    }
    char operator_ = call->function->name[0];
    if (type->kind != TYPE_DECIMAL) {
        type = operator_ == '/' ? &type_double : type;
        call->argument_types[0] = call->argument_types[1] = type;
        *ret_type = type;
        return NULL;
    }
    a = coerce_to_decimal(call->arena, a);
    b = coerce_to_decimal(call->arena, b);
    call->argument_types[0] = a;
    call->argument_types[1] = b;
    if (operator_ == '*') {
        *ret_type = coerce_decimal_bounded(call->arena, a->precision + b->precision + 1,
                                           a->scale + b->scale);
    } else {
        *ret_type = coerce_decimal_bounded(call->arena, type->precision + 1, type->scale);
    }
    return NULL;
}

static Error *resolve_same(FunctionCall *call, const Type **ret_type)
{
    *ret_type = call->argument_types[0];
    return NULL;
}

static Error *all_strings(FunctionCall *call)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        if (!coerce_is_implicit(call->argument_types[i], &type_string)) {
            AUTO_BUFFER Buffer type = {0};
            type_format(call->argument_types[i], &type);
            return error_at(ERROR_UNEXPECTED_INPUT_TYPE, call->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: The first "
                            "parameter requires the \"STRING\" type, however it has the type "
                            "\"%s\".",
                            STR_ARG(call->text), buffer_cstr(&type));
        }
        call->argument_types[i] = &type_string;
    }
    return NULL;
}

static Error *resolve_string(FunctionCall *call, const Type **ret_type)
{
    *ret_type = &type_string;
    return all_strings(call);
}

static Error *resolve_like(FunctionCall *call, const Type **ret_type)
{
    *ret_type = &type_boolean;
    return all_strings(call);
}

static Error *resolve_is_null(FunctionCall *call, const Type **ret_type)
{
    (void)call;
    *ret_type = &type_boolean;
    return NULL;
}

static Error *resolve_date(FunctionCall *call, const Type **ret_type)
{
    if (call->argument_count > 0) {
        call->argument_types[0] = &type_date;
    }
    if (call->argument_count > 1) {
        call->argument_types[1] = &type_int;
    }
    *ret_type = &type_date;
    return NULL;
}

static Error *resolve_user(FunctionCall *call, const Type **ret_type)
{
    (void)call;
    *ret_type = &type_string;
    return NULL;
}

static Error *resolve_random(FunctionCall *call, const Type **ret_type)
{
    (void)call;
    *ret_type = &type_double;
    return NULL;
}

#define D FUNCTION_DETERMINISTIC
#define F FUNCTION_CAN_FAIL

#define SCALAR(name_, flags_, min, max, resolve_)                                                  \
    {.name = (name_),                                                                              \
     .flags = (flags_),                                                                            \
     .argument_min = (min),                                                                        \
     .argument_max = (max),                                                                        \
     .resolve = (resolve_),                                                                        \
     .doc = "",                                                                                    \
     .example = ""}
#define KNOWN(name_, kind_, min, max)                                                              \
    {.name = (name_),                                                                              \
     .kind = FUNCTION_##kind_,                                                                     \
     .flags = FUNCTION_DETERMINISTIC,                                                              \
     .argument_min = (min),                                                                        \
     .argument_max = (max),                                                                        \
     .doc = "",                                                                                    \
     .example = ""}

static const Function functions[] = {
    SCALAR("=", D, 2, 2, resolve_comparison),
    SCALAR("<>", D, 2, 2, resolve_comparison),
    SCALAR("<", D, 2, 2, resolve_comparison),
    SCALAR("<=", D, 2, 2, resolve_comparison),
    SCALAR(">", D, 2, 2, resolve_comparison),
    SCALAR(">=", D, 2, 2, resolve_comparison),
    SCALAR("<=>", D, 2, 2, resolve_comparison),
    SCALAR("+", D | F, 2, 2, resolve_arithmetic),
    SCALAR("-", D | F, 2, 2, resolve_arithmetic),
    SCALAR("*", D | F, 2, 2, resolve_arithmetic),
    SCALAR("/", D | F, 2, 2, resolve_arithmetic),
    SCALAR("%", D | F, 2, 2, resolve_arithmetic),
    SCALAR("negative", D | F, 1, 1, resolve_same),
    SCALAR("positive", D, 1, 1, resolve_same),
    SCALAR("||", D, 2, 2, resolve_string),
    SCALAR("concat", D, 0, -1, resolve_string),
    SCALAR("upper", D, 1, 1, resolve_string),
    SCALAR("lower", D, 1, 1, resolve_string),
    SCALAR("trim", D, 1, 2, resolve_string),
    SCALAR("ltrim", D, 1, 2, resolve_string),
    SCALAR("like", D, 2, 3, resolve_like),
    SCALAR("isnull", D, 1, 1, resolve_is_null),
    SCALAR("isnotnull", D, 1, 1, resolve_is_null),
    SCALAR("current_date", D | FUNCTION_CLOCK, 0, 0, resolve_date),
    SCALAR("current_user", D, 0, 0, resolve_user),
    SCALAR("date_add", D | F, 2, 2, resolve_date),
    SCALAR("to_date", D | F, 1, 1, resolve_date),
    SCALAR("rand", 0, 0, 1, resolve_random),
    KNOWN("from_json", SCALAR, 2, 3),
    KNOWN("window", SCALAR, 2, 4),
    KNOWN("sum", AGGREGATE, 1, 1),
    KNOWN("count", AGGREGATE, 0, -1),
    KNOWN("max", AGGREGATE, 1, 1),
    KNOWN("row_number", WINDOW, 0, 0),
    KNOWN("rank", WINDOW, 0, 0),
    KNOWN("lag", WINDOW, 1, 3),
    KNOWN("explode", GENERATOR, 1, 1),
    KNOWN("posexplode", GENERATOR, 1, 1),
    KNOWN("range", TABLE, 1, 4),
    KNOWN("read_files", TABLE, 1, -1),
    KNOWN("read_kafka", TABLE, 1, -1),
};

static const Function *find(Str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(functions); i++) {
        if (str_equal_ignore_case(str_from(functions[i].name), name)) {
            return &functions[i];
        }
    }
    return NULL;
}

static const char *nearest(Str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(functions); i++) {
        if (str_distance(str_from(functions[i].name), name) == 1 && name.size > 2) {
            return functions[i].name;
        }
    }
    return NULL;
}

static const Function *at(size_t index)
{
    return index < ARRAY_LENGTH(functions) ? &functions[index] : NULL;
}

const FunctionCatalog *function_fixture(void)
{
    static const FunctionCatalog catalog = {find, nearest, at};
    return &catalog;
}
