/* Worker: a thread beside a flow that does one piece of work at a time. The flow gives it work,
 * goes on, and takes the result when it is there.
 *
 * Thread: the functions are for one thread, the flow's; `work` runs on the worker's own. What the
 * work reads and writes belongs to it from worker_give until worker_take has returned. */
#ifndef RUN_WORKER_H
#define RUN_WORKER_H

#include <stdbool.h>

#include "processor/base/error.h"

typedef struct Worker Worker;

/* `name`: of the thread, as tools show it, at most 15 characters; a literal.
 * Inline: there is no thread, the work is done in worker_give (deterministic; tests). A thread is
 * made with the first work; when none can be had the work is done inline. */
Worker *worker_new(const char *name, bool is_inline);
/* Waits for work under way and drops its result. */
void worker_free(Worker *worker);

/* The worker must not be busy. */
void worker_give(Worker *worker, Error *(*work)(void *context), void *context);
/* Work was given and its result not taken yet. */
bool worker_is_busy(Worker *worker);
/* Busy, and the work is done: taking the result will not wait. */
bool worker_is_done(Worker *worker);
/* Waits for the work and gives its result. */
NODISCARD Error *worker_take(Worker *worker);

#endif
