/* Conformance cases: records and their reader, without transactions. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "connectors/partitioner.h"
#include "processor/base/clock.h"
#include "tests/support/log_conformance_case.h"

#include "processor/base/banned.h"

static void records_come_in_order_of_production(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 2, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    put(w, topic, 0, "a", "1");
    put(w, topic, 1, "b", "1");
    put(w, topic, 0, "a", "2");
    put(w, topic, 0, "c", "3");
    put(w, topic, 1, "b", "2");
    flush(f, w);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 3), "0:a=1 1:a=2 2:c=3");
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 1, 0, 2), "0:b=1 1:b=2");
}

static void deliveries_carry_offset_and_tag_in_order(void **state)
{
    Fixture *f = *state;
    enum { RECORDS = 100 };
    const char *topic = make_topic(f, "t", 2, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    for (int i = 0; i < RECORDS; i++) {
        put(w, topic, i % 2, "k", "v");
    }
    flush(f, w);
    assert_int_equal(w->delivered_count, RECORDS);
    int64_t next_offset[2] = {0, 0};
    uint64_t next_tag[2] = {0, 1};
    for (size_t i = 0; i < w->delivered_count; i++) {
        const Delivered *delivered = &w->delivered[i];
        int32_t partition = delivered->partition;
        assert_false(delivered->failed);
        assert_string_equal(delivered->topic, topic);
        assert_in_range(partition, 0, 1);
        assert_int_equal(delivered->offset, next_offset[partition]++);
        assert_int_equal(delivered->tag, next_tag[partition]);
        next_tag[partition] += 2;
    }
}

static void many_outputs_in_one_call(void **state)
{
    Fixture *f = *state;
    enum { RECORDS = 500 };
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    LogOutput outputs[RECORDS];
    for (size_t i = 0; i < RECORDS; i++) {
        outputs[i] =
            (LogOutput){.topic = topic, .key = STR("k"), .value = STR("v"), .tag = 1000 + i};
    }
    size_t queued = 0;
    OK(log_producer_produce(w->producer, outputs, RECORDS, &queued));
    assert_int_equal(queued, RECORDS);
    flush(f, w);
    assert_int_equal(w->delivered_count, RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        assert_int_equal(w->delivered[i].tag, 1000 + i);
        assert_int_equal(w->delivered[i].offset, i);
    }
    assert_int_equal(end_offset(f, topic, 0, READ_UNCOMMITTED), RECORDS);
}

static void null_and_empty_stay_apart(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    put(w, topic, 0, NULL, NULL);
    put(w, topic, 0, "", "");
    put(w, topic, 0, "k", NULL);
    put(w, topic, 0, NULL, "v");
    flush(f, w);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 4), "0:-=- 1:= 2:k=- 3:-=v");
}

static const LogRecord *poll_one(Fixture *f, LogConsumer *reader)
{
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    while (clock_monotonic_ms() <= deadline_ms) {
        LogPoll poll = {0};
        OK(log_consumer_poll(reader, 100, 1, f->arena, &poll));
        assert_in_range(poll.record_count, 0, 1);
        if (poll.record_count == 1) {
            return poll.records;
        }
    }
    fail_msg("no record came");
    return NULL;
}

static void headers_keep_order_repeats_and_nulls(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    const LogHeader headers[] = {{STR("trace"), STR("1")},
                                 {STR("null"), STR_NULL},
                                 {STR("empty"), STR("")},
                                 {STR("trace"), {"\0\xff", 2}}};
    LogOutput output = {.topic = topic,
                        .key = {"a\0b", 3},
                        .value = STR("v"),
                        .headers = headers,
                        .header_count = ARRAY_LENGTH(headers)};
    OK(log_producer_produce(w->producer, &output, 1, NULL));
    put(w, topic, 0, "k", "none");
    flush(f, w);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    const LogRecord *record = poll_one(f, reader);
    assert_true(str_equal(record->key, output.key));
    assert_int_equal(record->header_count, ARRAY_LENGTH(headers));
    for (size_t i = 0; i < ARRAY_LENGTH(headers); i++) {
        assert_true(str_equal(record->headers[i].name, headers[i].name));
        assert_true(str_equal(record->headers[i].value, headers[i].value));
        assert_int_equal(record->headers[i].value.data == NULL, headers[i].value.data == NULL);
    }
    record = poll_one(f, reader);
    assert_int_equal(record->offset, 1);
    assert_int_equal(record->header_count, 0);
}

static void timestamps_are_kept_or_now(void **state)
{
    Fixture *f = *state;
    const int64_t given_ms =
        INT64_C(1717149600000); /* kafka-log.record-time-in-output: ms, not s */
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    int64_t before_ms = clock_now_us(NULL) / 1000;
    put_at(w, topic, 0, "k", "given", given_ms);
    put_at(w, topic, 0, "k", "now", 0);
    put_at(w, topic, 0, "k", "now", -1);
    flush(f, w);
    int64_t after_ms = clock_now_us(NULL) / 1000;
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    assert_int_equal(poll_one(f, reader)->timestamp_ms, given_ms);
    assert_in_range(poll_one(f, reader)->timestamp_ms, before_ms, after_ms);
    assert_in_range(poll_one(f, reader)->timestamp_ms, before_ms, after_ms);
}

