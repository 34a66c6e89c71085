/* Types of aggregate functions. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "processor/data/decimal.h"
#include "processor/exec/aggregates/constants.h"
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

static const char *const numeric_or_interval = "\"NUMERIC\" or \"ANSI INTERVAL\"";

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* A DECIMAL of at most 38 digits. */
static const Type *bounded_decimal(Arena *arena, int precision, int scale)
{
    return type_decimal(arena, min_int(precision, DECIMAL_PRECISION_MAX),
                        min_int(scale, DECIMAL_PRECISION_MAX));
}

/* Intervals of a family with all their fields; other types: NULL. */
static const Type *whole_interval(Arena *arena, const Type *type)
{
    switch (type->kind) {
    case TYPE_INTERVAL_YEAR_MONTH:
        return type_interval(arena, TYPE_INTERVAL_YEAR_MONTH, FIELD_YEAR, FIELD_MONTH);
    case TYPE_INTERVAL_DAY_TIME:
        return type_interval(arena, TYPE_INTERVAL_DAY_TIME, FIELD_DAY, FIELD_SECOND);
    default:
        return NULL;
    }
}

/* NULL and text become DOUBLE; then a number or an interval it must be. */
static Error *want_number_or_interval(FunctionCall *call, const Type **type, size_t parameter)
{
    if ((*type)->kind == TYPE_NULL || (*type)->kind == TYPE_STRING) {
        *type = &type_double;
    }
    return type_is_numeric(*type) || type_is_interval(*type)
               ? NULL
               : wrong_type(call, parameter, numeric_or_interval);
}

Error *resolve_count(FunctionCall *call, const Type **ret_type)
{
    (void)call;
    *ret_type = &type_bigint;
    return NULL;
}

/* sum and avg take instants too, as seconds. */
static Error *want_summable(FunctionCall *call)
{
    if (call->argument_types[0]->kind == TYPE_TIMESTAMP) {
        call->argument_types[0] = &type_double;
    }
    return want_number_or_interval(call, &call->argument_types[0], 0);
}

Error *resolve_sum(FunctionCall *call, const Type **ret_type)
{
    TRY(want_summable(call));
    const Type *type = call->argument_types[0];
    if (type_is_integral(type)) {
        *ret_type = &type_bigint;
    } else if (type->kind == TYPE_DECIMAL) {
        *ret_type = bounded_decimal(call->arena, type->precision + 10, type->scale);
    } else {
        *ret_type = type_is_interval(type) ? type : &type_double;
    }
    return NULL;
}

Error *resolve_avg(FunctionCall *call, const Type **ret_type)
{
    TRY(want_summable(call));
    const Type *type = call->argument_types[0];
    if (type->kind == TYPE_DECIMAL) {
        *ret_type = bounded_decimal(call->arena, type->precision + 4, type->scale + 4);
        return NULL;
    }
    const Type *interval = whole_interval(call->arena, type);
    *ret_type = interval != NULL ? interval : &type_double;
    return NULL;
}

/* min, max */
Error *resolve_ordered(FunctionCall *call, const Type **ret_type)
{
    *ret_type = call->argument_types[0];
    return want_orderable(call, *ret_type);
}

/* first, last, any_value, collected values: what the first argument is. */
Error *resolve_first_argument(FunctionCall *call, const Type **ret_type)
{
    *ret_type = call->argument_types[0];
    return NULL;
}

Error *resolve_bit_aggregate(FunctionCall *call, const Type **ret_type)
{
    const Type **type = &call->argument_types[0];
    if ((*type)->kind == TYPE_NULL) {
        *type = &type_int;
    }
    *ret_type = *type;
    return type_is_integral(*type) ? NULL : wrong_type(call, 0, "\"INTEGRAL\"");
}

Error *resolve_collect_list(FunctionCall *call, const Type **ret_type)
{
    *ret_type = type_array(call->arena, call->argument_types[0]);
    return NULL;
}

static bool holds_map(const Type *type)
{
    bool found = type->kind == TYPE_MAP;
    for (uint32_t i = 0; i < type_child_count(type); i++) {
        found = found || holds_map(type_child(type, i));
    }
    return found;
}

Error *resolve_collect_set(FunctionCall *call, const Type **ret_type)
{
    if (holds_map(call->argument_types[0])) {
        return error_at(ERROR_UNSUPPORTED_INPUT_TYPE, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: The input of "
                        "`collect_set` can't be \"MAP\" or \"COLLATED STRING\" type data.",
                        STR_ARG(call->text));
    }
    return resolve_collect_list(call, ret_type);
}

/* collect_union: a set of the elements of arrays. */
Error *resolve_collect_union(FunctionCall *call, const Type **ret_type)
{
    *ret_type = call->argument_types[0];
    if ((*ret_type)->kind != TYPE_ARRAY) {
        return wrong_type(call, 0, "\"ARRAY\"");
    }
    const Type *result = NULL;
    return resolve_collect_set(call, &result);
}

/* ---- Arguments that must be constants ---- */

