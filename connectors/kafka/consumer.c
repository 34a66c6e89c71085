/* Consumer: partitions assigned by absolute offset, read through librdkafka's one queue.
 *
 * Positions. Assign and seek only note what is wanted; the next poll applies it in one step. A
 * partition that is being fetched is moved with a seek, whose version barrier makes librdkafka drop
 * what was fetched ahead; one that is not (new, or stopped by an error) is assigned. Each partition
 * also keeps the next offset it may deliver, so nothing is delivered twice or from before it.
 *
 * Errors. The first bad thing in a partition (offset out of range, corrupt batch, topic gone) stops
 * that partition until it is sought: librdkafka itself would skip a corrupt batch. Records read
 * before it are handed out first, then the error, and again once a minute while nobody acts.
 *
 * Memory. Records point into librdkafka's messages. A batch of messages hangs on the caller's arena
 * and destroys them when that is reset; the instance lives until the last batch is gone.
 *
 * The full queue. librdkafka 2.0.2 stops fetching when its queue is full and looks again only when
 * its broker thread wakes, up to a second later. When a poll finds the queue running low and the
 * end is not near, a watermark query wakes it (docs: README.md). */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "connectors/kafka/kafka_log.h"
#include "connectors/kafka/waker.h"
#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    QUEUE_BYTES_DEFAULT = 64 << 20,
    BYTES_PER_QUEUED_MIN =
        600, /* a queued message costs the library some 400 bytes beside itself */
    BATCH_MAX = 10000,
    ERROR_REPEAT_MS = 60000,
    TOPIC_CHECK_MS = 5000,
    SEEK_TIMEOUT_MS = 10000,
    DOWN_CHECK_MS = 1000,
};

typedef enum PartitionState {
    PARTITION_NEW,     /* to be assigned at next_offset */
    PARTITION_MOVED,   /* to be sought to next_offset */
    PARTITION_ACTIVE,  /* being read */
    PARTITION_FAILED,  /* silent until sought; `failure` says why */
    PARTITION_REMOVED, /* no longer wanted */
} PartitionState;

typedef struct Partition {
    const char *topic; /* in shared->names */
    int32_t partition;
    PartitionState state;
    bool fetched;        /* librdkafka has it in its assignment */
    bool moved_silently; /* nothing was received since the last assign or seek */
    bool at_end;         /* the last thing it brought was an end */
    int64_t next_offset;
    Error *failure;
    int64_t failure_told_ms; /* 0: not yet */
    size_t end_index;        /* in this poll's ends; SIZE_MAX: none */
} Partition;

/* What batches of messages keep alive after the consumer was closed. */
typedef struct Shared {
    atomic_size_t references;
    Client *client;
    rd_kafka_queue_t *queue;
    Arena *names;
} Shared;

typedef struct KafkaConsumer {
    LogConsumer base;
    Shared *shared;
    Client *client;
    KafkaLog *log;
    bool has_group;
    bool dirty; /* some partition is NEW, MOVED or to be dropped */
    Partition *partitions;
    size_t partition_count;
    size_t partition_capacity;
    const rd_kafka_topic_t *last_topic; /* the partition found last: messages come in runs */
    size_t last_index;
    Map checked_topics; /* name → number of partitions, as this client knows it */
    int64_t down_checked_ms;
    Waker *waker;
    size_t wake_next;
    rd_kafka_message_t *messages[BATCH_MAX]; /* of the poll under way */
} KafkaConsumer;

static void shared_unref(void *object)
{
    Shared *shared = object;
    if (atomic_fetch_sub(&shared->references, 1) != 1) {
        return;
    }
    if (shared->queue != NULL) {
        rd_kafka_queue_destroy(shared->queue);
    }
    client_close(shared->client);
    arena_free(shared->names);
    mem_free(shared);
}

/* ------------------------------------------------------------------------------------ open ---- */

typedef struct FetchSettings {
    char queue_kbytes[24];
    char queue_messages[24];
    char fetch_bytes[24];
    char partition_bytes[24];
} FetchSettings;

