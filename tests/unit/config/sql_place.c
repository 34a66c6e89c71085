/* Places in SQL lead back to the user's file, however YAML writes the text; comments that YAML
 * would swallow lines into are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/topology.h"

typedef struct Loaded {
    Arena *arena;
    Diagnostics diagnostics;
    Topology *topology;
} Loaded;

static const char *const head = "pipeline: p\nkafka: {bootstrap: h}\n"; /* two lines */

/* `rest` begins in line 3. */
static Loaded load(const char *rest)
{
    Loaded loaded = {.arena = arena_new("test")};
    const char *text = arena_printf(loaded.arena, "%s%s", head, rest);
    topology_load_text(str_from(text), "t.yaml", NULL, loaded.arena, &loaded.diagnostics,
                       &loaded.topology);
    return loaded;
}

static void done(Loaded *loaded)
{
    diagnostics_done(&loaded->diagnostics);
    arena_free(loaded->arena);
}

/* Line and column, in a text, of the first `word`. */
static SourcePlace place_in(Str text, const char *word)
{
    const char *found = memmem(text.data, text.size, word, strlen(word));
    assert_non_null(found);
    SourcePlace place = {1, 1, (int)strlen(word)};
    for (const char *at = text.data; at < found; at++) {
        if (*at == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)*at & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

/* Every one of the words (unique, written alike in both) is found at its own place in the file. */
static void assert_words_are_found(const char *rest, const char *const *words, size_t count)
{
    Loaded loaded = load(rest);
    assert_int_equal(loaded.diagnostics.count, 0);
    const TopologySql *sql = &loaded.topology->sql[0];
    for (size_t i = 0; i < count; i++) {
        SourcePlace expected = place_in(sql->source, words[i]);
        Error *error = error_at(ERROR_PARSE_SYNTAX_ERROR, place_in(sql->text, words[i]), "no");
        (void)error_set_source(error, sql->text);
        topology_place_sql_error(sql, error);
        assert_string_equal(error_file(error), "t.yaml");
        if (error_place(error).line != expected.line ||
            error_place(error).column != expected.column) {
            fail_msg("%s: %d:%d instead of %d:%d in\n%s", words[i], error_place(error).line,
                     error_place(error).column, expected.line, expected.column, rest);
        }
        assert_int_equal(error_place(error).length, strlen(words[i]));
        error_free(error);
    }
    done(&loaded);
}

static void all_styles_lead_back(void **state)
{
    (void)state;
    const char *const words[] = {"alpha", "beta", "gamma", "delta"};
    const char *const files[] = {
        "sql: |\n  alpha -- one\n    , beta\n\n\n  é gamma\n\n  delta\n",
        "sql: |2-  # header\n   alpha\n  beta  gamma\n  delta",
        "sql: |+\n\n\n      alpha\n      beta gamma\n      delta\n\n\n",
        "sql: >\n  alpha\n  beta\n\n  gamma é\n     delta\n  omega\n",
        "sql: >-\n    alpha beta\n    gamma\n      x\n    delta\n",
        "sql: alpha beta  é gamma delta\n",
        "sql: alpha\n  beta\n\n\n  é gamma   \n  delta # comment\n",
        "sql: 'alpha ''it'' beta\n\n  gamma''''\n  delta'\n",
        "sql: \"alpha\\t\\\"beta\\x41\\u00e9\\U0001F600 gamma\\\n     \\  delta\"\n",
        "sql: \"alpha\\nbeta\n   gamma\n\n  \\N delta\"\n",
        "sql: &anchor |\n    alpha\n    beta gamma\n    delta\n",
        "sql:\n  # comment\n  &a\n  'alpha beta\n  gamma delta'\n",
        "sql:\n- alpha beta\n   gamma delta\n- x\n",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        assert_words_are_found(files[i], words, ARRAY_LENGTH(words));
    }
}

static void windows_line_ends_lead_back(void **state)
{
    (void)state;
    const char *const words[] = {"alpha", "beta", "gamma"};
    assert_words_are_found("sql: |\r\n  alpha\r\n\r\n   beta\r\n  gamma\r\n", words, 3);
    assert_words_are_found("sql: >\r\n  alpha\r\n  beta\r\n\r\n  gamma\r\n", words, 3);
    assert_words_are_found("sql: \"alpha\\\r\n  beta\r\n  gamma\"\r\n", words, 3);
}

static void the_caret_stands_under_the_word(void **state)
{
    (void)state;
    Loaded loaded = load("sql: |\n  SELECT a\n  FROM nowhere;\n");
    const TopologySql *sql = &loaded.topology->sql[0];
    assert_int_equal(sql->place.line, 4);
    assert_int_equal(sql->place.column, 3);
    Error *error = error_at(ERROR_TABLE_OR_VIEW_NOT_FOUND, (SourcePlace){2, 6, 7}, "No.");
    (void)error_set_source(error, sql->text);
    (void)error_set_hint(error, "look");
    topology_place_sql_error(sql, error);
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    assert_string_equal(buffer_cstr(&text), "[TABLE_OR_VIEW_NOT_FOUND] No. SQLSTATE: 42P01\n"
                                            "  at t.yaml:5:8\n"
                                            "      FROM nowhere;\n"
                                            "           ^^^^^^^\n"
                                            "  hint: look\n");
    error_free(error);
    /* Without a place: where the text begins. Beyond the end: its end. */
    error = error_new(ERROR_PARSE_SYNTAX_ERROR, "No.");
    topology_place_sql_error(sql, error);
    assert_int_equal(error_place(error).line, 4);
    error_free(error);
    error = error_at(ERROR_PARSE_SYNTAX_ERROR, (SourcePlace){3, 1, 0}, "No.");
    topology_place_sql_error(sql, error);
    assert_int_equal(error_place(error).line, 6);
    error_free(error);
    done(&loaded);
}

static void column_lists_lead_back(void **state)
{
    (void)state;
    (void)setenv("TM_TYPE", "DECIMAL(10,2)", 1);
    Loaded loaded = load("sql: x\nsources:\n"
                         "  a:\n    columns: |\n      x INT,\n      y NOTYPE\n"
                         "  b: {columns: 'x ${TM_TYPE}, y NOTYPE'}\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    const TopologySql *columns = &loaded.topology->sources[0].columns;
    Error *error = error_at(ERROR_UNSUPPORTED_DATATYPE, place_in(columns->text, "NOTYPE"), "No.");
    topology_place_sql_error(columns, error);
    assert_int_equal(error_place(error).line, 8);
    assert_int_equal(error_place(error).column, 9);
    error_free(error);
    /* A variable was replaced: the whole text is the place. */
    columns = &loaded.topology->sources[1].columns;
    assert_int_equal(columns->text.size, strlen("x DECIMAL(10,2), y NOTYPE"));
    error = error_at(ERROR_UNSUPPORTED_DATATYPE, place_in(columns->text, "NOTYPE"), "No.");
    topology_place_sql_error(columns, error);
    assert_int_equal(error_place(error).line, 9);
    assert_int_equal(error_place(error).column, 16);
    error_free(error);
    done(&loaded);
}

static void nothing_is_replaced_in_sql(void **state)
{
    (void)state;
    (void)setenv("TM_VALUE", "v", 1);
    Loaded loaded = load("sql: SELECT '${TM_VALUE}', '$${x}', '${'\n");
    assert_int_equal(loaded.diagnostics.count, 0);
    Str text = loaded.topology->sql[0].text;
    assert_int_equal(str_compare(text, STR("SELECT '${TM_VALUE}', '$${x}', '${'")), 0);
    done(&loaded);
}

static void assert_comment(const char *rest, int line, int column)
{
    Loaded loaded = load(rest);
    if (line == 0) {
        assert_int_equal(loaded.diagnostics.count, 0);
    } else {
        assert_int_equal(loaded.diagnostics.count, 1);
        const Error *error = loaded.diagnostics.errors[0];
        assert_non_null(strstr(error_message(error), "YAML joins the lines"));
        assert_int_equal(error_place(error).line, line);
        assert_int_equal(error_place(error).column, column);
    }
    done(&loaded);
}

static void comments_in_joined_lines_are_refused(void **state)
{
    (void)state;
    assert_comment("sql: >\n  SELECT 1 -- one\n  , 2\n", 4, 12);
    assert_comment("sql: >-\n  SELECT 1\n  , 2 -- two\n", 5, 7);
    assert_comment("sql:\n- >\n  SELECT '--'\n  -- x\n", 6, 3);
    assert_comment("sql: SELECT 1 -- one\n  , 2\n", 3, 15);
    assert_comment("sql: \"SELECT 1 -- one\n  , 2\"\n", 3, 16);
    /* No line is lost in these. */
    assert_comment("sql: |\n  SELECT 1 -- one\n  , 2\n", 0, 0);
    assert_comment("sql: >\n  SELECT '-- no', \"-- no\", `-- no`,\n  'it\\'s -- no' /* -- no */\n",
                   0, 0);
    assert_comment("sql: SELECT 1 -- one\n", 0, 0);
    assert_comment("sql: \"SELECT 1 -- one\\n, 2\"\n", 0, 0);
    assert_comment("sql: >\n  SELECT 1 - - 2\n", 0, 0);
}

static void empty_sql_is_refused(void **state)
{
    (void)state;
    const char *const empty[] = {"sql: ''\n", "sql: []\n", "sql: |\n\n", "sql: ~\n", "sql: ['']\n"};
    for (size_t i = 0; i < ARRAY_LENGTH(empty); i++) {
        Loaded loaded = load(empty[i]);
        assert_int_equal(loaded.diagnostics.count, 1);
        assert_int_equal(error_class(loaded.diagnostics.errors[0]), ERROR_CONFIG_INVALID_VALUE);
        done(&loaded);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* {file: x.sql} is relative to the topology; errors name the SQL file and its own lines. */
static void sql_files_bear_their_own_name(void **state)
{
    (void)state;
    char folder[] = P_tmpdir "/sql_place_XXXXXX";
    assert_non_null(mkdtemp(folder));
    AUTO(arena) Arena *arena = arena_new("test");
    const char *yaml = arena_printf(arena, "%s/t.yaml", folder);
    const char *sql_path = arena_printf(arena, "%s/q.sql", folder);
    const char *bad_path = arena_printf(arena, "%s/bad.sql", folder);
    write_file(yaml,
               "pipeline: p\nkafka: {bootstrap: h}\nsql:\n- {file: q.sql}\n- {file: bad.sql}\n");
    write_file(sql_path, "\xEF\xBB\xBFSELECT a\nFROM ${x}; -- fine\n");
    write_file(bad_path, "SELECT '\xFF'");
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    topology_load_file(yaml, arena, &diagnostics, &topology);
    assert_int_equal(diagnostics.count, 1);
    assert_non_null(strstr(error_message(diagnostics.errors[0]), "bad.sql"));
    assert_int_equal(error_place(diagnostics.errors[0]).line, 5);
    assert_string_equal(topology->sql[0].file, sql_path);
    Error *error = error_at(ERROR_PARSE_SYNTAX_ERROR, (SourcePlace){2, 6, 1}, "No.");
    topology_place_sql_error(&topology->sql[0], error);
    assert_string_equal(error_file(error), sql_path);
    assert_int_equal(error_place(error).line, 2);
    assert_int_equal(error_place(error).column, 6);
    error_free(error);
    diagnostics_done(&diagnostics);
    (void)unlink(yaml);
    (void)unlink(sql_path);
    (void)unlink(bad_path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_styles_lead_back),
        cmocka_unit_test(windows_line_ends_lead_back),
        cmocka_unit_test(the_caret_stands_under_the_word),
        cmocka_unit_test(column_lists_lead_back),
        cmocka_unit_test(nothing_is_replaced_in_sql),
        cmocka_unit_test(comments_in_joined_lines_are_refused),
        cmocka_unit_test(empty_sql_is_refused),
        cmocka_unit_test(sql_files_bear_their_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
