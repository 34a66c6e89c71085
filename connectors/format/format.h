/* Formats: record bytes to column batches and back. One format a file; run/ sees this interface
 * only. Rules: spec/decisions.md "Records in", DESIGN section 5. */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "processor/data/batch.h"
#include "processor/data/datetime.h"

typedef struct Decoder Decoder;

typedef enum FormatKind { FORMAT_JSON } FormatKind;

typedef struct DecoderOptions {
    FormatKind kind;
    const TimeZone
        *time_zone; /* session zone, for timestamps without one; must outlive the decoder */
    bool coerce;    /* the source says `coerce: true`: numbers may come as text */
} DecoderOptions;

/* For records with these columns (the schema must outlive the decoder). NOT_YET for column types
 * the format cannot bring (INTERVAL, VARIANT), naming the column. */
NODISCARD Error *decoder_open(const DecoderOptions *options, const Schema *schema,
                              Decoder **ret_decoder);
void decoder_close(Decoder *decoder);
/* Decodes `count` (<= BATCH_ROWS) record values; row i of the batch is value i. No value may be
 * STR_NULL. A value that does not fit the columns is noted in `errors` (MALFORMED_RECORD, naming
 * column, byte position and reason) and its row is not selected. Strings of the batch may point
 * into the values, which must live as long as the batch. */
void decoder_decode(Decoder *decoder, const Str *values, size_t count, Arena *batch_arena,
                    RowErrors *errors, Batch **ret_batch);

/* Appends one row as a JSON object: columns in declared order, nulls written, exact numbers (DESIGN
 * section 5). What decoder_decode reads back is the same row. */
void json_encode_row(const Batch *batch, uint32_t row, Buffer *out);
/* The message key: an object of the columns, nulls explicit; ordinal > 0 adds "_row": ordinal. */
void json_encode_key(const Field *fields, Vector *const *columns, size_t count, uint32_t row,
                     uint32_t ordinal, Buffer *out);
/* Appends one value. */
void json_encode_value(const Vector *vector, uint32_t row, Buffer *out);

/* Reads a message key written by json_encode_key: appends the values to `columns` (types of
 * `fields`) and gives the ordinal (0 when there is no _row). STATE_CORRUPT when it is no such key.
 */
NODISCARD Error *json_decode_key(const Field *fields, size_t count, Str key, Arena *arena,
                                 Vector **columns, uint32_t *ret_ordinal);

DEFINE_AUTO(decoder, Decoder, decoder_close)

#endif
