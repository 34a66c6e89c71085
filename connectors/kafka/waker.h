/* Waker: keeps librdkafka 2.0.2 fetching after its queue was full. Internal.
 *
 * When the fetch queue is full the library stops fetching and looks again only when its broker
 * thread wakes, which taking messages does not do: up to a second later. Any request wakes it, so a
 * thread of ours asks for a watermark when the reader says that the queue runs dry:
 *
 *     length    full ──╲        ╱──╲      growth stopped at `peak`; below 6/10 of it without
 *                       ╲______╱    ╲     growth for 5 ms and no end in sight: wake
 *
 * The reader's thread only looks at two numbers and signals. */
#ifndef KAFKA_WAKER_H
#define KAFKA_WAKER_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Waker Waker;

/* `keep` is held as long as the thread runs, and let go by `release(keep)` from it: a request may
 * be under way when the waker is closed, and is not waited for. */
Waker *waker_open(rd_kafka_t *rk, void (*release)(void *keep), void *keep);
void waker_close(Waker *waker);
/* After each poll, with the length of the queue and how many messages were taken. True: it is time
 * to call waker_wake. Thread: reader. */
bool waker_is_due(Waker *waker, size_t length, size_t taken);
/* Wakes the broker thread of the partition's leader. Thread: reader. Does not wait. */
void waker_wake(Waker *waker, const char *topic, int32_t partition);

#endif
