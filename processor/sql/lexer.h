/* Lexer: text in, array of tokens out (SQ-1, SQ-3, SQ-31..33). It never fails: what is no token
 * becomes a TOKEN_ERROR, which the parser reports when it gets there. */
#ifndef SQL_LEXER_H
#define SQL_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "processor/base/arena.h"
#include "processor/base/str.h"
#include "processor/sql/token.h"

typedef struct TokenList {
    Token *items; /* the last one is TOKEN_END */
    size_t count;
    size_t capacity;
} TokenList;

enum { LEXER_TEXT_MAX = 1 << 30 };

/* text.size is at most LEXER_TEXT_MAX. */
void lexer_run(Str text, TokenList *ret_tokens);
void lexer_done(TokenList *tokens);

/* The content of a TOKEN_STRING span: quotes off, escapes resolved as Spark does (\n, \t, \b, \r,
 * \0,
 * \Z, \ooo with three octal digits to \177, \uXXXX, \UXXXXXXXX; \% and \_ keep the backslash; any
 * other character stands for itself), r'…' as it stands. In the arena or a part of `span`. */
Str lexer_string(Str span, Arena *arena);
/* The name in a TOKEN_BACKTICK span. */
Str lexer_backtick(Str span, Arena *arena);
/* ASCII letters, digits and underscores, not a digit first: certainly a WORD. */
bool lexer_is_word(Str name);

#endif
