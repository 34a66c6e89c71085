/* What `validate` says of a topology as a whole: every mistake at its place, and no mistake that
 * only follows from another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "processor/run/program.h"

#include "processor/base/banned.h"

#define FLOW "FLOW REPLACE USING (k) SEQUENCE BY q BY NAME SELECT * FROM STREAM(s)"

/* One line a mistake: "line:column text". */
static const char *judge(Arena *arena, const char *more)
{
    const char *yaml = arena_printf(arena, "pipeline: p\nkafka: {bootstrap: h}\n%s", more);
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_text(str_from(yaml), "t.yaml", NULL, arena, &diagnostics, &topology);
    Diagnostics of_program = {0};
    Program *program = NULL;
    if (topology != NULL) {
        program_load(topology, arena, &of_program, &program);
    }
    AUTO_BUFFER Buffer text = {0};
    for (int k = 0; k < 2; k++) {
        const Diagnostics *found = k == 0 ? &diagnostics : &of_program;
        for (size_t i = 0; i < found->count; i++) {
            SourcePlace place = error_place(found->errors[i]);
            buffer_printf(&text, "%d:%d %s\n", place.line, place.column,
                          error_message(found->errors[i]));
        }
    }
    diagnostics_done(&diagnostics);
    diagnostics_done(&of_program);
    return arena_copy_cstr(arena, buffer_str(&text));
}

static void check(const char *more, const char *expected)
{
    AUTO(arena) Arena *arena = arena_new("test");
    assert_string_equal(judge(arena, more), expected);
}

#define SOURCE "sources: {s: {columns: 'k INT, q INT'}}\n"

/* The topic of a table without `topic:` is its name, which has to be one. */
static void names_of_topics(void **state)
{
    (void)state;
    check(SOURCE "sql: CREATE STREAMING TABLE t " FLOW "\n", "");
    check(SOURCE "sql: CREATE STREAMING TABLE `a b` " FLOW "\n",
          "4:29 `a b` cannot be the name of a topic.\n");
    check(SOURCE "tables: {é: {topic: e}}\nsql: CREATE STREAMING TABLE `é` " FLOW "\n", "");
}

/* A broker takes a_b and a.b for one name. */
static void shared_topics(void **state)
{
    (void)state;
    check(SOURCE "sql:\n  - CREATE STREAMING TABLE a_b " FLOW
                 "\n  - CREATE STREAMING TABLE `a.b` " FLOW "\n",
          "6:28 Table `a.b` and another table share topic `a.b`.\n");
    check("sources: {s: {topic: t.u, columns: 'k INT, q INT'}}\n"
          "sql: CREATE STREAMING TABLE t_u " FLOW "\n",
          "4:29 Table `t_u` and a source share topic `t_u`.\n");
    check(SOURCE "tables: {t: {topic: s}}\nsql: CREATE STREAMING TABLE t " FLOW "\n",
          "4:21 The topic `s` of the table `t` is that of the source `s`.\n");
}

#define DISTINCT "FLOW REPLACE USING (k) SEQUENCE BY q BY NAME SELECT DISTINCT * FROM STREAM(s)"

/* What operators remember has topics of its own: their names are the pipeline's to give. */
static void topics_of_states(void **state)
{
    (void)state;
    check(SOURCE "sql: CREATE STREAMING TABLE t " DISTINCT "\n", "");
    check(SOURCE "tables: {é: {topic: e}}\nsql: CREATE STREAMING TABLE `é` " DISTINCT "\n",
          "5:33 `p.é.distinct_1` cannot be the name of a topic: flow `é` would keep what "
          "`distinct_1` remembers there.\n");
    check(
        "sources: {s: {topic: p_t.distinct_1, columns: 'k INT, q INT'}}\n"
        "sql: CREATE STREAMING TABLE t " DISTINCT "\n",
        "4:31 Flow `t` would keep what `distinct_1` remembers in topic `p.t.distinct_1`, which is "
        "that of a source.\n");
    check(
        SOURCE "tables: {u: {topic: p_t_distinct_1}}\n"
               "sql:\n  - CREATE STREAMING TABLE t " DISTINCT "\n  - CREATE STREAMING TABLE u " FLOW
               "\n",
        "6:30 Flow `t` would keep what `distinct_1` remembers in topic `p.t.distinct_1`, which is "
        "that of a table.\n");
    check(SOURCE "sql:\n  - CREATE STREAMING TABLE a_b " DISTINCT
                 "\n  - CREATE STREAMING TABLE a__b " DISTINCT "\n",
          "");
    check(
        SOURCE "tables: {a.b: {topic: one}, a_b: {topic: two}}\nsql:\n  - CREATE STREAMING TABLE "
               "a.b " DISTINCT "\n  - CREATE STREAMING TABLE a_b " DISTINCT "\n",
        "6:32 Flow `a.b` would keep what `distinct_1` remembers in topic `p.a.b.distinct_1`, which "
        "is that of another flow's state.\n"
        "7:32 Flow `a_b` would keep what `distinct_1` remembers in topic `p.a_b.distinct_1`, which "
        "is that of another flow's state.\n");
}

