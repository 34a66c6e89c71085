/* Expectations' counters in the event log (RU-39 … RU-44, EV-8, EV-9): exact for each update, over
 * many epochs, lost answers, unclear commits, new starts; what an undone epoch counted is not
 * there. The model is arithmetic over the records that were fed. */
#include "tests/unit/run/fixture.h"

#include "processor/run/topic_reader.h"

#include "processor/base/banned.h"

#define QUALITY_SQL(action)                                                                        \
    "  CREATE OR REFRESH STREAMING TABLE t (\n"                                                    \
    "    CONSTRAINT warned EXPECT (a > 3),\n"                                                      \
    "    CONSTRAINT dropped EXPECT (b % 4 <> 0) ON VIOLATION DROP ROW,\n"                          \
    "    CONSTRAINT failing EXPECT (1 / c > 0) ON VIOLATION " action ")\n"                         \
    "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT * FROM STREAM(src);\n"
#define QUALITY_COLUMNS "k STRING, seq BIGINT, a INT, b INT, c INT"

typedef struct Counts {
    int64_t passed;
    int64_t failed;
} Counts;

typedef struct Quality {
    int64_t dropped_records;
    Counts warned;
    Counts dropped;
    Counts failing;
} Quality;

static void count(Counts *counts, bool holds)
{
    counts->passed += holds;
    counts->failed += !holds;
}

/* A NULL condition is a violation (a IS NULL), and so is one that cannot be computed (c = 0). */
static void feed_quality(Rig *rig, int records, Quality *quality)
{
    for (int i = 0; i < records; i++) {
        bool null = draw(rig, 9) == 0;
        uint32_t a = draw(rig, 10);
        uint32_t b = draw(rig, 8);
        uint32_t c = draw(rig, 6);
        const char *text = null ? "null" : arena_printf(rig->arena, "%u", a);
        feed_one(rig, (int32_t)draw(rig, (uint32_t)rig->partitions),
                 arena_printf(rig->arena, "{\"k\":\"k%u\",\"seq\":%lld,\"a\":%s,\"b\":%u,\"c\":%u}",
                              draw(rig, KEYS), (long long)rig->fed++, text, b, c));
        bool kept = b % 4 != 0 && c != 0; /* a violation drops the row once, whoever says so */
        count(&quality->warned, !null && a > 3);
        count(&quality->dropped, b % 4 != 0);
        count(&quality->failing, c != 0);
        quality->dropped_records += !kept;
    }
}

/* ------------------------------------------------------------------------- the event log ---- */

static void add_expectation(const JsonTree *node, Quality *quality)
{
    Str name = json_tree_str(json_tree_get(node, "name"), STR(""));
    Counts *counts = str_equal(name, STR("warned"))    ? &quality->warned
                     : str_equal(name, STR("dropped")) ? &quality->dropped
                                                       : &quality->failing;
    assert_true(str_equal(json_tree_str(json_tree_get(node, "dataset"), STR("")), STR("t")));
    counts->passed += json_tree_int(json_tree_get(node, "passed_records"), -1);
    counts->failed += json_tree_int(json_tree_get(node, "failed_records"), -1);
}

typedef struct Reported {
    Quality quality; /* summed over the flow's events with that status, from offset `from` on */
    size_t events;
    Str message; /* of the last one */
    int64_t end;
} Reported;

static void take_event(Str value, const char *status, Arena *arena, Reported *reported)
{
    const JsonTree *event = NULL;
    ok(json_tree_parse(value, arena, &event));
    const JsonTree *progress = json_tree_get(json_tree_get(event, "details"), "flow_progress");
    if (!str_equal(json_tree_str(json_tree_get(progress, "status"), STR("")), str_from(status))) {
        return;
    }
    const JsonTree *data = json_tree_get(progress, "data_quality");
    const JsonTree *list = json_tree_get(data, "expectations");
    assert_int_equal(json_tree_size(list), 3);
    for (size_t i = 0; i < json_tree_size(list); i++) {
        add_expectation(json_tree_at(list, i), &reported->quality);
    }
    reported->quality.dropped_records += json_tree_int(json_tree_get(data, "dropped_records"), -1);
    reported->events++;
    reported->message = json_tree_str(json_tree_get(event, "message"), STR(""));
}

static Reported read_events(Rig *rig, const char *status, int64_t from)
{
    Reported reported = {.message = STR("")};
    int64_t start = 0;
    ok(log_watermarks(rig->log, "p.event_log", 0, READ_COMMITTED, TIMEOUT_MS, &start,
                      &reported.end));
    AUTO(topic_reader) TopicReader *reader = NULL;
    ok(topic_reader_open(rig->log, "p.event_log", 1, &from, &reported.end, &reader));
    for (;;) {
        const LogRecord *records = NULL;
        size_t n = 0;
        ok(topic_reader_next(reader, TIMEOUT_MS, rig->arena, &records, &n));
        if (n == 0) {
            return reported;
        }
        for (size_t i = 0; i < n; i++) {
            take_event(records[i].value, status, rig->arena, &reported);
        }
    }
}

static void same_counts(const char *what, Counts expected, Counts actual)
{
    if (expected.passed != actual.passed || expected.failed != actual.failed) {
        print_error("%s: %lld passed, %lld failed; expected %lld, %lld\n", what,
                    (long long)actual.passed, (long long)actual.failed, (long long)expected.passed,
                    (long long)expected.failed);
        fail();
    }
}

