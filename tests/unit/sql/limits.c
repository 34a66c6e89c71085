/* Nesting is bounded, length is not: deep texts are refused, flat ones parse up to a
 * megabyte and more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/buffer.h"
#include "processor/sql/ast_print.h"
#include "processor/sql/parser.h"
#include "tests/support/sql_round_trip.h"

typedef struct Repeated {
    const char *head;
    const char *open;
    const char *middle;
    const char *close;
    const char *tail;
} Repeated;

static void build(const Repeated *text, size_t count, Buffer *out)
{
    buffer_clear(out);
    buffer_append_cstr(out, text->head);
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(out, text->open);
    }
    buffer_append_cstr(out, text->middle);
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(out, text->close);
    }
    buffer_append_cstr(out, text->tail);
}

/* The class of the only error, or ERROR_CLASS_COUNT. What parses is printed, too. */
static ErrorClass parse(Str sql)
{
    AUTO(arena) Arena *arena = arena_new("limits");
    AUTO_BUFFER Buffer printed = {0};
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(sql, arena, &diagnostics, &script);
    ErrorClass class =
        diagnostics.count > 0 ? error_class(diagnostics.errors[0]) : ERROR_CLASS_COUNT;
    for (size_t i = 0; i < script->statement_count; i++) {
        ast_print_statement(script->statements[i], &printed);
    }
    diagnostics_done(&diagnostics);
    return class;
}

static const Repeated nested[] = {
    {"SELECT ", "(", "1", ")", ""},
    {"SELECT ", "(", "SELECT 1", ")", ""},
    {"SELECT * FROM ", "(", "t", ")", ""},
    {"SELECT * FROM ", "(", "SELECT 1", ")", ""},
    {"", "SELECT * FROM (", "SELECT 1", ") x", ""},
    {"", "SELECT (", "SELECT 1", ")", ""},
    {"", "SELECT EXISTS (", "SELECT 1", ")", ""},
    {"", "WITH a AS (", "SELECT 1", ") SELECT 1", ""},
    {"SELECT ", "NOT ", "a", "", ""},
    {"SELECT ", "- ", "a", "", ""},
    {"SELECT a", "[0]", "", "", ""},
    {"SELECT (a)", ".b", "", "", ""},
    {"SELECT a", "::int", "", "", ""},
    {"SELECT ", "f(", "1", ")", ""},
    {"SELECT ", "a[", "0", "]", ""},
    {"SELECT ", "a IN (", "1", ")", ""},
    {"SELECT ", "CASE WHEN a THEN ", "1", " END", ""},
    {"SELECT ", "a OR b AND c = d | e ^ f & g << h + i * (", "1", ")", ""},
    {"SELECT ", "(", "1", " * b + c << d & e ^ f | g = h AND i OR j)", ""},
    {"SELECT ", "(", "(SELECT 1)", " * b + c << d & e ^ f | g = h AND i OR j)", ""},
    {"SELECT CAST(a AS ", "ARRAY<", "INT", ">", ")"},
    {"SELECT CAST(a AS ", "STRUCT<x: ", "INT", ">", ")"},
    {"SELECT 1 GROUP BY ", "GROUPING SETS (", "a", ")", ""},
    {"", "EXPLAIN ", "SELECT 1", "", ""},
    {"SELECT ", "! ", "a", "", ""},
    {"SELECT ", "~", "a", "", ""},
    {"SELECT ", "+", "a", "", ""},
    {"SELECT a", ":b", "", "", ""},
    {"SELECT a", " COLLATE b", "", "", ""},
    {"SELECT ", "(1, ", "1", ")", ""},
    {"SELECT ", "STRUCT(", "1", " AS b)", ""},
    {"SELECT ", "f(x -> ", "1", ")", ""},
    {"SELECT ", "f(x => ", "1", ")", ""},
    {"SELECT ", "CASE ", "a", " WHEN 1 THEN 2 END", ""},
    {"SELECT ", "CAST(", "1", " AS INT)", ""},
    {"SELECT ", "a BETWEEN (", "1", ") AND 2", ""},
    {"SELECT ", "a LIKE ANY (", "b", ")", ""},
    {"SELECT ", "a LIKE (", "b", ")", ""},
    {"SELECT ", "a IS DISTINCT FROM (", "b", ")", ""},
    {"SELECT ", "EXTRACT(YEAR FROM ", "a", ")", ""},
    {"SELECT ", "TRIM(BOTH ", "a", " FROM b)", ""},
    {"SELECT ", "TRIM(", "a", ")", ""},
    {"SELECT ", "POSITION(", "a", " IN b)", ""},
    {"SELECT ", "SUBSTRING(", "a", " FROM 1)", ""},
    {"SELECT ", "OVERLAY(", "a", " PLACING b FROM 1)", ""},
    {"SELECT ", "exists((SELECT 1) + ", "1", ", x -> x)", ""},
    {"SELECT ", "f() OVER (PARTITION BY ", "a", ")", ""},
    {"SELECT ", "f() OVER (ORDER BY ", "a", ")", ""},
    {"SELECT ", "f() OVER (ROWS ", "1", " PRECEDING)", ""},
    {"SELECT ", "f() FILTER (WHERE ", "a", ")", ""},
    {"SELECT ", "f() WITHIN GROUP (ORDER BY ", "a", ")", ""},
    {"SELECT ", "a IN (SELECT ", "b", ")", ""},
    {"SELECT ", "a OR (b AND (", "c", "))", ""},
    {"SELECT * FROM ", "(a JOIN ", "b", ")", ""},
    {"SELECT * FROM ", "(", "a", " JOIN b)", ""},
    {"SELECT * FROM ", "(VALUES 1 JOIN ", "b", ")", ""},
    {"SELECT * FROM ", "((SELECT 1) JOIN ", "b", ")", ""},
    {"SELECT * FROM ", "LATERAL (SELECT * FROM ", "a", ")", ""},
    {"SELECT * FROM ", "f(", "1", ")", ""},
    {"SELECT 1 FROM t LATERAL VIEW ", "f(", "1", ")", " a"},
    {"", "(SELECT 1 UNION ", "SELECT 1", ")", ""},
    {"", "(", "SELECT 1", " LIMIT 1)", ""},
    {"", "VALUES (", "1", ")", ""},
    {"SELECT CAST(a AS ", "MAP<INT, ", "INT", ">", ")"},
    {"CREATE STREAMING TABLE t (a ", "ARRAY<", "INT", ">", ")"},
    {"CREATE STREAMING TABLE t FLOW REPLACE WHERE ", "(", "a", ")", " BY NAME SELECT 1"},
    {"CREATE FUNCTION f() RETURN ", "(", "1", ")", ""},
    {"CREATE FUNCTION f() RETURN ", "(", "SELECT 1", ")", ""},
    {"MERGE INTO t USING s ON ", "(", "a", ")", " WHEN MATCHED THEN DELETE"},
};