static size_t clamp(size_t value, size_t low, size_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* A quarter of the bound is for the response under way, the rest for the queue. */
static FetchSettings fetch_settings(size_t queue_bytes_max)
{
    FetchSettings settings;
    size_t response = clamp(queue_bytes_max / 4, 1 << 20, 64 << 20);
    size_t partition = clamp(response / 2, 1 << 20, 8 << 20);
    size_t queue = queue_bytes_max > 2 * response ? queue_bytes_max - response : response;
    (void)snprintf(settings.queue_kbytes, sizeof settings.queue_kbytes, "%zu",
                   clamp(queue / 1024, 1, 2097151));
    (void)snprintf(settings.queue_messages, sizeof settings.queue_messages, "%zu",
                   clamp(queue / BYTES_PER_QUEUED_MIN, 1000, 10000000));
    (void)snprintf(settings.fetch_bytes, sizeof settings.fetch_bytes, "%zu", response);
    (void)snprintf(settings.partition_bytes, sizeof settings.partition_bytes, "%zu", partition);
    return settings;
}

static Error *open_client(KafkaLog *log, const LogConsumerOptions *options, size_t queue_bytes,
                          Client **ret_client)
{
    FetchSettings fetch = fetch_settings(queue_bytes);
    const KafkaProperty own[] = {
        {"isolation.level",
         options->isolation == READ_COMMITTED ? "read_committed" : "read_uncommitted"},
        {"group.id", options->group == NULL ? "tidemark" : options->group},
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"enable.partition.eof", "true"},
        {"auto.offset.reset", "error"},
        {"check.crcs", "true"},
        {"topic.metadata.propagation.max.ms", "3000"},
        {"fetch.wait.max.ms", "10"},
        {"fetch.error.backoff.ms", "50"},
        /* Half of the default: a fetch of all bytes allowed still comes at 5 Mbit/s. A leader that
         * hangs is left earlier, when the metadata tells of another (client.c). */
        {"socket.timeout.ms", "30000"},
        {"queued.min.messages", fetch.queue_messages},
        {"queued.max.messages.kbytes", fetch.queue_kbytes},
        {"fetch.message.max.bytes", fetch.partition_bytes},
        {"fetch.max.bytes", fetch.fetch_bytes},
    };
    return client_open(&log->config, RD_KAFKA_CONSUMER, own, ARRAY_LENGTH(own), NULL, ret_client);
}

Error *kafka_consumer_open(Log *base, const LogConsumerOptions *options, LogConsumer **ret)
{
    KafkaLog *log = (KafkaLog *)base;
    size_t queue_bytes =
        options->queue_bytes_max == 0 ? (size_t)QUEUE_BYTES_DEFAULT : options->queue_bytes_max;
    Client *client = NULL;
    TRY(open_client(log, options, queue_bytes, &client));
    rd_kafka_poll_set_consumer(client->rk);
    client->reads = true;
    KafkaConsumer *consumer = mem_new(KafkaConsumer);
    consumer->base.ops = base->ops;
    consumer->log = log;
    consumer->client = client;
    consumer->has_group = options->group != NULL;
    consumer->shared = mem_new(Shared);
    consumer->shared->references = 2; /* the waker's too */
    consumer->shared->client = client;
    consumer->shared->queue = rd_kafka_queue_get_consumer(client->rk);
    consumer->shared->names = arena_new("kafka consumer names");
    consumer->waker = waker_open(client->rk, shared_unref, consumer->shared);
    *ret = &consumer->base;
    return NULL;
}

void kafka_consumer_close(LogConsumer *base)
{
    KafkaConsumer *consumer = (KafkaConsumer *)base;
    for (size_t i = 0; i < consumer->partition_count; i++) {
        error_free(consumer->partitions[i].failure);
    }
    mem_free(consumer->partitions);
    map_done(&consumer->checked_topics);
    waker_close(consumer->waker);
    shared_unref(consumer->shared);
    mem_free(consumer);
}

