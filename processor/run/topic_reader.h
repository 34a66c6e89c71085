/* Reads a topic's partitions from given offsets up to fixed ends, read_committed: how progress,
 * table topics and tests are read. Bounded by position, not by counting (log.h). */
#ifndef RUN_TOPIC_READER_H
#define RUN_TOPIC_READER_H

#include "connectors/log.h"

typedef struct TopicReader TopicReader;

/* Where a partition starts and its last stable offset, all that was committed before the call below
 * it. A broker answers a commit before its marker is in the log, so the end is waited for, up to a
 * second: then somebody's transaction is open. */
NODISCARD Error *topic_settled_range(Log *log, const char *topic, int32_t partition, int timeout_ms,
                                     int64_t *ret_start, int64_t *ret_end);

/* Start and end of a partition that is known to have reached `at_least`. A broker that hung and
 * woke believes for a moment that it still leads, and tells the end of before: a lower end is asked
 * for again, for two seconds, before it is believed. */
NODISCARD Error *topic_known_range(Log *log, const char *topic, int32_t partition, int64_t at_least,
                                   int timeout_ms, int64_t *ret_start, int64_t *ret_end);

/* Partition p is read from starts[p] up to ends[p] (exclusive); negative start: skip the partition.
 */
NODISCARD Error *topic_reader_open(Log *log, const char *topic, int partition_count,
                                   const int64_t *starts, const int64_t *ends,
                                   TopicReader **ret_reader);
void topic_reader_close(TopicReader *reader);
/* The next records below the ends, in `arena`; *ret_count 0 when all ends are reached. Waits as
 * long as it takes, but fails with KAFKA_TIMED_OUT (RETRY) when nothing arrives for timeout_ms. */
NODISCARD Error *topic_reader_next(TopicReader *reader, int timeout_ms, Arena *arena,
                                   const LogRecord **ret_records, size_t *ret_count);
/* Next offset to be read of a partition: after the end, its end. */
int64_t topic_reader_position(const TopicReader *reader, int partition);

DEFINE_AUTO(topic_reader, TopicReader, topic_reader_close)

#endif
