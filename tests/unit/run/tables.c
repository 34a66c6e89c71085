/* Tables over time: definitions that change, topics that do not belong to the pipeline, records
 * that cannot become rows, constraints, keys of output records. */
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

/* The table's rows as JSON, in order of their message keys, a line each. */
static const char *rows(Rig *rig)
{
    FoldedTable folded = {0};
    ok(table_fold(rig->log, "t", rig->program->tables[0].bound->schema, NULL, TIMEOUT_MS,
                  rig->arena, &folded));
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < folded.count; i++) {
        buffer_append_str(&text, folded.keys[i]);
        buffer_append_byte(&text, ' ');
        json_encode_row(folded.rows, (uint32_t)i, &text);
        buffer_append_byte(&text, '\n');
    }
    return arena_copy_cstr(rig->arena, buffer_str(&text));
}

static void open_and_update(Rig *rig)
{
    ok(rig_try_open(rig));
    ok(rig_try_update(rig, false));
}

/* Stops, loads another topology, starts. */
static void reopen_as(Rig *rig, const char *source, const char *columns, const char *sql, bool wipe)
{
    rig_close(rig, wipe);
    rig_load(rig, source, columns, sql);
    open_and_update(rig);
}

static void an_added_column_is_null_in_old_rows(void **state)
{
    (void)state;
    for (int wipe = 0; wipe < 2; wipe++) {
        Rig rig;
        rig_init(&rig, 1);
        feed_one(&rig, 0, "{\"k\":\"a\",\"seq\":1,\"v\":\"x\"}");
        feed_one(&rig, 0, "{\"k\":\"b\",\"seq\":1,\"v\":\"x\"}");
        open_and_update(&rig);
        feed_one(&rig, 0, "{\"k\":\"b\",\"seq\":2,\"v\":\"y\",\"w\":7}");
        feed_one(&rig, 0, "{\"k\":\"a\",\"seq\":1,\"v\":\"z\",\"w\":8}");
        reopen_as(&rig, NULL, RIG_COLUMNS ", w INT", NULL, wipe);
        assert_string_equal(rows(&rig),
                            "{\"k\":\"a\"} {\"k\":\"a\",\"seq\":1,\"v\":\"x\",\"w\":null}\n"
                            "{\"k\":\"a\",\"_row\":1} {\"k\":\"a\",\"seq\":1,\"v\":\"z\",\"w\":8}\n"
                            "{\"k\":\"b\"} {\"k\":\"b\",\"seq\":2,\"v\":\"y\",\"w\":7}\n");
        state_equals_topic(&rig);
        rig_done(&rig);
    }
}

static void a_changed_query_applies_to_new_data(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 2);
    feed_one(&rig, 0, "{\"k\":\"a\",\"seq\":1,\"v\":\"x\"}");
    open_and_update(&rig);
    feed_one(&rig, 0, "{\"k\":\"b\",\"seq\":1,\"v\":\"x\"}");
    reopen_as(&rig, NULL, NULL,
              "  CREATE OR REFRESH STREAMING TABLE t\n"
              "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME\n"
              "  SELECT k, seq, upper(v) AS v FROM STREAM(src);\n",
              false);
    assert_string_equal(rows(&rig), "{\"k\":\"a\"} {\"k\":\"a\",\"seq\":1,\"v\":\"x\"}\n"
                                    "{\"k\":\"b\"} {\"k\":\"b\",\"seq\":1,\"v\":\"X\"}\n");
    rig_done(&rig);
}

