/* Programs: tables, flows, expectations, properties; the mistakes of several statements at once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/bind_fixture.h"

static void fixture_with_source(BindFixture *fixture)
{
    bind_fixture_init(fixture);
    bind_fixture_add(fixture, RELATION_STREAM, "src",
                     "`bookingId` INT, `Status` STRING, seq BIGINT, m MAP<STRING, INT>, j VARIANT, "
                     "d DATE, i INT");
}

static void check_verdict(const char *text, const char *kind)
{
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(&fixture, text);
    if (strcmp(bind_fixture_verdict(&fixture), kind) != 0) {
        print_error("%s: %s\n", text,
                    fixture.diagnostics.count == 0 ? ""
                                                   : error_message(fixture.diagnostics.errors[0]));
    }
    assert_string_equal(bind_fixture_verdict(&fixture), kind);
    bind_fixture_done(&fixture);
}

static void check_schema(const Schema *schema, const char *expected)
{
    AUTO_BUFFER Buffer out = {0};
    schema_format(schema, &out);
    assert_string_equal(buffer_cstr(&out), expected);
}

/* cases/columns.yaml columns.identifier-case: names resolve without regard to case, the table's
 * columns are spelled as the source declares them. */
static void test_columns_identifier_case(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(&fixture, "CREATE OR REFRESH STREAMING TABLE t\n"
                                   "FLOW REPLACE USING (BOOKINGID) SEQUENCE BY Seq BY NAME\n"
                                   "SELECT bookingid, STATUS, seq FROM STREAM src;");
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    assert_int_equal(fixture.program.table_count, 1);
    check_schema(fixture.program.tables[0].schema, "bookingId INT, Status STRING, seq BIGINT");
    const BoundFlow *flow = &fixture.program.flows[0];
    assert_int_equal(flow->kind, FLOW_REPLACE_USING);
    assert_int_equal(flow->key_count, 1);
    assert_int_equal(flow->keys[0], 0);
    assert_int_equal(flow->sequence, 2);
    assert_true(str_equal(flow->name, STR("t")));
    check_schema(flow->query->schema, "bookingId INT, Status STRING, seq BIGINT");
    Str name = STR("T");
    const Relation *relation = catalog_find(fixture.context.catalog, &name, 1);
    assert_int_equal(relation->kind, RELATION_TARGET);
    assert_true(str_equal(relation->keys[0], STR("bookingId")));
    assert_true(str_equal(relation->sequence, STR("seq")));
    bind_fixture_done(&fixture);
}

/* cases/columns.yaml columns.by-name-reordered */
static void test_columns_by_name_reordered(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(&fixture,
                         "CREATE STREAMING TABLE t (sale_day DATE, qty INT) "
                         "FLOW REPLACE USING (sale_day) SEQUENCE BY qty BY NAME "
                         "SELECT 12 AS qty, DATE'2024-06-30' AS sale_day FROM STREAM src");
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    const BoundNode *query = fixture.program.flows[0].query;
    check_schema(query->schema, "sale_day DATE, qty INT");
    assert_int_equal(query->kind, BOUND_PROJECT);
    assert_int_equal(query->expressions[0]->column, 1);
    assert_int_equal(query->expressions[1]->column, 0);
    bind_fixture_done(&fixture);
}

static void check_keys(const char *keys, const char *kind)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_printf(&text,
                  "CREATE STREAMING TABLE t FLOW REPLACE USING (%s) SEQUENCE BY seq BY NAME "
                  "SELECT m, j, d, Status AS s, i, seq, bookingId AS k FROM STREAM src",
                  keys);
    check_verdict(buffer_cstr(&text), kind);
}

/* cases/columns.yaml columns.key-list-rules */
static void test_columns_key_list_rules(void **state)
{
    (void)state;
    check_keys("k, k", "DUPLICATE_KEY_COLUMN");
    check_keys("m", "KEY_TYPE_NOT_ORDERABLE");
    check_keys("j", "KEY_TYPE_NOT_ORDERABLE");
    check_keys("", "SYNTAX_ERROR");
    check_keys("nope", "UNRESOLVED_COLUMN");
    check_keys("nope, k, k", "UNRESOLVED_COLUMN");
    check_keys("d, s, i", "accept");
}

#define FLOW " FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME "

