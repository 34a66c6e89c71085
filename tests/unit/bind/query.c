/* Queries: scopes, names of the output, FROM, VALUES, and the mistakes with their places. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/bind_fixture.h"

static void fixture_with_tables(BindFixture *fixture)
{
    bind_fixture_init(fixture);
    bind_fixture_add(fixture, RELATION_INLINE, "t", "bookingId INT, Status STRING, seq BIGINT");
    bind_fixture_add(fixture, RELATION_TABLE, "d", "k INT");
    bind_fixture_add(fixture, RELATION_STREAM, "shop.sales.tickets",
                     "id INT, s STRUCT<a: INT, B: STRING>");
}

/* "bookingId INT, seq BIGINT" */
static void check_schema(const char *text, const char *expected)
{
    BindFixture fixture;
    BoundNode *query = NULL;
    AUTO_BUFFER Buffer schema = {0};
    fixture_with_tables(&fixture);
    Error *error = bind_fixture_query(&fixture, text, &query);
    if (error != NULL) {
        print_error("%s: %s\n", text, error_message(error));
    }
    assert_null(error);
    schema_format(query->schema, &schema);
    assert_string_equal(buffer_cstr(&schema), expected);
    bind_fixture_done(&fixture);
}

/* Names of the output, separated by '|'. */
static void check_header(const char *text, const char *expected)
{
    BindFixture fixture;
    BoundNode *query = NULL;
    AUTO_BUFFER Buffer header = {0};
    fixture_with_tables(&fixture);
    assert_null(bind_fixture_query(&fixture, text, &query));
    for (size_t i = 0; i < query->schema->field_count; i++) {
        buffer_append_cstr(&header, i == 0 ? "" : "|");
        buffer_append_str(&header, query->schema->fields[i].name);
    }
    assert_string_equal(buffer_cstr(&header), expected);
    bind_fixture_done(&fixture);
}

static void check_error(const char *text, const char *class, int line, int column)
{
    BindFixture fixture;
    BoundNode *query = NULL;
    fixture_with_tables(&fixture);
    AUTO(error) Error *error = bind_fixture_query(&fixture, text, &query);
    if (error == NULL || strcmp(error_class_name(error_class(error)), class) != 0) {
        print_error("%s: %s\n", text, error == NULL ? "accepted" : error_message(error));
    }
    assert_non_null(error);
    assert_string_equal(error_class_name(error_class(error)), class);
    assert_int_equal(error_place(error).line, line);
    assert_int_equal(error_place(error).column, column);
    bind_fixture_done(&fixture);
}

/* cases/columns.yaml columns.identifier-case: headers have the spelling of the query. */
static void test_columns_identifier_case_headers(void **state)
{
    (void)state;
    check_header("SELECT BOOKINGID, t.sTatus, SEQ + 1 FROM t", "BOOKINGID|sTatus|(SEQ + 1)");
    check_header("SELECT * FROM t", "bookingId|Status|seq");
}

static void test_headers(void **state)
{
    (void)state;
    /* Spark names a cast column like the column. */
    check_header("SELECT CAST(seq AS INT), CAST(t.seq + 1 AS INT), upper(status), UPPER(Status) AS "
                 "u, seq x FROM t",
                 "seq|CAST((seq + 1) AS INT)|upper(status)|u|x");
    check_header("SELECT tickets.S.A, s.b, (s).B FROM shop.sales.tickets", "A|b|B");
    check_header("SELECT 1, 'x', NULL, -5, 1.50", "1|x|NULL|-5|1.50");
}

