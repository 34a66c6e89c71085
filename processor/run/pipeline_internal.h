/* What pipeline.c and pipeline_state.c share. */
#ifndef RUN_PIPELINE_INTERNAL_H
#define RUN_PIPELINE_INTERNAL_H

#include "processor/base/uuid.h"
#include "processor/run/pipeline.h"

struct Pipeline {
    RunContext context;
    const TopologyRetry *retry;
    Arena *arena;
    char instance[UUID_TEXT_SIZE];
    const char *state_dir;
    State *state; /* NULL while it is mended */
    EventLog *events;
    const Program *given; /* context.program: the same over what is stored of its tables */
    FlowRunner **flows;
    size_t flow_count;
    atomic_bool stop_flows; /* set with the caller's stop, or when something concerns all flows */
};

/* pipeline.c */
bool pipeline_must_stop(const Pipeline *pipeline);
/* Waits, shorter when told to stop. */
void pipeline_wait_ms(const Pipeline *pipeline, int64_t milliseconds);

/* pipeline_redefine.c */
/* context.program from the given one and what is stored; tables of `rebuilt` (a full refresh, or
 * NULL) do not count as stored. */
NODISCARD Error *pipeline_load_over_stored(Pipeline *pipeline, const UpdateRequest *rebuilt);
bool pipeline_is_selected(const Pipeline *pipeline, const UpdateRequest *request, size_t table);
/* Every selected table allows a full refresh. */
NODISCARD Error *pipeline_check_reset(const Pipeline *pipeline, const UpdateRequest *request);

/* pipeline_state.c. Thread: the pipeline's, while no flow runs; but pipeline_is_state_error: any.
 */
NODISCARD Error *pipeline_open_state(Pipeline *pipeline, bool *ret_rebuilt);
void pipeline_close_state(Pipeline *pipeline);
/* The event of a state that was found damaged when it was opened. */
void pipeline_tell_rebuilt(Pipeline *pipeline);
/* The state failed, not what the flow did with it: damage, a full or broken disk. */
bool pipeline_is_state_error(const Error *error);
/* Is it worth while to mend it? `attempt` counts tries in a row, from 1. */
bool pipeline_can_mend(const Pipeline *pipeline, const Error *error, int attempt);
/* Closes the state and opens it again, or makes it anew when it is damaged; waits for the disk as
 * long as it takes. After it no flow is started: they start again with their next work. Takes
 * `error` over. An error: a stop came first, or the directory is not ours any more. */
NODISCARD Error *pipeline_mend_state(Pipeline *pipeline, const char *update_id, Error *error,
                                     int attempt);

#endif
