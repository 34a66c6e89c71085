/* Conformance cases: transactions, their markers, read_committed and the last stable offset,
 * fencing. Offsets are exact: a transaction's end takes one offset in each partition it wrote to.
 */
#include <stdio.h>

#include "processor/base/clock.h"
#include "tests/support/log_conformance_case.h"

#include "processor/base/banned.h"

static void abort_transaction(Fixture *f, Writer *w)
{
    OK(log_producer_abort(w->producer, f->timeout_ms));
}

static void commit_shows_records_and_takes_an_offset(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    assert_int_equal(put_now(f, w, topic, 0, "a", "1"), 0);
    assert_int_equal(put_now(f, w, topic, 0, "b", "2"), 1);
    assert_int_equal(end_offset(f, topic, 0, READ_COMMITTED), 0);
    assert_int_equal(end_offset(f, topic, 0, READ_UNCOMMITTED), 2);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 0), "");
    commit(f, w);
    wait_for_stable_end(f, topic, 0, 3);
    begin(w);
    assert_int_equal(put_now(f, w, topic, 0, "c", "3"), 3); /* 2 is the marker */
    commit(f, w);
    wait_for_stable_end(f, topic, 0, 5);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 5), "0:a=1 1:b=2 3:c=3");
    assert_int_equal(end_offset(f, topic, 0, READ_UNCOMMITTED), 5);
}

/* kafka-log.ends-with-commit-marker */
static void a_bounded_read_ends_behind_the_commit_marker(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    put(w, topic, 0, "a", "1");
    put(w, topic, 0, "b", "2");
    commit(f, w);
    wait_for_stable_end(f, topic, 0, 3);
    assert_int_equal(end_offset(f, topic, 0, READ_COMMITTED), 3);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    size_t records = 0;
    assert_int_equal(wait_for_end(f, reader, topic, 0, &records), 3);
    assert_int_equal(records, 2);
}

static void abort_hides_records_from_read_committed(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    put(w, topic, 0, "a", "aborted");
    flush(f, w);
    abort_transaction(f, w);
    wait_for_stable_end(f, topic, 0, 2);
    begin(w);
    assert_int_equal(put_now(f, w, topic, 0, "b", "1"), 2);
    commit(f, w);
    begin(w);
    put_now(f, w, topic, 0, "c", "aborted");
    abort_transaction(f, w);
    wait_for_stable_end(f, topic, 0, 6);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 6), "2:b=1");
    assert_string_equal(read_from(f, READ_UNCOMMITTED, topic, 0, 0, 6),
                        "0:a=aborted 2:b=1 4:c=aborted");
}

static void end_moves_past_aborted_records(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    assert_int_equal(wait_for_end(f, reader, topic, 0, NULL), 0);
    Writer *w = open_transactional(f, f->other, name_of(f, "id"));
    begin(w);
    put_now(f, w, topic, 0, "a", "aborted");
    put_now(f, w, topic, 0, "b", "aborted");
    abort_transaction(f, w);
    wait_for_stable_end(f, topic, 0, 3);
    assert_string_equal(read_until(f, reader, topic, 0, 3), "");
}

static void read_uncommitted_sees_open_records(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    put(w, topic, 0, "a", "1");
    flush(f, w);
    assert_string_equal(read_from(f, READ_UNCOMMITTED, topic, 0, 0, 1), "0:a=1");
    abort_transaction(f, w);
}

