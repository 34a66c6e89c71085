/* The whole grammar against the parser: every sentence that grammar.ebnf derives parses, printed
 * and parsed again it is the same tree, and every alternative of the grammar was among the
 * sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "processor/base/buffer.h"

#include "tests/support/sql_generator.h"
#include "tests/support/sql_round_trip.h"

enum { TOKENS_MAX = 200, SHOWN_MAX = 10 };

/* `unit_sql_grammar SEED ROUNDS` looks further than the test does. */
static uint64_t seed = 1;
static size_t rounds = 1500;

/* What has most clauses is derived as often as the whole. */
static const struct {
    const char *production;
    SqlPart part;
} roots[] = {
    {"statement", SQL_SCRIPT},
    {"statement", SQL_SCRIPT},
    {"alter_streaming_table", SQL_SCRIPT},
    {"create_streaming_table", SQL_SCRIPT},
    {"query", SQL_SCRIPT},
    {"expression", SQL_EXPRESSION},
    {"data_type", SQL_DATA_TYPE},
};

static void test_every_sentence(void **state)
{
    AUTO(arena) Arena *arena = arena_new("grammar");
    SqlGenerator *generator = sql_generator_new(arena, seed);
    AUTO_BUFFER Buffer sql = {0};
    size_t failed = 0;
    for (size_t i = 0; i < rounds * ARRAY_LENGTH(roots); i++) {
        AUTO_BUFFER Buffer report = {0};
        SqlPart part = roots[i % ARRAY_LENGTH(roots)].part;
        sql_generator_next(generator, roots[i % ARRAY_LENGTH(roots)].production, TOKENS_MAX, &sql);
        bool same = sql_round_trip(part, buffer_str(&sql), &report) == ROUND_TRIP_SAME;
        if (!same && failed++ < SHOWN_MAX) {
            (void)fprintf(stderr, "%s\n", buffer_cstr(&report));
        }
    }
    assert_int_equal(failed, 0);
    AUTO_BUFFER Buffer untaken = {0};
    sql_generator_untaken(generator, "statement", &untaken);
    if (untaken.size > 0) {
        fail_msg("%s", buffer_cstr(&untaken));
    }
    (void)state;
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : seed;
    rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : rounds;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
