/* Vectors and batches: growth, nulls, nesting, copies, truncation, selections, failed rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/data/batch.h"

#include "random_values.h"

static void growth_keeps_values_and_nulls(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Vector *vector = vector_new(arena, &type_bigint, 0);
    for (int64_t i = 0; i < 10000; i++) {
        if (i % 7 == 3) {
            vector_append_null(vector, arena);
        } else {
            vector_append_int(vector, arena, i * i);
        }
    }
    assert_int_equal(vector->length, 10000);
    for (uint32_t i = 0; i < 10000; i++) {
        assert_true(vector_is_valid(vector, i) == (i % 7 != 3));
        assert_true(!vector_is_valid(vector, i) ||
                    VECTOR_VALUE(vector, int64_t, i) == (int64_t)i * i);
    }
}

static void a_bitmap_comes_with_the_first_null(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Vector *vector = vector_new(arena, &type_int, 100);
    vector_append_int(vector, arena, 1);
    assert_null(vector->validity);
    vector_append_int(vector, arena, 2);
    vector_set_null(vector, arena, 0);
    assert_non_null(vector->validity);
    assert_false(vector_is_valid(vector, 0));
    assert_true(vector_is_valid(vector, 1));
    vector_set_valid(vector, 0);
    assert_true(vector_is_valid(vector, 0));
    for (int i = 0; i < 500; i++) {
        vector_append_int(vector, arena, i);
        assert_true(vector_is_valid(vector, vector->length - 1));
    }
}

static void every_physical_kind(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    static const Type *const types[] = {&type_tinyint, &type_smallint, &type_int, &type_bigint};
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
        Vector *vector = vector_new(arena, types[i], 1);
        vector_append_int(vector, arena, -128);
        vector_append_int(vector, arena, 127);
        assert_int_equal(vector->length, 2);
    }
    Vector *single = vector_new(arena, &type_float, 1);
    vector_append_double(single, arena, 0.5);
    assert_true(VECTOR_VALUE(single, float, 0) == 0.5F);
    Vector *boolean = vector_new(arena, &type_boolean, 1);
    vector_append_bool(boolean, arena, true);
    assert_int_equal(VECTOR_VALUE(boolean, uint8_t, 0), 1);
    Vector *decimal = vector_new(arena, type_decimal(arena, 38, 0), 1);
    vector_append_int128(decimal, arena, decimal_power_of_ten(38) - 1);
    assert_true(VECTOR_VALUE(decimal, int128, 0) == decimal_power_of_ten(38) - 1);
    assert_int_equal((uintptr_t)decimal->data % 16, 0);
    Vector *nothing = vector_new(arena, &type_null, 1);
    vector_append_null(nothing, arena);
    assert_false(vector_is_valid(nothing, 0));
}

static void a_null_struct_has_null_children(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field fields[] = {{STR("a"), &type_int, false, STR_NULL},
                            {STR("b"), type_array(arena, &type_string), false, STR_NULL}};
    Vector *vector = vector_new(arena, type_struct(arena, fields, 2), 1);
    for (int i = 0; i < 100; i++) {
        vector_append_null(vector, arena);
        vector_append_int(vector->children[0], arena, i);
        vector_append_str(vector->children[1]->children[0], arena, STR("x"));
        vector_finish_list(vector->children[1], arena);
        vector_finish_struct(vector, arena);
    }
    assert_int_equal(vector->children[0]->length, 200);
    assert_int_equal(vector->children[1]->length, 200);
    assert_int_equal(vector->children[1]->children[0]->length, 100);
    assert_false(vector_is_valid(vector->children[0], 198));
    assert_int_equal(VECTOR_VALUE(vector->children[0], int32_t, 199), 99);
}

static void random_values_append_copy_and_truncate(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Random random = {99};
    for (int round = 0; round < 200; round++) {
        arena_reset(arena);
        const Type *type = random_type(&random, arena, false, 3);
        Vector *vector = vector_new(arena, type, 1);
        Vector *shared = vector_new(arena, type, 1);
        for (uint32_t row = 0; row < 50; row++) {
            random_append(&random, arena, vector);
            vector_append_from(shared, arena, vector, row);
            const Vector *copy = vector_copy_value(arena, vector, row);
            assert_int_equal(copy->length, 1);
            assert_true(vector_value_equal(copy, 0, vector, row));
        }
        for (uint32_t length = 50; length-- > 10;) {
            if (random_below(&random, 3) == 0) {
                vector_truncate(shared, length);
                for (uint32_t row = length; row < 50; row++) {
                    vector_append_from(shared, arena, vector, row);
                }
            }
        }
        assert_int_equal(shared->length, 50);
        for (uint32_t row = 0; row < 50; row++) {
            assert_true(vector_value_equal(shared, row, vector, row));
        }
    }
}

static void a_copied_value_owns_its_bytes(void **state)
{
    (void)state;
    AUTO(arena) Arena *kept = arena_new("kept");
    Arena *gone = arena_new("gone");
    Vector *vector = vector_new(gone, &type_string, 1);
    vector_append_str(vector, gone, arena_copy_str(gone, STR("text")));
    const Vector *copy = vector_copy_value(kept, vector, 0);
    arena_free(gone);
    assert_true(str_equal(VECTOR_VALUE(copy, Str, 0), STR("text")));
}

/* RU-15 and SQL's <=>: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0. */
static void equality(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Vector *vector = vector_new(arena, &type_double, 8);
    vector_append_double(vector, arena, 0.0);
    vector_append_double(vector, arena, -0.0);
    vector_append_double(vector, arena, (double)NAN);
    vector_append_double(vector, arena, -(double)NAN);
    vector_append_null(vector, arena);
    vector_append_null(vector, arena);
    vector_append_double(vector, arena, 1.0);
    assert_true(vector_value_equal(vector, 0, vector, 1));
    assert_true(vector_value_equal(vector, 2, vector, 3));
    assert_true(vector_value_equal(vector, 4, vector, 5));
    assert_false(vector_value_equal(vector, 0, vector, 4));
    assert_false(vector_value_equal(vector, 2, vector, 6));
    assert_false(vector_value_equal(vector, 0, vector, 6));
}