static void partition_by_key_is_javas(void **state)
{
    Fixture *f = *state;
    enum { PARTITIONS = 5 };
    const char *const keys[] = {"21", "foobar", "a-little-bit-long-string", "{\"id\":1}", ""};
    const char *topic = make_topic(f, "t", PARTITIONS, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        put(w, topic, LOG_PARTITION_BY_KEY, keys[i], "v");
    }
    flush(f, w);
    assert_int_equal(w->delivered_count, ARRAY_LENGTH(keys));
    for (size_t i = 0; i < w->delivered_count; i++) {
        const Delivered *delivered = &w->delivered[i];
        assert_false(delivered->failed);
        assert_int_equal(delivered->partition,
                         partition_of_key(str_from(keys[delivered->tag]), PARTITIONS));
    }
}

/* -------------------------------------------------------------------------------- reading ---- */

static void end_of_an_empty_partition_is_told(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    size_t records = 99;
    assert_int_equal(wait_for_end(f, reader, topic, 0, &records), 0);
    assert_int_equal(records, 0);
}

static void end_is_told_again_after_new_records(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    assert_int_equal(put_now(f, w, topic, 0, "a", "1"), 0);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    size_t records = 0;
    assert_int_equal(wait_for_end(f, reader, topic, 0, &records), 1);
    assert_int_equal(records, 1);
    put_now(f, w, topic, 0, "a", "2");
    assert_int_equal(wait_for_end(f, reader, topic, 0, &records), 2);
    assert_int_equal(records, 1);
}

static void an_idle_poll_returns_nothing_in_time(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    wait_for_end(f, reader, topic, 0, NULL);
    LogPoll poll = {0};
    int64_t before_ms = clock_monotonic_ms();
    OK(log_consumer_poll(reader, 0, 10, f->arena, &poll));
    OK(log_consumer_poll(reader, 20, 10, f->arena, &poll));
    assert_int_equal(poll.record_count, 0);
    assert_int_equal(poll.end_count, 0);
    assert_in_range(clock_monotonic_ms() - before_ms, 19, 5000);
}

static void assign_reads_from_absolute_offsets(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 2, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    for (int i = 0; i < 4; i++) {
        put(w, topic, 0, "a", "v");
        put(w, topic, 1, "b", "v");
    }
    flush(f, w);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 2, 4), "2:a=v 3:a=v");
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 1, 4);
    assert_string_equal(read_until(f, reader, topic, 1, 4), "");
    LogPosition again = {topic, 0, 3};
    OK(log_consumer_assign(reader, &again, 1)); /* replaces partition 1 */
    put_now(f, w, topic, 1, "b", "unread");
    assert_string_equal(read_until(f, reader, topic, 0, 4), "3:a=v");
}