/* ------------------------------------------------------------------------------- positions ---- */

static Partition *find_partition(KafkaConsumer *consumer, const char *topic, int32_t partition)
{
    for (size_t i = 0; i < consumer->partition_count; i++) {
        Partition *candidate = &consumer->partitions[i];
        if (candidate->partition == partition && strcmp(candidate->topic, topic) == 0) {
            return candidate;
        }
    }
    return NULL;
}

static const char *intern_topic(KafkaConsumer *consumer, const char *topic)
{
    for (size_t i = 0; i < consumer->partition_count; i++) {
        if (strcmp(consumer->partitions[i].topic, topic) == 0) {
            return consumer->partitions[i].topic;
        }
    }
    return arena_copy_cstr(consumer->shared->names, str_from(topic));
}

static void want_position(KafkaConsumer *consumer, const LogPosition *position)
{
    assert(position->offset >= 0);
    Partition *partition = find_partition(consumer, position->topic, position->partition);
    if (partition == NULL) {
        const char *topic = intern_topic(consumer, position->topic);
        mem_reserve(consumer->partitions, &consumer->partition_capacity,
                    consumer->partition_count + 1);
        partition = &consumer->partitions[consumer->partition_count++];
        *partition = (Partition){.topic = topic, .partition = position->partition};
    }
    partition->state = partition->fetched ? PARTITION_MOVED : PARTITION_NEW;
    partition->next_offset = position->offset;
    partition->moved_silently = true;
    partition->at_end = false;
    error_free(partition->failure);
    partition->failure = NULL;
    consumer->dirty = true;
}

Error *kafka_consumer_assign(LogConsumer *base, const LogPosition *positions, size_t count)
{
    KafkaConsumer *consumer = (KafkaConsumer *)base;
    for (size_t i = 0; i < consumer->partition_count; i++) {
        consumer->partitions[i].state = PARTITION_REMOVED;
    }
    for (size_t i = 0; i < count; i++) {
        want_position(consumer, &positions[i]);
    }
    consumer->dirty = true;
    return NULL;
}

Error *kafka_consumer_seek(LogConsumer *base, const LogPosition *position)
{
    want_position((KafkaConsumer *)base, position);
    return NULL;
}

static void fail_partition(Partition *partition, Error *error)
{
    error_free(partition->failure);
    partition->failure = error;
    partition->failure_told_ms = 0;
    partition->state = PARTITION_FAILED;
}

/* A topic that does not exist gives no error for a long time, and a partition added since the last
 * metadata no records; so it is asked for. A broker that is away is found out by the poll. Patience
 * with brokers that do not know yet is had once, not for each partition. */
static void check_topic(KafkaConsumer *consumer, Partition *partition, int *patience_ms)
{
    Str name = str_from(partition->topic);
    TopicMetadata metadata = {0};
    if ((uintptr_t)map_get(&consumer->checked_topics, name) > (uintptr_t)partition->partition) {
        return;
    }
    Error *error = client_topic_expect(consumer->client, partition->topic, partition->partition,
                                       *patience_ms, TOPIC_CHECK_MS, &metadata);
    if (error == NULL) {
        map_put(&consumer->checked_topics, name, (void *)(uintptr_t)metadata.partition_count);
        return;
    }
    *patience_ms = 0;
    if (error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND ||
        error_class(error) == ERROR_KAFKA_ACCESS_DENIED) {
        fail_partition(partition, error);
    } else {
        error_free(error);
    }
}

typedef rd_kafka_topic_partition_list_t PositionList;

static void list_add(PositionList *list, const Partition *partition)
{
    rd_kafka_topic_partition_list_add(list, partition->topic, partition->partition)->offset =
        partition->next_offset;
}

