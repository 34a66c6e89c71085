/* Keys as bytes: known bytes, order, prefix freedom, exact inverse, damaged input. The order is
 * checked against a comparison of values written here from the rules (RU-14, RU-15, decisions
 * "Sequence"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/data/key_encoding.h"

#include "random_values.h"

static void expect_bytes(const Vector *vector, uint32_t row, const char *hex)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer text = {0};
    key_encode_value(vector, row, &key);
    for (size_t i = 0; i < key.size; i++) {
        buffer_printf(&text, "%02x", (unsigned char)key.data[i]);
    }
    assert_string_equal(buffer_cstr(&text), hex);
}

/* State on disk depends on these bytes: they must not change. */
static void bytes_of_each_type(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Vector *v = vector_new(arena, &type_int, 4);
    vector_append_int(v, arena, -1);
    vector_append_int(v, arena, 1);
    vector_append_null(v, arena);
    expect_bytes(v, 0, "017fffffff");
    expect_bytes(v, 1, "0180000001");
    expect_bytes(v, 2, "00");
    v = vector_new(arena, &type_bigint, 1);
    vector_append_int(v, arena, INT64_MIN);
    expect_bytes(v, 0, "010000000000000000");
    v = vector_new(arena, &type_tinyint, 1);
    vector_append_int(v, arena, 5);
    expect_bytes(v, 0, "0185");
    v = vector_new(arena, &type_boolean, 1);
    vector_append_bool(v, arena, true);
    expect_bytes(v, 0, "0101");
    v = vector_new(arena, &type_string, 3);
    vector_append_str(v, arena, STR("a"));
    vector_append_str(v, arena, STR("a\0b"));
    vector_append_str(v, arena, STR(""));
    expect_bytes(v, 0, "01610000");
    expect_bytes(v, 1, "016100ff620000");
    expect_bytes(v, 2, "010000");
    v = vector_new(arena, &type_double, 3);
    vector_append_double(v, arena, -0.0);
    vector_append_double(v, arena, 1.0);
    vector_append_double(v, arena, -(double)NAN);
    expect_bytes(v, 0, "018000000000000000");
    expect_bytes(v, 1, "01bff0000000000000");
    expect_bytes(v, 2, "01fff8000000000000");
    v = vector_new(arena, type_decimal(arena, 10, 2), 1);
    vector_append_int128(v, arena, -1);
    expect_bytes(v, 0, "017fffffffffffffffffffffffffffffff");
    v = vector_new(arena, type_array(arena, &type_tinyint), 2);
    vector_append_int(v->children[0], arena, 1);
    vector_append_null(v->children[0], arena);
    vector_finish_list(v, arena);
    vector_finish_list(v, arena);
    expect_bytes(v, 0,
                 "01"
                 "010181"
                 "0100"
                 "00");
    expect_bytes(v, 1, "0100");
}

/* ---- The order of values, by the rules ---- */

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return (isnan(a) != 0) - (isnan(b) != 0);
    }
    return (a > b) - (a < b);
}

#define COMPARE(CType)                                                                             \
    ((VECTOR_VALUE(v, CType, a) > VECTOR_VALUE(v, CType, b)) -                                     \
     (VECTOR_VALUE(v, CType, a) < VECTOR_VALUE(v, CType, b)))

static int compare_values(const Vector *v, uint32_t a, uint32_t b);

static int compare_lists(const Vector *v, uint32_t a, uint32_t b)
{
    uint32_t size_a = v->offsets[a + 1] - v->offsets[a];
    uint32_t size_b = v->offsets[b + 1] - v->offsets[b];
    for (uint32_t i = 0; i < size_a && i < size_b; i++) {
        int order = compare_values(v->children[0], v->offsets[a] + i, v->offsets[b] + i);
        if (order != 0) {
            return order;
        }
    }
    return (size_a > size_b) - (size_a < size_b);
}

