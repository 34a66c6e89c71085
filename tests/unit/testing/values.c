/* Values of scenario files by the type of their column, records as given, rows compared. */
#include <math.h>

#include "connectors/format/format.h"
#include "processor/bind/bind.h"
#include "processor/run/topic_reader.h"
#include "processor/sql/parser.h"
#include "processor/testing/row_diff.h"
#include "processor/testing/yaml_value.h"
#include "tests/unit/testing/fixture.h"

static const Schema *schema_of(const char *columns, Arena *arena)
{
    AstColumnDefinition *definitions = NULL;
    size_t count = 0;
    const Schema *schema = NULL;
    ok(sql_parse_column_definitions(str_from(columns), arena, &definitions, &count));
    ok(bind_schema(arena, definitions, count, &schema));
    return schema;
}

/* The row as it would be written to a topic. */
static const char *written(const char *columns, const char *row, Arena *arena)
{
    Batch *batch = batch_new(arena, schema_of(columns, arena), 1);
    ok(yaml_row_append(yaml(row, arena), time_zone_utc(), arena, batch));
    AUTO_BUFFER Buffer text = {0};
    json_encode_row(batch, 0, &text);
    return arena_copy_cstr(arena, buffer_str(&text));
}

static void refuse(const char *columns, const char *row)
{
    AUTO(arena) Arena *arena = arena_new("test");
    Batch *batch = batch_new(arena, schema_of(columns, arena), 1);
    (void)refused(yaml_row_append(yaml(row, arena), time_zone_utc(), arena, batch),
                  ERROR_SCENARIO_INVALID, arena);
}

static void test_scalars(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    assert_string_equal(
        written("a INT, b BIGINT, c BOOLEAN", "[1, '9007199254740993', true]", arena),
        "{\"a\":1,\"b\":9007199254740993,\"c\":true}");
    assert_string_equal(
        written("a DECIMAL(10,2), b DOUBLE, c FLOAT", "['10.00', 'NaN', -0.5]", arena),
        "{\"a\":10.00,\"b\":\"NaN\",\"c\":-0.5}");
    assert_string_equal(written("a STRING, b STRING, c STRING", "[null, 'null', '']", arena),
                        "{\"a\":null,\"b\":\"null\",\"c\":\"\"}");
    assert_string_equal(written("a DATE, b TIMESTAMP, c TIMESTAMP_NTZ",
                                "[2026-03-01, 2026-03-01T01:00:00+01:00, '2026-03-01 00:00:00.5']",
                                arena),
                        "{\"a\":\"2026-03-01\",\"b\":\"2026-03-01T00:00:00.000000Z\","
                        "\"c\":\"2026-03-01T00:00:00.500000\"}");
    assert_string_equal(written("a BINARY", "[AAE=]", arena), "{\"a\":\"AAE=\"}");
}

static void test_rows(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    assert_string_equal(written("a INT, b INT, c INT", "[1]", arena),
                        "{\"a\":1,\"b\":null,\"c\":null}");
    assert_string_equal(written("a INT, b INT", "{B: 2}", arena), "{\"a\":null,\"b\":2}");
    refuse("a INT", "[1, 2]");
    refuse("a INT", "{z: 1}");
    refuse("a INT", "1");
}

static void test_nested(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    assert_string_equal(
        written("a ARRAY<INT>, b STRUCT<x: INT, y: STRING>", "[[1, null], {y: q}]", arena),
        "{\"a\":[1,null],\"b\":{\"x\":null,\"y\":\"q\"}}");
    assert_string_equal(
        written("a MAP<STRING, INT>, b MAP<INT, STRING>", "[{k: 1}, [[1, x]]]", arena),
        "{\"a\":{\"k\":1},\"b\":[[1,\"x\"]]}");
    assert_string_equal(written("a ARRAY<STRING>", "['[\"x\", null]']", arena),
                        "{\"a\":[\"x\",null]}");
    refuse("a ARRAY<INT>", "[x]");
    refuse("a STRUCT<x: INT>", "[{z: 1}]");
    refuse("a MAP<STRING, INT>", "[[[k]]]");
}

/* An expectation must not be met by rounding, nor a value taken for another. */
static void test_refused(void **state)
{
    (void)state;
    refuse("a DECIMAL(10,2)", "['1.005']");
    refuse("a DECIMAL(3,2)", "['10.00']");
    refuse("a TINYINT", "[128]");
    refuse("a INT", "[1.5]");
    refuse("a INT", "['']");
    refuse("a DATE", "[2026-02-30]");
    refuse("a BINARY", "['x']");
    refuse("a BOOLEAN", "[maybe]");
    refuse("a STRING", "[[x]]");
}

