/* The consumer: reads the partitions' logs straight, round robin over what is assigned. Records are
 * copied into the caller's arena, so the broker may compact or delete meanwhile.
 *
 * An error belongs to a partition and waits until it is that partition's turn with nothing else to
 * give. It is told at once the first time, then once a poll that would otherwise time out empty: a
 * caller that polls on does not spin, and the healthy partitions flow. */
#include <assert.h>

#include "connectors/sim/broker.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct SimAssigned {
    SimTopic *topic;
    int32_t partition;
    int64_t offset;       /* the next one to read */
    int64_t reported_end; /* the end last told, -1: none since assign or seek */
    bool failed;          /* its error was told */
} SimAssigned;

typedef struct SimConsumer {
    LogConsumer base;
    SimBroker *broker;
    Isolation isolation;
    SimAssigned *assigned;
    size_t assigned_count;
    size_t assigned_capacity;
    size_t next;        /* whose turn it is */
    LogRecord *records; /* what the poll under way has taken */
    size_t record_count;
    size_t record_capacity;
    LogPosition *ends;
    size_t end_count;
    size_t end_capacity;
} SimConsumer;

static SimConsumer *self(LogConsumer *consumer)
{
    return (SimConsumer *)consumer;
}

Error *sim_consumer_open(Log *log, const LogConsumerOptions *options, LogConsumer **ret_consumer)
{
    SimBroker *broker = sim_log_broker(log);
    SimConsumer *consumer = mem_new(SimConsumer);
    consumer->base.ops = &sim_ops;
    consumer->broker = broker;
    consumer->isolation = options->isolation;
    sim_lock(broker);
    broker->handles++;
    sim_unlock(broker);
    *ret_consumer = &consumer->base;
    return NULL;
}

void sim_consumer_close(LogConsumer *consumer_base)
{
    SimConsumer *consumer = self(consumer_base);
    sim_lock(consumer->broker);
    consumer->broker->handles--;
    sim_unlock(consumer->broker);
    mem_free(consumer->assigned);
    mem_free(consumer->records);
    mem_free(consumer->ends);
    mem_free(consumer);
}

static void place(SimConsumer *consumer, const LogPosition *position)
{
    assert(position->offset >= 0);
    SimAssigned assigned = {.topic = sim_topic(consumer->broker, position->topic),
                            .partition = position->partition,
                            .offset = position->offset,
                            .reported_end = -1};
    for (size_t i = 0; i < consumer->assigned_count; i++) {
        SimAssigned *old = &consumer->assigned[i];
        if (old->topic == assigned.topic && old->partition == assigned.partition) {
            *old = assigned;
            return;
        }
    }
    mem_reserve(consumer->assigned, &consumer->assigned_capacity, consumer->assigned_count + 1);
    consumer->assigned[consumer->assigned_count++] = assigned;
}

Error *sim_consumer_assign(LogConsumer *consumer_base, const LogPosition *positions, size_t count)
{
    SimConsumer *consumer = self(consumer_base);
    sim_lock(consumer->broker);
    consumer->assigned_count = 0;
    consumer->next = 0;
    for (size_t i = 0; i < count; i++) {
        place(consumer, &positions[i]);
    }
    sim_unlock(consumer->broker);
    return NULL;
}

Error *sim_consumer_seek(LogConsumer *consumer_base, const LogPosition *position)
{
    SimConsumer *consumer = self(consumer_base);
    sim_lock(consumer->broker);
    place(consumer, position);
    sim_unlock(consumer->broker);
    return NULL;
}

/* --------------------------------------------------------------------- one partition's turn ----
 */

static Error *check_range(const SimAssigned *assigned, const SimPartition *partition)
{
    if (assigned->offset >= partition->start && assigned->offset <= partition->end) {
        return NULL;
    }
    return error_new(ERROR_KAFKA_OFFSET_OUT_OF_RANGE,
                     "The offset %lld of the topic `%s`, partition %d, is out of range: the log "
                     "reaches from %lld to %lld.",
                     (long long)assigned->offset, assigned->topic->name, assigned->partition,
                     (long long)partition->start, (long long)partition->end);
}

static Error *corrupt(const SimAssigned *assigned, const SimEntry *entry)
{
    return error_new(ERROR_KAFKA_CORRUPT_BATCH,
                     "The record batch at offset %lld of the topic `%s`, partition %d, is corrupt.",
                     (long long)entry->offset, assigned->topic->name, assigned->partition);
}

static bool is_visible(const SimConsumer *consumer, const SimEntry *entry)
{
    switch (entry->state) {
    case SIM_ENTRY_STABLE:
        return true;
    case SIM_ENTRY_OPEN:
    case SIM_ENTRY_ABORTED:
        return consumer->isolation == READ_UNCOMMITTED;
    case SIM_ENTRY_MARKER:
        break;
    }
    return false;
}

/* Shallow: the payload is copied when the poll is complete. */
static void take_record(SimConsumer *consumer, const SimAssigned *assigned, const SimEntry *entry)
{
    mem_reserve(consumer->records, &consumer->record_capacity, consumer->record_count + 1);
    consumer->records[consumer->record_count++] = (LogRecord){
        .topic = assigned->topic->name,
        .partition = assigned->partition,
        .offset = entry->offset,
        .timestamp_ms = entry->timestamp_ms,
        .key = entry->key,
        .value = entry->value,
        .headers = entry->headers,
        .header_count = entry->header_count,
    };
}

