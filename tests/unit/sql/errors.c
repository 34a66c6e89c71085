/* Where a syntax error points, what it says, which hint it gives; several statements at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "processor/base/buffer.h"
#include "processor/sql/parser.h"

/* One mistake: place, and a part of the message and of the hint (NULL = no hint). */
typedef struct Mistake {
    const char *sql;
    int line;
    int column;
    int length;
    const char *message;
    const char *hint;
} Mistake;

static const Mistake mistakes[] = {
    /* misspelt words */
    {"SELCT 1", 1, 1, 5, "expected a statement", "did you mean SELECT?"},
    {"CREATE STREEMING TABLE x", 1, 8, 9, "STREAMING TABLE", "did you mean STREAMING?"},
    {"SELECT a FORM t", 1, 15, 1, "near 't'", "'FORM' was read as an alias; did you mean FROM?"},
    {"SELECT a FROM t WHER x > 1", 1, 22, 1, "near 'x'", "did you mean WHERE?"},
    {"CREATE STREAMING TABLE p SCHEDUL EVERY 1 DAY AS SELECT 1", 1, 26, 7, "SCHEDUL",
     "did you mean SCHEDULE?"},
    {"CREATE STREAMING TABLE p (a intt)", 1, 29, 4, "Unsupported data type \"INTT\"",
     "did you mean INT?"},
    {"CREATE STREAMING TABLE p (a text)", 1, 29, 4, "data type \"TEXT\"", "did you mean STRING?"},
    /* what is open */
    {"SELECT 'abc", 1, 8, 1, "string that opens here is not closed", "write '"},
    {"SELECT `abc", 1, 8, 1, "backquoted name", "write `"},
    {"SELECT 1\n  /* a /* b */", 2, 3, 2, "comment that opens here", "nest"},
    {"SELECT (1 + 2", 1, 14, 1, "expected ')'", "the '(' of `(1 + 2` is not closed yet"},
    {"SELECT f(1, 2 FROM t", 1, 15, 4, "expected ')'", "the '(' of `f(1, 2 FROM t` is"},
    {"SELECT CASE WHEN a THEN b", 1, 26, 1, "WHEN, ELSE or END",
     "`CASE WHEN a THEN b` has no END yet"},
    {"SELECT a,\n  f(b, aa + bb + cc + dd + ee,\n c FROM t", 3, 4, 4, "expected ')'",
     "of `f(b, aa + bb + cc + dd +` is"},
    /* what is missing */
    {"SELECT a FROM t WHERE", 1, 22, 1, "at the end of the statement: expected an expression",
     NULL},
    {"SELECT a FROM t WHERE\n b = \n", 2, 5, 1, "expected an expression", NULL},
    {"SELECT a, FROM t", 1, 11, 4, "expected a select item", "remove the comma"},
    {"SELECT FROM t", 1, 8, 4, "expected a select item", NULL},
    {"SELECT * EXCEPT raw FROM t", 1, 17, 3, "expected '('", "* EXCEPT (column"},
    {"SELECT a FROM t OFFSET 2 LIMIT 3", 1, 26, 5, "end of the query", "LIMIT stands before"},
    {"WITH a AS SELECT 1 SELECT * FROM a", 1, 11, 6, "expected '('", "stands in parentheses"},
    {"SELECT DISTINCT distinct FROM t", 1, 17, 8, "expected an expression", "`DISTINCT`"},
    {"SELECT a FROM t AS left", 1, 20, 4, "expected an alias", "`LEFT`"},
    {"SELECT * FROM STREAM", 1, 21, 1, "after STREAM", NULL},
    {"SELECT count(*) OVER () FILTER (WHERE a) FROM t", 1, 25, 6, "FILTER", "the order is"},
    {"> SELECT 1", 1, 1, 1, "expected a statement", "leave out the '>'"},
    {"SELECT INTERVAL 1 FORTNIGHT", 1, 19, 9, "a unit of time", "MICROSECOND"},
    {"SELECT a # b", 1, 10, 1, "near '#'", NULL},
    /* forms of other databases, and slips */
    {"SELECT TOP 10 a FROM t", 1, 12, 2, "near '10'", "taken by LIMIT"},
    {"SELECT a FROM t FETCH FIRST 3 ROWS ONLY", 1, 23, 5, "near 'FIRST'", "taken by LIMIT"},
    {"SELECT a FROM t LIMIT 1, 2", 1, 24, 1, "near ','", "then OFFSET"},
    {"SELECT a FROM t VERSION AS OF 3", 1, 25, 2, "near 'AS'", "no earlier versions"},
    {"CREATE STREAMING TABLE p VERSION AS OF 3 AS SELECT 1", 1, 26, 7, "near 'VERSION'",
     "no earlier versions"},
    {"SELECT a !IN (1) FROM t", 1, 10, 1, "near '!'", "write NOT IN"},
    {"SELECT a = ALL (SELECT 1)", 1, 12, 3, "near 'ALL'", "write IN, EXISTS"},
    {"SELECT a > ANY (SELECT 1)", 1, 17, 6, "near 'SELECT'", "write IN, EXISTS"},
    {"SELECT a IS NULL IS NULL", 1, 18, 2, "near 'IS'", "in parentheses"},
    {"SELECT f(xs, (x) -> x)", 1, 18, 2, "near '->'", "x -> "},
    {"SELECT a ->> 'b' FROM t", 1, 10, 2, "near '->'", "get_json_object"},
    {"SELECT count(*) FILTER (km > 3) FROM t", 1, 25, 2, "expected WHERE", "FILTER (WHERE"},
    {"SELECT EXTRACT('year' FROM d)", 1, 16, 6, "as a word", "EXTRACT(YEAR"},
    {"SELECT TRIM(SIDEWAYS 'x' FROM a)", 1, 13, 8, "\"SIDEWAYS\" are not supported", "BOTH"},
    {"SELECT BANANA 'x'", 1, 8, 6, "\"BANANA\" are not supported", "CAST("},
    {"SELECT CAST(a INT)", 1, 15, 3, "expected AS", "CAST(value AS INT)"},
    {"SELECT CAST(a AS DOUBLE PRECISION)", 1, 25, 9, "near 'PRECISION'", "write DOUBLE"},
    {"SELECT CAST(a AS VARCHAR)", 1, 18, 7, "requires a length", NULL},
    {"SELECT CAST(a AS datetime)", 1, 18, 8, "\"DATETIME\"", "TIMESTAMP?"},
    {"SELECT a b c FROM t", 1, 12, 1, "near 'c'", "is a comma missing?"},
    {"SELECT a FROM my-topic-v2 x", 1, 15, 11, "my-topic-v2 is invalid", "write `my-topic-v2`"},
    {"SELECT a FROM STREAM(topic-1)", 1, 22, 7, "topic-1 is invalid", "write `topic-1`"},
    {"CREATE STREAMING TABLE a.b-c AS SELECT 1", 1, 26, 3, "b-c is invalid", "write `b-c`"},
    {"SELECT 1 AS a-b", 1, 13, 3, "a-b is invalid", "write `a-b`"},
    {"SELECT a - b c - d", 1, 16, 1, "near '-'", NULL},
    {"CREATE MATERIALIZED VIEW v AS SELECT 1", 1, 8, 12, "near 'MATERIALIZED'", "no materialized"},
    {"CREATE STREAMING LIVE TABLE t", 1, 18, 4, "near 'LIVE'", "leave LIVE out"},
    {"CREATE SCHEMA s", 1, 8, 6, "near 'SCHEMA'", "set in the topology"},
    {"CREATE STREAMING TABLE t USING DELTA", 1, 26, 5, "near 'USING'", "set in the topology"},
    {"INSERT OVERWRITE t SELECT 1", 1, 8, 9, "near 'OVERWRITE'", "REPLACE WHERE"},
    {"MERGE INTO t USING s ON a WHEN MATCHED THEN UPDATE SET *", 1, 56, 1, "near '*'", "name the"},
    {"MERGE INTO t USING s ON a WHEN NOT MATCHED THEN INSERT *", 1, 56, 1, "near '*'", "name the"},
    {"MERGE INTO t USING s ON a WHEN NOT MATCHED BY SOURCE THEN DELETE", 1, 44, 2, "near 'BY'",
     "rows of the source"},
    {"CREATE STREAMING TABLE p TBLPROPERTIES () AS SELECT 1", 1, 41, 1, "near ')'", "leave the"},
    {"CREATE STREAMING TABLE p CLUSTER BY () AS SELECT 1", 1, 38, 1, "near ')'", "leave the"},
    {"CREATE STREAMING TABLE p SCHEDULE EVERY 5 MINUTES AS SELECT 1", 1, 43, 7, "HOUR, HOURS",
     "CRON '0 */5 * * * ?'"},
    {"CREATE STREAMING TABLE t FLOW INSERT BY NAME SELECT * FROM STREAM s AS SELECT 1", 1, 72, 6,
     "near 'SELECT'", "one FLOW or one AS query"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING () SEQUENCE BY v BY NAME SELECT 1", 1, 46, 1,
     "near ')'", "at least one column"},
    {"CREATE STREAMING TABLE t FLOW AUTO CDC FROM STREAM(s) SEQUENCE BY v", 1, 55, 8,
     "expected KEYS", "KEYS (column"},
    /* as people write it */
    {"SELECT a FROM t GRUOP BY a", 1, 23, 2, "near 'BY'", "'GRUOP' was read as an alias;"},
    {"SELECT a FROM t ORDR BY a", 1, 22, 2, "near 'BY'", "'ORDR' was read as an alias;"},
    {"SELECT a FROM t WHRE a = 1", 1, 22, 1, "near 'a'", "'WHRE' was read as an alias;"},
    {"SELECT a FROM t JION u ON a = b", 1, 22, 1, "near 'u'", "'JION' was read as an alias;"},
    {"SELECT a FROM t LEFT OUTR JOIN u", 1, 22, 4, "near 'OUTR'", "did you mean OUTER?"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENC BY s BY NAME SELECT 1", 1, 49, 7,
     "near 'SEQUENC'", "did you mean SEQUENCE?"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USNG (k) SEQUENCE BY s BY NAME SELECT 1", 1, 39, 4,
     "near 'USNG'", "did you mean USING?"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY s BY NAM SELECT 1", 1, 66, 3,
     "near 'NAM'", "did you mean NAME?"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) ORDER BY s BY NAME SELECT 1", 1, 49, 5,
     "near 'ORDER'", "which row of a key is the"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCED BY s BY NAME SELECT 1", 1, 49, 9,
     "near 'SEQUENCED'", "did you mean SEQUENCE?"},
    {"CREATE STREAMING TABLE t FLOW REPLACE ON (k) SEQUENCE BY s BY NAME SELECT 1", 1, 39, 2,
     "near 'ON'", "rows of a key are replaced by"},
    {"CREATE STREAMING TABLE t FLOW UPSERT BY NAME SELECT 1", 1, 31, 6, "near 'UPSERT'",
     "rows of a key are replaced by"},
    {"CREATE STREAMING TABLE t TBLPROPERTEIS (a = 1)", 1, 26, 13, "near 'TBLPROPERTEIS'",
     "did you mean TBLPROPERTIES?"},
    {"CREATE STREAMING TABLE t PARTITION BY (a)", 1, 26, 9, "near 'PARTITION'",
     "did you mean PARTITIONED?"},
    {"CREATE STREAMING TABLE t PARTITIONED BY a", 1, 41, 1, "near 'a'",
     "columns stand in parentheses:"},
    {"CREATE STREAMING TABLE t CLUSTERED BY (a)", 1, 26, 9, "near 'CLUSTERED'",
     "did you mean CLUSTER?"},
    {"CREATE STREAMING TABLE t (CONSTRAINT c EXPECTS (a > 1))", 1, 40, 7, "near 'EXPECTS'",
     "did you mean EXPECT?"},
    {"CREATE STREAMING TABLE t (CONSTRAINT c CHECK (a > 1))", 1, 40, 5, "near 'CHECK'",
     "a condition on rows is"},
    {"CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (a > 1) ON VIOLATION DROP ROWS)", 1, 68, 4,
     "near 'DROP'", "without ON VIOLATION the row"},
    {"CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (a > 1) ON VIOLATION FAIL)", 1, 68, 4,
     "near 'FAIL'", "without ON VIOLATION the row"},
    {"CREATE STREAMING TABLE t (EXPECT (a > 1))", 1, 34, 1, "near '('",
     "write CONSTRAINT name EXPECT"},
    {"CREATE STREAMING TABLE t (a INT PRIMARY)", 1, 33, 7, "near 'PRIMARY'", "write PRIMARY KEY"},
    {"CREATE STREAMING TABLE t (a INT NULL)", 1, 33, 4, "near 'NULL'",
     "a column may be NULL unless"},
    {"CREATE STREAMING TABLE t (a INT UNIQUE)", 1, 33, 6, "near 'UNIQUE'", "there are no UNIQUE"},
    {"CREATE STREAMING TABLE t ()", 1, 27, 1, "near ')'", "without the parentheses the"},
    {"CREATE STREAMING TABLE t (a INT,)", 1, 33, 1, "near ')'", "remove the comma before it"},
    {"CREATE STREAMING TABLE t (a INT AUTO_INCREMENT)", 1, 33, 14, "near 'AUTO_INCREMENT'",
     "there are no generated keys"},
    {"CREATE STREAMING TABLE t FLOW AUTO CDC FROM STREAM(s) KEY (k) SEQUENCE BY x", 1, 55, 3,
     "near 'KEY'", "did you mean KEYS?"},
    {"CREATE STREAMING TABLE t FLOW AUTO CDC FROM STREAM(s) KEYS k SEQUENCE BY x", 1, 60, 1,
     "near 'k'", "columns stand in parentheses:"},
    {"CREATE STREAMING TABLE t FLOW AUTO CDC FROM STREAM(s) KEYS (k) SEQUENCE BY x STORED AS SCD "
     "TYPE2",
     1, 92, 5, "near 'TYPE2'", "did you mean TYPE?"},
    {"CREATE STREAMING TABLE t FLOW AUTO CDC INTO t FROM STREAM(s) KEYS (k) SEQUENCE BY x", 1, 40,
     4, "near 'INTO'", "the target of a FLOW is its"},
    {"CREATE FLOW f INSERT INTO t BY NAME SELECT 1", 1, 15, 6, "near 'INSERT'",
     "write CREATE FLOW name AS"},
    {"CREATE FLOW f AS SELECT 1", 1, 18, 6, "near 'SELECT'", "write CREATE FLOW name AS"},
    {"CREATE FLOW f AS INSERT INTO t SELECT 1", 1, 32, 6, "BY NAME is missing",
     "write INSERT INTO t BY NAME"},
    {"CREATE FLOW a.b AS INSERT INTO t BY NAME SELECT 1", 1, 14, 1, "near '.'",
     "a flow's name has one part"},
    {"CREATE STREAMING TABLE t SELECT 1", 1, 26, 6, "near 'SELECT'", "write AS before the query"},
    {"CREATE STREAM TABLE t", 1, 8, 6, "near 'STREAM'", "write CREATE STREAMING TABLE"},
    {"CREATE OR REPLACE STREAMING TABLE t", 1, 19, 9, "near 'STREAMING'",
     "a streaming table is replaced"},
    {"CREATE OR REFRESH TABLE t", 1, 19, 5, "near 'TABLE'", "write CREATE OR REFRESH"},
    {"CREATE REFRESH STREAMING TABLE t", 1, 8, 7, "near 'REFRESH'", "write CREATE OR REFRESH"},
    {"CREATE TEMPORARY TABLE t", 1, 18, 5, "near 'TABLE'", "there are no temporary"},
    {"REFRESH t", 1, 9, 1, "near 't'", "write REFRESH STREAMING TABLE"},
    {"REFRESH STREAMING TABLE t FULL REFRESH", 1, 32, 7, "near 'REFRESH'", "FULL alone is enough"},
    {"DROP MATERIALIZED VIEW t", 1, 6, 12, "near 'MATERIALIZED'", "there are no materialized"},
    {"SHOW TABLE", 1, 6, 5, "near 'TABLE'", "did you mean TABLES?"},
    {"SHOW CREATE TABLE t", 1, 6, 6, "near 'CREATE'", "DESCRIBE EXTENDED name tells"},
    {"SHOW DATABASES", 1, 6, 9, "near 'DATABASES'", "catalog and schema are set in"},
    {"SET TIME ZONE UTC", 1, 15, 3, "near 'UTC'", "a zone is a string: SET TIME"},
    {"EXPLAIN ANALYZE SELECT 1", 1, 9, 7, "near 'ANALYZE'", "EXPLAIN runs nothing; it"},
    {"ALTER STREAMING TABLE t ADD COLUMN c INT", 1, 29, 6, "near 'COLUMN'",
     "columns change by CREATE OR"},
    {"ALTER STREAMING TABLE t DROP COLUMN c", 1, 30, 6, "near 'COLUMN'",
     "columns change by CREATE OR"},
    {"ALTER STREAMING TABLE t SET SCHEDULE EVERY 1 DAY", 1, 29, 8, "near 'SCHEDULE'",
     "write ADD SCHEDULE or ALTER"},
    {"ALTER VIEW v AS SELECT 1", 1, 7, 4, "near 'VIEW'", "a view is replaced by CREATE"},
    {"SELECT * FROM \"t\"", 1, 15, 3, "near '\"t\"'", "a name is quoted by"},
    {"SELECT 1 AS \"total\"", 1, 13, 7, "near '\"total\"'", "a name is quoted by"},
    {"SELECT 1 AS 'total'", 1, 13, 7, "near ''total''", "a name is quoted by"},
    {"SELECT a FROM [t]", 1, 15, 1, "near '['", "a name is quoted by"},
    {"SELECT a && b FROM t", 1, 11, 1, "near '&'", "write AND"},
    {"SELECT a FROM t WHERE a IN 1, 2", 1, 28, 1, "near '1'", "the values stand in"},
    {"SELECT a FROM t WHERE a BETWEEN 1, 2", 1, 34, 1, "near ','", "write BETWEEN low AND high"},
    {"SELECT a FROM t WHERE a NOT NULL", 1, 25, 3, "near 'NOT'", "write IS NOT NULL"},
    {"SELECT a FROM t WHERE a IS NOT IN (1)", 1, 32, 2, "near 'IN'", "write NOT IN"},
    {"SELECT a FROM STREAM (SELECT 1)", 1, 23, 6, "near 'SELECT'", "STREAM reads a relation by"},
    {"SELECT a, b, FROM t", 1, 14, 4, "near 'FROM'", "remove the comma before it,"},
    {"SELECT a b, c d e FROM t", 1, 17, 1, "near 'e'", "'d' was read as an alias; is"},
    {"SELECT a) FROM t", 1, 9, 1, "near ')'", "there is no '(' that it could"},
    {"SELECT 'it's' FROM t", 1, 13, 1, "not closed", "a quote inside a string is"},
    {"SELECT CASE a = 1 THEN 2 END", 1, 19, 4, "near 'THEN'", "did you mean WHEN?"},
    {"INSERT t SELECT 1", 1, 8, 1, "near 't'", "write INSERT INTO table"},
    {"UPDATE t a = 1", 1, 12, 1, "near '='", "write UPDATE table SET column"},
    {"DELETE t WHERE a = 1", 1, 8, 1, "near 't'", "write DELETE FROM table"},
    {"DELETE * FROM t", 1, 8, 1, "near '*'", "write DELETE FROM table"},
    {"MERGE t USING s ON a", 1, 7, 1, "near 't'", "write MERGE INTO table"},
    {"CREATE FUNCTION f(a INT) AS a", 1, 26, 2, "near 'AS'", "write RETURN expression"},
    {"CREATE FUNCTION f RETURN 1", 1, 19, 6, "near 'RETURN'", "a function without parameters"},
    {"CREATE VIEW v SELECT 1", 1, 15, 6, "near 'SELECT'", "write AS before the query"},
    {"CREATE VIEW v (a INT) AS SELECT 1", 1, 18, 3, "near 'INT'", "columns of a view have the"},
    {"SELECT CAST(a, INT)", 1, 14, 1, "near ','", "write CAST(value AS INT)"},
    {"SELECT @a", 1, 8, 1, "near '@'", "there are no parameters in"},
    {"SELECT $1", 1, 8, 1, "near '$'", "there are no parameters in"},
    {"SELECT a FROM t WITH (NOLOCK)", 1, 17, 4, "near 'WITH'", "relations take no hints"},
    {"SELECT a FROM t USE INDEX (i)", 1, 21, 5, "near 'INDEX'", "relations take no hints"},
    {"SELECT a FROM t FOR UPDATE", 1, 21, 6, "near 'UPDATE'", "a query locks no rows"},
    {"SELECT a INTO b FROM t", 1, 15, 1, "near 'b'", "rows go to a table by INSERT"},
    {"SELECT a FROM t WATERMARK ts DELAY 5 MINUTES", 1, 36, 1, "near '5'",
     "write DELAY OF INTERVAL 10"},
    {"SELECT a FROM STREAM(t) WATERMARK FOR ts AS ts - INTERVAL 5 MINUTES", 1, 39, 2, "near 'ts'",
     "write WATERMARK column DELAY"},
    {"SELECT window(ts, '5 minutes') FROM t EMIT CHANGES", 1, 44, 7, "near 'CHANGES'",
     "a table is kept up to date by"},
    /* characters, not bytes */
    {"SELECT '\xC3\xA9\xE6\x97\xA5' \xE6\x97\xA5\xE4\xBB\x98", 1, 13, 2, "must be back quoted",
     "write `\xE6\x97\xA5\xE4\xBB\x98`"},
    {"SELECT\xC2\xA0 1", 1, 1, 7, "must be back quoted", "no-break space"},
    {"SELECT \xE2\x80\x98x\xE2\x80\x99", 1, 8, 3, "must be back quoted", "plain quotes"},
    /* flows */
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY v SELECT k, v FROM STREAM s", 1,
     63, 6, "BY NAME is missing", "write REPLACE USING (k) SEQUENCE BY v BY NAME SELECT"},
    {"CREATE FLOW f AS INSERT INTO t REPLACE WHERE d > 1 SELECT * FROM s", 1, 32, 7,
     "BY NAME is missing", "write INSERT INTO t BY NAME REPLACE"},
    {"CREATE FLOW f AS INSERT INTO t BY NAME REPLACE WHERE d > 1 BY NAME SELECT 1", 1, 60, 2,
     "expected the query", "behind the table's name and nowhere else"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) BY NAME SELECT 1", 1, 49, 2,
     "SEQUENCE BY is missing", "SEQUENCE BY column"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY a, b BY NAME SELECT 1", 1, 62, 1,
     "near ','", "exactly one column"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY a + 1 BY NAME SELECT 1", 1, 63, 1,
     "near '+'", "takes a column"},
    {"CREATE STREAMING TABLE t FLOW REPLACE USING k SEQUENCE BY a BY NAME SELECT 1", 1, 45, 1,
     "expected '('", "REPLACE USING (column"},
    {"CREATE STREAMING TABLE t FLOW AUTO CDC FROM a.b KEYS (k) SEQUENCE BY s", 1, 45, 3,
     "a.b is not read as one", "write FROM STREAM(a.b)"},
    {"CREATE OR REFRESH STREAMING TABLE IF NOT EXISTS p AS SELECT 1", 1, 35, 2,
     "exclude each other", "OR REFRESH creates"},
    {"REFRESH FULL STREAMING TABLE t", 1, 9, 4, "STREAMING", "FULL comes last"},
    {"CREATE TABLE t (a INT)", 1, 8, 5, "CREATE TABLE is not part", "STREAMING TABLE"},
};

