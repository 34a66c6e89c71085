/* Joins, WITH, set operations, subqueries and generators: the nodes they become, where mistakes are
 * placed, what may be NULL, and statements that grow beyond all bounds. What Spark says of them is
 * in spark_queries.c. */
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
    bind_fixture_add(fixture, RELATION_INLINE, "t", "id INT, k STRING, xs ARRAY<INT>");
    bind_fixture_add(fixture, RELATION_INLINE, "u", "id BIGINT, v DOUBLE");
}

/* ---------------------------------------------------------------- shapes --- */

static void print_node(const BoundNode *node, Buffer *out);

static void print_expr_nodes(const BoundExpr *expr, Buffer *out)
{
    if (expr->kind == BOUND_SUBQUERY) {
        static const char *const kinds[] = {"scalar", "exists", "in"};
        buffer_printf(out, " %s%s<", expr->subquery->correlated ? "correlated " : "",
                      kinds[expr->subquery->kind]);
        print_node(expr->subquery->query, out);
        buffer_append_byte(out, '>');
    }
    if (expr->kind == BOUND_OUTER_COLUMN) {
        buffer_printf(out, " outer %u", expr->column);
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        print_expr_nodes(expr->children[i], out);
    }
}

static void print_join(const BoundNode *node, Buffer *out)
{
    static const char *const kinds[] = {
        [JOIN_INNER] = "inner", [JOIN_LEFT] = "left", [JOIN_RIGHT] = "right",
        [JOIN_FULL] = "full",   [JOIN_SEMI] = "semi", [JOIN_ANTI] = "anti"};
    buffer_printf(out, "%s%s", node->lateral ? "lateral " : "", kinds[node->join]);
}

static void print_kind(const BoundNode *node, Buffer *out)
{
    static const char *const sets[] = {"union", "intersect", "except"};
    static const char *const kinds[] = {
        [BOUND_SCAN] = "scan",           [BOUND_VALUES] = "values", [BOUND_ONE_ROW] = "row",
        [BOUND_RANGE] = "range",         [BOUND_FILTER] = "filter", [BOUND_PROJECT] = "project",
        [BOUND_AGGREGATE] = "aggregate", [BOUND_EXPAND] = "expand", [BOUND_WINDOW] = "window",
        [BOUND_SORT] = "sort",           [BOUND_LIMIT] = "limit"};
    switch (node->kind) {
    case BOUND_JOIN:
        print_join(node, out);
        return;
    case BOUND_SET:
        buffer_printf(out, "%s%s", sets[node->set_operation], node->all ? " all" : "");
        return;
    case BOUND_GENERATE:
        buffer_printf(out, "generate%s", node->outer ? " outer" : "");
        return;
    default:
        buffer_append_cstr(out, kinds[node->kind]);
    }
}

/* "join(scan, filter(scan))" */
static void print_node(const BoundNode *node, Buffer *out)
{
    print_kind(node, out);
    for (size_t i = 0; i < node->expression_count; i++) {
        print_expr_nodes(node->expressions[i], out);
    }
    if (node->child != NULL) {
        buffer_append_byte(out, '(');
        print_node(node->child, out);
        if (node->right != NULL) {
            buffer_append_cstr(out, ", ");
            print_node(node->right, out);
        }
        buffer_append_byte(out, ')');
    }
}

static void check_shape(const char *text, const char *expected)
{
    BindFixture fixture;
    BoundNode *query = NULL;
    AUTO_BUFFER Buffer shape = {0};
    fixture_with_tables(&fixture);
    Error *error = bind_fixture_query(&fixture, text, &query);
    if (error != NULL) {
        print_error("%s: %s\n", text, error_message(error));
    }
    assert_null(error);
    print_node(query, &shape);
    assert_string_equal(buffer_cstr(&shape), expected);
    bind_fixture_done(&fixture);
}

