/* Statements that are nearly right: each mistake is found although the statement itself may not be
 * built yet, and told at its place. What the catalogue's vectors do not ask. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/bind_fixture.h"

typedef struct Case {
    const char *sql;
    const char *kind; /* of the first error, or "accept" */
    const char *at;   /* the text the place points at; NULL: not looked at */
} Case;

/* src: a stream; dim: a table; t: a streaming table of alice's; f(x INT, y STRING DEFAULT): BOOLEAN
 */
static void init(BindFixture *fixture)
{
    bind_fixture_init(fixture);
    bind_fixture_add(fixture, RELATION_STREAM, "src",
                     "k INT, name STRING, day DATE, seq BIGINT, ts TIMESTAMP, m MAP<STRING, INT>");
    bind_fixture_add(fixture, RELATION_TABLE, "dim", "k INT, city STRING");
    bind_fixture_add(fixture, RELATION_TARGET, "t", "k INT, name STRING, day DATE");
    static const RoutineParameter parameters[] = {{{"x", 1}, &type_int, false},
                                                  {{"y", 1}, &type_string, true}};
    Str name = STR("f");
    Routine routine = {.name = name,
                       .signature_known = true,
                       .parameters = parameters,
                       .parameter_count = 2,
                       .returns = &type_boolean};
    catalog_put_routine(fixture->context.catalog, &name, 1, &routine);
}

/* What the place underlines begins with `at`. */
static bool points_at(const char *sql, const Error *error, const char *at)
{
    SourcePlace place = error_place(error);
    const char *line = sql;
    for (int i = 1; i < place.line && line != NULL; i++) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return line != NULL && place.column > 0 && (size_t)place.column <= strlen(line) &&
           strncmp(line + place.column - 1, at, strlen(at)) == 0;
}

static bool check(const Case *test, bool pipeline)
{
    BindFixture fixture;
    init(&fixture);
    fixture.context.pipeline = pipeline;
    bind_fixture_program(&fixture, test->sql);
    const char *verdict = bind_fixture_verdict(&fixture);
    bool ok = strcmp(verdict, test->kind) == 0;
    const Error *error = fixture.diagnostics.count == 0 ? NULL : fixture.diagnostics.errors[0];
    if (ok && test->at != NULL && error != NULL) {
        ok = points_at(test->sql, error, test->at);
    }
    if (!ok) {
        AUTO_BUFFER Buffer text = {0};
        if (error != NULL) {
            error_format(error, &text);
        }
        print_error("%s\n  expected %s at %s, got %s\n%s", test->sql, test->kind,
                    test->at == NULL ? "any place" : test->at, verdict, buffer_cstr(&text));
    }
    bind_fixture_done(&fixture);
    return ok;
}

static void check_all(const Case *cases, size_t count, bool pipeline)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += !check(&cases[i], pipeline);
    }
    assert_int_equal(wrong, 0);
}

#define CHECK(cases, pipeline) check_all(cases, ARRAY_LENGTH(cases), pipeline)

