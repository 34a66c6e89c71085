/* The interface of a log: topics of partitions of records, read by consumers, written by
 * transactional producers, looked after by an admin. connectors/kafka and connectors/sim are both
 * this; one set of conformance tests holds for both (tests/support/log_conformance.h).
 *
 * Words: an *end offset* is one past the last record. read_committed readers see the log up to its
 * last stable offset (before the first record of a transaction still open), without aborted
 * records. Offsets have gaps (transaction markers, compaction, aborted records): never count
 * records by subtracting offsets, never wait for one particular offset; a bounded read ends when a
 * record at or beyond the end arrives, or a LogEnd whose offset is at or beyond it.
 *
 * Errors: every Error carries a disposition. ERROR_RETRY heals by itself (broker away, time-out);
 * ERROR_ABORT: abort the transaction, seek back, go on; ERROR_FATAL: this producer is dead, make a
 * new one; ERROR_USER: somebody must change something. Classes are named at the functions.
 *
 * Threads: a Log may be used by any thread; a LogConsumer or LogProducer by one thread at a time.
 * Names (topics, ids) are NUL-terminated. Times are milliseconds since 1970 UTC. */
#ifndef CONNECTORS_LOG_H
#define CONNECTORS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

typedef struct Log Log;
typedef struct LogConsumer LogConsumer;
typedef struct LogProducer LogProducer;

typedef enum Isolation { READ_UNCOMMITTED, READ_COMMITTED } Isolation;

/* Headers keep order and repeats; value.data == NULL is a null value, size 0 an empty one. */
typedef struct LogHeader {
    Str name;
    Str value;
} LogHeader;

/* key.data / value.data == NULL: null; size 0 with data: empty. */
typedef struct LogRecord {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t timestamp_ms;
    Str key;
    Str value;
    const LogHeader *headers;
    size_t header_count;
} LogRecord;

typedef struct LogPosition {
    const char *topic;
    int32_t partition;
    int64_t offset;
} LogPosition;

/* ------------------------------------------------------------------------------- consumer ---- */

typedef struct LogConsumerOptions {
    Isolation isolation;
    const char *group;      /* group for committed offsets, NULL = none; never subscribed */
    size_t queue_bytes_max; /* bound on what is fetched ahead; 0 = default */
} LogConsumerOptions;

/* What one poll brought. `records` of one partition are in offset order. An end in `ends` says that
 * the reader stands at the end of what it may see; its offset is the next one it would read (past
 * markers and aborted records). Ends are reported again after new records were read. */
typedef struct LogPoll {
    const LogRecord *records;
    size_t record_count;
    const LogPosition *ends;
    size_t end_count;
} LogPoll;

/* A consumer that reads nothing yet; close it before the log. Joins no group. */
NODISCARD Error *log_consumer_open(Log *log, const LogConsumerOptions *options,
                                   LogConsumer **ret_consumer);
void log_consumer_close(LogConsumer *consumer);
/* Replaces what is read: absolute offsets (>= 0). Copies the names. */
NODISCARD Error *log_consumer_assign(LogConsumer *consumer, const LogPosition *positions,
                                     size_t count);
/* Adds a partition to what is read, or moves one (then what was fetched ahead of it is dropped and
 * its end is reported again). */
NODISCARD Error *log_consumer_seek(LogConsumer *consumer, const LogPosition *position);
/* Waits up to timeout_ms for at least one record or end, takes at most records_max records. Bytes
 * and arrays live until `arena` is reset. Errors: KAFKA_OFFSET_OUT_OF_RANGE (USER; names partition,
 * offset), KAFKA_TOPIC_NOT_FOUND, KAFKA_ACCESS_DENIED (USER), KAFKA_CORRUPT_BATCH (USER; names
 * partition and offset), KAFKA_UNAVAILABLE (RETRY). After an error the consumer may be polled
 * again. */
NODISCARD Error *log_consumer_poll(LogConsumer *consumer, int timeout_ms, size_t records_max,
                                   Arena *arena, LogPoll *ret_poll);

/* ------------------------------------------------------------------------------- producer ---- */

/* The fate of one produced record, in produce order within a partition. error == NULL: it is stored
 * at `offset` (part of the open transaction, visible to read_committed only after its commit). */
typedef struct LogDelivery {
    const char *topic;
    int32_t partition;
    int64_t offset;
    uint64_t tag;
    const Error *error; /* borrowed for the call; KAFKA_RECORD_TOO_LARGE, KAFKA_TIMED_OUT, … */
} LogDelivery;