static void check_error(const char *text, const char *class, int line, int column)
{
    BindFixture fixture;
    BoundNode *query = NULL;
    fixture_with_tables(&fixture);
    AUTO(error) Error *error = bind_fixture_query(&fixture, text, &query);
    if (error == NULL || strcmp(error_class_name(error_class(error)), class) != 0 ||
        error_place(error).line != line || error_place(error).column != column) {
        print_error("%.200s: %s\n", text, error == NULL ? "accepted" : error_message(error));
    }
    assert_non_null(error);
    assert_string_equal(error_class_name(error_class(error)), class);
    assert_int_equal(error_place(error).line, line);
    assert_int_equal(error_place(error).column, column);
    bind_fixture_done(&fixture);
}

static void test_joins(void **state)
{
    (void)state;
    check_shape("SELECT 1 FROM t JOIN u ON t.id = u.id", "project(inner(scan, scan))");
    check_shape("SELECT 1 FROM t, u LEFT JOIN t AS w ON w.id = u.id",
                "project(left(inner(scan, scan), scan))");
    check_shape("SELECT 1 FROM t JOIN (u CROSS JOIN t AS w)",
                "project(inner(scan, inner(scan, scan)))");
    check_shape("SELECT * FROM t FULL JOIN u USING (id)", "project(project(full(scan, scan)))");
    check_shape("SELECT * FROM t LEFT ANTI JOIN u USING (id)", "project(anti(scan, scan))");
    check_shape("SELECT * FROM t, LATERAL (SELECT t.id + u.v FROM u)",
                "project(lateral inner(scan, project outer 0(scan)))");
    /* A generator needs no join. */
    check_shape("SELECT * FROM t LEFT JOIN LATERAL explode(xs)", "project(generate(scan))");
    check_shape("SELECT * FROM t LEFT JOIN LATERAL explode(xs) ON true",
                "project(generate outer(scan))");
    check_shape("SELECT * FROM t JOIN LATERAL explode(xs) AS e(x) ON x > id",
                "project(filter(generate(scan)))");
}

static void test_join_errors(void **state)
{
    (void)state;
    check_error("SELECT 1 FROM t JOIN u ON t.id = w.id", "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1,
                34);
    check_error("SELECT id FROM t JOIN u", "AMBIGUOUS_REFERENCE", 1, 8);
    check_error("SELECT 1 FROM t JOIN u\nUSING (key)", "UNRESOLVED_USING_COLUMN_FOR_JOIN", 2, 8);
    check_error("SELECT 1 FROM t JOIN u ON t.id + 1", "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", 1, 27);
    check_error("SELECT 1 FROM t JOIN u ON max(v) = 1", "UNSUPPORTED_EXPR_FOR_OPERATOR", 1, 27);
    /* Both sides' mistakes are looked for; the first is told. */
    check_error("SELECT 1 FROM nowhere JOIN (SELECT z FROM u) ON true", "TABLE_OR_VIEW_NOT_FOUND",
                1, 15);
    check_error("SELECT 1 FROM t RIGHT JOIN LATERAL (SELECT id) ON true",
                "INVALID_LATERAL_JOIN_TYPE", 1, 17);
}

static void test_nullability(void **state)
{
    (void)state;
    static const struct {
        const char *join;
        bool left;
        bool right;
    } cases[] = {{"JOIN", true, true},
                 {"LEFT JOIN", true, false},
                 {"RIGHT JOIN", false, true},
                 {"FULL JOIN", false, false}};
    static const Field fields[] = {{{"k", 1}, &type_int, true, {NULL, 0}}};
    static const Schema schema = {.fields = fields, .field_count = 1};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        BindFixture fixture;
        BoundNode *query = NULL;
        bind_fixture_init(&fixture);
        Relation relation = {.name = STR("n"), .kind = RELATION_INLINE, .schema = &schema};
        assert_null(catalog_add(fixture.context.catalog, &relation));
        AUTO_BUFFER Buffer text = {0};
        buffer_printf(&text, "SELECT a.k, b.k FROM n AS a %s n AS b ON a.k = b.k", cases[i].join);
        assert_null(bind_fixture_query(&fixture, buffer_cstr(&text), &query));
        assert_int_equal(query->schema->fields[0].not_null, cases[i].left);
        assert_int_equal(query->schema->fields[1].not_null, cases[i].right);
        bind_fixture_done(&fixture);
    }
}