static Error *apply_list(KafkaConsumer *consumer, PositionList *list,
                         rd_kafka_error_t *(*apply)(rd_kafka_t *, const PositionList *))
{
    rd_kafka_error_t *error = list->cnt == 0 ? NULL : apply(consumer->client->rk, list);
    return error == NULL ? NULL
                         : client_error_take(consumer->client, error, "assigning partitions");
}

/* Partitions that librdkafka fetches but that are to begin anew: it must let go of them first. */
static Error *drop_partitions(KafkaConsumer *consumer, PartitionState state)
{
    PositionList *list = rd_kafka_topic_partition_list_new(4);
    for (size_t i = 0; i < consumer->partition_count; i++) {
        Partition *partition = &consumer->partitions[i];
        if (partition->fetched && partition->state == state) {
            list_add(list, partition);
            partition->fetched = false;
        }
    }
    Error *error = apply_list(consumer, list, rd_kafka_incremental_unassign);
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

static Error *assign_new(KafkaConsumer *consumer)
{
    PositionList *list = rd_kafka_topic_partition_list_new(4);
    int patience_ms = CLIENT_TOPIC_SPREAD_MS;
    for (size_t i = 0; i < consumer->partition_count; i++) {
        Partition *partition = &consumer->partitions[i];
        if (partition->state == PARTITION_NEW) {
            check_topic(consumer, partition, &patience_ms);
        }
        if (partition->state == PARTITION_NEW) {
            list_add(list, partition);
        }
    }
    Error *error = apply_list(consumer, list, rd_kafka_incremental_assign);
    rd_kafka_topic_partition_list_destroy(list);
    if (error != NULL) {
        return error;
    }
    for (size_t i = 0; i < consumer->partition_count; i++) {
        Partition *partition = &consumer->partitions[i];
        if (partition->state == PARTITION_NEW) {
            partition->state = PARTITION_ACTIVE;
            partition->fetched = true;
        }
    }
    return NULL;
}

/* One that cannot be sought (its fetching stopped with an error) is assigned anew. */
static void take_seek_results(KafkaConsumer *consumer, const PositionList *list)
{
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *item = &list->elems[i];
        Partition *partition = find_partition(consumer, item->topic, item->partition);
        assert(partition != NULL);
        partition->state =
            item->err == RD_KAFKA_RESP_ERR_NO_ERROR ? PARTITION_ACTIVE : PARTITION_MOVED;
    }
}

static Error *seek_moved(KafkaConsumer *consumer)
{
    PositionList *list = rd_kafka_topic_partition_list_new(4);
    for (size_t i = 0; i < consumer->partition_count; i++) {
        if (consumer->partitions[i].state == PARTITION_MOVED) {
            list_add(list, &consumer->partitions[i]);
        }
    }
    rd_kafka_error_t *error =
        list->cnt == 0 ? NULL
                       : rd_kafka_seek_partitions(consumer->client->rk, list, SEEK_TIMEOUT_MS);
    if (error == NULL) {
        take_seek_results(consumer, list);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return error == NULL ? NULL : client_error_take(consumer->client, error, "seeking");
}

static Error *apply_positions(KafkaConsumer *consumer)
{
    if (!consumer->dirty) {
        return NULL;
    }
    TRY(drop_partitions(consumer, PARTITION_REMOVED));
    TRY(seek_moved(consumer));
    TRY(drop_partitions(consumer, PARTITION_MOVED));
    for (size_t i = 0; i < consumer->partition_count; i++) {
        if (consumer->partitions[i].state == PARTITION_MOVED) {
            consumer->partitions[i].state = PARTITION_NEW;
        }
    }
    TRY(assign_new(consumer));
    consumer->dirty = false;
    return NULL;
}

/* -------------------------------------------------------------------------------- messages ---- */

typedef struct MessageBatch {
    Shared *shared;
    rd_kafka_message_t **messages;
    size_t count;
} MessageBatch;

static void release_batch(void *object)
{
    MessageBatch *batch = object;
    for (size_t i = 0; i < batch->count; i++) {
        rd_kafka_message_destroy(batch->messages[i]);
    }
    shared_unref(batch->shared);
}

/* What a poll gathers. */
typedef struct Gather {
    LogRecord *records;
    size_t record_count;
    LogPosition *ends;
    size_t end_count;
} Gather;

static Partition *partition_of(KafkaConsumer *consumer, const rd_kafka_message_t *message)
{
    if (message->rkt == NULL) {
        return NULL;
    }
    if (consumer->last_topic == message->rkt && consumer->last_index < consumer->partition_count &&
        consumer->partitions[consumer->last_index].partition == message->partition) {
        return &consumer->partitions[consumer->last_index];
    }
    Partition *partition =
        find_partition(consumer, rd_kafka_topic_name(message->rkt), message->partition);
    if (partition != NULL) {
        consumer->last_topic = message->rkt;
        consumer->last_index = (size_t)(partition - consumer->partitions);
    }
    return partition;
}

static void read_headers(rd_kafka_message_t *message, Arena *arena, LogRecord *record)
{
    rd_kafka_headers_t *headers = NULL;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    size_t count = rd_kafka_header_cnt(headers);
    LogHeader *copies = arena_new_array(arena, LogHeader, count);
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        const void *value = NULL;
        size_t size = 0;
        if (rd_kafka_header_get_all(headers, i, &name, &value, &size) !=
            RD_KAFKA_RESP_ERR_NO_ERROR) {
            count = i;
            break;
        }
        copies[i].name = str_from(name);
        copies[i].value = (Str){value, value == NULL ? 0 : size};
    }
    record->headers = copies;
    record->header_count = count;
}