static Error *first_error(const char *sql, Diagnostics *diagnostics, Arena *arena)
{
    AstScript *script = NULL;
    sql_parse_script(str_from(sql), arena, diagnostics, &script);
    assert_int_equal(diagnostics->count, 1);
    return diagnostics->errors[0];
}

static void test_mistakes(void **state)
{
    size_t wrong = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(mistakes); i++) {
        AUTO(arena) Arena *arena = arena_new("errors");
        Diagnostics diagnostics = {0};
        const Mistake *mistake = &mistakes[i];
        Error *error = first_error(mistake->sql, &diagnostics, arena);
        SourcePlace place = error_place(error);
        const char *hint = error_hint(error);
        bool right = place.line == mistake->line && place.column == mistake->column &&
                     place.length == mistake->length &&
                     strstr(error_message(error), mistake->message) != NULL &&
                     (mistake->hint == NULL ? hint == NULL
                                            : hint != NULL && strstr(hint, mistake->hint) != NULL);
        if (!right) {
            AUTO_BUFFER Buffer text = {0};
            error_format(error, &text);
            print_error("%s\n%d:%d+%d\n%s", mistake->sql, place.line, place.column, place.length,
                        buffer_cstr(&text));
            wrong++;
        }
        diagnostics_done(&diagnostics);
    }
    assert_int_equal(wrong, 0);
    (void)state;
}

