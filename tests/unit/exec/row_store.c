/* Rows kept in memory: every type, NULLs, nested values, more than a chunk, any order of reading,
 * copies that outlive what was appended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "processor/exec/row_store.h"
#include "tests/support/bind_fixture.h"
#include "tests/support/sql_fixture.h"

static const char every_type[] =
    "b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, f FLOAT, d DOUBLE, m DECIMAL(38,2), "
    "s STRING, x BINARY, day DATE, t TIMESTAMP, n TIMESTAMP_NTZ, ym INTERVAL YEAR TO MONTH, "
    "dt INTERVAL DAY TO SECOND, l ARRAY<STRING>, p MAP<STRING, ARRAY<INT>>, "
    "u STRUCT<a: INT, c: STRUCT<d: STRING, e: ARRAY<DOUBLE>>>";
enum { TYPE_COUNT = 18 };

/* Writes to `row` (from 0) values that tell rows apart; every third value is NULL. */
static void append_value(Vector *vector, Arena *arena, uint32_t row)
{
    if (row % 3 == 2) {
        vector_append_null(vector, arena);
        return;
    }
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        vector_append_null(vector, arena);
        return;
    case PHYSICAL_BOOL:
        vector_append_bool(vector, arena, row % 2 == 1);
        return;
    case PHYSICAL_INT8:
        vector_append_int(vector, arena, (int)(row % 100) - 50);
        return;
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
        vector_append_int(vector, arena, (int)row - 3);
        return;
    case PHYSICAL_INT128:
        vector_append_int128(vector, arena, (int128)row << 90);
        return;
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        vector_append_double(vector, arena, row * 0.5);
        return;
    case PHYSICAL_STR:
        vector_append_str(vector, arena, str_from(arena_printf(arena, "row %u", row)));
        return;
    case PHYSICAL_LIST:
        for (uint32_t child = 0; child < vector->child_count; child++) {
            for (uint32_t i = 0; i < row % 4; i++) {
                append_value(vector->children[child], arena, row + 2 * i);
            }
        }
        vector_finish_list(vector, arena);
        return;
    case PHYSICAL_STRUCT:
        for (uint32_t child = 0; child < vector->child_count; child++) {
            append_value(vector->children[child], arena, row + child);
        }
        vector_finish_struct(vector, arena);
        return;
    }
}

static Batch *numbered_rows(const Schema *schema, Arena *arena, uint32_t begin, uint32_t count)
{
    Batch *batch = batch_new(arena, schema, count);
    for (size_t i = 0; i < schema->field_count; i++) {
        for (uint32_t row = begin; row < begin + count; row++) {
            append_value(batch->columns[i], arena, row + (uint32_t)i);
        }
    }
    return batch_from_columns(arena, schema, batch->columns, count);
}

/* Row `row` of the store is the numbered row `number`. */
static void assert_row(const Batch *batch, uint32_t row, const Schema *schema, uint32_t number)
{
    AUTO(arena) Arena *arena = arena_new("expected");
    const Batch *expected = numbered_rows(schema, arena, number, 1);
    for (size_t i = 0; i < schema->field_count; i++) {
        assert_true(vector_value_equal(batch->columns[i], row, expected->columns[i], 0));
    }
}

/* Appends rows 0 … count - 1 in batches of `size`, which are forgotten at once. */
static RowStore *filled(const Schema *schema, uint32_t count, uint32_t size)
{
    RowStore *store = row_store_new(schema);
    AUTO(arena) Arena *arena = arena_new("batch");
    for (uint32_t begin = 0; begin < count; begin += size) {
        arena_reset(arena);
        uint32_t rows = count - begin < size ? count - begin : size;
        row_store_append(store, numbered_rows(schema, arena, begin, rows));
    }
    return store;
}

static void check_sizes(const Schema *schema, uint32_t count, uint32_t size)
{
    RowStore *store = filled(schema, count, size);
    assert_int_equal(row_store_count(store), count);
    assert_true(row_store_bytes(store) > count);
    for (uint32_t row = 0; row < count; row++) {
        assert_row(row_store_chunk(store, row), row % BATCH_ROWS, schema, row);
    }
    row_store_free(store);
}

