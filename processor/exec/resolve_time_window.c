/* The type of window(): see resolve.h. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

Error *resolve_time_window(FunctionCall *call, const Type **ret_type)
{
    const Type *time = call->argument_types[0];
    if (time->kind != TYPE_TIMESTAMP && time->kind != TYPE_TIMESTAMP_NTZ) {
        if (!coerce_is_implicit(time, &type_timestamp)) {
            return wrong_type(call, 0,
                              "(\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\" or \"STRUCT<start: "
                              "TIMESTAMP, end: TIMESTAMP>\")");
        }
        time = &type_timestamp;
    }
    call->argument_types[0] = time;
    for (size_t i = 1; i < call->argument_count; i++) {
        call->argument_types[i] = &type_bigint;
    }
    *ret_type = time;
    return NULL;
}
