/* Events as a person reads them: one line each. */
#ifndef RUN_EVENT_PRINT_H
#define RUN_EVENT_PRINT_H

#include "processor/base/arena.h"
#include "processor/base/buffer.h"

/* Appends "12:00:01.250 INFO  flow_progress  Flow 'x' is COMPLETED. 5 rows in, …" without a
 * newline; a text that is no event is appended as it is. */
void event_print(Str event_json, Arena *arena, Buffer *out);

#endif
