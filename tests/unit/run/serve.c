/* The continuous update: threads, an outage, a crash, a successor, a stop. Also run under
 * ThreadSanitizer. */
#include <pthread.h>

#include "processor/base/clock.h"
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { PATIENCE_MS = 20000 };

typedef struct Service {
    Rig *rig;
    atomic_bool stop;
    atomic_bool ended;
    pthread_t thread;
    Error *error;
} Service;

static void *serve(void *argument)
{
    Service *service = argument;
    service->error = pipeline_serve(service->rig->pipeline);
    atomic_store(&service->ended, true);
    return NULL;
}

static void service_open(Service *service, Rig *rig)
{
    *service = (Service){.rig = rig};
    rig->stop = &service->stop;
    rig->attempts_max = -1;
    PipelineOptions options = {.program = rig->program,
                               .log = rig->pipeline_log,
                               .state_dir = rig->dir,
                               .batch_rows = rig->batch_rows,
                               .timeout_ms = 500,
                               .attempts_max = -1,
                               .stop = &service->stop};
    ok(pipeline_open(&options, &rig->pipeline));
    assert_int_equal(pthread_create(&service->thread, NULL, serve, service), 0);
}

/* Gives what pipeline_serve returned. */
static Error *service_close(Service *service, bool stop)
{
    if (stop) {
        atomic_store(&service->stop, true);
    }
    (void)pthread_join(service->thread, NULL);
    rig_close(service->rig, false);
    return service->error;
}

static bool is_drained(Rig *rig)
{
    for (int p = 0; p < rig->partitions; p++) {
        int64_t start = 0;
        int64_t end = 0;
        int64_t offset = -1;
        ok(log_watermarks(rig->log, "src", p, READ_COMMITTED, TIMEOUT_MS, &start, &end));
        ok(log_group_offset(rig->log, "p.t", "src", p, TIMEOUT_MS, &offset));
        if (offset < end) {
            return false;
        }
    }
    return true;
}

static void wait_until_drained(Rig *rig)
{
    int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    while (!is_drained(rig)) {
        assert_true(clock_monotonic_ms() < deadline);
        clock_sleep_ms(10);
    }
}

static void rows_flow_while_they_are_fed(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 1);
    for (int life = 0; life < 3; life++) {
        service_open(&service, &rig);
        for (int i = 0; i < 20; i++) {
            feed(&rig, 20);
            clock_sleep_ms(5);
        }
        if (life > 0) {
            wait_until_drained(&rig);
        }
        ok(service_close(&service, true));
        (void)rig_audit(&rig, life > 0);
    }
    rig_done(&rig);
}

static void the_broker_goes_and_comes_back(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 2);
    feed(&rig, 100);
    service_open(&service, &rig);
    for (int outage = 0; outage < 3; outage++) {
        feed(&rig, 100);
        clock_sleep_ms(5);
        sim_broker_set_available(rig.broker, false);
        clock_sleep_ms(200);
        sim_broker_set_available(rig.broker, true);
        feed(&rig, 50);
    }
    wait_until_drained(&rig);
    assert_false(atomic_load(&service.ended));
    ok(service_close(&service, true));
    (void)rig_audit(&rig, true);
    rig_done(&rig);
}

/* A stop while the broker is away does not wait for it. */
static void a_stop_during_an_outage(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 3);
    feed(&rig, 100);
    service_open(&service, &rig);
    wait_until_drained(&rig);
    sim_broker_set_available(rig.broker, false);
    clock_sleep_ms(50);
    int64_t started_ms = clock_monotonic_ms();
    ok(service_close(&service, true));
    assert_true(clock_monotonic_ms() - started_ms < 3000);
    sim_broker_set_available(rig.broker, true);
    (void)rig_audit(&rig, true);
    rig_done(&rig);
}

/* What is told to stop before its first record takes none of them; they are there for the next. */
static void a_stop_ends_a_triggered_update(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 8);
    atomic_bool stop = false;
    rig.stop = &stop;
    ok(rig_try_open(&rig));
    feed(&rig, 100);
    atomic_store(&stop, true);
    fails(rig_try_update(&rig, false), ERROR_INTERRUPTED, "stopped");
    assert_false(is_drained(&rig));
    atomic_store(&stop, false);
    ok(rig_try_update(&rig, false));
    assert_true(is_drained(&rig));
    rig_close(&rig, false);
    (void)rig_audit(&rig, true);
    rig_done(&rig);
}

