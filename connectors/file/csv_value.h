/* Typed values of CSV fields. */
#ifndef FILE_CSV_VALUE_H
#define FILE_CSV_VALUE_H

#include "processor/data/datetime.h"
#include "processor/data/vector.h"

/* Appends the text's value; STR_NULL is NULL. False when the text is no value of the type: the
 * vector is as it was. */
bool csv_append_value(Vector *vector, Str text, const TimeZone *zone, Arena *arena);
/* May a column of a CSV file have this type? */
bool csv_has_type(const Type *type);

#endif
