/* What only the model does: faults at chosen calls, lost answers of a commit, a settable clock,
 * corrupt batches, a broker away, access denied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "connectors/sim/sim.h"

#include "processor/base/banned.h"

enum { TIMEOUT_MS = 1000 };

typedef struct Fixture {
    SimBroker *broker;
    Log *log;
    Arena *arena;
    Clock clock;           /* set by use_clock; outlives the broker's handles */
    LogProducer *producer; /* transactional, initialized */
    size_t delivered;
    size_t delivery_errors;
    ErrorClass delivery_class;
} Fixture;

static void note_delivery(void *context, const LogDelivery *delivery)
{
    Fixture *f = context;
    f->delivered++;
    if (delivery->error != NULL) {
        f->delivery_errors++;
        f->delivery_class = error_class(delivery->error);
    }
}

static void ok(Error *error)
{
    if (error != NULL) {
        print_error("%s\n", error_message(error));
    }
    assert_null(error);
}

static void fails(Error *error, ErrorClass class, ErrorDisposition disposition)
{
    assert_non_null(error);
    assert_string_equal(error_class_name(error_class(error)), error_class_name(class));
    assert_int_equal(error_disposition(error), disposition);
    error_free(error);
}

static LogProducer *open_producer(Fixture *f, const char *id)
{
    LogProducer *producer = NULL;
    LogProducerOptions options = {
        .transactional_id = id, .on_delivery = note_delivery, .context = f};
    ok(log_producer_open(f->log, &options, &producer));
    return producer;
}

static int set_up(void **state)
{
    Fixture *f = test_calloc(1, sizeof *f);
    f->broker = sim_broker_new();
    f->log = sim_broker_connect(f->broker);
    f->arena = arena_new("test");
    LogTopicSpec spec = {.name = "t", .partitions = 1};
    ok(log_topic_create(f->log, &spec, TIMEOUT_MS));
    f->producer = open_producer(f, "id");
    ok(log_producer_init_transactions(f->producer, TIMEOUT_MS));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    log_producer_close(f->producer);
    log_close(f->log);
    sim_broker_free(f->broker);
    arena_free(f->arena);
    test_free(f);
    return 0;
}

static Error *produce(Fixture *f, const char *key)
{
    LogOutput output = {.topic = "t", .key = str_from(key), .value = STR("v")};
    return log_producer_produce(f->producer, &output, 1, NULL);
}

static void begin_with(Fixture *f, const char *key)
{
    ok(log_producer_begin(f->producer));
    ok(produce(f, key));
}

static Error *commit(Fixture *f)
{
    return log_producer_commit(f->producer, TIMEOUT_MS);
}

/* A successor of the same transactional id takes over. */
static void replace_producer(Fixture *f)
{
    log_producer_close(f->producer);
    f->producer = open_producer(f, "id");
    ok(log_producer_init_transactions(f->producer, TIMEOUT_MS));
}

/* The keys a read_committed reader sees, one letter each. */
static const char *committed(Fixture *f)
{
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    AUTO(log_consumer) LogConsumer *reader = NULL;
    ok(log_consumer_open(f->log, &options, &reader));
    LogPosition position = {"t", 0, 0};
    ok(log_consumer_assign(reader, &position, 1));
    LogPoll poll = {0};
    ok(log_consumer_poll(reader, 0, 1000, f->arena, &poll));
    char *keys = arena_alloc_bytes(f->arena, poll.record_count + 1);
    for (size_t i = 0; i < poll.record_count; i++) {
        keys[i] = poll.records[i].key.data[0];
    }
    keys[poll.record_count] = '\0';
    return keys;
}

static void ends(Fixture *f, int64_t stable, int64_t high)
{
    int64_t start = -1;
    int64_t end = -1;
    ok(log_watermarks(f->log, "t", 0, READ_COMMITTED, TIMEOUT_MS, &start, &end));
    assert_int_equal(end, stable);
    ok(log_watermarks(f->log, "t", 0, READ_UNCOMMITTED, TIMEOUT_MS, &start, &end));
    assert_int_equal(end, high);
}

/* ------------------------------------------------------------------- failures asked for ---- */

