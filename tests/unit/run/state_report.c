/* `tidemark state` against the topic folded apart: every key of random histories, with a state that
 * is up to date, one that lags, none, and without Kafka; keys of several columns and types. */
#include "processor/run/state_report.h"
#include "tests/unit/run/fixture.h"

#include "processor/base/banned.h"

/* The rows of a message key in the folded topic, as JSON by ordinal, one a line. */
static size_t folded_rows(const FoldedTable *folded, const char *key, Buffer *out)
{
    buffer_clear(out);
    size_t count = 0;
    for (bool found = true; found; count += found) {
        AUTO_BUFFER Buffer name = {0};
        buffer_append(&name, key, strlen(key) - 1);
        if (count > 0) {
            buffer_printf(&name, ",\"_row\":%zu", count);
        }
        buffer_append_byte(&name, '}');
        found = false;
        for (size_t i = 0; i < folded->count && !found; i++) {
            if (str_equal(folded->keys[i], buffer_str(&name))) {
                json_encode_row(folded->rows, (uint32_t)i, out);
                buffer_append_byte(out, '\n');
                found = true;
            }
        }
    }
    return count;
}

static void fold(Rig *rig, Arena *arena, FoldedTable *ret_folded)
{
    ok(table_fold(rig->log, "t", rig->program->tables[0].bound->schema, NULL, TIMEOUT_MS, arena,
                  ret_folded));
}

static State *view_of(Rig *rig)
{
    State *view = NULL;
    ok(state_view_open(rig->dir, "p", &view));
    return view;
}

/* The answer for one key is what the fold has. */
static void check_key(Rig *rig, const FoldedTable *folded, State *state, Log *log,
                      const char *asked, const char *key)
{
    AUTO(arena) Arena *arena = arena_new("key");
    AUTO_BUFFER Buffer expected = {0};
    AUTO_BUFFER Buffer got = {0};
    KeyReport report = {0};
    ok(state_report_key(rig->program, &rig->program->tables[0], str_from(asked), state, log, arena,
                        &report));
    assert_true(str_equal(report.key, str_from(key)));
    assert_null(report.log_error);
    assert_int_equal(report.is_current, log != NULL);
    size_t count = folded_rows(folded, key, &expected);
    assert_int_equal(report.row_count, count);
    for (size_t i = 0; report.rows != NULL && i < report.row_count; i++) {
        buffer_append_str(&got, report.rows[i]);
        buffer_append_byte(&got, '\n');
    }
    if (log != NULL) {
        assert_string_equal(buffer_cstr(&got), buffer_cstr(&expected));
    }
    if (count > 0) {
        /* Every row of the fixture ends with "seq":N,"v":… */
        AUTO_BUFFER Buffer sequence = {0};
        buffer_printf(&sequence, "\"seq\":%.*s,", STR_ARG(report.sequence));
        assert_non_null(strstr(buffer_cstr(&expected), buffer_cstr(&sequence)));
    }
    key_report_done(&report);
}

static void check_all_keys(Rig *rig, const FoldedTable *folded, State *state, Log *log)
{
    AUTO(arena) Arena *arena = arena_new("names");
    for (int i = 0; i <= KEYS; i++) { /* the last one is unknown */
        const char *name = arena_printf(arena, "k%d", i);
        check_key(rig, folded, state, log, name, arena_printf(arena, "{\"k\":\"%s\"}", name));
    }
    check_key(rig, folded, state, log, " { \"K\" : \"k3\" } ", "{\"k\":\"k3\"}");
}

static void every_key_is_as_the_topic_tells(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Rig rig;
        rig_init(&rig, seed);
        AUTO(arena) Arena *arena = arena_new("fold");
        feed(&rig, 300);
        assert_int_equal(rig_run_through(&rig, false, false), 0);
        ok(flow_runner_checkpoint(pipeline_flow(rig.pipeline, 0)));
        FoldedTable first = {0};
        fold(&rig, arena, &first);
        State *old = view_of(&rig);
        assert_non_null(old);
        check_all_keys(&rig, &first, old, rig.log);
        check_all_keys(&rig, &first, old, NULL);

        feed(&rig, 300);
        assert_int_equal(rig_run_through(&rig, false, false), 0);
        FoldedTable second = {0};
        fold(&rig, arena, &second);
        check_all_keys(&rig, &second, old, rig.log); /* lags: the topic tells the rest */
        check_all_keys(&rig, &second, NULL, rig.log);
        check_all_keys(&rig, &first, old, NULL);
        state_close(old);

        ok(flow_runner_checkpoint(pipeline_flow(rig.pipeline, 0)));
        rig_close(&rig, false);
        State *fresh = view_of(&rig);
        check_all_keys(&rig, &second, fresh, rig.log);
        check_all_keys(&rig, &second, fresh, NULL);
        state_close(fresh);
        rig_done(&rig);
    }
}