/* A foreign producer's open transaction hides what others committed behind it. */
static void an_open_transaction_holds_the_last_stable_offset(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *plain = open_writer(f, f->log, NULL);
    Writer *foreign = open_transactional(f, f->other, name_of(f, "foreign"));
    Writer *mine = open_transactional(f, f->log, name_of(f, "mine"));
    put_now(f, plain, topic, 0, "a", "1");
    begin(foreign);
    assert_int_equal(put_now(f, foreign, topic, 0, "f", "1"), 1);
    assert_int_equal(put_now(f, plain, topic, 0, "b", "2"), 2);
    begin(mine);
    assert_int_equal(put_now(f, mine, topic, 0, "c", "3"), 3);
    commit(f, mine);
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    size_t records = 0;
    assert_int_equal(wait_for_end(f, reader, topic, 0, &records), 1);
    assert_int_equal(records, 1);
    assert_int_equal(end_offset(f, topic, 0, READ_COMMITTED), 1);
    assert_string_equal(read_from(f, READ_UNCOMMITTED, topic, 0, 0, 4), "0:a=1 1:f=1 2:b=2 3:c=3");
    commit(f, foreign);
    assert_string_equal(read_until(f, reader, topic, 0, 6), "1:f=1 2:b=2 3:c=3");
}

static void an_aborted_foreign_transaction_frees_what_is_behind(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *plain = open_writer(f, f->log, NULL);
    Writer *foreign = open_transactional(f, f->other, name_of(f, "foreign"));
    begin(foreign);
    put_now(f, foreign, topic, 0, "f", "aborted");
    put_now(f, plain, topic, 0, "a", "1");
    LogConsumer *reader = open_reader_at(f, READ_COMMITTED, topic, 0, 0);
    assert_int_equal(wait_for_end(f, reader, topic, 0, NULL), 0);
    abort_transaction(f, foreign);
    assert_string_equal(read_until(f, reader, topic, 0, 3), "1:a=1");
}

/* Two transactions interleaved in a partition, settled differently and in the other order. */
static void interleaved_transactions_settle_apart(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *a = open_transactional(f, f->log, name_of(f, "a"));
    Writer *b = open_transactional(f, f->log, name_of(f, "b"));
    begin(a);
    begin(b);
    put_now(f, a, topic, 0, "a", "1");
    put_now(f, b, topic, 0, "b", "1");
    put_now(f, a, topic, 0, "a", "2");
    put_now(f, b, topic, 0, "b", "2");
    commit(f, b);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 0), "");
    assert_int_equal(end_offset(f, topic, 0, READ_COMMITTED), 0);
    abort_transaction(f, a);
    wait_for_stable_end(f, topic, 0, 6);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 6), "1:b=1 3:b=2");
}

static void a_transaction_spans_partitions_and_topics(void **state)
{
    Fixture *f = *state;
    const char *first = make_topic(f, "first", 2, NULL);
    const char *second = make_topic(f, "second", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    put(w, first, 0, "a", "1");
    put(w, second, 0, "b", "2");
    commit(f, w);
    begin(w);
    put(w, first, 1, "c", "3");
    put(w, second, 0, "d", "4");
    flush(f, w);
    abort_transaction(f, w);
    wait_for_stable_end(f, first, 0, 2);
    wait_for_stable_end(f, first, 1, 2);
    wait_for_stable_end(f, second, 0, 4);
    assert_string_equal(read_from(f, READ_COMMITTED, first, 0, 0, 2), "0:a=1");
    assert_string_equal(read_from(f, READ_COMMITTED, first, 1, 0, 2), "");
    assert_string_equal(read_from(f, READ_COMMITTED, second, 0, 0, 4), "0:b=2");
}

static void an_empty_transaction_leaves_no_trace(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    commit(f, w);
    begin(w);
    abort_transaction(f, w);
    begin(w);
    assert_int_equal(put_now(f, w, topic, 0, "a", "1"), 0);
    commit(f, w);
    wait_for_stable_end(f, topic, 0, 2);
}

static void deliveries_are_complete_after_commit(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    for (int i = 0; i < 50; i++) {
        put(w, topic, 0, "k", "v");
    }
    commit(f, w);
    assert_int_equal(w->delivered_count, 50);
    for (size_t i = 0; i < w->delivered_count; i++) {
        assert_false(w->delivered[i].failed);
        assert_int_equal(w->delivered[i].offset, i);
    }
}

static void calls_in_the_wrong_state_are_errors(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    Error *error = log_producer_commit(w->producer, f->timeout_ms);
    assert_non_null(error);
    error_free(error);
    LogOutput output = {.topic = topic, .key = STR("k"), .value = STR("v")};
    error = log_producer_produce(w->producer, &output, 1, NULL);
    assert_non_null(error);
    error_free(error);
    assert_int_equal(end_offset(f, topic, 0, READ_UNCOMMITTED), 0);
}

/* -------------------------------------------------------------------------------- fencing ---- */

static void init_settles_the_predecessors_transaction(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    const char *id = name_of(f, "id");
    Writer *old = open_transactional(f, f->other, id);
    begin(old);
    put_now(f, old, topic, 0, "a", "left open");
    assert_int_equal(end_offset(f, topic, 0, READ_COMMITTED), 0);
    Writer *new = open_transactional(f, f->log, id);
    wait_for_stable_end(f, topic, 0, 2);
    begin(new);
    assert_int_equal(put_now(f, new, topic, 0, "b", "1"), 2);
    commit(f, new);
    wait_for_stable_end(f, topic, 0, 4);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 4), "2:b=1");
}