/* ST-50, ST-51: the query is brought into the target's shape. */
static void test_fits_target(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(&fixture, "CREATE STREAMING TABLE t (k BIGINT NOT NULL, extra STRING, "
                                   "seq BIGINT COMMENT 'order', Name STRING)" FLOW
                                   "SELECT seq, Status AS NAME, bookingId AS K FROM STREAM(src)");
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    const BoundNode *query = fixture.program.flows[0].query;
    check_schema(query->schema, "k BIGINT NOT NULL, extra STRING, seq BIGINT COMMENT 'order', "
                                "Name STRING");
    assert_int_equal(query->expressions[0]->kind, BOUND_CAST);
    assert_int_equal(query->expressions[1]->kind, BOUND_LITERAL);
    assert_int_equal(query->expressions[2]->kind, BOUND_COLUMN);
    assert_int_equal(query->expressions[3]->column, 1);
    bind_fixture_done(&fixture);
}

static void test_target_mismatches(void **state)
{
    (void)state;
    check_verdict("CREATE STREAMING TABLE t (k INT, seq BIGINT)" FLOW
                  "SELECT bookingId AS k, seq, i FROM STREAM(src)",
                  "SCHEMA_MISMATCH");
    check_verdict("CREATE STREAMING TABLE t (k INT, seq BIGINT, must INT NOT NULL)" FLOW
                  "SELECT bookingId AS k, seq FROM STREAM(src)",
                  "SCHEMA_MISMATCH");
    check_verdict("CREATE STREAMING TABLE t (k INT, seq BIGINT)" FLOW
                  "SELECT status AS k, seq FROM STREAM(src)",
                  "SCHEMA_MISMATCH");
    check_verdict("CREATE STREAMING TABLE t" FLOW
                  "SELECT bookingId AS k, seq, i AS K FROM STREAM(src)",
                  "DUPLICATE_COLUMN");
    check_verdict("CREATE STREAMING TABLE t" FLOW
                  "SELECT bookingId AS k, seq, i AS _row FROM STREAM(src)",
                  "DUPLICATE_COLUMN");
    check_verdict("CREATE STREAMING TABLE t (k INT, seq BIGINT, _ROW INT)" FLOW
                  "SELECT bookingId AS k, seq FROM STREAM(src)",
                  "DUPLICATE_COLUMN");
    check_verdict("CREATE STREAMING TABLE t" FLOW
                  "SELECT bookingId AS k, seq, NULL AS n FROM STREAM(src)",
                  "SCHEMA_MISMATCH");
    /* RU-49: a key that the column list has and the query does not give. */
    check_verdict("CREATE STREAMING TABLE t (k INT, seq BIGINT)" FLOW "SELECT seq FROM STREAM(src)",
                  "UNRESOLVED_COLUMN");
}

#define QUERY FLOW "SELECT bookingId AS k, Status, seq FROM STREAM(src)"

static void test_expectations(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(
        &fixture,
        "CREATE STREAMING TABLE t (CONSTRAINT a EXPECT (k > 0), CONSTRAINT b EXPECT (status = 'x' "
        "AND t.seq IS NOT NULL) ON VIOLATION DROP ROW, CONSTRAINT c EXPECT (seq < 10) ON VIOLATION "
        "FAIL UPDATE)" QUERY);
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    const BoundTable *table = &fixture.program.tables[0];
    assert_int_equal(table->expectation_count, 3);
    assert_int_equal(table->expectations[0].action, EXPECT_WARN);
    assert_int_equal(table->expectations[1].action, EXPECT_DROP);
    assert_int_equal(table->expectations[2].action, EXPECT_FAIL);
    assert_true(str_equal(table->expectations[0].text, STR("k > 0")));
    /* Columns are those of the target, after projection (ST-21). */
    assert_int_equal(table->expectations[2].condition->children[0]->column, 2);
    bind_fixture_done(&fixture);
    check_verdict("CREATE STREAMING TABLE t (CONSTRAINT a EXPECT (k))" QUERY,
                  "INVALID_EXPECTATION");
    check_verdict("CREATE STREAMING TABLE t (CONSTRAINT a EXPECT (sum(k) > 0))" QUERY,
                  "INVALID_EXPECTATION");
    check_verdict("CREATE STREAMING TABLE t (CONSTRAINT a EXPECT (main.f(k)))" QUERY,
                  "INVALID_EXPECTATION");
    check_verdict("CREATE STREAMING TABLE t (CONSTRAINT a EXPECT (rand() < 1))" QUERY,
                  "INVALID_EXPECTATION");
    check_verdict("CREATE STREAMING TABLE t (CONSTRAINT a EXPECT (k > 0), CONSTRAINT A EXPECT (k > "
                  "1))" QUERY,
                  "INVALID_EXPECTATION");
    check_verdict("CREATE STREAMING TABLE t (CONSTRAINT a EXPECT (bookingId > 0))" QUERY,
                  "UNRESOLVED_COLUMN");
}

