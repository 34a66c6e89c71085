/* A client connection: the Log, its admin calls, and the table that makes it one. */
#include <assert.h>

#include "connectors/sim/broker.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct SimLog {
    Log base;
    SimBroker *broker;
} SimLog;

SimBroker *sim_log_broker(const Log *log)
{
    return ((const SimLog *)log)->broker;
}

Log *sim_broker_connect(SimBroker *broker)
{
    SimLog *log = mem_new(SimLog);
    log->base.ops = &sim_ops;
    log->broker = broker;
    sim_lock(broker);
    broker->handles++;
    sim_unlock(broker);
    return &log->base;
}

static void close_log(Log *log)
{
    SimBroker *broker = sim_log_broker(log);
    sim_lock(broker);
    broker->handles--;
    sim_unlock(broker);
    mem_free(log);
}

static const char *name(const Log *log)
{
    (void)log;
    return "model";
}

/* ------------------------------------------------------------------- one admin call's frame ----
 */

/* An admin call under the lock: availability and faults first, then `act`. After a lost answer the
 * call has acted all the same. */
typedef Error *AdminAct(SimBroker *broker, void *arguments);

static Error *admin_locked(SimBroker *broker, const char *topic, AdminAct *act, void *arguments)
{
    TRY(sim_check_available(broker));
    SimFailure failure = sim_fault(broker, SIM_ADMIN, topic);
    if (failure == SIM_NO_FAILURE) {
        return act(broker, arguments);
    }
    if (failure == SIM_UNCLEAR_COMMITTED) {
        error_free(act(broker, arguments));
    }
    return sim_timed_out("admin");
}

static Error *admin(Log *log, const char *topic, AdminAct *act, void *arguments)
{
    SimBroker *broker = sim_log_broker(log);
    sim_lock(broker);
    Error *error = admin_locked(broker, topic, act, arguments);
    sim_changed(broker);
    sim_unlock(broker);
    return error;
}

static Error *act_nothing(SimBroker *broker, void *arguments)
{
    (void)broker;
    (void)arguments;
    return NULL;
}

static Error *ping(Log *log, int timeout_ms)
{
    (void)timeout_ms;
    return admin(log, NULL, act_nothing, NULL);
}

/* -------------------------------------------------------------------------------- topics ---- */

typedef struct TopicCall {
    const char *topic;
    const LogTopicSpec *spec;
    LogTopicDescription *ret_description;
    const char *config_name;
    Arena *arena;
    const char **ret_value;
    int partitions;
} TopicCall;

static Error *act_describe(SimBroker *broker, void *arguments)
{
    TopicCall *call = arguments;
    SimTopic *topic = NULL;
    TRY(sim_topic_find(broker, call->topic, &topic));
    call->ret_description->partition_count = (int)topic->partition_count;
    return NULL;
}

static Error *topic_describe(Log *log, const char *topic, int timeout_ms, LogTopicDescription *ret)
{
    (void)timeout_ms;
    TopicCall call = {.topic = topic, .ret_description = ret};
    return admin(log, topic, act_describe, &call);
}

static Error *act_config(SimBroker *broker, void *arguments)
{
    TopicCall *call = arguments;
    SimTopic *topic = NULL;
    TRY(sim_topic_find(broker, call->topic, &topic));
    const char *value = sim_topic_config(topic, call->config_name);
    *call->ret_value = value == NULL ? NULL : arena_copy_cstr(call->arena, str_from(value));
    return NULL;
}

static Error *topic_config(Log *log, const char *topic, const char *config_name, Arena *arena,
                           const char **ret_value)
{
    TopicCall call = {
        .topic = topic, .config_name = config_name, .arena = arena, .ret_value = ret_value};
    return admin(log, topic, act_config, &call);
}

/* Kafka: 1 to 249 of [A-Za-z0-9._-], but not "." and "..". */
static bool is_topic_name(Str text)
{
    if (text.size == 0 || text.size > 249 || str_equal(text, STR(".")) ||
        str_equal(text, STR(".."))) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-') {
            return false;
        }
    }
    return true;
}