static void test_printed_form(void **state)
{
    AUTO(arena) Arena *arena = arena_new("errors");
    Diagnostics diagnostics = {0};
    AUTO_BUFFER Buffer text = {0};
    error_format(first_error("SELECT a\nFROM t GRUP BY a", &diagnostics, arena), &text);
    assert_string_equal(
        buffer_cstr(&text),
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'BY': expected the end of the "
        "statement or another clause. SQLSTATE: 42601\n"
        "  at statement:2:13\n"
        "    FROM t GRUP BY a\n"
        "                ^^\n"
        "  hint: 'GRUP' was read as an alias; did you mean GROUP?\n");
    diagnostics_done(&diagnostics);
    (void)state;
}

/* After an error the parser goes on behind the next ';' that is none of a string's or comment's. */
static void test_all_statements_are_checked(void **state)
{
    AUTO(arena) Arena *arena = arena_new("errors");
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(STR("SELECT 1;\nSELECT FROM ';' /* ; */ x;;\nSELECT 2;\n DROP;SELECT ';' AS s "
                         "-- today's note; not a statement"),
                     arena, &diagnostics, &script);
    assert_int_equal(script->statement_count, 3);
    assert_int_equal(diagnostics.count, 2);
    assert_int_equal(error_place(diagnostics.errors[0]).line, 2);
    assert_int_equal(error_place(diagnostics.errors[0]).column, 8);
    assert_int_equal(error_place(diagnostics.errors[1]).line, 4);
    assert_int_equal(error_place(diagnostics.errors[1]).column, 6);
    assert_int_equal(script->statements[2]->place.line, 4);
    diagnostics_done(&diagnostics);
    (void)state;
}

