/* A tree printed as SQL parses to an equal tree: over the catalogue's vectors, every query of the
 * golden files, and texts that are one step away from right ones. Also: the dump that judges trees
 * sees whatever the printer shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/buffer.h"
#include "processor/sql/lexer.h"
#include "processor/sql/parser.h"
#include "tests/support/sql_generator.h"
#include "tests/support/sql_round_trip.h"
#include "tests/support/vectors.h"

/* ---------------------------------------------------------------- vectors --- */

static bool is_sql(const TestVector *vector)
{
    return vector->kind == VECTOR_SQL || vector->kind == VECTOR_EXPR;
}

static void test_vectors(void **state)
{
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    size_t tested = 0;
    size_t failed = 0;
    assert_null(vectors_read(VECTORS_FOLDER, arena, &set));
    for (size_t i = 0; i < set.count; i++) {
        const TestVector *vector = &set.items[i];
        if (!is_sql(vector) || vector->stage == VECTOR_STAGE_PARSE) {
            continue;
        }
        AUTO_BUFFER Buffer report = {0};
        SqlPart part = vector->kind == VECTOR_EXPR ? SQL_EXPRESSION : SQL_SCRIPT;
        if (sql_round_trip(part, vector->text, &report) != ROUND_TRIP_SAME) {
            print_error("%.*s: %s\n", STR_ARG(vector->id), buffer_cstr(&report));
            failed++;
        }
        tested++;
    }
    assert_int_equal(failed, 0);
    assert_true(tested > 350);
    (void)state;
}

/* ----------------------------------------------------------- golden files --- */

/* nftw knows no context. */
static struct {
    size_t queries;
    size_t errors;
    size_t failed;
} golden;

/* Lines to "----", or to an empty line. */
static void take_query(Str *rest, Buffer *query)
{
    buffer_clear(query);
    while (rest->data != NULL) {
        Str line = str_cut(rest, '\n');
        if (line.size == 0 || str_starts_with(line, STR("----"))) {
            return;
        }
        buffer_append_str(query, line);
        buffer_append_byte(query, '\n');
    }
}

static void check_golden_query(Str sql, bool right)
{
    AUTO_BUFFER Buffer report = {0};
    RoundTrip result = sql_round_trip(SQL_SCRIPT, sql, &report);
    if (result == ROUND_TRIP_DIFFERS || (result == ROUND_TRIP_NO_SQL && right)) {
        print_error("%s\n", buffer_cstr(&report));
        golden.failed++;
    }
    *(right ? &golden.queries : &golden.errors) += 1;
}

/* The statement of an error block is its one line; some are no SQL. */
static void check_golden_text(Str text)
{
    AUTO_BUFFER Buffer query = {0};
    for (Str rest = text; rest.data != NULL;) {
        Str line = str_cut(&rest, '\n');
        if (str_equal(line, STR("query")) || str_equal(line, STR("query sorted"))) {
            take_query(&rest, &query);
            check_golden_query(buffer_str(&query), true);
        } else if (str_starts_with(line, STR("error ["))) {
            check_golden_query(str_cut(&rest, '\n'), false);
        }
    }
}

static int check_golden_file(const char *path, const struct stat *status, int type,
                             struct FTW *place)
{
    (void)status;
    (void)place;
    if (type != FTW_F || !str_ends_with(str_from(path), STR(".test"))) {
        return 0;
    }
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    AUTO_BUFFER Buffer text = {0};
    char block[4096];
    for (size_t size = 0; (size = fread(block, 1, sizeof block, file)) > 0;) {
        buffer_append(&text, block, size);
    }
    (void)fclose(file);
    check_golden_text(buffer_str(&text));
    return 0;
}

static void test_golden_files(void **state)
{
    enum { OPEN_FOLDERS_MAX = 8 };
    assert_int_equal(nftw("tests/sql", check_golden_file, OPEN_FOLDERS_MAX, FTW_PHYS), 0);
    assert_int_equal(golden.failed, 0);
    assert_true(golden.queries > 900);
    assert_true(golden.errors > 300);
    (void)state;
}

