/* What the files of FlowRunner share: flow_runner.c (life, loops), flow_start.c (start order,
 * recovery), flow_epoch.c (records to overlay), flow_commit.c (overlay to log), flow_checkpoint.c
 * (overlay to store), flow_reset.c. */
#ifndef RUN_FLOW_RUNNER_INTERNAL_H
#define RUN_FLOW_RUNNER_INTERNAL_H

#include "connectors/format/format.h"
#include "processor/exec/query.h"
#include "processor/flow/flow.h"
#include "processor/run/expectations.h"
#include "processor/run/flow_inputs.h"
#include "processor/run/flow_runner.h"
#include "processor/run/flow_states.h"
#include "processor/run/flow_writer.h"
#include "processor/run/quarantine.h"
#include "processor/run/source_reader.h"
#include "processor/run/static_table.h"
#include "processor/run/worker.h"

/* A closed epoch on its way into the log. The committer's, while it is busy. */
typedef struct FlowCommit {
    const Epoch *epoch;
    int64_t number;   /* in the progress topic */
    int64_t begun_us; /* the clock before its transaction */
    Quarantine *quarantine;
    FlowMetrics metrics;
    char update_id[64];
    bool failed; /* it is undone with the epoch in hand */
} FlowCommit;

struct FlowRunner {
    const RunContext *context;
    const ProgramTable *program;
    Arena *arena;       /* of the runner: names */
    Arena *start_arena; /* of one start: progress, table */
    Arena *batch_arena;
    const char *flow_id;
    FlowMeter *meter; /* NULL: nobody looks */

    FlowWriter *writer;
    FlowInputs *inputs;
    Table *table;
    FlowStates *states;
    StaticTable **statics; /* as program->statics; NULL before the first refresh */
    int64_t statics_ms;    /* when they were refreshed */
    Arena *query_arena;
    StreamContext stream; /* of the query, in query_arena */
    Query *query;         /* NULL: to be opened before the next batch */
    Expectations *expectations;
    Flow *flow;
    Quarantine *quarantine;

    int64_t now_us;          /* the clock of the query */
    int64_t epoch;           /* last committed */
    bool started;            /* the last start went through to its end, and no error undid it */
    bool resetting;          /* a full refresh was under way at the start */
    bool rebuild;            /* one is to come: the table is opened as it is stored */
    bool warm;               /* the keys of the state are in memory, or do not fit */
    bool claimed;            /* our claim is in the progress topic: any other there is newer */
    bool lost;               /* the flow was taken over, or fenced again and again: it must end */
    bool fenced_ahead;       /* `writer` was opened by flow_fence and not used yet */
    bool unclear;            /* the last commit ended unclear: the next start settles it */
    int64_t claim_offset;    /* where; 0: not read back yet */
    int fenced;              /* times, since the last commit */
    int checkpoint_failures; /* in a row */
    int64_t epoch_started_ms;
    int64_t last_commit_ms;
    int64_t last_event_ms;
    int64_t last_refresh_ms;
    int64_t last_checkpoint_ms;
    size_t bad_records_reported;

    FlowMetrics epoch_metrics; /* of the epoch in hand: dropped with it */
    FlowMetrics metrics;       /* of the update: committed epochs */
    /* Of the epoch whose commit was asked for and not confirmed: counted when a start finds it
     * committed. unclear_epoch 0: none. */
    FlowMetrics unclear_metrics;
    int64_t unclear_epoch;
    uint64_t warned_null_sequences;

    Worker *committer;
    FlowCommit commit;
    Worker *checkpointer;
    bool *checkpoint_begun;  /* by whom: the target, then the states */
    size_t checkpoint_bytes; /* of the checkpoint under way */
    int64_t committed_us;    /* at that time nobody else had written to the topics (FlowCommit) */
    int64_t checkpoint_us;   /* the same, of the checkpoint under way */
    int64_t checkpoint_retry_ms;
    bool warned_unbounded; /* of states: once, whatever starts follow */
};

