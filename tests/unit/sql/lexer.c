/* Lexer: strings, numbers, names, comments, places (SQ-3, SQ-31..SQ-33; cases/sql-parse). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/base/arena.h"
#include "processor/sql/ast.h"
#include "processor/sql/lexer.h"

static void assert_str(Str actual, const char *expected)
{
    assert_int_equal(actual.size, strlen(expected));
    assert_memory_equal(actual.data, expected, actual.size);
}

static Str span_of(Str text, const Token *token)
{
    return (Str){text.data + token->start, token->size};
}

/* The kinds of all tokens but the last, which is TOKEN_END. */
static void assert_kinds(const char *sql, const TokenKind *kinds, size_t count)
{
    TokenList tokens;
    lexer_run(str_from(sql), &tokens);
    assert_int_equal(tokens.count, count + 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tokens.items[i].kind, kinds[i]);
    }
    assert_int_equal(tokens.items[count].kind, TOKEN_END);
    lexer_done(&tokens);
}

#define ASSERT_KINDS(sql, ...)                                                                     \
    do {                                                                                           \
        const TokenKind kinds_[] = {__VA_ARGS__};                                                  \
        assert_kinds((sql), kinds_, ARRAY_LENGTH(kinds_));                                         \
    } while (0)

static void test_keywords_are_sorted(void **state)
{
    for (int i = 1; i < KEYWORD_COUNT; i++) {
        Str name = str_from(keyword_name((Keyword)i));
        assert_int_equal(keyword_find(name), i);
        assert_true(i == 1 || str_compare(str_from(keyword_name((Keyword)(i - 1))), name) < 0);
    }
    assert_int_equal(keyword_find(STR("select")), KEYWORD_SELECT);
    assert_int_equal(keyword_find(STR("Current_Timestamp")), KEYWORD_CURRENT_TIMESTAMP);
    assert_int_equal(keyword_find(STR("selects")), KEYWORD_NONE);
    assert_int_equal(keyword_find(STR("")), KEYWORD_NONE);
    assert_int_equal(keyword_find(STR("a_word_longer_than_any_keyword")), KEYWORD_NONE);
    (void)state;
}

static void assert_string(const char *sql, const char *expected, size_t size)
{
    AUTO(arena) Arena *arena = arena_new("lexer");
    TokenList tokens;
    lexer_run(str_from(sql), &tokens);
    assert_int_equal(tokens.count, 2);
    assert_int_equal(tokens.items[0].kind, TOKEN_STRING);
    Str value = lexer_string(span_of(str_from(sql), &tokens.items[0]), arena);
    assert_int_equal(value.size, size);
    assert_memory_equal(value.data, expected, size);
    lexer_done(&tokens);
}

#define ASSERT_STRING(sql, expected) assert_string((sql), (expected), sizeof(expected) - 1)

static void test_strings(void **state)
{
    ASSERT_STRING("'abc'", "abc");
    ASSERT_STRING("\"abc\"", "abc");
    ASSERT_STRING("''", "");
    ASSERT_STRING("'it''s'", "it's");
    ASSERT_STRING("\"a\"\"b\"", "a\"b");
    ASSERT_STRING("'a\"b'", "a\"b");
    ASSERT_STRING("'a\\'b'", "a'b");
    ASSERT_STRING("'a\\nb\\tc\\r\\b\\\\'", "a\nb\tc\r\b\\");
    ASSERT_STRING("'\\Z'", "\x1A");
    ASSERT_STRING("'50\\% \\_ \\x'", "50\\% \\_ x"); /* \% and \_ are LIKE's */
    ASSERT_STRING("'\\0'", "\0");
    ASSERT_STRING("'\\101\\377'", "A377"); /* octal ends at \177 */
    ASSERT_STRING("'\\u00e9\\U0001F600'", "\xC3\xA9\xF0\x9F\x98\x80");
    ASSERT_STRING("'\\uD83D\\uDE00 \\uD83D'", "\xF0\x9F\x98\x80 ?");
    ASSERT_STRING("'\\u12'", "u12");
    ASSERT_STRING("r'a\\n'", "a\\n");
    ASSERT_STRING("R\"q\\\"", "q\\");
    ASSERT_STRING("'--no /* comment; */'", "--no /* comment; */");
    (void)state;
}

static void test_numbers(void **state)
{
    ASSERT_KINDS("1", TOKEN_INTEGER);
    ASSERT_KINDS("1.5 .5 2. 0.", TOKEN_DECIMAL, TOKEN_DECIMAL, TOKEN_DECIMAL, TOKEN_DECIMAL);
    ASSERT_KINDS("1e3 1.5E-3 .5e+2", TOKEN_DOUBLE, TOKEN_DOUBLE, TOKEN_DOUBLE);
    ASSERT_KINDS("2L 3s 4Y 5F 6d 7BD 1e3bd", TOKEN_INTEGER, TOKEN_INTEGER, TOKEN_INTEGER,
                 TOKEN_INTEGER, TOKEN_INTEGER, TOKEN_INTEGER, TOKEN_DOUBLE);
    /* A word may begin with a digit; the longest reading counts. */
    ASSERT_KINDS("1a 1e 2Lx 1_ 1e3x", TOKEN_WORD, TOKEN_WORD, TOKEN_WORD, TOKEN_WORD, TOKEN_WORD);
    ASSERT_KINDS("t.1a", TOKEN_WORD, TOKEN_DOT, TOKEN_WORD);
    ASSERT_KINDS("1.a", TOKEN_INTEGER, TOKEN_DOT, TOKEN_WORD);
    ASSERT_KINDS("1.5L", TOKEN_INTEGER, TOKEN_DOT, TOKEN_INTEGER); /* L is for integers */
    TokenList tokens;
    lexer_run(STR("7BD"), &tokens);
    assert_int_equal(tokens.items[0].suffix, AST_SUFFIX_BD);
    lexer_done(&tokens);
    (void)state;
}

