/* YAML to nodes: styles, places, and everything that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "config/yaml_node.h"

typedef struct Parsed {
    Arena *arena;
    Diagnostics diagnostics;
    YamlDocument *document;
} Parsed;

static Parsed parse_str(Str text)
{
    Parsed parsed = {.arena = arena_new("test")};
    yaml_parse(text, "t.yaml", parsed.arena, &parsed.diagnostics, &parsed.document);
    return parsed;
}

static Parsed parse(const char *text)
{
    return parse_str(str_from(text));
}

static void done(Parsed *parsed)
{
    diagnostics_done(&parsed->diagnostics);
    arena_free(parsed->arena);
}

static void assert_str(Str actual, const char *expected)
{
    assert_int_equal(actual.size, strlen(expected));
    assert_memory_equal(actual.data, expected, actual.size);
}

/* Exactly one mistake, of this class, at this place, with this in its message. */
static void assert_refused(Str text, ErrorClass class, int line, int column, const char *words)
{
    Parsed parsed = parse_str(text);
    assert_int_equal(parsed.diagnostics.count, 1);
    const Error *error = parsed.diagnostics.errors[0];
    assert_int_equal(error_class(error), class);
    assert_string_equal(error_file(error), "t.yaml");
    if (strstr(error_message(error), words) == NULL) {
        fail_msg("`%s` is not in: %s", words, error_message(error));
    }
    assert_int_equal(error_place(error).line, line);
    assert_int_equal(error_place(error).column, column);
    done(&parsed);
}

#define assert_syntax(text, line, column, words)                                                   \
    assert_refused(STR(text), ERROR_YAML_SYNTAX, line, column, words)

static void tree_keeps_order_style_and_places(void **state)
{
    (void)state;
    Parsed parsed = parse("b: 1.10\n"
                          "a:\n"
                          "  - 'it''s'\n"
                          "  - \"x\\ty\"\n"
                          "  - {k: [p, q], 'é': v}\n"
                          "c: |\n"
                          "  one\n"
                          "  two\n"
                          "d: >-\n"
                          "  one\n"
                          "  two\n");
    assert_int_equal(parsed.diagnostics.count, 0);
    const YamlNode *root = parsed.document->root;
    assert_int_equal(root->kind, YAML_MAPPING);
    assert_int_equal(root->count, 4);
    assert_str(root->entries[0].key, "b");
    assert_str(root->entries[0].value->text, "1.10");
    assert_int_equal(root->entries[0].value->style, YAML_PLAIN);
    assert_int_equal(root->entries[0].value->place.line, 1);
    assert_int_equal(root->entries[0].value->place.column, 4);
    assert_int_equal(root->entries[0].value->place.length, 4);
    const YamlNode *list = root->entries[1].value;
    assert_int_equal(list->count, 3);
    assert_str(list->items[0]->text, "it's");
    assert_int_equal(list->items[0]->style, YAML_SINGLE_QUOTED);
    assert_str(list->items[1]->text, "x\ty");
    assert_int_equal(list->items[1]->style, YAML_DOUBLE_QUOTED);
    const YamlNode *inner = list->items[2];
    assert_int_equal(inner->count, 2);
    assert_str(inner->entries[1].key, "é");
    assert_int_equal(inner->entries[1].key_place.line, 5);
    assert_int_equal(inner->entries[1].key_place.column, 17);
    assert_int_equal(inner->entries[1].value->place.column, 22); /* é is one character */
    assert_str(root->entries[2].value->text, "one\ntwo\n");
    assert_int_equal(root->entries[2].value->style, YAML_LITERAL);
    assert_str(root->entries[3].value->text, "one two");
    assert_int_equal(root->entries[3].value->style, YAML_FOLDED);
    assert_ptr_equal(yaml_node_get(root, STR("c")), root->entries[2].value);
    assert_null(yaml_node_get(root, STR("e")));
    done(&parsed);
}