static void take_record(Partition *partition, rd_kafka_message_t *message, Arena *arena,
                        Gather *gather)
{
    if (message->offset < partition->next_offset) {
        return;
    }
    partition->next_offset = message->offset + 1;
    partition->moved_silently = false;
    partition->at_end = false;
    if (partition->end_index != SIZE_MAX) {
        /* An end seen before this record in the same poll is no longer the end. */
        gather->ends[partition->end_index].offset = -1;
        partition->end_index = SIZE_MAX;
    }
    rd_kafka_timestamp_type_t type;
    LogRecord *record = &gather->records[gather->record_count++];
    *record = (LogRecord){
        .topic = partition->topic,
        .partition = partition->partition,
        .offset = message->offset,
        .timestamp_ms = rd_kafka_message_timestamp(message, &type),
        .key = {message->key, message->key == NULL ? 0 : message->key_len},
        .value = {message->payload, message->payload == NULL ? 0 : message->len},
    };
    read_headers(message, arena, record);
}

static void take_end(Partition *partition, int64_t offset, Gather *gather)
{
    if (offset < partition->next_offset) {
        return;
    }
    partition->next_offset = offset;
    partition->moved_silently = false;
    partition->at_end = true;
    if (partition->end_index == SIZE_MAX) {
        partition->end_index = gather->end_count++;
    }
    gather->ends[partition->end_index] =
        (LogPosition){partition->topic, partition->partition, offset};
}

static Error *out_of_range(KafkaConsumer *consumer, const Partition *partition)
{
    (void)consumer;
    return error_set_hint(
        error_new(ERROR_KAFKA_OFFSET_OUT_OF_RANGE,
                  "offset %lld of %s-%d is out of range: the topic does not hold it",
                  (long long)partition->next_offset, partition->topic, (int)partition->partition),
        "records were deleted, or the topic was made anew");
}

static Error *corrupt(const Partition *partition, const rd_kafka_message_t *message)
{
    int64_t offset = message->offset >= 0 ? message->offset : partition->next_offset;
    return error_set_hint(error_new(ERROR_KAFKA_CORRUPT_BATCH,
                                    "the batch at offset %lld of %s-%d is corrupt: %s",
                                    (long long)offset, partition->topic, (int)partition->partition,
                                    rd_kafka_message_errstr(message)),
                          "repair or replace the replica, or move the position behind the batch");
}

