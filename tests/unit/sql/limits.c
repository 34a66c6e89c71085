/* Nesting is bounded, length is not: deep texts are refused, long flat ones parse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/buffer.h"
#include "processor/sql/ast_print.h"
#include "processor/sql/parser.h"

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
};

static void test_depth(void **state)
{
    AUTO_BUFFER Buffer sql = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(nested); i++) {
        build(&nested[i], 30, &sql);
        if (parse(buffer_str(&sql)) != ERROR_CLASS_COUNT) {
            fail_msg("30 levels: %s", buffer_cstr(&sql));
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
};

static void test_length(void **state)
{
    AUTO_BUFFER Buffer sql = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(flat); i++) {
        build(&flat[i], 20000, &sql);
        if (parse(buffer_str(&sql)) != ERROR_CLASS_COUNT) {
            fail_msg("20000 times %s%s", flat[i].head, flat[i].open);
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
        cmocka_unit_test(test_many_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
