/* What happens to source topics: foreign transactions, lost beginnings, topics made anew, new
 * partitions, broken batches, forbidden topics; and where a source starts. */
#include "tests/unit/run/fixture.h"

#include "processor/run/source_reader.h"

#include "processor/base/banned.h"

static void put_row(Rig *rig, int32_t partition, const char *key, int seq)
{
    feed_one(
        rig, partition,
        arena_printf(rig->arena, "{\"k\":\"%s\",\"seq\":%d,\"v\":\"%s%d\"}", key, seq, key, seq));
}

static void make_anew(Rig *rig)
{
    ok(log_topic_delete(rig->log, "src", TIMEOUT_MS));
    LogTopicSpec spec = {.name = "src", .partitions = rig->partitions, .replication_factor = -1};
    ok(log_topic_create(rig->log, &spec, TIMEOUT_MS));
}

/* The keys of the table's rows, as "a b c". */
static const char *keys(Rig *rig)
{
    FoldedTable folded = {0};
    ok(table_fold(rig->log, "t", rig->program->tables[0].bound->schema, NULL, TIMEOUT_MS,
                  rig->arena, &folded));
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < folded.count; i++) {
        Str key = folded.keys[i];
        buffer_printf(&text, "%s%.*s", i == 0 ? "" : " ", (int)key.size - 8, key.data + 6);
    }
    return arena_copy_cstr(rig->arena, buffer_str(&text));
}

static int64_t group_position(Rig *rig, int32_t partition)
{
    int64_t offset = -1;
    ok(log_group_offset(rig->log, "p.t", "src", partition, TIMEOUT_MS, &offset));
    return offset;
}

static void a_foreign_transaction(void **state)
{
    (void)state;
    for (int commit = 0; commit < 2; commit++) {
        Rig rig;
        rig_init(&rig, 1);
        put_row(&rig, 0, "a", 1);
        LogProducer *foreign = NULL;
        LogProducerOptions options = {.transactional_id = "foreign"};
        ok(log_producer_open(rig.log, &options, &foreign));
        ok(log_producer_init_transactions(foreign, TIMEOUT_MS));
        ok(log_producer_begin(foreign));
        put(&rig, foreign, 0, "{\"k\":\"b\",\"seq\":1,\"v\":\"x\"}");
        ok(log_producer_flush(foreign, TIMEOUT_MS));
        put_row(&rig, 0, "c", 1);
        put_row(&rig, 1, "d", 1);
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        assert_string_equal(keys(&rig), "a d");
        assert_int_equal(group_position(&rig, 0), 1);
        ok(commit ? log_producer_commit(foreign, TIMEOUT_MS)
                  : log_producer_abort(foreign, TIMEOUT_MS));
        log_producer_close(foreign);
        ok(rig_try_update(&rig, false));
        assert_string_equal(keys(&rig), commit ? "a b c d" : "a c d");
        /* case kafka-log.ends-with-commit-marker: the position stands behind the marker. */
        assert_int_equal(group_position(&rig, 0), 4);
        (void)all_is_well(&rig);
        rig_done(&rig);
    }
}

/* Retention was faster: what is gone is told, what is there is read. */
static void a_deleted_beginning(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        Rig rig;
        rig_init(&rig, 2);
        put_row(&rig, 0, "a", 1);
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        put_row(&rig, 0, "b", 1);
        put_row(&rig, 0, "c", 1);
        ok(log_records_delete(rig.log, "src", 0, 2, TIMEOUT_MS));
        if (restart) {
            rig_close(&rig, false);
            ok(rig_try_open(&rig));
        }
        ok(rig_try_update(&rig, false));
        assert_string_equal(keys(&rig), "a c");
        assert_int_equal(count_in_topic(&rig, "p.event_log", "SOURCE_DATA_LOST"), 1);
        assert_int_equal(group_position(&rig, 0), 3);
        rig_done(&rig);
    }
}