static void byte_order_mark_and_crlf_are_fine(void **state)
{
    (void)state;
    Parsed parsed = parse("\xEF\xBB\xBF"
                          "a: 1\r\nb: x\r\n");
    assert_int_equal(parsed.diagnostics.count, 0);
    const YamlNode *root = parsed.document->root;
    assert_int_equal(root->entries[0].key_place.column, 1);
    assert_str(root->entries[1].value->text, "x");
    assert_int_equal(root->entries[1].value->place.line, 2);
    assert_int_equal(root->entries[1].value->place.length, 1);
    done(&parsed);
}

static void null_is_plain_only(void **state)
{
    (void)state;
    Parsed parsed = parse("[~, null, Null, NULL, '~', \"null\", nUll, 'x', '']");
    const bool expected[] = {true, true, true, true, false, false, false, false, false};
    assert_int_equal(parsed.document->root->count, ARRAY_LENGTH(expected));
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) {
        assert_int_equal(yaml_node_is_null(parsed.document->root->items[i]), expected[i]);
    }
    done(&parsed);
    parsed = parse("a:\n");
    assert_true(yaml_node_is_null(parsed.document->root->entries[0].value));
    done(&parsed);
}

static void aliases_share_their_node(void **state)
{
    (void)state;
    Parsed parsed = parse("a: &x {k: [1, 2]}\n"
                          "b: *x\n"
                          "c: &y  text\n"
                          "d: *y\n");
    assert_int_equal(parsed.diagnostics.count, 0);
    const YamlNode *root = parsed.document->root;
    assert_ptr_equal(root->entries[0].value, root->entries[1].value);
    assert_str(root->entries[3].value->text, "text");
    assert_int_equal(root->entries[2].value->place.column, 8); /* behind the anchor */
    done(&parsed);
}

static void duplicate_keys_name_the_whole_path(void **state)
{
    (void)state;
    assert_refused(STR("flows:\n  orders:\n    target: a\n  orders:\n    target: b\n"),
                   ERROR_CONFIG_DUPLICATE_KEY, 4, 3, "`flows.orders`");
    assert_refused(STR("a:\n- x: 1\n- {y: 1, 'y': 2}\n"), ERROR_CONFIG_DUPLICATE_KEY, 3, 10,
                   "`a[1].y`");
    /* All of them, and the first value stays. */
    Parsed parsed = parse("a: 1\nb: 2\na: 3\nb: 4\n");
    assert_int_equal(parsed.diagnostics.count, 2);
    assert_int_equal(parsed.document->root->count, 2);
    assert_str(parsed.document->root->entries[0].value->text, "1");
    done(&parsed);
}

static void tabs_as_indentation_are_refused(void **state)
{
    (void)state;
    assert_syntax("flows:\n\torders: {}\n", 2, 1, "tab");
    assert_syntax("a:\n  b: 1\n \tc: 2\n", 3, 2, "tab");
    assert_syntax("sql: |\n\tSELECT 1\n", 2, 1, "tab");
    assert_syntax("a: x\n\tb: y\n", 2, 1, "tab");
}

static void other_syntax_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_syntax("a: 1\n---\nb: 2\n", 2, 1, "several documents");
    assert_syntax("", 1, 1, "empty");
    assert_syntax("# only a comment\n", 1, 1, "empty");
    assert_syntax("---\n", 1, 1, "empty");
    assert_syntax("a: *nope\n", 1, 4, "`*nope`");
    assert_syntax("a: &a [*a]\n", 1, 8, "contains itself");
    assert_syntax("a: {b: 1}\nc:\n  <<: {b: 2}\n", 3, 3, "`c.<<`");
    assert_syntax("a: !!int 3\n", 1, 4, "Tags");
    assert_syntax("? [a, b]\n: 1\n", 1, 3, "A key must be");
    assert_syntax("a: b: c\n", 1, 5, "mapping values");
    assert_syntax("a: \"open\nb: 1\n", 3, 1, "unexpected end");
    assert_syntax("a: [1, 2\nb: 1\n", 2, 2, "did not find");
    assert_syntax("a: @x\n", 1, 4, "cannot start");
    assert_syntax("é: x\na: \xFF\n", 2, 4, "0xFF");
    assert_syntax("a: \xE3\x83\n", 1, 4, "UTF-8");
    assert_syntax("a: \"\xE2\x80\xA8\"\n", 1, 5, "line separator");
    assert_syntax("a: \x01\n", 1, 4, "does not allow");
}

