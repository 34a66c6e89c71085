/* Splits a text into tokens in one pass. Line and column are kept up to date as characters are
 * passed; columns count characters, that is bytes that do not continue a UTF-8 sequence. */
#include "processor/sql/lexer.h"

#include <assert.h>
#include <stdbool.h>

#include "processor/base/memory.h"
#include "processor/sql/ast.h"

#include "processor/base/banned.h"

typedef struct Lexer {
    Str text;
    size_t at;
    uint32_t line;
    uint32_t column;
    TokenList *tokens;
} Lexer;

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_byte(unsigned char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The byte `ahead` of the present one, 0 beyond the end (a 0 in the text is no token either). */
static unsigned char peek(const Lexer *lexer, size_t ahead)
{
    size_t at = lexer->at + ahead;
    return at < lexer->text.size ? (unsigned char)lexer->text.data[at] : 0;
}

/* Moves behind `size` bytes, counting lines and columns. */
static void pass(Lexer *lexer, size_t size)
{
    assert(size <= lexer->text.size - lexer->at);
    for (size_t end = lexer->at + size; lexer->at < end; lexer->at++) {
        unsigned char c = (unsigned char)lexer->text.data[lexer->at];
        if (c == '\n') {
            lexer->line++;
            lexer->column = 1;
        } else if ((c & 0xC0) != 0x80) {
            lexer->column++;
        }
    }
}

static uint32_t count_characters(Str s)
{
    uint32_t count = 0;
    for (size_t i = 0; i < s.size; i++) {
        count += ((unsigned char)s.data[i] & 0xC0) != 0x80;
    }
    return count;
}

/* Appends a token of `size` bytes from here and moves behind it. */
static Token *add(Lexer *lexer, TokenKind kind, size_t size)
{
    TokenList *tokens = lexer->tokens;
    if (tokens->count == tokens->capacity) {
        mem_reserve(tokens->items, &tokens->capacity, tokens->count + 1);
    }
    Token *token = &tokens->items[tokens->count++];
    Str span = {lexer->text.data + lexer->at, size};
    *token = (Token){.kind = (uint8_t)kind,
                     .start = (uint32_t)lexer->at,
                     .size = (uint32_t)size,
                     .line = lexer->line,
                     .column = lexer->column,
                     .length = count_characters(span)};
    pass(lexer, size);
    return token;
}

static void add_error(Lexer *lexer, TokenError error, size_t size)
{
    add(lexer, TOKEN_ERROR, size)->error = (uint8_t)error;
}

/* An unclosed string, name or comment: the token is what opened it, the rest of the text is lost.
 */
static void add_unclosed(Lexer *lexer, TokenError error, size_t opening)
{
    add_error(lexer, error, opening);
    pass(lexer, lexer->text.size - lexer->at);
}

/* Skips a bracketed comment, which may hold others; false when it is not closed. */
static size_t comment_size(const Lexer *lexer)
{
    size_t depth = 0;
    size_t i = 0;
    do {
        if (peek(lexer, i) == '/' && peek(lexer, i + 1) == '*') {
            depth++;
            i += 2;
        } else if (peek(lexer, i) == '*' && peek(lexer, i + 1) == '/') {
            depth--;
            i += 2;
        } else {
            i++;
        }
    } while (depth > 0 && lexer->at + i < lexer->text.size);
    return depth == 0 ? i : 0;
}

static void skip_line_comment(Lexer *lexer)
{
    size_t size = 2;
    while (lexer->at + size < lexer->text.size && peek(lexer, size) != '\n' &&
           peek(lexer, size) != '\r') {
        size++;
    }
    pass(lexer, size);
}

/* Passes white space and comments; true when it passed any. */
static bool skip_blank(Lexer *lexer)
{
    unsigned char c = peek(lexer, 0);
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
        pass(lexer, 1);
        return true;
    }
    if (c == '-' && peek(lexer, 1) == '-') {
        skip_line_comment(lexer);
        return true;
    }
    if (c == '/' && peek(lexer, 1) == '*') {
        size_t size = comment_size(lexer);
        if (size == 0) {
            add_unclosed(lexer, TOKEN_ERROR_UNCLOSED_COMMENT, 2);
        } else {
            pass(lexer, size);
        }
        return true;
    }
    return false;
}