/* case kafka-log.gap-is-not-loss */
static void gaps_are_no_loss(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 3);
    LogProducer *producer = NULL;
    ok(log_producer_open(rig.log, &(LogProducerOptions){0}, &producer));
    for (int i = 0; i < 10; i++) {
        const char *value = arena_printf(rig.arena, "{\"k\":\"k%d\",\"seq\":%d,\"v\":\"x\"}", i, i);
        LogOutput output = {.topic = "src",
                            .partition = 0,
                            .key = i == 0 || i == 5 ? str_from(value) : STR("same"),
                            .value = str_from(value)};
        ok(log_producer_produce(producer, &output, 1, NULL));
        if (i == 0) {
            ok(log_producer_flush(producer, TIMEOUT_MS));
            ok(rig_try_open(&rig));
            ok(rig_try_update(&rig, false));
        }
    }
    ok(log_producer_flush(producer, TIMEOUT_MS));
    rig_close(&rig, false);
    sim_broker_compact(rig.broker, "src");
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    assert_string_equal(keys(&rig), "k0 k5 k9");
    assert_int_equal(count_in_topic(&rig, "p.event_log", "SOURCE_DATA_LOST"), 0);
    (void)all_is_well(&rig);
    log_producer_close(producer);
    rig_done(&rig);
}

/* case kafka-log.recreated-shorter */
static void a_topic_made_anew_and_shorter(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        Rig rig;
        rig_init(&rig, 4);
        for (int i = 1; i <= 5; i++) {
            put_row(&rig, 0, "a", i);
        }
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        make_anew(&rig);
        put_row(&rig, 0, "b", 9);
        Error *error = NULL;
        if (restart) {
            rig_close(&rig, false);
            error = rig_try_open(&rig);
        } else {
            error = rig_try_update(&rig, false);
        }
        fails(error, ERROR_SOURCE_TOPIC_CHANGED, "`src` partition 0");
        assert_string_equal(keys(&rig), "a");
        rig_done(&rig);
    }
}

/* The position exists in the new topic too; the record before it is another one. It stays refused,
 * however often it is tried. */
static void a_topic_made_anew_and_longer(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 5);
    put_row(&rig, 0, "a", 1);
    put_row(&rig, 1, "z", 1);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    rig_close(&rig, false);
    make_anew(&rig);
    for (int i = 1; i <= 5; i++) {
        put_row(&rig, 0, "b", i);
    }
    put_row(&rig, 1, "z", 1);
    put_row(&rig, 2, "y", 1);
    ok(rig_try_open(&rig));
    fails(rig_try_update(&rig, false), ERROR_SOURCE_TOPIC_CHANGED, "another record");
    fails(rig_try_update(&rig, false), ERROR_SOURCE_TOPIC_CHANGED, "another record");
    assert_string_equal(keys(&rig), "a z");
    rig_close(&rig, true);
    ok(rig_try_open(&rig));
    fails(rig_try_update(&rig, false), ERROR_SOURCE_TOPIC_CHANGED, "another record");
    assert_string_equal(keys(&rig), "a z");
    rig_done(&rig);
}

static void a_topic_made_anew_with_fewer_partitions(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 6);
    put_row(&rig, 3, "a", 1);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    rig_close(&rig, false);
    rig.partitions = 2;
    make_anew(&rig);
    fails(rig_try_open(&rig), ERROR_SOURCE_TOPIC_CHANGED, "no such partition");
    rig_done(&rig);
}

/* case kafka-log.partitions-added: the new partition is read from its beginning, the sequence
 * decides, not the partition. */
static void partitions_are_added(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        Rig rig;
        rig_init(&rig, 7);
        put_row(&rig, 0, "a", 1);
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        ok(log_topic_add_partitions(rig.log, "src", 6, TIMEOUT_MS));
        put_row(&rig, 5, "a", 2);
        put_row(&rig, 4, "b", 1);
        if (restart) {
            rig_close(&rig, false);
            ok(rig_try_open(&rig));
        }
        ok(rig_try_update(&rig, false));
        assert_string_equal(keys(&rig), "a b");
        rig.partitions = 6;
        feed(&rig, 50);
        ok(rig_try_update(&rig, false));
        (void)all_is_well(&rig);
        rig_done(&rig);
    }
}

