/* What cases of the families kafka-log and state-output say beyond rows: committed offsets, and
 * what messages must name. The rows themselves are in tests/pipeline. */
#include "tests/unit/testing/fixture.h"

#define REPLACE_USING                                                                              \
    "CREATE OR REFRESH STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME "
#define RELATION "relations: {src: {columns: [k STRING, v STRING, seq BIGINT]}}\n"

static int64_t committed_offset(Stage *stage, const char *topic)
{
    const char *group = arena_printf(stage->arena, "%s.t", stage->world->implicit.name);
    int64_t offset = -2;
    ok(log_group_offset(stage->world->log, group, topic, 0, WORLD_TIMEOUT_MS, &offset));
    return offset;
}

static int64_t end_offset(Stage *stage, const char *topic)
{
    int64_t start = 0;
    int64_t end = 0;
    ok(log_watermarks(stage->world->log, topic, 0, READ_COMMITTED, WORLD_TIMEOUT_MS, &start, &end));
    return end;
}

/* kafka-log.ends-with-commit-marker: 0 data, 1 data, 2 marker; committed 3, lag 0 */
static void test_ends_with_commit_marker(void **state)
{
    (void)state;
    Stage stage = {.options = {.fault_nth = 1}};
    stage_open(&stage, "id: kafka-log.ends-with-commit-marker\n" RELATION "steps:\n"
                       "- feed: {src: [[a, x, 1], [b, x, 1]]}\n"
                       "  transaction: commit\n"
                       "- sql: " REPLACE_USING "SELECT * FROM STREAM src\n"
                       "- expect: {t: [[a, x, 1], [b, x, 1]]}\n");
    int64_t begin_ms = clock_monotonic_ms();
    stage_run(&stage);
    assert_null(stage.world->failure);
    assert_true(clock_monotonic_ms() - begin_ms < 5000);
    assert_int_equal(end_offset(&stage, "src"), 3);
    assert_int_equal(committed_offset(&stage, "src"), 3);
    stage_close(&stage);
}

/* state-output.store-ahead-of-commit: after the kill and the start, committed offset 1 */
static void test_store_ahead_of_commit(void **state)
{
    (void)state;
    Stage stage = {.options = {.fault_nth = 1}};
    stage_open(&stage, "id: state-output.store-ahead-of-commit\n" RELATION "steps:\n"
                       "- sql: " REPLACE_USING "SELECT * FROM STREAM src\n"
                       "- feed: {src: [[a, x, 5]]}\n"
                       "- fault: {point: commit.before_commit}\n"
                       "- refresh: t\n"
                       "- fails: SIMULATED_CRASH\n"
                       "- refresh: t\n"
                       "- expect: {t: [[a, x, 5]]}\n"
                       "- expect_topic: {t: [{key: {k: a}, value: [a, x, 5]}]}\n");
    stage_run(&stage);
    assert_null(stage.world->failure);
    assert_int_equal(committed_offset(&stage, "src"), 1);
    stage_close(&stage);
}

/* Runs the steps, the last of which fails; the text of its failure. */
static const char *failure_of(Stage *stage, ErrorClass class)
{
    stage_run(stage);
    Error *failure = stage->world->failure;
    stage->world->failure = NULL;
    return refused(failure, class, stage->arena);
}

/* kafka-log.recreated-shorter: position 500 beyond end 40; the position does not move */
static void test_recreated_shorter(void **state)
{
    (void)state;
    Stage stage = {.options = {.fault_nth = 1}};
    stage_open(&stage, "id: kafka-log.recreated-shorter\n" RELATION "steps:\n"
                       "- feed: {src: [{row: [a, x, 1], repeat: 500}]}\n"
                       "- sql: " REPLACE_USING "SELECT * FROM STREAM src\n"
                       "- topic: {src: {recreate: true}}\n"
                       "- feed: {src: [{row: [b, x, 9], repeat: 40}]}\n"
                       "- refresh: t\n");
    const char *text = failure_of(&stage, ERROR_SOURCE_TOPIC_CHANGED);
    assert_non_null(strstr(text, "partition 0"));
    assert_non_null(strstr(text, "offset 500 lies beyond its end 40"));
    /* The same after a start. */
    text = refused(world_restart(stage.world, false), ERROR_SOURCE_TOPIC_CHANGED, stage.arena);
    assert_non_null(strstr(text, "offset 500 lies beyond its end 40"));
    stage_close(&stage);
}

/* kafka-log.oversized-output: the error names flow and key */
static void test_oversized_output(void **state)
{
    (void)state;
    Stage stage = {.options = {.fault_nth = 1}};
    stage_open(
        &stage,
        "id: kafka-log.oversized-output\n"
        "relations: {src: {columns: [k STRING, v STRING, times INT, seq BIGINT]}}\n"
        "steps:\n"
        "- topic: {t: {config: {cleanup.policy: compact, max.message.bytes: '1000000'}}}\n"
        "- sql: " REPLACE_USING "SELECT k, repeat(v, times) AS v, seq FROM STREAM src\n"
        "- feed: {src: [[a, 0123456789, 100, 1], [big, 0123456789, 120000, 1], [c, x, 1, 1]]}\n"
        "- refresh: t\n");
    const char *text = failure_of(&stage, ERROR_ROW_TOO_LARGE);
    assert_non_null(strstr(text, "`t`"));
    assert_non_null(strstr(text, "{\"k\":\"big\"}"));
    assert_int_equal(committed_offset(&stage, "src"), 0);
    stage_close(&stage);
}

/* kafka-log.corrupt-batch: the error names topic, partition and offset */
static void test_corrupt_batch(void **state)
{
    (void)state;
    Stage stage = {.options = {.fault_nth = 1}};
    stage_open(&stage, "id: kafka-log.corrupt-batch\n" RELATION "steps:\n"
                       "- feed: {src: [{row: [a, x, 1], repeat: 15}]}\n"
                       "- fault: {corrupt: {topic: src, offset: 5}}\n"
                       "- sql: " REPLACE_USING "SELECT * FROM STREAM src\n");
    const char *text = failure_of(&stage, ERROR_KAFKA_CORRUPT_BATCH);
    assert_non_null(strstr(text, "src"));
    assert_non_null(strstr(text, "0"));
    assert_non_null(strstr(text, "5"));
    assert_int_equal(committed_offset(&stage, "src"), 5);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_with_commit_marker),
        cmocka_unit_test(test_store_ahead_of_commit),
        cmocka_unit_test(test_recreated_shorter),
        cmocka_unit_test(test_oversized_output),
        cmocka_unit_test(test_corrupt_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
