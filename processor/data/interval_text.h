/* Intervals to and from text, for this room (value_text.c) and the binder's literals. A value is
 * months (YEAR to MONTH) or microseconds (DAY to SECOND); the type says which fields it has. */
#ifndef DATA_INTERVAL_TEXT_H
#define DATA_INTERVAL_TEXT_H

#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/base/error.h"
#include "processor/data/type.h"

/* CAST(text AS type): the fields of the type, "1-2", "-3", "1 02:03:04.5", or a whole literal of
 * just those fields, INTERVAL '1-2' YEAR TO MONTH. INVALID_INTERVAL_FORMAT… as Spark says. */
NODISCARD Error *interval_parse(Str text, const Type *type, int64_t *ret_value);
/* The same without the whole literal: the text of INTERVAL '1-2' YEAR TO MONTH. */
NODISCARD Error *interval_parse_fields(Str text, const Type *type, int64_t *ret_value);

/* Numbers of units added up: "3 days -4 hours", with or without INTERVAL in front. */
typedef struct IntervalUnits {
    int64_t months; /* an int32 */
    int64_t days;   /* an int32 */
    int64_t us;
    unsigned fields; /* 1 << IntervalField of every unit named; weeks are days, parts of seconds
                      * seconds */
} IntervalUnits;
NODISCARD Error *interval_parse_units(Str text, IntervalUnits *ret);

/* INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 02:03:04.5' DAY TO SECOND (Spark's CAST AS STRING). */
void interval_format(int64_t value, const Type *type, Buffer *out);

#endif
