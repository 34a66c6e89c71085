/* Random statements of the SQL grammar (tests/vectors/grammar.ebnf): every one is right as far as
 * syntax goes, and means nothing. */
#ifndef TESTS_SUPPORT_SQL_GENERATOR_H
#define TESTS_SUPPORT_SQL_GENERATOR_H

#include "processor/base/arena.h"
#include "processor/base/buffer.h"
#include "tests/support/grammar.h"

#define GRAMMAR_FILE "tests/vectors/grammar.ebnf"

typedef struct SqlGenerator SqlGenerator;

/* Reads GRAMMAR_FILE; fails the test when it cannot. The same seed gives the same statements. */
SqlGenerator *sql_generator_new(Arena *arena, uint64_t seed);
/* A sentence of `production` ("statement", "query", "expression", "data_type") with about
 * `tokens_max` tokens at most, replacing what is in `out`. */
void sql_generator_next(SqlGenerator *generator, const char *production, size_t tokens_max,
                        Buffer *out);
/* See grammar_untaken. */
void sql_generator_untaken(SqlGenerator *generator, const char *production, Buffer *out);
Random *sql_generator_random(SqlGenerator *generator);

#endif
