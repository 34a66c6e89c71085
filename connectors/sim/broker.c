/* The broker object: its lock and clock, names of topics, faults, and what an operator does to it.
 */
#include "connectors/sim/broker.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

bool sim_call_parse(Str name, SimCall *ret_call)
{
    static const char *const names[] = {
#define X(constant, text) text,
        SIM_CALLS(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_equal(name, str_from(names[i]))) {
            *ret_call = (SimCall)i;
            return true;
        }
    }
    return false;
}

bool sim_failure_parse(Str name, SimFailure *ret_failure)
{
    static const char *const names[] = {
#define X(constant, text) text,
        SIM_FAILURES(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (str_equal(name, str_from(names[i]))) {
            *ret_failure = (SimFailure)i;
            return true;
        }
    }
    return false;
}

/* --------------------------------------------------------------------------------- life ---- */

SimBroker *sim_broker_new(void)
{
    SimBroker *broker = mem_new(SimBroker);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&broker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&broker->mutex, NULL);
    broker->names_arena = arena_new("sim broker");
    broker->available = true;
    return broker;
}

void sim_broker_free(SimBroker *broker)
{
    if (broker == NULL) {
        return;
    }
    assert(broker->handles == 0);
    for (MapEntry *e = map_first(&broker->names); e != NULL; e = map_next(&broker->names, e)) {
        sim_topic_free(e->value);
    }
    for (MapEntry *e = map_first(&broker->ids); e != NULL; e = map_next(&broker->ids, e)) {
        sim_id_free(e->value);
    }
    for (MapEntry *e = map_first(&broker->group_offsets); e != NULL;
         e = map_next(&broker->group_offsets, e)) {
        mem_free(e->value);
    }
    map_done(&broker->names);
    map_done(&broker->ids);
    map_done(&broker->group_offsets);
    arena_free(broker->names_arena);
    mem_free(broker->armed);
    pthread_cond_destroy(&broker->changed);
    pthread_mutex_destroy(&broker->mutex);
    mem_free(broker);
}

/* ------------------------------------------------------------------------ lock and clock ---- */

void sim_lock(SimBroker *broker)
{
    pthread_mutex_lock(&broker->mutex);
    (void)sim_settle_timed_out(broker);
}

void sim_unlock(SimBroker *broker)
{
    pthread_mutex_unlock(&broker->mutex);
}

int64_t sim_now_ms(const SimBroker *broker)
{
    return clock_now_us(broker->clock) / 1000;
}

void sim_changed(SimBroker *broker)
{
    pthread_cond_broadcast(&broker->changed);
}

bool sim_wait(SimBroker *broker, int64_t deadline_ms)
{
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms >= deadline_ms) {
        return false;
    }
    int64_t wake_ms = deadline_ms;
    int64_t expiry_ms = sim_settle_timed_out(broker);
    bool time_moves = broker->clock == NULL || !broker->clock->fixed;
    if (time_moves && expiry_ms >= 0 && now_ms + expiry_ms + 1 < wake_ms) {
        wake_ms = now_ms + expiry_ms + 1;
    }
    struct timespec wake = {wake_ms / 1000, (wake_ms % 1000) * 1000000};
    int result = pthread_cond_timedwait(&broker->changed, &broker->mutex, &wake);
    assert(result == 0 || result == ETIMEDOUT);
    (void)result;
    (void)sim_settle_timed_out(broker);
    return true;
}

/* -------------------------------------------------------------------------------- topics ---- */

SimTopic *sim_topic(SimBroker *broker, const char *name)
{
    SimTopic *topic = map_get(&broker->names, str_from(name));
    if (topic == NULL) {
        topic = mem_new(SimTopic);
        topic->name = arena_copy_cstr(broker->names_arena, str_from(name));
        map_put(&broker->names, str_from(topic->name), topic);
    }
    return topic;
}

Error *sim_check_available(const SimBroker *broker)
{
    if (broker->available) {
        return NULL;
    }
    return error_set_disposition(
        error_new(ERROR_KAFKA_UNAVAILABLE, "The broker `model` is not available."), ERROR_RETRY);
}

