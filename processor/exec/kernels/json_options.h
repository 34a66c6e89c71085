/* Options of the JSON functions: map('mode', 'FAILFAST'). */
#ifndef EXEC_KERNELS_JSON_OPTIONS_H
#define EXEC_KERNELS_JSON_OPTIONS_H

#include "processor/exec/kernel.h"
#include "processor/exec/kernels/json_token.h"

typedef struct JsonOptions {
    JsonSyntax syntax;
    bool fail_fast;
    bool drop_malformed;
    Str corrupt_column; /* _corrupt_record */
    bool primitives_as_string;
    bool prefers_decimal;
    bool keep_null_fields;
    bool pretty;
    Str format; /* name of the first date or time pattern given, which is not built; or STR_NULL */
} JsonOptions;

/* The options of row `row` of a MAP<STRING, STRING>; defaults for NULL. Names ignore case. */
JsonOptions json_options_of(const Vector *map, uint32_t row);

/* Options of a call whose argument `argument` they are, if it has so many: read once when they are
 * constant, else row by row. */
typedef struct JsonOptionsState {
    JsonOptions constant;
    bool is_constant;
    size_t argument;
} JsonOptionsState;

void json_options_prepare(const KernelSetup *setup, size_t argument, JsonOptionsState *ret);
JsonOptions json_options_at(const JsonOptionsState *state, const KernelCall *call, uint32_t row);

#endif
