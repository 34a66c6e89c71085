/* The conformance suite of connectors/log.h: what every implementation must do. The model
 * (tests/unit/sim/conformance.c) and the real client (tests/integration/kafka_conformance.c) pass
 * the same cases, so that what is tested on the model holds on a broker.
 *
 * A target says how to get at the implementation:
 *   connect  a new connection to the one cluster; the suite closes it. Several are open at a time.
 *   compact  makes the log cleaner run soon over every record that is in `topic` now. It need not
 *            wait: the suite reads until the log looks compacted (2 s; 120 s when slow). It may
 * append records with the key LOG_CONFORMANCE_ROLL_KEY to roll a segment: the suite's topics have
 *            segment.ms 500, and a broker never cleans the active segment.
 *   prefix   begins every topic, group and transactional id; unique for each run.
 *   slow     a real broker: waits are long instead of short, nothing is left out.
 *   only     NULL, or run just the cases whose name contains this.
 *
 * What the suite does not demand, because a broker differs from a model there: when markers appear
 * after a commit returned (it waits), whether a zombie learns of its fate in produce, flush or
 * commit (commit at the latest), whether a record that is too large is refused by produce or by its
 * delivery. */
#ifndef TESTS_SUPPORT_LOG_CONFORMANCE_H
#define TESTS_SUPPORT_LOG_CONFORMANCE_H

#include <stdbool.h>

#include "connectors/log.h"

#define LOG_CONFORMANCE_ROLL_KEY "~roll"

typedef struct LogConformanceTarget {
    const char *prefix;
    bool slow;
    const char *only;
    Log *(*connect)(void *context);
    void (*compact)(void *context, Log *log, const char *topic);
    void *context;
} LogConformanceTarget;

/* Runs every case (cmocka, one line each); returns the number of failed ones. */
int log_conformance_run(const LogConformanceTarget *target);

#endif