/* -------------------------------------------------------------- mutations --- */

enum { TOKENS_MAX = 60, STATEMENTS = 2500, SHOWN_MAX = 10 };

/* The tokens of a text as spans of it. */
typedef struct Spans {
    Str items[TOKENS_MAX * 8];
    size_t count;
} Spans;

static void cut_tokens(Str text, Spans *ret)
{
    TokenList tokens;
    lexer_run(text, &tokens);
    ret->count = 0;
    for (size_t i = 0; i + 1 < tokens.count && ret->count < ARRAY_LENGTH(ret->items); i++) {
        const Token *token = &tokens.items[i];
        ret->items[ret->count++] = (Str){text.data + token->start, token->size};
    }
    lexer_done(&tokens);
}

/* One token lost, doubled, swapped with another, or replaced by one of another text. */
static void mutate(Random *random, Spans *spans, const Spans *others)
{
    uint32_t at = random_below(random, (uint32_t)spans->count);
    uint32_t other = random_below(random, (uint32_t)spans->count);
    Str kept = spans->items[at];
    switch (random_below(random, 4)) {
    case 0:
        spans->items[at] = STR("");
        return;
    case 1:
        spans->items[other] = kept;
        return;
    case 2:
        spans->items[at] = spans->items[other];
        spans->items[other] = kept;
        return;
    default:
        spans->items[at] = others->items[random_below(random, (uint32_t)others->count)];
        return;
    }
}

static void join_tokens(const Spans *spans, Buffer *out)
{
    enum { LINE_TOKENS = 7 };
    buffer_clear(out);
    for (size_t i = 0; i < spans->count; i++) {
        buffer_append_str(out, spans->items[i]);
        buffer_append_byte(out, i % LINE_TOKENS == LINE_TOKENS - 1 ? '\n' : ' ');
    }
}

typedef struct Mutant {
    Buffer text; /* the right one */
    Buffer mutated;
    Spans spans;
    Spans others;
    Buffer other_text;
} Mutant;

static void next_mutant(SqlGenerator *generator, Mutant *mutant, size_t i)
{
    buffer_append_str(&mutant->other_text, buffer_str(&mutant->text));
    cut_tokens(buffer_str(&mutant->other_text), &mutant->others);
    sql_generator_next(generator, i % 2 == 0 ? "statement" : "query", TOKENS_MAX, &mutant->text);
    cut_tokens(buffer_str(&mutant->text), &mutant->spans);
    mutate(sql_generator_random(generator), &mutant->spans, &mutant->others);
    join_tokens(&mutant->spans, &mutant->mutated);
    buffer_clear(&mutant->other_text);
}

static void mutant_done(Mutant *mutant)
{
    buffer_done(&mutant->text);
    buffer_done(&mutant->mutated);
    buffer_done(&mutant->other_text);
}

/* Whatever still parses is the same tree again; and some of it must parse, some must not. */
static void test_mutants(void **state)
{
    AUTO(arena) Arena *arena = arena_new("mutants");
    SqlGenerator *generator = sql_generator_new(arena, 2);
    Mutant mutant = {0};
    size_t failed = 0;
    size_t results[3] = {0};
    sql_generator_next(generator, "query", TOKENS_MAX, &mutant.text);
    for (size_t i = 0; i < STATEMENTS; i++) {
        AUTO_BUFFER Buffer report = {0};
        next_mutant(generator, &mutant, i);
        RoundTrip result = sql_round_trip(SQL_SCRIPT, buffer_str(&mutant.mutated), &report);
        results[result]++;
        if (result == ROUND_TRIP_DIFFERS && failed++ < SHOWN_MAX) {
            (void)fprintf(stderr, "%s\n", buffer_cstr(&report));
        }
    }
    mutant_done(&mutant);
    assert_int_equal(failed, 0);
    assert_true(results[ROUND_TRIP_SAME] > STATEMENTS / 10);
    assert_true(results[ROUND_TRIP_NO_SQL] > STATEMENTS / 10);
    (void)state;
}

