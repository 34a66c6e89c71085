/* Topics: describe, create, delete, grow, settings, deleting records. Requests of librdkafka's
 * admin interface are asynchronous; here each waits for its one event. */
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "connectors/kafka/kafka_log.h"
#include "processor/base/clock.h"

#include "processor/base/banned.h"

enum { CONFIG_TIMEOUT_MS = 30000, POLL_PAUSE_MS = 20 };

/* One admin request under way: its queue and options. */
typedef struct Request {
    Client *client;
    rd_kafka_queue_t *queue;
    rd_kafka_AdminOptions_t *options;
    int64_t deadline;
} Request;

static Request request_begin(Client *client, rd_kafka_admin_op_t operation, int timeout_ms)
{
    char text[256];
    Request request = {.client = client, .deadline = deadline_after(timeout_ms)};
    int left = timeout_ms < 1 ? 1 : timeout_ms;
    request.options = rd_kafka_AdminOptions_new(client->rk, operation);
    (void)rd_kafka_AdminOptions_set_request_timeout(request.options, left, text, sizeof text);
    if (operation == RD_KAFKA_ADMIN_OP_CREATETOPICS ||
        operation == RD_KAFKA_ADMIN_OP_DELETETOPICS ||
        operation == RD_KAFKA_ADMIN_OP_CREATEPARTITIONS ||
        operation == RD_KAFKA_ADMIN_OP_DELETERECORDS) {
        (void)rd_kafka_AdminOptions_set_operation_timeout(request.options, left, text, sizeof text);
    }
    request.queue = rd_kafka_queue_new(client->rk);
    return request;
}

static void request_done(Request *request)
{
    rd_kafka_queue_destroy(request->queue);
    rd_kafka_AdminOptions_destroy(request->options);
}

/* Waits for the event; NULL and *ret_event (the caller destroys it) when the request as a whole was
 * answered. */
static Error *request_wait(Request *request, const char *doing, rd_kafka_event_t **ret_event)
{
    rd_kafka_event_t *event =
        rd_kafka_queue_poll(request->queue, deadline_left_ms(request->deadline) + 1000);
    client_serve(request->client);
    rd_kafka_resp_err_t code =
        event == NULL ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(event);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        Error *error =
            client_error(request->client, code,
                         event == NULL ? NULL : rd_kafka_event_error_string(event), "%s", doing);
        if (event != NULL) {
            rd_kafka_event_destroy(event);
        }
        return error;
    }
    client_reached(request->client);
    *ret_event = event;
    return NULL;
}

static Error *topic_result(Client *client, const rd_kafka_topic_result_t **results, size_t count,
                           const char *doing)
{
    assert(count == 1);
    rd_kafka_resp_err_t code = rd_kafka_topic_result_error(results[0]);
    if (count == 0 || code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        return NULL;
    }
    return client_error(client, code, rd_kafka_topic_result_error_string(results[0]), "%s", doing);
}

/* ------------------------------------------------------------------------------- describe ---- */

Error *kafka_ping(Log *base, int timeout_ms)
{
    Client *client = NULL;
    TRY(kafka_log_admin((KafkaLog *)base, READ_UNCOMMITTED, &client));
    return client_ping(client, timeout_ms);
}

Error *kafka_topic_describe(Log *base, const char *topic, int timeout_ms, LogTopicDescription *ret)
{
    Client *client = NULL;
    TopicMetadata metadata = {0};
    TRY(kafka_log_admin((KafkaLog *)base, READ_UNCOMMITTED, &client));
    TRY(client_topic_lookup(client, topic, timeout_ms, &metadata));
    *ret = (LogTopicDescription){.partition_count = metadata.partition_count};
    return NULL;
}

static Error *find_config(Client *client, rd_kafka_event_t *event, const char *topic,
                          const char *name, Arena *arena, const char **ret_value)
{
    size_t count = 0;
    const rd_kafka_ConfigResource_t **resources = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count);
    if (count != 1) {
        return error_new(ERROR_KAFKA_ERROR, "no settings came back for topic %s", topic);
    }
    rd_kafka_resp_err_t code = rd_kafka_ConfigResource_error(resources[0]);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return client_error(client, code, rd_kafka_ConfigResource_error_string(resources[0]),
                            "reading the settings of topic %s", topic);
    }
    size_t entry_count = 0;
    const rd_kafka_ConfigEntry_t **entries =
        rd_kafka_ConfigResource_configs(resources[0], &entry_count);
    *ret_value = NULL;
    for (size_t i = 0; i < entry_count; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), name) == 0 && value != NULL) {
            *ret_value = arena_copy_cstr(arena, str_from(value));
        }
    }
    return NULL;
}

