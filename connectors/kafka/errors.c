/* librdkafka's error codes as Errors: one class, one disposition, one sentence that says what is
 * wrong, where, and what to do. */
#include "connectors/kafka/client.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef enum Family {
    FAMILY_OTHER,
    FAMILY_UNREACHABLE,
    FAMILY_TIMED_OUT,
    FAMILY_DENIED,
    FAMILY_NO_TOPIC,
    FAMILY_TOPIC_EXISTS,
    FAMILY_TOO_LARGE,
    FAMILY_FENCED,
    FAMILY_OUT_OF_RANGE,
    FAMILY_CORRUPT,
    FAMILY_PURGED,
    FAMILY_SEQUENCE, /* broker and producer disagree on what was written last */
    FAMILY_RETRIABLE,
    FAMILY_REQUEST, /* the broker refuses what was asked for: its words say why */
} Family;

static Family family_of(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
        return FAMILY_UNREACHABLE;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
        return FAMILY_TIMED_OUT;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        return FAMILY_DENIED;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return FAMILY_NO_TOPIC;
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
        return FAMILY_TOPIC_EXISTS;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        return FAMILY_TOO_LARGE;
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
        return FAMILY_FENCED;
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        return FAMILY_OUT_OF_RANGE;
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
        return FAMILY_CORRUPT;
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
        return FAMILY_PURGED;
    case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING:
        return FAMILY_SEQUENCE;
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT:
    case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return FAMILY_REQUEST;
    default:
        return kafka_code_is_retriable(code) ? FAMILY_RETRIABLE : FAMILY_OTHER;
    }
}

bool kafka_code_is_retriable(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__RETRY:
    case RD_KAFKA_RESP_ERR__IN_PROGRESS:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_PREFERRED_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
    case RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED:
        return true;
    default:
        return false;
    }
}

bool kafka_code_is_fenced(rd_kafka_resp_err_t code)
{
    return family_of(code) == FAMILY_FENCED;
}

static Error *unreachable(Client *client, const char *detail, const char *doing)
{
    pthread_mutex_lock(&client->lock);
    const char *reason = client->failure != NULL ? client->failure : detail;
    Error *error = error_new(ERROR_KAFKA_UNAVAILABLE, "Kafka at %s cannot be reached while %s: %s",
                             client->bootstrap, doing, reason);
    pthread_mutex_unlock(&client->lock);
    (void)error_set_hint(error, "is the broker running, and is kafka.bootstrap its address?");
    return error_set_disposition(error, ERROR_RETRY);
}

static Error *make_error(Client *client, rd_kafka_resp_err_t code, const char *detail,
                         const char *doing)
{
    const char *at = client->bootstrap;
    if (detail == NULL || detail[0] == '\0') {
        detail = rd_kafka_err2str(code);
    }
    switch (family_of(code)) {
    case FAMILY_UNREACHABLE:
        return unreachable(client, detail, doing);
    case FAMILY_TIMED_OUT:
        if (atomic_load(&client->troubled)) {
            return unreachable(client, detail, doing);
        }
        return error_set_disposition(error_new(ERROR_KAFKA_TIMED_OUT,
                                               "Kafka at %s did not answer in time while %s: %s",
                                               at, doing, detail),
                                     ERROR_RETRY);
    case FAMILY_DENIED:
        return error_set_hint(error_new(ERROR_KAFKA_ACCESS_DENIED,
                                        "Kafka at %s denies access while %s: %s", at, doing,
                                        detail),
                              "grant the user of kafka.properties the right by an ACL");
    case FAMILY_NO_TOPIC:
        return error_new(ERROR_KAFKA_TOPIC_NOT_FOUND,
                         "topic or partition does not exist at %s while %s", at, doing);
    case FAMILY_TOPIC_EXISTS:
        return error_new(ERROR_KAFKA_TOPIC_EXISTS, "topic exists already at %s while %s", at,
                         doing);
    case FAMILY_TOO_LARGE:
        return error_set_hint(error_new(ERROR_KAFKA_RECORD_TOO_LARGE,
                                        "record is too large for the topic while %s: %s", doing,
                                        detail),
                              "raise the topic's max.message.bytes, or make the row smaller");
    case FAMILY_FENCED:
        return error_set_disposition(
            error_new(ERROR_KAFKA_FENCED,
                      "another producer took over, or the transaction outlived its time-out, while "
                      "%s: %s",
                      doing, detail),
            ERROR_FATAL);
    case FAMILY_OUT_OF_RANGE:
        return error_new(ERROR_KAFKA_OFFSET_OUT_OF_RANGE, "offset is out of range while %s: %s",
                         doing, detail);
    case FAMILY_CORRUPT:
        return error_new(ERROR_KAFKA_CORRUPT_BATCH, "corrupt batch while %s: %s", doing, detail);
    case FAMILY_PURGED:
        return error_set_disposition(error_new(ERROR_KAFKA_TRANSACTION_ABORTABLE,
                                               "dropped undelivered when the transaction was "
                                               "aborted while %s",
                                               doing),
                                     ERROR_ABORT);
    case FAMILY_SEQUENCE:
        /* A broker that hung and woke believes for a moment that it still leads, and says so. */
        return error_set_disposition(
            error_new(ERROR_KAFKA_ERROR,
                      "Kafka at %s does not know what was written before, while %s: %s", at, doing,
                      detail),
            ERROR_ABORT);
    case FAMILY_RETRIABLE:
        return error_set_disposition(error_new(ERROR_KAFKA_ERROR,
                                               "Kafka at %s is not ready while %s: %s", at, doing,
                                               detail),
                                     ERROR_RETRY);
    case FAMILY_REQUEST:
    case FAMILY_OTHER:
        return error_new(ERROR_KAFKA_ERROR, "Kafka at %s refuses while %s: %s (%s)", at, doing,
                         detail, rd_kafka_err2name(code));
    }
    assert(false && "a family without an error");
    return error_new(ERROR_INTERNAL_ERROR, "unknown Kafka error %d", (int)code);
}

PRINTF_LIKE(2, 0)
static void format_doing(Buffer *out, const char *format, va_list arguments)
{
    char text[512];
    (void)vsnprintf(text, sizeof text, format, arguments);
    buffer_append_cstr(out, text);
}

Error *client_error(Client *client, rd_kafka_resp_err_t code, const char *detail, const char *doing,
                    ...)
{
    AUTO_BUFFER Buffer text = {0};
    va_list arguments;
    va_start(arguments, doing);
    format_doing(&text, doing, arguments);
    va_end(arguments);
    return make_error(client, code, detail, buffer_cstr(&text));
}

Error *client_error_take(Client *client, rd_kafka_error_t *error, const char *doing, ...)
{
    AUTO_BUFFER Buffer text = {0};
    va_list arguments;
    va_start(arguments, doing);
    format_doing(&text, doing, arguments);
    va_end(arguments);
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    Error *result = NULL;
    if (!rd_kafka_error_is_fatal(error) && rd_kafka_error_txn_requires_abort(error)) {
        result = error_set_disposition(error_new(ERROR_KAFKA_TRANSACTION_ABORTABLE,
                                                 "the transaction must be aborted: %s while %s",
                                                 rd_kafka_error_string(error), buffer_cstr(&text)),
                                       ERROR_ABORT);
    } else {
        result = make_error(client, code, rd_kafka_error_string(error), buffer_cstr(&text));
        if (rd_kafka_error_is_fatal(error) && error_class(result) != ERROR_KAFKA_ACCESS_DENIED) {
            (void)error_set_disposition(result, ERROR_FATAL);
        }
    }
    rd_kafka_error_destroy(error);
    return result;
}
