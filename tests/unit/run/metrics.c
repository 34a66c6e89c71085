/* What operators see: counts against a hand-made input, lag, health and readiness through the life
 * of a service, while an HTTP server reads as the flows write. Also run under ThreadSanitizer. */
#include <pthread.h>

#include "processor/base/clock.h"
#include "processor/run/metrics_internal.h"
#include "processor/run/metrics_lag.h"
#include "processor/run/metrics_text.h"
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { PATIENCE_MS = 20000 };

/* The value of a sample in /metrics by its whole name with labels; -1: there is none. */
static double sample(Metrics *metrics, const char *name)
{
    AUTO_BUFFER Buffer text = {0};
    metrics_write(metrics, &text);
    AUTO_BUFFER Buffer line = {0};
    buffer_printf(&line, "\n%s ", name);
    const char *at = strstr(buffer_cstr(&text), buffer_cstr(&line));
    return at == NULL ? -1 : strtod(at + line.size, NULL);
}

static void assert_sample(Metrics *metrics, const char *name, double value)
{
    double got = sample(metrics, name);
    if (got < value || got > value) {
        print_error("%s is %f, not %f\n", name, got, value);
        fail();
    }
}

static void wait_for_sample(Metrics *metrics, const char *name, double value)
{
    int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    for (double got = sample(metrics, name); got < value || got > value;
         got = sample(metrics, name)) {
        if (clock_monotonic_ms() > deadline) {
            print_error("%s stays %f, never %f\n", name, got, value);
            fail();
        }
        clock_sleep_ms(5);
    }
}

static void assert_answer(bool (*ask)(Metrics *, Buffer *), Metrics *metrics, bool good,
                          const char *part)
{
    AUTO_BUFFER Buffer text = {0};
    bool got = ask(metrics, &text);
    if (got != good || strstr(buffer_cstr(&text), part) == NULL) {
        print_error("expected %d with '%s', got %d: %s\n", good, part, got, buffer_cstr(&text));
        fail();
    }
}

static void wait_for_answer(bool (*ask)(Metrics *, Buffer *), Metrics *metrics, bool good,
                            const char *part)
{
    int64_t deadline = clock_monotonic_ms() + PATIENCE_MS;
    AUTO_BUFFER Buffer text = {0};
    while (clock_monotonic_ms() < deadline) {
        buffer_clear(&text);
        if (ask(metrics, &text) == good && strstr(buffer_cstr(&text), part) != NULL) {
            return;
        }
        clock_sleep_ms(2);
    }
    print_error("never %d with '%s', but: %s\n", good, part, buffer_cstr(&text));
    fail();
}

/* ------------------------------------------------------------------------------- service ---- */

typedef struct Service {
    Rig *rig;
    Metrics *metrics;
    LagWatch *watch;
    atomic_bool stop;
    pthread_t thread;
    Error *error;
} Service;

static void *serve(void *argument)
{
    Service *service = argument;
    service->error = pipeline_serve(service->rig->pipeline);
    return NULL;
}

static void service_open(Service *service, Rig *rig)
{
    *service = (Service){.rig = rig, .metrics = metrics_new(rig->program)};
    assert_answer(metrics_is_ready, service->metrics, false, "\"state\":\"waiting\"");
    assert_answer(metrics_is_healthy, service->metrics, true, "\"phase\":\"opening\"");
    PipelineOptions options = {.program = rig->program,
                               .log = rig->pipeline_log,
                               .state_dir = rig->dir,
                               .batch_rows = rig->batch_rows,
                               .timeout_ms = 500,
                               .attempts_max = -1,
                               .stop = &service->stop,
                               .metrics = service->metrics};
    ok(pipeline_open(&options, &rig->pipeline));
    LagWatchOptions watch = {
        .program = rig->program, .log = rig->log, .metrics = service->metrics, .interval_ms = 5};
    ok(lag_watch_open(&watch, &service->watch));
    assert_int_equal(pthread_create(&service->thread, NULL, serve, service), 0);
}