static void take_end(SimConsumer *consumer, SimAssigned *assigned)
{
    assigned->reported_end = assigned->offset;
    mem_reserve(consumer->ends, &consumer->end_capacity, consumer->end_count + 1);
    consumer->ends[consumer->end_count++] =
        (LogPosition){assigned->topic->name, assigned->partition, assigned->offset};
}

/* Reads on until the visible end, the first record there is no room for, or a corrupt one. */
static Error *take(SimConsumer *consumer, SimAssigned *assigned, size_t records_max)
{
    SimPartition *partition = NULL;
    TRY(sim_partition_find(consumer->broker, assigned->topic->name, assigned->partition,
                           &partition));
    TRY(check_range(assigned, partition));
    int64_t end = sim_partition_visible_end(partition, consumer->isolation);
    size_t corrupt_at = partition->corrupt_offset < 0
                            ? SIZE_MAX
                            : sim_partition_seek(partition, partition->corrupt_offset);
    size_t before = consumer->record_count;
    size_t at = sim_partition_seek(partition, assigned->offset);
    for (; at < partition->entry_count && partition->entries[at].offset < end; at++) {
        const SimEntry *entry = &partition->entries[at];
        if (at == corrupt_at) {
            return consumer->record_count > before ? NULL : corrupt(assigned, entry);
        }
        if (is_visible(consumer, entry)) {
            if (consumer->record_count == records_max) {
                return NULL;
            }
            take_record(consumer, assigned, entry);
        }
        assigned->offset = entry->offset + 1;
    }
    if (assigned->offset < end) {
        assigned->offset = end; /* compaction took what was last here */
    }
    if (assigned->offset == end && assigned->reported_end != end) {
        take_end(consumer, assigned);
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- all of them ---- */

static bool has_something(const SimConsumer *consumer)
{
    return consumer->record_count > 0 || consumer->end_count > 0;
}

/* `repeat`: tell errors again that were told. */
static Error *take_all(SimConsumer *consumer, size_t records_max, bool repeat)
{
    size_t first = consumer->next;
    for (size_t i = 0; i < consumer->assigned_count; i++) {
        size_t turn = (first + i) % consumer->assigned_count;
        SimAssigned *assigned = &consumer->assigned[turn];
        Error *error = take(consumer, assigned, records_max);
        if (error == NULL) {
            assigned->failed = false;
        } else if (assigned->failed && !repeat) {
            error_free(error);
        } else if (has_something(consumer)) {
            error_free(error);
            consumer->next = turn;
            return NULL;
        } else {
            assigned->failed = true;
            consumer->next = (turn + 1) % consumer->assigned_count;
            return error;
        }
        if (consumer->record_count == records_max) {
            consumer->next = (turn + 1) % consumer->assigned_count;
            return NULL;
        }
    }
    return NULL;
}

static const LogHeader *copy_headers(Arena *arena, const LogRecord *record)
{
    if (record->header_count == 0) {
        return NULL;
    }
    LogHeader *headers = arena_new_array(arena, LogHeader, record->header_count);
    for (size_t i = 0; i < record->header_count; i++) {
        headers[i].name = arena_copy_str(arena, record->headers[i].name);
        headers[i].value = arena_copy_str(arena, record->headers[i].value);
    }
    return headers;
}

/* Topic names are shared by runs of records of one partition. */
static void hand_over(const SimConsumer *consumer, Arena *arena, LogPoll *ret_poll)
{
    LogRecord *records = arena_new_array(arena, LogRecord, consumer->record_count);
    const char *name = NULL;
    for (size_t i = 0; i < consumer->record_count; i++) {
        const LogRecord *from = &consumer->records[i];
        if (i == 0 || from->topic != consumer->records[i - 1].topic) {
            name = arena_copy_cstr(arena, str_from(from->topic));
        }
        records[i] = *from;
        records[i].topic = name;
        records[i].key = arena_copy_str(arena, from->key);
        records[i].value = arena_copy_str(arena, from->value);
        records[i].headers = copy_headers(arena, from);
    }
    LogPosition *ends = arena_new_array(arena, LogPosition, consumer->end_count);
    for (size_t i = 0; i < consumer->end_count; i++) {
        ends[i] = consumer->ends[i];
        ends[i].topic = arena_copy_cstr(arena, str_from(ends[i].topic));
    }
    *ret_poll = (LogPoll){records, consumer->record_count, ends, consumer->end_count};
}

static Error *poll_locked(SimConsumer *consumer, int64_t deadline_ms, size_t records_max)
{
    SimBroker *broker = consumer->broker;
    if (sim_fault(broker, SIM_POLL, NULL) != SIM_NO_FAILURE) {
        return sim_timed_out("poll");
    }
    for (;;) {
        if (broker->available) {
            TRY(take_all(consumer, records_max, false));
            if (has_something(consumer)) {
                return NULL;
            }
        }
        if (!sim_wait(broker, deadline_ms)) {
            TRY(sim_check_available(broker));
            return take_all(consumer, records_max, true);
        }
    }
}

Error *sim_consumer_poll(LogConsumer *consumer_base, int timeout_ms, size_t records_max,
                         Arena *arena, LogPoll *ret_poll)
{
    SimConsumer *consumer = self(consumer_base);
    int64_t deadline_ms = clock_monotonic_ms() + (timeout_ms > 0 ? timeout_ms : 0);
    consumer->record_count = 0;
    consumer->end_count = 0;
    sim_lock(consumer->broker);
    Error *error = poll_locked(consumer, deadline_ms, records_max);
    if (error == NULL) {
        hand_over(consumer, arena, ret_poll);
    }
    sim_unlock(consumer->broker);
    return error;
}
