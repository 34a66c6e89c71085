/* The runner must see what is wrong: rows, counters, failures, events, mistakes in the file. */
#include "connectors/format/json_tree.h"
#include "tests/unit/testing/fixture.h"

#define HEAD                                                                                       \
    "- id: one\n"                                                                                  \
    "  scenario: a title\n"                                                                        \
    "  relations: {src: {columns: [k STRING, n INT]}}\n"                                           \
    "  steps:\n"                                                                                   \
    "  - sql: CREATE OR REFRESH STREAMING TABLE t (CONSTRAINT pos EXPECT (n > 0)) FLOW REPLACE "   \
    "USING (k) SEQUENCE BY n BY NAME SELECT * FROM STREAM src\n"                                   \
    "  - feed: {src: [[a, 1], [a, 2], [b, -1]]}\n"                                                 \
    "  - refresh: t\n"

static const TestOptions plain = {.fault_nth = 1};

static void check(const char *text, size_t failed, const char *const *parts)
{
    size_t count = 0;
    char *output = run_text(text, &plain, &count);
    for (; *parts != NULL; parts++) {
        if (strstr(output, *parts) == NULL) {
            print_error("'%s' is not in:\n%s", *parts, output);
            fail();
        }
    }
    assert_int_equal(count, failed);
    free(output);
}
#define CHECK(text, failed, ...) check((text), (failed), (const char *const[]){__VA_ARGS__, NULL})

static void test_pass(void **state)
{
    (void)state;
    CHECK(HEAD "  - expect: {t: [[b, -1], [a, 2]]}\n"
               "  - quality: {t: {pos: {passed: 2, failed: 1, dropped: 0}}}\n",
          0, "ok      one  a title\n", "1 passed, 0 failed\n");
}

static void test_differing_rows(void **state)
{
    (void)state;
    CHECK(HEAD "  - expect: {t: [[a, 2], [a, 2], [c, 7]]}\n", 1, "FAILED  one  a title\n",
          "file.yaml:8: step 4 (expect)\n",
          "         k    n\n"
          "       - \"a\"  2\n"
          "       + \"b\"  -1\n"
          "       - \"c\"  7\n"
          "       2 missing (-), 1 not expected (+)\n",
          "0 passed, 1 failed\n");
}

static void test_differing_counters(void **state)
{
    (void)state;
    CHECK(HEAD "  - quality: {t: {pos: {passed: 2, failed: 2}}}\n", 1,
          "quality: failed is 1, expected 2.");
}

static void test_failures(void **state)
{
    (void)state;
    CHECK(HEAD "  - fails: EXPECTATION_VIOLATION\n", 1,
          "The step before was to fail with EXPECTATION_VIOLATION and went well.");
    CHECK(HEAD
          "  - sql: CREATE OR REFRESH STREAMING TABLE u FLOW REPLACE USING (nope) SEQUENCE BY n "
          "BY NAME SELECT * FROM STREAM src\n"
          "  - fails: UNRESOLVED_COLUMN\n"
          "  - expect: {t: [[a, 2], [b, -1]]}\n",
          0, "ok      one");
    CHECK(HEAD
          "  - sql: CREATE OR REFRESH STREAMING TABLE u FLOW REPLACE USING (nope) SEQUENCE BY n "
          "BY NAME SELECT * FROM STREAM src\n"
          "  - fails: NOT_STREAMING\n",
          1, "was to fail with NOT_STREAMING; it failed with UNRESOLVED_COLUMN", "`nope`");
    CHECK(HEAD "  - sql: SELEC\n", 1, "[PARSE_SYNTAX_ERROR]");
}

/* RU-55: the refused definition leaves the one before in force. */
static void test_changed_key(void **state)
{
    (void)state;
    CHECK(HEAD
          "  - sql: CREATE OR REFRESH STREAMING TABLE t FLOW REPLACE USING (k, n) SEQUENCE BY n "
          "BY NAME SELECT * FROM STREAM src\n"
          "  - fails: FULL_REFRESH_REQUIRED\n"
          "  - feed: {src: [[b, 9]]}\n"
          "  - refresh: t\n"
          "  - expect: {t: [[a, 2], [b, 9]]}\n",
          0, "ok      one");
}

/* A changed query applies to new data; a column it adds is NULL in old rows. */
static void test_changed_query(void **state)
{
    (void)state;
    CHECK(HEAD
          "  - sql: CREATE OR REFRESH STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY n BY "
          "NAME SELECT k, n, n * 10 AS tens FROM STREAM src\n"
          "  - feed: {src: [[b, 9]]}\n"
          "  - refresh: t\n"
          "  - expect: {t: [[a, 2, null], [b, 9, 90]]}\n"
          "  - refresh: t\n"
          "    full: true\n"
          "  - expect: {t: [[a, 2, 20], [b, 9, 90]]}\n",
          0, "ok      one");
}

static void test_not_yet(void **state)
{
    (void)state;
    CHECK(HEAD "  - planning: {t: {incremental: true}}\n", 1, "not yet one  a title\n", "NOT_YET");
    CHECK(HEAD "  - sql: INSERT INTO t SELECT 'x', 1\n"
               "  - fails: SCHEMA_MISMATCH\n",
          1, "not yet one");
}