static bool same(const char *columns, const char *left, const char *right, RowOrder order,
                 Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("test");
    const Schema *schema = schema_of(columns, arena);
    Batch *a = NULL;
    Batch *b = NULL;
    ok(yaml_rows(yaml(left, arena), schema, time_zone_utc(), arena, &a));
    ok(yaml_rows(yaml(right, arena), schema, time_zone_utc(), arena, &b));
    return row_diff(a, b, order, out);
}

static void test_multisets(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer out = {0};
    assert_true(same("a INT", "[[1], [2], [2]]", "[[2], [1], [2]]", ROWS_ANY_ORDER, &out));
    assert_int_equal(out.size, 0);
    assert_false(same("a INT", "[[1], [2], [2]]", "[[2], [1], [1]]", ROWS_ANY_ORDER, &out));
    assert_false(same("a INT", "[[1], [2]]", "[[2], [1]]", ROWS_IN_ORDER, &out));
    assert_true(same("a DOUBLE", "[[NaN], [1.50]]", "[[1.5], [NaN]]", ROWS_ANY_ORDER, &out));
    assert_false(same("a DOUBLE", "[[0.0]]", "[[-0.0]]", ROWS_ANY_ORDER, &out));
    assert_false(same("a STRING", "[[null]]", "[['null']]", ROWS_ANY_ORDER, &out));
    assert_true(same("a INT", "[]", "[]", ROWS_ANY_ORDER, &out));
}

/* ---- records as a feed gives them */

static const LogRecord *records_of(Stage *stage, size_t *ret_count)
{
    int64_t starts[2] = {0, 0};
    int64_t ends[2] = {0, 0};
    for (int p = 0; p < 2; p++) {
        ok(log_watermarks(stage->world->log, "src", p, READ_UNCOMMITTED, 1000, &starts[p],
                          &ends[p]));
    }
    TopicReader *reader = NULL;
    ok(topic_reader_open(stage->world->log, "src", 2, starts, ends, &reader));
    LogRecord *all = arena_new_array(stage->arena, LogRecord, 32);
    *ret_count = 0;
    for (;;) {
        const LogRecord *records = NULL;
        size_t count = 0;
        ok(topic_reader_next(reader, 1000, stage->arena, &records, &count));
        if (count == 0) {
            break;
        }
        for (size_t i = 0; i < count; i++) {
            all[(*ret_count)++] = records[i];
        }
    }
    topic_reader_close(reader);
    return all;
}

static const LogRecord *find(const LogRecord *records, size_t count, int partition, int64_t offset)
{
    for (size_t i = 0; i < count; i++) {
        if (records[i].partition == partition && records[i].offset == offset) {
            return &records[i];
        }
    }
    fail();
    return NULL;
}

static void test_feed(void **state)
{
    (void)state;
    Stage stage = {.options = {.fault_nth = 1}};
    stage_open(&stage,
               "id: feed\n"
               "relations: {src: {columns: [k STRING, n INT], partitions: 2}}\n"
               "steps:\n"
               "- clock: '2026-03-01'\n"
               "- feed:\n"
               "    src:\n"
               "    - [a, 1]\n"
               "    - {n: 2}\n"
               "    - {raw: '{}', key: k1, headers: [[h, v], [h, null], [e, '']], timestamp: "
               "'2026-01-01T00:00:00Z', partition: 1}\n"
               "    - {hex: '00 fF', key: null, headers: {x: {hex: '01'}}}\n"
               "    - {raw: null}\n"
               "    - {row: [z, 9], partition: 0, repeat: 2}\n");
    stage_run(&stage);
    size_t count = 0;
    const LogRecord *all = records_of(&stage, &count);
    assert_int_equal(count, 7);
    const LogRecord *r = find(all, count, 0, 0);
    assert_true(str_equal(r->value, STR("{\"k\":\"a\",\"n\":1}")));
    assert_null(r->key.data);
    assert_int_equal(r->timestamp_ms, INT64_C(1772323200000)); /* 2026-03-01 */
    r = find(all, count, 1, 0);
    assert_true(str_equal(r->value, STR("{\"k\":null,\"n\":2}")));
    r = find(all, count, 1, 1); /* its partition was given: no turn taken */
    assert_true(str_equal(r->key, STR("k1")));
    assert_int_equal(r->timestamp_ms, INT64_C(1767225600000)); /* 2026-01-01 */
    assert_int_equal(r->header_count, 3);
    assert_true(str_equal(r->headers[0].value, STR("v")));
    assert_null(r->headers[1].value.data);
    assert_true(r->headers[2].value.data != NULL && r->headers[2].value.size == 0);
    r = find(all, count, 0, 1);
    assert_true(str_equal(r->value, (Str){"\0\xff", 2}));
    assert_true(str_equal(r->headers[0].value, STR("\x01")));
    r = find(all, count, 1, 2);
    assert_null(r->value.data);
    assert_true(str_equal(find(all, count, 0, 3)->value, STR("{\"k\":\"z\",\"n\":9}")));
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_nested),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_multisets), cmocka_unit_test(test_feed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
