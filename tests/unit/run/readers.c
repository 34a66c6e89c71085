/* What readers of a table's topic, and of the errors of a start, get to see. */
#include "tests/unit/run/fixture.h"

#include "processor/base/clock.h"
#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

/* An open transaction is waited for, but not for ever; nothing of it or behind it counts. */
static void the_range_ends_before_an_open_transaction(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 1);
    feed_one(&rig, 0, "{\"k\":\"a\",\"seq\":1}");
    int64_t start = -1;
    int64_t end = -1;
    ok(topic_settled_range(rig.log, "src", 0, TIMEOUT_MS, &start, &end));
    assert_int_equal(start, 0);
    assert_int_equal(end, 1);

    LogProducer *open = NULL;
    ok(log_producer_open(rig.log, &(LogProducerOptions){.transactional_id = "open"}, &open));
    ok(log_producer_init_transactions(open, TIMEOUT_MS));
    ok(log_producer_begin(open));
    put(&rig, open, 0, "{\"k\":\"a\",\"seq\":2}");
    ok(log_producer_flush(open, TIMEOUT_MS));
    feed_one(&rig, 0, "{\"k\":\"a\",\"seq\":3}");
    int64_t begun_ms = clock_monotonic_ms();
    ok(topic_settled_range(rig.log, "src", 0, TIMEOUT_MS, &start, &end));
    assert_true(clock_monotonic_ms() - begun_ms >= 1000);
    assert_int_equal(end, 1);

    ok(log_producer_commit(open, TIMEOUT_MS));
    log_producer_close(open);
    ok(topic_settled_range(rig.log, "src", 0, TIMEOUT_MS, &start, &end));
    assert_int_equal(end, 4); /* two records of ours, one of theirs, the marker */
    rig_done(&rig);
}

static Error *open_again(Rig *rig)
{
    PipelineOptions options = {.program = rig->program,
                               .log = rig->pipeline_log,
                               .state_dir = rig->dir,
                               .attempts_max = 1};
    Error *error = pipeline_open(&options, &rig->pipeline);
    UpdateRequest request = {.cause = "USER_ACTION"};
    UpdateResult result;
    return error != NULL ? error : pipeline_update(rig->pipeline, &request, &result);
}

/* RU-55, and where the user finds it: the flow begins in line 11 of the topology. */
static void a_changed_key_is_shown_in_the_users_file(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 2);
    feed_one(&rig, 0, "{\"k\":\"a\",\"seq\":1,\"v\":\"x\"}");
    ok(open_again(&rig));
    pipeline_close(rig.pipeline);
    rig.pipeline = NULL;
    rig_load(&rig, NULL, NULL,
             "  CREATE OR REFRESH STREAMING TABLE t\n"
             "  FLOW REPLACE USING (k, v) SEQUENCE BY seq BY NAME\n"
             "  SELECT * FROM STREAM(src);\n");
    fails(open_again(&rig), ERROR_FULL_REFRESH_REQUIRED,
          "  at p.yaml:12:23\n      FLOW REPLACE USING (k, v) SEQUENCE BY seq BY NAME\n");
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_ends_before_an_open_transaction),
        cmocka_unit_test(a_changed_key_is_shown_in_the_users_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
