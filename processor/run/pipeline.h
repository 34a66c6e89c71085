/* Pipeline: one topology at work: topics, state, event log and a runner a flow; triggered and
 * continuous updates (DESIGN section 6). */
#ifndef RUN_PIPELINE_H
#define RUN_PIPELINE_H

#include <stdatomic.h>

#include "processor/run/flow_runner.h"

typedef struct Pipeline Pipeline;

typedef struct UpdateRequest {
    const Str *tables; /* names; NULL: all */
    size_t table_count;
    bool full_refresh;
    size_t records_max; /* a flow reads at most so many records; 0: all */
    const char *cause;
} UpdateRequest;

typedef struct PipelineOptions {
    const Program *program; /* outlives the pipeline */
    Log *log;               /* borrowed */
    const Clock *clock;     /* NULL: the system's */
    const char *state_dir;  /* NULL: the topology's */
    size_t batch_rows;      /* 0: BATCH_ROWS */
    bool one_epoch;
    bool inline_work;
    int timeout_ms;                    /* 0: 30 s */
    const UpdateRequest *full_refresh; /* the first update builds these tables anew: what is stored
                                          of them may be of another definition; NULL: none */
    int attempts_max;                  /* retries of what may heal; < 0: for ever; 0: none */
    const atomic_bool *stop;           /* NULL: never */
    void (*on_restore)(void *context, const RestoreProgress *progress);
    void *on_restore_context;
    Metrics *metrics; /* of the same program; NULL: nobody looks */
} PipelineOptions;

/* Prepares topics, opens state and event log, starts every flow. The program is bound over what is
 * stored of its tables (run/redefinition.h): FULL_REFRESH_REQUIRED, SCHEMA_MISMATCH. */
NODISCARD Error *pipeline_open(const PipelineOptions *options, Pipeline **ret_pipeline);
/* Drops everything, nothing is flushed: a restart resumes from the topics. */
void pipeline_close(Pipeline *pipeline);

typedef struct UpdateResult {
    char update_id[37];
    bool drained; /* no flow was cut short by records_max */
} UpdateResult;

/* One triggered update. Every selected flow is tried; the first failure is returned after all
 * events are stored. TABLE_OR_VIEW_NOT_FOUND for an unknown table; RESET_NOT_ALLOWED, before
 * anything happens, for a full refresh that a table's properties forbid. */
NODISCARD Error *pipeline_update(Pipeline *pipeline, const UpdateRequest *request,
                                 UpdateResult *ret_result);
/* The continuous update: a thread a flow, until *stop or until no flow can go on. A flow that fails
 * retries as `retry` says; the others go on. Returns the first final failure. */
NODISCARD Error *pipeline_serve(Pipeline *pipeline);

/* The program as it runs: the one given, or that over the tables there were. Until the next full
 * refresh. */
const Program *pipeline_program(const Pipeline *pipeline);
size_t pipeline_flow_count(const Pipeline *pipeline);
FlowRunner *pipeline_flow(Pipeline *pipeline, size_t index);

DEFINE_AUTO(pipeline, Pipeline, pipeline_close)

#endif
