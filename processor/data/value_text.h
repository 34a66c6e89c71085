/* One value to and from text: how SQL casts between STRING and the other types (Spark 4, ANSI), how
 * scenario files and command lines give values, how tables are printed. */
#ifndef DATA_VALUE_TEXT_H
#define DATA_VALUE_TEXT_H

#include "processor/data/datetime.h"
#include "processor/data/vector.h"

/* Appends the value of `text` to `vector` as CAST(text AS type) reads it (white space trimmed where
 * Spark trims). CAST_INVALID_INPUT as Spark words it, NUMERIC_VALUE_OUT_OF_RANGE for decimals that
 * do not fit (NUMERIC_OUT_OF_SUPPORTED_RANGE beyond 38 digits), INVALID_INTERVAL_FORMAT for
 * intervals. STRING takes the text as it is; ARRAY, MAP, STRUCT are refused. String bytes are
 * shared. */
NODISCARD Error *value_parse(Str text, const TimeZone *zone, Arena *arena, Vector *vector);
/* Appends the text of a value as CAST(value AS STRING) prints it: doubles in Java's shortest form
 * (1.0, 1.0E10, NaN, Infinity), arrays [1, 2], structs {1, x}, maps {k -> v}, nulls inside as null;
 * a NULL itself prints as "NULL". */
void value_format(const Vector *vector, uint32_t row, const TimeZone *zone, Buffer *out);
/* Java's Double.toString / Float.toString (JDK 19+ shortest form, as Spark 4 prints). */
void double_format(double number, Buffer *out);
void float_format(float number, Buffer *out);
/* The same to memory with room for DOUBLE_TEXT_MAX bytes; they return the end of the text. */
enum { DOUBLE_TEXT_MAX = 32 };
char *double_put(char *to, double number);
char *float_put(char *to, float number);
/* Decimal text of an integer or double (NaN, Infinity, -Infinity in any case); whole text or false.
 */
bool double_parse(Str text, double *ret_number);

#endif
