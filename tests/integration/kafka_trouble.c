/* The real client in trouble: a broker killed, stopped and started again, access denied, a corrupt
 * batch. Starts brokers of its own with scripts/kafka; run from the project's root.
 *
 *     integration_kafka_trouble [PART OF A NAME]
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "connectors/kafka/kafka.h"
#include "processor/base/clock.h"
#include "processor/base/logger.h"

#include "processor/base/banned.h"

enum { WAIT_MS = 30000 };

#define FOLDER "build/kafka-trouble"

/* ------------------------------------------------------------------------------ helpers ---- */

static void ok_(Error *error, const char *call, int line)
{
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format_line(error, &text);
        print_error("%d: %s: %s\n", line, call, buffer_cstr(&text));
        error_free(error);
        _fail(__FILE__, line);
    }
}
#define ok(call) ok_((call), #call, __LINE__)

static void fails_(Error *error, ErrorClass class, ErrorDisposition disposition, const char *part,
                   int line)
{
    bool good = error != NULL && error_class(error) == class &&
                error_disposition(error) == disposition &&
                strstr(error_message(error), part) != NULL;
    if (!good) {
        print_error("%d: expected %s with `%s`, got: %s %s\n", line, error_class_name(class), part,
                    error == NULL ? "success" : error_class_name(error_class(error)),
                    error == NULL ? "" : error_message(error));
        error_free(error);
        _fail(__FILE__, line);
    }
    error_free(error);
}
#define fails(call, class, disposition, part) fails_((call), class, disposition, part, __LINE__)

/* Runs `scripts/kafka ARGUMENTS --dir FOLDER`; the last line it prints in `ret_line`. */
static void kafka(const char *arguments, Buffer *ret_line)
{
    char command[512];
    char line[512];
    (void)snprintf(command, sizeof command, "scripts/kafka %s --dir " FOLDER, arguments);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out) != NULL) {
        if (ret_line != NULL) {
            buffer_clear(ret_line);
            buffer_append_str(ret_line, str_trim(str_from(line)));
        }
    }
    assert_int_equal(pclose(out), 0);
}

static Log *start(const char *arguments)
{
    AUTO_BUFFER Buffer line = {0};
    kafka("stop --wipe", NULL);
    kafka(arguments, NULL);
    kafka("bootstrap", &line);
    Log *log = NULL;
    ok(kafka_log_open(buffer_cstr(&line), NULL, 0, &log));
    ok(log_ping(log, WAIT_MS));
    return log;
}

static int wipe(void **state)
{
    (void)state;
    kafka("stop --wipe", NULL);
    return 0;
}

static void create(Log *log, const char *topic, int partitions)
{
    LogTopicSpec spec = {.name = topic, .partitions = partitions, .replication_factor = -1};
    ok(log_topic_create(log, &spec, WAIT_MS));
}

static LogProducer *transactional(Log *log, const char *id)
{
    LogProducer *producer = NULL;
    LogProducerOptions options = {.transactional_id = id};
    ok(log_producer_open(log, &options, &producer));
    ok(log_producer_init_transactions(producer, WAIT_MS));
    return producer;
}

static void put(LogProducer *producer, const char *topic, const char *value)
{
    LogOutput output = {.topic = topic, .partition = 0, .key = STR("k"), .value = str_from(value)};
    ok(log_producer_produce(producer, &output, 1, NULL));
}

static LogConsumer *reader(Log *log, const char *topic, int64_t offset)
{
    LogConsumer *consumer = NULL;
    LogPosition position = {topic, 0, offset};
    ok(log_consumer_open(log, &(LogConsumerOptions){.isolation = READ_COMMITTED}, &consumer));
    ok(log_consumer_assign(consumer, &position, 1));
    return consumer;
}

/* Polls until `count` records came, an error (returned) or the time is up (count unreached). */
static Error *read_records(LogConsumer *consumer, size_t count, int timeout_ms, size_t *ret_read)
{
    Arena *arena = arena_new("trouble");
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    Error *error = NULL;
    *ret_read = 0;
    while (*ret_read < count && error == NULL && clock_monotonic_ms() < deadline) {
        LogPoll poll = {0};
        error = log_consumer_poll(consumer, 100, 100, arena, &poll);
        *ret_read += error == NULL ? poll.record_count : 0;
        arena_reset(arena);
    }
    arena_free(arena);
    return error;
}

/* The same, but waits through RETRY errors; says whether there were any. */
static bool read_through(LogConsumer *consumer, size_t count, int timeout_ms)
{
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    bool troubled = false;
    size_t total = 0;
    while (total < count) {
        size_t read = 0;
        AUTO(error) Error *error = read_records(consumer, count - total, 1000, &read);
        total += read;
        if (error != NULL) {
            assert_int_equal(error_disposition(error), ERROR_RETRY);
            troubled = true;
        }
        assert_true(clock_monotonic_ms() < deadline);
    }
    return troubled;
}

/* --------------------------------------------------------------------------- broker away ---- */