/* flow_start.c */
NODISCARD Error *flow_fence(FlowRunner *runner);
/* Starts, or starts again whatever was before; what may heal is retried. */
NODISCARD Error *flow_start(FlowRunner *runner, const char *update_id);
/* After an error: undoes the epoch and makes the runner fit to go on. NULL: it is started, try
 * again; else the error that must go up (then runner->started may be false). Takes `error` over.
 * *attempt counts tries without progress. */
NODISCARD Error *flow_recover(FlowRunner *runner, const char *update_id, Error *error,
                              int *attempt);
bool flow_must_stop(const FlowRunner *runner);
/* Waits, shorter when told to stop. */
void flow_wait_ms(const FlowRunner *runner, int64_t milliseconds);

/* What all tables of the flow hold, the target and the states of its operators. */
size_t flow_key_bytes(const FlowRunner *runner);
size_t flow_epoch_bytes(const FlowRunner *runner);
size_t flow_epoch_rows(const FlowRunner *runner);

/* flow_start.c */
FlowStatesOptions flow_states_options(const FlowRunner *runner, Arena *arena);

/* flow_query.c */
/* Opens what turns records into rows of the target, where it is not open. */
NODISCARD Error *flow_query_open(FlowRunner *runner);
void flow_query_close(FlowRunner *runner);
/* Before batches of the input's scans are pushed: the partition each row is of. */
void flow_query_note_input(FlowRunner *runner, const FlowInput *input, const int32_t *partitions);
/* Brings the static relations up to now: what the query reads from its next batch on. */
NODISCARD Error *flow_statics_refresh(FlowRunner *runner);
/* The same in a continuous update, not too often. */
NODISCARD Error *flow_statics_follow(FlowRunner *runner);
/* The query's operators may have gone on from what an abort undid: the next batch opens it anew. */
void flow_query_forget(FlowRunner *runner);

/* flow_epoch.c */
/* Reads at most records_max records and applies them to the overlay; *ret_count: how many. */
NODISCARD Error *flow_process(FlowRunner *runner, const char *update_id, int timeout_ms,
                              size_t records_max, size_t *ret_count);
void flow_set_now(FlowRunner *runner);

/* flow_commit.c */
/* In a transaction: how far the inputs go with the closed epoch. */
NODISCARD Error *flow_write_positions(FlowRunner *runner, int64_t epoch, Str update);
void flow_report_positions(const FlowRunner *runner);
/* To the meter: at each epoch's end, and when there is nothing to do. None may be under way. */
void flow_report_memory(const FlowRunner *runner);
/* Closes the epoch in hand and begins its commit; nothing moved: does nothing. None may be under
 * way. */
void flow_commit_begin(FlowRunner *runner, const char *update_id);
bool flow_commit_is_under_way(const FlowRunner *runner);
/* Waits for the commit under way, if any, and takes its result. An error: neither the closed epoch
 * nor the one in hand can stay. */
NODISCARD Error *flow_commit_finish(FlowRunner *runner);
/* The same when that does not wait, else nothing. */
NODISCARD Error *flow_commit_poll(FlowRunner *runner);
/* Commits everything in hand and waits for it. */
NODISCARD Error *flow_commit(FlowRunner *runner, const char *update_id);
/* The epochs in hand and closed never were: overlay, quarantine and counters dropped. No commit may
 * be under way. The reader is rewound by the caller. */
void flow_drop_epoch(FlowRunner *runner);
void flow_metrics_clear(FlowMetrics *metrics, size_t expectation_count);
/* A start has read how far the flow has come: was the unclear epoch committed? */
void flow_settle_unclear(FlowRunner *runner, const Progress *progress);

/* flow_checkpoint.c */
/* Begins a checkpoint when one is due, ends one that is finished. */
NODISCARD Error *flow_checkpoint_step(FlowRunner *runner);
/* Waits for a checkpoint under way; its failure is returned. */
NODISCARD Error *flow_checkpoint_wait(FlowRunner *runner);
/* Writes what is committed, and waits for it; none may be under way. */
NODISCARD Error *flow_checkpoint_now(FlowRunner *runner);

#endif
