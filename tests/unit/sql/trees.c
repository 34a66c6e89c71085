/* Shapes of trees: what binds to what, what is a name and what begins a longer form, spans, and the
 * flat chains the rest of the program relies on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/buffer.h"
#include "processor/sql/ast_print.h"
#include "processor/sql/parser.h"

static AstExpr *parse_expr(const char *sql, Arena *arena)
{
    AstExpr *expr = NULL;
    Error *error = sql_parse_expression(str_from(sql), arena, &expr);
    if (error != NULL) {
        AUTO_BUFFER Buffer text = {0};
        error_format(error, &text);
        error_free(error);
        fail_msg("%s\n%s", sql, buffer_cstr(&text));
    }
    return expr;
}

static AstStatement *parse_one(const char *sql, Arena *arena)
{
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(str_from(sql), arena, &diagnostics, &script);
    if (diagnostics.count > 0) {
        AUTO_BUFFER Buffer text = {0};
        error_format(diagnostics.errors[0], &text);
        diagnostics_done(&diagnostics);
        fail_msg("%s\n%s", sql, buffer_cstr(&text));
    }
    assert_int_equal(script->statement_count, 1);
    return script->statements[0];
}

static void assert_text(Str actual, const char *expected)
{
    assert_int_equal(actual.size, strlen(expected));
    assert_memory_equal(actual.data, expected, actual.size);
}

/* What is printed has parentheses only where the tree needs them. */
static void test_precedence(void **state)
{
    static const struct {
        const char *sql;
        const char *name; /* every operator in parentheses */
    } rows[] = {
        {"a OR b AND c", "(a OR (b AND c))"},
        {"NOT a = b AND c", "((NOT (a = b)) AND c)"},
        {"NOT a IS NULL", "(NOT (a IS NULL))"},
        {"a = b = c", "((a = b) = c)"},
        {"a < b IS NOT NULL", "((a < b) IS NOT NULL)"},
        {"a | b & c ^ d", "(a | ((b & c) ^ d))"},
        {"1 << 2 + 1", "(1 << (2 + 1))"},
        {"a = b | c", "(a = (b | c))"},
        {"a + b * -c", "(a + (b * (- c)))"},
        {"a - b - c", "((a - b) - c)"},
        {"-a.b[0]", "(- b[0])"},
        {"2 + 3 || 4", "concat((2 + 3), 4)"},
        {"x BETWEEN 1 + 1 AND 2 | 4", "between(x, (1 + 1), (2 | 4))"},
        {"a BETWEEN 1 AND 2 AND b", "(between(a, 1, 2) AND b)"},
        {"a NOT IN (1) OR b", "((NOT (a IN (1))) OR b)"},
        {"7 & 3 | 8 ^ 1", "((7 & 3) | (8 ^ 1))"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        AUTO(arena) Arena *arena = arena_new("trees");
        AUTO_BUFFER Buffer name = {0};
        ast_print_column_name(parse_expr(rows[i].sql, arena), &name);
        assert_string_equal(buffer_cstr(&name), rows[i].name);
    }
    (void)state;
}

static void test_printing_keeps_what_binds(void **state)
{
    static const char *const rows[] = {
        "(a OR b) AND c",
        "NOT (a AND b)",
        "(NOT a) = b",
        "a - (b - c)",
        "(a - b) - c",
        "(a + b) * c",
        "- -a",
        "(-a)[0]",
        "(s).a",
        "(a IS NULL) IS NULL",
        "(a BETWEEN 1 AND 2) = b",
        "a LIKE (any(b))",
        "position((a IN (1)), b)",
        "(SELECT 1)[0]",
        "a IN ((SELECT 1))",
        "a IN (SELECT 1)",
        "a IN (((SELECT 1), 2))",
        "CAST(a AS STRING) COLLATE x",
        "CASE WHEN a THEN 1 END",
        "f(x -> x + 1, (y, z) -> y)",
        "`values` + 1",
        "INTERVAL -'1' DAY",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        AUTO(arena) Arena *arena = arena_new("trees");
        AUTO_BUFFER Buffer sql = {0};
        ast_print_expr(parse_expr(rows[i], arena), &sql);
        assert_string_equal(buffer_cstr(&sql), rows[i]);
    }
    (void)state;
}

/* A word is a longer form when the rest of it follows, and a name otherwise (SQ-31). */
static void test_words(void **state)
{
    static const struct {
        const char *sql;
        AstExprKind kind;
    } rows[] = {
        {"date", AST_EXPR_COLUMN},
        {"date 'x'", AST_EXPR_LITERAL},
        {"date('x')", AST_EXPR_CALL},
        {"x", AST_EXPR_COLUMN},
        {"x'1F'", AST_EXPR_LITERAL},
        {"interval", AST_EXPR_COLUMN},
        {"interval + 1", AST_EXPR_BINARY},
        {"interval + 1 day", AST_EXPR_INTERVAL},
        {"interval '1 day'", AST_EXPR_INTERVAL},
        {"cast", AST_EXPR_COLUMN},
        {"cast(a as int)", AST_EXPR_CAST},
        {"extract", AST_EXPR_COLUMN},
        {"exists(xs, x -> x)", AST_EXPR_CALL},
        {"exists((SELECT 1), x -> x)", AST_EXPR_CALL},
        {"exists (SELECT 1)", AST_EXPR_EXISTS},
        {"exists ((SELECT 1) UNION (SELECT 2))", AST_EXPR_EXISTS},
        {"trim(both)", AST_EXPR_CALL},
        {"trim(both 'x' from a)", AST_EXPR_TRIM},
        {"substring(a from 1)", AST_EXPR_CALL},
        {"struct()", AST_EXPR_CALL},
        {"struct(a)", AST_EXPR_STRUCT},
        {"(a, b)", AST_EXPR_ROW},
        {"(values)", AST_EXPR_COLUMN},
        {"(values[0])", AST_EXPR_INDEX},
        {"(VALUES 1)", AST_EXPR_SUBQUERY},
        {"((SELECT 1))", AST_EXPR_SUBQUERY},
        {"((SELECT 1) + 1)", AST_EXPR_BINARY},
        {"((SELECT 1), 2)", AST_EXPR_ROW},
        {"((SELECT 1) LIMIT 1)", AST_EXPR_SUBQUERY},
        {"left(a, 1)", AST_EXPR_CALL},
        {"end", AST_EXPR_COLUMN},
        {"current_date", AST_EXPR_COLUMN},
        {"a.b.c", AST_EXPR_COLUMN},
        {"a.b[0].c", AST_EXPR_FIELD},
        {"a:b", AST_EXPR_VARIANT_PATH},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        AUTO(arena) Arena *arena = arena_new("trees");
        const AstExpr *expr = parse_expr(rows[i].sql, arena);
        if (expr->kind != rows[i].kind) {
            fail_msg("%s is of kind %d", rows[i].sql, (int)expr->kind);
        }
    }
    (void)state;
}

static void test_chains_are_flat(void **state)
{
    AUTO(arena) Arena *arena = arena_new("trees");
    const AstExpr *expr = parse_expr("a + b - c * d + e", arena);
    assert_int_equal(expr->kind, AST_EXPR_BINARY);
    assert_int_equal(expr->binary.step_count, 3);
    assert_int_equal(expr->binary.steps[1].operator_, AST_BINARY_SUBTRACT);
    assert_int_equal(expr->binary.steps[1].operator_place.column, 7);
    assert_int_equal(expr->binary.steps[1].right->kind, AST_EXPR_BINARY);
    assert_text(expr->binary.steps[1].right->text, "c * d");
    AstQuery *query = NULL;
    assert_null(sql_parse_query(
        STR("SELECT 1 UNION SELECT 2 INTERSECT ALL SELECT 3 EXCEPT ALL SELECT 4"), arena, &query));
    assert_int_equal(query->body->kind, AST_TERM_SET);
    assert_int_equal(query->body->step_count, 2);
    assert_false(query->body->steps[0].all);
    assert_true(query->body->steps[1].all);
    assert_int_equal(query->body->steps[0].right->kind, AST_TERM_SET);
    assert_int_equal(query->body->steps[0].right->steps[0].operator_, AST_SET_INTERSECT);
    (void)state;
}

static void test_spans(void **state)
{
    AUTO(arena) Arena *arena = arena_new("trees");
    const AstStatement *statement =
        parse_one("\nSELECT  (a +\n  b) * c AS x, t.d y FROM t WHERE (p) ; ", arena);
    assert_text(statement->text, "SELECT  (a +\n  b) * c AS x, t.d y FROM t WHERE (p)");
    assert_int_equal(statement->place.line, 2);
    const AstSelect *select = statement->query->body->select;
    assert_text(select->items[0].text, "(a +\n  b) * c AS x");
    assert_text(select->items[0].expr->text, "(a +\n  b) * c");
    assert_int_equal(select->items[0].expr->place.column, 9);
    assert_int_equal(select->items[0].expr->place.length, 4); /* to the end of its line */
    assert_text(select->items[0].expr->binary.first->text, "a +\n  b");
    assert_text(select->items[1].expr->text, "t.d");
    assert_int_equal(select->items[1].expr->place.line, 3);
    assert_int_equal(select->items[1].expr->place.column, 16);
    assert_int_equal(select->items[1].expr->place.length, 3);
    (void)state;
}

static void test_create_streaming_table(void **state)
{
    AUTO(arena) Arena *arena = arena_new("trees");
    const AstStatement *statement = parse_one(
        "CREATE OR REFRESH STREAMING TABLE shop.bookings (id INT NOT NULL COMMENT 'key', "
        "constraint INT, CONSTRAINT ok EXPECT (total > 0) ON VIOLATION DROP ROW, "
        "CONSTRAINT pk PRIMARY KEY (id)) COMMENT 'latest' TBLPROPERTIES (a.b = 3, 'c' = 'd') "
        "FLOW REPLACE USING (id, `x y`) SEQUENCE BY seq BY NAME SELECT * FROM STREAM(src)",
        arena);
    assert_int_equal(statement->kind, AST_STATEMENT_CREATE_STREAMING_TABLE);
    const AstCreateStreamingTable *create = &statement->create_streaming_table;
    assert_true(create->or_refresh);
    assert_int_equal(create->name.part_count, 2);
    assert_int_equal(create->column_count, 2);
    assert_int_equal(create->columns[0].property_count, 2);
    assert_text(create->columns[1].name.name, "constraint");
    assert_int_equal(create->expectation_count, 1);
    assert_int_equal(create->expectations[0].action, AST_VIOLATION_DROP_ROW);
    assert_text(create->expectations[0].condition->text, "total > 0");
    assert_int_equal(create->constraint_count, 1);
    assert_int_equal(create->clause_count, 2);
    assert_text(create->clauses[1].properties[0].key, "a.b");
    assert_text(create->clauses[1].properties[0].value, "3");
    assert_int_equal(create->flow->kind, AST_FLOW_REPLACE_USING);
    assert_int_equal(create->flow->using.item_count, 2);
    assert_text(create->flow->using.items[1].name, "x y");
    assert_text(create->flow->sequence_by.name, "seq");
    assert_true(create->flow->query->body->select->from[0].first->stream);
    (void)state;
}

/* cases/sql-parse.yaml: sql-parse.required-clauses. Number 5, whose source is no stream, is for
 * analysis. */
static void test_case_required_clauses(void **state)
{
    static const struct {
        bool parses;
        const char *sql;
    } rows[] = {
        {true, "CREATE FLOW upd AS INSERT INTO tgt BY NAME REPLACE USING (key_a) SEQUENCE BY ver "
               "SELECT * FROM STREAM feed"},
        {false, "CREATE FLOW upd AS INSERT INTO tgt BY NAME REPLACE USING (key_a) SELECT * FROM "
                "STREAM feed"},
        {false,
         "CREATE STREAMING TABLE t FLOW REPLACE USING (c) SEQUENCE BY d SELECT * FROM STREAM "
         "s"},
        {false, "CREATE STREAMING TABLE t FLOW REPLACE USING (c) SEQUENCE BY d, e BY NAME SELECT * "
                "FROM STREAM s"},
        {true,
         "CREATE STREAMING TABLE t FLOW REPLACE USING (c) SEQUENCE BY d BY NAME SELECT * FROM "
         "s"},
        {true, "CREATE STREAMING TABLE t FLOW REPLACE WHERE d > 1 BY NAME SELECT * FROM s"},
        {false, "CREATE OR REFRESH STREAMING TABLE IF NOT EXISTS t AS SELECT * FROM STREAM s"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        AUTO(arena) Arena *arena = arena_new("trees");
        Diagnostics diagnostics = {0};
        AstScript *script = NULL;
        sql_parse_script(str_from(rows[i].sql), arena, &diagnostics, &script);
        assert_int_equal(diagnostics.count == 0, rows[i].parses);
        diagnostics_done(&diagnostics);
    }
    (void)state;
}

/* sql-parse.quote-in-comment */
static void test_case_quote_in_comment(void **state)
{
    AUTO(arena) Arena *arena = arena_new("trees");
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(STR("-- today's note; not a statement\n"
                         "SELECT ';' AS s, '--' AS d, '/*' AS c, 1 AS `a;b` FROM x; "
                         "/* ; */ SELECT 2 FROM y"),
                     arena, &diagnostics, &script);
    assert_int_equal(diagnostics.count, 0);
    assert_int_equal(script->statement_count, 2);
    const AstSelect *select = script->statements[0]->query->body->select;
    assert_int_equal(select->item_count, 4);
    assert_text(select->items[0].aliases[0].name, "s");
    assert_text(select->items[1].aliases[0].name, "d");
    assert_text(select->items[2].aliases[0].name, "c");
    assert_text(select->items[3].aliases[0].name, "a;b");
    assert_text(script->statements[1]->text, "SELECT 2 FROM y");
    diagnostics_done(&diagnostics);
    (void)state;
}

/* sql-parse.quoted-identifiers; the bare name is in errors.c. */
static void test_case_quoted_identifiers(void **state)
{
    AUTO(arena) Arena *arena = arena_new("trees");
    const AstSelect *select =
        parse_one("SELECT 1 AS `a``b`, 2 AS `\xE6\x97\xA5\xE4\xBB\x98`, `x.y` FROM t", arena)
            ->query->body->select;
    assert_text(select->items[0].aliases[0].name, "a`b");
    assert_text(select->items[1].aliases[0].name, "\xE6\x97\xA5\xE4\xBB\x98");
    assert_int_equal(select->items[2].expr->column.name.part_count, 1);
    assert_text(select->items[2].expr->column.name.parts[0].name, "x.y");
    (void)state;
}

/* columns.words-that-look-reserved */
static void test_case_words_that_look_reserved(void **state)
{
    static const char *const names[] = {"raw_data", "offset", "timestamp", "timestampType", "date",
                                        "key",      "order",  "end",       "group"};
    AUTO(arena) Arena *arena = arena_new("trees");
    const AstStatement *statement = parse_one(
        "CREATE OR REFRESH STREAMING TABLE t AS SELECT value raw_data, offset, timestamp, "
        "timestampType, date, key, order, `end`, `group` FROM STREAM src;",
        arena);
    const AstSelect *select = statement->create_streaming_table.as_query->body->select;
    assert_int_equal(select->item_count, ARRAY_LENGTH(names));
    assert_text(select->items[0].aliases[0].name, names[0]);
    for (size_t i = 1; i < ARRAY_LENGTH(names); i++) {
        assert_text(select->items[i].expr->column.name.parts[0].name, names[i]);
    }
    (void)state;
}

/* OUTER is a name before "(" and before ".". */
static void test_lateral_view_outer(void **state)
{
    static const struct {
        const char *sql;
        bool outer;
        const char *function;
    } rows[] = {
        {"SELECT 1 FROM t LATERAL VIEW OUTER f(x) v", true, "f"},
        {"SELECT 1 FROM t LATERAL VIEW outer(x) v", false, "outer"},
        {"SELECT 1 FROM t LATERAL VIEW outer.f(x) v", false, "outer.f"},
        {"SELECT 1 FROM t LATERAL VIEW OUTER outer(x) v", true, "outer"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        AUTO(arena) Arena *arena = arena_new("trees");
        const AstSelect *select = parse_one(rows[i].sql, arena)->query->body->select;
        assert_int_equal(select->lateral_views[0].outer, rows[i].outer);
        assert_text(select->lateral_views[0].call->call->name.text, rows[i].function);
    }
    (void)state;
}

/* The text of a name is its parts, however they were written; so is a setting's. */
static void test_texts_of_names(void **state)
{
    AUTO(arena) Arena *arena = arena_new("trees");
    assert_text(parse_one("DROP TABLE a.b", arena)->drop.name.text, "a.b");
    assert_text(parse_one("DROP TABLE `a` /* c */ . `b``c`", arena)->drop.name.text, "a.b`c");
    const AstSet *set = &parse_one("SET `a`.b . select = x\n. `y z`", arena)->set;
    assert_text(set->name, "a.b.select");
    assert_text(set->value, "x.y z");
    assert_int_equal(set->value_kind, AST_SET_WORD);
    (void)state;
}

static void test_column_definitions(void **state)
{
    AUTO(arena) Arena *arena = arena_new("trees");
    AstColumnDefinition *columns = NULL;
    size_t count = 0;
    assert_null(sql_parse_column_definitions(
        STR("a INT, b: STRING NOT NULL COMMENT 'x', `c d` ARRAY<ARRAY<DECIMAL(5,2)>>"), arena,
        &columns, &count));
    assert_int_equal(count, 3);
    assert_int_equal(columns[1].property_count, 2);
    assert_text(columns[1].properties[1].comment.value, "x");
    assert_text(columns[2].name.name, "c d");
    assert_int_equal(columns[2].type->element->element->precision, 5);
    assert_int_equal(columns[2].type->element->element->scale, 2);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_printing_keeps_what_binds),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_chains_are_flat),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_create_streaming_table),
        cmocka_unit_test(test_case_required_clauses),
        cmocka_unit_test(test_case_quote_in_comment),
        cmocka_unit_test(test_case_quoted_identifiers),
        cmocka_unit_test(test_case_words_that_look_reserved),
        cmocka_unit_test(test_lateral_view_outer),
        cmocka_unit_test(test_texts_of_names),
        cmocka_unit_test(test_column_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