typedef struct LogProducerOptions {
    const char *transactional_id; /* NULL: an idempotent producer without transactions */
    int transaction_timeout_ms;   /* 0 = 60 s */
    int delivery_timeout_ms;      /* 0 = default of the implementation */
    size_t queue_bytes_max;       /* 0 = default */
    /* Called from log_producer_produce, _flush, _commit, _abort, _poll on the calling thread. */
    void (*on_delivery)(void *context, const LogDelivery *delivery);
    void *context;
} LogProducerOptions;

enum { LOG_PARTITION_BY_KEY = -1 };

typedef struct LogOutput {
    const char *topic;
    int32_t partition; /* LOG_PARTITION_BY_KEY: Java's default partitioner (partitioner.h) */
    Str key;
    Str value;
    const LogHeader *headers;
    size_t header_count;
    int64_t timestamp_ms; /* <= 0: now */
    uint64_t tag;         /* given back in the LogDelivery */
} LogOutput;

/* A producer; with a transactional_id call log_producer_init_transactions next. Close it before the
 * log. */
NODISCARD Error *log_producer_open(Log *log, const LogProducerOptions *options,
                                   LogProducer **ret_producer);
/* Does not wait for anything; an open transaction is left to time out or to be fenced. */
void log_producer_close(LogProducer *producer);
/* Fences predecessors with the same transactional id and settles their transactions. Retriable
 * errors are retried inside until timeout_ms. */
NODISCARD Error *log_producer_init_transactions(LogProducer *producer, int timeout_ms);
NODISCARD Error *log_producer_begin(LogProducer *producer);
/* Queues copies of the records; waits when the queue is full. Errors: KAFKA_RECORD_TOO_LARGE
 * (USER), KAFKA_FENCED (FATAL), KAFKA_TRANSACTION_ABORTABLE (ABORT). *ret_queued (may be NULL) =
 * how many were queued before the error. */
NODISCARD Error *log_producer_produce(LogProducer *producer, const LogOutput *outputs, size_t count,
                                      size_t *ret_queued);
/* Waits until every queued record has its delivery. A delivery with an error is not an error here.
 */
NODISCARD Error *log_producer_flush(LogProducer *producer, int timeout_ms);
/* Serves deliveries without waiting. */
void log_producer_poll(LogProducer *producer);
/* Puts a consumer group's committed offsets into the open transaction (for lag tools). */
NODISCARD Error *log_producer_send_offsets(LogProducer *producer, const char *group,
                                           const LogPosition *offsets, size_t count,
                                           int timeout_ms);
/* NULL: committed, for sure. KAFKA_TRANSACTION_ABORTABLE (ABORT): nothing is committed, call abort.
 * KAFKA_FENCED (FATAL). KAFKA_COMMIT_UNCLEAR (FATAL): it may or may not have been committed; make a
 * new producer, init_transactions settles it, then look at the log. */
NODISCARD Error *log_producer_commit(LogProducer *producer, int timeout_ms);
/* Undelivered records get a delivery with an error. Fatal errors as for commit. */
NODISCARD Error *log_producer_abort(LogProducer *producer, int timeout_ms);

/* ---------------------------------------------------------------------------------- admin ---- */

typedef struct LogConfigEntry {
    const char *name;
    const char *value;
} LogConfigEntry;

typedef struct LogTopicSpec {
    const char *name;
    int partitions;
    int replication_factor; /* -1 = broker's default */
    const LogConfigEntry *config;
    size_t config_count;
} LogTopicSpec;

typedef struct LogTopicDescription {
    int partition_count;
} LogTopicDescription;

/* A round trip to the cluster: KAFKA_UNAVAILABLE (RETRY) within timeout_ms, with the bootstrap
 * address and the reason (refused, unknown host, TLS, authentication) in the message. */
NODISCARD Error *log_ping(Log *log, int timeout_ms);
/* KAFKA_TOPIC_NOT_FOUND (USER), KAFKA_ACCESS_DENIED (USER). */
NODISCARD Error *log_topic_describe(Log *log, const char *topic, int timeout_ms,
                                    LogTopicDescription *ret_description);
/* The value of one topic config, in `arena`; NULL when the topic has no such config. */
NODISCARD Error *log_topic_config(Log *log, const char *topic, const char *name, Arena *arena,
                                  const char **ret_value);