static Error *service_stop(Service *service)
{
    atomic_store(&service->stop, true);
    (void)pthread_join(service->thread, NULL);
    return service->error;
}

static void service_close(Service *service)
{
    lag_watch_close(service->watch);
    rig_close(service->rig, false);
    metrics_free(service->metrics);
}

/* ------------------------------------------------------------------------------- counts ---- */

#define STRICT_SQL                                                                                 \
    "  CREATE OR REFRESH STREAMING TABLE t\n"                                                      \
    "    (CONSTRAINT short EXPECT (length(v) < 5) ON VIOLATION DROP ROW,\n"                        \
    "     CONSTRAINT told EXPECT (v <> 'odd'))\n"                                                  \
    "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME\n"                                           \
    "  SELECT * FROM STREAM(src);\n"

#define EXPECTATION(name, outcome)                                                                 \
    "tidemark_expectation_rows_total{pipeline=\"p\",flow=\"t\",expectation=\"" name                \
    "\",outcome=\"" outcome "\"}"

/* The third is behind the watermark, the fourth a row that is known. */
static void rows_behind_the_watermark_are_counted(void **state)
{
    (void)state;
    static const char *const input[] = {
        "{\"k\":\"a\",\"seq\":1,\"v\":\"2026-01-01T12:01:00Z\"}",
        "{\"k\":\"b\",\"seq\":1,\"v\":\"2026-01-01T12:00:50Z\"}",
        "{\"k\":\"c\",\"seq\":1,\"v\":\"2026-01-01T12:00:49Z\"}",
        "{\"k\":\"a\",\"seq\":1,\"v\":\"2026-01-01T12:01:00Z\"}",
    };
    Rig rig;
    Service service;
    rig_init(&rig, 1);
    rig_load(&rig, NULL, "k STRING, seq BIGINT, v TIMESTAMP",
             "  CREATE OR REFRESH STREAMING TABLE t\n"
             "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME\n"
             "  SELECT DISTINCT * FROM STREAM(src) WATERMARK v DELAY OF INTERVAL 10 SECONDS;\n");
    for (size_t i = 0; i < ARRAY_LENGTH(input); i++) {
        feed_one(&rig, 1, input[i]);
    }
    service_open(&service, &rig);
    wait_for_sample(service.metrics, "tidemark_rows_in_total{pipeline=\"p\",flow=\"t\"}", 4);
    assert_sample(service.metrics, "tidemark_rows_applied_total{pipeline=\"p\",flow=\"t\"}", 2);
    assert_sample(service.metrics,
                  "tidemark_rows_behind_watermark_total{pipeline=\"p\",flow=\"t\"}", 1);
    assert_sample(service.metrics, "tidemark_rows_late_total{pipeline=\"p\",flow=\"t\"}", 0);
    ok(service_stop(&service));
    service_close(&service);
    rig_done(&rig);
}

