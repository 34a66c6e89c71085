/* How long to wait before what may heal is tried again (topology `retry:`). */
#ifndef RUN_RETRY_H
#define RUN_RETRY_H

#include "config/topology.h"

/* Milliseconds before try number attempt + 1: backoff, doubled with each attempt, up to
 * backoff_max. */
int64_t retry_backoff_ms(const TopologyRetry *retry, int attempt);

#endif
