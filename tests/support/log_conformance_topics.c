/* Conformance cases: topics and their watermarks, deleted prefixes, compaction. */
#include "processor/base/clock.h"
#include "tests/support/log_conformance_case.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------------------------- existence ---- */

static void the_cluster_answers_a_ping(void **state)
{
    Fixture *f = *state;
    OK(log_ping(f->log, f->timeout_ms));
    assert_non_null(log_name(f->log));
    assert_true(log_name(f->log)[0] != '\0');
}

static void a_topic_is_created_once(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 3, NULL);
    LogTopicDescription description = {0};
    OK(log_topic_describe(f->other, topic, f->timeout_ms, &description));
    assert_int_equal(description.partition_count, 3);
    LogTopicSpec again = {.name = topic, .partitions = 1, .replication_factor = -1};
    FAILS(log_topic_create(f->log, &again, f->timeout_ms), ERROR_KAFKA_TOPIC_EXISTS, ERROR_USER);
    OK(log_topic_describe(f->log, topic, f->timeout_ms, &description));
    assert_int_equal(description.partition_count, 3);
}

static void an_unknown_topic_is_not_found(void **state)
{
    Fixture *f = *state;
    const char *topic = name_of(f, "nowhere");
    LogTopicDescription description = {0};
    const char *value = NULL;
    int64_t start = 0;
    int64_t end = 0;
    FAILS(log_topic_describe(f->log, topic, f->timeout_ms, &description),
          ERROR_KAFKA_TOPIC_NOT_FOUND, ERROR_USER);
    FAILS(log_topic_config(f->log, topic, "cleanup.policy", f->arena, &value),
          ERROR_KAFKA_TOPIC_NOT_FOUND, ERROR_USER);
    FAILS(log_watermarks(f->log, topic, 0, READ_COMMITTED, f->timeout_ms, &start, &end),
          ERROR_KAFKA_TOPIC_NOT_FOUND, ERROR_USER);
    FAILS(log_topic_add_partitions(f->log, topic, 2, f->timeout_ms), ERROR_KAFKA_TOPIC_NOT_FOUND,
          ERROR_USER);
    OK(log_topic_delete(f->log, topic, f->timeout_ms));
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    FAILS(poll_until_error(f, reader), ERROR_KAFKA_TOPIC_NOT_FOUND, ERROR_USER);
}

static void a_deleted_topic_begins_anew(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    put_now(f, w, topic, 0, "a", "old");
    OK(log_topic_delete(f->log, topic, f->timeout_ms));
    LogTopicSpec spec = {.name = topic, .partitions = 2, .replication_factor = -1};
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    for (;;) { /* a broker deletes in the background */
        Error *error = log_topic_create(f->log, &spec, f->timeout_ms);
        if (error == NULL) {
            break;
        }
        assert_int_equal(error_class(error), ERROR_KAFKA_TOPIC_EXISTS);
        assert_true(clock_monotonic_ms() < deadline_ms);
        error_free(error);
        clock_sleep_ms(50);
    }
    assert_int_equal(end_offset(f, topic, 0, READ_UNCOMMITTED), 0);
    assert_int_equal(put_now(f, open_writer(f, f->other, NULL), topic, 1, "b", "new"), 0);
}

static void topic_config_has_values_given_and_defaults(void **state)
{
    Fixture *f = *state;
    const char *topic =
        make_topic(f, "t", 1, "cleanup.policy=compact delete.retention.ms=604800000");
    const char *value = NULL;
    OK(log_topic_config(f->log, topic, "cleanup.policy", f->arena, &value));
    assert_string_equal(value, "compact");
    OK(log_topic_config(f->log, topic, "delete.retention.ms", f->arena, &value));
    assert_string_equal(value, "604800000");
    OK(log_topic_config(f->log, topic, "min.compaction.lag.ms", f->arena, &value));
    assert_string_equal(value, "0");
    value = "unchanged";
    OK(log_topic_config(f->log, topic, "no.such.config", f->arena, &value));
    assert_null(value);
}

static void an_unknown_config_is_refused(void **state)
{
    Fixture *f = *state;
    const char *topic = name_of(f, "t");
    LogConfigEntry entry = {"no.such.config", "1"};
    LogTopicSpec spec = {.name = topic,
                         .partitions = 1,
                         .replication_factor = -1,
                         .config = &entry,
                         .config_count = 1};
    Error *error = log_topic_create(f->log, &spec, f->timeout_ms);
    assert_non_null(error);
    assert_int_equal(error_disposition(error), ERROR_USER);
    error_free(error);
    LogTopicDescription description = {0};
    FAILS(log_topic_describe(f->log, topic, f->timeout_ms, &description),
          ERROR_KAFKA_TOPIC_NOT_FOUND, ERROR_USER);
}

