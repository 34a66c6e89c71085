/* LagWatch: asks the log where the sources end, every few seconds, on a thread of its own. The
 * flows know an end only when they stand at it; lag is of interest when they do not, and also while
 * a flow is stuck. What is asked for is the last stable offset: records of transactions still open
 * cannot be read yet and are no lag. */
#ifndef RUN_METRICS_LAG_H
#define RUN_METRICS_LAG_H

#include <stdatomic.h>

#include "connectors/log.h"
#include "processor/run/metrics.h"

typedef struct LagWatch LagWatch;

typedef struct LagWatchOptions {
    const Program *program; /* of the metrics */
    Log *log;
    Metrics *metrics;
    const atomic_bool *stop; /* ends the thread soon, so that closing need not wait; or NULL */
    int interval_ms;         /* 0: 5 s */
} LagWatchOptions;

/* What the options point to must outlive the watch. */
NODISCARD Error *lag_watch_open(const LagWatchOptions *options, LagWatch **ret_watch);
void lag_watch_close(LagWatch *watch);

DEFINE_AUTO(lag_watch, LagWatch, lag_watch_close)

#endif