static Error *ask_config(Client *client, const char *topic, const char *name, Arena *arena,
                         const char **ret_value)
{
    Request request = request_begin(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, CONFIG_TIMEOUT_MS);
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_DescribeConfigs(client->rk, &resource, 1, request.options, request.queue);
    rd_kafka_event_t *event = NULL;
    Error *error = request_wait(&request, "reading the settings of a topic", &event);
    if (error == NULL) {
        error = find_config(client, event, topic, name, arena, ret_value);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_ConfigResource_destroy(resource);
    request_done(&request);
    return error;
}

/* A broker that does not know the topic yet is asked, or another one, until it should know it. */
Error *kafka_topic_config(Log *base, const char *topic, const char *name, Arena *arena,
                          const char **ret_value)
{
    Client *client = NULL;
    TRY(kafka_log_admin((KafkaLog *)base, READ_UNCOMMITTED, &client));
    int64_t deadline = deadline_after(CLIENT_TOPIC_SPREAD_MS);
    for (;;) {
        Error *error = ask_config(client, topic, name, arena, ret_value);
        if (error == NULL || error_class(error) != ERROR_KAFKA_TOPIC_NOT_FOUND ||
            deadline_left_ms(deadline) == 0) {
            return error;
        }
        error_free(error);
        clock_sleep_ms(POLL_PAUSE_MS);
    }
}

/* --------------------------------------------------------------------------------- change ---- */

/* Waits until metadata shows `partitions` partitions, each with a leader. */
static Error *wait_usable(Client *client, const char *topic, int partitions, int64_t deadline)
{
    for (;;) {
        TopicMetadata metadata = {0};
        Error *error =
            client_topic_lookup(client, topic, deadline_left_ms(deadline) + 1000, &metadata);
        if (error == NULL && metadata.all_led && metadata.partition_count >= partitions) {
            return NULL;
        }
        bool pending = error == NULL || error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND;
        if (!pending) {
            return error;
        }
        error_free(error);
        if (deadline_left_ms(deadline) == 0) {
            return error_set_disposition(error_new(ERROR_KAFKA_TIMED_OUT,
                                                   "topic %s was made but is not usable in time",
                                                   topic),
                                         ERROR_RETRY);
        }
        clock_sleep_ms(POLL_PAUSE_MS);
    }
}

static Error *fill_new_topic(rd_kafka_NewTopic_t *topic, const LogTopicSpec *spec)
{
    for (size_t i = 0; i < spec->config_count; i++) {
        rd_kafka_resp_err_t code =
            rd_kafka_NewTopic_set_config(topic, spec->config[i].name, spec->config[i].value);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return error_new(ERROR_KAFKA_CONFIGURATION, "topic %s: setting %s: %s", spec->name,
                             spec->config[i].name, rd_kafka_err2str(code));
        }
    }
    return NULL;
}

static Error *send_create(Client *client, rd_kafka_NewTopic_t *topic, const char *name,
                          int timeout_ms)
{
    AUTO_BUFFER Buffer doing = {0};
    buffer_printf(&doing, "creating topic %s", name);
    Request request = request_begin(client, RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout_ms);
    rd_kafka_CreateTopics(client->rk, &topic, 1, request.options, request.queue);
    rd_kafka_event_t *event = NULL;
    Error *error = request_wait(&request, buffer_cstr(&doing), &event);
    if (error == NULL) {
        size_t count = 0;
        const rd_kafka_topic_result_t **results =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        error = topic_result(client, results, count, buffer_cstr(&doing));
        rd_kafka_event_destroy(event);
    }
    request_done(&request);
    return error;
}

Error *kafka_topic_create(Log *base, const LogTopicSpec *spec, int timeout_ms)
{
    Client *client = NULL;
    int64_t deadline = deadline_after(timeout_ms);
    TRY(kafka_log_admin((KafkaLog *)base, READ_UNCOMMITTED, &client));
    char text[512];
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(spec->name, spec->partitions,
                                                       spec->replication_factor, text, sizeof text);
    if (topic == NULL) {
        return error_new(ERROR_KAFKA_CONFIGURATION, "topic %s cannot be created: %s", spec->name,
                         text);
    }
    Error *error = fill_new_topic(topic, spec);
    if (error == NULL) {
        error = send_create(client, topic, spec->name, timeout_ms);
    }
    rd_kafka_NewTopic_destroy(topic);
    return error != NULL ? error : wait_usable(client, spec->name, spec->partitions, deadline);
}

/* Until metadata no longer shows it, so that it can be created again. */
static Error *wait_gone(Client *client, const char *topic, int64_t deadline)
{
    for (;;) {
        TopicMetadata metadata = {0};
        Error *error =
            client_topic_lookup(client, topic, deadline_left_ms(deadline) + 1000, &metadata);
        if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
            error_free(error);
            return NULL;
        }
        if (error != NULL || deadline_left_ms(deadline) == 0) {
            return error;
        }
        clock_sleep_ms(POLL_PAUSE_MS);
    }
}