static void counts_are_those_of_the_input(void **state)
{
    (void)state;
    static const char *const input[] = {
        "{\"k\":\"a\",\"seq\":5,\"v\":\"one\"}",
        "{\"k\":\"a\",\"seq\":4,\"v\":\"late\"}",
        "{\"k\":\"b\",\"seq\":1,\"v\":\"odd\"}",
        "{\"k\":\"b\",\"seq\":1,\"v\":\"two\"}",
        "{\"k\":\"c\",\"seq\":1,\"v\":\"longer\"}", /* dropped */
        "not a record",                             /* quarantined */
        "{\"k\":\"d\",\"seq\":null,\"v\":\"x\"}",
    };
    Rig rig;
    Service service;
    rig_init(&rig, 1);
    rig_load(&rig, NULL, NULL, STRICT_SQL);
    for (size_t i = 0; i < ARRAY_LENGTH(input); i++) {
        feed_one(&rig, 1, input[i]);
    }
    service_open(&service, &rig);
    Metrics *metrics = service.metrics;
    wait_for_sample(metrics, "tidemark_rows_in_total{pipeline=\"p\",flow=\"t\"}", 7);
    assert_sample(metrics, "tidemark_rows_applied_total{pipeline=\"p\",flow=\"t\"}", 4);
    assert_sample(metrics, "tidemark_rows_late_total{pipeline=\"p\",flow=\"t\"}", 1);
    assert_sample(metrics, "tidemark_rows_quarantined_total{pipeline=\"p\",flow=\"t\"}", 1);
    assert_sample(metrics, "tidemark_rows_dropped_total{pipeline=\"p\",flow=\"t\"}", 1);
    assert_sample(metrics, "tidemark_rows_null_sequence_total{pipeline=\"p\",flow=\"t\"}", 1);
    assert_sample(metrics, EXPECTATION("short", "passed"), 5);
    assert_sample(metrics, EXPECTATION("short", "failed"), 1);
    assert_sample(metrics, EXPECTATION("told", "failed"), 1);
    double committed =
        sample(metrics, "tidemark_epochs_total{pipeline=\"p\",flow=\"t\",outcome=\"committed\"}");
    assert_true(committed >= 1);
    assert_sample(metrics, "tidemark_commit_duration_seconds_count{pipeline=\"p\",flow=\"t\"}",
                  committed);
    assert_sample(metrics,
                  "tidemark_commit_duration_seconds_bucket{pipeline=\"p\",flow=\"t\",le=\"+Inf\"}",
                  committed);
    assert_sample(metrics, "tidemark_epochs_total{pipeline=\"p\",flow=\"t\",outcome=\"aborted\"}",
                  0);
    assert_sample(metrics,
                  "tidemark_source_partition_offset{pipeline=\"p\",flow=\"t\",topic=\"src\","
                  "partition=\"1\"}",
                  7);
    wait_for_sample(metrics, "tidemark_lag_records{pipeline=\"p\",flow=\"t\"}", 0);
    wait_for_sample(metrics, "tidemark_lag_seconds{pipeline=\"p\",flow=\"t\"}", 0);
    assert_sample(metrics, "tidemark_flow_starts_total{pipeline=\"p\",flow=\"t\"}", 1);
    assert_sample(metrics, "tidemark_events_lost_total{pipeline=\"p\"}", 0);
    assert_true(sample(metrics, "tidemark_memory_bytes{pipeline=\"p\",part=\"block_cache\"}") >= 0);
    assert_true(sample(metrics, "tidemark_state_bytes{pipeline=\"p\",table=\"t\"}") >= 0);
    ok(service_stop(&service));
    assert_sample(metrics, "tidemark_flow_state{pipeline=\"p\",flow=\"t\",state=\"stopped\"}", 1);
    service_close(&service);
    rig_done(&rig);
}

/* What the keys of the state take must not show only with the first row after a start. */
static void memory_is_told_before_any_row(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 3);
    service_open(&service, &rig);
    wait_for_answer(metrics_is_ready, service.metrics, true, "[]");
    wait_for_sample(service.metrics, "tidemark_memory_bytes{pipeline=\"p\",part=\"quarantine\"}",
                    0);
    assert_true(
        sample(service.metrics, "tidemark_memory_bytes{pipeline=\"p\",part=\"key_table\"}") > 0);
    ok(service_stop(&service));
    service_close(&service);
    rig_done(&rig);
}

