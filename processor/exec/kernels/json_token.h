/* JSON text as tokens, read as Spark's parser (Jackson) reads it: lazily, so that what lies behind
 * the part that was asked for may be anything, and with the liberties its options give. Strings may
 * stand in single quotes and numbers may be NaN or Infinity unless told otherwise.
 *
 * The strict scanner of records (connectors/format/json_scan.h) has other rules: there a record is
 * good as a whole or goes to quarantine. */
#ifndef EXEC_KERNELS_JSON_TOKEN_H
#define EXEC_KERNELS_JSON_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/base/str.h"

/* As deep as Jackson lets arrays and objects be. */
enum { JSON_NESTING_MAX = 1000 };

typedef struct JsonSyntax {
    bool comments;
    bool unquoted_names;
    bool no_single_quotes;
    bool leading_zeros;
    bool no_nan;
    bool control_characters; /* bare in strings */
    bool any_escape;         /* \x is x for every x */
} JsonSyntax;

typedef enum JsonToken {
    JSON_END, /* of the text */
    JSON_BAD, /* no JSON from here on */
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_NAME, /* of an object's field: `text` */
    JSON_STRING,
    JSON_INTEGER, /* as written */
    JSON_FLOAT,   /* with point or exponent, or NaN, Infinity … */
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
} JsonToken;

typedef struct JsonTokens {
    const char *at;
    const char *end;
    Arena *arena; /* of texts that hold escapes; others point into the source */
    JsonSyntax syntax;
    JsonToken token; /* the current one */
    Str text;        /* NAME, STRING: unescaped; INTEGER, FLOAT: as written */
    unsigned depth;
    bool need_comma; /* a value of the innermost array or object was read */
    bool need_value; /* a name was read */
    bool done;       /* the root value was read */
    bool is_object[JSON_NESTING_MAX];
} JsonTokens;

void json_tokens_init(JsonTokens *tokens, Str text, JsonSyntax syntax, Arena *arena);
/* Goes on to the next token and gives it. */
JsonToken json_next(JsonTokens *tokens);
/* At the first token of a value: goes on to its last one. False when it is no JSON. */
bool json_skip(JsonTokens *tokens);

/* Pieces of JSON text as Jackson writes it. */
void json_put_text(Buffer *out, Str text);
void json_append_double(Buffer *out, double number);
/* A number token's text: integers as they are, others as the nearest double. */
void json_put_number(Buffer *out, const JsonTokens *tokens);
/* At the first token of a value: writes it without white space, stays at its last token. False, and
 * part of it written, when it is no JSON. */
bool json_copy(JsonTokens *tokens, Buffer *out);

#endif
