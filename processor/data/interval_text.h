/* Intervals to and from text, for this room (value_text.c) and the binder's literals. A value is
 * months (YEAR to MONTH) or microseconds (DAY to SECOND); the type says which fields it has. */
#ifndef DATA_INTERVAL_TEXT_H
#define DATA_INTERVAL_TEXT_H

#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/data/type.h"

/* Reads the fields of the type, "1-2", "-3", "1 02:03:04.5", or a whole literal of just those
 * fields, INTERVAL '1-2' YEAR TO MONTH. False when it is none or out of range. */
bool interval_parse(Str text, const Type *type, int64_t *ret_value);
/* INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04.5' DAY TO SECOND (Spark's CAST AS STRING). */
void interval_format(int64_t value, const Type *type, Buffer *out);

#endif
