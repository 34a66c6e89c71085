/* Tables of keywords and punctuation. */
#include "processor/sql/token.h"

#include <assert.h>

#include "processor/base/compiler.h"

#include "processor/base/banned.h"

typedef struct KeywordRow {
    const char *name;
    uint8_t size;
    uint8_t flags;
} KeywordRow;

static const KeywordRow rows[KEYWORD_COUNT] = {
    {"", 0, 0},
#define KEYWORD(word, flags) {#word, sizeof(#word) - 1, (flags)},
#include "processor/sql/keywords.def"
#undef KEYWORD
};

enum { KEYWORD_SIZE_MAX = 17 };

const char *keyword_name(Keyword keyword)
{
    assert(keyword < KEYWORD_COUNT);
    return rows[keyword].name;
}

unsigned keyword_flags(Keyword keyword)
{
    assert(keyword < KEYWORD_COUNT);
    return rows[keyword].flags;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

Keyword keyword_find(Str word)
{
    if (word.size > KEYWORD_SIZE_MAX) {
        return KEYWORD_NONE;
    }
    char name[KEYWORD_SIZE_MAX + 1];
    for (size_t i = 0; i < word.size; i++) {
        name[i] = upper(word.data[i]);
    }
    int low = 1;
    int high = KEYWORD_COUNT - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int order =
            str_compare((Str){name, word.size}, (Str){rows[middle].name, rows[middle].size});
        if (order == 0) {
            return (Keyword)middle;
        }
        if (order < 0) {
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    return KEYWORD_NONE;
}

static const char *const kind_texts[] = {
    [TOKEN_SEMICOLON] = ";",
    [TOKEN_COMMA] = ",",
    [TOKEN_DOT] = ".",
    [TOKEN_OPEN] = "(",
    [TOKEN_CLOSE] = ")",
    [TOKEN_OPEN_BRACKET] = "[",
    [TOKEN_CLOSE_BRACKET] = "]",
    [TOKEN_COLON] = ":",
    [TOKEN_DOUBLE_COLON] = "::",
    [TOKEN_ARROW] = "->",
    [TOKEN_FAT_ARROW] = "=>",
    [TOKEN_EQUAL] = "=",
    [TOKEN_NULL_SAFE_EQUAL] = "<=>",
    [TOKEN_NOT_EQUAL] = "<>",
    [TOKEN_LESS] = "<",
    [TOKEN_LESS_EQUAL] = "<=",
    [TOKEN_GREATER] = ">",
    [TOKEN_GREATER_EQUAL] = ">=",
    [TOKEN_SHIFT_LEFT] = "<<",
    [TOKEN_SHIFT_RIGHT] = ">>",
    [TOKEN_SHIFT_RIGHT_UNSIGNED] = ">>>",
    [TOKEN_PLUS] = "+",
    [TOKEN_MINUS] = "-",
    [TOKEN_STAR] = "*",
    [TOKEN_SLASH] = "/",
    [TOKEN_PERCENT] = "%",
    [TOKEN_PIPE] = "|",
    [TOKEN_CONCAT] = "||",
    [TOKEN_AMPERSAND] = "&",
    [TOKEN_CARET] = "^",
    [TOKEN_TILDE] = "~",
    [TOKEN_BANG] = "!",
};

const char *token_kind_text(TokenKind kind)
{
    const char *text = (size_t)kind < ARRAY_LENGTH(kind_texts) ? kind_texts[kind] : NULL;
    return text == NULL ? "" : text;
}