/* case kafka-log.corrupt-batch: five rows, an error that names the place, not silently idle. */
static void read_all(SourceReader *reader, Arena *arena, size_t expected)
{
    size_t sum = 0;
    for (int polls = 0; polls < 10 && !source_reader_is_drained(reader); polls++) {
        const LogRecord *records = NULL;
        size_t count = 0;
        ok(source_reader_next(reader, 5, 100, arena, &records, &count));
        sum += count;
    }
    assert_true(source_reader_is_drained(reader));
    assert_int_equal(sum, expected);
}

/* While an update reads up to its bound a transaction is aborted behind it. The consumer runs on to
 * the end, behind the marker, and tells that once; the next update, whose bound that is, must not
 * wait to hear it again. */
static void an_aborted_transaction_behind_the_bound(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 13);
    for (int32_t p = 0; p < rig.partitions; p++) {
        put_row(&rig, p, "a", 1);
    }
    SourceReaderOptions options = {
        .log = rig.log, .source = &rig.program->sources[0], .timeout_ms = TIMEOUT_MS};
    Progress progress = {0};
    SourceReader *reader = NULL;
    ok(source_reader_open(&options, &progress, &reader));
    ok(source_reader_set_bounds(reader));
    LogProducer *producer = NULL;
    ok(log_producer_open(rig.log, &(LogProducerOptions){.transactional_id = "x"}, &producer));
    ok(log_producer_init_transactions(producer, TIMEOUT_MS));
    ok(log_producer_begin(producer));
    put(&rig, producer, 0, "{\"k\":\"a\",\"seq\":2,\"v\":\"x\"}");
    ok(log_producer_abort(producer, TIMEOUT_MS));
    log_producer_close(producer);
    read_all(reader, rig.arena, (size_t)rig.partitions);
    assert_int_equal(source_reader_partition(reader, 0)->next, 1);
    source_reader_clear_bounds(reader);
    ok(source_reader_set_bounds(reader));
    read_all(reader, rig.arena, 0);
    assert_int_equal(source_reader_partition(reader, 0)->next, 3); /* the record, the marker */
    put_row(&rig, 0, "a", 3);
    ok(source_reader_set_bounds(reader));
    read_all(reader, rig.arena, 1);
    source_reader_close(reader);
    rig_done(&rig);
}

static void a_corrupt_batch(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 8);
    for (int i = 0; i < 15; i++) {
        put_row(&rig, 0, arena_printf(rig.arena, "k%c", 'a' + i), 1);
    }
    put_row(&rig, 1, "other", 1);
    sim_broker_corrupt(rig.broker, "src", 0, 5);
    ok(rig_try_open(&rig));
    fails(rig_try_update(&rig, false), ERROR_KAFKA_CORRUPT_BATCH, "5");
    fails(rig_try_update(&rig, false), ERROR_KAFKA_CORRUPT_BATCH, "src");
    assert_string_equal(keys(&rig), "ka kb kc kd ke other");
    assert_int_equal(group_position(&rig, 0), 5);
    assert_true(count_in_topic(&rig, "p.event_log", "KAFKA_CORRUPT_BATCH") > 0);
    sim_broker_repair(rig.broker, "src", 0);
    ok(rig_try_update(&rig, false));
    assert_int_equal(all_is_well(&rig).rows, 16);
    rig_done(&rig);
}