/* '…' or "…" whose quote stands `prefix` bytes from here; raw ones know no escape. */
static void lex_string(Lexer *lexer, size_t prefix, bool raw)
{
    unsigned char quote = peek(lexer, prefix);
    size_t i = prefix + 1;
    size_t left = lexer->text.size - lexer->at;
    for (; i < left; i++) {
        unsigned char c = peek(lexer, i);
        if (!raw && c == '\\') {
            i++;
        } else if (c == quote) {
            if (raw || peek(lexer, i + 1) != quote) {
                break;
            }
            i++;
        }
    }
    if (i >= left) {
        add_unclosed(lexer, TOKEN_ERROR_UNCLOSED_STRING, prefix + 1);
    } else if (!str_is_utf8((Str){lexer->text.data + lexer->at, i + 1})) {
        add_error(lexer, TOKEN_ERROR_UTF8, i + 1);
    } else {
        add(lexer, TOKEN_STRING, i + 1);
    }
}

static void lex_backtick(Lexer *lexer)
{
    size_t i = 1;
    size_t left = lexer->text.size - lexer->at;
    for (; i < left; i++) {
        if (peek(lexer, i) == '`') {
            if (peek(lexer, i + 1) != '`') {
                break;
            }
            i++;
        }
    }
    if (i >= left) {
        add_unclosed(lexer, TOKEN_ERROR_UNCLOSED_BACKTICK, 1);
    } else if (i == 1) {
        add_error(lexer, TOKEN_ERROR_EMPTY_NAME, 2);
    } else if (!str_is_utf8((Str){lexer->text.data + lexer->at, i + 1})) {
        add_error(lexer, TOKEN_ERROR_UTF8, i + 1);
    } else {
        add(lexer, TOKEN_BACKTICK, i + 1);
    }
}

/* The suffix that stands at `i` and ends the number: L S Y (integers only), F D BD. */
static size_t suffix_size(const Lexer *lexer, size_t i, bool integer, AstNumberSuffix *ret_suffix)
{
    unsigned char c = (unsigned char)(peek(lexer, i) & ~0x20);
    unsigned char next = (unsigned char)(peek(lexer, i + 1) & ~0x20);
    AstNumberSuffix suffix = AST_SUFFIX_NONE;
    size_t size = 1;
    if (c == 'B' && next == 'D') {
        suffix = AST_SUFFIX_BD;
        size = 2;
    } else if (c == 'F') {
        suffix = AST_SUFFIX_F;
    } else if (c == 'D') {
        suffix = AST_SUFFIX_D;
    } else if (integer && c == 'L') {
        suffix = AST_SUFFIX_L;
    } else if (integer && c == 'S') {
        suffix = AST_SUFFIX_S;
    } else if (integer && c == 'Y') {
        suffix = AST_SUFFIX_Y;
    }
    *ret_suffix = suffix;
    return suffix == AST_SUFFIX_NONE ? 0 : size;
}

static size_t digits_size(const Lexer *lexer, size_t from)
{
    size_t i = from;
    while (is_digit(peek(lexer, i))) {
        i++;
    }
    return i - from;
}

/* e, sign and digits at `i`, or 0. */
static size_t exponent_size(const Lexer *lexer, size_t i)
{
    if ((peek(lexer, i) & ~0x20) != 'E') {
        return 0;
    }
    size_t sign = peek(lexer, i + 1) == '+' || peek(lexer, i + 1) == '-';
    size_t digits = digits_size(lexer, i + 1 + sign);
    return digits == 0 ? 0 : 1 + sign + digits;
}

/* A number of the longest form that stands here and is followed by no word character; false when
 * there is none: then it is a word that begins with a digit, or a dot. */
static bool try_number(Lexer *lexer, bool with_point)
{
    size_t size = digits_size(lexer, 0);
    TokenKind kind = TOKEN_INTEGER;
    if (with_point) {
        if (peek(lexer, size) != '.') {
            return false;
        }
        size_t fraction = digits_size(lexer, size + 1);
        if (size == 0 && fraction == 0) {
            return false;
        }
        size += 1 + fraction;
        kind = TOKEN_DECIMAL;
    }
    size_t exponent = exponent_size(lexer, size);
    if (exponent > 0) {
        size += exponent;
        kind = TOKEN_DOUBLE;
    }
    AstNumberSuffix suffix = AST_SUFFIX_NONE;
    size += suffix_size(lexer, size, kind == TOKEN_INTEGER, &suffix);
    if (is_word_byte(peek(lexer, size)) || peek(lexer, size) >= 0x80) {
        return false;
    }
    add(lexer, kind, size)->suffix = (uint8_t)suffix;
    return true;
}

static size_t word_size(const Lexer *lexer)
{
    size_t i = 0;
    while (is_word_byte(peek(lexer, i))) {
        i++;
    }
    return i;
}

/* A run of word characters and of bytes beyond ASCII: no name without backquotes (SQ-31). */
static void lex_foreign_word(Lexer *lexer)
{
    size_t size = 0;
    while (is_word_byte(peek(lexer, size)) || peek(lexer, size) >= 0x80) {
        size++;
    }
    Str word = {lexer->text.data + lexer->at, size};
    add_error(lexer, str_is_utf8(word) ? TOKEN_ERROR_FOREIGN_NAME : TOKEN_ERROR_UTF8, size);
}