static Error *check_spec(const SimTopic *topic, const LogTopicSpec *spec)
{
    if (topic->denied) {
        return error_new(ERROR_KAFKA_ACCESS_DENIED, "Creating the topic `%s` is denied.",
                         spec->name);
    }
    if (topic->exists) {
        return error_new(ERROR_KAFKA_TOPIC_EXISTS, "The topic `%s` exists already.", spec->name);
    }
    if (!is_topic_name(str_from(spec->name))) {
        return error_new(ERROR_KAFKA_CONFIGURATION, "`%s` is not a legal topic name.", spec->name);
    }
    if (spec->partitions < 1) {
        return error_new(ERROR_KAFKA_CONFIGURATION, "A topic needs at least one partition, not %d.",
                         spec->partitions);
    }
    return NULL;
}

static Error *act_create(SimBroker *broker, void *arguments)
{
    const LogTopicSpec *spec = ((TopicCall *)arguments)->spec;
    SimTopic *topic = sim_topic(broker, spec->name);
    TRY(check_spec(topic, spec));
    for (size_t i = 0; i < spec->config_count; i++) {
        Error *error = sim_topic_set_config(topic, spec->config[i].name, spec->config[i].value);
        if (error != NULL) {
            sim_topic_delete(broker, topic);
            return error;
        }
    }
    topic->exists = true;
    sim_topic_add_partitions(topic, (size_t)spec->partitions);
    return NULL;
}

static Error *topic_create(Log *log, const LogTopicSpec *spec, int timeout_ms)
{
    (void)timeout_ms;
    TopicCall call = {.spec = spec};
    return admin(log, spec->name, act_create, &call);
}

static Error *act_delete(SimBroker *broker, void *arguments)
{
    SimTopic *topic = sim_topic(broker, ((TopicCall *)arguments)->topic);
    if (topic->denied) {
        return error_new(ERROR_KAFKA_ACCESS_DENIED, "Deleting the topic `%s` is denied.",
                         topic->name);
    }
    sim_topic_delete(broker, topic);
    return NULL;
}

static Error *topic_delete(Log *log, const char *topic, int timeout_ms)
{
    (void)timeout_ms;
    TopicCall call = {.topic = topic};
    return admin(log, topic, act_delete, &call);
}

static Error *act_add_partitions(SimBroker *broker, void *arguments)
{
    TopicCall *call = arguments;
    SimTopic *topic = NULL;
    TRY(sim_topic_find(broker, call->topic, &topic));
    if (call->partitions <= (int)topic->partition_count) {
        return error_new(ERROR_KAFKA_CONFIGURATION,
                         "The topic `%s` has %zu partitions already; it can only get more, not %d.",
                         call->topic, topic->partition_count, call->partitions);
    }
    sim_topic_add_partitions(topic, (size_t)call->partitions);
    return NULL;
}

static Error *topic_add_partitions(Log *log, const char *topic, int partitions, int timeout_ms)
{
    (void)timeout_ms;
    TopicCall call = {.topic = topic, .partitions = partitions};
    return admin(log, topic, act_add_partitions, &call);
}

/* --------------------------------------------------------------------------- partitions ---- */

typedef struct PartitionCall {
    const char *topic;
    int32_t partition;
    Isolation isolation;
    int64_t argument; /* a time or an offset */
    int64_t *ret_start;
    int64_t *ret_offset;
} PartitionCall;

static Error *act_watermarks(SimBroker *broker, void *arguments)
{
    PartitionCall *call = arguments;
    SimPartition *partition = NULL;
    TRY(sim_partition_find(broker, call->topic, call->partition, &partition));
    *call->ret_start = partition->start;
    *call->ret_offset = sim_partition_visible_end(partition, call->isolation);
    return NULL;
}

static Error *watermarks(Log *log, const char *topic, int32_t partition, Isolation isolation,
                         int timeout_ms, int64_t *ret_start, int64_t *ret_end)
{
    (void)timeout_ms;
    PartitionCall call = {.topic = topic,
                          .partition = partition,
                          .isolation = isolation,
                          .ret_start = ret_start,
                          .ret_offset = ret_end};
    return admin(log, topic, act_watermarks, &call);
}