/* An error in place of a message. What stops the partition is kept for this or a later poll; what
 * librdkafka goes on retrying becomes *ret_passing. */
static void take_error(KafkaConsumer *consumer, Partition *partition,
                       const rd_kafka_message_t *message, Error **ret_passing)
{
    switch (message->err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        if (partition->moved_silently && message->offset >= 0 &&
            message->offset != partition->next_offset) {
            /* It is about the position before the seek, and has stopped the fetching. */
            partition->state = PARTITION_MOVED;
            consumer->dirty = true;
        } else {
            fail_partition(partition, out_of_range(consumer, partition));
        }
        return;
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
        fail_partition(partition, corrupt(partition, message));
        return;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        map_remove(&consumer->checked_topics, str_from(partition->topic));
        fail_partition(partition,
                       error_new(ERROR_KAFKA_TOPIC_NOT_FOUND, "%s-%d does not exist any more at %s",
                                 partition->topic, (int)partition->partition,
                                 consumer->client->bootstrap));
        return;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        fail_partition(partition, client_error(consumer->client, message->err, NULL,
                                               "reading topic %s", partition->topic));
        return;
    default:
        error_free(*ret_passing);
        *ret_passing = error_set_disposition(
            client_error(consumer->client, message->err, rd_kafka_message_errstr(message),
                         "reading %s-%d", partition->topic, (int)partition->partition),
            ERROR_RETRY);
    }
}

static void take_message(KafkaConsumer *consumer, rd_kafka_message_t *message, Arena *arena,
                         Gather *gather, Error **ret_passing)
{
    Partition *partition = partition_of(consumer, message);
    if (partition == NULL) {
        /* Group errors do not matter: offsets are given, and committed by the producer. */
        bool group_error = message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
                           message->err == RD_KAFKA_RESP_ERR__WAIT_COORD;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && !group_error && message->rkt == NULL) {
            error_free(*ret_passing);
            *ret_passing = client_error(consumer->client, message->err,
                                        rd_kafka_message_errstr(message), "reading");
        }
    } else if (partition->state != PARTITION_ACTIVE) {
        return;
    } else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        take_record(partition, message, arena, gather);
    } else if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        take_end(partition, message->offset, gather);
    } else {
        take_error(consumer, partition, message, ret_passing);
    }
}

/* Turns the `count` messages just read into records and ends; they belong to the arena now. */
static Error *take_batch(KafkaConsumer *consumer, size_t count, Arena *arena, Gather *gather)
{
    rd_kafka_message_t **messages = arena_alloc(arena, count * sizeof *messages);
    memcpy(messages, consumer->messages, count * sizeof *messages);
    MessageBatch *batch = arena_new_object(arena, MessageBatch);
    *batch = (MessageBatch){.shared = consumer->shared, .messages = messages, .count = count};
    atomic_fetch_add(&consumer->shared->references, 1);
    arena_on_reset(arena, release_batch, batch);
    *gather = (Gather){.records = arena_alloc(arena, count * sizeof(LogRecord)),
                       .ends = arena_alloc(arena, count * sizeof(LogPosition))};
    for (size_t i = 0; i < consumer->partition_count; i++) {
        consumer->partitions[i].end_index = SIZE_MAX;
    }
    Error *passing = NULL;
    for (size_t i = 0; i < count; i++) {
        take_message(consumer, messages[i], arena, gather, &passing);
    }
    size_t kept = 0;
    for (size_t i = 0; i < gather->end_count; i++) {
        if (gather->ends[i].offset >= 0) {
            gather->ends[kept++] = gather->ends[i];
        }
    }
    gather->end_count = kept;
    if (passing != NULL && gather->record_count + gather->end_count > 0) {
        /* It is retried inside and comes again if it lasts. */
        error_free(passing);
        passing = NULL;
    }
    return passing;
}

/* ------------------------------------------------------------------------------------ poll ---- */