/* A broker killed and started again: the consumer says so, and both go on where they were. */
static void a_killed_broker_comes_back(void **state)
{
    (void)state;
    Log *log = start("start");
    create(log, "t", 1);
    LogProducer *producer = transactional(log, "id");
    LogConsumer *consumer = reader(log, "t", 0);
    ok(log_producer_begin(producer));
    put(producer, "t", "before");
    ok(log_producer_commit(producer, WAIT_MS));
    assert_false(read_through(consumer, 1, WAIT_MS));
    kafka("kill", NULL);
    size_t read = 0;
    fails(read_records(consumer, 1, WAIT_MS, &read), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY,
          "cannot be reached");
    fails(log_ping(log, 3000), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY, "refused");
    kafka("restart", NULL);
    ok(log_ping(log, WAIT_MS));
    ok(log_producer_begin(producer));
    put(producer, "t", "after");
    ok(log_producer_commit(producer, WAIT_MS));
    (void)read_through(consumer, 1, WAIT_MS);
    log_consumer_close(consumer);
    log_producer_close(producer);
    log_close(log);
}

/* Killed in the middle of a transaction: the commit waits for the broker, or says what is clear. */
static void a_commit_waits_for_the_broker(void **state)
{
    (void)state;
    Log *log = start("start");
    create(log, "t", 1);
    LogProducer *producer = transactional(log, "id");
    ok(log_producer_begin(producer));
    put(producer, "t", "1");
    ok(log_producer_flush(producer, WAIT_MS));
    kafka("kill", NULL);
    put(producer, "t", "2");
    assert_int_equal(system("(sleep 1; scripts/kafka restart --dir " FOLDER " >/dev/null) &"), 0);
    ok(log_producer_commit(producer, WAIT_MS));
    LogConsumer *consumer = reader(log, "t", 0);
    (void)read_through(consumer, 2, WAIT_MS);
    log_consumer_close(consumer);
    log_producer_close(producer);
    log_close(log);
}

/* A broker that does not answer at all (SIGSTOP): nobody waits longer than told, and closing does
 * not wait. */
static void a_silent_broker_holds_nobody(void **state)
{
    (void)state;
    Log *log = start("start");
    create(log, "t", 1);
    LogProducer *producer = transactional(log, "id");
    ok(log_producer_begin(producer));
    put(producer, "t", "1");
    ok(log_producer_flush(producer, WAIT_MS));
    assert_int_equal(system("kill -STOP $(cat " FOLDER "/node-1/pid)"), 0);
    int64_t begun_ms = clock_monotonic_ms();
    fails(log_producer_commit(producer, 1000), ERROR_KAFKA_COMMIT_UNCLEAR, ERROR_FATAL,
          "not known");
    int64_t start_offset = 0;
    int64_t end_offset = 0;
    fails(log_watermarks(log, "t", 0, READ_COMMITTED, 1000, &start_offset, &end_offset),
          ERROR_KAFKA_TIMED_OUT, ERROR_RETRY, "in time");
    assert_true(clock_monotonic_ms() - begun_ms < 6000);
    begun_ms = clock_monotonic_ms();
    log_producer_close(producer);
    log_close(log);
    assert_true(clock_monotonic_ms() - begun_ms < 1000);
    assert_int_equal(system("kill -CONT $(cat " FOLDER "/node-1/pid)"), 0);
}

/* Of three nodes the leader of everything dies: transactions and readers go on without it. */
static void a_dead_leader_is_replaced(void **state)
{
    (void)state;
    Log *log = start("start --nodes 3");
    create(log, "t", 3);
    LogProducer *producer = transactional(log, "id");
    LogConsumer *consumer = reader(log, "t", 0);
    for (int node = 1; node <= 3; node++) {
        char command[32];
        ok(log_producer_begin(producer));
        put(producer, "t", "v");
        ok(log_producer_commit(producer, WAIT_MS));
        (void)read_through(consumer, 1, WAIT_MS);
        (void)snprintf(command, sizeof command, "kill %d", node);
        kafka(command, NULL);
        ok(log_producer_begin(producer));
        put(producer, "t", "v");
        ok(log_producer_commit(producer, 2 * WAIT_MS));
        (void)read_through(consumer, 1, WAIT_MS);
        (void)snprintf(command, sizeof command, "restart %d", node);
        kafka(command, NULL);
    }
    log_consumer_close(consumer);
    log_producer_close(producer);
    log_close(log);
}

/* ------------------------------------------------------------------------- access denied ---- */

static Log *open_as(const char *address, const char *user, const char *password)
{
    const KafkaProperty properties[] = {
        {"security.protocol", "SASL_PLAINTEXT"},
        {"sasl.mechanism", "PLAIN"},
        {"sasl.username", user},
        {"sasl.password", password},
    };
    Log *log = NULL;
    ok(kafka_log_open(address, properties, ARRAY_LENGTH(properties), &log));
    return log;
}

