/* Process: one life of the product on a host: opens a pipeline and runs it until it ends, is told
 * to stop, or dies. */
#ifndef TESTS_SIMULATION_PROCESS_H
#define TESTS_SIMULATION_PROCESS_H

#include <stdatomic.h>

#include "connectors/sim/sim.h"
#include "processor/run/pipeline.h"

typedef struct ProcessOptions {
    SimBroker *broker;
    const Program *program;
    size_t batch_rows;
    int timeout_ms;
    bool inline_work;
    bool triggered;     /* updates one after the other instead of a continuous one */
    size_t records_max; /* of such an update */
} ProcessOptions;

typedef struct Process {
    const ProcessOptions *options;
    int group;
    int host;
    atomic_bool stop;
    bool full_refresh; /* its first update is one; triggered */
    bool opened;
    bool ended; /* by itself; a dead process (scheduler_is_dead) never ends */
    bool buried;
    Error *error; /* why it ended, NULL: as told */
    Pipeline *pipeline;
} Process;

/* Starts a process on the disk of the host, which nobody uses. */
RETURNS_NONNULL Process *process_start(const ProcessOptions *options, int group, int host);

#endif
