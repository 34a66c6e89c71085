/* Time. A Clock is injectable: the system's, or a fixed instant that tests move (KM-22). Durations
 * are measured with clock_monotonic_ms, which no Clock changes. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"

typedef struct Clock {
    bool fixed;
    int64_t fixed_us; /* microseconds since 1970-01-01T00:00:00Z; when fixed */
} Clock;

/* Microseconds since the epoch, UTC. clock == NULL: the system's clock. */
int64_t clock_now_us(const Clock *clock);
/* Since some fixed moment; for durations. */
int64_t clock_monotonic_ms(void);
int64_t clock_monotonic_us(void);
/* Sleeps; returns early on a signal. */
void clock_sleep_ms(int64_t milliseconds);
/* Appends RFC 3339 UTC with milliseconds: 2026-03-01T00:00:00.000Z. */
void clock_format_utc(int64_t time_us, Buffer *out);

#endif
