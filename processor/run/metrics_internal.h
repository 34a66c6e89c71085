/* What the files of the metrics share. */
#ifndef RUN_METRICS_INTERNAL_H
#define RUN_METRICS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "processor/run/metrics.h"

typedef atomic_uint_least64_t Counter;

extern const char *const flow_state_names[FLOW_STATE_COUNT];

/* Upper bounds in microseconds; the last bucket has none. */
enum { HISTOGRAM_BOUNDS = 14 };
extern const int64_t histogram_bounds_us[HISTOGRAM_BOUNDS];

typedef struct Histogram {
    Counter buckets[HISTOGRAM_BOUNDS + 1]; /* each counted once, not cumulated */
    Counter sum_us;
} Histogram;

typedef struct ExpectationMeter {
    Counter passed;
    Counter failed;
} ExpectationMeter;

typedef struct PartitionMeter {
    int64_t committed;         /* next offset to be read, -1: unknown */
    int64_t end;               /* as last asked for, -1: unknown */
    int64_t last_timestamp_ms; /* of the last record applied, -1: unknown */
    int64_t caught_up_us;      /* when everything was last seen to be read, -1: not yet */
} PartitionMeter;

/* A topic that the flow reads. */
typedef struct SourceMeter {
    const char *topic;
    PartitionMeter *partitions;
    size_t partition_count;
    size_t partition_capacity;
} SourceMeter;

struct FlowMeter {
    Str flow;
    Str table;
    const BoundTable *bound; /* names of its expectations */

    atomic_int state;
    atomic_bool failing; /* an error came and nothing went well since */
    Counter rows_in;
    Counter rows_applied;
    Counter rows_upserted;
    Counter rows_deleted;
    Counter bytes_out;
    Counter rows_late;
    Counter rows_behind_watermark;
    Counter rows_quarantined;
    Counter rows_dropped;
    Counter rows_without_value;
    Counter rows_null_sequence;
    Counter epochs_committed;
    Counter epochs_aborted;
    Counter errors[ERROR_FATAL + 1]; /* by disposition */
    Counter starts;
    Counter checkpoints_written;
    Counter checkpoints_failed;
    Counter checkpoint_bytes;
    Histogram commit;
    Histogram checkpoint;
    atomic_int_least64_t epoch;
    atomic_int_least64_t last_commit_us; /* wall clock, 0: none yet */
    atomic_int_least64_t last_checkpoint_us;
    atomic_int_least64_t commit_began_us; /* monotonic, 0: none is under way */
    Counter restore_done;
    Counter restore_expected;
    Counter restore_elapsed_ms;
    atomic_int_least64_t memory[MEMORY_PART_COUNT]; /* -1: not reported */
    ExpectationMeter *expectations;

    pthread_mutex_t lock; /* protects what follows */
    SourceMeter *sources; /* as ProgramTable.inputs */
    size_t source_count;
    char detail[512]; /* the last error */
};

struct Metrics {
    const Program *program;
    int64_t created_us;
    atomic_int phase;
    atomic_int_least64_t memory[MEMORY_PART_COUNT];
    FlowMeter *flows;
    size_t flow_count;
    pthread_mutex_t lock; /* protects what follows */
    State *state;
    EventLog *events;
    char phase_detail[512];
};

/* Lag of one partition: records between what is committed and the end, and for how long the oldest
 * of them has waited at most. */
typedef struct Lag {
    uint64_t records;
    int64_t microseconds;
} Lag;
/* False: not known yet. Call with the meter's lock held. */
bool partition_lag(const PartitionMeter *partition, int64_t created_us, int64_t now_us,
                   Lag *ret_lag);

void flow_meter_init(FlowMeter *meter, const ProgramTable *table);
void flow_meter_done(FlowMeter *meter);

static inline uint64_t counter_get(const Counter *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
