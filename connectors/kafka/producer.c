/* Producer: idempotent, with explicit partitions, deliveries reported on the caller's thread.
 *
 * Records are copied into librdkafka's queue. A run of records of one topic without headers and
 * times goes in one batch call, which halves the cost; the others one by one. The queue is bounded
 * here (bytes counted when queued, given back by the delivery report): librdkafka's own limit is
 * set beyond reach, because a batch call that meets a full queue would drop records out of the
 * middle.
 *
 * A topic is asked for once, before its first record: librdkafka would otherwise hold records of a
 * topic that does not exist until they time out. */
#include "connectors/kafka/producer.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "connectors/partitioner.h"
#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    QUEUE_BYTES_DEFAULT = 64 << 20,
    RECORD_OVERHEAD = 256, /* librdkafka's struct for a queued record, roughly */
    BATCH_MAX = 1024,
    TRANSACTION_TIMEOUT_MS = 60000,
    DELIVERY_TIMEOUT_MS = 30000,
    TOPIC_WAIT_MS = 10000,
    TOPIC_REFRESH_MS = 60000,
};

/* ----------------------------------------------------------------------------- deliveries ---- */

static size_t queued_size(size_t key_size, size_t value_size)
{
    return key_size + value_size + RECORD_OVERHEAD;
}

static Error *delivery_error(KafkaProducer *producer, const rd_kafka_message_t *message)
{
    const char *topic = rd_kafka_topic_name(message->rkt);
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return NULL;
    }
    Error *error = client_error(producer->client, message->err, NULL, "writing to %s-%d", topic,
                                (int)message->partition);
    /* Some errors of one record end the producer: then an abort is out of reach too. */
    bool dead = error_disposition(error) == ERROR_ABORT &&
                rd_kafka_fatal_error(producer->client->rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
    return dead ? error_set_disposition(error, ERROR_FATAL) : error;
}

/* Thread: the one that serves the producer, from rd_kafka_poll and what calls it. */
static void on_delivered(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    (void)rk;
    KafkaProducer *producer = ((Client *)opaque)->delivery_to;
    size_t size = queued_size(message->key_len, message->len);
    assert(producer->queued_bytes >= size && producer->queued_count > 0);
    producer->queued_bytes -= size;
    producer->queued_count--;
    Error *error = delivery_error(producer, message);
    if (producer->on_delivery != NULL) {
        LogDelivery delivery = {
            .topic = rd_kafka_topic_name(message->rkt),
            .partition = message->partition,
            .offset = message->offset,
            .tag = (uint64_t)(uintptr_t)message->_private,
            .error = error,
        };
        producer->on_delivery(producer->context, &delivery);
    }
    /* Keep the first; but one that was dropped because of another tells less than the other. */
    const Error *kept = producer->last_delivery_error;
    if (error != NULL && (kept == NULL || error_class(kept) == ERROR_KAFKA_TRANSACTION_ABORTABLE)) {
        error_free(producer->last_delivery_error);
        producer->last_delivery_error = error;
        error = NULL;
    }
    error_free(error);
}

