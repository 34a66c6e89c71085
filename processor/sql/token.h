/* Tokens of the dialect. A token is a span of the text; what a string or a quoted name means is
 * worked out when the parser takes it (lexer.h: lexer_string, lexer_backtick). */
#ifndef SQL_TOKEN_H
#define SQL_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "processor/base/str.h"

typedef enum Keyword {
    KEYWORD_NONE, /* a word that is no keyword */
#define KEYWORD(word, flags) KEYWORD_##word,
#include "processor/sql/keywords.def"
#undef KEYWORD
    KEYWORD_COUNT
} Keyword;

enum {
    WORD_RESERVED = 1,
    WORD_NOT_ALIAS = 2,
    WORD_JOIN = 4,
    WORD_AFTER_RELATION = 8,
};

typedef enum TokenKind {
    TOKEN_END,   /* of the text */
    TOKEN_ERROR, /* no token: error tells why */
    TOKEN_WORD,  /* keyword says which, KEYWORD_NONE for other words */
    TOKEN_BACKTICK,
    TOKEN_STRING,
    TOKEN_INTEGER, /* digits; suffix */
    TOKEN_DECIMAL, /* with a point; suffix */
    TOKEN_DOUBLE,  /* with an exponent; suffix */
    TOKEN_SEMICOLON,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_BRACKET,
    TOKEN_CLOSE_BRACKET,
    TOKEN_COLON,
    TOKEN_DOUBLE_COLON,
    TOKEN_ARROW,     /* -> */
    TOKEN_FAT_ARROW, /* => */
    TOKEN_EQUAL,     /* = == */
    TOKEN_NULL_SAFE_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_SHIFT_RIGHT_UNSIGNED,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_STAR,
    TOKEN_SLASH,
    TOKEN_PERCENT,
    TOKEN_PIPE,
    TOKEN_CONCAT,
    TOKEN_AMPERSAND,
    TOKEN_CARET,
    TOKEN_TILDE,
    TOKEN_BANG,
} TokenKind;

/* Why a span is no token. */
typedef enum TokenError {
    TOKEN_ERROR_NONE,
    TOKEN_ERROR_CHARACTER,
    TOKEN_ERROR_FOREIGN_NAME,    /* a word with letters beyond ASCII */
    TOKEN_ERROR_UNCLOSED_STRING, /* the span is the opening quote, as below */
    TOKEN_ERROR_UNCLOSED_BACKTICK,
    TOKEN_ERROR_UNCLOSED_COMMENT,
    TOKEN_ERROR_EMPTY_NAME, /* `` */
    TOKEN_ERROR_UTF8,       /* a string or quoted name that is no UTF-8 */
} TokenError;

typedef struct Token {
    uint8_t kind;
    uint8_t suffix; /* AstNumberSuffix of a number */
    uint8_t error;
    uint16_t keyword;
    uint32_t start; /* bytes in the text */
    uint32_t size;
    uint32_t line;   /* from 1 */
    uint32_t column; /* from 1, in characters */
    uint32_t length; /* in characters */
} Token;

/* "CREATE" of KEYWORD_CREATE. */
const char *keyword_name(Keyword keyword);
/* WORD_… flags. */
unsigned keyword_flags(Keyword keyword);
/* KEYWORD_NONE when `word` is none; ASCII case is ignored. */
Keyword keyword_find(Str word);
/* How a kind of punctuation is written; "" for the others. */
const char *token_kind_text(TokenKind kind);

#endif