static void test_clauses(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(&fixture,
                         "CREATE OR REFRESH STREAMING TABLE shop.sales.t COMMENT 'latest' "
                         "TBLPROPERTIES ('owner.team' = 'ops', pipelines.channel = \"PREVIEW\") "
                         "DEFAULT COLLATION UTF8_BINARY" QUERY);
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    const BoundTable *table = &fixture.program.tables[0];
    assert_true(str_equal(table->name, STR("shop.sales.t")));
    assert_true(table->or_refresh);
    assert_true(str_equal(table->comment, STR("latest")));
    assert_int_equal(table->property_count, 2);
    assert_true(str_equal(table->properties[1].name, STR("pipelines.channel")));
    assert_true(str_equal(table->properties[1].value, STR("PREVIEW")));
    bind_fixture_done(&fixture);
    check_verdict("CREATE STREAMING TABLE t TBLPROPERTIES (pipelines.reset.allowed = 'no')" QUERY,
                  "INVALID_PROPERTY");
    check_verdict("CREATE STREAMING TABLE t TBLPROPERTIES (delta.appendOnly = 'true')" QUERY,
                  "APPEND_ONLY_TABLE");
    check_verdict("CREATE STREAMING TABLE t COMMENT 'a' COMMENT 'b'" QUERY, "DUPLICATE_CLAUSE");
    check_verdict("CREATE STREAMING TABLE t SCHEDULE EVERY 1 DAY" QUERY, "NOT_YET");
    check_verdict("CREATE STREAMING TABLE t CLUSTER BY (nope)" QUERY, "UNRESOLVED_COLUMN");
    check_verdict("CREATE STREAMING TABLE t (k INT PRIMARY KEY, status STRING, seq BIGINT)" QUERY,
                  "NOT_YET");
}

static void test_names(void **state)
{
    (void)state;
    check_verdict("CREATE STREAMING TABLE t" QUERY "; CREATE STREAMING TABLE Main.default.T" QUERY,
                  "TABLE_ALREADY_EXISTS");
    check_verdict("CREATE STREAMING TABLE src" QUERY, "TABLE_ALREADY_EXISTS");
    check_verdict("CREATE STREAMING TABLE t" QUERY
                  "; CREATE STREAMING TABLE u; CREATE FLOW T AS INSERT INTO u BY NAME REPLACE "
                  "USING (k) SEQUENCE BY seq SELECT seq, i AS k FROM STREAM(src)",
                  "MULTIPLE_FLOWS");
    check_verdict("CREATE STREAMING TABLE t", "MISSING_QUERY");
    check_verdict("CREATE FLOW f AS INSERT INTO nowhere BY NAME SELECT * FROM STREAM(src)",
                  "TABLE_NOT_FOUND");
}

/* ST-7: a pipeline's CREATE is declarative; a single statement must say OR REFRESH. */
static void test_existing_target(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_add(&fixture, RELATION_TARGET, "t", "k INT, Status STRING, seq BIGINT");
    bind_fixture_program(&fixture, "CREATE STREAMING TABLE t" QUERY);
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    fixture.context.pipeline = false;
    bind_fixture_program(&fixture, "CREATE STREAMING TABLE t" QUERY);
    assert_string_equal(bind_fixture_verdict(&fixture), "TABLE_ALREADY_EXISTS");
    bind_fixture_program(&fixture, "CREATE OR REFRESH STREAMING TABLE t" QUERY);
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    assert_int_equal(fixture.program.table_count, 1);
    /* ST-6 */
    bind_fixture_program(&fixture, "CREATE STREAMING TABLE IF NOT EXISTS t AS SELECT 1 AS other");
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    assert_int_equal(fixture.program.table_count, 0);
    bind_fixture_done(&fixture);
}