/* Every message shows the line and a caret. */
static void test_the_line_is_shown(void **state)
{
    for (size_t i = 0; i < ARRAY_LENGTH(mistakes); i++) {
        AUTO(arena) Arena *arena = arena_new("errors");
        AUTO_BUFFER Buffer text = {0};
        Diagnostics diagnostics = {0};
        error_format(first_error(mistakes[i].sql, &diagnostics, arena), &text);
        if (strstr(buffer_cstr(&text), "^\n") == NULL) {
            fail_msg("%s", buffer_cstr(&text));
        }
        diagnostics_done(&diagnostics);
    }
    (void)state;
}

static void assert_class(const char *sql, ErrorClass class)
{
    AUTO(arena) Arena *arena = arena_new("errors");
    Diagnostics diagnostics = {0};
    assert_int_equal(error_class(first_error(sql, &diagnostics, arena)), class);
    diagnostics_done(&diagnostics);
}

static void test_classes(void **state)
{
    assert_class("SELECT a b c", ERROR_PARSE_SYNTAX_ERROR);
    assert_class("SELECT BANANA 'x'", ERROR_UNSUPPORTED_TYPED_LITERAL);
    assert_class("SELECT BIGINT '1'", ERROR_UNSUPPORTED_TYPED_LITERAL);
    assert_class("SELECT 3 AS \xE6\x97\xA5\xE4\xBB\x98", ERROR_INVALID_IDENTIFIER);
    assert_class("SELECT CAST(a AS VARCHAR)", ERROR_DATATYPE_MISSING_SIZE);
    assert_class("SELECT CAST(a AS BANANA)", ERROR_UNSUPPORTED_DATATYPE);
    assert_class("CREATE STREAMING TABLE p FLOW INSERT SELECT 1", ERROR_MISSING_BY_NAME);
    assert_class("CREATE STREAMING TABLE t FLOW AUTO CDC FROM STREAM(s) KEYS (k)",
                 ERROR_MISSING_SEQUENCE_BY);
    (void)state;
}

/* Texts that are one thing as a whole. */
static void test_whole_texts(void **state)
{
    AUTO(arena) Arena *arena = arena_new("errors");
    AstExpr *expr = NULL;
    AstQuery *query = NULL;
    AstDataType *type = NULL;
    AUTO(error) Error *semicolon = sql_parse_query(STR("SELECT 1;"), arena, &query);
    AUTO(error) Error *rest = sql_parse_expression(STR("a b"), arena, &expr);
    AUTO(error) Error *empty = sql_parse_expression(STR(" -- \n"), arena, &expr);
    AUTO(error) Error *unclosed = sql_parse_data_type(STR("ARRAY<INT"), arena, &type);
    assert_int_equal(error_place(semicolon).column, 9);
    assert_int_equal(error_place(rest).column, 3);
    assert_int_equal(error_class(empty), ERROR_PARSE_EMPTY_STATEMENT);
    assert_int_equal(error_place(unclosed).column, 10);
    assert_null(expr);
    assert_null(query);
    assert_null(type);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),     cmocka_unit_test(test_the_line_is_shown),
        cmocka_unit_test(test_printed_form), cmocka_unit_test(test_all_statements_are_checked),
        cmocka_unit_test(test_classes),      cmocka_unit_test(test_whole_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
