/* The static side of a join, made of a topic on the Kafka model: folded by key, brought up to now
 * again and again, with records in it that are no rows. */
#include "tests/unit/run/fixture.h"

#include "processor/run/static_table.h"
#include "tests/support/sql_fixture.h"

#include "processor/base/banned.h"

typedef struct Side {
    SimBroker *broker;
    Log *log;
    LogProducer *producer;
    SqlFixture sql;
    Topology *topology;
    ProgramSource source;
    LogicalSource scan;
    StaticTable *table;
    size_t bad;
} Side;

static void on_bad(void *context, const LogRecord *record, const Error *error)
{
    Side *side = context;
    assert_string_equal(record->topic, "dim");
    assert_int_equal(error_class(error), ERROR_MALFORMED_RECORD);
    side->bad++;
}

static void open_table_again(Side *side)
{
    static_table_close(side->table);
    side->table = NULL;
    StaticTableOptions options = {.log = side->log,
                                  .source = &side->source,
                                  .scan = &side->scan,
                                  .time_zone = time_zone_utc(),
                                  .timeout_ms = TIMEOUT_MS,
                                  .on_bad = on_bad,
                                  .context = side};
    ok(static_table_open(&options, &side->table));
}

static void side_init(Side *side, int partitions, const char *on_error)
{
    *side = (Side){.broker = sim_broker_new()};
    side->log = sim_broker_connect(side->broker);
    sql_fixture_init(&side->sql, "UTC");
    LogTopicSpec spec = {.name = "dim", .partitions = partitions, .replication_factor = -1};
    ok(log_topic_create(side->log, &spec, TIMEOUT_MS));
    ok(log_producer_open(side->log, &(LogProducerOptions){0}, &side->producer));
    Diagnostics diagnostics = {0};
    const char *text = arena_printf(side->sql.arena,
                                    "pipeline: p\n"
                                    "kafka: {bootstrap: model:9092}\n"
                                    "sources:\n"
                                    "  dim: {kind: table, key: [id], on_error: %s, columns: \"id "
                                    "INT, name STRING\"}\n"
                                    "sql: SELECT 1\n",
                                    on_error);
    topology_load_text(str_from(text), "p.yaml", NULL, side->sql.arena, &diagnostics,
                       &side->topology);
    assert_int_equal(diagnostics.count, 0);
    diagnostics_done(&diagnostics);
    const Schema *schema = sql_fixture_schema(&side->sql, "id INT, name STRING");
    side->source = (ProgramSource){&side->topology->sources[0], schema, "dim"};
    side->scan = (LogicalSource){.schema = schema};
    open_table_again(side);
}

static void side_done(Side *side)
{
    static_table_close(side->table);
    log_producer_close(side->producer);
    log_close(side->log);
    sim_broker_free(side->broker);
    sql_fixture_done(&side->sql);
}

/* NULL: no key, no value. */
static void put_row(Side *side, int32_t partition, const char *key, const char *value)
{
    LogOutput output = {.topic = "dim",
                        .partition = partition,
                        .key = key == NULL ? STR_NULL : str_from(key),
                        .value = value == NULL ? STR_NULL : str_from(value)};
    ok(log_producer_produce(side->producer, &output, 1, NULL));
    ok(log_producer_flush(side->producer, TIMEOUT_MS));
}

static bool refresh(Side *side)
{
    bool changed = false;
    ok(static_table_refresh(side->table, &changed));
    return changed;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All rows, in the order of their texts. */
static const char *rows(Side *side)
{
    enum { LINES_MAX = 16 };
    const char *lines[LINES_MAX];
    size_t count = 0;
    AUTO_BUFFER Buffer out = {0};
    BatchSource *source = static_table_rows(side->table);
    for (;;) {
        Batch *batch = NULL;
        ok(source->next(source, side->sql.arena, &batch));
        if (batch == NULL) {
            break;
        }
        for (Str rest = str_from(sql_fixture_rows(&side->sql, batch)); rest.size > 0;) {
            assert_in_range(count, 0, LINES_MAX - 1);
            lines[count++] = arena_copy_cstr(side->sql.arena, str_cut(&rest, '\n'));
        }
    }
    source->close(source);
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(&out, "%s ", lines[i]);
    }
    return arena_copy_cstr(side->sql.arena, buffer_str(&out));
}

