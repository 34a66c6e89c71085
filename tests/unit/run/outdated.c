/* A broker that hung and woke still believes that it leads, and tells the ends of before. Nothing
 * may be concluded from them: no record is applied twice, no topic is taken for another one, and
 * nobody takes an old claim for that of a successor. */
#include "processor/base/clock.h"
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { RECORDS = 90, PARTITIONS_MAX = 8 };

/* Answers the next `answers` questions about the ends of a topic as of old. */
typedef struct Outdated {
    const LogOps *real;
    LogOps ops;
    const char *topic;
    int64_t ends[PARTITIONS_MAX];
    int answers;
} Outdated;

static Outdated outdated;

static Error *old_watermarks(Log *log, const char *topic, int32_t partition, Isolation isolation,
                             int timeout_ms, int64_t *ret_start, int64_t *ret_end)
{
    TRY(outdated.real->watermarks(log, topic, partition, isolation, timeout_ms, ret_start,
                                  ret_end));
    if (outdated.answers > 0 && strcmp(topic, outdated.topic) == 0) {
        outdated.answers--;
        *ret_end = outdated.ends[partition];
    }
    return NULL;
}

/* From now on the ends of `topic` are remembered; answers come as of this moment once `answers` is
 * set. */
static void remember(Rig *rig, const char *topic, int partitions)
{
    int64_t start = 0;
    outdated = (Outdated){.real = rig->pipeline_log->ops, .topic = topic};
    for (int p = 0; p < partitions; p++) {
        ok(log_watermarks(rig->log, topic, p, READ_UNCOMMITTED, TIMEOUT_MS, &start,
                          &outdated.ends[p]));
    }
    outdated.ops = *outdated.real;
    outdated.ops.watermarks = old_watermarks;
    rig->pipeline_log->ops = &outdated.ops;
}

static void rig_end(Rig *rig)
{
    rig->pipeline_log->ops = outdated.real;
    rig_done(rig);
}

static void some_work(Rig *rig)
{
    feed(rig, RECORDS);
    ok(rig_try_open(rig));
    ok(rig_try_update(rig, false));
}

/* Old positions in the progress topic: what came since would be applied a second time. */
static void old_progress_is_not_believed(void **state)
{
    (void)state;
    for (int wipe = 0; wipe < 2; wipe++) {
        Rig rig;
        rig_init(&rig, 21);
        some_work(&rig);
        remember(&rig, "p.progress", 1);
        feed(&rig, RECORDS);
        ok(rig_try_update(&rig, false));
        rig_close(&rig, wipe == 1);
        outdated.answers = 3;
        feed(&rig, RECORDS);
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        assert_int_equal(outdated.answers, 0);
        (void)all_is_well(&rig);
        rig_end(&rig);
    }
}

static void an_old_end_is_no_cut_table(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 22);
    some_work(&rig);
    remember(&rig, "t", 3);
    feed(&rig, RECORDS);
    ok(rig_try_update(&rig, false));
    rig_close(&rig, true);
    outdated.answers = 3;
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    assert_int_equal(outdated.answers, 0);
    (void)all_is_well(&rig);
    rig_end(&rig);
}

static void an_old_end_is_no_new_source(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 23);
    some_work(&rig);
    remember(&rig, "src", rig.partitions);
    feed(&rig, RECORDS);
    ok(rig_try_update(&rig, false));
    rig_close(&rig, false);
    outdated.answers = 3;
    ok(rig_try_open(&rig));
    feed(&rig, RECORDS);
    ok(rig_try_update(&rig, false));
    assert_int_equal(outdated.answers, 0);
    (void)all_is_well(&rig);
    rig_end(&rig);
}

/* The claim of the process before ours is no successor's. */
static void an_old_claim_takes_nothing_over(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 24);
    some_work(&rig);
    remember(&rig, "p.progress", 1);
    rig_close(&rig, false);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    feed(&rig, RECORDS);
    sim_broker_fail_next(rig.broker, SIM_COMMIT, SIM_FENCED, 1);
    outdated.answers = 1;
    ok(rig_try_update(&rig, false));
    assert_int_equal(outdated.answers, 0);
    (void)all_is_well(&rig);
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_progress_is_not_believed),
        cmocka_unit_test(an_old_end_is_no_cut_table),
        cmocka_unit_test(an_old_end_is_no_new_source),
        cmocka_unit_test(an_old_claim_takes_nothing_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