/* Every record that reached the pipeline is counted once, whatever became of the epochs. */
static void epochs_that_fail_count_nothing_twice(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 2);
    service_open(&service, &rig);
    static const SimFailure failures[] = {SIM_ABORTABLE, SIM_UNCLEAR_COMMITTED, SIM_UNCLEAR_LOST,
                                          SIM_FENCED};
    int fed = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(failures); i++) {
        sim_broker_fail_next(rig.broker, SIM_COMMIT, failures[i], 1);
        for (int n = 0; n < 10; n++, fed++) {
            feed_one(&rig, n % rig.partitions, "{\"k\":\"k\",\"seq\":1,\"v\":\"v\"}");
        }
        wait_for_sample(service.metrics, "tidemark_rows_in_total{pipeline=\"p\",flow=\"t\"}", fed);
        wait_for_answer(metrics_is_ready, service.metrics, true, "[]");
    }
    assert_sample(service.metrics, "tidemark_rows_applied_total{pipeline=\"p\",flow=\"t\"}", fed);
    assert_true(sample(service.metrics,
                       "tidemark_epochs_total{pipeline=\"p\",flow=\"t\",outcome=\"aborted\"}") >=
                2);
    assert_true(sample(service.metrics, "tidemark_flow_starts_total{pipeline=\"p\",flow=\"t\"}") >=
                3);
    ok(service_stop(&service));
    service_close(&service);
    rig_done(&rig);
}

/* ------------------------------------------------------------------------------- health ---- */

static void readiness_follows_the_broker(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 3);
    feed(&rig, 50);
    service_open(&service, &rig);
    wait_for_answer(metrics_is_ready, service.metrics, true, "\"waiting_for\":[]");
    sim_broker_set_available(rig.broker, false);
    wait_for_answer(metrics_is_ready, service.metrics, false, "\"flow\":\"t\"");
    assert_answer(metrics_is_healthy, service.metrics, true, "\"failed\":[]");
    sim_broker_set_available(rig.broker, true);
    wait_for_answer(metrics_is_ready, service.metrics, true, "[]");
    ok(service_stop(&service));
    assert_answer(metrics_is_ready, service.metrics, false, "\"phase\":\"stopping\"");
    service_close(&service);
    rig_done(&rig);
}

static void a_dead_flow_is_named(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 4);
    rig_load(&rig, "on_error: fail, ", NULL, NULL);
    service_open(&service, &rig);
    feed_one(&rig, 0, "not a record");
    wait_for_answer(metrics_is_healthy, service.metrics, false, "\"flow\":\"t\"");
    wait_for_answer(metrics_is_healthy, service.metrics, false, "partition 0 offset 0");
    assert_answer(metrics_is_ready, service.metrics, false, "\"state\":\"failed\"");
    AUTO_BUFFER Buffer line = {0};
    metrics_describe(service.metrics, &line);
    Error *error = service_stop(&service);
    fails(error, ERROR_MALFORMED_RECORD, "offset 0");
    service_close(&service);
    rig_done(&rig);
}

/* A restore that was wiped and is made anew ends with done = expected, more than nothing. */
static void a_restore_is_told(void **state)
{
    (void)state;
    Rig rig;
    Service service;
    rig_init(&rig, 5);
    feed(&rig, 200);
    service_open(&service, &rig);
    wait_for_answer(metrics_is_ready, service.metrics, true, "[]");
    wait_for_sample(service.metrics, "tidemark_lag_records{pipeline=\"p\",flow=\"t\"}", 0);
    ok(service_stop(&service));
    service_close(&service);
    state_remove(rig.dir);
    service_open(&service, &rig);
    double done =
        sample(service.metrics, "tidemark_restore_records_done{pipeline=\"p\",table=\"t\"}");
    assert_true(done > 0);
    assert_sample(service.metrics, "tidemark_restore_records_expected{pipeline=\"p\",table=\"t\"}",
                  done);
    ok(service_stop(&service));
    service_close(&service);
    rig_done(&rig);
}