bool kafka_producer_drain(KafkaProducer *producer, size_t bytes, int64_t deadline)
{
    while (producer->queued_bytes > bytes) {
        int left = deadline_left_ms(deadline);
        (void)rd_kafka_poll(producer->client->rk, left < 20 ? left : 20);
        if (left == 0 && producer->queued_bytes > bytes) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------ open ---- */

static void prepare_conf(rd_kafka_conf_t *conf)
{
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivered);
}

static Error *open_client(KafkaLog *log, const LogProducerOptions *options, Client **ret_client)
{
    int transaction_ms = options->transaction_timeout_ms > 0 ? options->transaction_timeout_ms
                                                             : TRANSACTION_TIMEOUT_MS;
    int delivery_ms =
        options->delivery_timeout_ms > 0 ? options->delivery_timeout_ms : DELIVERY_TIMEOUT_MS;
    if (options->transactional_id != NULL && delivery_ms > transaction_ms) {
        delivery_ms = transaction_ms;
    }
    /* The library refuses a longer one than the transaction's. */
    int answer_ms = options->transactional_id != NULL && transaction_ms < CLIENT_ANSWER_MS
                        ? transaction_ms
                        : CLIENT_ANSWER_MS;
    char transaction_text[16];
    char delivery_text[16];
    char answer_text[16];
    (void)snprintf(transaction_text, sizeof transaction_text, "%d", transaction_ms);
    (void)snprintf(delivery_text, sizeof delivery_text, "%d", delivery_ms);
    (void)snprintf(answer_text, sizeof answer_text, "%d", answer_ms);
    const KafkaProperty own[] = {
        {"enable.idempotence", "true"},
        {"linger.ms", "5"},
        {"message.timeout.ms", delivery_text},
        {"socket.timeout.ms", answer_text},
        {"message.max.bytes", "16777216"},
        {"queue.buffering.max.messages", "10000000"},
        {"queue.buffering.max.kbytes", "2147483647"},
        {"topic.metadata.propagation.max.ms", "10000"},
        {"transaction.timeout.ms", transaction_text},
        {"transactional.id", options->transactional_id},
    };
    size_t count = ARRAY_LENGTH(own) - (options->transactional_id == NULL ? 2 : 0);
    return client_open(&log->config, RD_KAFKA_PRODUCER, own, count, prepare_conf, ret_client);
}

Error *kafka_producer_open(Log *base, const LogProducerOptions *options, LogProducer **ret)
{
    KafkaLog *log = (KafkaLog *)base;
    Client *client = NULL;
    TRY(open_client(log, options, &client));
    KafkaProducer *producer = mem_new(KafkaProducer);
    producer->base.ops = base->ops;
    producer->client = client;
    producer->log = log;
    producer->on_delivery = options->on_delivery;
    producer->context = options->context;
    producer->transactional = options->transactional_id != NULL;
    producer->queue_bytes_max =
        options->queue_bytes_max == 0 ? (size_t)QUEUE_BYTES_DEFAULT : options->queue_bytes_max;
    client->delivery_to = producer;
    *ret = &producer->base;
    return NULL;
}

void kafka_producer_close(LogProducer *base)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    for (size_t i = 0; i < producer->topic_count; i++) {
        rd_kafka_topic_destroy(producer->topics[i]->handle);
        mem_free(producer->topics[i]->name);
        mem_free(producer->topics[i]);
    }
    mem_free(producer->topics);
    client_close(producer->client);
    error_free(producer->last_delivery_error);
    mem_free(producer);
}

/* ---------------------------------------------------------------------------------- topics ---- */

/* Refreshes the number of partitions. `needed` is a partition that must exist, or -1. */
static Error *ask_topic(KafkaProducer *producer, OutputTopic *topic, int32_t needed)
{
    int64_t missing_deadline = deadline_after(CLIENT_TOPIC_SPREAD_MS);
    for (;;) {
        TopicMetadata metadata = {0};
        Error *error =
            client_topic_metadata(producer->client, topic->handle, TOPIC_WAIT_MS, &metadata);
        if (error == NULL && metadata.partition_count > needed) {
            topic->partition_count = metadata.partition_count;
            topic->asked_ms = clock_monotonic_ms();
            return NULL;
        }
        if (error == NULL) {
            error = error_new(ERROR_KAFKA_TOPIC_NOT_FOUND,
                              "topic %s has %d partitions, there is no partition %d", topic->name,
                              metadata.partition_count, (int)needed);
        }
        if (error_class(error) != ERROR_KAFKA_TOPIC_NOT_FOUND ||
            deadline_left_ms(missing_deadline) == 0) {
            return error;
        }
        error_free(error);
        clock_sleep_ms(100);
    }
}

static Error *find_topic(KafkaProducer *producer, const char *name, OutputTopic **ret_topic)
{
    for (size_t i = 0; i < producer->topic_count; i++) {
        if (strcmp(producer->topics[i]->name, name) == 0) {
            *ret_topic = producer->topics[i];
            return NULL;
        }
    }
    rd_kafka_topic_t *handle = rd_kafka_topic_new(producer->client->rk, name, NULL);
    if (handle == NULL) {
        return client_error(producer->client, rd_kafka_last_error(), NULL, "writing to topic %s",
                            name);
    }
    OutputTopic *topic = mem_new(OutputTopic);
    topic->name = mem_strdup(name);
    topic->handle = handle;
    Error *error = ask_topic(producer, topic, -1);
    if (error != NULL) {
        rd_kafka_topic_destroy(handle);
        mem_free(topic->name);
        mem_free(topic);
        return error;
    }
    mem_reserve(producer->topics, &producer->topic_capacity, producer->topic_count + 1);
    producer->topics[producer->topic_count++] = topic;
    *ret_topic = topic;
    return NULL;
}

