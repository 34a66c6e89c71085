/* Dates and times as text in a pattern the user gives: Spark's, which are java.time's
 * DateTimeFormatter without what Spark refuses. A pattern is compiled once, for one direction. */
#ifndef DATA_DATETIME_PATTERN_H
#define DATA_DATETIME_PATTERN_H

#include "processor/base/arena.h"
#include "processor/data/datetime.h"

typedef struct DatePattern DatePattern;

/* Errors: INVALID_DATETIME_PATTERN…, INCONSISTENT_BEHAVIOR_CROSS_VERSION… where Spark 2 knew the
 * pattern. The pattern is copied. */
NODISCARD Error *date_pattern_compile(Arena *arena, Str pattern, bool parsing,
                                      const DatePattern **ret_pattern);
/* Appends the text of an instant in the zone. */
void date_pattern_format(const DatePattern *pattern, int64_t instant_us, const TimeZone *zone,
                         Buffer *out);
/* Reads the whole text. What the pattern leaves out is of 1970-01-01 00:00:00; without a zone in
 * the text it is `zone`. `local`: a local time is wanted, a zone in the text does not count. False
 * when the text does not fit. */
bool date_pattern_parse(const DatePattern *pattern, Str text, const TimeZone *zone, bool local,
                        int64_t *ret_us);
/* The text as Spark 2 would have read it with the pattern: can it be read at all? */
bool date_pattern_was_readable(const DatePattern *pattern, Str text);

#endif
