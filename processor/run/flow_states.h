/* FlowStates: what the operators of a flow's query remember, each state a table (exec/stream.h).
 * They go the way of the target table: restored at a start, published in the flow's transactions,
 * undone with its epochs, written by its checkpoints. Thread: the flow's, but for what
 * is said to run beside it. */
#ifndef RUN_FLOW_STATES_H
#define RUN_FLOW_STATES_H

#include "processor/exec/stream.h"
#include "processor/run/flow_writer.h"
#include "processor/run/table.h"

typedef struct FlowStates FlowStates;

typedef struct FlowStatesOptions {
    const ProgramTable *program; /* of the flow */
    const TimeZone *time_zone;
    State *state;
    Log *log;
    size_t key_memory; /* of each */
    size_t epoch_memory;
    size_t batch_rows;
    int timeout_ms;
    int64_t now_us;
    Arena *arena; /* of one start */
} FlowStatesOptions;

/* Partitions of their topics, by number of the state. */
NODISCARD Error *flow_states_partitions(Log *log, const ProgramTable *program, int timeout_ms,
                                        int *ret_partitions);

/* Opens and restores them; the writer learns their ends (its table 0 is the target, 1 the first
 * state). FULL_REFRESH_REQUIRED when the query changed so that what was remembered is of no use. */
NODISCARD Error *flow_states_open(const FlowStatesOptions *options, const Progress *progress,
                                  FlowWriter *writer, FlowStates **ret_states);
void flow_states_close(FlowStates *states);
/* Would opening refuse what is stored of them? FULL_REFRESH_REQUIRED. */
NODISCARD Error *flow_states_check(const ProgramTable *program, const ProgressState *stored,
                                   size_t count, Arena *arena);
size_t flow_states_count(const FlowStates *states);
Overlay *flow_states_overlay(const FlowStates *states, size_t number);
/* For the query: as plan->states. */
OperatorState *flow_states_operators(const FlowStates *states, Arena *arena);

/* In a transaction: definitions that are new. */
bool flow_states_are_new(const FlowStates *states);
NODISCARD Error *flow_states_write_definitions(const FlowStates *states, FlowWriter *writer);

void flow_states_close_epoch(FlowStates *states);
/* On the committer: the deltas of the closed epoch, before the target's. */
NODISCARD Error *flow_states_write_delta(const FlowStates *states, FlowWriter *writer);
void flow_states_commit(FlowStates *states, const FlowWriter *writer);
void flow_states_abort(FlowStates *states);

/* A full refresh: tombstones for every record of their topics, in transactions of at most `rows`
 * records. They need not be open. */
NODISCARD Error *flow_states_remove(const FlowStatesOptions *options, FlowWriter *writer,
                                    int64_t rows);
/* In its last transaction: definitions under which what lies before the writer's ends is over. */
NODISCARD Error *flow_states_write_fresh(const FlowStatesOptions *options, FlowWriter *writer);

#endif
