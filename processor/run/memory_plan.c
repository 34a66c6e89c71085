/* Dividing state.memory.
 *
 * Key table and changes share: a table of many keys has smaller checkpoints, for a look-up in the
 * store costs more than what larger checkpoints save. The changes of a flow exist up to eight times
 * epoch_max: one epoch in hand, one being committed, twice checkpoint_max waiting, as much being
 * written, what is spare of all that. */
#include "processor/run/memory_plan.h"

#include "processor/base/banned.h"

enum {
    /* Sixteenths of the whole. */
    STORE_PART = 2,
    CONSUMER_PART = 2,
    PRODUCER_PART = 1,
    SHARED_PART = 10,   /* key table and changes */
    KEY_TABLE_PART = 8, /* of that, at most */
    /* What malloc and the client library take beside what is counted here. */
    UNCOUNTED_PART = 1,
    CHANGES_USUAL = 5, /* what the changes take of it while the key table leaves so much */
    /* Of the changes. */
    EPOCHS = 8,
    CHECKPOINTS = 4,
    RESTORE_RUNS = 3, /* two, and the file that is made of one */
};

_Static_assert(STORE_PART + CONSUMER_PART + PRODUCER_PART + SHARED_PART + UNCOUNTED_PART == 16,
               "the parts are the whole");

static size_t smaller(size_t a, int64_t b)
{
    return (int64_t)a < b ? a : (size_t)b;
}

MemoryPlan memory_plan(const Topology *topology, size_t flows)
{
    size_t part = (size_t)topology->state.memory_bytes / 16;
    size_t flow_part = part / (flows == 0 ? 1 : flows);
    return (MemoryPlan){
        .store = part * STORE_PART,
        .shared = flow_part * SHARED_PART,
        .key_table = flow_part * KEY_TABLE_PART,
        .consumer_queue = flow_part * CONSUMER_PART,
        .producer_queue = flow_part * PRODUCER_PART,
        .restore_run = flow_part * CHANGES_USUAL / RESTORE_RUNS,
        .commit_bytes = topology->commit.max_bytes,
        .checkpoint_bytes = topology->state.checkpoint_bytes,
    };
}

/* Beside a small key table no more than half: the memory is a bound, not a wish. */
static size_t changes_beside(const MemoryPlan *plan, size_t key_table_bytes)
{
    size_t least = plan->shared - plan->key_table;
    size_t most = plan->shared / SHARED_PART * CHANGES_USUAL;
    size_t left = key_table_bytes < plan->shared ? plan->shared - key_table_bytes : 0;
    left = left < most ? left : most;
    return left < least ? least : left;
}

size_t memory_plan_epoch_max(const MemoryPlan *plan, size_t key_table_bytes)
{
    return smaller(changes_beside(plan, key_table_bytes) / EPOCHS, plan->commit_bytes);
}

size_t memory_plan_checkpoint_max(const MemoryPlan *plan, size_t key_table_bytes)
{
    return smaller(changes_beside(plan, key_table_bytes) / CHECKPOINTS, plan->checkpoint_bytes);
}