static Error *not_constant(const FunctionCall *call, const char *parameter, const char *type)
{
    return error_at(ERROR_NON_FOLDABLE_INPUT, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: the input `%s` should be a "
                    "foldable \"%s\" expression.",
                    STR_ARG(call->text), parameter, type);
}

static Error *must_not_be_null(const FunctionCall *call, const char *parameter)
{
    return error_at(ERROR_UNEXPECTED_NULL, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The %s must not be null.",
                    STR_ARG(call->text), parameter);
}

static Error *check_percentage(const FunctionCall *call, const Vector *values, uint32_t row)
{
    double value = 0;
    if (!constant_double(values, row, &value)) {
        return must_not_be_null(call, "percentage");
    }
    return value >= 0 && value <= 1
               ? NULL
               : error_at(ERROR_VALUE_OUT_OF_RANGE, call->place,
                          "Cannot resolve \"%.*s\" due to data type mismatch: The percentage must "
                          "be between [0.0, 1.0] (current value = %gD).",
                          STR_ARG(call->text), value);
}

/* A constant DOUBLE from 0 to 1, or an array of them; whether it is one. */
static Error *want_percentage(FunctionCall *call, size_t argument, bool *ret_array)
{
    const Type **type = &call->argument_types[argument];
    *ret_array = (*type)->kind == TYPE_ARRAY;
    const Type *element = *ret_array ? (*type)->element : *type;
    if (element->kind != TYPE_NULL && !type_is_numeric(element) && element->kind != TYPE_STRING) {
        return wrong_type(call, argument, "(\"DOUBLE\" or \"ARRAY<DOUBLE>\")");
    }
    const Vector *value = NULL;
    if (call->arguments != NULL) {
        value = constant_of(call->arguments[argument], call->arena);
        if (value == NULL) {
            return not_constant(call, "percentage", "DOUBLE");
        }
        if (!*ret_array) {
            TRY(check_percentage(call, value, 0));
        } else if (!vector_is_valid(value, 0)) {
            return must_not_be_null(call, "percentage");
        }
        for (uint32_t i = 0; *ret_array && i < value->children[0]->length; i++) {
            TRY(check_percentage(call, value->children[0], i));
        }
    }
    *type = *ret_array ? type_array(call->arena, &type_double) : &type_double;
    return NULL;
}

/* min_by, max_by (x, y [, k]) */
Error *resolve_ordered_by(FunctionCall *call, const Type **ret_type)
{
    *ret_type = call->argument_types[0];
    TRY(want_orderable(call, call->argument_types[1]));
    if (call->argument_count < 3) {
        return NULL;
    }
    double k = 1;
    const Vector *value =
        call->arguments == NULL ? NULL : constant_of(call->arguments[2], call->arena);
    if (!type_is_numeric(call->argument_types[2])) {
        return wrong_type(call, 2, "\"INT\"");
    }
    if (call->arguments != NULL && value == NULL) {
        return not_constant(call, "k", "INT");
    }
    if (value != NULL && !constant_double(value, 0, &k)) {
        return must_not_be_null(call, "k");
    }
    if (k < 1 || k >= 100001) {
        return error_at(
            ERROR_VALUE_OUT_OF_RANGE, call->place,
            "Cannot resolve \"%.*s\" due to data type mismatch: The `k` must be between "
            "[1, 100000] (current value = %.0f).",
            STR_ARG(call->text), k);
    }
    call->argument_types[2] = &type_int;
    *ret_type = type_array(call->arena, *ret_type);
    return NULL;
}

/* ---- percentile, median, percentile_cont, percentile_disc ---- */

static Error *percentile_result(FunctionCall *call, const Type *of, bool array,
                                const Type **ret_type)
{
    const Type *interval = whole_interval(call->arena, of);
    *ret_type = interval != NULL ? interval : &type_double;
    if (array) {
        *ret_type = type_array(call->arena, *ret_type);
    }
    return NULL;
}

/* percentile(x, percentage [, frequency]) */
Error *resolve_percentile(FunctionCall *call, const Type **ret_type)
{
    bool array = false;
    TRY(want_number_or_interval(call, &call->argument_types[0], 0));
    TRY(want_percentage(call, 1, &array));
    if (call->argument_count > 2) {
        const Type **frequency = &call->argument_types[2];
        if (!type_is_integral(*frequency) && (*frequency)->kind != TYPE_NULL) {
            return wrong_type(call, 2, "\"INTEGRAL\"");
        }
        *frequency = &type_bigint;
    }
    return percentile_result(call, call->argument_types[0], array, ret_type);
}

Error *resolve_median(FunctionCall *call, const Type **ret_type)
{
    TRY(want_number_or_interval(call, &call->argument_types[0], 0));
    return percentile_result(call, call->argument_types[0], false, ret_type);
}

/* percentile_cont(percentage) WITHIN GROUP (ORDER BY x) */
Error *resolve_percentile_within(FunctionCall *call, const Type **ret_type)
{
    bool array = false;
    TRY(want_percentage(call, 0, &array));
    if (call->sort_count != 1) {
        return error_at(ERROR_WITHIN_GROUP_MISSING, call->place,
                        "Invalid function `%s` with WITHIN GROUP. WITHIN GROUP is required for the "
                        "function.",
                        call->function->name);
    }
    TRY(want_number_or_interval(call, &call->sort_types[0], 0));
    return percentile_result(call, call->sort_types[0], array, ret_type);
}