static void test_depth(void **state)
{
    AUTO_BUFFER Buffer sql = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(nested); i++) {
        build(&nested[i], 30, &sql);
        if (parse(buffer_str(&sql)) != ERROR_CLASS_COUNT) {
            fail_msg("30 levels: %s", buffer_cstr(&sql));
        }
        for (size_t levels = 60; levels < 1000; levels *= 2) {
            AUTO_BUFFER Buffer report = {0};
            build(&nested[i], levels, &sql);
            if (sql_round_trip(SQL_SCRIPT, buffer_str(&sql), &report) == ROUND_TRIP_DIFFERS) {
                fail_msg("%zu levels: %s", levels, buffer_cstr(&report));
            }
        }
        build(&nested[i], 10000, &sql);
        if (parse(buffer_str(&sql)) != ERROR_STATEMENT_TOO_COMPLEX) {
            fail_msg("10000 levels of %s%s", nested[i].head, nested[i].open);
        }
    }
    (void)state;
}

static const Repeated flat[] = {
    {"SELECT 1", " + 1", "", "", ""},
    {"SELECT a", " AND a", "", "", ""},
    {"SELECT a", " = a", "", "", ""},
    {"SELECT 1", " UNION ALL SELECT 1", "", "", ""},
    {"SELECT 1", " INTERSECT SELECT 1", "", "", ""},
    {"SELECT 1", ", ((SELECT 1) + 1)", "", "", ""},
    {"SELECT a IN (1", ", 1", ")", "", ""},
    {"SELECT * FROM t", " JOIN t USING (a)", "", "", ""},
    {"VALUES (1, 'a')", ", (1, 'a')", "", "", ""},
    {"SELECT CASE", " WHEN a THEN b", " END", "", ""},
    {"SELECT INTERVAL", " 1 DAY", "", "", ""},
    {"SELECT 1 FROM t", " LATERAL VIEW f(x) y", "", "", ""},
    {"SELECT ", "'a' ", "", "", ""},
    {"", "/*", "", "*/", "SELECT 1"},
    {"SELECT 1", ";", "", "", ""},
    {"SELECT a", ", b AS c", "", "", ""},
    {"SELECT a", " b, c.*, d", "", "", ""},
    {"SELECT f(a", ", (b, c) -> d", ")", "", ""},
    {"SELECT STRUCT(a", ", b c", ")", "", ""},
    {"SELECT 1 GROUP BY a", ", ROLLUP (b, c)", "", "", ""},
    {"SELECT 1 GROUP BY a", ", b", "", "", ""},
    {"SELECT 1 ORDER BY a", ", b DESC NULLS LAST", "", "", ""},
    {"SELECT 1 WINDOW a AS ()", ", a AS ()", "", "", ""},
    {"SELECT * EXCEPT (a", ", a.b", ") FROM t", "", ""},
    {"SELECT a LIKE ANY (b", ", b", ")", "", ""},
    {"SELECT CAST(a AS STRUCT<a: INT", ", b: INT NOT NULL", ">)", "", ""},
    {"SELECT * FROM t", ", t", "", "", ""},
    {"SELECT * FROM t", " CROSS JOIN (SELECT 1)", "", "", ""},
    {"WITH a AS (SELECT 1)", ", a AS (SELECT 1)", " SELECT 1", "", ""},
    {"SELECT '", "a", "'", "", ""},
    {"SELECT ", "1", "", "", ""},
    {"SELECT ", "a", "", "", ""},
    {"SELECT `", "``", "`", "", ""},
    {"SELECT 1", " ", "", "", ""},
    {"SELECT 1", " -- a\n", "", "", ""},
    {"CREATE STREAMING TABLE t (a INT", ", b STRING COMMENT 'c' MASK f", ")", "", ""},
    {"CREATE STREAMING TABLE t (a INT", ", CONSTRAINT b EXPECT (c)", ")", "", ""},
    {"CREATE STREAMING TABLE t TBLPROPERTIES (a = 1", ", 'b' = 'c'", ")", "", ""},
    {"CREATE STREAMING TABLE t", " COMMENT 'c'", "", "", ""},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (a", ", a", ") SEQUENCE BY b BY NAME SELECT 1",
     "", ""},
    {"CREATE VIEW v (a", ", b COMMENT 'c'", ") AS SELECT 1", "", ""},
    {"CREATE FUNCTION f(a INT", ", b INT DEFAULT 1", ") RETURN 1", "", ""},
    {"INSERT INTO t (a", ", b", ") SELECT 1", "", ""},
    {"UPDATE t SET a = 1", ", b.c = 1", "", "", ""},
    {"MERGE INTO t USING s ON a", " WHEN MATCHED AND b THEN DELETE", "", "", ""},
    {"SELECT 1 FROM t TABLESAMPLE (", "(a)", ")", "", ""},
    {"COPY INTO t ", "( ", "", "", ""},
};