/* A failed partition's error: at once, then once a minute. */
static Error *told_failure(KafkaConsumer *consumer)
{
    int64_t now = 0;
    for (size_t i = 0; i < consumer->partition_count; i++) {
        Partition *partition = &consumer->partitions[i];
        if (partition->state != PARTITION_FAILED) {
            continue;
        }
        now = now != 0 ? now : clock_monotonic_ms();
        if (partition->failure_told_ms == 0 ||
            now - partition->failure_told_ms >= ERROR_REPEAT_MS) {
            partition->failure_told_ms = now;
            return error_copy(partition->failure);
        }
    }
    return NULL;
}

/* librdkafka said that no broker could be reached; it says nothing when that has healed. Ask, at
 * most once a second. */
static Error *check_down(KafkaConsumer *consumer, int timeout_ms)
{
    int64_t now = clock_monotonic_ms();
    if (!atomic_load(&consumer->client->down) || now - consumer->down_checked_ms < DOWN_CHECK_MS) {
        return NULL;
    }
    consumer->down_checked_ms = now;
    Error *error = client_ping(consumer->client, timeout_ms < 200 ? 200 : timeout_ms);
    if (error != NULL) {
        atomic_store(&consumer->client->down, true);
    }
    return error;
}

/* See waker.h. Partitions take turns, so that every leader's thread is woken. */
static void wake_fetching(KafkaConsumer *consumer, size_t taken)
{
    size_t length = rd_kafka_queue_length(consumer->shared->queue);
    if (!waker_is_due(consumer->waker, length, taken)) {
        return;
    }
    for (size_t i = 0; i < consumer->partition_count; i++) {
        size_t index = consumer->wake_next++ % consumer->partition_count;
        const Partition *partition = &consumer->partitions[index];
        if (partition->state == PARTITION_ACTIVE && !partition->at_end) {
            waker_wake(consumer->waker, partition->topic, partition->partition);
            return;
        }
    }
}

/* Waits for one message at least, then takes what is there: librdkafka's batch call would wait for
 * a whole batch. */
static size_t wait_messages(KafkaConsumer *consumer, int timeout_ms, size_t max)
{
    rd_kafka_queue_t *queue = consumer->shared->queue;
    rd_kafka_message_t **messages = consumer->messages;
    ssize_t count = rd_kafka_consume_batch_queue(queue, 0, messages, max);
    if (count <= 0 && timeout_ms > 0) {
        count = rd_kafka_consume_batch_queue(queue, timeout_ms, messages, 1);
        if (count > 0 && max > 1) {
            ssize_t more = rd_kafka_consume_batch_queue(queue, 0, messages + 1, max - 1);
            count += more > 0 ? more : 0;
        }
    }
    return count > 0 ? (size_t)count : 0;
}

Error *kafka_consumer_poll(LogConsumer *base, int timeout_ms, size_t records_max, Arena *arena,
                           LogPoll *ret_poll)
{
    enum { SLICE_MS = 100 };
    KafkaConsumer *consumer = (KafkaConsumer *)base;
    int64_t deadline = deadline_after(timeout_ms);
    size_t max = records_max < BATCH_MAX ? records_max : BATCH_MAX;
    for (;;) {
        TRY(apply_positions(consumer));
        int left = deadline_left_ms(deadline);
        size_t count = wait_messages(consumer, left < SLICE_MS ? left : SLICE_MS, max);
        if (count > 0) {
            Gather gather;
            TRY(take_batch(consumer, count, arena, &gather));
            wake_fetching(consumer, count);
            if (gather.record_count + gather.end_count > 0) {
                atomic_store(&consumer->client->down, false);
                *ret_poll =
                    (LogPoll){gather.records, gather.record_count, gather.ends, gather.end_count};
                return NULL;
            }
        }
        TRY(told_failure(consumer));
        TRY(check_down(consumer, deadline_left_ms(deadline)));
        if (deadline_left_ms(deadline) == 0) {
            *ret_poll = (LogPoll){0};
            return NULL;
        }
    }
}