static void the_nth_call_fails_once(void **state)
{
    Fixture *f = *state;
    sim_broker_fail_next(f->broker, SIM_COMMIT, SIM_RETRIABLE, 2);
    begin_with(f, "a");
    ok(commit(f));
    begin_with(f, "b");
    fails(commit(f), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    assert_string_equal(committed(f), "a");
    ok(commit(f)); /* still in the transaction: the same commit again */
    assert_string_equal(committed(f), "ab");
}

static void faults_are_cleared(void **state)
{
    Fixture *f = *state;
    sim_broker_fail_next(f->broker, SIM_BEGIN, SIM_RETRIABLE, 1);
    sim_broker_fail_next(f->broker, SIM_COMMIT, SIM_FENCED, 1);
    sim_broker_clear_faults(f->broker);
    begin_with(f, "a");
    ok(commit(f));
}

static void retriable_calls_succeed_when_repeated(void **state)
{
    Fixture *f = *state;
    LogPosition offset = {"t", 0, 3};
    const SimCall calls[] = {SIM_BEGIN,  SIM_PRODUCE, SIM_SEND_OFFSETS, SIM_FLUSH,
                             SIM_COMMIT, SIM_ABORT,   SIM_ADMIN};
    for (size_t i = 0; i < ARRAY_LENGTH(calls); i++) {
        sim_broker_fail_next(f->broker, calls[i], SIM_RETRIABLE, 1);
    }
    fails(log_producer_begin(f->producer), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    ok(log_producer_begin(f->producer));
    fails(produce(f, "a"), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    ok(produce(f, "b"));
    fails(log_producer_send_offsets(f->producer, "g", &offset, 1, TIMEOUT_MS),
          ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    ok(log_producer_send_offsets(f->producer, "g", &offset, 1, TIMEOUT_MS));
    fails(log_producer_flush(f->producer, TIMEOUT_MS), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    assert_int_equal(f->delivered, 0);
    ok(log_producer_flush(f->producer, TIMEOUT_MS));
    assert_int_equal(f->delivered, 1);
    fails(commit(f), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    ok(commit(f));
    begin_with(f, "c");
    fails(log_producer_abort(f->producer, TIMEOUT_MS), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    ok(log_producer_abort(f->producer, TIMEOUT_MS));
    fails(log_ping(f->log, TIMEOUT_MS), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    ok(log_ping(f->log, TIMEOUT_MS));
    assert_string_equal(committed(f), "b");
}

static void an_abortable_commit_asks_for_the_abort(void **state)
{
    Fixture *f = *state;
    sim_broker_fail_next(f->broker, SIM_COMMIT, SIM_ABORTABLE, 1);
    begin_with(f, "a");
    fails(commit(f), ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    fails(commit(f), ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    fails(produce(f, "b"), ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    ok(log_producer_abort(f->producer, TIMEOUT_MS));
    begin_with(f, "c");
    ok(commit(f));
    assert_string_equal(committed(f), "c");
}

static void a_failed_delivery_spoils_the_transaction(void **state)
{
    Fixture *f = *state;
    const struct {
        SimFailure failure;
        ErrorClass class;
    } cases[] = {{SIM_TOO_LARGE, ERROR_KAFKA_RECORD_TOO_LARGE},
                 {SIM_ABORTABLE, ERROR_KAFKA_TIMED_OUT},
                 {SIM_UNCLEAR_LOST, ERROR_KAFKA_TIMED_OUT},
                 {SIM_UNCLEAR_COMMITTED, ERROR_KAFKA_TIMED_OUT}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        f->delivered = 0;
        f->delivery_errors = 0;
        sim_broker_fail_next(f->broker, SIM_PRODUCE, cases[i].failure, 2);
        begin_with(f, "a");
        ok(produce(f, "b"));
        ok(log_producer_flush(f->producer, TIMEOUT_MS));
        assert_int_equal(f->delivered, 2);
        assert_int_equal(f->delivery_errors, 1);
        assert_int_equal(f->delivery_class, cases[i].class);
        fails(commit(f), ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
        ok(log_producer_abort(f->producer, TIMEOUT_MS));
    }
    assert_string_equal(committed(f), "");
}

/* A fault in the middle of a call: what was queued before it stays. */
static void produce_tells_how_many_were_queued(void **state)
{
    Fixture *f = *state;
    LogOutput outputs[5];
    for (size_t i = 0; i < ARRAY_LENGTH(outputs); i++) {
        outputs[i] = (LogOutput){.topic = "t", .key = {&"abcde"[i], 1}, .value = STR("v")};
    }
    sim_broker_fail_next(f->broker, SIM_PRODUCE, SIM_RETRIABLE, 4);
    ok(log_producer_begin(f->producer));
    size_t queued = 99;
    fails(log_producer_produce(f->producer, outputs, ARRAY_LENGTH(outputs), &queued),
          ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    assert_int_equal(queued, 3);
    ok(log_producer_produce(f->producer, outputs + queued, ARRAY_LENGTH(outputs) - queued, NULL));
    ok(commit(f));
    assert_string_equal(committed(f), "abcde");
}

static void a_fenced_producer_stays_dead(void **state)
{
    Fixture *f = *state;
    sim_broker_fail_next(f->broker, SIM_SEND_OFFSETS, SIM_FENCED, 1);
    begin_with(f, "a");
    LogPosition offset = {"t", 0, 1};
    fails(log_producer_send_offsets(f->producer, "g", &offset, 1, TIMEOUT_MS), ERROR_KAFKA_FENCED,
          ERROR_FATAL);
    ends(f, 2, 2); /* whoever fenced it has settled its transaction */
    fails(produce(f, "b"), ERROR_KAFKA_FENCED, ERROR_FATAL);
    fails(commit(f), ERROR_KAFKA_FENCED, ERROR_FATAL);
    fails(log_producer_abort(f->producer, TIMEOUT_MS), ERROR_KAFKA_FENCED, ERROR_FATAL);
    fails(log_producer_begin(f->producer), ERROR_KAFKA_FENCED, ERROR_FATAL);
    replace_producer(f);
    begin_with(f, "c");
    ok(commit(f));
    assert_string_equal(committed(f), "c");
}

static SimFailure refuse_second(void *context, SimCall call, const char *topic)
{
    unsigned *count = context;
    if (call != SIM_PRODUCE) {
        return SIM_NO_FAILURE;
    }
    assert_string_equal(topic, "t");
    return ++*count == 2 ? SIM_RETRIABLE : SIM_NO_FAILURE;
}

static void a_hook_decides_at_each_call(void **state)
{
    Fixture *f = *state;
    unsigned count = 0;
    sim_broker_set_fault_hook(f->broker, refuse_second, &count);
    begin_with(f, "a");
    fails(produce(f, "b"), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    ok(produce(f, "c"));
    ok(commit(f));
    assert_int_equal(count, 3);
    sim_broker_set_fault_hook(f->broker, NULL, NULL);
    assert_string_equal(committed(f), "ac");
}

static void names_of_calls_and_failures_parse(void **state)
{
    (void)state;
    SimCall call = SIM_CALL_COUNT;
    SimFailure failure = SIM_FAILURE_COUNT;
    assert_true(sim_call_parse(STR("send_offsets"), &call));
    assert_int_equal(call, SIM_SEND_OFFSETS);
    assert_true(sim_failure_parse(STR("unclear_lost"), &failure));
    assert_int_equal(failure, SIM_UNCLEAR_LOST);
    assert_false(sim_call_parse(STR("nonsense"), &call));
    assert_false(sim_failure_parse(STR("nonsense"), &failure));
}

/* ---------------------------------------------------------------------------- lost answers ---- */

static void an_unclear_commit_may_have_committed(void **state)
{
    Fixture *f = *state;
    sim_broker_fail_next(f->broker, SIM_COMMIT, SIM_UNCLEAR_COMMITTED, 1);
    begin_with(f, "a");
    fails(commit(f), ERROR_KAFKA_COMMIT_UNCLEAR, ERROR_FATAL);
    fails(commit(f), ERROR_KAFKA_COMMIT_UNCLEAR, ERROR_FATAL);
    replace_producer(f);
    assert_string_equal(committed(f), "a");
    ends(f, 2, 2);
}

static void an_unclear_commit_may_be_lost(void **state)
{
    Fixture *f = *state;
    sim_broker_fail_next(f->broker, SIM_COMMIT, SIM_UNCLEAR_LOST, 1);
    begin_with(f, "a");
    fails(commit(f), ERROR_KAFKA_COMMIT_UNCLEAR, ERROR_FATAL);
    ends(f, 0, 1); /* open until the successor comes */
    replace_producer(f);
    ends(f, 2, 2);
    assert_string_equal(committed(f), "");
}

static void a_lost_answer_of_init_is_repeated(void **state)
{
    Fixture *f = *state;
    begin_with(f, "a");
    log_producer_close(f->producer);
    f->producer = open_producer(f, "id");
    sim_broker_fail_next(f->broker, SIM_INIT, SIM_UNCLEAR_COMMITTED, 1);
    fails(log_producer_init_transactions(f->producer, TIMEOUT_MS), ERROR_KAFKA_TIMED_OUT,
          ERROR_RETRY);
    ends(f, 2, 2);
    ok(log_producer_init_transactions(f->producer, TIMEOUT_MS));
    begin_with(f, "b");
    ok(commit(f));
    assert_string_equal(committed(f), "b");
}

static void a_lost_answer_of_create_leaves_the_topic(void **state)
{
    Fixture *f = *state;
    LogTopicSpec spec = {.name = "u", .partitions = 1};
    sim_broker_fail_next(f->broker, SIM_ADMIN, SIM_UNCLEAR_COMMITTED, 1);
    fails(log_topic_create(f->log, &spec, TIMEOUT_MS), ERROR_KAFKA_TIMED_OUT, ERROR_RETRY);
    fails(log_topic_create(f->log, &spec, TIMEOUT_MS), ERROR_KAFKA_TOPIC_EXISTS, ERROR_USER);
}

/* ----------------------------------------------------------------------------------- clock ---- */

enum { SECOND_US = 1000000 };

static void use_clock(Fixture *f, int64_t now_us)
{
    f->clock = (Clock){.fixed = true, .fixed_us = now_us};
    sim_broker_set_clock(f->broker, &f->clock);
}

static void a_transaction_times_out_by_the_clock(void **state)
{
    Fixture *f = *state;
    use_clock(f, INT64_C(1717149600) * SECOND_US);
    begin_with(f, "a");
    f->clock.fixed_us += INT64_C(60) * SECOND_US; /* the default time-out, to the last ms */
    ends(f, 0, 1);
    f->clock.fixed_us += SECOND_US;
    ends(f, 2, 2);
    fails(commit(f), ERROR_KAFKA_FENCED, ERROR_FATAL);
    replace_producer(f);
    begin_with(f, "b");
    ok(commit(f));
    assert_string_equal(committed(f), "b");
}

static void records_bear_the_clocks_time(void **state)
{
    Fixture *f = *state;
    use_clock(f, INT64_C(1717149600123456));
    begin_with(f, "a");
    ok(commit(f));
    int64_t offset = -1;
    ok(log_offset_for_time(f->log, "t", 0, INT64_C(1717149600123), TIMEOUT_MS, &offset));
    assert_int_equal(offset, 0);
    ok(log_offset_for_time(f->log, "t", 0, INT64_C(1717149600124), TIMEOUT_MS, &offset));
    assert_int_equal(offset, 2);
}

static void retention_removes_what_is_too_old(void **state)
{
    Fixture *f = *state;
    use_clock(f, INT64_C(1717149600) * SECOND_US);
    sim_broker_set_topic_config(f->broker, "t", "retention.ms", "10000");
    begin_with(f, "a");
    ok(commit(f)); /* 0, marker 1 */
    f->clock.fixed_us += INT64_C(8) * SECOND_US;
    begin_with(f, "b");
    ok(commit(f)); /* 2, marker 3 */
    f->clock.fixed_us += INT64_C(3) * SECOND_US;
    sim_broker_expire(f->broker, "t");
    int64_t start = -1;
    int64_t end = -1;
    ok(log_watermarks(f->log, "t", 0, READ_COMMITTED, TIMEOUT_MS, &start, &end));
    assert_int_equal(start, 2);
    assert_int_equal(end, 4);
    f->clock.fixed_us += INT64_C(100) * SECOND_US;
    sim_broker_expire(f->broker, "t");
    ok(log_watermarks(f->log, "t", 0, READ_COMMITTED, TIMEOUT_MS, &start, &end));
    assert_int_equal(start, 4);
    assert_int_equal(end, 4);
}

static void compaction_drops_tombstones_after_their_time(void **state)
{
    Fixture *f = *state;
    use_clock(f, INT64_C(1717149600) * SECOND_US);
    sim_broker_set_topic_config(f->broker, "t", "delete.retention.ms", "10000");
    ok(log_producer_begin(f->producer));
    ok(produce(f, "a"));
    LogOutput tombstone = {.topic = "t", .key = STR("a")};
    ok(log_producer_produce(f->producer, &tombstone, 1, NULL));
    ok(produce(f, "b"));
    ok(commit(f));
    sim_broker_compact(f->broker, "t");
    assert_string_equal(committed(f), "ab");
    f->clock.fixed_us += INT64_C(11) * SECOND_US;
    sim_broker_compact(f->broker, "t");
    assert_string_equal(committed(f), "b");
    ends(f, 4, 4);
}

/* The cleaner stops at the last stable offset, whatever was committed behind it. */
static void compaction_stops_at_an_open_transaction(void **state)
{
    Fixture *f = *state;
    LogProducer *foreign = open_producer(f, "foreign");
    ok(log_producer_init_transactions(foreign, TIMEOUT_MS));
    begin_with(f, "a");
    ok(commit(f)); /* 0, marker 1 */
    ok(log_producer_begin(foreign));
    LogOutput output = {.topic = "t", .key = STR("f"), .value = STR("v")};
    ok(log_producer_produce(foreign, &output, 1, NULL)); /* 2 */
    begin_with(f, "a");
    ok(commit(f)); /* 3, marker 4 */
    sim_broker_compact(f->broker, "t");
    assert_string_equal(committed(f), "a");
    ok(log_producer_commit(foreign, TIMEOUT_MS));
    assert_string_equal(committed(f), "afa");
    sim_broker_compact(f->broker, "t");
    assert_string_equal(committed(f), "fa");
    log_producer_close(foreign);
}

/* ------------------------------------------------------------- broken, away, forbidden ---- */

static LogConsumer *reader_at(Fixture *f, int64_t offset)
{
    LogConsumer *reader = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    LogPosition position = {"t", 0, offset};
    ok(log_consumer_open(f->log, &options, &reader));
    ok(log_consumer_assign(reader, &position, 1));
    return reader;
}

static size_t poll_count(Fixture *f, LogConsumer *reader)
{
    LogPoll poll = {0};
    ok(log_consumer_poll(reader, 0, 100, f->arena, &poll));
    return poll.record_count;
}

/* kafka-log.corrupt-batch at the level of the log: 5 good rows, then an error naming offset 5. */
static void a_corrupt_batch_is_told_until_repaired(void **state)
{
    Fixture *f = *state;
    ok(log_producer_begin(f->producer));
    for (int i = 0; i < 15; i++) {
        ok(produce(f, "a"));
    }
    ok(commit(f));
    sim_broker_corrupt(f->broker, "t", 0, 5);
    AUTO(log_consumer) LogConsumer *reader = reader_at(f, 0);
    assert_int_equal(poll_count(f, reader), 5);
    LogPoll poll = {0};
    for (int i = 0; i < 3; i++) {
        Error *error = log_consumer_poll(reader, 0, 100, f->arena, &poll);
        assert_non_null(strstr(error_message(error), "offset 5 of the topic `t`, partition 0"));
        fails(error, ERROR_KAFKA_CORRUPT_BATCH, ERROR_USER);
    }
    LogPosition behind = {"t", 0, 10}; /* an operator's decision */
    ok(log_consumer_seek(reader, &behind));
    assert_int_equal(poll_count(f, reader), 5);
    LogPosition back = {"t", 0, 5};
    ok(log_consumer_seek(reader, &back));
    sim_broker_repair(f->broker, "t", 0);
    assert_int_equal(poll_count(f, reader), 10);
}

static void a_broker_away_comes_back(void **state)
{
    Fixture *f = *state;
    begin_with(f, "a");
    AUTO(log_consumer) LogConsumer *reader = reader_at(f, 0);
    sim_broker_set_available(f->broker, false);
    LogPoll poll = {0};
    LogTopicDescription description = {0};
    fails(log_consumer_poll(reader, 5, 10, f->arena, &poll), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    fails(produce(f, "b"), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    fails(log_producer_flush(f->producer, 5), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    fails(commit(f), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    fails(log_producer_abort(f->producer, 5), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    fails(log_ping(f->log, 5), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    fails(log_topic_describe(f->log, "t", 5, &description), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    sim_broker_set_available(f->broker, true);
    ok(produce(f, "b"));
    ok(commit(f));
    assert_int_equal(poll_count(f, reader), 2);
}

/* Only the topic is away: its records are refused, as after the patience of a real producer. */
static void a_topic_without_leader_comes_back(void **state)
{
    Fixture *f = *state;
    begin_with(f, "a");
    LogTopicDescription description = {0};
    sim_broker_set_topic_available(f->broker, "t", false);
    fails(log_topic_describe(f->log, "t", 5, &description), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    ok(log_ping(f->log, 5));
    ok(produce(f, "b"));
    fails(commit(f), ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    assert_int_equal(f->delivery_class, ERROR_KAFKA_UNAVAILABLE);
    sim_broker_set_topic_available(f->broker, "t", true);
    ok(log_producer_abort(f->producer, TIMEOUT_MS));
    ok(log_topic_describe(f->log, "t", 5, &description));
    ends(f, 2, 2);
}

/* Another log's records at their own offsets, with its gaps. */
static void records_are_placed_at_their_offsets(void **state)
{
    Fixture *f = *state;
    LogRecord record = {.topic = "t", .offset = 3, .timestamp_ms = 77, .value = STR("x")};
    sim_broker_place(f->broker, &record);
    record.offset = 9;
    sim_broker_place(f->broker, &record);
    sim_broker_extend(f->broker, "t", 0, 12);
    sim_broker_extend(f->broker, "t", 0, 11);
    ends(f, 12, 12);
    AUTO(log_consumer) LogConsumer *reader = reader_at(f, 0);
    LogPoll poll = {0};
    ok(log_consumer_poll(reader, 5, 10, f->arena, &poll));
    assert_int_equal(poll.record_count, 2);
    assert_int_equal(poll.records[0].offset, 3);
    assert_int_equal(poll.records[1].offset, 9);
    assert_int_equal(poll.records[1].timestamp_ms, 77);
    assert_int_equal(poll.ends[0].offset, 12);
}

static void a_denied_topic_answers_nobody(void **state)
{
    Fixture *f = *state;
    sim_broker_deny(f->broker, "t");
    LogTopicDescription description = {0};
    LogPoll poll = {0};
    fails(log_topic_describe(f->log, "t", 5, &description), ERROR_KAFKA_ACCESS_DENIED, ERROR_USER);
    AUTO(log_consumer) LogConsumer *reader = reader_at(f, 0);
    fails(log_consumer_poll(reader, 0, 10, f->arena, &poll), ERROR_KAFKA_ACCESS_DENIED, ERROR_USER);
    begin_with(f, "a");
    ok(log_producer_flush(f->producer, TIMEOUT_MS));
    assert_int_equal(f->delivery_class, ERROR_KAFKA_ACCESS_DENIED);
    fails(commit(f), ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    ok(log_producer_abort(f->producer, TIMEOUT_MS));
    sim_broker_allow(f->broker, "t");
    begin_with(f, "b");
    ok(commit(f));
    assert_string_equal(committed(f), "b");
}

/* A topic deleted under an open transaction must not be written to by its end. */
static void a_topic_may_vanish_under_a_transaction(void **state)
{
    Fixture *f = *state;
    begin_with(f, "a");
    ok(log_topic_delete(f->log, "t", TIMEOUT_MS));
    ok(commit(f));
    LogTopicSpec spec = {.name = "t", .partitions = 1};
    ok(log_topic_create(f->log, &spec, TIMEOUT_MS));
    ends(f, 0, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_nth_call_fails_once),
        TEST(faults_are_cleared),
        TEST(retriable_calls_succeed_when_repeated),
        TEST(an_abortable_commit_asks_for_the_abort),
        TEST(a_failed_delivery_spoils_the_transaction),
        TEST(produce_tells_how_many_were_queued),
        TEST(a_fenced_producer_stays_dead),
        TEST(a_hook_decides_at_each_call),
        TEST(names_of_calls_and_failures_parse),
        TEST(an_unclear_commit_may_have_committed),
        TEST(an_unclear_commit_may_be_lost),
        TEST(a_lost_answer_of_init_is_repeated),
        TEST(a_lost_answer_of_create_leaves_the_topic),
        TEST(a_transaction_times_out_by_the_clock),
        TEST(records_bear_the_clocks_time),
        TEST(retention_removes_what_is_too_old),
        TEST(compaction_drops_tombstones_after_their_time),
        TEST(compaction_stops_at_an_open_transaction),
        TEST(a_corrupt_batch_is_told_until_repaired),
        TEST(a_broker_away_comes_back),
        TEST(a_topic_without_leader_comes_back),
        TEST(records_are_placed_at_their_offsets),
        TEST(a_denied_topic_answers_nobody),
        TEST(a_topic_may_vanish_under_a_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
