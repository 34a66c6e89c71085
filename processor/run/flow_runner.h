/* FlowRunner: one flow at work. Consume, decode, query, expectations, flow, transaction; start,
 * abort, recovery (DESIGN sections 4 and 6). All of it happens on one thread, step after step;
 * beside it a closed epoch is committed and a checkpoint written. Thread: one, the flow's. */
#ifndef RUN_FLOW_RUNNER_H
#define RUN_FLOW_RUNNER_H

#include <stdatomic.h>

#include "processor/run/events.h"
#include "processor/run/memory_plan.h"
#include "processor/run/metrics.h"
#include "processor/run/table.h"

typedef struct FlowRunner FlowRunner;

/* What the runners of a pipeline share. */
typedef struct RunContext {
    const Program *program;
    Log *log;
    State *state;
    EventLog *events;
    const Clock *clock;
    const char *instance;
    const char *progress_topic;
    const char *quarantine_topic;
    size_t batch_rows; /* 1 … BATCH_ROWS */
    bool one_epoch;    /* a triggered update is one epoch, however large (scenario files) */
    bool inline_work;  /* commits and checkpoints on the flow's thread: deterministic */
    MemoryPlan memory;
    int timeout_ms;                /* of a call to the log */
    int attempts_max;              /* of a step that may heal; < 0: for ever */
    const atomic_bool *stop;       /* the process's; NULL: never */
    const atomic_bool *stop_flows; /* the pipeline's: something concerns all flows */
    void (*on_restore)(void *context, const RestoreProgress *progress);
    void *on_restore_context;
    Metrics *metrics; /* NULL: nobody looks */
} RunContext;

/* `context` and `table` must outlive the runner. Touches nothing yet. */
FlowRunner *flow_runner_new(const RunContext *context, const ProgramTable *table);
/* Drops everything; nothing is flushed or committed. */
void flow_runner_free(FlowRunner *runner);
/* Lets go of the state, before it is closed and opened again: the epoch in hand never was, and the
 * flow starts anew with its next work. */
void flow_runner_release(FlowRunner *runner);

/* A full refresh comes next: what is stored may be of a definition that the program's does not fit.
 * Before its start; flow_runner_reset must follow. */
void flow_runner_expect_reset(FlowRunner *runner);

/* Ends the transaction an earlier process of the flow may have left open. First of all flows, then
 * start them: the open transaction of one would keep the others from reading their progress. A
 * failure may be dropped, the start tries again. */
NODISCARD Error *flow_runner_fence(FlowRunner *runner);
/* Fences predecessors, reads progress, restores the table, opens the source; writes the claim and a
 * changed definition. What may heal is retried (attempts_max). */
NODISCARD Error *flow_runner_start(FlowRunner *runner, const char *update_id);

typedef struct UpdateLimits {
    size_t records_max; /* at most so many records; 0: all up to the ends */
} UpdateLimits;

/* One triggered update: everything up to the last stable offsets of now. *ret_drained false when
 * records_max cut it short. On an error the epoch in hand is undone, earlier ones stay. */
NODISCARD Error *flow_runner_update(FlowRunner *runner, const char *update_id,
                                    const UpdateLimits *limits, bool *ret_drained);
/* Runs until it is told to stop. A failure that is the user's to mend is returned after its events.
 */
NODISCARD Error *flow_runner_run(FlowRunner *runner, const char *update_id);
/* Empties the table and puts the positions back (RU-52); an update must follow. Resumable. */
NODISCARD Error *flow_runner_reset(FlowRunner *runner, const char *update_id);

/* Nothing will run the flow again: `error` says why (NULL: a stop). For those who watch. */
void flow_runner_ended(FlowRunner *runner, const Error *error);

/* Counts of the update in hand. */
const FlowMetrics *flow_runner_metrics(const FlowRunner *runner);
const ProgramTable *flow_runner_table(const FlowRunner *runner);
/* For reads between updates (tests, `state`): the table's store after a checkpoint. */
NODISCARD Error *flow_runner_checkpoint(FlowRunner *runner);
Table *flow_runner_table_state(FlowRunner *runner);

#endif
