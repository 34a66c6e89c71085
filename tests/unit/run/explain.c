/* What `tidemark explain` says of flows over streams: whoever runs one sees what it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "processor/run/explain.h"

#include "processor/base/banned.h"

static void check(const char *query, const char *expected)
{
    AUTO(arena) Arena *arena = arena_new("test");
    AUTO_BUFFER Buffer text = {0};
    const char *yaml = arena_printf(
        arena,
        "pipeline: p\nkafka: {bootstrap: h}\n"
        "sources:\n"
        "  a: {topic: in.a, columns: 'id INT, v STRING, ts TIMESTAMP, ver INT'}\n"
        "  b: {columns: 'id INT, w STRING, ts TIMESTAMP'}\n"
        "  d: {kind: table, key: [id], columns: 'id INT, name STRING'}\n"
        "sql: |\n  CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (id > 0)) FLOW REPLACE USING (id) "
        "SEQUENCE BY ver BY NAME %s\n",
        query);
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    Program *program = NULL;
    topology_load_text(str_from(yaml), "t.yaml", NULL, arena, &diagnostics, &topology);
    assert_int_equal(diagnostics.count, 0);
    program_load(topology, arena, &diagnostics, &program);
    assert_int_equal(diagnostics.count, 0);
    diagnostics_done(&diagnostics);
    explain_flow(program, &program->tables[0], arena, &text);
    assert_string_equal(buffer_cstr(&text), expected);
}

#define HEAD(columns)                                                                              \
    "flow t (REPLACE USING) into table t\n"                                                        \
    "  keys: id; sequence: ver\n"                                                                  \
    "  columns: " columns "\n"
#define TOPIC "  topic t; progress in p.progress; transactional id p.t\n"
#define STATE "  state: the table's rows per key, bounded by the number of live rows\n"
#define REST                                                                                       \
    "  expectation c: id > 0 (counted only)\n"                                                     \
    "  plan, ~ marks what works batch after batch on a stream:\n"

static void what_grows_is_told(void **state)
{
    (void)state;
    check(
        "SELECT DISTINCT id, ver FROM STREAM(a)",
        HEAD("id INT, ver INT") "  stream a: topic in.a, reads id INT, ver INT\n" TOPIC STATE
                                "  state distinct_1: topic p.t.distinct_1, nothing bounds it\n" REST
                                "    ~Distinct [id, ver] STATE distinct_1\n"
                                "      ~Scan STREAM a [id, ver]\n");
}

static void what_bounds_a_state_is_told(void **state)
{
    (void)state;
    check("SELECT DISTINCT id, ts, ver FROM STREAM(a) WATERMARK ts DELAY OF INTERVAL 90 SECONDS",
          HEAD("id INT, ts TIMESTAMP, ver INT") "  stream a: topic in.a, reads id INT, ts "
                                                "TIMESTAMP, ver INT\n" TOPIC STATE
                                                "  state watermark_1: topic p.t.watermark_1, "
                                                "bounded: one row a partition\n"
                                                "  state distinct_1: topic p.t.distinct_1, "
                                                "bounded: rows go when the watermark has passed "
                                                "their `ts`\n"
                                                "  state distinct_1_calendar: topic "
                                                "p.t.distinct_1_calendar, bounded: what is to be "
                                                "forgotten\n" REST
                                                "    ~Distinct [id, ts, ver] STATE distinct_1 "
                                                "FORGETS BY ts\n"
                                                "      ~Watermark ts DELAY 1 minute 30 seconds "
                                                "STATE watermark_1, late rows go\n"
                                                "        ~Scan STREAM a [id, ts, ver]\n");
}

static void static_relations_are_told(void **state)
{
    (void)state;
    check("SELECT a.id, a.ver, d.name FROM STREAM(a) a LEFT JOIN d ON a.id = d.id",
          HEAD("id INT, ver INT, name STRING") "  stream a: topic in.a, reads id INT, ver INT\n"
                                               "  static relation d: topic d as it is when an "
                                               "update starts, reads id INT, name "
                                               "STRING\n" TOPIC STATE REST
                                               "    ~Project [id, ver, name]\n"
                                               "      ~Join LEFT ON id = id\n"
                                               "        ~Scan STREAM a [id, ver]\n"
                                               "        Scan d [id, name]\n");
}

static void joins_of_streams_are_told(void **state)
{
    (void)state;
    check(
        "SELECT a.id, a.ver, b.w FROM STREAM(a) a JOIN STREAM(b) b ON a.id = b.id",
        HEAD(
            "id INT, ver INT, w STRING") "  stream a: topic in.a, reads id INT, ver INT\n"
                                         "  stream b: topic b, reads id INT, w STRING\n" TOPIC STATE
                                         "  state join_1_left: topic p.t.join_1_left, nothing "
                                         "bounds it\n"
                                         "  state join_1_right: topic p.t.join_1_right, nothing "
                                         "bounds it\n" REST "    ~Project [id, ver, w]\n"
                                         "      ~Join INNER ON id = id STATE join_1_left STATE "
                                         "join_1_right\n"
                                         "        ~Scan STREAM a [id, ver]\n"
                                         "        ~Scan STREAM b [id, w]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_grows_is_told),
        cmocka_unit_test(what_bounds_a_state_is_told),
        cmocka_unit_test(static_relations_are_told),
        cmocka_unit_test(joins_of_streams_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
