/* The JSON side of format.h's Decoder. */
#ifndef FORMAT_JSON_DECODE_H
#define FORMAT_JSON_DECODE_H

#include "connectors/format/format.h"

typedef struct JsonDecoder JsonDecoder;

/* Compiles the schema, which must outlive the decoder. An error: an option or a column type that
 * JSON cannot be read into. */
NODISCARD Error *json_decoder_open(const DecoderOptions *options, const Schema *schema,
                                   JsonDecoder **ret_decoder);
void json_decoder_close(JsonDecoder *decoder);
/* Appends the record as row `row` of the batch's columns: its values, or nulls with an error. */
NODISCARD Error *json_decoder_read(JsonDecoder *decoder, Str record, Arena *batch_arena,
                                   Vector *const *columns, uint32_t row);

#endif