/* kafka-log.partitions-added: the new partition is read from offset 0. */
static void partitions_can_be_added(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    put_now(f, open_writer(f, f->log, NULL), topic, 0, "a", "old");
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    assert_string_equal(read_until(f, reader, topic, 0, 1), "0:a=old");
    OK(log_topic_add_partitions(f->log, topic, 4, f->timeout_ms));
    LogTopicDescription description = {0};
    OK(log_topic_describe(f->log, topic, f->timeout_ms, &description));
    assert_int_equal(description.partition_count, 4);
    assert_int_equal(put_now(f, open_writer(f, f->other, NULL), topic, 3, "a", "new"), 0);
    LogPosition added = {topic, 3, 0};
    OK(log_consumer_seek(reader, &added));
    assert_string_equal(read_until(f, reader, topic, 3, 1), "0:a=new");
}

/* --------------------------------------------------------------------- watermarks and times ----
 */

static void watermarks_follow_the_log(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 2, NULL);
    int64_t start = -1;
    int64_t end = -1;
    OK(log_watermarks(f->log, topic, 1, READ_UNCOMMITTED, f->timeout_ms, &start, &end));
    assert_int_equal(start, 0);
    assert_int_equal(end, 0);
    Writer *w = open_writer(f, f->log, NULL);
    for (int i = 0; i < 5; i++) {
        put(w, topic, 1, "k", "v");
    }
    flush(f, w);
    OK(log_records_delete(f->log, topic, 1, 2, f->timeout_ms));
    OK(log_watermarks(f->log, topic, 1, READ_COMMITTED, f->timeout_ms, &start, &end));
    assert_int_equal(start, 2);
    assert_int_equal(end, 5);
    OK(log_watermarks(f->log, topic, 0, READ_COMMITTED, f->timeout_ms, &start, &end));
    assert_int_equal(start, 0);
    assert_int_equal(end, 0);
}

static void offset_for_time_finds_the_first_at_or_after(void **state)
{
    Fixture *f = *state;
    const int64_t t = INT64_C(1700000000000);
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    int64_t offset = -1;
    OK(log_offset_for_time(f->log, topic, 0, t, f->timeout_ms, &offset));
    assert_int_equal(offset, 0);
    put_at(w, topic, 0, "a", "1", t + 1000);
    put_at(w, topic, 0, "b", "2", t + 3000);
    put_at(w, topic, 0, "c", "3", t + 2000);
    put_at(w, topic, 0, "d", "4", t + 5000);
    flush(f, w);
    const int64_t expected[][2] = {{0, 0},    {1000, 0}, {1001, 1}, {3000, 1},
                                   {3001, 3}, {5000, 3}, {5001, 4}};
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) {
        OK(log_offset_for_time(f->log, topic, 0, t + expected[i][0], f->timeout_ms, &offset));
        assert_int_equal(offset, expected[i][1]);
    }
}

/* -------------------------------------------------------------------------- out of range ---- */

static void a_deleted_prefix_is_out_of_range(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    for (int i = 0; i < 10; i++) {
        put(w, topic, 0, "k", "v");
    }
    flush(f, w);
    OK(log_records_delete(f->log, topic, 0, 8, f->timeout_ms));
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 3);
    Error *error = poll_until_error(f, reader);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), topic));
    assert_non_null(strstr(error_message(error), "3"));
    FAILS(error, ERROR_KAFKA_OFFSET_OUT_OF_RANGE, ERROR_USER);
    LogPosition start = {topic, 0, 8};
    OK(log_consumer_seek(reader, &start));
    assert_string_equal(read_until(f, reader, topic, 0, 10), "8:k=v 9:k=v");
}

/* kafka-log.recreated-shorter, at the level of the log: an error, never a wait for offset 500. */
static void a_position_beyond_the_end_is_out_of_range(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    for (int i = 0; i < 40; i++) {
        put(w, topic, 0, "k", "v");
    }
    flush(f, w);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 500);
    FAILS(poll_until_error(f, reader), ERROR_KAFKA_OFFSET_OUT_OF_RANGE, ERROR_USER);
    LogPosition back = {topic, 0, 39};
    OK(log_consumer_seek(reader, &back));
    assert_string_equal(read_until(f, reader, topic, 0, 40), "39:k=v");
}

