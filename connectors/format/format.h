/* Formats: record bytes to column batches and back. One format a file; run/ sees this interface
 * only. Rules: spec/decisions.md "Records in", DESIGN section 5. */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "processor/data/batch.h"
#include "processor/data/datetime.h"
#include "processor/data/row_encoding.h"

typedef struct Decoder Decoder;

typedef enum FormatKind { FORMAT_JSON } FormatKind;

typedef struct DecoderOptions {
    FormatKind kind;
    const TimeZone
        *time_zone; /* session zone, for timestamps without one; must outlive the decoder */
    bool coerce;    /* the source says `coerce: true`: numbers may come as text */
    bool dates;     /* a timestamp may be a date alone, the beginning of that day: rows written when
                     * the column was a DATE */
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
 * `fields`, or narrower ones that widen to them) and gives the ordinal (0 when there is no _row). A
 * date alone is a timestamp in `date_zone`; NULL: it is none. STATE_CORRUPT when it is no such key.
 */
NODISCARD Error *json_decode_key(const Field *fields, size_t count, Str key,
                                 const TimeZone *date_zone, Arena *arena, Vector **columns,
                                 uint32_t *ret_ordinal);

/* ---- Stored bytes as JSON text, without vectors in between: what a table's writer needs. ----
 *
 * A writer is compiled once, lives in `arena` and is read-only afterwards: any number of threads
 * may use it, each with a buffer of its own. After an error (STATE_CORRUPT: the bytes are no key or
 * row) `out` is as it was. */

typedef struct JsonKeyWriter JsonKeyWriter;

/* For keys of these columns (the fields are copied, their types and names must outlive it). */
RETURNS_NONNULL JsonKeyWriter *json_key_writer_new(Arena *arena, const Field *fields, size_t count);
/* The bytes key_encode wrote -> the text json_encode_key writes for the same values. */
NODISCARD Error *json_key_write(const JsonKeyWriter *writer, Str key, uint32_t ordinal,
                                Buffer *out);
/* The text of a key with ordinal 0 -> the text of the same key with that ordinal (0: a copy). So a
 * key whose text was kept (its partition is a hash of that text) is never formatted again. */
void json_key_write_ordinal(Str text, uint32_t ordinal, Buffer *out);

typedef struct JsonRowWriter JsonRowWriter;

/* For rows of the history's newest version as it is now; the history must outlive the writer, which
 * is of no use once a version was added. */
RETURNS_NONNULL JsonRowWriter *json_row_writer_new(Arena *arena, const SchemaHistory *history);
/* The bytes row_encode wrote (under any version) -> the text json_encode_row writes for the same
 * row of the newest schema. Rows of older versions take a slower way. */
NODISCARD Error *json_row_write(const JsonRowWriter *writer, Str row, Buffer *out);

DEFINE_AUTO(decoder, Decoder, decoder_close)

#endif
