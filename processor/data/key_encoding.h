/* Keys as bytes whose memcmp order is the values' order: nulls first and equal to each other,
 * numbers by value, strings by bytes, no key a prefix of another. Two keys are equal exactly when
 * their bytes are: NaN equals NaN and is the largest, -0.0 is written as 0.0 (RU-14, RU-15,
 * decisions "Sequence"). Types: type_is_orderable. Also used for sequences, one value. */
#ifndef DATA_KEY_ENCODING_H
#define DATA_KEY_ENCODING_H

#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/data/batch.h"

/* Appends the encoding of one value. */
void key_encode_value(const Vector *vector, uint32_t row, Buffer *out);
/* Appends the encoding of the columns' values in that row. */
void key_encode(Vector *const *columns, size_t column_count, uint32_t row, Buffer *out);
/* Appends the values to the columns (grown in `arena`, bytes copied there). STATE_CORRUPT when the
 * bytes are not such a key; the columns are then left as they were. */
NODISCARD Error *key_decode(Str key, Arena *arena, Vector **columns, size_t column_count);

#endif