/* A broken partition does not stop the others. */
static void the_other_partitions_flow_after_an_error(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 2, NULL);
    Writer *w = open_writer(f, f->log, NULL);
    put_now(f, w, topic, 1, "a", "1");
    LogConsumer *reader = open_reader(f, READ_COMMITTED);
    const LogPosition positions[] = {{topic, 0, 77}, {topic, 1, 0}};
    OK(log_consumer_assign(reader, positions, 2));
    int64_t deadline_ms = clock_monotonic_ms() + f->timeout_ms;
    bool failed = false;
    size_t records = 0;
    while ((!failed || records < 1) && clock_monotonic_ms() < deadline_ms) {
        LogPoll poll = {0};
        Error *error = log_consumer_poll(reader, 100, 100, f->arena, &poll);
        if (error != NULL) {
            FAILS(error, ERROR_KAFKA_OFFSET_OUT_OF_RANGE, ERROR_USER);
            failed = true;
        }
        records += poll.record_count;
    }
    assert_true(failed);
    assert_int_equal(records, 1);
}

/* ------------------------------------------------------------------------------ compaction ---- */

#define COMPACTED "cleanup.policy=compact segment.ms=500 min.cleanable.dirty.ratio=0.01"

/* Lets the cleaner run until the log reads as expected; rolling records lie at or beyond `until`.
 */
static void compact_until(Fixture *f, const char *topic, int64_t from, int64_t until,
                          const char *expected)
{
    int64_t deadline_ms = clock_monotonic_ms() + (f->target->slow ? 120000 : 2000);
    f->target->compact(f->target->context, f->log, topic);
    const char *seen = read_from(f, READ_COMMITTED, topic, 0, from, until);
    while (!str_equal(str_from(seen), str_from(expected)) && clock_monotonic_ms() < deadline_ms) {
        clock_sleep_ms(f->target->slow ? 500 : 10);
        seen = read_from(f, READ_COMMITTED, topic, 0, from, until);
    }
    assert_string_equal(seen, expected);
}

/* kafka-log.gap-is-not-loss: offsets 0, 5 and 9 are left of 12, the reader resumes at 1. */
static void a_gap_of_compaction_is_no_loss(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, COMPACTED);
    Writer *w = open_writer(f, f->log, NULL);
    const char *const keys = "abbbcbcccd";
    for (int i = 0; keys[i] != '\0'; i++) {
        const char key[] = {keys[i], '\0'};
        put(w, topic, 0, i == 9 ? "c" : key, i == 0 || i == 5 || i == 9 ? "kept" : "old");
    }
    flush(f, w);
    Writer *aborted = open_transactional(f, f->log, name_of(f, "id"));
    begin(aborted);
    assert_int_equal(put_now(f, aborted, topic, 0, "a", "aborted"), 10);
    OK(log_producer_abort(aborted->producer, f->timeout_ms));
    wait_for_stable_end(f, topic, 0, 12);
    compact_until(f, topic, 0, 12, "0:a=kept 5:b=kept 9:c=kept");
    int64_t start = -1;
    int64_t end = -1;
    OK(log_watermarks(f->log, topic, 0, READ_COMMITTED, f->timeout_ms, &start, &end));
    assert_int_equal(start, 0);
    assert_true(end >= 12);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 1, 12), "5:b=kept 9:c=kept");
}

static void compaction_keeps_tombstones_and_committed_ends(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, COMPACTED);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    put(w, topic, 0, "a", "1"); /* 0 */
    put(w, topic, 0, "b", "1");
    commit(f, w); /* 2 */
    begin(w);
    put(w, topic, 0, "a", NULL); /* 3 */
    put(w, topic, 0, "b", "2");
    commit(f, w); /* 5 */
    begin(w);
    put_now(f, w, topic, 0, "b", "aborted"); /* 6 */
    OK(log_producer_abort(w->producer, f->timeout_ms));
    begin(w);
    put(w, topic, 0, "c", "1"); /* 8 */
    commit(f, w);               /* 9 */
    wait_for_stable_end(f, topic, 0, 10);
    compact_until(f, topic, 0, 10, "3:a=- 4:b=2 8:c=1");
}

const LogCase log_cases_topics[] = {
    LOG_CASE(the_cluster_answers_a_ping),
    LOG_CASE(a_topic_is_created_once),
    LOG_CASE(an_unknown_topic_is_not_found),
    LOG_CASE(a_deleted_topic_begins_anew),
    LOG_CASE(topic_config_has_values_given_and_defaults),
    LOG_CASE(an_unknown_config_is_refused),
    LOG_CASE(partitions_can_be_added),
    LOG_CASE(watermarks_follow_the_log),
    LOG_CASE(offset_for_time_finds_the_first_at_or_after),
    LOG_CASE(a_deleted_prefix_is_out_of_range),
    LOG_CASE(a_position_beyond_the_end_is_out_of_range),
    LOG_CASE(the_other_partitions_flow_after_an_error),
    LOG_CASE(a_gap_of_compaction_is_no_loss),
    LOG_CASE(compaction_keeps_tombstones_and_committed_ends),
};
const size_t log_cases_topics_count = ARRAY_LENGTH(log_cases_topics);
