/* Types of window functions. Numbers that say how many (buckets, rows away, which row) are
 * constants; lag and lead take any INT, the others positive ones. */
#include "processor/exec/aggregates/constants.h"
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

Error *resolve_rank(FunctionCall *call, const Type **ret_type)
{
    (void)call;
    *ret_type = &type_int;
    return NULL;
}

Error *resolve_rank_share(FunctionCall *call, const Type **ret_type)
{
    (void)call;
    *ret_type = &type_double;
    return NULL;
}

/* The constant INT that argument is; *ret_value as NULL (false) where it is not known yet. */
static Error *check_constant(const FunctionCall *call, size_t argument, const char *name,
                             const Vector **ret_value)
{
    *ret_value = NULL;
    if (call->arguments == NULL) {
        return NULL;
    }
    *ret_value = constant_of(call->arguments[argument], call->arena);
    if (*ret_value == NULL && call->arguments[argument]->kind != BOUND_CAST &&
        call->arguments[argument]->kind != BOUND_CALL) {
        return error_at(ERROR_NON_FOLDABLE_INPUT, call->place,
                        "Cannot resolve \"%.*s\" due to data type mismatch: the input `%s` should "
                        "be a foldable \"INT\" expression; however, got \"%.*s\".",
                        STR_ARG(call->text), name, STR_ARG(call->arguments[argument]->text));
    }
    return NULL;
}

static Error *out_of_range(const FunctionCall *call, const char *name, const char *range,
                           int64_t value, const char *suffix)
{
    return error_at(ERROR_VALUE_OUT_OF_RANGE, call->place,
                    "Cannot resolve \"%.*s\" due to data type mismatch: The %s must be between %s "
                    "(current value = %lld%s).",
                    STR_ARG(call->text), name, range, (long long)value, suffix);
}

Error *resolve_ntile(FunctionCall *call, const Type **ret_type)
{
    *ret_type = &type_int;
    if (call->argument_count == 0) {
        return NULL;
    }
    const Vector *buckets = NULL;
    TRY(check_constant(call, 0, "buckets", &buckets));
    if (call->argument_types[0]->kind != TYPE_INT) {
        return wrong_type(call, 0, "\"INT\"");
    }
    int64_t value =
        buckets != NULL && vector_is_valid(buckets, 0) ? vector_int_value(buckets, 0) : 0;
    return buckets == NULL || value > 0
               ? NULL
               : out_of_range(call, "buckets", "(0, 2147483647]", value, "");
}

/* lag, lead: a value, rows away, a default of the value's type. */
Error *resolve_lag(FunctionCall *call, const Type **ret_type)
{
    *ret_type = call->argument_types[0];
    if (call->argument_count > 1) {
        const Vector *offset = NULL;
        TRY(check_constant(call, 1, "offset", &offset));
        if (call->argument_types[1]->kind != TYPE_INT) {
            return wrong_type(call, 1, "\"INT\"");
        }
    }
    if (call->argument_count > 2) {
        call->argument_types[2] = call->argument_types[0];
    }
    return NULL;
}

Error *resolve_nth_value(FunctionCall *call, const Type **ret_type)
{
    *ret_type = call->argument_types[0];
    const Vector *number = NULL;
    TRY(check_constant(call, 1, "offset", &number));
    bool known = number != NULL && type_is_integral(number->type);
    bool null = number != NULL && (!vector_is_valid(number, 0) || number->type->kind == TYPE_NULL);
    int64_t value = known && !null ? vector_int_value(number, 0) : 0;
    if (null || (known && value <= 0)) {
        return out_of_range(call, "offset", "(0, 9223372036854775807]", value, "L");
    }
    call->argument_types[1] = &type_int;
    if (call->argument_count > 2) {
        call->argument_types[2] = &type_boolean;
    }
    return NULL;
}