static void a_successor_ends_the_service(void **state)
{
    (void)state;
    Rig rig;
    Rig successor;
    Service service;
    Service next;
    rig_init(&rig, 4);
    feed(&rig, 50);
    service_open(&service, &rig);
    wait_until_drained(&rig);
    successor = rig;
    successor.pipeline = NULL;
    memcpy(successor.dir + strlen(rig.dir) - 6, "second", 6);
    service_open(&next, &successor);
    feed(&successor, 100);
    fails(service_close(&service, false), ERROR_KAFKA_FENCED, "taken over");
    wait_until_drained(&successor);
    assert_false(atomic_load(&next.ended));
    ok(service_close(&next, true));
    (void)rig_audit(&successor, true);
    state_remove(successor.dir);
    rig.fed = successor.fed;
    rig_done(&rig);
}

/* case kafka-log.corrupt-batch: the rows before the broken batch are in, the error is told, and the
 * flow neither skips the batch nor gives up: once it is mended, the rest comes by itself. */
static void a_corrupt_batch_waits_for_an_operator(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 5);
    for (int i = 0; i < 10; i++) {
        feed_one(&rig, 0, arena_printf(rig.arena, "{\"k\":\"k%d\",\"seq\":1,\"v\":\"x\"}", i));
    }
    sim_broker_corrupt(rig.broker, "src", 0, 5);
    service_open(&service, &rig);
    int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    while (count_in_topic(&rig, "p.event_log", "KAFKA_CORRUPT_BATCH") < 3) {
        assert_true(clock_monotonic_ms() < deadline);
        clock_sleep_ms(10);
    }
    assert_false(atomic_load(&service.ended));
    sim_broker_repair(rig.broker, "src", 0);
    wait_until_drained(&rig);
    ok(service_close(&service, true));
    assert_int_equal(rig_audit(&rig, true).rows, 10);
    rig_done(&rig);
}

/* The trouble outlasts the first new start: that one fails as well, and is tried again like the run
 * before it. */
static void a_start_that_fails_is_tried_again(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 7);
    Topology *topology = (Topology *)(uintptr_t)rig.program->topology;
    topology->retry.max_attempts = 1000000;
    topology->retry.backoff_max_ms = 20;
    feed(&rig, 50);
    service_open(&service, &rig);
    wait_until_drained(&rig);
    sim_broker_deny(rig.broker, "t");
    feed(&rig, 50);
    int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    while (count_in_topic(&rig, "p.event_log", "KAFKA_ACCESS_DENIED") < 1) {
        assert_true(clock_monotonic_ms() < deadline);
        clock_sleep_ms(10);
    }
    clock_sleep_ms(200);
    sim_broker_allow(rig.broker, "t");
    wait_until_drained(&rig);
    assert_false(atomic_load(&service.ended));
    ok(service_close(&service, true));
    (void)rig_audit(&rig, true);
    rig_done(&rig);
}

static void crashes_of_a_service(void **state)
{
    (void)state;
    static const char *const faults[] = {"epoch.after_apply",         "commit.mid_produce",
                                         "commit.before_commit",      "commit.after_commit",
                                         "checkpoint.before_write",   "checkpoint.after_write",
                                         "commit.after_overlay_merge"};
    Rig rig;
    rig_init(&rig, 6);
    for (size_t i = 0; i < ARRAY_LENGTH(faults); i++) {
        Service service;
        service_open(&service, &rig);
        fault_arm(faults[i], 2, FAULT_CRASH);
        for (int n = 0; n < 200 && !atomic_load(&service.ended); n++) {
            feed(&rig, 20);
            clock_sleep_ms(5);
        }
        fails(service_close(&service, false), ERROR_SIMULATED_CRASH, faults[i]);
    }
    Service service;
    service_open(&service, &rig);
    wait_until_drained(&rig);
    ok(service_close(&service, true));
    (void)rig_audit(&rig, true);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_flow_while_they_are_fed),
        cmocka_unit_test(the_broker_goes_and_comes_back),
        cmocka_unit_test(a_stop_during_an_outage),
        cmocka_unit_test(a_stop_ends_a_triggered_update),
        cmocka_unit_test(a_successor_ends_the_service),
        cmocka_unit_test(a_corrupt_batch_waits_for_an_operator),
        cmocka_unit_test(a_start_that_fails_is_tried_again),
        cmocka_unit_test(crashes_of_a_service),
    };
    return cmocka_run_group_tests_name("run/serve", tests, NULL, NULL);
}
