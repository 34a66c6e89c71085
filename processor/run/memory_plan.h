/* How `state.memory` is divided: everything that holds rows takes its part of it (DESIGN section 4,
 * "Memory"). Beside it there are a few MiB of code, plans, batches in hand and the client library.
 */
#ifndef RUN_MEMORY_PLAN_H
#define RUN_MEMORY_PLAN_H

#include "config/topology.h"

typedef struct MemoryPlan {
    size_t store; /* of the process: RocksDB's blocks, buffers and files being written */
    /* Of one flow: */
    size_t shared;    /* key table and changes together */
    size_t key_table; /* of that, at most */
    size_t consumer_queue;
    size_t producer_queue;
    /* One of the two runs of a restore, in place of changes: there are none yet. */
    size_t restore_run;
    int64_t commit_bytes;     /* commit.max_bytes */
    int64_t checkpoint_bytes; /* state.checkpoint_bytes */
} MemoryPlan;

/* `flows`: that share the process. */
MemoryPlan memory_plan(const Topology *topology, size_t flows);
/* Beside a key table of so many bytes, an epoch in hand is closed when it has so many; never more
 * than commit.max_bytes. */
size_t memory_plan_epoch_max(const MemoryPlan *plan, size_t key_table_bytes);
/* What waits for a checkpoint begins one at so many bytes, and the flow waits at twice; never more
 * than state.checkpoint_bytes. */
size_t memory_plan_checkpoint_max(const MemoryPlan *plan, size_t key_table_bytes);

#endif