static void test_events(void **state)
{
    (void)state;
    CHECK(HEAD "  - events: [{event_type: flow_progress, origin: {flow_name: t}, details: "
               "{flow_progress: {data_quality: {expectations: [{name: pos, passed_records: 2, "
               "failed_records: 1}]}}}}, {absent: {level: ERROR}}]\n",
          0, "ok      one");
    CHECK(HEAD "  - events: [{event_type: flow_progress, details: {flow_progress: {data_quality: "
               "{expectations: [{name: pos, passed_records: 3}]}}}}]\n",
          1, "there is no such event");
    CHECK(HEAD "  - events: [{absent: {event_type: create_update}}]\n", 1,
          "there is such an event");
}

static void test_topic_records(void **state)
{
    (void)state;
    CHECK(HEAD
          "  - expect_topic: {t: [{key: {k: a}, value: [a, 2]}, {key: {k: b}, value: [b, -1]}]}\n"
          "  - feed: {src: [[a, 2]]}\n"
          "  - refresh: t\n"
          "  - feed: {src: [[a, 3]]}\n"
          "  - refresh: t\n"
          "  - expect_topic: {t: [{key: {k: a, _row: 1}, value: [a, 2]}, {key: {k: a}, value: "
          "[a, 3]}, {key: {k: a, _row: 1}, tombstone: true}]}\n"
          "  - expect_topic: {t: []}\n",
          0, "ok      one");
    CHECK(HEAD
          "  - expect_topic: {t: [{key: {k: b}, value: [b, -1]}, {key: {k: a}, value: [a, 2]}]}\n",
          1, "- {\"k\":\"b\"}  {\"k\":\"b\",\"n\":-1}", "+ {\"k\":\"a\"}  {\"k\":\"a\",\"n\":2}");
}

static void test_mistakes(void **state)
{
    (void)state;
    CHECK("- {id: x, steps: [{refrsh: t}]}\n", 1, "file.yaml:1: A step does not know `refrsh`.");
    CHECK("- {id: x, stepps: []}\n", 1, "A scenario does not know `stepps`.");
    CHECK("- {steps: []}\n", 1, "A scenario needs an `id`.");
    CHECK("- {id: x, relations: {r: {columns: [a INTT]}}, steps: []}\n", 1, "INTT");
    CHECK("- {id: x, relations: {r: {kind: table, columns: [a INT]}}, steps: []}\n", 1,
          "it needs a key");
    CHECK(HEAD "  - feed: {src: [[a, 1, 2]]}\n", 1, "3 values for 2 columns");
    CHECK(HEAD "  - feed: {src: [[a, one]]}\n", 1, "is no value of type INT");
    CHECK(HEAD "  - feed: {nope: [[a, 1]]}\n", 1, "There is no relation `nope`.");
    CHECK(HEAD "  - refresh: nope\n", 1, "No statement so far creates a table `nope`.");
    CHECK(HEAD "  - expect: {src: []}\n", 1, "`src` is a relation");
}

static void test_selection(void **state)
{
    (void)state;
    const char *text = "- {id: a, steps: []}\n- {id: b, steps: []}\n- {id: c, steps: []}\n";
    Str only[] = {STR("a"), STR("c")};
    TestOptions options = {.only = only, .only_count = 2, .fault_nth = 1};
    size_t failed = 0;
    char *output = run_text(text, &options, &failed);
    assert_string_equal(output, "ok      a\nok      c\n2 passed, 0 failed\n");
    free(output);
}

static void test_json_and_junit(void **state)
{
    (void)state;
    const char *text = "- {id: good, steps: []}\n- {id: 'b<d', steps: [{refresh: \"t\\\"\"}]}\n";
    TestOptions options = {.output = TEST_OUTPUT_JSON, .fault_nth = 1};
    size_t failed = 0;
    char *output = run_text(text, &options, &failed);
    AUTO(arena) Arena *arena = arena_new("json");
    const JsonTree *root = NULL;
    ok(json_tree_parse(str_trim(str_from(output)), arena, &root));
    assert_int_equal(json_tree_int(json_tree_get(root, "passed"), -1), 1);
    assert_int_equal(json_tree_int(json_tree_get(root, "failed"), -1), 1);
    const JsonTree *second = json_tree_at(json_tree_get(root, "cases"), 1);
    assert_true(str_equal(json_tree_str(json_tree_get(second, "id"), STR_NULL), STR("b<d")));
    assert_true(str_equal(json_tree_str(json_tree_get(second, "status"), STR_NULL), STR("failed")));
    assert_int_equal(json_tree_int(json_tree_get(second, "line"), -1), 2);
    free(output);
    options.output = TEST_OUTPUT_JUNIT;
    output = run_text(text, &options, &failed);
    assert_non_null(strstr(output, "tests=\"2\" failures=\"1\""));
    assert_non_null(strstr(output, "name=\"b&lt;d\""));
    assert_non_null(strstr(output, "<failure message=\"failed\">"));
    assert_null(strstr(output, "b<d"));
    free(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_differing_rows),
        cmocka_unit_test(test_differing_counters),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_changed_key),
        cmocka_unit_test(test_changed_query),
        cmocka_unit_test(test_not_yet),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_topic_records),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_json_and_junit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
