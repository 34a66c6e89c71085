/* The producer's state, shared by producer.c (records) and transaction.c. Internal. */
#ifndef KAFKA_PRODUCER_H
#define KAFKA_PRODUCER_H

#include "connectors/kafka/kafka_log.h"

/* A topic this producer has written to. */
typedef struct OutputTopic {
    char *name;
    rd_kafka_topic_t *handle;
    int partition_count;
    int64_t asked_ms;       /* when metadata was last asked */
    int32_t next_partition; /* for records without a key */
} OutputTopic;

typedef struct KafkaProducer {
    LogProducer base;
    Client *client;
    KafkaLog *log;
    void (*on_delivery)(void *context, const LogDelivery *delivery);
    void *context;
    bool transactional;
    bool in_transaction;
    /* librdkafka's own queue limits are out of reach; these bound it, so that a full queue is
     * noticed before a record is refused and the order within a partition holds. */
    size_t queued_bytes;
    size_t queued_count;
    size_t queue_bytes_max;
    OutputTopic **topics;
    size_t topic_count;
    size_t topic_capacity;
    Error *last_delivery_error; /* the first of this transaction, for messages */
} KafkaProducer;

/* Waits until at most `bytes` are queued, serving deliveries. False at the deadline. */
bool kafka_producer_drain(KafkaProducer *producer, size_t bytes, int64_t deadline);
/* INTERNAL_ERROR when a call does not fit the state of the producer. */
Error *kafka_producer_require(const KafkaProducer *producer, bool in_transaction,
                              const char *doing);
/* The fatal error of the instance as an Error, NULL when there is none. */
Error *kafka_producer_fatal(KafkaProducer *producer, const char *doing);

#endif
