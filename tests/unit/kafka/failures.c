/* What broken brokers become: no broker at all, and librdkafka's mock cluster answering with
 * errors. The mock cluster is no stand-in for transactions (calls succeed and do nothing), but it
 * answers each request with the error asked for, and that is what is looked at here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "connectors/kafka/kafka.h"
#include "processor/base/clock.h"

#include "processor/base/banned.h"

/* Request types of the Kafka protocol. */
enum {
    REQUEST_PRODUCE = 0,
    REQUEST_FETCH = 1,
    REQUEST_OFFSET_FETCH = 9,
    REQUEST_INIT_PRODUCER_ID = 22,
    REQUEST_ADD_PARTITIONS_TO_TXN = 24,
    REQUEST_END_TXN = 26,
    REQUEST_TXN_OFFSET_COMMIT = 28,
};

typedef struct Fixture {
    rd_kafka_t *owner;
    rd_kafka_mock_cluster_t *cluster;
    Log *log;
    LogProducer *producer;
    ErrorClass delivery_class;
    ErrorDisposition delivery_disposition;
    int delivered;
    int failed;
} Fixture;

static void ok(Error *error)
{
    if (error != NULL) {
        fail_msg("%s", error_message(error));
    }
}

static void fails(Error *error, ErrorClass class, ErrorDisposition disposition)
{
    assert_non_null(error);
    if (error_class(error) != class || error_disposition(error) != disposition) {
        fail_msg("not %s, %d, but %s, %d: %s", error_class_name(class), (int)disposition,
                 error_class_name(error_class(error)), (int)error_disposition(error),
                 error_message(error));
    }
    error_free(error);
}

static int set_up(void **state)
{
    static Fixture fixture;
    fixture = (Fixture){0};
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, NULL);
    fixture.owner = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    fixture.cluster = rd_kafka_mock_cluster_new(fixture.owner, 1);
    rd_kafka_mock_topic_create(fixture.cluster, "t", 2, 1);
    ok(kafka_log_open(rd_kafka_mock_cluster_bootstraps(fixture.cluster), NULL, 0, &fixture.log));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    log_producer_close(f->producer);
    log_close(f->log);
    rd_kafka_mock_cluster_destroy(f->cluster);
    rd_kafka_destroy(f->owner);
    return 0;
}

static void inject(Fixture *f, int16_t request, rd_kafka_resp_err_t code, size_t times)
{
    rd_kafka_resp_err_t codes[64];
    assert_true(times <= ARRAY_LENGTH(codes));
    for (size_t i = 0; i < times; i++) {
        codes[i] = code;
    }
    rd_kafka_mock_push_request_errors_array(f->cluster, request, times, codes);
}

static void note_delivery(void *context, const LogDelivery *delivery)
{
    Fixture *f = context;
    f->delivered++;
    if (delivery->error != NULL) {
        f->failed++;
        f->delivery_class = error_class(delivery->error);
        f->delivery_disposition = error_disposition(delivery->error);
    }
}

static void open_producer(Fixture *f, const char *id)
{
    LogProducerOptions options = {
        .transactional_id = id,
        .delivery_timeout_ms = 3000,
        .on_delivery = note_delivery,
        .context = f,
    };
    ok(log_producer_open(f->log, &options, &f->producer));
}

static void begin(Fixture *f)
{
    open_producer(f, "id");
    ok(log_producer_init_transactions(f->producer, 10000));
    ok(log_producer_begin(f->producer));
}

static void put(Fixture *f)
{
    LogOutput output = {.topic = "t", .partition = 0, .key = STR("k"), .value = STR("v")};
    ok(log_producer_produce(f->producer, &output, 1, NULL));
}

/* ---------------------------------------------------------------------------- no broker ---- */

