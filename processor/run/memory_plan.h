/* How `state.memory` is divided: everything that holds rows takes its part of it (DESIGN section 4,
 * "Memory"). Beside it there are a few MiB of code, plans, batches in hand and the client library.
 */
#ifndef RUN_MEMORY_PLAN_H
#define RUN_MEMORY_PLAN_H

#include "config/topology.h"

typedef struct MemoryPlan {
    size_t store; /* of the process: RocksDB's blocks, buffers and files being written */
    /* Of one flow: */
    size_t key_table;
    size_t consumer_queue;
    size_t producer_queue;
    /* One of the two runs of a restore, in place of changes: there are none yet. */
    size_t restore_run;
    /* An epoch in hand is closed when it has so many bytes. */
    size_t epoch_max;
    /* What waits for a checkpoint begins one at so many bytes, and the flow waits at twice. */
    size_t checkpoint_max;
} MemoryPlan;

/* `flows`: that share the process. commit.max_bytes and state.checkpoint_bytes can make the last
 * two smaller, not larger. */
MemoryPlan memory_plan(const Topology *topology, size_t flows);

#endif