static void test_dml(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"INSERT INTO t SELECT k, name, day FROM src", "NOT_YET", "INSERT"},
        {"INSERT INTO t VALUES (1, 'a', '2026-01-01')", "NOT_YET", NULL},
        {"INSERT INTO t VALUES (1, 'a', true)", "SCHEMA_MISMATCH", NULL},
        {"INSERT INTO t (k, nam) VALUES (1, 'a')", "SCHEMA_MISMATCH", "nam"},
        {"INSERT INTO t (k, K) VALUES (1, 2)", "DUPLICATE_COLUMN", "K"},
        {"INSERT INTO t (k) VALUES (1, 2)", "SCHEMA_MISMATCH", NULL},
        {"INSERT INTO t BY NAME SELECT 1 AS k, 2 AS K", "DUPLICATE_COLUMN", NULL},
        {"INSERT INTO t BY NAME SELECT array(1) AS k", "SCHEMA_MISMATCH", "array(1)"},
        {"INSERT INTO t BY NAME SELECT '7' AS k", "NOT_YET", NULL},
        {"INSERT INTO t SELECT kk, name, day FROM src", "UNRESOLVED_COLUMN", "kk"},
        {"INSERT INTO src SELECT * FROM src", "UNSUPPORTED_STATEMENT", "src"},
        {"INSERT INTO t SELECT k, city, NULL FROM STREAM(dim)", "NOT_STREAMING", NULL},
        {"DELETE FROM t WHERE k", "INVALID_PREDICATE", "k"},
        {"DELETE FROM t WHERE x.k = 1", "UNRESOLVED_COLUMN", "x.k"},
        {"DELETE FROM t AS x WHERE t.k = 1", "UNRESOLVED_COLUMN", "t.k"},
        {"DELETE FROM t WHERE sum(k) = 1", "INVALID_PREDICATE", "sum(k)"},
        {"DELETE FROM t WHERE k IN (SELECT k FROM dim)", "NOT_YET", NULL},
        {"DELETE FROM t WHERE k IN (SELECT k FROM nodim)", "TABLE_NOT_FOUND", "nodim"},
        {"DELETE FROM t WHERE k IN (SELECT k FROM STREAM(src))", "STREAM_NOT_ALLOWED", "STREAM"},
        {"DELETE FROM dim", "UNSUPPORTED_STATEMENT", "dim"},
        {"UPDATE t SET k = 1, name = 'x' WHERE day < '2026-01-01'", "NOT_YET", "UPDATE"},
        {"UPDATE t SET nme = 'x'", "UNRESOLVED_COLUMN", "nme"},
        {"UPDATE t SET k = 1, t.K = 2", "DUPLICATE_COLUMN", "t.K"},
        {"UPDATE t SET k = array(1)", "SCHEMA_MISMATCH", "array(1)"},
        {"UPDATE t SET k = max(k)", "INVALID_PREDICATE", "max(k)"},
        {"UPDATE t SET k = k + 1 WHERE nope", "UNRESOLVED_COLUMN", "nope"},
        {"UPDATE t SET k = (SELECT max(k) FROM dim)", "NOT_YET", NULL},
        {"UPDATE t a (x, y, z) SET k = 1", "SYNTAX_ERROR", NULL},
    };
    CHECK(cases, false);
}

#define MERGE "MERGE INTO t USING dim d ON t.k = d.k "

static void test_merge(void **state)
{
    (void)state;
    static const Case cases[] = {
        {MERGE "WHEN MATCHED THEN DELETE", "NOT_YET", "MERGE"},
        {MERGE "WHEN MATCHED THEN UPDATE SET name = d.city", "NOT_YET", NULL},
        {MERGE "WHEN MATCHED THEN UPDATE SET nam = d.city", "UNRESOLVED_COLUMN", "nam"},
        {MERGE "WHEN MATCHED THEN UPDATE SET d.city = 'x'", "UNRESOLVED_COLUMN", "d.city"},
        {MERGE "WHEN MATCHED THEN UPDATE SET k = d.nope", "UNRESOLVED_COLUMN", "d.nope"},
        {MERGE "WHEN MATCHED AND d.city THEN DELETE", "INVALID_PREDICATE", NULL},
        {MERGE "WHEN NOT MATCHED THEN INSERT (k, name) VALUES (d.k, d.city)", "NOT_YET", NULL},
        {MERGE "WHEN NOT MATCHED THEN INSERT (k, name) VALUES (d.k)", "SCHEMA_MISMATCH", NULL},
        {MERGE "WHEN NOT MATCHED THEN INSERT (k) VALUES (t.k)", "UNRESOLVED_COLUMN", "t.k"},
        {MERGE "WHEN NOT MATCHED THEN INSERT (k, k) VALUES (1, 2)", "DUPLICATE_COLUMN", NULL},
        {"MERGE INTO t USING STREAM(src) s ON t.k = s.k WHEN MATCHED THEN DELETE",
         "STREAM_NOT_ALLOWED", "STREAM"},
        {"MERGE INTO t USING dim d ON k = 1 WHEN MATCHED THEN DELETE", "AMBIGUOUS_COLUMN", "k"},
        {"MERGE INTO t USING nodim d ON t.k = d.k WHEN MATCHED THEN DELETE", "TABLE_NOT_FOUND",
         "nodim"},
        {"MERGE INTO t a USING t b ON a.k = b.k WHEN MATCHED THEN DELETE", "NOT_YET", NULL},
    };
    CHECK(cases, false);
}

#define WHERE_(predicate, query)                                                                   \
    "CREATE STREAMING TABLE n FLOW REPLACE WHERE " predicate " BY NAME " query