static void test_sets(void **state)
{
    (void)state;
    /* A chain is a balanced tree, DISTINCT stands once at its end. */
    check_shape("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4",
                "union all(union all(project(row), project(row)), "
                "union all(project(row), project(row)))");
    check_shape("SELECT 1 UNION ALL SELECT 2 UNION SELECT 3",
                "aggregate(union all(project(row), union all(project(row), project(row))))");
    check_shape("SELECT 1 UNION SELECT 2 UNION ALL SELECT 3",
                "union all(aggregate(union all(project(row), project(row))), project(row))");
    check_shape("SELECT 1 EXCEPT ALL SELECT 2 INTERSECT SELECT 3",
                "except all(project(row), intersect(project(row), project(row)))");
    /* Only the side whose type changes is cast. */
    check_shape("SELECT 1 UNION ALL SELECT 2L", "union all(project(project(row)), project(row))");
    /* Rows that differ as text may be equal as numbers: DISTINCT comes before the cast. */
    check_shape("SELECT '1' UNION SELECT '01' UNION SELECT 1",
                "aggregate(union all(project(aggregate(union all(project(row), project(row)))), "
                "project(project(row))))");
    check_error("SELECT 1 UNION ALL\nSELECT 1, 2", "NUM_COLUMNS_MISMATCH", 2, 1);
    check_error("SELECT 1 UNION ALL\nSELECT true", "INCOMPATIBLE_COLUMN_TYPE", 2, 1);
}

