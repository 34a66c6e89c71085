/* The catalogue's vectors, changed by chance: words left out, written twice, or taken from another
 * vector. Whatever comes out is judged without harm, and an error points into the text. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/vector_fixture.h"

enum { ROUNDS = 12, WORDS_MAX = 400 };

typedef struct Words {
    Str items[WORDS_MAX];
    size_t count;
} Words;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool is_word(char byte)
{
    return byte == '_' || (byte >= '0' && byte <= '9') ||
           ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* Words and single other characters; blanks are left out. */
static void split(Str text, Words *words)
{
    words->count = 0;
    for (size_t i = 0; i < text.size && words->count < WORDS_MAX;) {
        size_t end = i + 1;
        while (is_word(text.data[i]) && end < text.size && is_word(text.data[end])) {
            end++;
        }
        if (text.data[i] != ' ' && text.data[i] != '\n') {
            words->items[words->count++] = (Str){text.data + i, end - i};
        }
        i = end;
    }
}

static Str mutate(Arena *arena, const Words *words, const Words *others, uint64_t *random)
{
    AUTO_BUFFER Buffer out = {0};
    size_t at = next_random(random) % words->count;
    uint64_t change = next_random(random) % 4;
    for (size_t i = 0; i < words->count; i++) {
        Str word = words->items[i];
        if (i == at && change == 0) {
            continue;
        }
        if (i == at && change == 1 && others->count > 0) {
            word = others->items[next_random(random) % others->count];
        }
        if (i == at && change == 2) { /* one of its own */
            word = words->items[next_random(random) % words->count];
        }
        buffer_append_str(&out, word);
        if (i == at && change == 3) {
            buffer_append_byte(&out, ' ');
            buffer_append_str(&out, word);
        }
        buffer_append_byte(&out, ' ');
    }
    return arena_copy_str(arena, buffer_str(&out));
}

static bool has_place(Str text, const Error *error)
{
    SourcePlace place = error_place(error);
    Str rest = text;
    Str line = STR_NULL;
    for (int i = 0; i < place.line && rest.data != NULL; i++) {
        line = str_cut(&rest, '\n');
    }
    return place.line > 0 && line.data != NULL && place.column > 0 &&
           (size_t)place.column <= line.size + 1;
}

static bool judge(const VectorSet *set, const TestVector *vector, Str text, bool pipeline)
{
    BindFixture fixture;
    bind_fixture_init(&fixture);
    TestVector changed = *vector;
    changed.text = text;
    changed.parse_only = false;
    VectorVerdict verdict = vector_judge(&fixture, set, &changed, pipeline);
    bool ok = verdict.error == NULL || has_place(text, verdict.error);
    if (!ok) {
        AUTO_BUFFER Buffer shown = {0};
        error_format(verdict.error, &shown);
        print_error("no place: %.*s\n%s", STR_ARG(text), buffer_cstr(&shown));
    }
    bind_fixture_done(&fixture);
    return ok;
}

static void test_mutations(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("vectors");
    VectorSet set = {0};
    uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
    Words words;
    Words others = {.count = 0};
    size_t wrong = 0;
    assert_null(vectors_read(VECTORS_FOLDER, arena, &set));
    for (size_t i = 0; i < set.count; i++) {
        const TestVector *vector = &set.items[i];
        if (vector->kind != VECTOR_SQL) {
            continue;
        }
        split(vector->text, &words);
        for (int round = 0; round < ROUNDS && words.count > 0; round++) {
            Str text = mutate(arena, &words, &others, &random);
            wrong += !judge(&set, vector, text, round % 2 == 0);
        }
        others = words;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