/* A closed producer leaves its transaction open; only the successor settles it. */
static void closing_leaves_the_transaction_to_the_successor(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    const char *id = name_of(f, "id");
    LogProducerOptions options = {.transactional_id = id};
    LogProducer *producer = NULL;
    OK(log_producer_open(f->other, &options, &producer));
    OK(log_producer_init_transactions(producer, f->timeout_ms));
    OK(log_producer_begin(producer));
    LogOutput output = {.topic = topic, .key = STR("a"), .value = STR("left open")};
    OK(log_producer_produce(producer, &output, 1, NULL));
    OK(log_producer_flush(producer, f->timeout_ms));
    log_producer_close(producer);
    assert_int_equal(end_offset(f, topic, 0, READ_COMMITTED), 0);
    assert_int_equal(end_offset(f, topic, 0, READ_UNCOMMITTED), 1);
    (void)open_transactional(f, f->log, id);
    wait_for_stable_end(f, topic, 0, 2);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 2), "");
}

/* The zombie may learn of it in produce or flush; in commit it must. */
static void assert_zombie(Fixture *f, Writer *zombie, const char *topic)
{
    LogOutput output = {.topic = topic, .key = STR("z"), .value = STR("zombie")};
    Error *error = log_producer_produce(zombie->producer, &output, 1, NULL);
    if (error == NULL) {
        error = log_producer_flush(zombie->producer, f->timeout_ms);
    }
    if (error != NULL) {
        FAILS(error, ERROR_KAFKA_FENCED, ERROR_FATAL);
    }
    FAILS(log_producer_commit(zombie->producer, f->timeout_ms), ERROR_KAFKA_FENCED, ERROR_FATAL);
}

static void a_zombie_is_fenced_in_its_transaction(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    const char *id = name_of(f, "id");
    Writer *zombie = open_transactional(f, f->other, id);
    begin(zombie);
    put_now(f, zombie, topic, 0, "z", "open");
    Writer *successor = open_transactional(f, f->log, id);
    FAILS(log_producer_commit(zombie->producer, f->timeout_ms), ERROR_KAFKA_FENCED, ERROR_FATAL);
    FAILS(log_producer_commit(zombie->producer, f->timeout_ms), ERROR_KAFKA_FENCED, ERROR_FATAL);
    begin(successor);
    put_now(f, successor, topic, 0, "s", "1");
    commit(f, successor);
    wait_for_stable_end(f, topic, 0, 4);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 4), "2:s=1");
}

static void a_woken_zombie_is_fenced_in_its_next_transaction(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    const char *id = name_of(f, "id");
    Writer *zombie = open_transactional(f, f->other, id);
    begin(zombie);
    put(zombie, topic, 0, "z", "1");
    commit(f, zombie);
    wait_for_stable_end(f, topic, 0, 2);
    Writer *successor = open_transactional(f, f->log, id);
    begin(successor);
    put_now(f, successor, topic, 0, "s", "1");
    begin(zombie);
    assert_zombie(f, zombie, topic);
    commit(f, successor);
    wait_for_stable_end(f, topic, 0, 4);
    assert_string_equal(read_from(f, READ_UNCOMMITTED, topic, 0, 0, 4), "0:z=1 2:s=1");
}

