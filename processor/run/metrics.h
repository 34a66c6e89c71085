/* Metrics: what a running pipeline tells its operators. One object a process: the flows' meters,
 * the phase of the pipeline, memory by part. It is made from the program before anything is opened,
 * so that /metrics, /healthz and /readyz answer from the first moment and every series is there at
 * 0.
 *
 * Writers (the flows' threads) touch a meter once an epoch, never once a row: relaxed atomics, and
 * a lock for what cannot be one word. A reader may see an epoch half counted; each number by itself
 * is right. All functions here and in metrics_flow.h do nothing when given NULL, so that a runner
 * without metrics (tests, `--once`) needs no second way. Threads: any. */
#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include "processor/run/metrics_flow.h"
#include "processor/run/program.h"
#include "state/state.h"

typedef struct Metrics Metrics;

typedef enum PipelinePhase {
    PIPELINE_OPENING,       /* state, topics */
    PIPELINE_WAITING_KAFKA, /* the broker is away */
    PIPELINE_STARTING,      /* flows restore their tables */
    PIPELINE_RUNNING,
    PIPELINE_STOPPING,
} PipelinePhase;

/* `program` must outlive the metrics. */
Metrics *metrics_new(const Program *program);
void metrics_free(Metrics *metrics);

/* The meter of the program's table `index`; NULL of NULL. */
FlowMeter *metrics_flow(Metrics *metrics, size_t index);
size_t metrics_flow_count(const Metrics *metrics);

/* `detail` (may be NULL) says more: why Kafka is waited for. */
void metrics_set_phase(Metrics *metrics, PipelinePhase phase, const char *detail);
/* Where sizes of the state are asked for; NULL before it is closed. */
void metrics_set_state(Metrics *metrics, State *state);
/* Whose lost events are counted; NULL before it is closed. */
void metrics_set_events(Metrics *metrics, EventLog *events);
/* Bytes a part of the process holds now, for parts that belong to no flow. */
void metrics_set_memory(Metrics *metrics, MemoryPart part, size_t bytes);

/* Everything in Prometheus' text format 0.0.4. */
void metrics_write(Metrics *metrics, Buffer *out);

/* Is no flow dead? Appends a JSON object that says which one is, and why. */
bool metrics_is_healthy(Metrics *metrics, Buffer *out);
/* Has every flow finished its start, and do its commits go through? Appends a JSON object that
 * names what is waited for. */
bool metrics_is_ready(Metrics *metrics, Buffer *out);
/* The same on one line for people: "restoring bookings_current: 120000 of 500000 records". */
void metrics_describe(Metrics *metrics, Buffer *out);

DEFINE_AUTO(metrics, Metrics, metrics_free)

#endif