static void test_subqueries(void **state)
{
    (void)state;
    check_shape("SELECT (SELECT max(v) FROM u WHERE u.id = t.id) FROM t",
                "project correlated scalar<project(aggregate(filter outer 0(scan)))>(scan)");
    check_shape("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u)",
                "project(filter exists<project(scan)>(scan))");
    check_shape("SELECT 1 FROM t WHERE id NOT IN (SELECT id FROM u)",
                "project(filter in<project(scan)>(scan))");
    /* An inner name hides an outer one, a qualifier finds it. */
    check_shape("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE id = t.id)",
                "project(filter correlated exists<project(filter outer 0(scan))>(scan))");
    check_error("SELECT 1 FROM t WHERE id = (SELECT id, v FROM u)",
                "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN", 1,
                28);
    check_error("SELECT 1 FROM t WHERE (id, k) IN (SELECT id FROM u)",
                "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH", 1, 23);
    check_error("SELECT 1 FROM t WHERE id IN (SELECT nope FROM u)",
                "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 37);
    check_error("SELECT (SELECT max(t.id) FROM u) FROM t",
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE", 1, 20);
}

static void test_with(void **state)
{
    (void)state;
    check_shape("WITH a AS (SELECT * FROM t) SELECT * FROM a JOIN a AS b ON a.id = b.id",
                "project(inner(project(scan), project(scan)))");
    check_error("WITH a AS (SELECT 1),\n a AS (SELECT 2) SELECT 3", "DUPLICATED_CTE_NAMES", 2, 2);
    check_error("WITH a AS (SELECT 1 AS x), b(p, q) AS (SELECT * FROM a) SELECT 1",
                "ASSIGNMENT_ARITY_MISMATCH", 1, 28);
    check_error("WITH a AS (SELECT nope FROM t) SELECT (SELECT x FROM a) FROM a",
                "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 19);
}

static void test_generators(void **state)
{
    (void)state;
    check_shape("SELECT explode(xs) AS x, id FROM t", "project(generate(scan))");
    check_shape("SELECT id FROM t LATERAL VIEW OUTER explode(xs) e AS x",
                "project(generate outer(scan))");
    check_shape("SELECT * FROM explode(array(1))", "project(generate(row))");
    check_shape("SELECT * FROM range(3)", "project(range)");
    check_error("SELECT explode(xs) + 1 FROM t", "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", 1,
                8);
    check_error("SELECT 1 FROM t WHERE explode(xs) = 1", "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", 1,
                23);
    check_error("SELECT posexplode(xs) AS x FROM t", "UDTF_ALIAS_NUMBER_MISMATCH", 1, 8);
    check_error("SELECT * FROM t LATERAL VIEW explode(ys) e AS x",
                "UNRESOLVED_COLUMN.WITH_SUGGESTION", 1, 38);
}

static void test_limit(void **state)
{
    (void)state;
    check_shape("SELECT id FROM t LIMIT 1 + 1 OFFSET 2", "limit(project(scan))");
    check_shape("SELECT id FROM t LIMIT ALL", "project(scan)");
    check_error("SELECT id FROM t LIMIT -1", "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", 1, 24);
    check_error("SELECT id FROM t LIMIT id", "INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE", 1, 24);
    check_error("SELECT id FROM t LIMIT 1 / 0", "INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE", 1, 24);
    check_error("SELECT id FROM t LIMIT 1 % 0", "REMAINDER_BY_ZERO", 1, 24);
}

/* ---------------------------------------------------------------- limits --- */

/* first, then `count` times step with its number in place of %zu (and the one before), then last.
 */
static void check_growth(const char *first, const char *step, size_t count, const char *last,
                         const char *class)
{
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, first);
    for (size_t i = 1; i <= count; i++) {
        AUTO_BUFFER Buffer now = {0};
        AUTO_BUFFER Buffer before = {0};
        buffer_printf(&now, "%zu", i);
        buffer_printf(&before, "%zu", i - 1);
        for (const char *at = step; *at != '\0'; at++) {
            if (*at == '#' || *at == '@') {
                buffer_append_str(&text, buffer_str(*at == '#' ? &now : &before));
            } else {
                buffer_append_byte(&text, *at);
            }
        }
    }
    buffer_append_cstr(&text, last);
    BindFixture fixture;
    BoundNode *query = NULL;
    bind_fixture_init(&fixture);
    AUTO(error) Error *error = bind_fixture_query(&fixture, buffer_cstr(&text), &query);
    assert_string_equal(error == NULL ? "ok" : error_class_name(error_class(error)), class);
    bind_fixture_done(&fixture);
}

static void test_growth(void **state)
{
    (void)state;
    static const char *const too_complex = "STATEMENT_TOO_COMPLEX";
    /* Names that double one another. */
    check_growth("WITH c0 AS (SELECT 1 AS a)", ", c# AS (SELECT x.a FROM c@ x, c@ y)", 60,
                 " SELECT * FROM c60", too_complex);
    check_growth("WITH c0 AS (SELECT 1 AS a)", ", c# AS (SELECT * FROM c@ x, c@ y)", 60,
                 " SELECT 1 FROM c60", too_complex);
    check_growth("WITH c0 AS (SELECT 1 AS a)",
                 ", c# AS (SELECT (SELECT max(a) FROM c@) + (SELECT min(a) FROM c@) AS a)", 60,
                 " SELECT * FROM c60", too_complex);
    check_growth("WITH c0 AS (SELECT 1 AS a)", ", c# AS (SELECT a FROM c@)", 5000,
                 " SELECT * FROM c5000", too_complex);
    check_growth("WITH c0 AS (SELECT 1 AS a)", ", c# AS (SELECT a FROM c@)", 500,
                 " SELECT * FROM c500", "ok");
    check_growth("SELECT 1", " UNION ALL SELECT #", 10000, "", "ok");
    check_growth("SELECT 1", " EXCEPT SELECT #", 5000, "", too_complex);
    check_growth("SELECT 1 FROM (SELECT 1 AS a) t0", ", (SELECT 1 AS a) t#", 5000, "", too_complex);
    check_growth("SELECT 1 FROM (SELECT 1 AS a) t0", " JOIN (SELECT 1 AS a) t# USING (a)", 300, "",
                 "ok");
    check_growth(
        "SELECT ", "(SELECT ", 90,
        "1" /* the parser's limit comes before ours */
        "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
        "))))",
        "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins),       cmocka_unit_test(test_join_errors),
        cmocka_unit_test(test_nullability), cmocka_unit_test(test_sets),
        cmocka_unit_test(test_subqueries),  cmocka_unit_test(test_with),
        cmocka_unit_test(test_generators),  cmocka_unit_test(test_limit),
        cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
