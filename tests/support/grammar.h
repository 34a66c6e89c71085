/* A grammar in EBNF (as tests/vectors/grammar.ebnf is written) that derives random sentences.
 *
 *     name = "WORD" { "," other } [ "SUFFIX" ] | TOKEN ;        (* comment *)
 *
 * A name in capitals is a token of the lexical level, which the caller writes. Sentences end: each
 * node knows how many levels it needs at least, and as the levels given run out only the shortest
 * ways are left. Alternatives not taken yet are preferred, so that a few thousand sentences take
 * all of them; grammar_untaken tells which are left. */
#ifndef TESTS_SUPPORT_GRAMMAR_H
#define TESTS_SUPPORT_GRAMMAR_H

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "processor/base/str.h"
#include "tests/support/random.h"

typedef struct Grammar Grammar;

/* What a derivation is made by. */
typedef struct GrammarWriter {
    /* Writes "WORD" or "," as a terminal, or a token called `text`. */
    void (*write)(void *context, Str text, bool token);
    void *context;
    Random random;
    int levels;        /* productions inside each other, more or less */
    size_t tokens_max; /* from here on the shortest ways are taken */
    size_t tokens;     /* written so far */
} GrammarWriter;

/* An empty grammar. */
Grammar *grammar_new(Arena *arena);
/* Adds the productions of `text`, which must live as long; one of a known name replaces it. NULL,
 * or what is wrong with the text. */
const char *grammar_read(Grammar *grammar, Str text);
/* After the last grammar_read. NULL, or a name without production. */
const char *grammar_link(Grammar *grammar);
/* A random sentence of the production. */
void grammar_derive(Grammar *grammar, const char *production, GrammarWriter *writer);
/* Lists every alternative and option of the productions below `production` that no sentence has
 * taken, and every option that no sentence has left out. */
void grammar_untaken(Grammar *grammar, const char *production, Buffer *out);

#endif
