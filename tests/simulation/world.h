/* World: one run. It draws a topology, feeds records, lets things happen to processes, disks and
 * the broker, then stops all that and demands that everything fed arrives, once, and that every
 * topic tells the same story. */
#ifndef TESTS_SIMULATION_WORLD_H
#define TESTS_SIMULATION_WORLD_H

#include <stdbool.h>
#include <stdint.h>

/* What a run saw; summed up over all runs, so that a reader sees what is exercised. */
#define WORLD_COUNTS(X)                                                                            \
    X(records)                                                                                     \
    X(epochs)                                                                                      \
    X(steps)                                                                                       \
    X(virtual_ms)                                                                                  \
    X(lives)                                                                                       \
    X(crashes)                                                                                     \
    X(takeovers)                                                                                   \
    X(freezes)                                                                                     \
    X(outages)

typedef struct WorldResult {
#define X(name) uint64_t name;
    WORLD_COUNTS(X)
#undef X
} WorldResult;

/* In the current directory, which is empty. False: the trace says what is wrong. Once a process. */
bool world_run(uint64_t seed, WorldResult *ret_result);

#endif