static void same_quality(const Quality *expected, const Quality *actual)
{
    same_counts("warned", expected->warned, actual->warned);
    same_counts("dropped", expected->dropped, actual->dropped);
    same_counts("failing", expected->failing, actual->failing);
    assert_int_equal(expected->dropped_records, actual->dropped_records);
}

/* --------------------------------------------------------------------------------- tests ---- */

static void rig_of_quality(Rig *rig, uint64_t seed, const char *sql)
{
    rig_init(rig, seed);
    rig->threaded = seed % 2 == 0;
    rig_load(rig, NULL, QUALITY_COLUMNS, sql);
}

/* Three updates of many epochs: each counts its own rows. */
static void each_update_counts_its_own(void **state)
{
    (void)state;
    Rig rig;
    rig_of_quality(&rig, 1, QUALITY_SQL("DROP ROW"));
    ok(rig_try_open(&rig));
    int64_t from = 0;
    for (int update = 0; update < 3; update++) {
        Quality expected = {0};
        feed_quality(&rig, 200, &expected);
        ok(rig_try_update(&rig, false));
        Reported reported = read_events(&rig, "COMPLETED", from);
        assert_int_equal(reported.events, 1);
        same_quality(&expected, &reported.quality);
        assert_true(flow_runner_metrics(pipeline_flow(rig.pipeline, 0))->epochs > 2);
        from = reported.end;
        if (update == 1) { /* a new process knows nothing of the one before */
            rig_close(&rig, true);
            ok(rig_try_open(&rig));
        }
    }
    rig_done(&rig);
}

/* An answer that gets lost costs an epoch, or leaves it unclear whether it was committed: in either
 * case its rows count once. */
static void a_lost_answer_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < fault_name_count; i++) {
        for (unsigned nth = 1; nth <= 4; nth++) {
            Rig rig;
            rig_of_quality(&rig, i + nth, QUALITY_SQL("DROP ROW"));
            Quality expected = {0};
            feed_quality(&rig, 100, &expected);
            ok(rig_try_open(&rig));
            fault_arm(fault_names[i], nth, FAULT_ERROR);
            ok(rig_try_update(&rig, false));
            fault_disarm();
            Reported reported = read_events(&rig, "COMPLETED", 0);
            same_quality(&expected, &reported.quality);
            rig_done(&rig);
        }
    }
}

/* A full refresh counts all rows of the source again, once. */
static void a_full_refresh_counts_again(void **state)
{
    (void)state;
    Rig rig;
    rig_of_quality(&rig, 3, QUALITY_SQL("DROP ROW"));
    Quality expected = {0};
    feed_quality(&rig, 100, &expected);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    Reported before = read_events(&rig, "COMPLETED", 0);
    feed_quality(&rig, 50, &expected);
    fault_arm("full_refresh.mid_tombstones", 2, FAULT_ERROR);
    ok(rig_try_update(&rig, true));
    fault_disarm();
    Reported reported = read_events(&rig, "COMPLETED", before.end);
    same_quality(&expected, &reported.quality);
    rig_done(&rig);
}

static void feed_row(Rig *rig, int number, int c)
{
    feed_one(
        rig, 0,
        arena_printf(rig->arena, "{\"k\":\"k%d\",\"seq\":1,\"a\":5,\"b\":1,\"c\":%d}", number, c));
}

/* FAIL UPDATE undoes the epoch: earlier ones stay and are counted, the undone one is not; the next
 * update meets the same row. A definition without it goes on from there. */
static void a_failing_update(void **state)
{
    (void)state;
    enum { BEFORE = 50, BATCH = 7, MAX_ROWS = 20 };
    Rig rig;
    rig_of_quality(&rig, 5, QUALITY_SQL("FAIL UPDATE"));
    for (int i = 0; i < BEFORE + 10; i++) {
        feed_row(&rig, i, i == BEFORE ? 0 : 1);
    }
    ok(rig_try_open(&rig));
    fails(rig_try_update(&rig, false), ERROR_EXPECTATION_VIOLATION, "`failing`");
    Reported failed = read_events(&rig, "FAILED", 0);
    assert_int_equal(failed.events, 1);
    assert_non_null(memmem(failed.message.data, failed.message.size, "\"k\":\"k50\"", 9));
    /* Whole epochs, each the first batches with MAX_ROWS rows or more. */
    int64_t kept = failed.quality.failing.passed;
    assert_int_equal(kept, (BEFORE / 21) * 21);
    assert_int_equal(failed.quality.failing.failed, 0);
    assert_int_equal(failed.quality.warned.passed, kept);
    fails(rig_try_update(&rig, false), ERROR_EXPECTATION_VIOLATION, "`failing`");
    Reported again = read_events(&rig, "FAILED", failed.end);
    assert_int_equal(again.events, 1);
    assert_int_equal(again.quality.failing.passed, 0);
    rig_close(&rig, false);
    rig_load(&rig, NULL, QUALITY_COLUMNS, QUALITY_SQL("DROP ROW"));
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    Reported done = read_events(&rig, "COMPLETED", again.end);
    assert_int_equal(done.quality.failing.passed, BEFORE + 9 - kept);
    assert_int_equal(done.quality.failing.failed, 1);
    assert_int_equal(done.quality.dropped_records, 1);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_update_counts_its_own),
        cmocka_unit_test(a_lost_answer_anywhere),
        cmocka_unit_test(a_full_refresh_counts_again),
        cmocka_unit_test(a_failing_update),
    };
    return cmocka_run_group_tests_name("run/expectations", tests, NULL, NULL);
}