static void test_replace_where(void **state)
{
    (void)state;
    static const Case cases[] = {
        {WHERE_("day > '2026-01-01'", "SELECT * FROM src"), "NOT_YET", NULL},
        {WHERE_("s.day > '2026-01-01'", "SELECT * FROM src s"), "NOT_YET", NULL},
        {WHERE_("x.day > '2026-01-01'", "SELECT * FROM src s"), "UNRESOLVED_COLUMN", "x.day"},
        {WHERE_("s.day > '2026-01-01'", "SELECT s.day AS d, k FROM src s"), "NOT_YET", NULL},
        {WHERE_("day > '2026-01-01'", "SELECT s.day AS d, k FROM src s"), "UNRESOLVED_COLUMN",
         "day"},
        {WHERE_("s.day > '2026-01-01'", "SELECT date_add(s.day, 1) AS day FROM src s"),
         "UNRESOLVED_COLUMN", "s.day"},
        {WHERE_("k = 1", "SELECT s.k, d.city FROM src s JOIN dim d ON s.k = d.k"), "NOT_YET", NULL},
        {WHERE_("s.day > '2026-01-01'", "SELECT * EXCEPT (day) FROM src s"), "UNRESOLVED_COLUMN",
         "s.day"},
        {WHERE_("rank() OVER (ORDER BY k) = 1", "SELECT k FROM src"), "INVALID_PREDICATE", "rank"},
        {WHERE_("explode(array(k)) = 1", "SELECT k FROM src"), "INVALID_PREDICATE", "explode"},
        {WHERE_("k = 1", "SELECT k, K FROM src"), "DUPLICATE_COLUMN", NULL},
        {WHERE_("k = 1", "SELECT k FROM src s JOIN STREAM(src) r USING (k)"), "STREAM_NOT_ALLOWED",
         "STREAM"},
        {WHERE_("k = 1", "SELECT kk AS k FROM src"), "UNRESOLVED_COLUMN", "kk"},
        {"CREATE STREAMING TABLE n (k INT NOT NULL, x STRING NOT NULL) FLOW REPLACE WHERE k = 1 BY "
         "NAME SELECT k FROM src",
         "SCHEMA_MISMATCH", NULL},
    };
    CHECK(cases, true);
}

#define CDC(clauses) "CREATE STREAMING TABLE n FLOW AUTO CDC FROM STREAM(src) " clauses

static void test_auto_cdc(void **state)
{
    (void)state;
    static const Case cases[] = {
        {CDC("KEYS (k) SEQUENCE BY seq"), "NOT_YET", NULL},
        {CDC("KEYS (kk) SEQUENCE BY seq"), "UNRESOLVED_COLUMN", "kk"},
        {CDC("KEYS (k, K) SEQUENCE BY seq"), "DUPLICATE_KEY_COLUMN", "K"},
        {CDC("KEYS (m) SEQUENCE BY seq"), "KEY_TYPE_NOT_ORDERABLE", "m"},
        {CDC("KEYS (k) SEQUENCE BY m"), "SEQUENCE_TYPE_NOT_ORDERABLE", "m"},
        {CDC("KEYS (k) SEQUENCE BY sq"), "UNRESOLVED_COLUMN", "sq"},
        {CDC("KEYS (k) SEQUENCE BY rand()"), "INVALID_CDC_SPEC", "rand"},
        {CDC("KEYS (k) APPLY AS DELETE WHEN name SEQUENCE BY seq"), "INVALID_PREDICATE", NULL},
        {CDC("KEYS (k) APPLY AS DELETE WHEN nme = 'D' SEQUENCE BY seq"), "UNRESOLVED_COLUMN",
         "nme"},
        {CDC("KEYS (k) APPLY AS DELETE WHEN k IN (SELECT 1) SEQUENCE BY seq"), "INVALID_CDC_SPEC",
         NULL},
        {CDC("KEYS (k) SEQUENCE BY seq COLUMNS (name)"), "INVALID_CDC_SPEC", "k"},
        {CDC("KEYS (k) SEQUENCE BY seq COLUMNS (k, nme)"), "UNRESOLVED_COLUMN", "nme"},
        {CDC("KEYS (k) SEQUENCE BY seq COLUMNS (k, k)"), "DUPLICATE_COLUMN", NULL},
        {CDC("KEYS (k) SEQUENCE BY seq COLUMNS * EXCEPT (nme)"), "UNRESOLVED_COLUMN", "nme"},
        {CDC("KEYS (k) SEQUENCE BY seq COLUMNS (k, name) STORED AS SCD TYPE 2 TRACK HISTORY ON "
             "day"),
         "INVALID_CDC_SPEC", "day"},
        {"CREATE STREAMING TABLE n (k INT) FLOW AUTO CDC FROM STREAM(src) KEYS (k) SEQUENCE BY seq",
         "SCHEMA_MISMATCH", NULL},
        {"CREATE STREAMING TABLE n (k INT) FLOW AUTO CDC FROM STREAM(src) KEYS (k) SEQUENCE BY seq "
         "COLUMNS (k)",
         "NOT_YET", NULL},
        {"CREATE STREAMING TABLE n FLOW AUTO CDC FROM STREAM(dim) KEYS (k) SEQUENCE BY k",
         "NOT_STREAMING", NULL},
        {CDC("KEYS (k) SEQUENCE BY seq COLUMNS (k, name) STORED AS SCD TYPE 2") ";\n"
                                                                                "DELETE FROM n "
                                                                                "WHERE __END_AT IS "
                                                                                "NULL AND day = "
                                                                                "'2026-01-01'",
         "UNRESOLVED_COLUMN", "day"},
    };
    CHECK(cases, true);
}