static void a_forbidden_topic(void **state)
{
    (void)state;
    const char *const topics[] = {"src", "t", "p.progress"};
    for (size_t i = 0; i < ARRAY_LENGTH(topics); i++) {
        Rig rig;
        rig_init(&rig, 9);
        feed(&rig, 30);
        sim_broker_deny(rig.broker, topics[i]);
        fails(rig_try_open(&rig), ERROR_KAFKA_ACCESS_DENIED, topics[i]);
        sim_broker_allow(rig.broker, topics[i]);
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        feed(&rig, 30);
        sim_broker_deny(rig.broker, topics[i]);
        fails(rig_try_update(&rig, false), ERROR_KAFKA_ACCESS_DENIED, topics[i]);
        sim_broker_allow(rig.broker, topics[i]);
        ok(rig_try_update(&rig, false));
        (void)all_is_well(&rig);
        rig_done(&rig);
    }
}

static void a_missing_topic(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 10);
    ok(log_topic_delete(rig.log, "src", TIMEOUT_MS));
    fails(rig_try_open(&rig), ERROR_KAFKA_TOPIC_NOT_FOUND, "sources.src.topic");
    rig_done(&rig);
}

/* `latest` is resolved once: what arrives while nobody runs is read by the next start. */
static void start_latest_is_kept(void **state)
{
    (void)state;
    for (int wipe = 0; wipe < 2; wipe++) {
        Rig rig;
        rig_init(&rig, 11);
        rig_load(&rig, "start: latest, ", NULL, NULL);
        put_row(&rig, 0, "old", 1);
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        assert_string_equal(keys(&rig), "");
        rig_close(&rig, wipe);
        put_row(&rig, 0, "new", 1);
        put_row(&rig, 3, "too", 1);
        ok(rig_try_open(&rig));
        ok(rig_try_update(&rig, false));
        assert_string_equal(keys(&rig), "new too");
        (void)all_is_well(&rig);
        rig_done(&rig);
    }
}

static void put_at(Rig *rig, LogProducer *producer, const char *key, int64_t timestamp_ms)
{
    const char *value = arena_printf(rig->arena, "{\"k\":\"%s\",\"seq\":1,\"v\":\"x\"}", key);
    LogOutput output = {
        .topic = "src", .partition = 0, .value = str_from(value), .timestamp_ms = timestamp_ms};
    ok(log_producer_produce(producer, &output, 1, NULL));
    ok(log_producer_flush(producer, TIMEOUT_MS));
}

static void start_at_a_time_is_kept(void **state)
{
    (void)state;
    const int64_t start_ms = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */
    Rig rig;
    rig_init(&rig, 12);
    rig_load(&rig, "start: '2026-01-01T00:00:00Z', ", NULL, NULL);
    LogProducer *producer = NULL;
    ok(log_producer_open(rig.log, &(LogProducerOptions){0}, &producer));
    put_at(&rig, producer, "before", start_ms - 1);
    put_at(&rig, producer, "at", start_ms);
    put_at(&rig, producer, "late", start_ms - 5);
    ok(rig_try_open(&rig));
    rig_close(&rig, true); /* resolved, nothing read yet */
    put_at(&rig, producer, "after", start_ms + 1);
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, false));
    assert_string_equal(keys(&rig), "after at late");
    (void)all_is_well(&rig);
    log_producer_close(producer);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_foreign_transaction),
        cmocka_unit_test(a_deleted_beginning),
        cmocka_unit_test(gaps_are_no_loss),
        cmocka_unit_test(a_topic_made_anew_and_shorter),
        cmocka_unit_test(a_topic_made_anew_and_longer),
        cmocka_unit_test(a_topic_made_anew_with_fewer_partitions),
        cmocka_unit_test(partitions_are_added),
        cmocka_unit_test(an_aborted_transaction_behind_the_bound),
        cmocka_unit_test(a_corrupt_batch),
        cmocka_unit_test(a_forbidden_topic),
        cmocka_unit_test(a_missing_topic),
        cmocka_unit_test(start_latest_is_kept),
        cmocka_unit_test(start_at_a_time_is_kept),
    };
    return cmocka_run_group_tests_name("run/sources", tests, NULL, NULL);
}