static Error *choose_partition(KafkaProducer *producer, OutputTopic *topic, const LogOutput *output,
                               int32_t *ret_partition)
{
    if (output->partition >= topic->partition_count ||
        (output->partition < 0 && clock_monotonic_ms() - topic->asked_ms > TOPIC_REFRESH_MS)) {
        TRY(ask_topic(producer, topic, output->partition));
    }
    if (output->partition >= 0) {
        *ret_partition = output->partition;
    } else if (output->key.data != NULL) {
        *ret_partition = partition_of_key(output->key, topic->partition_count);
    } else {
        *ret_partition = topic->next_partition++ % topic->partition_count;
        topic->next_partition = topic->next_partition % topic->partition_count;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------- produce ---- */

Error *kafka_producer_fatal(KafkaProducer *producer, const char *doing)
{
    char text[512];
    rd_kafka_resp_err_t code = rd_kafka_fatal_error(producer->client->rk, text, sizeof text);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return NULL;
    }
    Error *error = client_error(producer->client, code, text, "%s", doing);
    return error_class(error) == ERROR_KAFKA_ACCESS_DENIED
               ? error
               : error_set_disposition(error, ERROR_FATAL);
}

/* What it means that a record could not be queued. */
static Error *refused(KafkaProducer *producer, const char *topic, rd_kafka_resp_err_t code)
{
    Error *fatal = kafka_producer_fatal(producer, "producing");
    if (fatal != NULL) {
        return fatal;
    }
    if (producer->transactional && code == RD_KAFKA_RESP_ERR__STATE) {
        const Error *cause = producer->last_delivery_error;
        return error_set_disposition(
            error_new(ERROR_KAFKA_TRANSACTION_ABORTABLE, "the transaction must be aborted: %s",
                      cause == NULL ? "it failed earlier" : error_message(cause)),
            ERROR_ABORT);
    }
    return client_error(producer->client, code, NULL, "producing to topic %s", topic);
}

static rd_kafka_headers_t *make_headers(const LogOutput *output)
{
    if (output->header_count == 0) {
        return NULL;
    }
    rd_kafka_headers_t *headers = rd_kafka_headers_new(output->header_count);
    for (size_t i = 0; i < output->header_count; i++) {
        const LogHeader *header = &output->headers[i];
        (void)rd_kafka_header_add(headers, header->name.data, (ssize_t)header->name.size,
                                  header->value.data, (ssize_t)header->value.size);
    }
    return headers;
}

/* librdkafka tells null from empty by the pointer. */
static void *payload_of(Str bytes)
{
    union {
        const void *given;
        void *wanted;
    } pointer = {.given = bytes.data};
    return pointer.wanted;
}

static void count_queued(KafkaProducer *producer, const LogOutput *output)
{
    producer->queued_bytes += queued_size(output->key.data == NULL ? 0 : output->key.size,
                                          output->value.data == NULL ? 0 : output->value.size);
    producer->queued_count++;
}

static Error *produce_one(KafkaProducer *producer, OutputTopic *topic, const LogOutput *output)
{
    int32_t partition = 0;
    TRY(choose_partition(producer, topic, output, &partition));
    rd_kafka_headers_t *headers = make_headers(output);
    rd_kafka_vu_t parts[8] = {
        {.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = topic->handle},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {payload_of(output->key), output->key.size}},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {payload_of(output->value), output->value.size}},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = (void *)(uintptr_t)output->tag},
    };
    size_t count = 6;
    if (output->timestamp_ms > 0) {
        parts[count++] =
            (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = output->timestamp_ms};
    }
    if (headers != NULL) {
        parts[count++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers};
    }
    rd_kafka_error_t *error = rd_kafka_produceva(producer->client->rk, parts, count);
    if (error == NULL) {
        count_queued(producer, output);
        return NULL;
    }
    if (headers != NULL) {
        rd_kafka_headers_destroy(headers);
    }
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    return refused(producer, topic->name, code);
}

static bool fits_batch(const LogOutput *first, const LogOutput *output)
{
    return output->header_count == 0 && output->timestamp_ms <= 0 &&
           (output->topic == first->topic || strcmp(output->topic, first->topic) == 0);
}