#define TABLE(clauses) "CREATE STREAMING TABLE n " clauses " AS SELECT k, name FROM STREAM(src)"

static void test_table_clauses(void **state)
{
    (void)state;
    static const Case cases[] = {
        {TABLE("SCHEDULE CRON '0 0 22-2 ? * FRI-MON'"), "NOT_YET", NULL},
        {TABLE("SCHEDULE CRON '0 0 24 * * ?'"), "INVALID_CRON", "24"},
        {TABLE("SCHEDULE CRON '0 0 0 * JANU ?'"), "INVALID_CRON", NULL},
        {TABLE("SCHEDULE CRON '0 0 0 * * *'"), "INVALID_CRON", "*'"},
        {TABLE("SCHEDULE CRON '0 0 0 L * ?'"), "INVALID_CRON", "L"},
        {TABLE("SCHEDULE CRON '0 0/0 0 * * ?'"), "INVALID_CRON", NULL},
        {TABLE("SCHEDULE CRON '0 0 0 ? * 8'"), "INVALID_CRON", "8"},
        {TABLE("SCHEDULE CRON '0 0 0 ? * SUN,TUE-THU/2'"), "NOT_YET", NULL},
        {TABLE("SCHEDULE CRON ''"), "INVALID_CRON", NULL},
        {TABLE("TRIGGER ON UPDATE AT MOST EVERY INTERVAL -1 HOUR"), "INVALID_TRIGGER_INTERVAL",
         NULL},
        {TABLE("TRIGGER ON UPDATE AT MOST EVERY INTERVAL 1 MONTH"), "NOT_YET", NULL},
        {"CREATE STREAMING TABLE n TBLPROPERTIES (delta.appendOnly = true);\nCREATE FLOW g AS "
         "INSERT INTO n BY NAME REPLACE USING (k) SEQUENCE BY seq SELECT k, seq FROM STREAM(src)",
         "APPEND_ONLY_TABLE", "delta"},
        {TABLE("PARTITIONED BY (k, K)"), "DUPLICATE_COLUMN", "K"},
        {TABLE("CLUSTER BY (kk)"), "UNRESOLVED_COLUMN", "kk"},
        {TABLE("WITH ROW FILTER f ON (k)"), "NOT_YET", NULL},
        {TABLE("WITH ROW FILTER f ON (k, name)"), "NOT_YET", NULL},
        {TABLE("WITH ROW FILTER f ON ()"), "INVALID_ARGUMENT", "f"},
        {TABLE("WITH ROW FILTER f ON (k, name, 3)"), "INVALID_ARGUMENT", "f"},
        {TABLE("WITH ROW FILTER f ON (kk)"), "UNRESOLVED_COLUMN", "kk"},
        {TABLE("WITH ROW FILTER g ON (k)"), "UNRESOLVED_FUNCTION", "g"},
        {TABLE("(k INT MASK f, name STRING)"), "NOT_YET", NULL},
        {TABLE("(k INT MASK g, name STRING)"), "UNRESOLVED_FUNCTION", "g"},
        {TABLE("(k DATE MASK f, name STRING)"), "INVALID_ARGUMENT", "f"},
        {TABLE("(k INT, name STRING, PRIMARY KEY (kk))"), "UNRESOLVED_COLUMN", "kk"},
        {TABLE("(k INT, name STRING, PRIMARY KEY (k, k))"), "DUPLICATE_KEY_COLUMN", "k"},
        {TABLE("(k INT, name STRING, CONSTRAINT c PRIMARY KEY (k), CONSTRAINT C FOREIGN KEY (k) "
               "REFERENCES dim (k))"),
         "UNSUPPORTED_CONSTRAINT", "C FOREIGN"},
        {TABLE("(k INT, name VARCHAR(3), PRIMARY KEY (kk))"), "UNRESOLVED_COLUMN", "kk"},
        {"CREATE STREAMING TABLE n CLUSTER BY (m) AS SELECT m FROM STREAM(src)",
         "KEY_TYPE_NOT_ORDERABLE", "m"},
        {TABLE("(k INT REFERENCES nodim, name STRING)"), "TABLE_NOT_FOUND", "nodim"},
        {TABLE("(k INT REFERENCES dim (kk), name STRING)"), "UNRESOLVED_COLUMN", "kk"},
        {TABLE("(k INT REFERENCES dim (k), name STRING)"), "NOT_YET", NULL},
        {TABLE("(k INT, name STRING, FOREIGN KEY (k) REFERENCES dim (k, city))"),
         "UNSUPPORTED_CONSTRAINT", "dim"},
        {TABLE("(k INT, name STRING, FOREIGN KEY (k) REFERENCES n (k))"), "NOT_YET", NULL},
        {TABLE("(k INT, name STRING, CONSTRAINT c EXPECT (f(k)))"), "INVALID_EXPECTATION", "f(k)"},
        {TABLE("(k INT, name STRING, CONSTRAINT c EXPECT (k))"), "INVALID_EXPECTATION", "k"},
    };
    CHECK(cases, true);
}

