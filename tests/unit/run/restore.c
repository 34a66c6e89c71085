/* Restoring a table from its topic: in many runs, with deaths and lost answers in between, and keys
 * whose text looks like what surrounds them. */
#include "processor/base/clock.h"
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

enum { RECORDS = 4000, MANY_KEYS = 1000, STATE_MEMORY = 1 << 20 };

typedef struct Seen {
    uint64_t rows;
    bool finished;
    bool whole;
} Seen;

static void on_restore(void *context, const RestoreProgress *progress)
{
    Seen *seen = context;
    assert_true(progress->rows >= seen->rows);
    *seen = (Seen){progress->rows, progress->finished, progress->whole};
}

static Error *open_seeing(Rig *rig, Seen *seen)
{
    *seen = (Seen){0};
    PipelineOptions options = {.program = rig->program,
                               .log = rig->pipeline_log,
                               .state_dir = rig->dir,
                               .batch_rows = rig->batch_rows,
                               .inline_work = true,
                               .timeout_ms = TIMEOUT_MS,
                               .attempts_max = rig->attempts_max,
                               .on_restore = on_restore,
                               .on_restore_context = seen};
    return pipeline_open(&options, &rig->pipeline);
}

static uint64_t records_of(Rig *rig, const char *topic, int partitions)
{
    AUTO(arena) Arena *arena = arena_new("count");
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    uint64_t records = 0;
    ok(log_consumer_open(rig->log, &options, &consumer));
    for (int p = 0; p < partitions; p++) {
        int64_t start = 0;
        int64_t end = 0;
        ok(log_watermarks(rig->log, topic, p, READ_COMMITTED, TIMEOUT_MS, &start, &end));
        ok(log_consumer_assign(consumer, &(LogPosition){topic, p, start}, 1));
        while (start < end) {
            LogPoll poll = {0};
            ok(log_consumer_poll(consumer, TIMEOUT_MS, 1000, arena, &poll));
            records += poll.record_count;
            start = poll.record_count > 0 ? poll.records[poll.record_count - 1].offset + 1 : start;
            start = poll.end_count > 0 && poll.ends[0].offset > start ? poll.ends[0].offset : start;
        }
    }
    return records;
}

/* Rows of 200 bytes over many keys. */
static void feed_large(Rig *rig)
{
    AUTO(log_producer) LogProducer *producer = NULL;
    ok(log_producer_open(rig->log, &(LogProducerOptions){0}, &producer));
    for (int i = 0; i < RECORDS; i++) {
        put(rig, producer, (int32_t)draw(rig, (uint32_t)rig->partitions),
            arena_printf(rig->arena, "{\"k\":\"k%u\",\"seq\":%d,\"v\":\"%0200d\"}",
                         draw(rig, MANY_KEYS), i / 8, i));
    }
    ok(log_producer_flush(producer, TIMEOUT_MS));
}

/* A table with a topic that takes many runs, and no state. */
static void rig_with_a_long_topic(Rig *rig, uint64_t seed)
{
    rig_init(rig, seed);
    Topology *topology = (Topology *)(uintptr_t)rig->program->topology;
    feed_large(rig);
    (void)rig_run_through(rig, false, false);
    rig_close(rig, true);
    topology->state.memory_bytes = STATE_MEMORY;
}

