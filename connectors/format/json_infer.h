/* The columns that JSON records seem to have, as Spark infers them: objects are structs, whole
 * numbers BIGINT (DECIMAL beyond 64 bits, DOUBLE beyond 38 digits), other numbers DOUBLE, texts
 * STRING; numbers widen, and where kinds contradict each other a column is STRING, which takes any
 * value as its text. Columns and fields come in the order of their names. */
#ifndef FORMAT_JSON_INFER_H
#define FORMAT_JSON_INFER_H

#include "processor/base/error.h"
#include "processor/data/schema.h"

typedef struct JsonInference JsonInference;

JsonInference *json_inference_new(void);
void json_inference_free(JsonInference *inference);
/* Takes one record in. MALFORMED_RECORD when it is no JSON object. */
NODISCARD Error *json_inference_add(JsonInference *inference, Str record);
/* Takes in what another one saw. The result does not depend on who saw what. */
void json_inference_merge(JsonInference *inference, const JsonInference *other);
/* What was seen, as columns in `arena`. COLUMN_ALREADY_EXISTS when names differ in case only. */
NODISCARD Error *json_inference_schema(const JsonInference *inference, Arena *arena,
                                       const Schema **ret_schema);

#endif