static void lex_word(Lexer *lexer)
{
    size_t size = word_size(lexer);
    if (peek(lexer, size) >= 0x80) {
        lex_foreign_word(lexer);
        return;
    }
    if (size == 1 && (peek(lexer, 0) | 0x20) == 'r' &&
        (peek(lexer, 1) == '\'' || peek(lexer, 1) == '"')) {
        lex_string(lexer, 1, true);
        return;
    }
    Keyword keyword = keyword_find((Str){lexer->text.data + lexer->at, size});
    add(lexer, TOKEN_WORD, size)->keyword = (uint16_t)keyword;
}

typedef struct Punctuation {
    char text[4];
    uint8_t kind;
} Punctuation;

/* Longer ones first. */
static const Punctuation punctuation[] = {
    {"<=>", TOKEN_NULL_SAFE_EQUAL},
    {">>>", TOKEN_SHIFT_RIGHT_UNSIGNED},
    {"::", TOKEN_DOUBLE_COLON},
    {"->", TOKEN_ARROW},
    {"=>", TOKEN_FAT_ARROW},
    {"==", TOKEN_EQUAL},
    {"<>", TOKEN_NOT_EQUAL},
    {"!=", TOKEN_NOT_EQUAL},
    {"<=", TOKEN_LESS_EQUAL},
    {">=", TOKEN_GREATER_EQUAL},
    {"<<", TOKEN_SHIFT_LEFT},
    {">>", TOKEN_SHIFT_RIGHT},
    {"||", TOKEN_CONCAT},
    {";", TOKEN_SEMICOLON},
    {",", TOKEN_COMMA},
    {".", TOKEN_DOT},
    {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},
    {"[", TOKEN_OPEN_BRACKET},
    {"]", TOKEN_CLOSE_BRACKET},
    {":", TOKEN_COLON},
    {"=", TOKEN_EQUAL},
    {"<", TOKEN_LESS},
    {">", TOKEN_GREATER},
    {"+", TOKEN_PLUS},
    {"-", TOKEN_MINUS},
    {"*", TOKEN_STAR},
    {"/", TOKEN_SLASH},
    {"%", TOKEN_PERCENT},
    {"|", TOKEN_PIPE},
    {"&", TOKEN_AMPERSAND},
    {"^", TOKEN_CARET},
    {"~", TOKEN_TILDE},
    {"!", TOKEN_BANG},
};

static void lex_punctuation(Lexer *lexer)
{
    Str rest = {lexer->text.data + lexer->at, lexer->text.size - lexer->at};
    for (size_t i = 0; i < ARRAY_LENGTH(punctuation); i++) {
        Str text = str_from(punctuation[i].text);
        if (str_starts_with(rest, text)) {
            add(lexer, punctuation[i].kind, text.size);
            return;
        }
    }
    add_error(lexer, TOKEN_ERROR_CHARACTER, 1);
}

static void lex_token(Lexer *lexer)
{
    unsigned char c = peek(lexer, 0);
    if (c == '\'' || c == '"') {
        lex_string(lexer, 0, false);
    } else if (c == '`') {
        lex_backtick(lexer);
    } else if (is_digit(c)) {
        if (!try_number(lexer, true) && !try_number(lexer, false)) {
            lex_word(lexer);
        }
    } else if (is_word_byte(c)) {
        lex_word(lexer);
    } else if (c >= 0x80) {
        lex_foreign_word(lexer);
    } else if (c != '.' || !try_number(lexer, true)) {
        lex_punctuation(lexer);
    }
}

void lexer_run(Str text, TokenList *ret_tokens)
{
    assert(text.size <= LEXER_TEXT_MAX);
    *ret_tokens = (TokenList){0};
    Lexer lexer = {.text = text, .line = 1, .column = 1, .tokens = ret_tokens};
    if (str_starts_with(text, STR("\xEF\xBB\xBF"))) {
        lexer.at = 3; /* a byte order mark takes no column */
    }
    while (lexer.at < text.size) {
        if (!skip_blank(&lexer)) {
            lex_token(&lexer);
        }
    }
    add(&lexer, TOKEN_END, 0);
}

void lexer_done(TokenList *tokens)
{
    mem_free(tokens->items);
    *tokens = (TokenList){0};
}

bool lexer_is_word(Str name)
{
    for (size_t i = 0; i < name.size; i++) {
        if (!is_word_byte((unsigned char)name.data[i])) {
            return false;
        }
    }
    return name.size > 0 && !is_digit((unsigned char)name.data[0]);
}