/* Characters of line `line` (from 1), or -1 when the text has fewer lines. */
static int line_length(Str text, int line)
{
    Str rest = text;
    Str found = STR_NULL;
    for (int i = 0; i < line && rest.data != NULL; i++) {
        found = str_cut(&rest, '\n');
    }
    int length = 0;
    for (size_t i = 0; i < found.size; i++) {
        length += ((unsigned char)found.data[i] & 0xC0) != 0x80;
    }
    return found.data == NULL ? -1 : length;
}

/* A mistake is placed inside the text, or one behind its line's end, where something is missing. */
static void check_place(Str text, const Error *error)
{
    SourcePlace place = error_place(error);
    int length = line_length(text, place.line);
    bool inside = place.line >= 1 && place.column >= 1 && place.length >= 1 &&
                  place.column <= length + 1 && place.column + place.length <= length + 2;
    if (!inside) {
        fail_msg("%d:%d+%d: %s\n%.*s", place.line, place.column, place.length, error_message(error),
                 STR_ARG(text));
    }
}

static void test_places_of_mistakes(void **state)
{
    AUTO(arena) Arena *arena = arena_new("mutants");
    SqlGenerator *generator = sql_generator_new(arena, 4);
    Mutant mutant = {0};
    size_t mistakes = 0;
    sql_generator_next(generator, "query", TOKENS_MAX, &mutant.text);
    for (size_t i = 0; i < STATEMENTS; i++) {
        AUTO(arena) Arena *tree_arena = arena_new("tree");
        Diagnostics diagnostics = {0};
        AstScript *script = NULL;
        next_mutant(generator, &mutant, i);
        sql_parse_script(buffer_str(&mutant.mutated), tree_arena, &diagnostics, &script);
        for (size_t k = 0; k < diagnostics.count; k++) {
            check_place(buffer_str(&mutant.mutated), diagnostics.errors[k]);
            mistakes++;
        }
        diagnostics_done(&diagnostics);
    }
    mutant_done(&mutant);
    assert_true(mistakes > STATEMENTS / 10);
    (void)state;
}

/* Names print in backquotes or without; trees do not tell. */
static void remove_backquotes(Buffer *buffer)
{
    size_t size = 0;
    for (size_t i = 0; i < buffer->size; i++) {
        if (buffer->data[i] != '`') {
            buffer->data[size++] = buffer->data[i];
        }
    }
    buffer->size = size;
}

/* Two texts that print differently have dumps that differ: the dump forgets nothing that is
 * printed. */
static void test_dump_tells_trees_apart(void **state)
{
    AUTO(arena) Arena *arena = arena_new("mutants");
    SqlGenerator *generator = sql_generator_new(arena, 3);
    Mutant mutant = {0};
    size_t differed = 0;
    sql_generator_next(generator, "query", TOKENS_MAX, &mutant.text);
    for (size_t i = 0; i < STATEMENTS; i++) {
        AUTO_BUFFER Buffer printed = {0};
        AUTO_BUFFER Buffer dump = {0};
        AUTO_BUFFER Buffer printed_mutant = {0};
        AUTO_BUFFER Buffer dump_mutant = {0};
        next_mutant(generator, &mutant, i);
        if (!sql_print_and_dump(SQL_SCRIPT, buffer_str(&mutant.text), &printed, &dump) ||
            !sql_print_and_dump(SQL_SCRIPT, buffer_str(&mutant.mutated), &printed_mutant,
                                &dump_mutant)) {
            continue;
        }
        remove_backquotes(&printed);
        remove_backquotes(&printed_mutant);
        if (str_equal(buffer_str(&printed), buffer_str(&printed_mutant))) {
            continue;
        }
        differed++;
        if (str_equal(buffer_str(&dump), buffer_str(&dump_mutant))) {
            fail_msg("%s\n%s\nhave one dump\n%s", buffer_cstr(&printed),
                     buffer_cstr(&printed_mutant), buffer_cstr(&dump));
        }
    }
    mutant_done(&mutant);
    assert_true(differed > STATEMENTS / 20);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_golden_files),
        cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_places_of_mistakes),
        cmocka_unit_test(test_dump_tells_trees_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
