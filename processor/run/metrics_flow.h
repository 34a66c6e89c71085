/* FlowMeter: the numbers of one flow for operators. The flow's threads write, /metrics reads.
 *
 * A write costs some nanoseconds and comes once an epoch, start, error or checkpoint. NULL as meter
 * does nothing. Threads: any, at the same time. */
#ifndef RUN_METRICS_FLOW_H
#define RUN_METRICS_FLOW_H

#include "processor/run/events.h"

typedef struct FlowMeter FlowMeter;
typedef struct SourceReader SourceReader;

typedef enum FlowState {
    FLOW_WAITING,   /* its start has not begun */
    FLOW_STARTING,  /* fences, reads its progress */
    FLOW_RESTORING, /* its table is brought up to its topic */
    FLOW_RUNNING,
    FLOW_RETRYING, /* an error; it is tried again */
    FLOW_FAILED,   /* dead until the service is started again */
    FLOW_STOPPED,
} FlowState;
enum { FLOW_STATE_COUNT = FLOW_STOPPED + 1 };

/* What holds memory: X(constant, name in /metrics). A new part is one line here and a call of
 * flow_meter_set_memory or metrics_set_memory; a part nobody reports is not shown. */
#define MEMORY_PARTS(X)                                                                            \
    X(BLOCK_CACHE, "block_cache")     /* RocksDB: blocks, indexes, filters */                      \
    X(WRITE_BUFFERS, "write_buffers") /* RocksDB: memtables */                                     \
    X(OVERLAY, "overlay")             /* changes that are not in RocksDB yet */                    \
    X(KEY_TABLE, "key_table")         /* sequence and row count of keys */                         \
    X(QUARANTINE, "quarantine")       /* bad records of the epoch in hand */
typedef enum MemoryPart {
#define MEMORY_CONSTANT(constant, name) MEMORY_##constant,
    MEMORY_PARTS(MEMORY_CONSTANT)
#undef MEMORY_CONSTANT
        MEMORY_PART_COUNT
} MemoryPart;

void flow_meter_set_state(FlowMeter *meter, FlowState state);
FlowState flow_meter_state(const FlowMeter *meter);

/* A transaction of an epoch begins; it is known to be committed (the committer's thread may say so
 * before the flow gets around to it); or it ends with one of the next two. */
void flow_meter_begin_commit(FlowMeter *meter);
void flow_meter_end_commit(FlowMeter *meter);
/* The epoch is committed: its counts, once each. */
void flow_meter_add_epoch(FlowMeter *meter, int64_t epoch, const FlowMetrics *counts);
/* Something went wrong and will be tried again or not (flow_meter_set_state says so). `epoch_lost`:
 * an epoch was in hand and is undone. */
void flow_meter_add_error(FlowMeter *meter, const Error *error, bool epoch_lost);
/* A start found out what became of the epoch whose commit was unclear (its error was added without
 * `epoch_lost`). `counts`: it was committed; NULL: it was not. */
void flow_meter_settle_unclear(FlowMeter *meter, int64_t epoch, const FlowMetrics *counts);
/* A step went well and nothing is in hand: an error before is over. */
void flow_meter_set_idle(FlowMeter *meter);

/* Committed positions of input number `input` (ProgramTable.inputs). */
void flow_meter_set_positions(FlowMeter *meter, size_t input, const SourceReader *reader);
/* Where a partition of it ends now (from metrics_lag.h). */
void flow_meter_set_end(FlowMeter *meter, size_t input, int partition, int64_t end);

/* Offsets of the table's topic read by its restore, of about how many. */
void flow_meter_set_restore(FlowMeter *meter, uint64_t done, uint64_t expected, int64_t elapsed_ms,
                            bool finished);

/* A checkpoint of `bytes` was written, or failed. */
void flow_meter_add_checkpoint(FlowMeter *meter, int64_t elapsed_us, size_t bytes, bool written);

/* Bytes the flow holds now for that purpose. */
void flow_meter_set_memory(FlowMeter *meter, MemoryPart part, size_t bytes);

#endif
