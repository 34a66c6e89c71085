/* Queries against what Apache Spark 4.3.0 made of them (spark/queries.tsv: statement, the columns
 * it gives, or the class of its error): joins, WITH, set operations, subqueries, generators, LIMIT.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/bind_fixture.h"

typedef struct Case {
    Str sql;
    Str verdict; /* ok, error */
    Str expected;
} Case;

static Str take(Str *rest, char end)
{
    size_t size = 0;
    while (size < rest->size && rest->data[size] != end) {
        size++;
    }
    Str part = {rest->data, size};
    size_t skip = size < rest->size ? size + 1 : size;
    *rest = (Str){rest->data + skip, rest->size - skip};
    return part;
}

/* "a int, b array<int>": names as they are, types in small letters without blanks. */
static void format_columns(const Schema *schema, Buffer *out)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        AUTO_BUFFER Buffer type = {0};
        type_format(schema->fields[i].type, &type);
        buffer_printf(out, "%s%.*s ", i == 0 ? "" : ", ", STR_ARG(schema->fields[i].name));
        for (size_t c = 0; c < type.size; c++) {
            if (type.data[c] != ' ') {
                buffer_append_byte(out, (char)tolower((unsigned char)type.data[c]));
            }
        }
    }
}

/* True when the binder says what Spark says; else prints both. */
static bool check_case(const Case *test)
{
    AUTO_BUFFER Buffer got = {0};
    AUTO_BUFFER Buffer wanted = {0};
    AUTO_BUFFER Buffer sql = {0};
    BindFixture fixture;
    BoundNode *query = NULL;
    bind_fixture_init(&fixture);
    buffer_append_str(&sql, test->sql);
    AUTO(error) Error *error = bind_fixture_query(&fixture, buffer_cstr(&sql), &query);
    if (error == NULL) {
        buffer_append_cstr(&got, "ok ");
        format_columns(query->schema, &got);
    } else {
        buffer_printf(&got, "error %s", error_class_name(error_class(error)));
    }
    buffer_printf(&wanted, "%.*s %.*s", STR_ARG(test->verdict), STR_ARG(test->expected));
    bool same = str_equal(buffer_str(&got), buffer_str(&wanted));
    if (!same) {
        print_error("%s\n    Spark: %s\n    here:  %s %s\n", buffer_cstr(&sql),
                    buffer_cstr(&wanted), buffer_cstr(&got),
                    error == NULL ? "" : error_message(error));
    }
    bind_fixture_done(&fixture);
    return same;
}

static void read_file(const char *path, Buffer *out)
{
    char block[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t size = 0; (size = fread(block, 1, sizeof block, file)) > 0;) {
        buffer_append(out, block, size);
    }
    assert_int_equal(fclose(file), 0);
}

static void test_queries(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer content = {0};
    read_file("tests/unit/bind/spark/queries.tsv", &content);
    Str text = buffer_str(&content);
    size_t count = 0;
    size_t wrong = 0;
    while (text.size > 0) {
        Str line = take(&text, '\n');
        if (line.size == 0 || line.data[0] == '#') {
            continue;
        }
        Case test = {.sql = take(&line, '\t')};
        test.verdict = take(&line, '\t');
        test.expected = line;
        wrong += check_case(&test) ? 0 : 1;
        count++;
    }
    print_message("%zu queries\n", count);
    assert_true(count > 100);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