/* A megabyte of every fifth row, less of the others: the test should not take minutes. */
static size_t repeats(size_t row, const char *text)
{
    enum { MEGABYTE = 1 << 20, LESS = 1 << 17, EVERY = 5 };
    return (row % EVERY == 0 ? MEGABYTE : LESS) / strlen(text);
}

static void test_length(void **state)
{
    AUTO_BUFFER Buffer sql = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(flat); i++) {
        build(&flat[i], repeats(i, flat[i].open), &sql);
        if (parse(buffer_str(&sql)) != ERROR_CLASS_COUNT) {
            fail_msg("many times %s%s", flat[i].head, flat[i].open);
        }
    }
    (void)state;
}

/* A long text that is no SQL is refused, wherever its mistake stands. */
static const Repeated wrong[] = {
    {"", "(", "", "", ""},
    {"SELECT ", "((1, ", "", "", ""},
    {"SELECT a", "[", "", "", ""},
    {"", "SELECT ", "", "", ""},
    {"SELECT * FROM ", "(a JOIN ", "", "", ""},
    {"SELECT '", "a", "", "", ""},
    {"SELECT `", "a", "", "", ""},
    {"/*", "/*", "", "", ""},
    {"SELECT ", "a.", "", "", ""},
    {"SELECT ", "\xC3\xA9", "", "", ""},
    {"SELECT ", "\x01", "", "", ""},
    {"SELECT f(a", ", a", "", "", ""},
    {"SELECT CASE", " WHEN a THEN b", "", "", ""},
    {"SELECT a", " a", "", "", ""},
    {"SELECT ", "INTERVAL 'a' ", "", "", ""},
    {"SELECT CAST(a AS ", "MAP<INT,", "", "", ""},
    {"CREATE STREAMING TABLE t (", "a INT, ", ")", "", ""},
    {"CREATE STREAMING TABLE t TBLPROPERTIES (", "a = 1, ", ")", "", ""},
    {"SELECT 1 FROM t TABLESAMPLE ", "(", "", "", ""},
    {"MERGE INTO t USING s ON ", "a OR ", "", "", ""},
};

static void test_long_mistakes(void **state)
{
    AUTO_BUFFER Buffer sql = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        build(&wrong[i], repeats(i, wrong[i].open), &sql);
        if (parse(buffer_str(&sql)) == ERROR_CLASS_COUNT) {
            fail_msg("many times %s%s", wrong[i].head, wrong[i].open);
        }
    }
    (void)state;
}

/* A text full of mistakes ends after as many errors as Diagnostics holds. */
static void test_many_errors(void **state)
{
    AUTO(arena) Arena *arena = arena_new("limits");
    AUTO_BUFFER Buffer sql = {0};
    static const Repeated text = {"", "x y;", "", "", ""};
    build(&text, 100000, &sql);
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(buffer_str(&sql), arena, &diagnostics, &script);
    assert_int_equal(diagnostics.count, 100);
    diagnostics_done(&diagnostics);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_long_mistakes),
        cmocka_unit_test(test_many_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