static void test_punctuation(void **state)
{
    ASSERT_KINDS("<=> <= << < >>> >> >= >", TOKEN_NULL_SAFE_EQUAL, TOKEN_LESS_EQUAL,
                 TOKEN_SHIFT_LEFT, TOKEN_LESS, TOKEN_SHIFT_RIGHT_UNSIGNED, TOKEN_SHIFT_RIGHT,
                 TOKEN_GREATER_EQUAL, TOKEN_GREATER);
    ASSERT_KINDS("= == => <> != !", TOKEN_EQUAL, TOKEN_EQUAL, TOKEN_FAT_ARROW, TOKEN_NOT_EQUAL,
                 TOKEN_NOT_EQUAL, TOKEN_BANG);
    ASSERT_KINDS(": :: - -> | ||", TOKEN_COLON, TOKEN_DOUBLE_COLON, TOKEN_MINUS, TOKEN_ARROW,
                 TOKEN_PIPE, TOKEN_CONCAT);
    ASSERT_KINDS("a@b", TOKEN_WORD, TOKEN_ERROR, TOKEN_WORD);
    (void)state;
}

static void test_comments(void **state)
{
    ASSERT_KINDS("1 -- x\n2", TOKEN_INTEGER, TOKEN_INTEGER);
    ASSERT_KINDS("1 -- x\r2", TOKEN_INTEGER, TOKEN_INTEGER);
    ASSERT_KINDS("1 -- it's open /*", TOKEN_INTEGER);
    ASSERT_KINDS("/* a /* b */ c */ 1", TOKEN_INTEGER);
    ASSERT_KINDS("/*+ BROADCAST(t) */ 1", TOKEN_INTEGER);
    ASSERT_KINDS("1 /* a /* b */ 2", TOKEN_INTEGER, TOKEN_ERROR);
    ASSERT_KINDS("1 /*/ 2", TOKEN_INTEGER, TOKEN_ERROR);
    (void)state;
}

static void test_names(void **state)
{
    AUTO(arena) Arena *arena = arena_new("lexer");
    Str sql = STR("`a``b` `x.y` `\xE6\x97\xA5` _a1");
    TokenList tokens;
    lexer_run(sql, &tokens);
    assert_int_equal(tokens.count, 5);
    assert_str(lexer_backtick(span_of(sql, &tokens.items[0]), arena), "a`b");
    assert_str(lexer_backtick(span_of(sql, &tokens.items[1]), arena), "x.y");
    assert_str(lexer_backtick(span_of(sql, &tokens.items[2]), arena), "\xE6\x97\xA5");
    assert_int_equal(tokens.items[3].kind, TOKEN_WORD);
    lexer_done(&tokens);
    ASSERT_KINDS("``", TOKEN_ERROR);
    ASSERT_KINDS("`a", TOKEN_ERROR);
    ASSERT_KINDS("a\xC3\xA9 b", TOKEN_ERROR, TOKEN_WORD);
    (void)state;
}

static void assert_place(const Token *token, uint32_t line, uint32_t column, uint32_t length)
{
    assert_int_equal(token->line, line);
    assert_int_equal(token->column, column);
    assert_int_equal(token->length, length);
}

/* Columns count characters, not bytes. */
static void test_places(void **state)
{
    TokenList tokens;
    lexer_run(STR("\xEF\xBB\xBF"
                  "a '\xC3\xA9\xE6\x97\xA5' b\n\tc /* \xC3\xA9 */ d\r\ne"),
              &tokens);
    assert_int_equal(tokens.count, 7);
    assert_place(&tokens.items[0], 1, 1, 1);
    assert_place(&tokens.items[1], 1, 3, 4);
    assert_place(&tokens.items[2], 1, 8, 1);
    assert_place(&tokens.items[3], 2, 2, 1);
    assert_place(&tokens.items[4], 2, 12, 1);
    assert_place(&tokens.items[5], 3, 1, 1);
    lexer_done(&tokens);
    (void)state;
}

static void test_invalid_utf8(void **state)
{
    ASSERT_KINDS("'\xFF'", TOKEN_ERROR);
    ASSERT_KINDS("`\xC3`", TOKEN_ERROR);
    ASSERT_KINDS("\xFF", TOKEN_ERROR);
    ASSERT_KINDS("-- \xFF\n1", TOKEN_INTEGER);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keywords_are_sorted),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_punctuation),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_invalid_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