static void test_append(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"CREATE STREAMING TABLE n AS SELECT k FROM STREAM(src) ORDER BY k",
         "UNSUPPORTED_STREAMING_OPERATION", "ORDER"},
        {"CREATE STREAMING TABLE n AS SELECT s.k FROM dim d JOIN STREAM(src) s ON s.k = d.k",
         "NOT_YET", NULL},
        {"CREATE STREAMING TABLE n AS SELECT s.k FROM dim d LEFT JOIN STREAM(src) s ON s.k = d.k",
         "UNSUPPORTED_STREAMING_OPERATION", NULL},
        {"CREATE STREAMING TABLE n AS SELECT k FROM STREAM(src) WATERMARK name DELAY OF INTERVAL 1 "
         "HOUR",
         "INVALID_ARGUMENT", "name"},
        {"CREATE STREAMING TABLE n AS SELECT k FROM STREAM(src) WATERMARK ts DELAY OF INTERVAL 1 "
         "MONTH",
         "INVALID_ARGUMENT", NULL},
        {"CREATE STREAMING TABLE n AS SELECT k, cts FROM STREAM(src) WATERMARK CAST(day AS "
         "TIMESTAMP) AS cts DELAY OF INTERVAL 1 DAY",
         "NOT_YET", NULL},
        {"CREATE STREAMING TABLE n AS SELECT * FROM STREAM read_kafka(bootstrapServers => 'b', "
         "subscribe => 't', subscribe => 'u')",
         "INVALID_ARGUMENT", "subscribe => 'u'"},
        {"CREATE STREAMING TABLE n AS SELECT valu FROM STREAM read_kafka(bootstrapServers => 'b', "
         "subscribe => 't')",
         "UNRESOLVED_COLUMN", "valu"},
        {"CREATE STREAMING TABLE n AS SELECT * FROM STREAM read_files('/d', format => 'xml')",
         "INVALID_ARGUMENT", "'xml'"},
        {"CREATE STREAMING TABLE n AS SELECT * FROM STREAM read_files('/d', schema => 'a INTT')",
         "SYNTAX_ERROR", "'a INTT'"},
        {"CREATE STREAMING TABLE n AS SELECT b FROM STREAM read_files('/d', schema => 'a INT')",
         "UNRESOLVED_COLUMN", "b"},
        {"CREATE STREAMING TABLE n AS SELECT id FROM STREAM range(5)", "NOT_STREAMING", NULL},
    };
    CHECK(cases, true);
}

