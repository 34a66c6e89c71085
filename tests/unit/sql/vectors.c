/* The catalogue's vectors against the parser: everything accepted, refused by analysis or failing
 * at run time parses; everything refused at stage parse is refused with its kind, a place, and its
 * line with a caret. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/buffer.h"

#include "processor/sql/parser.h"
#include "tests/support/vectors.h"

static bool is_parser_vector(const TestVector *vector)
{
    return vector->kind == VECTOR_SQL || vector->kind == VECTOR_EXPR;
}

/* The first error, or NULL; owned by the caller. */
static Error *parse_vector(const TestVector *vector, Arena *arena)
{
    if (vector->kind == VECTOR_EXPR) {
        AstExpr *expr = NULL;
        return sql_parse_expression(vector->text, arena, &expr);
    }
    Diagnostics diagnostics = {0};
    AstScript *script = NULL;
    sql_parse_script(vector->text, arena, &diagnostics, &script);
    Error *first = diagnostics.count > 0 ? error_copy(diagnostics.errors[0]) : NULL;
    diagnostics_done(&diagnostics);
    return first;
}

static void print_failure(const TestVector *vector, const Error *error, const char *why)
{
    AUTO_BUFFER Buffer text = {0};
    if (error != NULL) {
        error_format(error, &text);
    }
    print_error("%.*s: %s\n%.*s\n%s", STR_ARG(vector->id), why, STR_ARG(vector->text),
                buffer_cstr(&text));
}

static void test_what_must_parse(void **state)
{
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    assert_null(vectors_read(VECTORS_FOLDER, arena, &set));
    size_t parsed = 0;
    size_t failed = 0;
    for (size_t i = 0; i < set.count; i++) {
        const TestVector *vector = &set.items[i];
        if (!is_parser_vector(vector) || vector->stage == VECTOR_STAGE_PARSE) {
            continue;
        }
        AUTO(error) Error *error = parse_vector(vector, arena);
        if (error != NULL) {
            print_failure(vector, error, "must parse");
            failed++;
        }
        parsed++;
    }
    assert_int_equal(failed, 0);
    assert_true(parsed > 350);
    (void)state;
}

/* The line the error points at, with "^" below the place. */
static bool shows_place(const Error *error)
{
    AUTO_BUFFER Buffer text = {0};
    error_format(error, &text);
    SourcePlace place = error_place(error);
    return place.line > 0 && place.column > 0 && place.length > 0 &&
           strstr(buffer_cstr(&text), "^\n") != NULL;
}

static void test_what_must_not_parse(void **state)
{
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    assert_null(vectors_read(VECTORS_FOLDER, arena, &set));
    size_t refused = 0;
    size_t failed = 0;
    for (size_t i = 0; i < set.count; i++) {
        const TestVector *vector = &set.items[i];
        if (!is_parser_vector(vector) || vector->stage != VECTOR_STAGE_PARSE) {
            continue;
        }
        AUTO(error) Error *error = parse_vector(vector, arena);
        bool right = error != NULL && str_equal(str_from(error_kind(error)), vector->error) &&
                     shows_place(error);
        if (!right) {
            print_failure(vector, error, "must be refused by the parser with its kind");
            failed++;
        }
        refused++;
    }
    assert_int_equal(failed, 0);
    assert_true(refused > 60);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_must_parse),
        cmocka_unit_test(test_what_must_not_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