/* The run of records at the front of `outputs` that one batch call may take. */
static size_t batch_length(const LogOutput *outputs, size_t count)
{
    size_t length = 0;
    while (length < count && length < BATCH_MAX && fits_batch(&outputs[0], &outputs[length])) {
        length++;
    }
    return length;
}

/* *ret_queued: how many of the front were queued, also with an error. */
static Error *produce_run(KafkaProducer *producer, OutputTopic *topic, const LogOutput *outputs,
                          size_t count, size_t *ret_queued)
{
    rd_kafka_message_t messages[BATCH_MAX];
    assert(count <= BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        int32_t partition = 0;
        TRY(choose_partition(producer, topic, &outputs[i], &partition));
        messages[i] = (rd_kafka_message_t){
            .partition = partition,
            .payload = payload_of(outputs[i].value),
            .len = outputs[i].value.size,
            .key = payload_of(outputs[i].key),
            .key_len = outputs[i].key.size,
            ._private = (void *)(uintptr_t)outputs[i].tag,
        };
    }
    int queued = rd_kafka_produce_batch(topic->handle, RD_KAFKA_PARTITION_UA,
                                        RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_PARTITION, messages,
                                        (int)count);
    rd_kafka_resp_err_t failed = RD_KAFKA_RESP_ERR_NO_ERROR;
    size_t front = count;
    for (size_t i = 0; i < count; i++) {
        if (messages[i].err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            count_queued(producer, &outputs[i]);
        } else if (failed == RD_KAFKA_RESP_ERR_NO_ERROR) {
            failed = messages[i].err;
            front = i;
        }
    }
    assert(failed != RD_KAFKA_RESP_ERR_NO_ERROR || (size_t)queued == count);
    (void)queued;
    *ret_queued = front;
    return failed == RD_KAFKA_RESP_ERR_NO_ERROR ? NULL : refused(producer, topic->name, failed);
}

/* Makes room for a run; a record larger than the whole bound passes when the queue is empty. */
static Error *make_room(KafkaProducer *producer)
{
    client_serve(producer->client);
    if (producer->queued_bytes < producer->queue_bytes_max) {
        return NULL;
    }
    /* Deliveries come or time out (delivery_timeout_ms), so this ends. */
    while (!kafka_producer_drain(producer, producer->queue_bytes_max / 2, deadline_after(1000))) {
        TRY(kafka_producer_fatal(producer, "producing"));
    }
    return NULL;
}

Error *kafka_producer_produce(LogProducer *base, const LogOutput *outputs, size_t count,
                              size_t *ret_queued)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    size_t done = 0;
    if (ret_queued != NULL) {
        *ret_queued = 0;
    }
    if (producer->transactional) {
        TRY(kafka_producer_require(producer, true, "produce"));
    }
    Error *error = NULL;
    while (done < count && error == NULL) {
        OutputTopic *topic = NULL;
        size_t queued = 0;
        error = make_room(producer);
        if (error == NULL) {
            error = find_topic(producer, outputs[done].topic, &topic);
        }
        if (error == NULL) {
            size_t run = batch_length(&outputs[done], count - done);
            if (run > 0) {
                error = produce_run(producer, topic, &outputs[done], run, &queued);
            } else {
                error = produce_one(producer, topic, &outputs[done]);
                queued = error == NULL ? 1 : 0;
            }
        }
        done += queued;
    }
    if (ret_queued != NULL) {
        *ret_queued = done;
    }
    return error;
}

Error *kafka_producer_flush(LogProducer *base, int timeout_ms)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    int64_t deadline = deadline_after(timeout_ms);
    for (;;) {
        int left = deadline_left_ms(deadline);
        (void)rd_kafka_flush(producer->client->rk, left < 100 ? left : 100);
        if (producer->transactional && producer->last_delivery_error != NULL) {
            /* The transaction is lost; what followed in its partition would wait for the abort. */
            (void)rd_kafka_purge(producer->client->rk,
                                 RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_NON_BLOCKING);
        }
        if (producer->queued_count == 0) {
            return NULL;
        }
        TRY(kafka_producer_fatal(producer, "waiting for deliveries"));
        if (left == 0) {
            return client_error(producer->client, RD_KAFKA_RESP_ERR__TIMED_OUT, NULL,
                                "waiting for the delivery of %zu records", producer->queued_count);
        }
    }
}

void kafka_producer_poll(LogProducer *base)
{
    client_serve(((KafkaProducer *)base)->client);
}
