/* Numbers from text as Spark's casts read them, for this room (value_text.c). */
#ifndef DATA_NUMBER_TEXT_H
#define DATA_NUMBER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/base/str.h"

/* Without the bytes Spark's UTF8String.trimAll takes off both ends: white space and ASCII control
 * characters. */
Str text_trim_all(Str text);
/* Without what Java's String.trim takes off: everything up to the blank. */
Str text_trim_java(Str text);

/* A sign and digits, the whole text. */
bool int64_parse(Str text, int64_t *ret_value);
/* Java's Double.parseDouble on text trimmed so (a suffix d or f, hexadecimal numbers), then Spark's
 * words in any case: inf, infinity, nan. */
bool double_parse_cast(Str text, double *ret_number);
/* The same rounded to a float once. */
bool float_parse_cast(Str text, float *ret_number);

/* A decimal text written without exponent, point moved (Java's BigDecimal.toPlainString); false
 * when it is no decimal or has more than 38 digits before the point. */
bool decimal_text_to_plain(Str text, Buffer *out);

#endif