static void test_manage(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"REFRESH STREAMING TABLE src", "UNSUPPORTED_STATEMENT", "src"},
        {"ALTER STREAMING TABLE nope ADD SCHEDULE EVERY 1 DAY", "TABLE_NOT_FOUND", "nope"},
        {"ALTER STREAMING TABLE t ADD SCHEDULE EVERY 99 DAYS", "INVALID_SCHEDULE", "99"},
        {"ALTER STREAMING TABLE t SET TBLPROPERTIES ('a' = 'b', a = 'c')", "INVALID_PROPERTY",
         NULL},
        {"DROP STREAMING TABLE nope", "TABLE_NOT_FOUND", "nope"},
        {"DROP STREAMING TABLE IF EXISTS nope", "NOT_YET", NULL},
        {"DROP TABLE src", "UNSUPPORTED_STATEMENT", "src"},
        {"DROP VIEW t", "UNSUPPORTED_STATEMENT", "t"},
        {"DROP VIEW nope", "TABLE_NOT_FOUND", "nope"},
        {"DROP FUNCTION upper", "UNSUPPORTED_STATEMENT", "upper"},
        {"DROP FUNCTION nope", "UNRESOLVED_FUNCTION", "nope"},
        {"DROP FUNCTION f", "NOT_YET", NULL},
        {"DESCRIBE nope", "TABLE_NOT_FOUND", "nope"},
        {"DESCRIBE t kk", "UNRESOLVED_COLUMN", "kk"},
        {"DESCRIBE t AS JSON", "UNSUPPORTED_CLAUSE", NULL},
        {"DESCRIBE FUNCTION nope", "UNRESOLVED_FUNCTION", "nope"},
        {"DESCRIBE QUERY SELECT nope FROM t", "UNRESOLVED_COLUMN", "nope"},
        {"SHOW COLUMNS IN nope", "TABLE_NOT_FOUND", "nope"},
        {"SHOW COLUMNS IN t IN default", "NOT_YET", NULL},
        {"SHOW COLUMNS IN t IN elsewhere", "TABLE_NOT_FOUND", NULL},
        {"SHOW COLUMNS IN a.t IN b", "CLAUSE_CONFLICT", "b"},
        {"EXPLAIN SELECT nope FROM t", "UNRESOLVED_COLUMN", "nope"},
        {"EXPLAIN DELETE FROM nope", "TABLE_NOT_FOUND", "nope"},
        {"EXPLAIN CREATE STREAMING TABLE n AS SELECT nope FROM STREAM(src)", "UNRESOLVED_COLUMN",
         "nope"},
        {"EXPLAIN CREATE STREAMING TABLE n FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT "
         "k, seq FROM STREAM(src)",
         "NOT_YET", "EXPLAIN"},
        {"SET TIME ZONE INTERVAL 20 HOURS", "INVALID_TIME_ZONE", NULL},
        {"SET TIME ZONE INTERVAL -8 HOURS", "NOT_YET", NULL},
        {"SET spark.sql.session.timeZone = 'Mars/Base'", "INVALID_TIME_ZONE", "'Mars/Base'"},
        {"SELECT nope FROM information_schema.row_filters", "UNRESOLVED_COLUMN", "nope"},
        {"SELECT * FROM information_schema.nope", "TABLE_NOT_FOUND", "information_schema.nope"},
        {"SELECT k FROM t", "accept", NULL},
    };
    CHECK(cases, false);
}

static void test_functions(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"CREATE FUNCTION g(a INT) RETURN a + 1; SELECT g(1) + g('x')", "NOT_YET", NULL},
        {"CREATE FUNCTION g(a INT) RETURN a + 1; SELECT g(1, 2)", "INVALID_ARGUMENT", "g(1, 2)"},
        {"CREATE FUNCTION g(a INT) RETURN a + 1; SELECT g(array(1))", "INVALID_ARGUMENT", NULL},
        {"CREATE FUNCTION g(a INT) RETURN b", "UNRESOLVED_COLUMN", "b"},
        {"CREATE FUNCTION g(a INT, A INT) RETURN a", "DUPLICATE_COLUMN", "A"},
        {"CREATE FUNCTION g(a INT DEFAULT 1, b INT) RETURN a", "INVALID_ARGUMENT", "b"},
        {"CREATE FUNCTION g(a INT DEFAULT array(1)) RETURN a", "INVALID_ARGUMENT", NULL},
        {"CREATE FUNCTION g(a INT) RETURN sum(a)", "INVALID_ARGUMENT", "sum(a)"},
        {"CREATE FUNCTION g(a INT) RETURN SELECT sum(k) FROM dim WHERE k = a", "NOT_YET", NULL},
        {"CREATE FUNCTION g(a INT) RETURN SELECT k, city FROM dim", "INVALID_ARGUMENT", NULL},
        {"CREATE FUNCTION g(a INT) RETURN SELECT k FROM nodim", "TABLE_NOT_FOUND", "nodim"},
        {"CREATE FUNCTION g(a INT) COMMENT 'x' COMMENT 'y' RETURN a", "DUPLICATE_CLAUSE", NULL},
        {"CREATE FUNCTION g(a INT) RETURN a; CREATE FUNCTION g(a INT) RETURN a",
         "TABLE_ALREADY_EXISTS", NULL},
        {"CREATE FUNCTION g(a INT) RETURN a; CREATE OR REPLACE FUNCTION g(a INT) RETURN a",
         "NOT_YET", NULL},
        {"CREATE OR REPLACE FUNCTION f(x INT) RETURN f(x - 1)", "UNRESOLVED_FUNCTION", "f(x - 1)"},
        {"CREATE TEMPORARY FUNCTION s.g(a INT) RETURN a", "SYNTAX_ERROR", "s.g"},
        {"SELECT f(k => 1)", "INVALID_ARGUMENT", "k"},
        {"SELECT f(x => 1)", "NOT_YET", NULL},
        {"SELECT f(y => 'a')", "INVALID_ARGUMENT", "f("},
        {"SELECT f(x => 1, x => 2)", "INVALID_ARGUMENT", "x => 2"},
        {"SELECT f(x => 1, 'a')", "INVALID_ARGUMENT", "'a'"},
        {"SELECT f(1, x => 2)", "INVALID_ARGUMENT", "x => 2"},
    };
    CHECK(cases, false);
}