static void no_broker_is_told_with_address_and_reason(void **state)
{
    (void)state;
    Log *log = NULL;
    ok(kafka_log_open("127.0.0.1:1", NULL, 0, &log));
    assert_string_equal(log_name(log), "127.0.0.1:1");
    int64_t begun_ms = clock_monotonic_ms();
    Error *error = log_ping(log, 5000);
    assert_true(clock_monotonic_ms() - begun_ms < 5500);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "127.0.0.1:1"));
    assert_non_null(strstr(error_message(error), "Connection refused"));
    assert_null(strstr(error_message(error), "bootstrap:"));
    fails(error, ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    LogTopicDescription description = {0};
    fails(log_topic_describe(log, "t", 2000, &description), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    int64_t start = 0;
    int64_t end = 0;
    fails(log_watermarks(log, "t", 0, READ_COMMITTED, 2000, &start, &end), ERROR_KAFKA_UNAVAILABLE,
          ERROR_RETRY);
    log_close(log);
}

static void an_unknown_host_is_told(void **state)
{
    (void)state;
    Log *log = NULL;
    ok(kafka_log_open("no-such-host.invalid:9092", NULL, 0, &log));
    Error *error = log_ping(log, 5000);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "no-such-host.invalid:9092"));
    assert_non_null(strstr(error_message(error), "resolve"));
    fails(error, ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    log_close(log);
}

static void a_producer_without_a_broker_says_so(void **state)
{
    (void)state;
    Log *log = NULL;
    ok(kafka_log_open("127.0.0.1:1", NULL, 0, &log));
    LogProducer *producer = NULL;
    ok(log_producer_open(log, &(LogProducerOptions){.transactional_id = "id"}, &producer));
    Error *error = log_producer_init_transactions(producer, 1500);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "Connection refused"));
    fails(error, ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY);
    log_producer_close(producer);
    log_close(log);
}

static void a_consumer_without_a_broker_says_so(void **state)
{
    (void)state;
    Log *log = NULL;
    ok(kafka_log_open("127.0.0.1:1", NULL, 0, &log));
    LogConsumer *consumer = NULL;
    ok(log_consumer_open(log, &(LogConsumerOptions){.isolation = READ_COMMITTED}, &consumer));
    LogPosition position = {"t", 0, 0};
    ok(log_consumer_assign(consumer, &position, 1));
    AUTO(arena) Arena *arena = arena_new("test");
    LogPoll poll = {0};
    fails(log_consumer_poll(consumer, 5000, 10, arena, &poll), ERROR_KAFKA_UNAVAILABLE,
          ERROR_RETRY);
    log_consumer_close(consumer);
    log_close(log);
}

/* -------------------------------------------------------------------------- transactions ---- */

static void what_heals_is_retried_inside(void **state)
{
    Fixture *f = *state;
    inject(f, REQUEST_INIT_PRODUCER_ID, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 2);
    begin(f);
    put(f);
    inject(f, REQUEST_ADD_PARTITIONS_TO_TXN, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, 2);
    inject(f, REQUEST_PRODUCE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 1);
    inject(f, REQUEST_END_TXN, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 2);
    ok(log_producer_commit(f->producer, 10000));
    assert_int_equal(f->delivered, 1);
    assert_int_equal(f->failed, 0);
}

static void a_fenced_commit_is_fatal(void **state)
{
    Fixture *f = *state;
    begin(f);
    put(f);
    ok(log_producer_flush(f->producer, 5000));
    inject(f, REQUEST_END_TXN, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, 1);
    fails(log_producer_commit(f->producer, 5000), ERROR_KAFKA_FENCED, ERROR_FATAL);
    LogOutput output = {.topic = "t", .partition = 0, .key = STR("k"), .value = STR("v")};
    fails(log_producer_produce(f->producer, &output, 1, NULL), ERROR_KAFKA_FENCED, ERROR_FATAL);
}