Error *sim_topic_find(SimBroker *broker, const char *name, SimTopic **ret_topic)
{
    TRY(sim_check_available(broker));
    SimTopic *topic = sim_topic(broker, name);
    if (topic->denied) {
        return error_new(ERROR_KAFKA_ACCESS_DENIED, "Access to the topic `%s` is denied.", name);
    }
    if (!topic->exists) {
        return error_new(ERROR_KAFKA_TOPIC_NOT_FOUND, "The topic `%s` does not exist.", name);
    }
    if (topic->leaderless) {
        return error_set_disposition(
            error_new(ERROR_KAFKA_UNAVAILABLE, "The topic `%s` has no leader.", name), ERROR_RETRY);
    }
    *ret_topic = topic;
    return NULL;
}

Error *sim_partition_find(SimBroker *broker, const char *name, int32_t index,
                          SimPartition **ret_partition)
{
    SimTopic *topic = NULL;
    TRY(sim_topic_find(broker, name, &topic));
    if (index < 0 || (size_t)index >= topic->partition_count) {
        return error_new(ERROR_KAFKA_TOPIC_NOT_FOUND,
                         "The topic `%s` has no partition %d, it has %zu partitions.", name, index,
                         topic->partition_count);
    }
    *ret_partition = topic->partitions[index];
    return NULL;
}

/* -------------------------------------------------------------------------------- faults ---- */

Error *sim_timed_out(const char *what)
{
    return error_set_disposition(
        error_new(ERROR_KAFKA_TIMED_OUT, "The broker `model` gave no answer in time (%s).", what),
        ERROR_RETRY);
}

static void remove_armed(SimBroker *broker, size_t index)
{
    broker->armed_count--;
    for (size_t i = index; i < broker->armed_count; i++) {
        broker->armed[i] = broker->armed[i + 1];
    }
}

SimFailure sim_fault(SimBroker *broker, SimCall call, const char *topic)
{
    SimFailure failure = SIM_NO_FAILURE;
    for (size_t i = 0; i < broker->armed_count;) {
        SimArmed *armed = &broker->armed[i];
        if (armed->call == call && --armed->left == 0) {
            failure = failure == SIM_NO_FAILURE ? armed->failure : failure;
            remove_armed(broker, i);
        } else {
            i++;
        }
    }
    if (failure == SIM_NO_FAILURE && broker->hook != NULL) {
        failure = broker->hook(broker->hook_context, call, topic);
    }
    return failure;
}

void sim_broker_fail_next(SimBroker *broker, SimCall call, SimFailure failure, unsigned nth)
{
    assert(nth > 0);
    sim_lock(broker);
    mem_reserve(broker->armed, &broker->armed_capacity, broker->armed_count + 1);
    broker->armed[broker->armed_count++] = (SimArmed){call, failure, nth};
    sim_unlock(broker);
}

void sim_broker_clear_faults(SimBroker *broker)
{
    sim_lock(broker);
    broker->armed_count = 0;
    sim_unlock(broker);
}

void sim_broker_set_fault_hook(SimBroker *broker,
                               SimFailure (*hook)(void *context, SimCall call, const char *topic),
                               void *context)
{
    sim_lock(broker);
    broker->hook = hook;
    broker->hook_context = context;
    sim_unlock(broker);
}

/* ------------------------------------------------------------------------- the operator ---- */

void sim_broker_set_clock(SimBroker *broker, const Clock *clock)
{
    pthread_mutex_lock(&broker->mutex);
    broker->clock = clock;
    (void)sim_settle_timed_out(broker);
    sim_changed(broker);
    sim_unlock(broker);
}

void sim_broker_set_available(SimBroker *broker, bool available)
{
    sim_lock(broker);
    broker->available = available;
    sim_changed(broker);
    sim_unlock(broker);
}

void sim_broker_set_topic_available(SimBroker *broker, const char *topic, bool available)
{
    sim_lock(broker);
    sim_topic(broker, topic)->leaderless = !available;
    sim_changed(broker);
    sim_unlock(broker);
}

static void set_denied(SimBroker *broker, const char *topic, bool denied)
{
    sim_lock(broker);
    sim_topic(broker, topic)->denied = denied;
    sim_changed(broker);
    sim_unlock(broker);
}

