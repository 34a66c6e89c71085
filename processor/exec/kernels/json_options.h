/* Options of the JSON and CSV functions: map('mode', 'FAILFAST'). */
#ifndef EXEC_KERNELS_JSON_OPTIONS_H
#define EXEC_KERNELS_JSON_OPTIONS_H

#include "processor/data/datetime_pattern.h"
#include "processor/exec/kernel.h"
#include "processor/exec/kernels/json_token.h"

enum { JSON_DATE, JSON_TIMESTAMP, JSON_TIMESTAMP_NTZ, JSON_PATTERN_COUNT };

typedef struct JsonOptions {
    JsonSyntax syntax;
    bool fail_fast;
    bool drop_malformed;
    Str corrupt_column; /* _corrupt_record */
    bool primitives_as_string;
    bool prefers_decimal;
    bool keep_null_fields;
    bool pretty;
    Str separator; /* of CSV, as the four below */
    Str null_value;
    bool trim_leading;
    bool trim_trailing;
    bool quote_all;
    Str formats[JSON_PATTERN_COUNT];                 /* as given; STR_NULL: Spark's usual form */
    const DatePattern *patterns[JSON_PATTERN_COUNT]; /* compiled; NULL: the usual form */
} JsonOptions;

/* Compiles the patterns, to read (`parsing`) or to write with them. */
NODISCARD Error *json_options_compile(JsonOptions *options, Arena *arena, bool parsing);

/* The options of row `row` of a MAP<STRING, STRING>; defaults for NULL. Names ignore case. */
JsonOptions json_options_of(const Vector *map, uint32_t row);

/* yyyy-MM-dd'T'HH:mm:ss.SSS; with a zone of instants, the offset behind it. */
void json_put_time(Buffer *out, int64_t us, const TimeZone *zone);

/* Options of a call whose argument `argument` they are, if it has so many: read once when they are
 * constant, else row by row. */
typedef struct JsonOptionsState {
    JsonOptions constant;
    bool is_constant;
    bool parsing;
    size_t argument;
} JsonOptionsState;

void json_options_prepare(const KernelSetup *setup, size_t argument, bool parsing,
                          JsonOptionsState *ret);
JsonOptions json_options_at(const JsonOptionsState *state, const KernelCall *call, uint32_t row);

#endif