static void test_stars(void **state)
{
    (void)state;
    check_header("SELECT t.*, 1 AS one FROM t", "bookingId|Status|seq|one");
    check_header("SELECT * EXCEPT (STATUS) FROM t", "bookingId|seq");
    check_header("SELECT x.* EXCEPT (x.seq, bookingid) FROM t AS x", "Status");
    check_header("SELECT s.* FROM shop.sales.tickets", "a|B");
    check_header("SELECT sales.tickets.* FROM shop.sales.tickets", "id|s");
    check_error("SELECT * EXCEPT (ghost) FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 18);
    check_error("SELECT u.* FROM t", "CANNOT_RESOLVE_STAR_EXPAND", 1, 8);
    check_error("SELECT *", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", 1, 8);
}

static void test_qualified_names(void **state)
{
    (void)state;
    check_schema("SELECT main.default.d.k, default.d.K, d.k FROM d", "k INT, K INT, k INT");
    /* Rows given in place are in no schema, as a temporary view. */
    check_error("SELECT default.t.seq FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 8);
    check_schema("SELECT seq FROM MAIN.Default.T", "seq BIGINT");
    check_schema("SELECT a.seq FROM t a WHERE a.bookingId > 1", "seq BIGINT");
    /* An alias hides the name. */
    check_error("SELECT t.seq FROM t AS a", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 8);
    check_error("SELECT other.t.seq FROM t", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 8);
}

static void test_subqueries_in_from(void **state)
{
    (void)state;
    check_schema("SELECT x.k + 1 AS k FROM (SELECT bookingId AS k FROM t WHERE seq > 5) x",
                 "k INT");
    check_schema("SELECT * FROM (SELECT bookingId, seq FROM t) AS q(a, b)", "a INT, b BIGINT");
    check_error("SELECT k FROM (SELECT bookingId AS k, seq AS K FROM t)", "AMBIGUOUS_REFERENCE", 1,
                8);
    check_error("SELECT 1 FROM (SELECT seq FROM t) AS q(a, b)", "NUM_COLUMNS_MISMATCH", 1, 15);
    check_error("SELECT nope FROM (SELECT seq FROM t)", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 8);
}

static void test_values(void **state)
{
    (void)state;
    check_schema("VALUES (1, 'a'), (2.5, NULL)", "col1 DECIMAL(11,1), col2 STRING");
    check_schema("SELECT * FROM VALUES (1, 2), (3, 4) AS v(x, y)", "x INT, y INT");
    check_schema("VALUES 1, 2L", "col1 BIGINT");
    check_error("VALUES (1, 2), (3)", "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", 1, 17);
    check_error("VALUES (1), (true)", "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE", 1,
                1);
    check_error("VALUES (a)", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", 1, 9);
}

static void test_where(void **state)
{
    (void)state;
    check_schema("SELECT 1 AS one FROM t WHERE NULL", "one INT");
    check_error("SELECT 1 FROM t WHERE seq", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", 1, 23);
    check_error("SELECT 1 FROM t WHERE sum(seq) > 1", "INVALID_WHERE_CONDITION", 1, 23);
    check_error("SELECT 1 FROM t WHERE row_number() OVER (ORDER BY seq) = 1",
                "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE", 1, 23);
}

static void test_relations(void **state)
{
    (void)state;
    check_error("SELECT 1\nFROM nowhere", "TABLE_OR_VIEW_NOT_FOUND", 2, 6);
    check_error("SELECT 1 FROM a.b.c", "TABLE_OR_VIEW_NOT_FOUND", 1, 15);
    check_error("SELECT id FROM read_files('x')", "NOT_YET", 1, 16);
    check_error("SELECT id FROM no_such_function(5)", "UNRESOLVABLE_TABLE_VALUED_FUNCTION", 1, 16);
    check_error("SELECT id FROM STREAM(shop.sales.tickets)", "NOT_YET", 1, 16);
    check_error("SELECT seq FROM STREAM(t)",
                "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE", 1, 17);
}

/* What is not built is named, at its clause. */
static void test_clauses_not_built(void **state)
{
    (void)state;
    check_error("SELECT * FROM t TABLESAMPLE (5 ROWS)", "UNSUPPORTED_CLAUSE", 1, 17);
    /* A mistake is told before what is not built. */
    check_error("SELECT seqq FROM t LIMIT 5", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 8);
}

static void test_not_null_is_kept(void **state)
{
    (void)state;
    BindFixture fixture;
    BoundNode *query = NULL;
    bind_fixture_init(&fixture);
    static const Field fields[] = {{{"k", 1}, &type_int, true, {NULL, 0}}};
    static const Schema schema = {.fields = fields, .field_count = 1};
    Relation relation = {.name = STR("n"), .kind = RELATION_INLINE, .schema = &schema};
    assert_null(catalog_add(fixture.context.catalog, &relation));
    assert_null(bind_fixture_query(&fixture, "SELECT k, k + 1 AS j FROM n", &query));
    assert_true(query->schema->fields[0].not_null);
    assert_false(query->schema->fields[1].not_null);
    bind_fixture_done(&fixture);
}

static void test_shape(void **state)
{
    (void)state;
    BindFixture fixture;
    BoundNode *query = NULL;
    fixture_with_tables(&fixture);
    assert_null(bind_fixture_query(&fixture, "SELECT seq FROM t WHERE bookingId = 1", &query));
    assert_int_equal(query->kind, BOUND_PROJECT);
    assert_int_equal(query->expressions[0]->column, 2);
    assert_int_equal(query->child->kind, BOUND_FILTER);
    assert_int_equal(query->child->child->kind, BOUND_SCAN);
    assert_false(query->child->child->stream);
    assert_null(bind_fixture_query(&fixture, "SELECT 1", &query));
    assert_int_equal(query->child->kind, BOUND_ONE_ROW);
    bind_fixture_done(&fixture);
}

static void test_catalog_names(void **state)
{
    (void)state;
    BindFixture fixture;
    fixture_with_tables(&fixture);
    const Catalog *catalog = fixture.context.catalog;
    Str one[] = {STR("T")};
    Str three[] = {STR("MAIN"), STR("default"), STR("t")};
    Str other[] = {STR("shop"), STR("default"), STR("t")};
    Str full = catalog_full_name(catalog, one, 1, fixture.arena);
    assert_true(str_equal(full, STR("main.default.t")));
    assert_non_null(catalog_find(catalog, one, 1));
    assert_ptr_equal(catalog_find(catalog, one, 1), catalog_find(catalog, three, 3));
    assert_null(catalog_find(catalog, other, 3));
    Relation again = {.name = STR("default.T"), .kind = RELATION_STREAM};
    AUTO(error) Error *error = catalog_add(fixture.context.catalog, &again);
    assert_int_equal(error_class(error), ERROR_TABLE_OR_VIEW_ALREADY_EXISTS);
    assert_true(
        str_equal(catalog_nearest(catalog, STR("shop.sales.ticket")), STR("shop.sales.tickets")));
    assert_null(catalog_nearest(catalog, STR("zzzzzz")).data);
    bind_fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_identifier_case_headers),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_stars),
        cmocka_unit_test(test_qualified_names),
        cmocka_unit_test(test_subqueries_in_from),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_relations),
        cmocka_unit_test(test_clauses_not_built),
        cmocka_unit_test(test_not_null_is_kept),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_catalog_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
