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
    X(outages)                                                                                     \
    X(small_tables)     /* runs with a key table of a few keys; in them: */                        \
    X(archived)         /* keys put away */                                                        \
    X(archived_writing) /* … while a checkpoint was being written */                               \
    X(archived_restore) /* … while a table was read from its topic */                              \
    X(archived_warming) /* … while the keys of a state came into memory */                         \
    X(archive_full)     /* … in place of another key, or not at all */                             \
    X(archive_aborts)   /* aborts in a process that had put keys away */                           \
    X(came_back)        /* keys that were put away and asked for */

typedef struct WorldResult {
#define X(name) uint64_t name;
    WORLD_COUNTS(X)
#undef X
} WorldResult;

/* In the current directory, which is empty. False: the trace says what is wrong. Once a process. */
bool world_run(uint64_t seed, WorldResult *ret_result);

#endif
