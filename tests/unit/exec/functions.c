/* The registry: every function's example runs and prints what it promises; names are found in any
 * letter case; what is known but not built says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/sql_fixture.h"

/* The text of the one row the query gives, or its error. */
static const char *answer_of(SqlFixture *sql, const char *text)
{
    LogicalPlan *plan = NULL;
    AUTO(query) Query *query = NULL;
    AUTO_BUFFER Buffer out = {0};
    Error *error = sql_fixture_plan(sql, text, &plan);
    if (error == NULL) {
        error = query_open(plan, &sql->exec, &query);
    }
    Batch *batch = NULL;
    if (error == NULL) {
        error = query_next(query, sql->arena, NULL, &batch);
    }
    if (error != NULL) {
        error_format_line(error, &out);
        error_free(error);
        return arena_copy_cstr(sql->arena, buffer_str(&out));
    }
    assert_int_equal(batch->selected_count, 1);
    return sql_fixture_rows(sql, batch);
}

static void test_examples(void **state)
{
    (void)state;
    size_t wrong = 0;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    for (size_t i = 0; function_at(i) != NULL; i++) {
        const Function *function = function_at(i);
        if (function->doc[0] == '\0') {
            assert_null(function->resolve); /* not built yet */
            continue;
        }
        const char *separator = strstr(function->example, " -- ");
        assert_non_null(separator);
        Str query = {function->example, (size_t)(separator - function->example)};
        const char *expected = arena_printf(sql.arena, "%s\n", separator + 4);
        const char *got = answer_of(&sql, arena_copy_cstr(sql.arena, query));
        if (strcmp(got, expected) != 0) {
            print_message("%s\n    got %s", function->example, got);
            wrong++;
        }
    }
    sql_fixture_done(&sql);
    assert_int_equal(wrong, 0);
}

static void test_find(void **state)
{
    (void)state;
    const FunctionCatalog *catalog = function_catalog();
    assert_string_equal(catalog->find(STR("UPPER"))->name, "upper");
    assert_string_equal(catalog->find(STR("<=>"))->name, "<=>");
    assert_null(catalog->find(STR("no_such_function")));
    assert_string_equal(catalog->nearest(STR("uper")), "upper");
    assert_string_equal(catalog->nearest(STR("date_ad")), "date_add");
    assert_null(catalog->nearest(STR("qqqqqqqqqq")));
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        FunctionKind kind;
        bool deterministic;
    } known[] = {
        {"sum", FUNCTION_AGGREGATE, true},     {"count", FUNCTION_AGGREGATE, true},
        {"row_number", FUNCTION_WINDOW, true}, {"explode", FUNCTION_GENERATOR, true},
        {"read_kafka", FUNCTION_TABLE, false}, {"rand", FUNCTION_SCALAR, false},
        {"uuid", FUNCTION_SCALAR, false},      {"from_json", FUNCTION_SCALAR, true},
        {"window", FUNCTION_SCALAR, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
        const Function *function = function_catalog()->find(str_from(known[i].name));
        assert_non_null(function);
        assert_int_equal(function->kind, known[i].kind);
        assert_int_equal((function->flags & FUNCTION_DETERMINISTIC) != 0, known[i].deterministic);
    }
    assert_true((function_catalog()->find(STR("now"))->flags & FUNCTION_CLOCK) != 0);
    assert_true((function_catalog()->find(STR("/"))->flags & FUNCTION_CAN_FAIL) != 0);
}

static void test_names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; function_at(i) != NULL; i++) {
        assert_ptr_equal(function_catalog()->find(str_from(function_at(i)->name)), function_at(i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