static Error *send_delete(Client *client, const char *topic, int timeout_ms)
{
    AUTO_BUFFER Buffer doing = {0};
    buffer_printf(&doing, "deleting topic %s", topic);
    Request request = request_begin(client, RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout_ms);
    rd_kafka_DeleteTopic_t *deleted = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_DeleteTopics(client->rk, &deleted, 1, request.options, request.queue);
    rd_kafka_event_t *event = NULL;
    Error *error = request_wait(&request, buffer_cstr(&doing), &event);
    if (error == NULL) {
        size_t count = 0;
        const rd_kafka_topic_result_t **results =
            rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
        error = topic_result(client, results, count, buffer_cstr(&doing));
        rd_kafka_event_destroy(event);
    }
    rd_kafka_DeleteTopic_destroy(deleted);
    request_done(&request);
    return error;
}

Error *kafka_topic_delete(Log *base, const char *topic, int timeout_ms)
{
    KafkaLog *log = (KafkaLog *)base;
    Client *client = NULL;
    int64_t deadline = deadline_after(timeout_ms);
    TRY(kafka_log_admin(log, READ_UNCOMMITTED, &client));
    kafka_log_forget_topic(log, topic);
    Error *error = send_delete(client, topic, timeout_ms);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND) {
        error_free(error);
        return NULL;
    }
    return error != NULL ? error : wait_gone(client, topic, deadline);
}

static Error *send_grow(Client *client, rd_kafka_NewPartitions_t *grown, const char *topic,
                        int timeout_ms)
{
    AUTO_BUFFER Buffer doing = {0};
    buffer_printf(&doing, "adding partitions to topic %s", topic);
    Request request = request_begin(client, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeout_ms);
    rd_kafka_CreatePartitions(client->rk, &grown, 1, request.options, request.queue);
    rd_kafka_event_t *event = NULL;
    Error *error = request_wait(&request, buffer_cstr(&doing), &event);
    if (error == NULL) {
        size_t count = 0;
        const rd_kafka_topic_result_t **results = rd_kafka_CreatePartitions_result_topics(
            rd_kafka_event_CreatePartitions_result(event), &count);
        error = topic_result(client, results, count, buffer_cstr(&doing));
        rd_kafka_event_destroy(event);
    }
    request_done(&request);
    return error;
}

Error *kafka_topic_add_partitions(Log *base, const char *topic, int partitions, int timeout_ms)
{
    Client *client = NULL;
    int64_t deadline = deadline_after(timeout_ms);
    TRY(kafka_log_admin((KafkaLog *)base, READ_UNCOMMITTED, &client));
    char text[512];
    rd_kafka_NewPartitions_t *grown =
        rd_kafka_NewPartitions_new(topic, (size_t)partitions, text, sizeof text);
    if (grown == NULL) {
        return error_new(ERROR_KAFKA_CONFIGURATION, "topic %s cannot have %d partitions: %s", topic,
                         partitions, text);
    }
    Error *error = send_grow(client, grown, topic, timeout_ms);
    rd_kafka_NewPartitions_destroy(grown);
    return error != NULL ? error : wait_usable(client, topic, partitions, deadline);
}

/* -------------------------------------------------------------------------- delete records ---- */

static Error *deleted_result(Client *client, rd_kafka_event_t *event, const char *doing)
{
    const rd_kafka_topic_partition_list_t *offsets =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
    if (offsets == NULL || offsets->cnt != 1) {
        return error_new(ERROR_KAFKA_ERROR, "no answer while %s", doing);
    }
    rd_kafka_resp_err_t code = offsets->elems[0].err;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? NULL
                                              : client_error(client, code, NULL, "%s", doing);
}

Error *kafka_records_delete(Log *base, const char *topic, int32_t partition, int64_t offset,
                            int timeout_ms)
{
    KafkaLog *log = (KafkaLog *)base;
    Client *client = NULL;
    TRY(kafka_log_admin(log, READ_UNCOMMITTED, &client));
    TRY(kafka_log_require_topic(log, topic, timeout_ms));
    AUTO_BUFFER Buffer doing = {0};
    buffer_printf(&doing, "deleting records of %s-%d before offset %lld", topic, (int)partition,
                  (long long)offset);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
    rd_kafka_DeleteRecords_t *deleted = rd_kafka_DeleteRecords_new(list);
    Request request = request_begin(client, RD_KAFKA_ADMIN_OP_DELETERECORDS, timeout_ms);
    rd_kafka_DeleteRecords(client->rk, &deleted, 1, request.options, request.queue);
    rd_kafka_event_t *event = NULL;
    Error *error = request_wait(&request, buffer_cstr(&doing), &event);
    if (error == NULL) {
        error = deleted_result(client, event, buffer_cstr(&doing));
        rd_kafka_event_destroy(event);
    }
    request_done(&request);
    rd_kafka_DeleteRecords_destroy(deleted);
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}