#define READ(query) "CREATE STREAMING TABLE n FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME " query

static void test_views(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"CREATE VIEW v AS SELECT k, seq FROM STREAM(src); " READ("SELECT * FROM STREAM(v)"),
         "accept", NULL},
        {"CREATE VIEW v (key, s) AS SELECT k, seq FROM STREAM(src);\n" READ(
             "SELECT key AS k, v.s AS seq FROM STREAM(v)"),
         "accept", NULL},
        {READ("SELECT * FROM STREAM(w)") "; CREATE VIEW w AS SELECT * FROM STREAM(v);"
                                         "CREATE VIEW v AS SELECT k, seq FROM STREAM(src)",
         "accept", NULL},
        {"CREATE VIEW v AS SELECT k, seq FROM STREAM(src);\n" READ("SELECT * FROM v"),
         "NOT_STREAMING", "v"},
        {"CREATE VIEW v AS SELECT k, seq FROM STREAM(src);\n" READ(
             "SELECT s.k, s.seq FROM STREAM(src) s JOIN v ON s.k = v.k"),
         "STREAM_NOT_ALLOWED", "v ON"},
        {"CREATE VIEW v AS SELECT k FROM dim;\n" READ("SELECT k, k AS seq FROM STREAM(v)"),
         "NOT_STREAMING", NULL},
        {"CREATE VIEW v AS SELECT k, sec FROM STREAM(src);\n" READ("SELECT * FROM STREAM(v)"),
         "UNRESOLVED_COLUMN", "sec"},
        {"CREATE VIEW v AS SELECT * FROM v", "INVALID_ARGUMENT", "v"},
        {"CREATE VIEW v AS SELECT * FROM w; CREATE VIEW w AS SELECT * FROM v", "INVALID_ARGUMENT",
         NULL},
        {"CREATE VIEW v AS SELECT 1 AS a, 2 AS A", "DUPLICATE_COLUMN", NULL},
        {"CREATE VIEW v (a, a) AS SELECT 1, 2", "DUPLICATE_COLUMN", NULL},
        {"CREATE VIEW src AS SELECT 1", "TABLE_ALREADY_EXISTS", "src"},
        {"CREATE VIEW v AS SELECT 1; CREATE VIEW v AS SELECT 2", "TABLE_ALREADY_EXISTS", NULL},
        {"CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1", "CLAUSE_CONFLICT", NULL},
        {"CREATE VIEW v COMMENT 'a' COMMENT 'b' AS SELECT 1", "DUPLICATE_CLAUSE", NULL},
        {"CREATE VIEW v AS SELECT k FROM dim; INSERT INTO v VALUES (1)", "UNSUPPORTED_STATEMENT",
         "v"},
        {"CREATE VIEW v AS SELECT k, max(seq) AS seq FROM STREAM(src) GROUP BY k;\n" READ(
             "SELECT * FROM STREAM(v)"),
         "UNSUPPORTED_STREAMING_OPERATION", "STREAM(v)"},
        {"CREATE VIEW v AS SELECT k, city FROM dim;\nCREATE STREAMING TABLE n FLOW REPLACE WHERE k "
         "= 1 BY NAME SELECT v.k, v.cit FROM v",
         "UNRESOLVED_COLUMN", "v.cit"},
    };
    CHECK(cases, true);
}