/* FACTS: the same error as a real zombie's. A broker looks for such transactions every 10 s. */
static void a_transaction_beyond_its_time_out_is_fenced(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    Writer *w = open_writer_with_timeout(f, f->log, name_of(f, "id"), 1000);
    OK(log_producer_init_transactions(w->producer, f->timeout_ms));
    begin(w);
    put_now(f, w, topic, 0, "a", "late");
    wait_for_stable_end(f, topic, 0, 2);
    FAILS(log_producer_commit(w->producer, f->timeout_ms), ERROR_KAFKA_FENCED, ERROR_FATAL);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, 2), "");
}

/* -------------------------------------------------------------------------- group offsets ---- */

/* An error (time-out) or "none": never the value of an open transaction. */
static void assert_pending(Fixture *f, const char *group, const char *topic)
{
    int64_t offset = -1;
    Error *error = log_group_offset(f->log, group, topic, 0, f->target->slow ? 2000 : 20, &offset);
    assert_true(error != NULL || offset == -1);
    if (error != NULL) {
        assert_int_equal(error_disposition(error), ERROR_RETRY);
    }
    error_free(error);
}

static void group_offsets_follow_the_transaction(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    const char *group = name_of(f, "group");
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    int64_t offset = 99;
    OK(log_group_offset(f->log, group, topic, 0, f->timeout_ms, &offset));
    assert_int_equal(offset, -1);
    begin(w);
    put(w, topic, 0, "a", "1");
    LogPosition five = {topic, 0, 5};
    OK(log_producer_send_offsets(w->producer, group, &five, 1, f->timeout_ms));
    assert_pending(f, group, topic);
    commit(f, w);
    OK(log_group_offset(f->log, group, topic, 0, f->timeout_ms, &offset)); /* waits it out */
    assert_int_equal(offset, 5);
    begin(w);
    LogPosition nine = {topic, 0, 9};
    OK(log_producer_send_offsets(w->producer, group, &nine, 1, f->timeout_ms));
    abort_transaction(f, w);
    OK(log_group_offset(f->log, group, topic, 0, f->timeout_ms, &offset));
    assert_int_equal(offset, 5);
}

static void init_drops_the_predecessors_group_offsets(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, NULL);
    const char *group = name_of(f, "group");
    const char *id = name_of(f, "id");
    Writer *old = open_transactional(f, f->other, id);
    begin(old);
    LogPosition seven = {topic, 0, 7};
    OK(log_producer_send_offsets(old->producer, group, &seven, 1, f->timeout_ms));
    (void)open_transactional(f, f->log, id);
    int64_t offset = 99;
    OK(log_group_offset(f->log, group, topic, 0, f->timeout_ms, &offset));
    assert_int_equal(offset, -1);
}

/* ---------------------------------------------------------------------------- large records ----
 */

/* kafka-log.oversized-output: either produce or the delivery refuses; nothing of the transaction
 * is seen, and the producer goes on. */
