/* Transactions of a producer. librdkafka tells three things about a failure: it may be tried again,
 * the transaction must be aborted, or the producer is dead. Retriable ones are tried again here
 * until the time-out. A commit whose request may have reached the broker and got no answer is
 * neither: KAFKA_COMMIT_UNCLEAR. So a commit first waits for its deliveries on its own: until then
 * nothing can have been committed, and giving up is only an abort. */
#include "connectors/kafka/producer.h"
#include "processor/base/clock.h"

#include "processor/base/banned.h"

enum { RETRY_PAUSE_MS = 20 };

/* A retriable failure with time left: pauses, returns true. Takes the error when it does. */
static bool try_again(KafkaProducer *producer, rd_kafka_error_t *error, int64_t deadline)
{
    client_serve(producer->client);
    if (rd_kafka_error_is_fatal(error) || !rd_kafka_error_is_retriable(error) ||
        deadline_left_ms(deadline) == 0) {
        return false;
    }
    rd_kafka_error_destroy(error);
    clock_sleep_ms(RETRY_PAUSE_MS);
    return true;
}

Error *kafka_producer_require(const KafkaProducer *producer, bool in_transaction, const char *doing)
{
    if (producer->transactional && producer->in_transaction == in_transaction) {
        return NULL;
    }
    return error_new(ERROR_INTERNAL_ERROR, "%s needs a producer %s", doing,
                     !producer->transactional ? "with a transactional id"
                     : in_transaction         ? "in a transaction"
                                              : "outside a transaction");
}

Error *kafka_producer_init_transactions(LogProducer *base, int timeout_ms)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    int64_t deadline = deadline_after(timeout_ms);
    TRY(kafka_producer_require(producer, false, "init_transactions"));
    atomic_store(&producer->client->down, false);
    for (;;) {
        int left = deadline_left_ms(deadline);
        rd_kafka_error_t *error =
            rd_kafka_init_transactions(producer->client->rk, left < 1 ? 1 : left);
        if (error == NULL) {
            client_reached(producer->client);
            return NULL;
        }
        if (!try_again(producer, error, deadline)) {
            return client_error_take(producer->client, error, "starting transactions");
        }
    }
}

Error *kafka_producer_begin(LogProducer *base)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    TRY(kafka_producer_require(producer, false, "begin"));
    error_free(producer->last_delivery_error);
    producer->last_delivery_error = NULL;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(producer->client->rk);
    if (error != NULL) {
        return client_error_take(producer->client, error, "beginning a transaction");
    }
    producer->in_transaction = true;
    return NULL;
}

Error *kafka_producer_send_offsets(LogProducer *base, const char *group, const LogPosition *offsets,
                                   size_t count, int timeout_ms)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    int64_t deadline = deadline_after(timeout_ms);
    TRY(kafka_producer_require(producer, true, "send_offsets"));
    if (count == 0) {
        return NULL;
    }
    rd_kafka_consumer_group_metadata_t *metadata = rd_kafka_consumer_group_metadata_new(group);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++) {
        rd_kafka_topic_partition_list_add(list, offsets[i].topic, offsets[i].partition)->offset =
            offsets[i].offset;
    }
    rd_kafka_error_t *error;
    do {
        int left = deadline_left_ms(deadline);
        error = rd_kafka_send_offsets_to_transaction(producer->client->rk, list, metadata,
                                                     left < 1 ? 1 : left);
    } while (error != NULL && try_again(producer, error, deadline));
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_group_metadata_destroy(metadata);
    return error == NULL ? NULL
                         : client_error_take(producer->client, error,
                                             "committing offsets of group %s", group);
}

static Error *must_abort(const char *reason)
{
    return error_set_disposition(
        error_new(ERROR_KAFKA_TRANSACTION_ABORTABLE, "the transaction must be aborted: %s", reason),
        ERROR_ABORT);
}

/* Every record of the transaction must have been stored. */
static Error *settle_deliveries(KafkaProducer *producer, int64_t deadline)
{
    Error *error = kafka_producer_flush(&producer->base, deadline_left_ms(deadline));
    if (error != NULL) {
        if (error_disposition(error) == ERROR_FATAL) {
            return error;
        }
        Error *result = must_abort(error_message(error));
        error_free(error);
        return result;
    }
    TRY(kafka_producer_fatal(producer, "committing"));
    const Error *failed = producer->last_delivery_error;
    return failed == NULL ? NULL
                          : error_set_cause(must_abort(error_message(failed)), error_copy(failed));
}

/* Failed for good, and the request may have been sent. */
static Error *commit_failed(KafkaProducer *producer, rd_kafka_error_t *error)
{
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    bool clear = rd_kafka_error_txn_requires_abort(error) || kafka_code_is_fenced(code);
    if (clear) {
        return client_error_take(producer->client, error, "committing");
    }
    Error *result =
        error_set_disposition(error_new(ERROR_KAFKA_COMMIT_UNCLEAR,
                                        "it is not known whether the transaction was committed: %s",
                                        rd_kafka_error_string(error)),
                              ERROR_FATAL);
    return error_set_cause(result, client_error_take(producer->client, error, "committing"));
}

Error *kafka_producer_commit(LogProducer *base, int timeout_ms)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    int64_t deadline = deadline_after(timeout_ms);
    TRY(kafka_producer_require(producer, true, "commit"));
    TRY(settle_deliveries(producer, deadline));
    for (;;) {
        int left = deadline_left_ms(deadline);
        rd_kafka_error_t *error =
            rd_kafka_commit_transaction(producer->client->rk, left < 1 ? 1 : left);
        if (error == NULL) {
            producer->in_transaction = false;
            client_reached(producer->client);
            return NULL;
        }
        if (!try_again(producer, error, deadline)) {
            return commit_failed(producer, error);
        }
    }
}

Error *kafka_producer_abort(LogProducer *base, int timeout_ms)
{
    KafkaProducer *producer = (KafkaProducer *)base;
    int64_t deadline = deadline_after(timeout_ms);
    TRY(kafka_producer_require(producer, true, "abort"));
    for (;;) {
        int left = deadline_left_ms(deadline);
        rd_kafka_error_t *error =
            rd_kafka_abort_transaction(producer->client->rk, left < 1 ? 1 : left);
        if (error == NULL) {
            client_serve(producer->client);
            producer->in_transaction = false;
            return NULL;
        }
        if (!try_again(producer, error, deadline)) {
            return client_error_take(producer->client, error, "aborting");
        }
    }
}
