/* The Log of a Kafka cluster and the operations its files provide. Internal to connectors/kafka. */
#ifndef KAFKA_KAFKA_LOG_H
#define KAFKA_KAFKA_LOG_H

#include "connectors/kafka/client.h"
#include "processor/base/map.h"

typedef struct KafkaLog {
    Log base;
    ClientConfig config; /* owned copies */
    pthread_mutex_t lock;
    Client *admin[2]; /* by Isolation; made when first needed. Under lock until made */
    Map known_topics; /* names seen in metadata; under lock */
    Arena *names;     /* of known_topics; under lock */
} KafkaLog;

/* The admin client whose watermarks are those of the isolation. Lives as long as the log. */
NODISCARD Error *kafka_log_admin(KafkaLog *log, Isolation isolation, Client **ret_client);
/* NULL when the topic is known to exist or metadata says it does: requests about a topic that does
 * not exist would otherwise only time out. */
NODISCARD Error *kafka_log_require_topic(KafkaLog *log, const char *topic, int timeout_ms);
void kafka_log_forget_topic(KafkaLog *log, const char *topic);

/* consumer.c */
Error *kafka_consumer_open(Log *log, const LogConsumerOptions *options, LogConsumer **ret);
void kafka_consumer_close(LogConsumer *consumer);
Error *kafka_consumer_assign(LogConsumer *consumer, const LogPosition *positions, size_t count);
Error *kafka_consumer_seek(LogConsumer *consumer, const LogPosition *position);
Error *kafka_consumer_poll(LogConsumer *consumer, int timeout_ms, size_t records_max, Arena *arena,
                           LogPoll *ret_poll);

/* producer.c */
Error *kafka_producer_open(Log *log, const LogProducerOptions *options, LogProducer **ret);
void kafka_producer_close(LogProducer *producer);
Error *kafka_producer_produce(LogProducer *producer, const LogOutput *outputs, size_t count,
                              size_t *ret_queued);
Error *kafka_producer_flush(LogProducer *producer, int timeout_ms);
void kafka_producer_poll(LogProducer *producer);

/* transaction.c */
Error *kafka_producer_init_transactions(LogProducer *producer, int timeout_ms);
Error *kafka_producer_begin(LogProducer *producer);
Error *kafka_producer_send_offsets(LogProducer *producer, const char *group,
                                   const LogPosition *offsets, size_t count, int timeout_ms);
Error *kafka_producer_commit(LogProducer *producer, int timeout_ms);
Error *kafka_producer_abort(LogProducer *producer, int timeout_ms);

/* admin.c */
Error *kafka_ping(Log *log, int timeout_ms);
Error *kafka_topic_describe(Log *log, const char *topic, int timeout_ms, LogTopicDescription *ret);
Error *kafka_topic_config(Log *log, const char *topic, const char *name, Arena *arena,
                          const char **ret_value);
Error *kafka_topic_create(Log *log, const LogTopicSpec *spec, int timeout_ms);
Error *kafka_topic_delete(Log *log, const char *topic, int timeout_ms);
Error *kafka_topic_add_partitions(Log *log, const char *topic, int partitions, int timeout_ms);
Error *kafka_records_delete(Log *log, const char *topic, int32_t partition, int64_t offset,
                            int timeout_ms);

/* offsets.c */
Error *kafka_watermarks(Log *log, const char *topic, int32_t partition, Isolation isolation,
                        int timeout_ms, int64_t *ret_start, int64_t *ret_end);
Error *kafka_offset_for_time(Log *log, const char *topic, int32_t partition, int64_t time_ms,
                             int timeout_ms, int64_t *ret_offset);
Error *kafka_group_offset(Log *log, const char *group, const char *topic, int32_t partition,
                          int timeout_ms, int64_t *ret_offset);

#endif