static void test_every_type_in_chunks(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, every_type);
    assert_int_equal(schema->field_count, TYPE_COUNT);
    check_sizes(schema, 5, 1);
    check_sizes(schema, BATCH_ROWS, BATCH_ROWS);
    check_sizes(schema, BATCH_ROWS + 3, 700);
    check_sizes(schema, 2 * BATCH_ROWS + 1, BATCH_ROWS - 1);
    sql_fixture_done(&sql);
}

static void test_gather_in_any_order(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, every_type);
    enum { COUNT = 3000 };
    RowStore *store = filled(schema, COUNT, 999);
    uint32_t rows[2 * 100];
    for (uint32_t i = 0; i < 100; i++) {
        rows[2 * i] = i * 7919 % COUNT;
        rows[2 * i + 1] = i % 3 == 0 ? ROW_NONE : COUNT - 1 - i * 13;
    }
    const Batch *batch = row_store_batch(store, rows, 200, sql.arena);
    assert_int_equal(batch->row_count, 200);
    assert_int_equal(batch->selected_count, 200);
    for (uint32_t i = 0; i < 200; i++) {
        if (rows[i] != ROW_NONE) {
            assert_row(batch, i, schema, rows[i]);
            continue;
        }
        for (size_t k = 0; k < schema->field_count; k++) {
            assert_false(vector_is_valid(batch->columns[k], i));
        }
    }
    row_store_free(store);
    sql_fixture_done(&sql);
}

static void test_only_selected_rows(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, every_type);
    static const uint16_t selection[] = {1, 4, 5, 6, 9};
    RowStore *store = row_store_new(schema);
    for (uint32_t round = 0; round < 500; round++) { /* beyond one chunk */
        Batch *batch = numbered_rows(schema, sql.arena, round, 10);
        batch->selection = selection;
        batch->selected_count = 5;
        row_store_append(store, batch);
    }
    assert_int_equal(row_store_count(store), 2500);
    for (uint32_t row = 0; row < 2500; row++) {
        assert_row(row_store_chunk(store, row), row % BATCH_ROWS, schema,
                   row / 5 + selection[row % 5]);
    }
    row_store_free(store);
    sql_fixture_done(&sql);
}

/* Kernels leave anything in the children of a NULL struct, and under NULLs at all. */
static void test_values_under_nulls_do_not_matter(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = sql_fixture_schema(&sql, "s STRING, u STRUCT<a: INT, b: STRING>");
    Batch *batch = numbered_rows(schema, sql.arena, 0, 2);
    vector_set_null(batch->columns[0], sql.arena, 1);
    VECTOR_DATA(batch->columns[0], Str)[1] = (Str){NULL, 1000};
    vector_set_null(batch->columns[1], sql.arena, 0);
    RowStore *store = row_store_new(schema);
    row_store_append(store, batch);
    const Batch *chunk = row_store_chunk(store, 0);
    assert_true(vector_is_valid(chunk->columns[0], 0));
    assert_false(vector_is_valid(chunk->columns[0], 1));
    assert_false(vector_is_valid(chunk->columns[1], 0));
    assert_false(vector_is_valid(chunk->columns[1]->children[0], 0));
    row_store_free(store);
    sql_fixture_done(&sql);
}

static void test_clear_and_no_columns(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, every_type);
    RowStore *store = filled(schema, 3000, 1000);
    size_t full = row_store_bytes(store);
    row_store_clear(store);
    assert_int_equal(row_store_count(store), 0);
    assert_true(row_store_bytes(store) < full / 10);
    row_store_append(store, numbered_rows(schema, sql.arena, 17, 3));
    assert_int_equal(row_store_count(store), 3);
    assert_row(row_store_chunk(store, 2), 2, schema, 19);
    row_store_free(store);

    static const Schema none = {0};
    store = row_store_new(&none);
    for (int i = 0; i < 3; i++) {
        Batch *batch = batch_from_columns(sql.arena, &none, NULL, 1000);
        row_store_append(store, batch);
    }
    assert_int_equal(row_store_count(store), 3000);
    assert_int_equal(row_store_chunk(store, 2999)->row_count, 3000 - BATCH_ROWS);
    static const uint32_t rows[] = {5, 6};
    assert_int_equal(row_store_batch(store, rows, 2, sql.arena)->row_count, 2);
    row_store_free(store);
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_in_chunks),
        cmocka_unit_test(test_gather_in_any_order),
        cmocka_unit_test(test_only_selected_rows),
        cmocka_unit_test(test_values_under_nulls_do_not_matter),
        cmocka_unit_test(test_clear_and_no_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