static void denied_access_is_told(void **state)
{
    (void)state;
    Log *root = start("start --secure");
    create(root, "t", 1);
    AUTO_BUFFER Buffer line = {0};
    kafka("start --secure", &line);
    Str address = buffer_str(&line);
    (void)str_cut(&address, '=');
    char secure[64];
    (void)snprintf(secure, sizeof secure, "%.*s", STR_ARG(address));

    Log *wrong = open_as(secure, "alice", "wrong-password");
    fails(log_ping(wrong, 10000), ERROR_KAFKA_UNAVAILABLE, ERROR_RETRY, "uthentication");
    log_close(wrong);

    Log *log = open_as(secure, "alice", "alice-secret");
    ok(log_ping(log, 10000));
    LogTopicDescription description = {0};
    fails(log_topic_describe(log, "t", 10000, &description), ERROR_KAFKA_ACCESS_DENIED, ERROR_USER,
          "topic t");
    LogTopicSpec spec = {.name = "u", .partitions = 1, .replication_factor = 1};
    fails(log_topic_create(log, &spec, 10000), ERROR_KAFKA_ACCESS_DENIED, ERROR_USER, "topic u");
    LogProducer *producer = NULL;
    ok(log_producer_open(log, &(LogProducerOptions){.transactional_id = "id"}, &producer));
    fails(log_producer_init_transactions(producer, 10000), ERROR_KAFKA_ACCESS_DENIED, ERROR_USER,
          "denies access");
    log_producer_close(producer);
    LogConsumer *consumer = reader(log, "t", 0);
    size_t read = 0;
    fails(read_records(consumer, 1, 10000, &read), ERROR_KAFKA_ACCESS_DENIED, ERROR_USER,
          "topic t");
    log_consumer_close(consumer);
    int64_t offset = 0;
    fails(log_group_offset(log, "g", "t", 0, 10000, &offset), ERROR_KAFKA_ACCESS_DENIED, ERROR_USER,
          "group g");
    log_close(log);
    log_close(root);
}

/* -------------------------------------------------------------------------- corrupt batch ---- */

/* Flips the last byte of the batch that holds `marker`, in the log of t-0. */
static void flip_byte(const char *marker)
{
    const char *path = FOLDER "/node-1/data/t-0/00000000000000000000.log";
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    static char bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    char *found = memmem(bytes, size, marker, strlen(marker));
    assert_non_null(found);
    (void)fseek(file, found - bytes, SEEK_SET);
    (void)fputc(found[0] ^ 1, file);
    assert_int_equal(fclose(file), 0);
}

/* kafka-log.corrupt-batch: records before it come, then an error that names it; nothing behind it
 * until somebody moves the position. */
static void a_corrupt_batch_is_told_and_not_skipped(void **state)
{
    (void)state;
    Log *log = start("start");
    create(log, "t", 1);
    LogProducer *producer = NULL;
    ok(log_producer_open(log, &(LogProducerOptions){0}, &producer));
    static const char *const values[] = {"good one", "ODD ONE", "good two"};
    for (size_t batch = 0; batch < ARRAY_LENGTH(values); batch++) {
        for (int i = 0; i < 5; i++) {
            put(producer, "t", values[batch]);
        }
        ok(log_producer_flush(producer, WAIT_MS));
    }
    log_producer_close(producer);
    kafka("stop", NULL);
    flip_byte("ODD ONE");
    kafka("restart", NULL);

    LogConsumer *consumer = reader(log, "t", 0);
    size_t read = 0;
    Error *error = read_records(consumer, 15, WAIT_MS, &read);
    assert_int_equal(read, 5);
    fails(error, ERROR_KAFKA_CORRUPT_BATCH, ERROR_USER, "offset 5 of t-0");
    ok(read_records(consumer, 1, 1500, &read)); /* told once a minute; nothing from behind */
    assert_int_equal(read, 0);
    LogPosition again = {"t", 0, 5};
    ok(log_consumer_seek(consumer, &again));
    fails(read_records(consumer, 1, WAIT_MS, &read), ERROR_KAFKA_CORRUPT_BATCH, ERROR_USER,
          "offset 5 of t-0");
    LogPosition behind = {"t", 0, 10};
    ok(log_consumer_seek(consumer, &behind));
    ok(read_records(consumer, 5, WAIT_MS, &read));
    assert_int_equal(read, 5);
    log_consumer_close(consumer);
    log_close(log);
}

int main(int argc, char **argv)
{
    logger_configure(LOG_ERROR, false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_killed_broker_comes_back, wipe),
        cmocka_unit_test_teardown(a_commit_waits_for_the_broker, wipe),
        cmocka_unit_test_teardown(a_silent_broker_holds_nobody, wipe),
        cmocka_unit_test_teardown(a_dead_leader_is_replaced, wipe),
        cmocka_unit_test_teardown(denied_access_is_told, wipe),
        cmocka_unit_test_teardown(a_corrupt_batch_is_told_and_not_skipped, wipe),
    };
    char filter[128];
    if (argc > 1) {
        (void)snprintf(filter, sizeof filter, "*%s*", argv[1]);
        cmocka_set_test_filter(filter);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
