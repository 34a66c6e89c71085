/* Bounded reads of a topic. */
#include "processor/run/topic_reader.h"

#include <assert.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    POLL_MS = 100,
    POLL_RECORDS = 2048,
    MARKER_WAIT_MS = 1000,
    MARKER_POLL_MS = 5,
    OUTDATED_WAIT_MS = 2000,
    OUTDATED_POLL_MS = 50,
};

struct TopicReader {
    LogConsumer *consumer;
    char *topic;
    int partition_count;
    int64_t *positions; /* -1: not read */
    int64_t *ends;
};

Error *topic_settled_range(Log *log, const char *topic, int32_t partition, int timeout_ms,
                           int64_t *ret_start, int64_t *ret_end)
{
    int64_t written = 0;
    TRY(log_watermarks(log, topic, partition, READ_UNCOMMITTED, timeout_ms, ret_start, &written));
    int64_t deadline = clock_monotonic_ms() + MARKER_WAIT_MS;
    for (;;) {
        TRY(log_watermarks(log, topic, partition, READ_COMMITTED, timeout_ms, ret_start, ret_end));
        if (*ret_end >= written || clock_monotonic_ms() >= deadline) {
            return NULL;
        }
        clock_sleep_ms(MARKER_POLL_MS);
    }
}

Error *topic_known_range(Log *log, const char *topic, int32_t partition, int64_t at_least,
                         int timeout_ms, int64_t *ret_start, int64_t *ret_end)
{
    int64_t deadline = clock_monotonic_ms() + OUTDATED_WAIT_MS;
    for (;;) {
        TRY(log_watermarks(log, topic, partition, READ_UNCOMMITTED, timeout_ms, ret_start,
                           ret_end));
        if (*ret_end >= at_least || clock_monotonic_ms() >= deadline) {
            return NULL;
        }
        clock_sleep_ms(OUTDATED_POLL_MS);
    }
}

static bool partition_is_done(const TopicReader *reader, int partition)
{
    return reader->positions[partition] < 0 ||
           reader->positions[partition] >= reader->ends[partition];
}

static bool all_done(const TopicReader *reader)
{
    for (int p = 0; p < reader->partition_count; p++) {
        if (!partition_is_done(reader, p)) {
            return false;
        }
    }
    return true;
}

static Error *assign(TopicReader *reader, Log *log)
{
    AUTO(arena) Arena *arena = arena_new("assign");
    LogPosition *positions = arena_new_array(arena, LogPosition, (size_t)reader->partition_count);
    size_t count = 0;
    for (int p = 0; p < reader->partition_count; p++) {
        if (!partition_is_done(reader, p)) {
            positions[count++] = (LogPosition){reader->topic, p, reader->positions[p]};
        }
    }
    if (count == 0) {
        return NULL;
    }
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    TRY(log_consumer_open(log, &options, &reader->consumer));
    return log_consumer_assign(reader->consumer, positions, count);
}

Error *topic_reader_open(Log *log, const char *topic, int partition_count, const int64_t *starts,
                         const int64_t *ends, TopicReader **ret_reader)
{
    TopicReader *reader = mem_new(TopicReader);
    size_t bytes = (size_t)partition_count * sizeof(int64_t);
    reader->topic = mem_strdup(topic);
    reader->partition_count = partition_count;
    reader->positions = mem_alloc(bytes);
    reader->ends = mem_alloc(bytes);
    memcpy(reader->positions, starts, bytes);
    memcpy(reader->ends, ends, bytes);
    Error *error = assign(reader, log);
    if (error != NULL) {
        topic_reader_close(reader);
        return error;
    }
    *ret_reader = reader;
    return NULL;
}

void topic_reader_close(TopicReader *reader)
{
    if (reader == NULL) {
        return;
    }
    log_consumer_close(reader->consumer);
    mem_free(reader->topic);
    mem_free(reader->positions);
    mem_free(reader->ends);
    mem_free(reader);
}

/* Keeps the records below the ends and moves the positions. */
static size_t keep_records(TopicReader *reader, const LogPoll *poll, LogRecord *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < poll->record_count; i++) {
        const LogRecord *record = &poll->records[i];
        int p = record->partition;
        if (record->offset < reader->ends[p]) {
            kept[count++] = *record;
        }
        if (record->offset + 1 > reader->positions[p]) {
            reader->positions[p] = record->offset + 1;
        }
    }
    for (size_t i = 0; i < poll->end_count; i++) {
        int p = poll->ends[i].partition;
        if (poll->ends[i].offset > reader->positions[p]) {
            reader->positions[p] = poll->ends[i].offset;
        }
    }
    return count;
}

Error *topic_reader_next(TopicReader *reader, int timeout_ms, Arena *arena,
                         const LogRecord **ret_records, size_t *ret_count)
{
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    while (!all_done(reader)) {
        LogPoll poll = {0};
        TRY(log_consumer_poll(reader->consumer, POLL_MS, POLL_RECORDS, arena, &poll));
        LogRecord *kept = arena_new_array(arena, LogRecord, poll.record_count);
        size_t count = keep_records(reader, &poll, kept);
        if (count > 0) {
            *ret_records = kept;
            *ret_count = count;
            return NULL;
        }
        if (poll.record_count > 0 || poll.end_count > 0) {
            deadline = clock_monotonic_ms() + timeout_ms;
        } else if (clock_monotonic_ms() > deadline) {
            return error_set_disposition(error_new(ERROR_KAFKA_TIMED_OUT,
                                                   "Topic `%s`: nothing could be read for %d ms.",
                                                   reader->topic, timeout_ms),
                                         ERROR_RETRY);
        }
    }
    *ret_records = NULL;
    *ret_count = 0;
    return NULL;
}

int64_t topic_reader_position(const TopicReader *reader, int partition)
{
    assert(partition < reader->partition_count);
    int64_t position = reader->positions[partition];
    return position > reader->ends[partition] ? reader->ends[partition] : position;
}