static void a_record_too_large_spoils_its_transaction(void **state)
{
    Fixture *f = *state;
    enum { SMALL = 1000, LARGE = 1200000 };
    const char *topic = make_topic(f, "t", 1, "max.message.bytes=1000000");
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    char *text = arena_alloc_bytes(f->arena, LARGE);
    uint32_t random = 1;
    for (int i = 0; i < LARGE; i++) {
        random = random * 1664525 + 1013904223;
        text[i] = (char)(random >> 24);
    }
    begin(w);
    bool refused = false;
    const size_t sizes[] = {SMALL, LARGE, SMALL};
    for (size_t i = 0; i < ARRAY_LENGTH(sizes) && !refused; i++) {
        LogOutput output = {
            .topic = topic, .key = STR("k"), .value = {text, sizes[i]}, .tag = w->next_tag++};
        Error *error = log_producer_produce(w->producer, &output, 1, NULL);
        refused = error != NULL;
        if (refused && i == 2) { /* the delivery of the large one came before */
            FAILS(error, ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
        } else if (refused) {
            assert_int_equal(i, 1);
            FAILS(error, ERROR_KAFKA_RECORD_TOO_LARGE, ERROR_USER);
        }
    }
    Error *error = log_producer_flush(w->producer, f->timeout_ms);
    assert_true(error == NULL || error_disposition(error) == ERROR_ABORT);
    error_free(error);
    bool delivery_failed = false;
    for (size_t i = 0; i < w->delivered_count; i++) {
        if (w->delivered[i].tag == 1) {
            assert_true(w->delivered[i].failed);
            assert_int_equal(w->delivered[i].class, ERROR_KAFKA_RECORD_TOO_LARGE);
            delivery_failed = true;
        }
    }
    assert_true(refused || delivery_failed);
    if (delivery_failed) {
        FAILS(log_producer_commit(w->producer, f->timeout_ms), ERROR_KAFKA_TRANSACTION_ABORTABLE,
              ERROR_ABORT);
    }
    abort_transaction(f, w);
    begin(w);
    int64_t offset = put_now(f, w, topic, 0, "k", "good");
    commit(f, w);
    wait_for_stable_end(f, topic, 0, offset + 2);
    Buffer expected = {0};
    buffer_printf(&expected, "%lld:k=good", (long long)offset);
    assert_string_equal(read_from(f, READ_COMMITTED, topic, 0, 0, offset + 2),
                        buffer_cstr(&expected));
    buffer_done(&expected);
}

static void a_compacted_topic_refuses_a_record_without_key(void **state)
{
    Fixture *f = *state;
    const char *topic = make_topic(f, "t", 1, "cleanup.policy=compact");
    Writer *w = open_transactional(f, f->log, name_of(f, "id"));
    begin(w);
    put(w, topic, 0, NULL, "v");
    Error *error = log_producer_flush(w->producer, f->timeout_ms);
    assert_true(error == NULL || error_disposition(error) == ERROR_ABORT);
    error_free(error);
    assert_int_equal(w->delivered_count, 1);
    assert_true(w->delivered[0].failed);
    FAILS(log_producer_commit(w->producer, f->timeout_ms), ERROR_KAFKA_TRANSACTION_ABORTABLE,
          ERROR_ABORT);
    abort_transaction(f, w);
}

const LogCase log_cases_transactions[] = {
    LOG_CASE(commit_shows_records_and_takes_an_offset),
    LOG_CASE(a_bounded_read_ends_behind_the_commit_marker),
    LOG_CASE(abort_hides_records_from_read_committed),
    LOG_CASE(end_moves_past_aborted_records),
    LOG_CASE(read_uncommitted_sees_open_records),
    LOG_CASE(an_open_transaction_holds_the_last_stable_offset),
    LOG_CASE(an_aborted_foreign_transaction_frees_what_is_behind),
    LOG_CASE(interleaved_transactions_settle_apart),
    LOG_CASE(a_transaction_spans_partitions_and_topics),
    LOG_CASE(an_empty_transaction_leaves_no_trace),
    LOG_CASE(deliveries_are_complete_after_commit),
    LOG_CASE(calls_in_the_wrong_state_are_errors),
    LOG_CASE(init_settles_the_predecessors_transaction),
    LOG_CASE(closing_leaves_the_transaction_to_the_successor),
    LOG_CASE(a_zombie_is_fenced_in_its_transaction),
    LOG_CASE(a_woken_zombie_is_fenced_in_its_next_transaction),
    LOG_CASE(a_transaction_beyond_its_time_out_is_fenced),
    LOG_CASE(group_offsets_follow_the_transaction),
    LOG_CASE(init_drops_the_predecessors_group_offsets),
    LOG_CASE(a_record_too_large_spoils_its_transaction),
    LOG_CASE(a_compacted_topic_refuses_a_record_without_key),
};
const size_t log_cases_transactions_count = ARRAY_LENGTH(log_cases_transactions);