/* KAFKA_TOPIC_EXISTS when it is there already. Returns when the topic can be used. */
NODISCARD Error *log_topic_create(Log *log, const LogTopicSpec *spec, int timeout_ms);
/* Deleting an unknown topic is no error. */
NODISCARD Error *log_topic_delete(Log *log, const char *topic, int timeout_ms);
/* More partitions for an existing topic. */
NODISCARD Error *log_topic_add_partitions(Log *log, const char *topic, int partitions,
                                          int timeout_ms);
/* Start offset and end offset of a partition; with READ_COMMITTED the end is the last stable
 * offset. */
NODISCARD Error *log_watermarks(Log *log, const char *topic, int32_t partition, Isolation isolation,
                                int timeout_ms, int64_t *ret_start, int64_t *ret_end);
/* The first offset whose timestamp is at or after time_ms; the end offset when there is none. */
NODISCARD Error *log_offset_for_time(Log *log, const char *topic, int32_t partition,
                                     int64_t time_ms, int timeout_ms, int64_t *ret_offset);
/* Moves a partition's start offset up to `offset`. */
NODISCARD Error *log_records_delete(Log *log, const char *topic, int32_t partition, int64_t offset,
                                    int timeout_ms);
/* A group's committed offset, -1 when it has none; waits out a pending transaction. */
NODISCARD Error *log_group_offset(Log *log, const char *group, const char *topic, int32_t partition,
                                  int timeout_ms, int64_t *ret_offset);
/* Who the log is, for messages: "127.0.0.1:9092" or "model". Lives as long as the log. */
const char *log_name(const Log *log);
void log_close(Log *log);

DEFINE_AUTO(log_consumer, LogConsumer, log_consumer_close)
DEFINE_AUTO(log_producer, LogProducer, log_producer_close)

/* ----------------------------------------------------------- for implementations only ---- */

typedef struct LogOps {
    const char *(*name)(const Log *log);
    void (*close)(Log *log);
    Error *(*consumer_open)(Log *log, const LogConsumerOptions *options, LogConsumer **ret);
    void (*consumer_close)(LogConsumer *consumer);
    Error *(*consumer_assign)(LogConsumer *consumer, const LogPosition *positions, size_t count);
    Error *(*consumer_seek)(LogConsumer *consumer, const LogPosition *position);
    Error *(*consumer_poll)(LogConsumer *consumer, int timeout_ms, size_t records_max, Arena *arena,
                            LogPoll *ret_poll);
    Error *(*producer_open)(Log *log, const LogProducerOptions *options, LogProducer **ret);
    void (*producer_close)(LogProducer *producer);
    Error *(*init_transactions)(LogProducer *producer, int timeout_ms);
    Error *(*begin)(LogProducer *producer);
    Error *(*produce)(LogProducer *producer, const LogOutput *outputs, size_t count,
                      size_t *ret_queued);
    Error *(*flush)(LogProducer *producer, int timeout_ms);
    void (*poll)(LogProducer *producer);
    Error *(*send_offsets)(LogProducer *producer, const char *group, const LogPosition *offsets,
                           size_t count, int timeout_ms);
    Error *(*commit)(LogProducer *producer, int timeout_ms);
    Error *(*abort)(LogProducer *producer, int timeout_ms);
    Error *(*ping)(Log *log, int timeout_ms);
    Error *(*topic_describe)(Log *log, const char *topic, int timeout_ms, LogTopicDescription *ret);
    Error *(*topic_config)(Log *log, const char *topic, const char *name, Arena *arena,
                           const char **ret_value);
    Error *(*topic_create)(Log *log, const LogTopicSpec *spec, int timeout_ms);
    Error *(*topic_delete)(Log *log, const char *topic, int timeout_ms);
    Error *(*topic_add_partitions)(Log *log, const char *topic, int partitions, int timeout_ms);
    Error *(*watermarks)(Log *log, const char *topic, int32_t partition, Isolation isolation,
                         int timeout_ms, int64_t *ret_start, int64_t *ret_end);
    Error *(*offset_for_time)(Log *log, const char *topic, int32_t partition, int64_t time_ms,
                              int timeout_ms, int64_t *ret_offset);
    Error *(*records_delete)(Log *log, const char *topic, int32_t partition, int64_t offset,
                             int timeout_ms);
    Error *(*group_offset)(Log *log, const char *group, const char *topic, int32_t partition,
                           int timeout_ms, int64_t *ret_offset);
} LogOps;

/* The first member of every implementation's own struct. */
struct Log {
    const LogOps *ops;
};
struct LogConsumer {
    const LogOps *ops;
};
struct LogProducer {
    const LogOps *ops;
};

#endif