static void the_last_value_of_a_key_counts(void **state)
{
    (void)state;
    Side side;
    side_init(&side, 2, "quarantine");
    assert_false(refresh(&side));
    assert_string_equal(rows(&side), "");
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"a\"}");
    put_row(&side, 1, "2", "{\"id\":2,\"name\":\"b\"}");
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"c\"}");
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "1|c 2|b ");
    assert_false(refresh(&side));
    put_row(&side, 1, "2", NULL);
    put_row(&side, 1, "3", NULL);
    put_row(&side, 0, "4", "{\"id\":4}");
    assert_string_equal(rows(&side), "1|c 2|b ");
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "1|c 4|NULL ");
    put_row(&side, 0, "1", NULL);
    put_row(&side, 0, "4", NULL);
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "");
    assert_int_equal(static_table_bytes(side.table), 0);
    assert_int_equal(side.bad, 0);
    side_done(&side);
}

/* The row that its key had stays. */
static void what_is_no_row_is_told_and_passed_over(void **state)
{
    (void)state;
    Side side;
    side_init(&side, 1, "quarantine");
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"a\"}");
    put_row(&side, 0, "1", "nonsense");
    put_row(&side, 0, NULL, "{\"id\":2,\"name\":\"b\"}");
    put_row(&side, 0, "3", "{\"id\":\"x\"}");
    put_row(&side, 0, "4", "{\"id\":4,\"name\":\"d\"}");
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "1|a 4|d ");
    assert_int_equal(side.bad, 3);
    assert_false(refresh(&side));
    assert_int_equal(side.bad, 3);
    side_done(&side);
}

static void on_error_fail_stops_until_it_is_mended(void **state)
{
    (void)state;
    Side side;
    bool changed = false;
    side_init(&side, 1, "fail");
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"a\"}");
    assert_true(refresh(&side));
    put_row(&side, 0, "1", "nonsense");
    fails(static_table_refresh(side.table, &changed), ERROR_MALFORMED_RECORD,
          "Topic `dim` partition 0 offset 1");
    fails(static_table_refresh(side.table, &changed), ERROR_MALFORMED_RECORD, "offset 1");
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"b\"}");
    sim_broker_compact(side.broker, "dim");
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "1|b ");
    side_done(&side);
}

static void a_topic_may_grow_and_be_compacted(void **state)
{
    (void)state;
    Side side;
    side_init(&side, 1, "quarantine");
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"a\"}");
    assert_true(refresh(&side));
    ok(log_topic_add_partitions(side.log, "dim", 3, TIMEOUT_MS));
    put_row(&side, 2, "2", "{\"id\":2,\"name\":\"b\"}");
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"c\"}");
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "1|c 2|b ");
    sim_broker_compact(side.broker, "dim");
    assert_false(refresh(&side));
    open_table_again(&side);
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "1|c 2|b ");
    side_done(&side);
}

/* Nothing of a transaction is seen before its end, and nothing of one that was given up. */
static void only_what_is_committed_counts(void **state)
{
    (void)state;
    Side side;
    side_init(&side, 1, "quarantine");
    LogProducer *plain = side.producer;
    LogProducer *other = NULL;
    ok(log_producer_open(side.log, &(LogProducerOptions){.transactional_id = "x"}, &other));
    ok(log_producer_init_transactions(other, TIMEOUT_MS));
    ok(log_producer_begin(other));
    side.producer = other;
    put_row(&side, 0, "1", "{\"id\":1,\"name\":\"a\"}");
    ok(log_producer_abort(other, TIMEOUT_MS));
    (void)refresh(&side);
    assert_string_equal(rows(&side), "");
    ok(log_producer_begin(other));
    put_row(&side, 0, "2", "{\"id\":2,\"name\":\"b\"}");
    ok(log_producer_commit(other, TIMEOUT_MS));
    assert_true(refresh(&side));
    assert_string_equal(rows(&side), "2|b ");
    log_producer_close(other);
    side.producer = plain;
    side_done(&side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_value_of_a_key_counts),
        cmocka_unit_test(what_is_no_row_is_told_and_passed_over),
        cmocka_unit_test(on_error_fail_stops_until_it_is_mended),
        cmocka_unit_test(a_topic_may_grow_and_be_compacted),
        cmocka_unit_test(only_what_is_committed_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