void sim_broker_deny(SimBroker *broker, const char *topic)
{
    set_denied(broker, topic, true);
}

void sim_broker_allow(SimBroker *broker, const char *topic)
{
    set_denied(broker, topic, false);
}

void sim_broker_set_topic_config(SimBroker *broker, const char *topic, const char *name,
                                 const char *value)
{
    sim_lock(broker);
    SimTopic *found = sim_topic(broker, topic);
    assert(found->exists);
    AUTO(error) Error *error = sim_topic_set_config(found, name, value);
    assert(error == NULL);
    sim_unlock(broker);
}

static void set_corrupt(SimBroker *broker, const char *topic, int32_t partition, int64_t offset)
{
    sim_lock(broker);
    SimTopic *found = sim_topic(broker, topic);
    assert(found->exists && partition >= 0 && (size_t)partition < found->partition_count);
    found->partitions[partition]->corrupt_offset = offset;
    sim_changed(broker);
    sim_unlock(broker);
}

void sim_broker_corrupt(SimBroker *broker, const char *topic, int32_t partition, int64_t offset)
{
    assert(offset >= 0);
    set_corrupt(broker, topic, partition, offset);
}

void sim_broker_repair(SimBroker *broker, const char *topic, int32_t partition)
{
    set_corrupt(broker, topic, partition, -1);
}

void sim_broker_compact(SimBroker *broker, const char *topic)
{
    sim_lock(broker);
    SimTopic *found = sim_topic(broker, topic);
    int64_t retention_ms = sim_topic_config_number(found, "delete.retention.ms");
    for (size_t i = 0; i < found->partition_count; i++) {
        sim_partition_compact(found->partitions[i], sim_now_ms(broker), retention_ms);
    }
    sim_unlock(broker);
}

/* The offset before which everything is older than `oldest_ms`. */
static int64_t expired_end(const SimPartition *partition, int64_t oldest_ms)
{
    int64_t limit = sim_partition_visible_end(partition, READ_COMMITTED);
    for (size_t i = sim_partition_seek(partition, partition->start); i < partition->entry_count;
         i++) {
        const SimEntry *entry = &partition->entries[i];
        if (entry->offset >= limit || entry->timestamp_ms >= oldest_ms) {
            return entry->offset < limit ? entry->offset : limit;
        }
    }
    return limit;
}

void sim_broker_expire(SimBroker *broker, const char *topic)
{
    sim_lock(broker);
    SimTopic *found = sim_topic(broker, topic);
    int64_t retention_ms = sim_topic_config_number(found, "retention.ms");
    for (size_t i = 0; retention_ms >= 0 && i < found->partition_count; i++) {
        SimPartition *partition = found->partitions[i];
        sim_partition_trim(partition, expired_end(partition, sim_now_ms(broker) - retention_ms));
    }
    sim_changed(broker);
    sim_unlock(broker);
}

static SimPartition *existing_partition(SimBroker *broker, const char *topic, int32_t partition)
{
    SimTopic *found = sim_topic(broker, topic);
    assert(found->exists && partition >= 0 && (size_t)partition < found->partition_count);
    return found->partitions[partition];
}

void sim_broker_place(SimBroker *broker, const LogRecord *record)
{
    sim_lock(broker);
    SimPartition *partition = existing_partition(broker, record->topic, record->partition);
    assert(record->offset >= partition->end);
    partition->end = record->offset;
    LogOutput output = {.topic = record->topic,
                        .partition = record->partition,
                        .key = record->key,
                        .value = record->value,
                        .headers = record->headers,
                        .header_count = record->header_count};
    (void)sim_partition_append(partition, &output, record->timestamp_ms, sim_now_ms(broker), NULL);
    sim_changed(broker);
    sim_unlock(broker);
}

void sim_broker_extend(SimBroker *broker, const char *topic, int32_t partition, int64_t end)
{
    sim_lock(broker);
    SimPartition *extended = existing_partition(broker, topic, partition);
    extended->end = end > extended->end ? end : extended->end;
    sim_changed(broker);
    sim_unlock(broker);
}