static void offsets_and_lag(void **unused)
{
    (void)unused;
    Rig rig;
    rig_init(&rig, 9);
    AUTO(arena) Arena *arena = arena_new("report");
    StateReport report = {0};

    /* Nothing ran yet: the source is there, nothing else. */
    ok(state_report_collect(rig.program, NULL, rig.log, arena, &report));
    assert_null(report.log_error);
    assert_int_equal(report.table_count, 1);
    assert_false(report.tables[0].has_store);
    assert_int_equal(report.tables[0].epoch, 0);
    assert_int_equal(report.tables[0].shard_count, 0);
    assert_int_equal(report.tables[0].source_count, 4);
    assert_int_equal(report.tables[0].sources[0].offset, -1);

    for (int i = 0; i < 10; i++) {
        feed_one(&rig, i % 2, "{\"k\":\"a\",\"seq\":1,\"v\":\"x\"}");
    }
    assert_int_equal(rig_run_through(&rig, false, false), 0);
    ok(flow_runner_checkpoint(pipeline_flow(rig.pipeline, 0)));
    feed_one(&rig, 1, "{\"k\":\"a\",\"seq\":1,\"v\":\"x\"}");
    State *view = view_of(&rig);
    ok(state_report_collect(rig.program, view, rig.log, arena, &report));
    const TableReport *table = &report.tables[0];
    assert_true(table->has_store);
    assert_int_equal(table->shard_count, 3);
    assert_true(table->epoch >= 1);
    assert_int_equal(table->sources[0].offset, 5);
    assert_int_equal(table->sources[0].end, 5);
    assert_int_equal(table->sources[1].offset, 5);
    assert_int_equal(table->sources[1].end, 6); /* not read yet */
    for (size_t i = 0; i < table->shard_count; i++) {
        int64_t start = 0;
        int64_t end = 0;
        ok(log_watermarks(rig.log, "t", (int32_t)i, READ_UNCOMMITTED, TIMEOUT_MS, &start, &end));
        assert_int_equal(table->shards[i].end, end);
        assert_true(table->shards[i].position <= end);
    }

    /* Kafka is away, or goes away meanwhile: what is known without it stays, the rest is unknown.
     */
    StateReport away = {0};
    ok(state_report_collect(rig.program, view, NULL, arena, &away));
    assert_int_equal(away.tables[0].shards[0].position, table->shards[0].position);
    assert_int_equal(away.tables[0].shards[0].end, -1);
    assert_int_equal(away.tables[0].epoch, -1);
    sim_broker_set_available(rig.broker, false);
    ok(state_report_collect(rig.program, view, rig.log, arena, &away));
    assert_non_null(away.log_error);
    assert_int_equal(away.tables[0].epoch, -1);
    state_report_done(&away);
    KeyReport key = {0};
    ok(state_report_key(rig.program, &rig.program->tables[0], STR("a"), view, rig.log, arena,
                        &key));
    assert_non_null(key.log_error);
    assert_false(key.is_current);
    assert_int_equal(key.row_count, 10);
    assert_true(str_equal(key.sequence, STR("1")));
    key_report_done(&key);
    sim_broker_set_available(rig.broker, true);
    state_close(view);
    rig_done(&rig);
}

/* ------------------------------------------------------------------------------ asked keys ---- */

#define WIDE_SQL                                                                                   \
    "  CREATE OR REFRESH STREAMING TABLE t\n"                                                      \
    "  FLOW REPLACE USING (d, n, s) SEQUENCE BY seq BY NAME\n"                                     \
    "  SELECT * FROM STREAM(src);\n"

static void refuse(Rig *rig, const char *asked, const char *part)
{
    AUTO(arena) Arena *arena = arena_new("key");
    KeyReport report = {0};
    Error *error = state_report_key(rig->program, &rig->program->tables[0], str_from(asked), NULL,
                                    rig->log, arena, &report);
    if (error == NULL) {
        print_error("taken: %s\n", asked);
    }
    fails(error, ERROR_USAGE, part);
}