/* A state's type that its topic cannot hold is told of the column as the query calls it. */
static void types_of_states(void **state)
{
    (void)state;
    check(SOURCE
          "sql: CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY q BY NAME SELECT "
          "k, q FROM (SELECT DISTINCT k, q, make_dt_interval(k) AS age FROM STREAM(s))\n",
          "4:94 Flow `t` would keep `age` of type INTERVAL DAY TO SECOND in the state of "
          "`distinct_1`, and values of this type cannot be stored there yet.\n");
}

static void keys_of_sources(void **state)
{
    (void)state;
    check("sources:\n"
          "  s: {columns: 'k INT, q INT'}\n"
          "  a: {columns: 'k INT, q INT', kind: table}\n"
          "  b: {columns: 'k INT, q INT', kind: table, key: [k, none, K]}\n"
          "sql: CREATE STREAMING TABLE t " FLOW "\n",
          "5:3 `sources.a.key` is required.\n"
          "6:54 `sources.b.key`: there is no column `none`.\n"
          "6:60 `sources.b.key`: the column `K` is given twice.\n");
}

static void consequences_are_not_told(void **state)
{
    (void)state;
    /* A source that is broken is not "not found". */
    check("sources: {s: {columns: 'k INT, q INT', topic: 'x y'}}\n"
          "sql: CREATE STREAMING TABLE t " FLOW "\n",
          "3:47 `x y` cannot be the name of a topic.\n");
    check(SOURCE "sql: ''\n", "4:6 `sql` must not be empty.\n");
    check(SOURCE "sql: {file: none.sql}\n",
          "4:13 The file `none.sql` cannot be read: No such file or directory.\n");
    /* The flow is there, and does not parse. */
    check(SOURCE "sql: CREATE STREAMING TABLE t; CREATE FLOW f AS INSERT t\n",
          "4:56 Syntax error at or near 't': expected INTO.\n");
    check(SOURCE "sql: CREATE STREAMING TABLE t\n",
          "4:29 Pipeline dataset `t` does not have any defined flow.\n");
}

/* A sequence column the query has and the table has not: the table's columns are proposed. */
static void sequence_that_is_not_stored(void **state)
{
    (void)state;
    check(
        SOURCE "sql: CREATE STREAMING TABLE t (k INT) " FLOW "\n",
        "4:74 A column, variable, or function parameter with name `q` cannot be resolved. Did you "
        "mean one of the following? [`k`].\n"
        "4:91 Cannot write incompatible data for the table `t`: Cannot write extra columns "
        "`q`.\n");
}

/* A date alone is midnight in the session zone. */
static void starts(void **state)
{
    (void)state;
    AUTO(time_zone) TimeZone *zone = NULL;
    assert_null(time_zone_open(STR("+02:00"), &zone));
    int64_t time_us = 0;
    TopologySource source = {.start_text = STR("2026-03-01")};
    assert_true(program_start_time(&source, zone, &time_us));
    assert_int_equal(time_us, INT64_C(1772316000000000)); /* 2026-02-28T22:00:00Z */
    source.start_text = STR("2026-03-01T00:00:00Z");
    assert_true(program_start_time(&source, zone, &time_us));
    assert_int_equal(time_us, INT64_C(1772323200000000));
    source.start_text = STR("2026-02-29");
    assert_false(program_start_time(&source, zone, &time_us));
    check("sources: {s: {start: 2026-03-01, columns: 'k INT, q INT'}}\n"
          "sql: CREATE STREAMING TABLE t " FLOW "\n",
          "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_topics),
        cmocka_unit_test(shared_topics),
        cmocka_unit_test(topics_of_states),
        cmocka_unit_test(types_of_states),
        cmocka_unit_test(keys_of_sources),
        cmocka_unit_test(consequences_are_not_told),
        cmocka_unit_test(sequence_that_is_not_stored),
        cmocka_unit_test(starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
