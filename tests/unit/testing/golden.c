/* Golden files: their form, what is noticed, and what --accept writes. */
#include <unistd.h>

#include "processor/testing/golden_file.h"
#include "processor/testing/golden_run.h"
#include "processor/testing/text_file.h"
#include "tests/unit/testing/fixture.h"

static void test_form(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    GoldenFile file;
    ok(golden_file_parse(STR("# rule\n"
                             "table t (a INT, b STRING)\n"
                             "1\tx\n"
                             "2\tNULL\n"
                             "\n"
                             "query sorted\n"
                             "SELECT a,\n"
                             "  b FROM t\n"
                             "---- a INT, b STRING\n"
                             "1\tx\n"
                             "error [SOME.CLASS] 1:8\n"
                             "SELECT q\n"
                             "time_zone Europe/Oslo\n"
                             "query\n"
                             "SELECT 1"),
                         arena, &file));
    assert_int_equal(file.block_count, 7);
    assert_int_equal(file.blocks[1].kind, GOLDEN_TABLE);
    assert_true(str_equal(file.blocks[1].argument, STR("t")));
    assert_true(str_equal(file.blocks[1].columns, STR("a INT, b STRING")));
    assert_int_equal(file.blocks[1].row_count, 2);
    const GoldenBlock *query = &file.blocks[3];
    assert_int_equal(query->kind, GOLDEN_QUERY);
    assert_true(query->sorted);
    assert_true(str_equal(query->sql, STR("SELECT a,\n  b FROM t")));
    assert_true(str_equal(query->columns, STR("a INT, b STRING")));
    assert_int_equal(query->row_count, 1);
    assert_int_equal(file.blocks[4].kind, GOLDEN_ERROR);
    assert_true(str_equal(file.blocks[4].argument, STR("[SOME.CLASS] 1:8")));
    assert_true(str_equal(file.blocks[5].argument, STR("Europe/Oslo")));
    assert_null(file.blocks[6].columns.data);
    /* The blocks cover the file, in order. */
    for (size_t i = 0; i < file.block_count; i++) {
        assert_int_equal(file.blocks[i].first_line, i == 0 ? 0 : file.blocks[i - 1].end_line);
    }
    (void)refused(golden_file_parse(STR("# x\nstray\n"), arena, &file), ERROR_SCENARIO_INVALID,
                  arena);
    (void)refused(golden_file_parse(STR("query\n"), arena, &file), ERROR_SCENARIO_INVALID, arena);
    (void)refused(golden_file_parse(STR("table t\n"), arena, &file), ERROR_SCENARIO_INVALID, arena);
}

static void test_cells(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    static const char *const texts[] = {"",   "a",    "NULL",    "query", "table t", "# x",
                                        "\t", "a\nb", "\\",      "\\_",   "---- x",  "clock 1",
                                        "ä",  "\r",   "error [", "a b ",  "null",    "time_zone x"};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        AUTO_BUFFER Buffer cell = {0};
        golden_escape(str_from(texts[i]), true, &cell);
        assert_int_equal(str_find_byte(buffer_str(&cell), '\t'), cell.size);
        assert_int_equal(str_find_byte(buffer_str(&cell), '\n'), cell.size);
        bool is_null = true;
        Str text = STR_NULL;
        ok(golden_unescape(buffer_str(&cell), arena, &text, &is_null));
        assert_false(is_null);
        assert_true(str_equal(text, str_from(texts[i])));
    }
    bool is_null = false;
    Str text = STR_NULL;
    ok(golden_unescape(STR("NULL"), arena, &text, &is_null));
    assert_true(is_null);
    (void)refused(golden_unescape(STR("\\x"), arena, &text, &is_null), ERROR_SCENARIO_INVALID,
                  arena);
    (void)refused(golden_unescape(STR("a\\"), arena, &text, &is_null), ERROR_SCENARIO_INVALID,
                  arena);
}

static char *run_file(const char *path, bool accept, size_t *ret_failed)
{
    char *output = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&output, &size);
    TestOptions options = {.accept = accept, .fault_nth = 1};
    Report *report = report_new(TEST_OUTPUT_TEXT, file);
    ok(golden_file_run(path, &options, report));
    *ret_failed = report_failed(report);
    report_free(report);
    (void)fclose(file);
    return output;
}

/* Each query differs in one way; --accept writes what came out, and nothing else changes. */
static void test_differences_and_accept(void **state)
{
    (void)state;
    static const char before[] = "# three mistakes\n"
                                 "table t (a INT)\n"
                                 "2\n"
                                 "1\n"
                                 "query\n"
                                 "SELECT a FROM t\n"
                                 "---- a INT\n"
                                 "1\n"
                                 "2\n"
                                 "query sorted\n"
                                 "SELECT a FROM t\n"
                                 "---- a BIGINT\n"
                                 "1\n"
                                 "2\n"
                                 "\n"
                                 "error [X] 1:1\n"
                                 "SELECT b FROM t\n"
                                 "query sorted\n"
                                 "SELECT a FROM t\n"
                                 "---- a INT\n"
                                 "2\n"
                                 "1\n";
    static const char after[] = "# three mistakes\n"
                                "table t (a INT)\n"
                                "2\n"
                                "1\n"
                                "query\n"
                                "SELECT a FROM t\n"
                                "---- a INT\n"
                                "2\n"
                                "1\n"
                                "query sorted\n"
                                "SELECT a FROM t\n"
                                "---- a INT\n"
                                "1\n"
                                "2\n"
                                "\n"
                                "error [UNRESOLVED_COLUMN.WITH_SUGGESTION] 1:8\n"
                                "SELECT b FROM t\n"
                                "query sorted\n"
                                "SELECT a FROM t\n"
                                "---- a INT\n"
                                "1\n"
                                "2\n";
    AUTO(arena) Arena *arena = arena_new("test");
    char path[] = "/tmp/golden-XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    (void)close(handle);
    ok(text_file_write(path, STR(before)));
    size_t failed = 0;
    char *output = run_file(path, false, &failed);
    assert_int_equal(failed, 3);
    assert_non_null(strstr(output, "- ---- a BIGINT"));
    assert_non_null(strstr(output, "+ [UNRESOLVED_COLUMN.WITH_SUGGESTION] 1:8"));
    free(output);
    free(run_file(path, true, &failed));
    Str text = STR_NULL;
    ok(text_file_read(path, arena, &text));
    assert_true(str_equal(text, STR(after)));
    free(run_file(path, false, &failed));
    assert_int_equal(failed, 0);
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_differences_and_accept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
