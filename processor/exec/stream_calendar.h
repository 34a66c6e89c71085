/* A calendar of what an operator of a streaming query does when a watermark passes: forget a row,
 * give an unmatched one. Times are rounded up to full seconds: what is put in under a time is taken
 * once the watermark has reached the second behind it, and then all rows to come are later.
 *
 * Its state is a table (due BIGINT, side INT, key BINARY) with the key `due`, in seconds; beside
 * it the seconds in use are held in memory, sorted. Closed and opened again after an abort. */
#ifndef EXEC_STREAM_CALENDAR_H
#define EXEC_STREAM_CALENDAR_H

#include "processor/exec/stream.h"

typedef struct StreamCalendar StreamCalendar;

/* Reads what is in it. `state` must outlive it. */
NODISCARD Error *stream_calendar_open(const OperatorState *state, StreamCalendar **ret_calendar);
void stream_calendar_close(StreamCalendar *calendar);
/* Puts (side, key) in under the time, microseconds; both are the caller's. Twice the same stays
 * twice. */
NODISCARD Error *stream_calendar_add(StreamCalendar *calendar, int64_t time_us, uint32_t side,
                                     Str key);
/* Takes out what is in under the earliest second, if the watermark has reached it, and hands each
 * entry to `take`, which may add to the calendar (nothing that has passed) and must not keep `key`.
 * *ret_taken false: nothing is due. */
NODISCARD Error *stream_calendar_take(StreamCalendar *calendar, int64_t watermark_us, Arena *arena,
                                      Error *(*take)(void *context, uint32_t side, Str key,
                                                     Arena *arena),
                                      void *context, bool *ret_taken);

#endif
