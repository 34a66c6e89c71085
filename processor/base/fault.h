/* Named fault points: places where a test can make the program die or fail. Nothing is armed in
 * normal use and a check costs one load. A test arms one point (by API, or by the environment
 * variable TIDEMARK_FAULT=name[:nth][:kill|crash|error]) to act at its nth passing:
 *
 * - kill: the process kills itself with SIGKILL (tests with a real broker)
 * - crash: fault_check returns SIMULATED_CRASH (fatal); the caller drops everything unflushed
 * - error: fault_check returns a retriable KAFKA_TIMED_OUT
 *
 * Thread: any. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdatomic.h>
#include <stddef.h>

#include "processor/base/compiler.h"
#include "processor/base/error.h"

typedef enum FaultAction { FAULT_KILL, FAULT_CRASH, FAULT_ERROR } FaultAction;

/* Every point of the program, so that a test can go through all of them. */
extern const char *const fault_names[];
extern const size_t fault_name_count;

extern atomic_bool fault_armed;

/* Arms `name` to act at its nth passing from now (1 = the next). Replaces what was armed. */
void fault_arm(const char *name, unsigned nth, FaultAction action);
/* Nothing is armed any more. */
void fault_disarm(void);
/* Reads TIDEMARK_FAULT; an error names a mistake in it. */
NODISCARD Error *fault_arm_from_environment(void);
/* Asked at every passing of every point before what is armed; an Error it gives is returned there.
 * NULL removes it. Set it while no other thread passes a point. */
void fault_set_hook(Error *(*hook)(void *context, const char *name), void *context);
/* Counts the passing and acts when it is the one; called through fault_check. */
NODISCARD Error *fault_check_armed(const char *name);

/* TRY(fault_check("commit.after_produce")); names are listed in fault.c. */
#define fault_check(name)                                                                          \
    (UNLIKELY(atomic_load_explicit(&fault_armed, memory_order_relaxed)) ? fault_check_armed(name)  \
                                                                        : NULL)

#endif