static void assign_reads_several_partitions(void **state)
{
    Fixture *f = *state;
    enum { PARTITIONS = 3, RECORDS = 20 };
    const char *topic = make_topic(f, "t", PARTITIONS, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    for (int i = 0; i < PARTITIONS * RECORDS; i++) {
        put(w, topic, i % PARTITIONS, "k", "v");
    }
    flush(f, w);
    LogPosition positions[PARTITIONS];
    for (int32_t p = 0; p < PARTITIONS; p++) {
        positions[p] = (LogPosition){topic, p, 0};
    }
    LogConsumer *reader = open_reader(f, READ_COMMITTED);
    OK(log_consumer_assign(reader, positions, PARTITIONS));
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    for (int ended = 0; ended < PARTITIONS && clock_monotonic_ms() < deadline_ms;) {
        LogPoll poll = {0};
        OK(log_consumer_poll(reader, 100, 7, f->arena, &poll));
        assert_in_range(poll.record_count, 0, 7);
        for (size_t i = 0; i < poll.record_count; i++) {
            assert_int_equal(poll.records[i].offset, positions[poll.records[i].partition].offset++);
        }
        for (size_t i = 0; i < poll.end_count; i++) {
            ended += poll.ends[i].offset == RECORDS ? 1 : 0;
        }
    }
    for (int32_t p = 0; p < PARTITIONS; p++) {
        assert_int_equal(positions[p].offset, RECORDS);
    }
}

static void seek_back_reads_again(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    put(w, topic, 0, "a", "1");
    put(w, topic, 0, "b", "2");
    put(w, topic, 0, "c", "3");
    flush(f, w);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    assert_int_equal(wait_for_end(f, reader, topic, 0, NULL), 3);
    LogPosition back = {topic, 0, 1};
    OK(log_consumer_seek(reader, &back));
    assert_string_equal(read_until(f, reader, topic, 0, 3), "1:b=2 2:c=3");
    OK(log_consumer_seek(reader, &back));
    size_t records = 0;
    assert_int_equal(wait_for_end(f, reader, topic, 0, &records), 3); /* told again */
    assert_int_equal(records, 2);
}

/* What was fetched ahead before the seek must not come after it. */
static void seek_in_the_middle_drops_what_was_fetched(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    for (int i = 0; i < 200; i++) {
        put(w, topic, 0, "k", "v");
    }
    flush(f, w);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    assert_int_equal(poll_one(f, reader)->offset, 0);
    assert_int_equal(poll_one(f, reader)->offset, 1);
    LogPosition forth = {topic, 0, 150};
    OK(log_consumer_seek(reader, &forth));
    assert_int_equal(poll_one(f, reader)->offset, 150);
    LogPosition back = {topic, 0, 5};
    OK(log_consumer_seek(reader, &back));
    assert_int_equal(poll_one(f, reader)->offset, 5);
    assert_int_equal(poll_one(f, reader)->offset, 6);
}

static void seek_adds_a_partition(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 2, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    put(w, topic, 1, "b", "1");
    put(w, topic, 1, "b", "2");
    flush(f, w);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    wait_for_end(f, reader, topic, 0, NULL);
    LogPosition more = {topic, 1, 1};
    OK(log_consumer_seek(reader, &more));
    assert_string_equal(read_until(f, reader, topic, 1, 2), "1:b=2");
}

static void bytes_live_until_the_arena_is_reset(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    put(w, topic, 0, "first", "value of the first");
    put(w, topic, 0, "second", "value of the second");
    flush(f, w);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    const LogRecord *first = poll_one(f, reader);
    const LogRecord *second = poll_one(f, reader);
    OK(log_records_delete(f->log, topic, 0, 2, f->timeout_ms));
    f->reader_count--;
    log_consumer_close(reader);
    assert_true(str_equal(first->key, STR("first")));
    assert_true(str_equal(first->value, STR("value of the first")));
    assert_true(str_equal(second->value, STR("value of the second")));
    assert_string_equal(second->topic, topic);
}

/* --------------------------------------------------------------------------- two threads ---- */

enum { STREAM_RECORDS = 5000, STREAM_BATCH = 100 };

typedef struct Stream {
    LogProducer *producer;
    const char *topic;
    int timeout_ms;
    atomic_bool failed;
} Stream;

static bool failed(Stream *stream, Error *error)
{
    if (error == NULL) {
        return false;
    }
    atomic_store(&stream->failed, true);
    error_free(error);
    return true;
}

static void *write_stream(void *argument)
{
    Stream *stream = argument;
    for (int64_t i = 0; i < STREAM_RECORDS; i++) {
        if (i % STREAM_BATCH == 0 && failed(stream, log_producer_begin(stream->producer))) {
            return NULL;
        }
        char number[24];
        int size = snprintf(number, sizeof number, "%lld", (long long)i);
        LogOutput output = {
            .topic = stream->topic, .key = STR("k"), .value = {number, (size_t)size}};
        if (failed(stream, log_producer_produce(stream->producer, &output, 1, NULL))) {
            return NULL;
        }
        if ((i + 1) % STREAM_BATCH == 0 &&
            failed(stream, log_producer_commit(stream->producer, stream->timeout_ms))) {
            return NULL;
        }
    }
    return NULL;
}

/* A reader blocked in poll gets what another thread writes, once, in order. */
static void a_reader_follows_a_writer_in_another_thread(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->other, name_of(f, "id"));
    Stream stream = {w->producer, topic, f->timeout_ms, false};
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_stream, &stream), 0);
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms * 10;
    int64_t next = 0;
    bool in_order = true;
    while (next < STREAM_RECORDS && in_order && clock_monotonic_ms() < deadline_ms &&
           !atomic_load(&stream.failed)) {
        LogPoll poll = {0};
        Error *error = log_consumer_poll(reader, 1000, 512, f->arena, &poll);
        in_order = !failed(&stream, error);
        for (size_t i = 0; in_order && i < poll.record_count; i++) {
            int64_t number = -1;
            in_order = str_to_int64(poll.records[i].value, &number) && number == next++;
        }
    }
    pthread_join(thread, NULL);
    assert_false(atomic_load(&stream.failed));
    assert_true(in_order);
    assert_int_equal(next, STREAM_RECORDS);
    wait_for_stable_end(f, topic, 0, STREAM_RECORDS + STREAM_RECORDS / STREAM_BATCH);
}

const LogCase log_cases_records[] = {
    LOG_CASE(records_come_in_order_of_production),
    LOG_CASE(deliveries_carry_offset_and_tag_in_order),
    LOG_CASE(many_outputs_in_one_call),
    LOG_CASE(null_and_empty_stay_apart),
    LOG_CASE(headers_keep_order_repeats_and_nulls),
    LOG_CASE(timestamps_are_kept_or_now),
    LOG_CASE(partition_by_key_is_javas),
    LOG_CASE(end_of_an_empty_partition_is_told),
    LOG_CASE(end_is_told_again_after_new_records),
    LOG_CASE(an_idle_poll_returns_nothing_in_time),
    LOG_CASE(assign_reads_from_absolute_offsets),
    LOG_CASE(assign_reads_several_partitions),
    LOG_CASE(seek_back_reads_again),
    LOG_CASE(seek_in_the_middle_drops_what_was_fetched),
    LOG_CASE(seek_adds_a_partition),
    LOG_CASE(bytes_live_until_the_arena_is_reset),
    LOG_CASE(a_reader_follows_a_writer_in_another_thread),
};
const size_t log_cases_records_count = ARRAY_LENGTH(log_cases_records);