static void existing(BindFixture *fixture, const char *columns)
{
    static const Str keys[] = {{"k", 1}};
    Str name = STR("t");
    Relation relation = {.name = name,
                         .kind = RELATION_TARGET,
                         .schema = bind_fixture_schema(fixture->arena, columns),
                         .keys = keys,
                         .key_count = 1,
                         .sequence = STR("seq")};
    catalog_put(fixture->context.catalog, &name, 1, &relation);
}

static void expect_columns(const char *stored, const char *text, const char *columns)
{
    BindFixture fixture;
    fixture_with_source(&fixture);
    existing(&fixture, stored);
    bind_fixture_program(&fixture, text);
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    AUTO_BUFFER Buffer out = {0};
    schema_format(fixture.program.tables[0].schema, &out);
    assert_string_equal(buffer_cstr(&out), columns);
    bind_fixture_done(&fixture);
}

/* RW-50, RW-44: a column keeps its place and spelling, new ones come last; a list rules the order.
 */
static void test_columns_stay(void **state)
{
    (void)state;
    expect_columns("gone DATE NOT NULL, SEQ INT, k INT",
                   "CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT "
                   "i AS fresh, bookingId AS k, seq FROM STREAM(src)",
                   "gone DATE, SEQ BIGINT, k INT, fresh INT");
    expect_columns("gone DATE NOT NULL, SEQ INT, k INT",
                   "CREATE STREAMING TABLE t (k INT, fresh STRING COMMENT 'new', seq BIGINT) FLOW "
                   "REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT bookingId AS k, seq FROM "
                   "STREAM(src)",
                   "k INT, fresh STRING COMMENT 'new', SEQ BIGINT, gone DATE");
}

