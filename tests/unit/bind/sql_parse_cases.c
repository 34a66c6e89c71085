/* The cases of SQL text and definition errors (family sql-parse) that analysis decides; what the
 * parser decides of them is in tests/unit/sql/trees.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/bind_fixture.h"

static void fixture_with_sources(BindFixture *fixture)
{
    bind_fixture_init(fixture);
    bind_fixture_add(fixture, RELATION_STREAM, "feed", "key_a INT, ver BIGINT");
    bind_fixture_add(fixture, RELATION_STREAM, "s", "c INT, d BIGINT, e BIGINT");
    bind_fixture_add(fixture, RELATION_STREAM, "x", "k INT, s BIGINT");
    bind_fixture_add(fixture, RELATION_STREAM, "y", "k INT, s BIGINT");
    bind_fixture_add(fixture, RELATION_TABLE, "batch", "c INT, d BIGINT");
}

static const Error *first_error(const BindFixture *fixture)
{
    return fixture->diagnostics.count == 0 ? NULL : fixture->diagnostics.errors[0];
}

/* sql-parse.required-clauses */
static void test_required_clauses(void **state)
{
    static const struct {
        const char *sql;
        const char *kind;
        bool accepted;
    } rows[] = {
        {"CREATE STREAMING TABLE tgt; CREATE FLOW upd AS INSERT INTO tgt BY NAME REPLACE USING "
         "(key_a) SEQUENCE BY ver SELECT * FROM STREAM feed",
         "accept", true},
        {"CREATE STREAMING TABLE tgt; CREATE FLOW upd AS INSERT INTO tgt BY NAME REPLACE USING "
         "(key_a) SELECT * FROM STREAM feed",
         "MISSING_SEQUENCE_BY", false},
        {"CREATE STREAMING TABLE t FLOW REPLACE USING (c) SEQUENCE BY d SELECT * FROM STREAM s",
         "MISSING_BY_NAME", false},
        {"CREATE STREAMING TABLE t FLOW REPLACE USING (c) SEQUENCE BY d, e BY NAME SELECT * FROM "
         "STREAM s",
         "SYNTAX_ERROR", false},
        {"CREATE STREAMING TABLE t FLOW REPLACE USING (c) SEQUENCE BY d BY NAME SELECT * FROM s",
         "NOT_STREAMING", false},
        {"CREATE STREAMING TABLE t FLOW REPLACE WHERE d > 1 BY NAME SELECT * FROM batch", "accept",
         true},
        {"CREATE OR REFRESH STREAMING TABLE IF NOT EXISTS t AS SELECT * FROM STREAM s",
         "SYNTAX_ERROR", false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        BindFixture fixture;
        fixture_with_sources(&fixture);
        bind_fixture_program(&fixture, rows[i].sql);
        const char *verdict = bind_fixture_verdict(&fixture);
        bool not_yet = strcmp(verdict, "NOT_YET") == 0; /* it is right as it is written */
        if (strcmp(verdict, rows[i].kind) != 0 && !(not_yet && rows[i].accepted)) {
            const Error *error = first_error(&fixture);
            fail_msg("%s: %s, not %s: %s", rows[i].sql, bind_fixture_verdict(&fixture),
                     rows[i].kind, error == NULL ? "" : error_message(error));
        }
        bind_fixture_done(&fixture);
    }
    (void)state;
}

/* sql-parse.one-flow-per-target: the message names the target, and the flows or the constraint. */
static void test_one_flow_per_target(void **state)
{
    static const struct {
        const char *sql;
        const char *kind;
        const char *named[3];
    } rows[] = {
        {"CREATE STREAMING TABLE t; "
         "CREATE FLOW a AS INSERT INTO t BY NAME REPLACE USING (k) SEQUENCE BY s SELECT k, s FROM "
         "STREAM x; CREATE FLOW b AS INSERT INTO t BY NAME SELECT k, s FROM STREAM y",
         "FLOW_TYPE_CONFLICT",
         {"`t`", "`a`", "`b`"}},
        {"CREATE STREAMING TABLE t; "
         "CREATE FLOW a AS INSERT INTO t BY NAME REPLACE USING (k) SEQUENCE BY s SELECT k, s FROM "
         "STREAM x; CREATE FLOW b AS INSERT INTO t BY NAME REPLACE WHERE k > 1 SELECT c AS k, d AS "
         "s FROM batch",
         "FLOW_TYPE_CONFLICT",
         {"`t`", "`a`", "`b`"}},
        {"CREATE STREAMING TABLE t; "
         "CREATE FLOW a AS INSERT INTO t BY NAME REPLACE USING (k) SEQUENCE BY s SELECT k, s FROM "
         "STREAM x; CREATE FLOW b AS INSERT INTO T BY NAME REPLACE USING (k) SEQUENCE BY s SELECT "
         "k, s FROM STREAM y",
         "MULTIPLE_FLOWS",
         {"`t`", "`a`", "`b`"}},
        {"CREATE STREAMING TABLE t (c INT, d BIGINT, CONSTRAINT small EXPECT (c < 9)) "
         "FLOW REPLACE WHERE c > 1 BY NAME SELECT c, d FROM batch",
         "EXPECTATIONS_NOT_SUPPORTED",
         {"`t`", "`small`", ""}},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        BindFixture fixture;
        fixture_with_sources(&fixture);
        bind_fixture_program(&fixture, rows[i].sql);
        const Error *error = first_error(&fixture);
        const char *message = error == NULL ? "" : error_message(error);
        bool named = true;
        for (size_t n = 0; n < ARRAY_LENGTH(rows[i].named); n++) {
            named = named && strstr(message, rows[i].named[n]) != NULL;
        }
        if (!named || strcmp(bind_fixture_verdict(&fixture), rows[i].kind) != 0) {
            fail_msg("%s: %s: %s", rows[i].sql, bind_fixture_verdict(&fixture), message);
        }
        bind_fixture_done(&fixture);
    }
    (void)state;
}

/* sql-parse.quoted-identifiers */
static void test_quoted_identifiers(void **state)
{
    static const struct {
        const char *sql;
        const char *column; /* NULL: INVALID_IDENTIFIER */
    } rows[] = {
        {"SELECT 1 AS `a``b`", "a`b"},
        {"SELECT 2 AS `\xE6\x97\xA5\xE4\xBB\x98`", "\xE6\x97\xA5\xE4\xBB\x98"},
        {"SELECT 3 AS \xE6\x97\xA5\xE4\xBB\x98", NULL},
        {"SELECT `x.y` FROM (SELECT 1 AS `x.y`)", "x.y"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        BindFixture fixture;
        fixture_with_sources(&fixture);
        BoundNode *query = NULL;
        AUTO(error) Error *error = bind_fixture_query(&fixture, rows[i].sql, &query);
        if (rows[i].column == NULL) {
            assert_non_null(error);
            assert_int_equal(error_class(error), ERROR_INVALID_IDENTIFIER);
        } else {
            assert_null(error);
            assert_int_equal(query->schema->field_count, 1);
            assert_true(str_equal(query->schema->fields[0].name, str_from(rows[i].column)));
        }
        bind_fixture_done(&fixture);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_required_clauses),
        cmocka_unit_test(test_one_flow_per_target),
        cmocka_unit_test(test_quoted_identifiers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