static void denied_partitions_abort_and_name_the_reason(void **state)
{
    Fixture *f = *state;
    begin(f);
    inject(f, REQUEST_ADD_PARTITIONS_TO_TXN, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
    put(f);
    Error *error = log_producer_commit(f->producer, 5000);
    assert_non_null(error);
    fails(error, ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    assert_int_equal(f->delivered, 1);
    assert_int_equal(f->failed, 1);
    ok(log_producer_abort(f->producer, 5000));
    ok(log_producer_begin(f->producer));
    put(f);
    ok(log_producer_commit(f->producer, 5000));
    assert_int_equal(f->delivered, 2);
    assert_int_equal(f->failed, 1);
}

static void a_commit_without_an_answer_is_unclear(void **state)
{
    Fixture *f = *state;
    begin(f);
    put(f);
    ok(log_producer_flush(f->producer, 5000));
    rd_kafka_mock_broker_set_down(f->cluster, 1);
    int64_t begun_ms = clock_monotonic_ms();
    fails(log_producer_commit(f->producer, 1000), ERROR_KAFKA_COMMIT_UNCLEAR, ERROR_FATAL);
    assert_true(clock_monotonic_ms() - begun_ms < 3000);
    rd_kafka_mock_broker_set_up(f->cluster, 1);
}

static void a_commit_that_could_not_flush_is_clear(void **state)
{
    Fixture *f = *state;
    begin(f);
    put(f);
    ok(log_producer_flush(f->producer, 5000));
    rd_kafka_mock_broker_set_down(f->cluster, 1);
    put(f);
    fails(log_producer_commit(f->producer, 500), ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    rd_kafka_mock_broker_set_up(f->cluster, 1);
    ok(log_producer_abort(f->producer, 10000));
}

static void an_unstable_group_member_aborts(void **state)
{
    Fixture *f = *state;
    begin(f);
    put(f);
    inject(f, REQUEST_TXN_OFFSET_COMMIT, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, 1);
    LogPosition offset = {"t", 0, 5};
    fails(log_producer_send_offsets(f->producer, "g", &offset, 1, 5000),
          ERROR_KAFKA_TRANSACTION_ABORTABLE, ERROR_ABORT);
    ok(log_producer_abort(f->producer, 5000));
}

/* What a broker says that hung, woke, and does not know yet that others lead now. Nothing the user
 * could do: the producer, transactional or not, is made anew. */
static void a_sequence_lost_is_no_mistake_of_the_user(void **state)
{
    Fixture *f = *state;
    begin(f);
    put(f);
    ok(log_producer_flush(f->producer, 5000));
    inject(f, REQUEST_PRODUCE, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 1);
    put(f);
    Error *error = log_producer_flush(f->producer, 5000);
    assert_int_equal(f->failed, 1);
    assert_int_equal(f->delivery_class, ERROR_KAFKA_ERROR);
    assert_int_equal(f->delivery_disposition, ERROR_FATAL);
    error_free(error);
    fails(log_producer_commit(f->producer, 5000), ERROR_KAFKA_ERROR, ERROR_FATAL);
    log_producer_close(f->producer);
    begin(f);
    put(f);
    ok(log_producer_commit(f->producer, 5000));
}

static void a_plain_producer_that_lost_its_sequence_is_dead(void **state)
{
    Fixture *f = *state;
    open_producer(f, NULL);
    put(f);
    ok(log_producer_flush(f->producer, 5000));
    inject(f, REQUEST_PRODUCE, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 1);
    put(f);
    error_free(log_producer_flush(f->producer, 5000));
    assert_int_equal(f->failed, 1);
    LogOutput output = {.topic = "t", .partition = 0, .key = STR("k"), .value = STR("v")};
    fails(log_producer_produce(f->producer, &output, 1, NULL), ERROR_KAFKA_ERROR, ERROR_FATAL);
}

/* ------------------------------------------------------------------- produce and consume ---- */

static void deliveries_tell_why_they_failed(void **state)
{
    static const struct {
        rd_kafka_resp_err_t code;
        ErrorClass class;
    } cases[] = {
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, ERROR_KAFKA_ACCESS_DENIED},
        {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, ERROR_KAFKA_RECORD_TOO_LARGE},
        {RD_KAFKA_RESP_ERR_INVALID_RECORD, ERROR_KAFKA_ERROR},
    };
    Fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        open_producer(f, NULL);
        inject(f, REQUEST_PRODUCE, cases[i].code, 1);
        put(f);
        ok(log_producer_flush(f->producer, 5000));
        assert_int_equal(f->failed, i + 1);
        assert_int_equal(f->delivery_class, cases[i].class);
        log_producer_close(f->producer);
        f->producer = NULL;
    }
}

static void a_missing_topic_or_partition_is_found_out(void **state)
{
    Fixture *f = *state;
    open_producer(f, NULL);
    LogOutput output = {.topic = "t", .partition = 7, .key = STR("k"), .value = STR("v")};
    size_t queued = 9;
    fails(log_producer_produce(f->producer, &output, 1, &queued), ERROR_KAFKA_TOPIC_NOT_FOUND,
          ERROR_USER);
    assert_int_equal(queued, 0);
}

static void a_denied_fetch_stops_only_its_partition(void **state)
{
    Fixture *f = *state;
    open_producer(f, NULL);
    put(f);
    ok(log_producer_flush(f->producer, 5000));
    LogConsumer *consumer = NULL;
    ok(log_consumer_open(f->log, &(LogConsumerOptions){.isolation = READ_UNCOMMITTED}, &consumer));
    inject(f, REQUEST_FETCH, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);
    LogPosition position = {"t", 0, 0};
    ok(log_consumer_assign(consumer, &position, 1));
    AUTO(arena) Arena *arena = arena_new("test");
    LogPoll poll = {0};
    Error *error = NULL;
    for (int i = 0; i < 50 && error == NULL; i++) {
        error = log_consumer_poll(consumer, 100, 10, arena, &poll);
        assert_int_equal(poll.record_count, 0);
    }
    fails(error, ERROR_KAFKA_ACCESS_DENIED, ERROR_USER);
    /* Told once; sought, it goes on. */
    ok(log_consumer_poll(consumer, 100, 10, arena, &poll));
    assert_int_equal(poll.record_count, 0);
    ok(log_consumer_seek(consumer, &position));
    for (int i = 0; i < 50 && poll.record_count == 0; i++) {
        ok(log_consumer_poll(consumer, 100, 10, arena, &poll));
    }
    assert_int_equal(poll.record_count, 1);
    log_consumer_close(consumer);
    /* Records outlive the consumer as long as the arena. */
    assert_memory_equal(poll.records[0].value.data, "v", 1);
}

/* The group's coordinator moves, as it does when its broker ends. */
static void a_moved_coordinator_is_asked_again(void **state)
{
    Fixture *f = *state;
    int64_t offset = 0;
    inject(f, REQUEST_OFFSET_FETCH, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 2);
    ok(log_group_offset(f->log, "g", "t", 0, 10000, &offset));
    assert_int_equal(offset, -1);
}

/* The library compares them in one client, but one is a producer's and the other a consumer's. */
static void large_records_need_no_large_fetches(void **state)
{
    (void)state;
    const KafkaProperty given[][2] = {
        {{"message.max.bytes", "15900000"}, {"client.id", "large"}},
        {{"message.max.bytes", "15900000"}, {"fetch.max.bytes", "500000"}},
        {{"client.id", "small"}, {"fetch.max.bytes", "500000"}},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(given); i++) {
        Log *log = NULL;
        ok(kafka_log_open("127.0.0.1:1", given[i], 2, &log));
        LogConsumer *consumer = NULL;
        ok(log_consumer_open(log, &(LogConsumerOptions){.queue_bytes_max = 4 << 20}, &consumer));
        log_consumer_close(consumer);
        LogProducer *producer = NULL;
        ok(log_producer_open(log, &(LogProducerOptions){0}, &producer));
        log_producer_close(producer);
        log_close(log);
    }
}

int main(void)
{
#define WITH_MOCK(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_broker_is_told_with_address_and_reason),
        cmocka_unit_test(an_unknown_host_is_told),
        cmocka_unit_test(a_producer_without_a_broker_says_so),
        cmocka_unit_test(a_consumer_without_a_broker_says_so),
        cmocka_unit_test(large_records_need_no_large_fetches),
        WITH_MOCK(what_heals_is_retried_inside),
        WITH_MOCK(a_fenced_commit_is_fatal),
        WITH_MOCK(denied_partitions_abort_and_name_the_reason),
        WITH_MOCK(a_commit_without_an_answer_is_unclear),
        WITH_MOCK(a_commit_that_could_not_flush_is_clear),
        WITH_MOCK(an_unstable_group_member_aborts),
        WITH_MOCK(a_sequence_lost_is_no_mistake_of_the_user),
        WITH_MOCK(a_plain_producer_that_lost_its_sequence_is_dead),
        WITH_MOCK(deliveries_tell_why_they_failed),
        WITH_MOCK(a_missing_topic_or_partition_is_found_out),
        WITH_MOCK(a_denied_fetch_stops_only_its_partition),
        WITH_MOCK(a_moved_coordinator_is_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