static int compare_values(const Vector *v, uint32_t a, uint32_t b)
{
    bool valid_a = vector_is_valid(v, a);
    bool valid_b = vector_is_valid(v, b);
    if (!valid_a || !valid_b) {
        return valid_a - valid_b; /* nulls first and equal */
    }
    switch (type_physical(v->type)) {
    case PHYSICAL_NONE:
        return 0;
    case PHYSICAL_BOOL:
        return COMPARE(uint8_t);
    case PHYSICAL_INT8:
        return COMPARE(int8_t);
    case PHYSICAL_INT16:
        return COMPARE(int16_t);
    case PHYSICAL_INT32:
        return COMPARE(int32_t);
    case PHYSICAL_INT64:
        return COMPARE(int64_t);
    case PHYSICAL_INT128:
        return COMPARE(int128);
    case PHYSICAL_FLOAT:
        return compare_doubles((double)VECTOR_VALUE(v, float, a),
                               (double)VECTOR_VALUE(v, float, b));
    case PHYSICAL_DOUBLE:
        return compare_doubles(VECTOR_VALUE(v, double, a), VECTOR_VALUE(v, double, b));
    case PHYSICAL_STR: {
        int order = str_compare(VECTOR_VALUE(v, Str, a), VECTOR_VALUE(v, Str, b));
        return (order > 0) - (order < 0);
    }
    case PHYSICAL_LIST:
        return compare_lists(v, a, b);
    case PHYSICAL_STRUCT:
        for (uint32_t i = 0; i < v->child_count; i++) {
            int order = compare_values(v->children[i], a, b);
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }
    return 0;
}

enum { ROWS = 40, ROUNDS = 400, COLUMNS = 3 };

static int compare_rows(Vector *const *columns, uint32_t a, uint32_t b)
{
    for (int i = 0; i < COLUMNS; i++) {
        int order = compare_values(columns[i], a, b);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

static void check_pair(Vector *const *columns, const Str *keys, uint32_t a, uint32_t b)
{
    int wanted = compare_rows(columns, a, b);
    int order = str_compare(keys[a], keys[b]);
    assert_int_equal((order > 0) - (order < 0), wanted);
    bool equal = true;
    for (int i = 0; i < COLUMNS; i++) {
        equal = equal && vector_value_equal(columns[i], a, columns[i], b);
    }
    assert_true(equal == (wanted == 0));
    /* No key is a prefix of another one. */
    assert_false(wanted != 0 && str_starts_with(keys[b], keys[a]));
}

static void check_inverse(Arena *arena, Vector *const *columns, uint32_t row, Str key)
{
    Vector *back[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        back[i] = vector_new(arena, columns[i]->type, 1);
    }
    Error *error = key_decode(key, arena, back, COLUMNS);
    assert_null(error);
    AUTO_BUFFER Buffer again = {0};
    key_encode(back, COLUMNS, 0, &again);
    assert_true(str_equal(buffer_str(&again), key));
    for (int i = 0; i < COLUMNS; i++) {
        assert_int_equal(back[i]->length, 1);
        assert_true(vector_value_equal(columns[i], row, back[i], 0));
    }
}

static void order_and_inverse_of_random_keys(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Random random = {20260301};
    for (int round = 0; round < ROUNDS; round++) {
        arena_reset(arena);
        Vector *columns[COLUMNS];
        for (int i = 0; i < COLUMNS; i++) {
            columns[i] = vector_new(arena, random_type(&random, arena, true, 3), 4);
            assert_true(type_is_orderable(columns[i]->type));
        }
        Str keys[ROWS];
        for (uint32_t row = 0; row < ROWS; row++) {
            for (int i = 0; i < COLUMNS; i++) {
                random_append(&random, arena, columns[i]);
            }
            AUTO_BUFFER Buffer key = {0};
            key_encode(columns, COLUMNS, row, &key);
            keys[row] = arena_copy_str(arena, buffer_str(&key));
            check_inverse(arena, columns, row, keys[row]);
        }
        for (uint32_t a = 0; a < ROWS; a++) {
            for (uint32_t b = 0; b < ROWS; b++) {
                check_pair(columns, keys, a, b);
            }
        }
    }
}

/* Cut, lengthened or with another byte: an error and nothing appended, or a key of other values. */
static void damaged_keys(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Random random = {7};
    for (int round = 0; round < 2000; round++) {
        arena_reset(arena);
        Vector *column = vector_new(arena, random_type(&random, arena, true, 2), 1);
        random_append(&random, arena, column);
        AUTO_BUFFER Buffer key = {0};
        key_encode_value(column, 0, &key);
        Vector *back = vector_new(arena, column->type, 1);
        for (size_t size = 0; size < key.size; size++) {
            AUTO(error) Error *error = key_decode((Str){key.data, size}, arena, &back, 1);
            assert_non_null(error);
            assert_int_equal(error_class(error), ERROR_STATE_CORRUPT);
            assert_int_equal(back->length, 0);
        }
        buffer_append_byte(&key, 0);
        AUTO(error) Error *longer = key_decode(buffer_str(&key), arena, &back, 1);
        assert_non_null(longer);
        assert_int_equal(back->length, 0);
        key.size--;
        key.data[random_below(&random, (uint32_t)key.size)] ^=
            (char)(1 << random_below(&random, 8));
        AUTO(error) Error *changed = key_decode(buffer_str(&key), arena, &back, 1);
        if (changed == NULL) {
            AUTO_BUFFER Buffer again = {0};
            key_encode_value(back, 0, &again);
            assert_true(str_equal(buffer_str(&again), buffer_str(&key)));
            assert_false(vector_value_equal(back, 0, column, 0));
        }
    }
}

/* After a failure the columns take further keys as if nothing had been. */
static void columns_survive_a_damaged_key(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field fields[] = {{STR("a"), &type_string, false, STR_NULL},
                            {STR("b"), type_array(arena, &type_int), false, STR_NULL}};
    Vector *column = vector_new(arena, type_struct(arena, fields, 2), 1);
    vector_append_str(column->children[0], arena, STR("x"));
    vector_append_int(column->children[1]->children[0], arena, 7);
    vector_finish_list(column->children[1], arena);
    vector_finish_struct(column, arena);
    AUTO_BUFFER Buffer key = {0};
    key_encode_value(column, 0, &key);
    Vector *back = vector_new(arena, column->type, 1);
    for (int i = 0; i < 3; i++) {
        AUTO(error) Error *error = key_decode((Str){key.data, key.size - 3}, arena, &back, 1);
        assert_non_null(error);
        assert_null(key_decode(buffer_str(&key), arena, &back, 1));
        assert_int_equal(back->length, i + 1);
        assert_true(vector_value_equal(back, (uint32_t)i, column, 0));
    }
    assert_int_equal(back->children[1]->children[0]->length, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_each_type),
        cmocka_unit_test(order_and_inverse_of_random_keys),
        cmocka_unit_test(damaged_keys),
        cmocka_unit_test(columns_survive_a_damaged_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