static void phases_are_described(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 6);
    AUTO(metrics) Metrics *metrics = metrics_new(rig.program);
    FlowMeter *meter = metrics_flow(metrics, 0);
    metrics_set_phase(metrics, PIPELINE_WAITING_KAFKA, "it is \"away\"");
    assert_answer(metrics_is_ready, metrics, false, "\"detail\":\"it is \\\"away\\\"\"");
    metrics_set_phase(metrics, PIPELINE_STARTING, NULL);
    flow_meter_set_state(meter, FLOW_STARTING);
    flow_meter_set_restore(meter, 120, 500, 1000, false);
    assert_answer(metrics_is_ready, metrics, false, "table t: 120 of about 500 records");
    AUTO_BUFFER Buffer line = {0};
    metrics_describe(metrics, &line);
    assert_string_equal(buffer_cstr(&line), "flow t restoring: table t: 120 of about 500 records");
    flow_meter_set_state(meter, FLOW_RUNNING);
    assert_answer(metrics_is_ready, metrics, false, "\"phase\":\"starting\"");
    metrics_set_phase(metrics, PIPELINE_RUNNING, NULL);
    assert_answer(metrics_is_ready, metrics, true, "\"waiting_for\":[]");
    AUTO(error) Error *error = error_new(ERROR_KAFKA_TIMED_OUT, "no answer");
    error_set_disposition(error, ERROR_RETRY);
    flow_meter_add_error(meter, error, false);
    assert_answer(metrics_is_ready, metrics, false, "\"state\":\"retrying\",\"detail\":\"[KAFKA");
    flow_meter_set_idle(meter); /* nothing to commit, and a step went well */
    assert_answer(metrics_is_ready, metrics, true, "[]");
    flow_meter_begin_commit(meter);
    assert_answer(metrics_is_ready, metrics, true, "[]");
    atomic_fetch_sub(&meter->commit_began_us, 11 * 1000 * 1000); /* 11 s ago */
    assert_answer(metrics_is_ready, metrics, false, "a commit is under way for 11 s");
    rig_done(&rig);
}

/* ---------------------------------------------------------------------------------- lag ---- */

static void check_lag(PartitionMeter partition, int64_t created_us, int64_t now_us,
                      uint64_t records, int64_t microseconds)
{
    Lag lag;
    assert_true(partition_lag(&partition, created_us, now_us, &lag));
    assert_int_equal(lag.records, records);
    assert_int_equal(lag.microseconds, microseconds);
}

static void lag_is_the_wait_of_the_oldest_record(void **state)
{
    (void)state;
    enum { S = 1000000, HOUR_S = 3600 };
    int64_t now_us = 10000 * (int64_t)S;
    /* At the end: none, however old the last record is. */
    check_lag((PartitionMeter){100, 100, 1, 2}, 0, now_us, 0, 0);
    /* Behind since long: as old as the last record read. */
    check_lag((PartitionMeter){90, 100, 9000 * 1000, -1}, 0, now_us, 10, 1000 * (int64_t)S);
    /* The topic was quiet for an hour, then a record came: it waits since we last looked. */
    check_lag((PartitionMeter){99, 100, (10000 - HOUR_S) * 1000, now_us - 2 * S}, 0, now_us, 1,
              2 * S);
    /* Nothing was read yet: as long as we know of it. */
    check_lag((PartitionMeter){0, 5, -1, -1}, now_us - 7 * S, now_us, 5, 7 * S);
    /* Producers' clocks ahead of ours. */
    check_lag((PartitionMeter){0, 5, 20000 * 1000, -1}, 0, now_us, 5, 0);
    Lag lag;
    assert_false(partition_lag(&(PartitionMeter){-1, 5, -1, -1}, 0, now_us, &lag));
    assert_false(partition_lag(&(PartitionMeter){5, -1, -1, -1}, 0, now_us, &lag));
}

/* -------------------------------------------------------------------------------- format ---- */

static void the_text_is_as_prometheus_wants_it(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer out = {0};
    MetricLabel pipeline = {"pipeline", STR("p")};
    MetricsText text = {.out = &out, .common = &pipeline, .common_count = 1};
    metrics_text_family(&text, "x_seconds", "gauge", "Some seconds.");
    MetricLabel labels[] = {{"a", STR("back\\slash \"quoted\"\nnext")}, {"b", STR("")}};
    metrics_text_seconds(&text, "", labels, 2, 12000345);
    text.common_count = 0;
    metrics_text_family(&text, "y_total", "counter", "Some.");
    metrics_text_sample(&text, "", NULL, 0, UINT64_MAX);
    assert_string_equal(
        buffer_cstr(&out),
        "# HELP x_seconds Some seconds.\n"
        "# TYPE x_seconds gauge\n"
        "x_seconds{pipeline=\"p\",a=\"back\\\\slash \\\"quoted\\\"\\nnext\",b=\"\"} "
        "12.000345\n"
        "# HELP y_total Some.\n"
        "# TYPE y_total counter\n"
        "y_total 18446744073709551615\n");
}