/* approx_percentile(x, percentage [, accuracy]) */
Error *resolve_percentile_approx(FunctionCall *call, const Type **ret_type)
{
    bool array = false;
    const Type **type = &call->argument_types[0];
    if ((*type)->kind == TYPE_NULL || (*type)->kind == TYPE_STRING) {
        *type = &type_double;
    }
    if (!type_is_numeric(*type) && !type_is_datetime(*type) && !type_is_interval(*type)) {
        return wrong_type(call, 0, "(\"NUMERIC\", \"DATE\", \"TIMESTAMP\" or \"ANSI INTERVAL\")");
    }
    TRY(want_percentage(call, 1, &array));
    if (call->argument_count > 2) {
        if (!type_is_integral(call->argument_types[2])) {
            return wrong_type(call, 2, "\"INTEGRAL\"");
        }
        double accuracy = 1;
        const Vector *value =
            call->arguments == NULL ? NULL : constant_of(call->arguments[2], call->arena);
        if (call->arguments != NULL && value == NULL) {
            return not_constant(call, "accuracy", "BIGINT");
        }
        if (value != NULL && !constant_double(value, 0, &accuracy)) {
            return must_not_be_null(call, "accuracy");
        }
        if (accuracy < 1 || accuracy > INT32_MAX) {
            return error_at(ERROR_VALUE_OUT_OF_RANGE, call->place,
                            "Cannot resolve \"%.*s\" due to data type mismatch: The accuracy must "
                            "be between (0, 2147483647] (current value = %.0fL).",
                            STR_ARG(call->text), accuracy);
        }
        call->argument_types[2] = &type_bigint;
    }
    *ret_type = array ? type_array(call->arena, *type) : *type;
    return NULL;
}

/* mode(x [, deterministic]), mode() WITHIN GROUP (ORDER BY x) */
Error *resolve_mode(FunctionCall *call, const Type **ret_type)
{
    if (call->argument_count + call->sort_count == 0) {
        return error_at(ERROR_WITHIN_GROUP_MISSING, call->place,
                        "Invalid function `mode` with WITHIN GROUP. WITHIN GROUP is required for "
                        "the function.");
    }
    if (call->argument_count > 1) {
        const Vector *value =
            call->arguments == NULL ? NULL : constant_of(call->arguments[1], call->arena);
        if (call->argument_types[1]->kind != TYPE_BOOLEAN) {
            return wrong_type(call, 1, "\"BOOLEAN\"");
        }
        if (call->arguments != NULL && value == NULL) {
            return not_constant(call, "deterministic", "BOOLEAN");
        }
    }
    *ret_type = call->sort_count > 0 ? call->sort_types[0] : call->argument_types[0];
    return call->sort_count > 0 ? want_orderable(call, *ret_type) : NULL;
}

/* approx_count_distinct(x [, relative error]) */
Error *resolve_count_distinct(FunctionCall *call, const Type **ret_type)
{
    *ret_type = &type_bigint;
    if (call->argument_count < 2) {
        return NULL;
    }
    double error = 0.05;
    const Vector *value =
        call->arguments == NULL ? NULL : constant_of(call->arguments[1], call->arena);
    if (!type_is_numeric(call->argument_types[1])) {
        return wrong_type(call, 1, "\"DOUBLE\"");
    }
    if (call->arguments != NULL && value == NULL) {
        return not_constant(call, "relativeSD", "DOUBLE");
    }
    if (value != NULL && !constant_double(value, 0, &error)) {
        return must_not_be_null(call, "relativeSD");
    }
    call->argument_types[1] = &type_double;
    /* Fewer than 2^4 registers, and more than 2^21, are refused. */
    if (!(error <= 0.39) || !(error >= 0.001)) {
        return error_at(ERROR_FAILED_FUNCTION_CALL, call->place,
                        "Failed preparing of the function `approx_count_distinct` for call: the "
                        "relative error must be from 0.001 to 0.39.");
    }
    return NULL;
}

/* listagg(x [, delimiter]): strings or binaries; other values as text. */
Error *resolve_listagg(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    if (types[0]->kind != TYPE_BINARY) {
        if (types[0]->kind != TYPE_NULL && !coerce_is_implicit(types[0], &type_string)) {
            return wrong_type(call, 0, "(\"STRING\" or \"BINARY\")");
        }
        types[0] = &type_string;
    }
    if (call->argument_count > 1) {
        if (call->arguments != NULL && constant_of(call->arguments[1], call->arena) == NULL) {
            return not_constant(call, "delimiter", "STRING");
        }
        if (types[1]->kind != TYPE_NULL && !type_equal(types[1], types[0])) {
            return wrong_type(call, 1, types[0]->kind == TYPE_BINARY ? "\"BINARY\"" : "\"STRING\"");
        }
        types[1] = types[0];
    }
    *ret_type = types[0];
    return NULL;
}
