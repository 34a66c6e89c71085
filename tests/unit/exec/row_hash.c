/* Hashes and equality of rows as grouping means them: what is equal has the same hash, of every
 * type; what differs mostly another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "processor/exec/row_hash.h"
#include "tests/unit/data/random_values.h"

enum { ROWS = 40 };

static const Vector *random_column(Random *random, Arena *arena, const Type *type)
{
    Vector *vector = vector_new(arena, type, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        random_append(random, arena, vector);
    }
    return vector;
}

/* The indexes at which the two rows are equal in all columns, by the definition. */
static uint32_t expect_matches(const Vector *const *columns, size_t count, const uint32_t *left,
                               const uint32_t *right, uint32_t pairs, uint32_t *matches)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < pairs; i++) {
        bool equal = true;
        for (size_t k = 0; k < count; k++) {
            equal = equal && vector_value_equal(columns[k], left[i], columns[k], right[i]);
        }
        if (equal) {
            matches[found++] = i;
        }
    }
    return found;
}

static void check_columns(const Vector *const *columns, size_t count)
{
    uint64_t hashes[ROWS];
    row_hash(columns, count, (Rows){NULL, ROWS}, hashes);
    static uint32_t left[ROWS * ROWS];
    static uint32_t right[ROWS * ROWS];
    static uint32_t matches[ROWS * ROWS];
    static uint32_t expected[ROWS * ROWS];
    for (uint32_t i = 0; i < ROWS * ROWS; i++) {
        left[i] = i / ROWS;
        right[i] = i % ROWS;
    }
    uint32_t found = row_equal_pairs(columns, left, columns, right, count, ROWS * ROWS, matches);
    assert_int_equal(found, expect_matches(columns, count, left, right, ROWS * ROWS, expected));
    assert_memory_equal(matches, expected, found * sizeof(uint32_t));
    for (uint32_t i = 0; i < found; i++) {
        assert_true(hashes[left[matches[i]]] == hashes[right[matches[i]]]);
    }
    /* Rows that differ have different hashes: 64 bits never collide in a test as small as this. */
    uint32_t same_hash = 0;
    for (uint32_t i = 0; i < ROWS * ROWS; i++) {
        same_hash += hashes[left[i]] == hashes[right[i]];
    }
    assert_int_equal(same_hash, found);
}

static void test_every_type(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    Random random = {0x9E3779B97F4A7C15};
    for (int round = 0; round < 400; round++) {
        size_t count = 1 + random_below(&random, 3);
        const Vector *columns[3];
        for (size_t i = 0; i < count; i++) {
            /* Maps count without order, which vector_value_equal does not know: see below. */
            columns[i] = random_column(&random, arena, random_type(&random, arena, true, 2));
        }
        check_columns(columns, count);
        arena_reset(arena);
    }
    arena_free(arena);
}

static uint64_t hash_of(const Vector *vector, uint32_t row)
{
    uint64_t hashes[ROWS] = {0};
    uint16_t selection[] = {(uint16_t)row};
    row_hash(&vector, 1, (Rows){selection, 1}, hashes);
    return hashes[row];
}

static bool equal(const Vector *vector, uint32_t a, uint32_t b)
{
    uint32_t match = 0;
    bool same = row_equal_pairs(&vector, &a, &vector, &b, 1, 1, &match) == 1;
    assert_int_equal(same, hash_of(vector, a) == hash_of(vector, b));
    return same;
}

static void test_numbers(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    Vector *numbers = vector_new(arena, &type_double, 0);
    const double values[] = {0.0, -0.0, (double)NAN, -(double)NAN, 1.0};
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        vector_append_double(numbers, arena, values[i]);
    }
    vector_append_null(numbers, arena);
    vector_append_null(numbers, arena);
    assert_true(equal(numbers, 0, 1));
    assert_true(equal(numbers, 2, 3));
    assert_false(equal(numbers, 0, 2));
    assert_false(equal(numbers, 0, 5)); /* zero lies under the NULL */
    assert_true(equal(numbers, 5, 6));
    arena_free(arena);
}

/* Prefixes, zero bytes, sizes around the words texts are read by. */
static void test_texts(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    Vector *texts = vector_new(arena, &type_string, 0);
    static const char zeros[40];
    for (size_t size = 0; size < ROWS; size++) {
        vector_append_str(texts, arena, (Str){zeros, size});
    }
    for (uint32_t a = 0; a < ROWS; a++) {
        for (uint32_t b = 0; b < ROWS; b++) {
            assert_int_equal(equal(texts, a, b), a == b);
        }
    }
    arena_free(arena);
}

static void append_map(Vector *map, Arena *arena, const char *keys, const char *values)
{
    for (; *keys != '\0'; keys++, values++) {
        vector_append_int(map->children[0], arena, *keys);
        vector_append_int(map->children[1], arena, *values);
    }
    vector_finish_list(map, arena);
}

static void test_maps_have_no_order(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    Vector *map = vector_new(arena, type_map(arena, &type_int, &type_int), 0);
    append_map(map, arena, "abc", "123");
    append_map(map, arena, "cab", "312");
    append_map(map, arena, "abc", "132");
    append_map(map, arena, "ab", "12");
    assert_true(equal(map, 0, 1));
    assert_false(equal(map, 0, 2));
    assert_false(equal(map, 0, 3));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_maps_have_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