static void changes_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *columns;
        const char *sql;
        ErrorClass class;
        const char *part;
    } cases[] = {
        {RIG_COLUMNS,
         "  CREATE OR REFRESH STREAMING TABLE t\n"
         "  FLOW REPLACE USING (k, v) SEQUENCE BY seq BY NAME SELECT * FROM STREAM(src);\n",
         ERROR_FULL_REFRESH_REQUIRED, "REPLACE USING keys"},
        {RIG_COLUMNS ", s2 BIGINT",
         "  CREATE OR REFRESH STREAMING TABLE t\n"
         "  FLOW REPLACE USING (k) SEQUENCE BY s2 BY NAME SELECT * FROM STREAM(src);\n",
         ERROR_FULL_REFRESH_REQUIRED, "SEQUENCE BY"},
        {"k STRING, seq BIGINT, v INT", NULL, ERROR_SCHEMA_MISMATCH, "`v`"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        Rig rig;
        rig_init(&rig, 3);
        feed(&rig, 30);
        open_and_update(&rig);
        rig_close(&rig, false);
        rig_load(&rig, NULL, cases[i].columns, cases[i].sql);
        fails(rig_try_open(&rig), cases[i].class, cases[i].part);
        /* Nothing was done: the old topology goes on. */
        feed(&rig, 30);
        reopen_as(&rig, NULL, NULL, NULL, false);
        (void)all_is_well(&rig);
        rig_done(&rig);
    }
}

/* Progress and table belong together. */
static void topics_of_another_life(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 4);
    feed(&rig, 30);
    open_and_update(&rig);
    rig_close(&rig, false);
    ok(log_topic_delete(rig.log, "p.progress", TIMEOUT_MS));
    fails(rig_try_open(&rig), ERROR_KAFKA_TOPIC_MISMATCH, "knows nothing of the table");
    ok(log_topic_delete(rig.log, "t", TIMEOUT_MS));
    open_and_update(&rig); /* both are gone: the table is made anew */
    (void)all_is_well(&rig);
    rig_close(&rig, true);
    ok(log_topic_delete(rig.log, "t", TIMEOUT_MS));
    fails(rig_try_open(&rig), ERROR_KAFKA_TOPIC_MISMATCH, "made anew, or cut");
    rig_done(&rig);
}

/* ------------------------------------------------------------------------------ records ---- */

static const LogRecord *first_record(Rig *rig, const char *topic)
{
    AUTO(log_consumer) LogConsumer *consumer = NULL;
    LogConsumerOptions options = {.isolation = READ_COMMITTED};
    ok(log_consumer_open(rig->log, &options, &consumer));
    ok(log_consumer_assign(consumer, &(LogPosition){topic, 0, 0}, 1));
    LogPoll poll = {0};
    ok(log_consumer_poll(consumer, TIMEOUT_MS, 10, rig->arena, &poll));
    assert_true(poll.record_count > 0);
    return &poll.records[0];
}

static void bad_records_go_to_quarantine(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 5);
    LogProducer *producer = NULL;
    ok(log_producer_open(rig.log, &(LogProducerOptions){0}, &producer));
    const LogHeader own[] = {{STR("trace"), STR("17")}, {STR("trace"), STR_NULL}};
    feed_one(&rig, 2, "{\"k\":\"a\",\"seq\":1,\"v\":\"x\"}");
    LogOutput bad = {.topic = "src",
                     .partition = 2,
                     .key = STR("key"),
                     .value = STR("{\"k\":\"b\",\"seq\":\"no number\",\"v\":\"x\"}"),
                     .headers = own,
                     .header_count = 2,
                     .timestamp_ms = 1234567};
    ok(log_producer_produce(producer, &bad, 1, NULL));
    LogOutput empty = {.topic = "src", .partition = 2, .value = STR("")};
    ok(log_producer_produce(producer, &empty, 1, NULL));
    LogOutput null = {.topic = "src", .partition = 2};
    ok(log_producer_produce(producer, &null, 1, NULL));
    ok(log_producer_flush(producer, TIMEOUT_MS));
    feed_one(&rig, 2, "{\"k\":\"c\",\"seq\":1,\"v\":\"x\"}");
    open_and_update(&rig);
    const FlowMetrics *metrics = flow_runner_metrics(pipeline_flow(rig.pipeline, 0));
    assert_int_equal(metrics->source_rows, 5);
    assert_int_equal(metrics->bad_records, 2);
    assert_int_equal(metrics->null_values, 1);
    assert_int_equal(metrics->output_rows, 2);
    const LogRecord *record = first_record(&rig, "p.quarantine");
    assert_true(str_equal(record->value, bad.value) && str_equal(record->key, bad.key));
    static const char *const expected[][2] = {
        {"trace", "17"},
        {"trace", NULL},
        {"tidemark.flow", "t"},
        {"tidemark.topic", "src"},
        {"tidemark.partition", "2"},
        {"tidemark.offset", "1"},
        {"tidemark.timestamp", "1234567"},
        {"tidemark.error.class", "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION"},
    };
    assert_int_equal(record->header_count, ARRAY_LENGTH(expected) + 1);
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) {
        assert_true(str_equal(record->headers[i].name, str_from(expected[i][0])));
        assert_true(str_equal(record->headers[i].value, str_from(expected[i][1])));
    }
    assert_int_equal(count_in_topic(&rig, "p.event_log", "BAD_RECORD"), 2);
    (void)all_is_well(&rig);
    log_producer_close(producer);
    rig_done(&rig);
}