static void keys_of_many_columns(void **unused)
{
    (void)unused;
    Rig rig;
    rig_init(&rig, 11);
    rig_load(&rig, NULL, "d DATE, n DECIMAL(5,2), s STRING, seq BIGINT, v STRING", WIDE_SQL);
    feed_one(&rig, 0,
             "{\"d\":\"2026-03-01\",\"n\":1.5,\"s\":\"q\\\"\\u00e9\",\"seq\":7,\"v\":\"x\"}");
    feed_one(&rig, 0, "{\"d\":null,\"n\":null,\"s\":null,\"seq\":8,\"v\":\"y\"}");
    assert_int_equal(rig_run_through(&rig, false, false), 0);
    AUTO(arena) Arena *arena = arena_new("fold");
    FoldedTable folded = {0};
    fold(&rig, arena, &folded);
    assert_int_equal(folded.count, 2);
    State *view = view_of(&rig);
    /* Any order of columns, any form of a number, spaces: it is the same key. */
    const char *key = "{\"d\":\"2026-03-01\",\"n\":1.50,\"s\":\"q\\\"é\"}";
    check_key(&rig, &folded, view, rig.log, key, key);
    check_key(&rig, &folded, NULL, rig.log,
              "{\"s\": \"q\\\"\\u00e9\", \"N\": 1.5, \"d\": \"2026-03-01\"}", key);
    const char *nulls = "{\"d\":null,\"n\":null,\"s\":null}";
    check_key(&rig, &folded, view, rig.log, nulls, nulls);
    state_close(view);
    refuse(&rig, "17", "`17` is no key of table `t`");
    refuse(&rig, "{\"d\":\"2026-03-01\",\"n\":1.5}", "no key of table");
    refuse(&rig, "{\"d\":null,\"n\":null,\"x\":null}", "no key of table");
    refuse(&rig, "{\"d\":null,\"n\":null,\"s\":null,\"x\":1}", "no key of table");
    refuse(&rig, "{\"d\":\"2026-13-01\",\"n\":1.5,\"s\":\"\"}", "2026-13-01");
    refuse(&rig, "{\"d\":null", "d DATE, n DECIMAL(5,2), s STRING");
    refuse(&rig, "", "no key of table");
    rig_done(&rig);
}

static void a_value_alone(void **unused)
{
    (void)unused;
    static const struct {
        const char *type;
        const char *record;
        const char *asked;
        const char *key;
    } cases[] = {
        {"BIGINT", "9007199254740993", "9007199254740993", "{\"k\":9007199254740993}"},
        {"BIGINT", "-5", " -5", "{\"k\":-5}"},
        {"BOOLEAN", "true", "true", "{\"k\":true}"},
        {"DATE", "\"2026-03-01\"", "2026-03-01", "{\"k\":\"2026-03-01\"}"},
        {"STRING", "\"17\"", "17", "{\"k\":\"17\"}"},
        {"STRING", "\"null\"", "null", "{\"k\":\"null\"}"},
        {"STRING", "\"\"", "", "{\"k\":\"\"}"},
        {"STRING", "\" a\\\"b\"", " a\"b", "{\"k\":\" a\\\"b\"}"},
        {"BIGINT", "null", "null", "{\"k\":null}"},
        {"DOUBLE", "-0.0", "-0.0", "{\"k\":0.0}"},
        {"DOUBLE", "0.0", "-0.0", "{\"k\":0.0}"},
        {"DOUBLE", "-0.0", "0", "{\"k\":0.0}"},
        {"FLOAT", "-0.0", "-0.0", "{\"k\":0.0}"},
        {"STRUCT<a: DOUBLE>", "{\"a\":-0.0}", "{\"k\":{\"a\":-0.0}}", "{\"k\":{\"a\":0.0}}"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        Rig rig;
        rig_init(&rig, 20 + i);
        rig_load(&rig, NULL, arena_printf(rig.arena, "k %s, seq BIGINT, v STRING", cases[i].type),
                 NULL);
        feed_one(&rig, 0,
                 arena_printf(rig.arena, "{\"k\":%s,\"seq\":3,\"v\":\"x\"}", cases[i].record));
        assert_int_equal(rig_run_through(&rig, false, false), 0);
        AUTO(arena) Arena *arena = arena_new("fold");
        FoldedTable folded = {0};
        fold(&rig, arena, &folded);
        assert_int_equal(folded.count, 1);
        check_key(&rig, &folded, NULL, rig.log, cases[i].asked, cases[i].key);
        if (strcmp(cases[i].type, "BIGINT") == 0) {
            refuse(&rig, "one", "no key of table");
            refuse(&rig, "1.5", "no key of table");
        }
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_as_the_topic_tells),
        cmocka_unit_test(offsets_and_lag),
        cmocka_unit_test(keys_of_many_columns),
        cmocka_unit_test(a_value_alone),
    };
    return cmocka_run_group_tests_name("run/state_report", tests, NULL, NULL);
}