static void every_record_once(void **state)
{
    (void)state;
    Rig rig;
    rig_with_a_long_topic(&rig, 1);
    uint64_t records = records_of(&rig, "t", 3);
    assert_in_range(records, 2000, 20000);
    Seen seen;
    ok(open_seeing(&rig, &seen));
    assert_true(seen.finished && seen.whole);
    assert_int_equal(seen.rows, records);
    state_equals_topic(&rig);
    /* With state there is nothing to read. */
    rig_close(&rig, false);
    ok(open_seeing(&rig, &seen));
    assert_true(seen.finished && !seen.whole);
    assert_int_equal(seen.rows, 0);
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

/* What was written before a death is not read again. */
static void it_goes_on_where_it_died(void **state)
{
    (void)state;
    static const char *const points[] = {"restore.mid", "ingest.write", "ingest.before",
                                         "ingest.after"};
    for (size_t i = 0; i < ARRAY_LENGTH(points); i++) {
        Rig rig;
        rig_with_a_long_topic(&rig, 2 + i);
        uint64_t records = records_of(&rig, "t", 3);
        Seen seen;
        fault_arm(points[i], 2, FAULT_CRASH);
        Error *error = open_seeing(&rig, &seen);
        assert_true(crashed(error));
        error_free(error);
        fault_disarm();
        ok(open_seeing(&rig, &seen));
        assert_true(seen.finished && !seen.whole);
        assert_in_range(seen.rows, 1, records - 1);
        ok(rig_try_update(&rig, false));
        (void)all_is_well(&rig);
        rig_done(&rig);
    }
}

/* A failure on the thread that writes reaches the start, which tries again. */
static void a_failed_run_is_tried_again(void **state)
{
    (void)state;
    Rig rig;
    rig_with_a_long_topic(&rig, 9);
    Seen seen;
    fault_arm("ingest.before", 2, FAULT_ERROR);
    ok(open_seeing(&rig, &seen));
    assert_true(seen.finished);
    state_equals_topic(&rig);
    ok(rig_try_update(&rig, false));
    (void)all_is_well(&rig);
    rig_done(&rig);
}

/* Message keys are compared with what they must be, byte by byte. */
static void keys_that_look_like_others(void **state)
{
    (void)state;
    static const char *const keys[] = {"",
                                       "}",
                                       "\\\"",
                                       "a,\\\"_row\\\":1",
                                       "a\\\",\\\"_row\\\":1}",
                                       "\\u0000",
                                       "\\u00e9\\n",
                                       "null",
                                       "\\\"_row\\\":2",
                                       "a,\\\"_row\\\":1}",
                                       "{\\\"k\\\":\\\"a\\\"}",
                                       "_row",
                                       "\\\\",
                                       "\\\\\\\",\\\"_row\\\":7}",
                                       "a"};
    Rig rig;
    rig_init(&rig, 11);
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        for (int row = 0; row < 1 + (int)(i % 3); row++) {
            feed_one(
                &rig, 0,
                arena_printf(rig.arena, "{\"k\":\"%s\",\"seq\":5,\"v\":\"%d\"}", keys[i], row));
        }
    }
    feed_one(&rig, 0, "{\"k\":null,\"seq\":5,\"v\":\"n\"}");
    feed_one(&rig, 0, "{\"k\":null,\"seq\":5,\"v\":\"m\"}");
    (void)rig_run_through(&rig, false, false);
    for (int life = 0; life < 2; life++) {
        state_equals_topic(&rig);
        rig_close(&rig, true);
        ok(rig_try_open(&rig));
        state_equals_topic(&rig);
        /* Some are replaced by fewer rows: tombstones. */
        feed_one(&rig, 0, "{\"k\":\"}\",\"seq\":6,\"v\":\"z\"}");
        feed_one(&rig, 0, "{\"k\":\"\\\"\",\"seq\":6,\"v\":\"z\"}");
        ok(rig_try_update(&rig, false));
    }
    state_equals_topic(&rig);
    rig_done(&rig);
}

/* A process that slept for days writes what it committed before; the age of that must show, for
 * tombstones another process wrote meanwhile may be gone. */
static void a_late_checkpoint_is_as_old_as_its_commit(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 5);
    Topology *topology = (Topology *)(uintptr_t)rig.program->topology;
    topology->state.checkpoint_bytes = 1 << 20;
    topology->state.checkpoint_interval_ms = 1000000;
    feed(&rig, 100);
    (void)rig_run_through(&rig, false, false);
    int64_t committed_us = clock_now_us(NULL);
    clock_sleep_ms(2);
    FlowRunner *runner = pipeline_flow(rig.pipeline, 0);
    ok(flow_runner_checkpoint(runner));
    TableStore *store = table_store(flow_runner_table_state(runner));
    int64_t moved = 0;
    for (uint32_t shard = 0; shard < table_store_shards(store); shard++) {
        int64_t position = 0;
        int64_t time_us = 0;
        ok(table_store_position(store, shard, &position, &time_us));
        assert_true(time_us > 0 && time_us <= committed_us);
        moved += position;
    }
    assert_true(moved > 0); /* the checkpoint had something to write */
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_once),
        cmocka_unit_test(it_goes_on_where_it_died),
        cmocka_unit_test(a_failed_run_is_tried_again),
        cmocka_unit_test(keys_that_look_like_others),
        cmocka_unit_test(a_late_checkpoint_is_as_old_as_its_commit),
    };
    return cmocka_run_group_tests_name("run/restore", tests, NULL, NULL);
}
