/* The topics of a pipeline: makes its own and its tables', checks what is there (DESIGN section 5).
 */
#ifndef RUN_TOPICS_H
#define RUN_TOPICS_H

#include "connectors/log.h"
#include "processor/run/program.h"

/* Makes missing topics; refuses sources that are not there (KAFKA_TOPIC_NOT_FOUND with a hint) and
 * table topics of another cleanup policy or, if given explicitly, partition count
 * (KAFKA_TOPIC_MISMATCH: what differs and how to go on). */
NODISCARD Error *topics_prepare(Log *log, const Program *program, int timeout_ms);

#endif
