/* Questions about offsets: watermarks, the offset of a time, a group's committed offset. */
#include "connectors/kafka/kafka_log.h"
#include "processor/base/clock.h"

#include "processor/base/banned.h"

enum { RETRY_PAUSE_MS = 50 };

/* After a failed request: true when it is worth another try. */
static bool try_again(Client *client, rd_kafka_resp_err_t code, int64_t deadline)
{
    client_serve(client);
    if (!kafka_code_is_retriable(code) || deadline_left_ms(deadline) <= RETRY_PAUSE_MS) {
        return false;
    }
    clock_sleep_ms(RETRY_PAUSE_MS);
    return true;
}

/* A client knows a topic as it was when it last looked, and brokers learn of a new partition one
 * after another: an unknown partition is looked for again before it is an error. */
static bool partition_is_new(Client *client, rd_kafka_resp_err_t code, const char *topic,
                             int32_t partition, int64_t deadline)
{
    if ((code != RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION &&
         code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) ||
        deadline_left_ms(deadline) <= RETRY_PAUSE_MS) {
        return false;
    }
    TopicMetadata metadata = {0};
    Error *error = client_topic_lookup(client, topic, deadline_left_ms(deadline), &metadata);
    bool found = error == NULL && partition < metadata.partition_count;
    error_free(error);
    if (found) {
        clock_sleep_ms(RETRY_PAUSE_MS);
    }
    return found;
}

Error *kafka_watermarks(Log *base, const char *topic, int32_t partition, Isolation isolation,
                        int timeout_ms, int64_t *ret_start, int64_t *ret_end)
{
    KafkaLog *log = (KafkaLog *)base;
    int64_t deadline = deadline_after(timeout_ms);
    Client *client = NULL;
    TRY(kafka_log_admin(log, isolation, &client));
    TRY(kafka_log_require_topic(log, topic, timeout_ms));
    int64_t start = -1;
    int64_t end = -1;
    rd_kafka_resp_err_t code;
    do {
        code = rd_kafka_query_watermark_offsets(client->rk, topic, partition, &start, &end,
                                                deadline_left_ms(deadline));
    } while (code != RD_KAFKA_RESP_ERR_NO_ERROR &&
             (try_again(client, code, deadline) ||
              partition_is_new(client, code, topic, partition, deadline)));
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        kafka_log_forget_topic(log, topic);
        return client_error(client, code, NULL, "asking for the offsets of %s-%d", topic,
                            (int)partition);
    }
    client_reached(client);
    *ret_start = start;
    *ret_end = end;
    return NULL;
}

Error *kafka_offset_for_time(Log *base, const char *topic, int32_t partition, int64_t time_ms,
                             int timeout_ms, int64_t *ret_offset)
{
    KafkaLog *log = (KafkaLog *)base;
    int64_t deadline = deadline_after(timeout_ms);
    Client *client = NULL;
    TRY(kafka_log_admin(log, READ_UNCOMMITTED, &client));
    TRY(kafka_log_require_topic(log, topic, timeout_ms));
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_resp_err_t code;
    do {
        item->offset = time_ms < 0 ? 0 : time_ms;
        item->err = RD_KAFKA_RESP_ERR_NO_ERROR;
        code = rd_kafka_offsets_for_times(client->rk, list, deadline_left_ms(deadline));
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            code = item->err;
        }
    } while (code != RD_KAFKA_RESP_ERR_NO_ERROR &&
             (try_again(client, code, deadline) ||
              partition_is_new(client, code, topic, partition, deadline)));
    int64_t offset = item->offset;
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        kafka_log_forget_topic(log, topic);
        return client_error(client, code, NULL, "looking for a time in %s-%d", topic,
                            (int)partition);
    }
    if (offset < 0) {
        int64_t start = -1;
        return kafka_watermarks(base, topic, partition, READ_UNCOMMITTED,
                                deadline_left_ms(deadline), &start, ret_offset);
    }
    *ret_offset = offset;
    return NULL;
}

/* ------------------------------------------------------------------------- group offsets ---- */

static rd_kafka_resp_err_t read_group_result(rd_kafka_event_t *event, int64_t *ret_offset)
{
    size_t count = 0;
    const rd_kafka_group_result_t **groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
    if (count != 1) {
        return RD_KAFKA_RESP_ERR__FAIL;
    }
    const rd_kafka_error_t *error = rd_kafka_group_result_error(groups[0]);
    if (error != NULL) {
        return rd_kafka_error_code(error);
    }
    const rd_kafka_topic_partition_list_t *list = rd_kafka_group_result_partitions(groups[0]);
    if (list == NULL || list->cnt != 1) {
        return RD_KAFKA_RESP_ERR__FAIL;
    }
    *ret_offset = list->elems[0].offset < 0 ? -1 : list->elems[0].offset;
    return list->elems[0].err;
}

static rd_kafka_resp_err_t list_group_offset(Client *client, const char *group, const char *topic,
                                             int32_t partition, int timeout_ms, int64_t *ret_offset)
{
    char text[256];
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    (void)rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_ListConsumerGroupOffsets_t *request =
        rd_kafka_ListConsumerGroupOffsets_new(group, list);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(client->rk, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
    (void)rd_kafka_AdminOptions_set_request_timeout(options, timeout_ms < 1 ? 1 : timeout_ms, text,
                                                    sizeof text);
    rd_kafka_error_t *refused = rd_kafka_AdminOptions_set_require_stable_offsets(options, 1);
    if (refused != NULL) {
        rd_kafka_error_destroy(refused);
    }
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client->rk);
    rd_kafka_ListConsumerGroupOffsets(client->rk, &request, 1, options, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms + 1000);
    rd_kafka_resp_err_t code =
        event == NULL ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(event);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code = read_group_result(event, ret_offset);
    }
    if (event != NULL) {
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ListConsumerGroupOffsets_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

Error *kafka_group_offset(Log *base, const char *group, const char *topic, int32_t partition,
                          int timeout_ms, int64_t *ret_offset)
{
    KafkaLog *log = (KafkaLog *)base;
    int64_t deadline = deadline_after(timeout_ms);
    /* A client of its own, with a group: when a coordinator answers that it is none (it moves, or
     * is still to be made), librdkafka 2.0.2 asks for it through the client's group, and without
     * one the process dies. */
    const KafkaProperty own[] = {{"group.id", group}};
    AUTO(client) Client *client = NULL;
    TRY(client_open(&log->config, RD_KAFKA_CONSUMER, own, ARRAY_LENGTH(own), NULL, &client));
    int64_t offset = -1;
    rd_kafka_resp_err_t code;
    do {
        /* UNSTABLE_OFFSET_COMMIT, while a transaction that holds one is open, is retriable. */
        code =
            list_group_offset(client, group, topic, partition, deadline_left_ms(deadline), &offset);
    } while (code != RD_KAFKA_RESP_ERR_NO_ERROR && try_again(client, code, deadline));
    if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
        code == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND) {
        offset = -1;
    } else if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return client_error(client, code, NULL, "asking for the offsets of group %s", group);
    }
    *ret_offset = offset;
    return NULL;
}
