/* Types of functions of dates and times whose parameters are not fixed. */
#include "processor/exec/resolve.h"

#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

/* timestampadd(unit, n, x): TIMESTAMP_NTZ stays, all else is a TIMESTAMP. */
Error *resolve_timestampadd(FunctionCall *call, const Type **ret_type)
{
    TRY(resolve_signature(call, ret_type));
    *ret_type = call->argument_types[2];
    return NULL;
}

/* convert_timezone([from,] to, local time) */
Error *resolve_convert_timezone(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    size_t last = call->argument_count - 1;
    for (size_t i = 0; i < call->argument_count; i++) {
        const Type *wanted = i < last ? &type_string : &type_timestamp_ntz;
        if (!type_equal(types[i], wanted) && !coerce_is_implicit(types[i], wanted)) {
            return wrong_type(call, i, i < last ? "\"STRING\"" : "\"TIMESTAMP_NTZ\"");
        }
        types[i] = wanted;
    }
    *ret_type = &type_timestamp_ntz;
    return NULL;
}

enum { SECONDS = 5 };

/* make_timestamp(year, month, day, hour, minute, seconds [, zone]): seconds are DECIMAL(16,6). */
Error *resolve_make_timestamp(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *seconds = types[SECONDS];
    types[SECONDS] = &type_int;
    TRY(resolve_signature(call, ret_type));
    types[SECONDS] = seconds;
    if (!type_is_numeric(seconds) && seconds->kind != TYPE_STRING && seconds->kind != TYPE_NULL) {
        return wrong_type(call, SECONDS, "\"DECIMAL(16,6)\"");
    }
    types[SECONDS] = type_decimal(call->arena, 16, 6);
    return NULL;
}

/* ---- Casts written as functions, with a pattern or without ---- */

static bool is_time_like(const Type *type)
{
    return type_is_datetime(type) || type->kind == TYPE_STRING || type->kind == TYPE_NULL;
}

/* Text with a pattern is read by the kernel, everything else is cast. */
static Error *resolve_as_cast(FunctionCall *call, const Type *type, const Type **ret_type)
{
    const Type **types = call->argument_types;
    bool patterned = call->argument_count > 1;
    bool number = type_is_numeric(types[0]) && (patterned || type->kind == TYPE_TIMESTAMP);
    if (!number && !is_time_like(types[0])) {
        return wrong_type(call, 0,
                          "(\"STRING\" or \"DATE\" or \"TIMESTAMP\" or \"TIMESTAMP_NTZ\")");
    }
    if (patterned) {
        if (types[1]->kind != TYPE_STRING && !coerce_is_implicit(types[1], &type_string)) {
            return wrong_type(call, 1, "\"STRING\"");
        }
        types[1] = &type_string;
    }
    bool text = types[0]->kind == TYPE_STRING || number;
    types[0] = patterned && text ? &type_string : type;
    *ret_type = type;
    return NULL;
}

Error *resolve_cast_date(FunctionCall *call, const Type **ret_type)
{
    return resolve_as_cast(call, &type_date, ret_type);
}

Error *resolve_cast_timestamp(FunctionCall *call, const Type **ret_type)
{
    return resolve_as_cast(call, &type_timestamp, ret_type);
}

Error *resolve_cast_timestamp_ntz(FunctionCall *call, const Type **ret_type)
{
    return resolve_as_cast(call, &type_timestamp_ntz, ret_type);
}

/* unix_timestamp([x [, pattern]]): text is always read by a pattern. */
Error *resolve_unix_timestamp(FunctionCall *call, const Type **ret_type)
{
    const Type **types = call->argument_types;
    const Type *type = NULL;
    if (call->argument_count > 0 && !is_time_like(types[0])) {
        return wrong_type(call, 0,
                          "(\"STRING\" or \"DATE\" or \"TIMESTAMP\" or \"TIMESTAMP_NTZ\")");
    }
    if (call->argument_count == 2 || (call->argument_count == 1 && types[0]->kind != TYPE_STRING)) {
        TRY(resolve_as_cast(call, &type_timestamp, &type));
    }
    *ret_type = &type_bigint;
    return NULL;
}