static Error *act_offset_for_time(SimBroker *broker, void *arguments)
{
    PartitionCall *call = arguments;
    SimPartition *partition = NULL;
    TRY(sim_partition_find(broker, call->topic, call->partition, &partition));
    *call->ret_offset = sim_partition_offset_for_time(partition, call->argument);
    return NULL;
}

static Error *offset_for_time(Log *log, const char *topic, int32_t partition, int64_t time_ms,
                              int timeout_ms, int64_t *ret_offset)
{
    (void)timeout_ms;
    PartitionCall call = {
        .topic = topic, .partition = partition, .argument = time_ms, .ret_offset = ret_offset};
    return admin(log, topic, act_offset_for_time, &call);
}

static Error *act_records_delete(SimBroker *broker, void *arguments)
{
    PartitionCall *call = arguments;
    SimPartition *partition = NULL;
    TRY(sim_partition_find(broker, call->topic, call->partition, &partition));
    if (call->argument < 0 || call->argument > partition->end) {
        return error_new(ERROR_KAFKA_OFFSET_OUT_OF_RANGE,
                         "Cannot delete the records of `%s`, partition %d, up to offset %lld: the "
                         "log ends at %lld.",
                         call->topic, call->partition, (long long)call->argument,
                         (long long)partition->end);
    }
    sim_partition_trim(partition, call->argument);
    return NULL;
}

static Error *records_delete(Log *log, const char *topic, int32_t partition, int64_t offset,
                             int timeout_ms)
{
    (void)timeout_ms;
    PartitionCall call = {.topic = topic, .partition = partition, .argument = offset};
    return admin(log, topic, act_records_delete, &call);
}

/* ------------------------------------------------------------------------- group offsets ---- */

typedef struct GroupCall {
    const char *group;
    const char *topic;
    int32_t partition;
    int64_t deadline_ms;
    int64_t *ret_offset;
} GroupCall;

static Error *act_group_offset(SimBroker *broker, void *arguments)
{
    GroupCall *call = arguments;
    const SimGroupOffset *place =
        sim_group_offset(broker, call->group, sim_topic(broker, call->topic), call->partition);
    while (place->pending_count > 0) {
        if (!sim_wait(broker, call->deadline_ms)) {
            return sim_timed_out("a transaction holds the group's offset");
        }
        TRY(sim_check_available(broker));
    }
    *call->ret_offset = place->offset;
    return NULL;
}

static Error *group_offset(Log *log, const char *group, const char *topic, int32_t partition,
                           int timeout_ms, int64_t *ret_offset)
{
    GroupCall call = {.group = group,
                      .topic = topic,
                      .partition = partition,
                      .deadline_ms = clock_monotonic_ms() + timeout_ms,
                      .ret_offset = ret_offset};
    return admin(log, topic, act_group_offset, &call);
}

const LogOps sim_ops = {
    .name = name,
    .close = close_log,
    .consumer_open = sim_consumer_open,
    .consumer_close = sim_consumer_close,
    .consumer_assign = sim_consumer_assign,
    .consumer_seek = sim_consumer_seek,
    .consumer_poll = sim_consumer_poll,
    .producer_open = sim_producer_open,
    .producer_close = sim_producer_close,
    .init_transactions = sim_producer_init_transactions,
    .begin = sim_producer_begin,
    .produce = sim_producer_produce,
    .flush = sim_producer_flush,
    .poll = sim_producer_poll,
    .send_offsets = sim_producer_send_offsets,
    .commit = sim_producer_commit,
    .abort = sim_producer_abort,
    .ping = ping,
    .topic_describe = topic_describe,
    .topic_config = topic_config,
    .topic_create = topic_create,
    .topic_delete = topic_delete,
    .topic_add_partitions = topic_add_partitions,
    .watermarks = watermarks,
    .offset_for_time = offset_for_time,
    .records_delete = records_delete,
    .group_offset = group_offset,
};
