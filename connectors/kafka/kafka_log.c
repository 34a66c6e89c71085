/* The Log of a Kafka cluster: the user's configuration, the admin clients, the table of operations.
 *
 * There are two admin clients, one an isolation level, because librdkafka answers a watermark query
 * by the isolation level of the instance that asks: high watermark or last stable offset. */
#include "connectors/kafka/kafka_log.h"

#include <stdio.h>

#include "processor/base/hash.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

static const char *kafka_name(const Log *log)
{
    return ((const KafkaLog *)(const void *)log)->config.bootstrap;
}

static void kafka_close(Log *base)
{
    KafkaLog *log = (KafkaLog *)base;
    for (size_t i = 0; i < ARRAY_LENGTH(log->admin); i++) {
        client_close(log->admin[i]);
    }
    for (size_t i = 0; i < log->config.count; i++) {
        mem_free(log->config.properties[i].name);
        mem_free(log->config.properties[i].value);
    }
    mem_free(log->config.properties);
    mem_free(log->config.bootstrap);
    map_done(&log->known_topics);
    arena_free(log->names);
    pthread_mutex_destroy(&log->lock);
    mem_free(log);
}

static const LogOps kafka_ops = {
    .name = kafka_name,
    .close = kafka_close,
    .consumer_open = kafka_consumer_open,
    .consumer_close = kafka_consumer_close,
    .consumer_assign = kafka_consumer_assign,
    .consumer_seek = kafka_consumer_seek,
    .consumer_poll = kafka_consumer_poll,
    .producer_open = kafka_producer_open,
    .producer_close = kafka_producer_close,
    .init_transactions = kafka_producer_init_transactions,
    .begin = kafka_producer_begin,
    .produce = kafka_producer_produce,
    .flush = kafka_producer_flush,
    .poll = kafka_producer_poll,
    .send_offsets = kafka_producer_send_offsets,
    .commit = kafka_producer_commit,
    .abort = kafka_producer_abort,
    .ping = kafka_ping,
    .topic_describe = kafka_topic_describe,
    .topic_config = kafka_topic_config,
    .topic_create = kafka_topic_create,
    .topic_delete = kafka_topic_delete,
    .topic_add_partitions = kafka_topic_add_partitions,
    .watermarks = kafka_watermarks,
    .offset_for_time = kafka_offset_for_time,
    .records_delete = kafka_records_delete,
    .group_offset = kafka_group_offset,
};

Error *kafka_log_admin(KafkaLog *log, Isolation isolation, Client **ret_client)
{
    char answer_text[16];
    (void)snprintf(answer_text, sizeof answer_text, "%d", CLIENT_ANSWER_MS);
    const KafkaProperty own[] = {
        {"isolation.level", isolation == READ_COMMITTED ? "read_committed" : "read_uncommitted"},
        {"socket.timeout.ms", answer_text},
    };
    Error *error = NULL;
    pthread_mutex_lock(&log->lock);
    if (log->admin[isolation] == NULL) {
        error = client_open(&log->config, RD_KAFKA_CONSUMER, own, ARRAY_LENGTH(own), NULL,
                            &log->admin[isolation]);
    }
    if (error == NULL) {
        *ret_client = log->admin[isolation];
    }
    pthread_mutex_unlock(&log->lock);
    return error;
}

static bool topic_is_known(KafkaLog *log, Str topic)
{
    pthread_mutex_lock(&log->lock);
    bool known = map_get(&log->known_topics, topic) != NULL;
    pthread_mutex_unlock(&log->lock);
    return known;
}

Error *kafka_log_require_topic(KafkaLog *log, const char *topic, int timeout_ms)
{
    if (topic_is_known(log, str_from(topic))) {
        return NULL;
    }
    Client *client = NULL;
    TopicMetadata metadata = {0};
    TRY(kafka_log_admin(log, READ_UNCOMMITTED, &client));
    TRY(client_topic_expect(client, topic, 0, CLIENT_TOPIC_SPREAD_MS, timeout_ms, &metadata));
    pthread_mutex_lock(&log->lock);
    map_put(&log->known_topics, str_from(arena_copy_cstr(log->names, str_from(topic))), log);
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

void kafka_log_forget_topic(KafkaLog *log, const char *topic)
{
    pthread_mutex_lock(&log->lock);
    map_remove(&log->known_topics, str_from(topic));
    pthread_mutex_unlock(&log->lock);
}

static KafkaProperty *copy_properties(const KafkaProperty *properties, size_t count)
{
    KafkaProperty *copy = mem_alloc_array(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i].name = mem_strdup(properties[i].name);
        copy[i].value = mem_strdup(properties[i].value);
    }
    return copy;
}

Error *kafka_log_open(const char *bootstrap, const KafkaProperty *properties, size_t count,
                      Log **ret_log)
{
    for (size_t i = 0; i < count; i++) {
        TRY(kafka_check_property(properties[i].name, properties[i].value));
    }
    KafkaLog *log = mem_new(KafkaLog);
    log->base.ops = &kafka_ops;
    log->config.bootstrap = mem_strdup(bootstrap);
    log->config.properties = copy_properties(properties, count);
    log->config.count = count;
    log->names = arena_new("kafka topic names");
    pthread_mutex_init(&log->lock, NULL);
    /* Properties that only fail together (a certificate that is not there) are found here. */
    Client *client = NULL;
    Error *error = kafka_log_admin(log, READ_UNCOMMITTED, &client);
    if (error != NULL) {
        kafka_close(&log->base);
        return error;
    }
    *ret_log = &log->base;
    return NULL;
}