static int64_t group_position(Rig *rig, int32_t partition)
{
    int64_t offset = -1;
    ok(log_group_offset(rig->log, "p.t", "src", partition, TIMEOUT_MS, &offset));
    return offset;
}

/* on_error: fail stops before the record, commits what came before, and does so again and again. */
static void on_error_fail_stops_before_the_record(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 6);
    rig_load(&rig, "on_error: fail, ", NULL, NULL);
    for (int i = 0; i < 10; i++) {
        feed_one(&rig, 0, arena_printf(rig.arena, "{\"k\":\"a\",\"seq\":1,\"v\":\"x%d\"}", i));
    }
    feed_one(&rig, 0, "broken");
    feed_one(&rig, 0, "{\"k\":\"z\",\"seq\":1,\"v\":\"x\"}");
    ok(rig_try_open(&rig));
    for (int i = 0; i < 3; i++) {
        fails(rig_try_update(&rig, false), ERROR_MALFORMED_RECORD, "partition 0 offset 10");
        assert_int_equal(group_position(&rig, 0), 10);
        assert_int_equal(rig_audit(&rig, false).rows, 10);
    }
    rig_close(&rig, false);
    fails(rig_try_open(&rig) == NULL ? rig_try_update(&rig, false) : NULL, ERROR_MALFORMED_RECORD,
          "on_error: quarantine");
    assert_int_equal(count_in_topic(&rig, "p.quarantine", ""), 0);
    reopen_as(&rig, NULL, NULL, NULL, false);
    assert_int_equal(all_is_well(&rig).rows, 11);
    assert_int_equal(count_in_topic(&rig, "p.quarantine", "broken"), 1);
    rig_done(&rig);
}

/* NOT NULL undoes the epoch, not the ones before it. */
static void not_null_undoes_the_epoch(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 7);
    rig_load(&rig, NULL, NULL,
             "  CREATE OR REFRESH STREAMING TABLE t (k STRING, seq BIGINT, v STRING NOT NULL)\n"
             "  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME\n"
             "  SELECT * FROM STREAM(src);\n");
    for (int i = 0; i < 45; i++) {
        feed_one(&rig, 0, arena_printf(rig.arena, "{\"k\":\"a\",\"seq\":1,\"v\":\"x%d\"}", i));
    }
    feed_one(&rig, 0, "{\"k\":\"b\",\"seq\":1,\"v\":null}");
    ok(rig_try_open(&rig));
    fails(rig_try_update(&rig, false), ERROR_NOT_NULL_CONSTRAINT_VIOLATION, "v");
    uint64_t kept = rig_audit(&rig, false).rows;
    assert_true(kept >= 20 && kept < 45); /* whole epochs of 20 rows and more */
    assert_int_equal(group_position(&rig, 0), (int64_t)kept);
    fails(rig_try_update(&rig, false), ERROR_NOT_NULL_CONSTRAINT_VIOLATION, "v");
    assert_int_equal(rig_audit(&rig, false).rows, kept);
    rig_done(&rig);
}

/* ------------------------------------------------------------------------- output records ---- */

