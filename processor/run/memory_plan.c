/* Dividing state.memory.
 *
 * The changes of a flow exist up to eight times epoch_max: one epoch in hand, one being committed,
 * twice checkpoint_max waiting, as much being written, what is spare of all that. */
#include "processor/run/memory_plan.h"

#include "processor/base/banned.h"

enum {
    /* Sixteenths of the whole. */
    STORE_PART = 2,
    CONSUMER_PART = 2,
    PRODUCER_PART = 1,
    KEY_TABLE_PART = 5,
    CHANGES_PART = 5,
    /* What malloc and the client library take beside what is counted here. */
    UNCOUNTED_PART = 1,
    /* Of the changes. */
    EPOCHS = 8,
    CHECKPOINTS = 4,
    RESTORE_RUNS = 3, /* two, and the file that is made of one */
};

_Static_assert(STORE_PART + CONSUMER_PART + PRODUCER_PART + KEY_TABLE_PART + CHANGES_PART +
                       UNCOUNTED_PART ==
                   16,
               "the parts are the whole");

static size_t smaller(size_t a, int64_t b)
{
    return (int64_t)a < b ? a : (size_t)b;
}

MemoryPlan memory_plan(const Topology *topology, size_t flows)
{
    size_t part = (size_t)topology->state.memory_bytes / 16;
    size_t flow_part = part / (flows == 0 ? 1 : flows);
    size_t changes = flow_part * CHANGES_PART;
    return (MemoryPlan){
        .store = part * STORE_PART,
        .key_table = flow_part * KEY_TABLE_PART,
        .consumer_queue = flow_part * CONSUMER_PART,
        .producer_queue = flow_part * PRODUCER_PART,
        .restore_run = changes / RESTORE_RUNS,
        .epoch_max = smaller(changes / EPOCHS, topology->commit.max_bytes),
        .checkpoint_max = smaller(changes / CHECKPOINTS, topology->state.checkpoint_bytes),
    };
}