/* What is foreseeably written wrong has a hint. */
static void test_hints(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        const char *hint;
    } cases[] = {
        {READ("SELECT k, seq FROM src"), "STREAM(name)"},
        {READ("SELECT k, k AS seq FROM STREAM(dim)"), "kind: stream"},
        {READ("SELECT k, seq FROM STREAM(src) ORDER BY k"), "sort where the table is read"},
        {READ("SELECT k, max(seq) AS seq FROM STREAM(src) GROUP BY k"), "REPLACE WHERE"},
        {READ("SELECT k, seq FROM STREAM(sr)"), "`src`"},
        {READ("SELECT k, seqq FROM STREAM(src)"), "`seq`"},
        {"CREATE VIEW recent AS SELECT k, seq FROM STREAM(src);\n" READ(
             "SELECT * FROM STREAM(recnt)"),
         "`recent`"},
        {"CREATE VIEW recent AS SELECT k, seq FROM STREAM(src);\n" READ("SELECT * FROM recent"),
         "STREAM(name)"},
        {READ("SELECT k, seq FROM STREAM(src)") "; CREATE FLOW g AS INSERT INTO nn BY NAME REPLACE "
                                                "USING (k) SEQUENCE BY seq SELECT k, seq FROM "
                                                "STREAM(src)",
         "`n`"},
        {"CREATE STREAMING TABLE n FLOW REPLACE USING (k) SEQUENCE BY seq SELECT k, seq FROM "
         "STREAM(src)",
         "BY NAME"},
        {WHERE_("day > '2026-01-01'", "SELECT k FROM src"), "let the query give that column"},
        {"TRUNCATE TABLE t", "DELETE FROM"},
        {"ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')", "ALTER STREAMING TABLE"},
        {"INSERT INTO t (k, nam) VALUES (1, 'a')", "`name`"},
        {"INSERT INTO t SELECT k FROM src", "INSERT INTO table (a, b)"},
        {TABLE("SCHEDULE CRON '0 0 0 * * ? 2030'"), "leave out the year"},
        {TABLE("SCHEDULE CRON '0 0 0 * * *'"), "write `?`"},
        {TABLE("SCHEDULE EVERY 5 MINUTES"), "HOUR"},
        {TABLE("WITH ROW FILTER ff ON (k)"), "`f`"},
        {"DESCRIBE FUNCTION uper", "`upper`"},
        {"SET spark.sql.session.timezon = 'UTC'", "spark.sql.session.timeZone"},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        BindFixture fixture;
        init(&fixture);
        bind_fixture_program(&fixture, cases[i].sql);
        const Error *error = fixture.diagnostics.count == 0 ? NULL : fixture.diagnostics.errors[0];
        AUTO_BUFFER Buffer text = {0};
        if (error != NULL) {
            error_format(error, &text);
        }
        if (strstr(buffer_cstr(&text), cases[i].hint) == NULL) {
            print_error("%s\n  expected a hint with %s\n%s", cases[i].sql, cases[i].hint,
                        buffer_cstr(&text));
            wrong++;
        }
        bind_fixture_done(&fixture);
    }
    assert_int_equal(wrong, 0);
}

/* Views that read each other twice stand for 2^60 trees. */
static void test_view_chain(void **state)
{
    (void)state;
    BindFixture fixture;
    AUTO_BUFFER Buffer text = {0};
    init(&fixture);
    buffer_append_cstr(&text, "CREATE VIEW v0 AS SELECT k FROM dim;");
    for (int i = 1; i < 60; i++) {
        buffer_printf(&text, "CREATE VIEW v%d AS SELECT a.k FROM v%d a JOIN v%d b ON true;", i,
                      i - 1, i - 1);
    }
    bind_fixture_program(&fixture, buffer_cstr(&text));
    assert_string_equal(bind_fixture_verdict(&fixture), "SYNTAX_ERROR"); /* too complex */
    bind_fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dml),           cmocka_unit_test(test_merge),
        cmocka_unit_test(test_replace_where), cmocka_unit_test(test_auto_cdc),
        cmocka_unit_test(test_table_clauses), cmocka_unit_test(test_append),
        cmocka_unit_test(test_manage),        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_views),         cmocka_unit_test(test_view_chain),
        cmocka_unit_test(test_hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
