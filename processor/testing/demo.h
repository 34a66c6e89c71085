/* The demo: booking updates arrive late and out of order, the table is printed as it changes, then
 * the records of its topic and the event log. */
#ifndef TESTING_DEMO_H
#define TESTING_DEMO_H

#include "processor/base/error.h"

/* On the Kafka model inside the process, or, with `bootstrap`, on a real broker (in topics of its
 * own, which are deleted at the end). Prints to stdout. */
NODISCARD Error *demo_run(const char *bootstrap);

#endif