/* ---- Batches ---- */

static const Schema *one_column(Arena *arena)
{
    const Field fields[] = {{STR("n"), &type_int, false, STR_NULL}};
    return schema_new(arena, fields, 1);
}

static void failed_rows_leave_the_selection(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Batch *batch = batch_new(arena, one_column(arena), 8);
    for (int i = 0; i < 8; i++) {
        vector_append_int(batch->columns[0], arena, i);
    }
    batch = batch_from_columns(arena, batch->schema, batch->columns, 8);
    RowErrors errors = {0};
    batch_remove_rows(batch, arena, &errors);
    assert_null(batch->selection);
    row_errors_add(&errors, 5, error_new(ERROR_DIVIDE_BY_ZERO, "first"));
    row_errors_add(&errors, 0, error_new(ERROR_DIVIDE_BY_ZERO, "zero"));
    row_errors_add(&errors, 5, error_new(ERROR_DIVIDE_BY_ZERO, "second"));
    row_errors_add(&errors, 100, error_new(ERROR_DIVIDE_BY_ZERO, "elsewhere"));
    assert_int_equal(errors.count, 3);
    assert_true(row_errors_has(&errors, 0) && row_errors_has(&errors, 5));
    assert_false(row_errors_has(&errors, 1));
    assert_int_equal(errors.rows[1], 5);
    assert_string_equal(error_message(errors.errors[1]), "first");
    batch_remove_rows(batch, arena, &errors);
    assert_int_equal(batch->selected_count, 6);
    static const uint16_t left[] = {1, 2, 3, 4, 6, 7};
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(batch_selected(batch, i), left[i]);
    }
    row_errors_clear(&errors);
    row_errors_add(&errors, 3, error_new(ERROR_DIVIDE_BY_ZERO, "again"));
    batch_remove_rows(batch, arena, &errors);
    assert_int_equal(batch->selected_count, 5);
    assert_int_equal(batch_selected(batch, 2), 4);
    row_errors_done(&errors);
}

/* Errors name rows of the source batch; several rows may come from one. */
static void failed_source_rows_take_all_their_rows(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Batch *batch = batch_new(arena, one_column(arena), 4);
    for (int i = 0; i < 4; i++) {
        vector_append_int(batch->columns[0], arena, i);
    }
    batch = batch_from_columns(arena, batch->schema, batch->columns, 4);
    static const uint32_t origin[] = {7, 7, 9, 7};
    batch->origin = origin;
    RowErrors errors = {0};
    row_errors_add(&errors, 7, error_new(ERROR_DIVIDE_BY_ZERO, "x"));
    batch_remove_rows(batch, arena, &errors);
    assert_int_equal(batch->selected_count, 1);
    assert_int_equal(batch_selected(batch, 0), 2);
    row_errors_done(&errors);
}

static void many_failed_rows_in_any_order(void **state)
{
    (void)state;
    RowErrors errors = {0};
    for (uint32_t i = 0; i < 2048; i++) {
        row_errors_add(&errors, i * 1237 % 2048, error_new(ERROR_DIVIDE_BY_ZERO, "%u", i));
        row_errors_add(&errors, i, error_new(ERROR_DIVIDE_BY_ZERO, "%u", i));
    }
    assert_int_equal(errors.count, 2048);
    for (uint32_t i = 0; i < 2048; i++) {
        assert_int_equal(errors.rows[i], i);
    }
    row_errors_done(&errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_keeps_values_and_nulls),
        cmocka_unit_test(a_bitmap_comes_with_the_first_null),
        cmocka_unit_test(every_physical_kind),
        cmocka_unit_test(a_null_struct_has_null_children),
        cmocka_unit_test(random_values_append_copy_and_truncate),
        cmocka_unit_test(a_copied_value_owns_its_bytes),
        cmocka_unit_test(equality),
        cmocka_unit_test(failed_rows_leave_the_selection),
        cmocka_unit_test(failed_source_rows_take_all_their_rows),
        cmocka_unit_test(many_failed_rows_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