#define BUCKET(bound)                                                                              \
    "tidemark_checkpoint_duration_seconds_bucket{pipeline=\"p\",flow=\"t\",le=\"" bound "\"}"

/* Upper bounds are inclusive, buckets cumulate, the sum is exact. */
static void histograms_cumulate(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 7);
    AUTO(metrics) Metrics *metrics = metrics_new(rig.program);
    FlowMeter *meter = metrics_flow(metrics, 0);
    flow_meter_add_checkpoint(meter, 1000, 10, true);
    flow_meter_add_checkpoint(meter, 1001, 20, true);
    flow_meter_add_checkpoint(meter, 60 * 1000 * 1000, 40, false);
    assert_sample(metrics, BUCKET("0.001"), 1);
    assert_sample(metrics, BUCKET("0.0025"), 2);
    assert_sample(metrics, BUCKET("30"), 2);
    assert_sample(metrics, BUCKET("+Inf"), 3);
    assert_sample(metrics, "tidemark_checkpoint_duration_seconds_sum{pipeline=\"p\",flow=\"t\"}",
                  60.002001);
    assert_sample(metrics, "tidemark_checkpoint_bytes_total{pipeline=\"p\",flow=\"t\"}", 30);
    assert_sample(metrics,
                  "tidemark_checkpoints_total{pipeline=\"p\",flow=\"t\",outcome=\"failed\"}", 1);
    rig_done(&rig);
}

/* Without metrics there is nothing to do, and nothing to crash on. */
static void nobody_looks(void **state)
{
    (void)state;
    FlowMetrics counts = {0};
    AUTO(error) Error *error = error_new(ERROR_INTERNAL_ERROR, "x");
    metrics_set_phase(NULL, PIPELINE_RUNNING, NULL);
    metrics_set_state(NULL, NULL);
    metrics_set_events(NULL, NULL);
    metrics_set_memory(NULL, MEMORY_OVERLAY, 1);
    assert_null(metrics_flow(NULL, 0));
    assert_int_equal(metrics_flow_count(NULL), 0);
    flow_meter_set_state(NULL, FLOW_RUNNING);
    flow_meter_begin_commit(NULL);
    flow_meter_end_commit(NULL);
    flow_meter_add_epoch(NULL, 1, &counts);
    flow_meter_add_error(NULL, error, true);
    flow_meter_settle_unclear(NULL, 1, NULL);
    flow_meter_set_idle(NULL);
    flow_meter_set_positions(NULL, 0, NULL);
    flow_meter_set_end(NULL, 0, 0, 1);
    flow_meter_set_restore(NULL, 1, 2, 3, false);
    flow_meter_add_checkpoint(NULL, 1, 2, true);
    flow_meter_set_memory(NULL, MEMORY_OVERLAY, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_input),
        cmocka_unit_test(rows_behind_the_watermark_are_counted),
        cmocka_unit_test(memory_is_told_before_any_row),
        cmocka_unit_test(epochs_that_fail_count_nothing_twice),
        cmocka_unit_test(readiness_follows_the_broker),
        cmocka_unit_test(a_dead_flow_is_named),
        cmocka_unit_test(a_restore_is_told),
        cmocka_unit_test(phases_are_described),
        cmocka_unit_test(lag_is_the_wait_of_the_oldest_record),
        cmocka_unit_test(the_text_is_as_prometheus_wants_it),
        cmocka_unit_test(histograms_cumulate),
        cmocka_unit_test(nobody_looks),
    };
    return cmocka_run_group_tests_name("run/metrics", tests, NULL, NULL);
}