static void quoted_merge_key_is_a_key(void **state)
{
    (void)state;
    Parsed parsed = parse("'<<': 1\n");
    assert_int_equal(parsed.diagnostics.count, 0);
    assert_str(parsed.document->root->entries[0].key, "<<");
    done(&parsed);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer text = {0};
    for (int i = 0; i < 100000; i++) {
        buffer_append_cstr(&text, "[\n");
    }
    assert_refused(buffer_str(&text), ERROR_YAML_SYNTAX, YAML_DEPTH_MAX + 1, 1, "levels deep");
}

/* Nine levels of nine aliases each: 9^9 values when written out. */
static void billion_laughs_end_at_once(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 10; i++) {
        buffer_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++) {
            buffer_printf(&text, "%s*a%d", k == 0 ? "" : ", ", i - 1);
        }
        buffer_append_cstr(&text, "]\n");
    }
    clock_t start = clock();
    Parsed parsed = parse_str(buffer_str(&text));
    assert_true(clock() - start < CLOCKS_PER_SEC / 2);
    assert_int_equal(parsed.diagnostics.count, 1);
    assert_non_null(strstr(error_message(parsed.diagnostics.errors[0]), "expand"));
    assert_null(parsed.document);
    assert_true(arena_held_bytes(parsed.arena) < 4 * 1024 * 1024);
    done(&parsed);
}

static void large_text_by_alias_is_bounded(void **state)
{
    (void)state;
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "a: &a ");
    for (int i = 0; i < 100000; i++) {
        buffer_append_cstr(&text, "0123456789");
    }
    buffer_append_cstr(&text, "\nb: [*a, *a, *a, *a, *a, *a]\n");
    Parsed parsed = parse_str(buffer_str(&text));
    assert_int_equal(parsed.diagnostics.count, 1);
    assert_non_null(strstr(error_message(parsed.diagnostics.errors[0]), "expand"));
    done(&parsed);
}

static void assert_secret_stays_inside(const char *text)
{
    Parsed parsed = parse(text);
    assert_true(parsed.diagnostics.count > 0);
    AUTO_BUFFER Buffer printed = {0};
    for (size_t i = 0; i < parsed.diagnostics.count; i++) {
        error_format(parsed.diagnostics.errors[i], &printed);
    }
    if (strstr(buffer_cstr(&printed), "hunter2") != NULL) {
        fail_msg("shown: %s", buffer_cstr(&printed));
    }
    done(&parsed);
}

static void secrets_are_not_shown_by_syntax_errors(void **state)
{
    (void)state;
    assert_secret_stays_inside("kafka:\n  sasl.password: \"hunter2\n");
    assert_secret_stays_inside("sasl.password: hunter2: x\n");
    assert_secret_stays_inside("sasl.password: *hunter2\n");
    assert_secret_stays_inside("sasl.password: @hunter2\n");
    assert_secret_stays_inside("sasl.pasword: @hunter2\n");
    assert_secret_stays_inside("password:\n  @hunter2\n");
    assert_secret_stays_inside("tokens:\n- a\n# c\n- @hunter2\n");
    assert_secret_stays_inside("x: {password: hunter2, y: 1, y: 2}\n");
    assert_secret_stays_inside("password: {hunter2: 1, hunter2: 2}\n");
    assert_secret_stays_inside("tokens:\n  - a\n  - {k: hunter2, k: hunter2}\n");
    assert_secret_stays_inside("a: {url: 'http://me:hunter2@h', b: 1, b: 2}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_keeps_order_style_and_places),
        cmocka_unit_test(byte_order_mark_and_crlf_are_fine),
        cmocka_unit_test(null_is_plain_only),
        cmocka_unit_test(aliases_share_their_node),
        cmocka_unit_test(duplicate_keys_name_the_whole_path),
        cmocka_unit_test(tabs_as_indentation_are_refused),
        cmocka_unit_test(other_syntax_is_refused_with_its_place),
        cmocka_unit_test(quoted_merge_key_is_a_key),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(billion_laughs_end_at_once),
        cmocka_unit_test(large_text_by_alias_is_bounded),
        cmocka_unit_test(secrets_are_not_shown_by_syntax_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
