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