/* cases state-output.ties-have-own-output-keys, .prefix-is-not-a-key, .keys-on-compacted-topic,
 * kafka-log.record-time-in-output */
static void keys_of_output_records(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 8);
    static const char *const input[] = {
        "{\"k\":\"a\",\"seq\":5,\"v\":\"x\"}",   "{\"k\":\"a\",\"seq\":5,\"v\":\"y\"}",
        "{\"k\":\"a\",\"seq\":5,\"v\":\"y\"}",   "{\"k\":\"k1\",\"seq\":1,\"v\":\"a\"}",
        "{\"k\":\"k10\",\"seq\":1,\"v\":\"b\"}", "{\"k\":\"k\",\"seq\":1,\"v\":\"c\"}",
        "{\"k\":null,\"seq\":1,\"v\":\"n\"}",    "{\"k\":\"\",\"seq\":1,\"v\":\"e\"}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(input); i++) {
        feed_one(&rig, 0, input[i]);
    }
    open_and_update(&rig);
    feed_one(&rig, 0, "{\"k\":\"k1\",\"seq\":2,\"v\":\"A\"}");
    ok(rig_try_update(&rig, false));
    sim_broker_compact(rig.broker, "t");
    const char *expected = "{\"k\":\"\"} {\"k\":\"\",\"seq\":1,\"v\":\"e\"}\n"
                           "{\"k\":\"a\"} {\"k\":\"a\",\"seq\":5,\"v\":\"x\"}\n"
                           "{\"k\":\"a\",\"_row\":1} {\"k\":\"a\",\"seq\":5,\"v\":\"y\"}\n"
                           "{\"k\":\"a\",\"_row\":2} {\"k\":\"a\",\"seq\":5,\"v\":\"y\"}\n"
                           "{\"k\":\"k\"} {\"k\":\"k\",\"seq\":1,\"v\":\"c\"}\n"
                           "{\"k\":\"k1\"} {\"k\":\"k1\",\"seq\":2,\"v\":\"A\"}\n"
                           "{\"k\":\"k10\"} {\"k\":\"k10\",\"seq\":1,\"v\":\"b\"}\n"
                           "{\"k\":null} {\"k\":null,\"seq\":1,\"v\":\"n\"}\n";
    assert_string_equal(rows(&rig), expected);
    rig_close(&rig, true);
    open_and_update(&rig);
    assert_string_equal(rows(&rig), expected);
    state_equals_topic(&rig);
    int64_t age_ms = clock_now_us(NULL) / 1000 - first_record(&rig, "t")->timestamp_ms;
    assert_true(age_ms >= 0 && age_ms < 60000);
    rig_done(&rig);
}

/* A full refresh reads all retained records again. */
static void a_full_refresh(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 9);
    feed(&rig, 200);
    open_and_update(&rig);
    AuditResult before = all_is_well(&rig);
    rig.went_back = true;
    ok(rig_try_update(&rig, true));
    AuditResult after = all_is_well(&rig);
    assert_int_equal(after.rows, before.rows);
    assert_int_equal(after.resets, 1);
    assert_int_equal(count_in_topic(&rig, "p.event_log", "FULL_REFRESH_DATA_LOSS"), 0);
    ok(log_records_delete(rig.log, "src", 0, 10, TIMEOUT_MS));
    ok(rig_try_update(&rig, true));
    assert_int_equal(count_in_topic(&rig, "p.event_log", "FULL_REFRESH_DATA_LOSS"), 1);
    state_equals_topic(&rig);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_added_column_is_null_in_old_rows),
        cmocka_unit_test(a_changed_query_applies_to_new_data),
        cmocka_unit_test(changes_that_are_refused),
        cmocka_unit_test(topics_of_another_life),
        cmocka_unit_test(bad_records_go_to_quarantine),
        cmocka_unit_test(on_error_fail_stops_before_the_record),
        cmocka_unit_test(not_null_undoes_the_epoch),
        cmocka_unit_test(keys_of_output_records),
        cmocka_unit_test(a_full_refresh),
    };
    return cmocka_run_group_tests_name("run/tables", tests, NULL, NULL);
}