/* RU-55, and what rows already stored allow. */
static void test_changed_definitions(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    static const struct {
        const char *columns;
        const char *text;
        const char *kind;
    } cases[] = {
        {"K INT, seq BIGINT", "CREATE STREAMING TABLE t" QUERY, "accept"},
        {"k INT, gone INT, seq BIGINT", "CREATE STREAMING TABLE t" QUERY, "accept"},
        {"k SMALLINT, seq INT", "CREATE STREAMING TABLE t" QUERY, "accept"},
        {"k BIGINT, seq BIGINT", "CREATE STREAMING TABLE t" QUERY, "SCHEMA_MISMATCH"},
        {"k STRING, seq BIGINT", "CREATE STREAMING TABLE t" QUERY, "SCHEMA_MISMATCH"},
        {"k INT, seq BIGINT",
         "CREATE STREAMING TABLE t (k DOUBLE, Status STRING, seq BIGINT)" QUERY, "accept"},
        {"k BIGINT, seq BIGINT",
         "CREATE STREAMING TABLE t (k DOUBLE, Status STRING, seq BIGINT)" QUERY,
         "FULL_REFRESH_REQUIRED"},
        {"k INT, seq BIGINT",
         "CREATE STREAMING TABLE t FLOW REPLACE USING (k, i) SEQUENCE BY seq BY NAME SELECT i, "
         "seq, "
         "bookingId AS k FROM STREAM(src)",
         "FULL_REFRESH_REQUIRED"},
        {"k INT, seq BIGINT",
         "CREATE STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY i BY NAME SELECT i, seq, "
         "bookingId AS k FROM STREAM(src)",
         "FULL_REFRESH_REQUIRED"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        existing(&fixture, cases[i].columns);
        bind_fixture_program(&fixture, cases[i].text);
        assert_string_equal(bind_fixture_verdict(&fixture), cases[i].kind);
    }
    bind_fixture_done(&fixture);
}

/* A table may read another one of the program, whichever stands first (ST-59). */
static void test_tables_read_each_other(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(&fixture,
                         "CREATE STREAMING TABLE b FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME "
                         "SELECT k, seq + 1 AS seq FROM STREAM(a);"
                         "CREATE STREAMING TABLE a" QUERY);
    assert_string_equal(bind_fixture_verdict(&fixture), "accept");
    assert_int_equal(fixture.program.table_count, 2);
    const BoundNode *scan = fixture.program.flows[0].query->child;
    assert_int_equal(scan->kind, BOUND_SCAN);
    assert_int_equal(scan->relation->kind, RELATION_TARGET);
    assert_int_equal(scan->relation->index, 1);
    bind_fixture_program(&fixture,
                         "CREATE STREAMING TABLE c FLOW REPLACE USING (k) SEQUENCE BY k BY NAME "
                         "SELECT k FROM STREAM(d);"
                         "CREATE STREAMING TABLE d FLOW REPLACE USING (k) SEQUENCE BY k BY NAME "
                         "SELECT k FROM STREAM(c)");
    assert_int_equal(error_class(fixture.diagnostics.errors[0]), ERROR_PIPELINE_CYCLE);
    bind_fixture_done(&fixture);
}

static void check_place(const Error *error, const char *kind, int line, int column)
{
    assert_string_equal(error_kind(error), kind);
    assert_int_equal(error_place(error).line, line);
    assert_int_equal(error_place(error).column, column);
}

/* Independent mistakes are all told; one that follows from another is not. */
static void test_all_mistakes_at_once(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_source(&fixture);
    bind_fixture_program(&fixture, "CREATE STREAMING TABLE a\n"
                                   "FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME\n"
                                   "SELECT nope, upper(staatus), seq AS k FROM STREAM(src)\n"
                                   "WHERE seq;\n"
                                   "CREATE STREAMING TABLE later SCHEDULE EVERY 1 DAY\n"
                                   "FLOW REPLACE USING (k) SEQUENCE BY k BY NAME\n"
                                   "SELECT k FROM STREAM(a);\n"
                                   "CREATE STREAMING TABLE z CLUSTER BY AUTO\n"
                                   "FLOW REPLACE USING (k) SEQUENCE BY k BY NAME\n"
                                   "SELECT seq AS k FROM STREAM(srcc)");
    assert_int_equal(fixture.diagnostics.count, 5);
    check_place(fixture.diagnostics.errors[0], "UNRESOLVED_COLUMN", 3, 8);
    check_place(fixture.diagnostics.errors[1], "UNRESOLVED_COLUMN", 3, 20);
    check_place(fixture.diagnostics.errors[2], "INVALID_PREDICATE", 4, 7);
    check_place(fixture.diagnostics.errors[3], "TABLE_NOT_FOUND", 10, 29);
    check_place(fixture.diagnostics.errors[4], "NOT_YET", 5, 30);
    assert_string_equal(error_hint(fixture.diagnostics.errors[3]), "did you mean `src`?");
    bind_fixture_done(&fixture);
}

static void test_other_statements(void **state)
{
    (void)state;
    check_verdict("SELECT 1", "NOT_YET");
    check_verdict("REFRESH STREAMING TABLE t FULL", "TABLE_NOT_FOUND");
    check_verdict("CREATE VIEW v AS SELECT 1", "accept");
    check_verdict("CREATE STREAMING TABLE t AS SELECT i FROM STREAM(src)", "NOT_YET");
    check_verdict("CREATE STREAMING TABLE t AS SELECT i FROM src", "NOT_STREAMING");
    check_verdict("CREATE STREAMING TABLE t (a INT)", "NOT_YET");
    check_verdict("", "accept");
}

/* Names of WITH that mention each other twice must not take exponential time. */
static void test_with_chain(void **state)
{
    (void)state;
    BindFixture fixture;
    AUTO_BUFFER Buffer text = {0};
    fixture_with_source(&fixture);
    buffer_append_cstr(&text, "CREATE STREAMING TABLE t" FLOW "WITH q0 AS (SELECT 1)");
    for (int i = 1; i < 200; i++) {
        buffer_printf(&text, ", q%d AS (SELECT * FROM q%d a JOIN q%d b ON true)", i, i - 1, i - 1);
    }
    buffer_append_cstr(&text, " SELECT * FROM q199");
    bind_fixture_program(&fixture, buffer_cstr(&text));
    assert_string_equal(bind_fixture_verdict(&fixture), "NOT_STREAMING");
    bind_fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_identifier_case),
        cmocka_unit_test(test_columns_by_name_reordered),
        cmocka_unit_test(test_columns_key_list_rules),
        cmocka_unit_test(test_fits_target),
        cmocka_unit_test(test_target_mismatches),
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_clauses),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_existing_target),
        cmocka_unit_test(test_columns_stay),
        cmocka_unit_test(test_changed_definitions),
        cmocka_unit_test(test_tables_read_each_other),
        cmocka_unit_test(test_all_mistakes_at_once),
        cmocka_unit_test(test_other_statements),
        cmocka_unit_test(test_with_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
