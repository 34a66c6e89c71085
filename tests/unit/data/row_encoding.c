/* Rows as bytes: known bytes, random rows there and back, old versions, damaged input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "processor/data/row_encoding.h"

#include "random_values.h"

static Field field(const char *name, const Type *type)
{
    return (Field){str_from(name), type, false, STR_NULL};
}

static Batch *one_row(Arena *arena, const Schema *schema)
{
    Batch *batch = batch_new(arena, schema, 1);
    batch->row_count = 1;
    batch->selected_count = 1;
    return batch;
}

static void expect_row(const SchemaHistory *history, const Batch *batch, const char *hex)
{
    AUTO_BUFFER Buffer row = {0};
    AUTO_BUFFER Buffer text = {0};
    row_encode(history, batch, 0, &row);
    for (size_t i = 0; i < row.size; i++) {
        buffer_printf(&text, "%02x", (unsigned char)row.data[i]);
    }
    assert_string_equal(buffer_cstr(&text), hex);
}

/* State on disk depends on these bytes: they must not change. */
static void bytes_of_a_row(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field fields[] = {field("i", &type_int),
                            field("s", &type_string),
                            field("n", &type_bigint),
                            field("d", &type_double),
                            field("b", &type_boolean),
                            field("m", type_decimal(arena, 38, 2)),
                            field("l", type_array(arena, &type_tinyint))};
    const Schema *schema = schema_new(arena, fields, 7);
    SchemaHistory *history = schema_history_new(arena);
    assert_int_equal(schema_history_newest(history), 0);
    assert_int_equal(schema_history_add(history, schema), 1);
    Batch *batch = one_row(arena, schema);
    vector_append_int(batch->columns[0], arena, -3);
    vector_append_str(batch->columns[1], arena, STR("ab"));
    vector_append_null(batch->columns[2], arena);
    vector_append_double(batch->columns[3], arena, 1.0);
    vector_append_bool(batch->columns[4], arena, true);
    vector_append_int128(batch->columns[5], arena, 300);
    vector_append_int(batch->columns[6]->children[0], arena, 1);
    vector_append_null(batch->columns[6]->children[0], arena);
    vector_finish_list(batch->columns[6], arena);
    expect_row(history, batch,
               "01"
               "04"
               "05"
               "026162"
               "000000000000f03f"
               "01"
               "d804"
               "02"
               "02"
               "02");
}

static void random_rows_there_and_back(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Random random = {42};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    for (int round = 0; round < 400; round++) {
        arena_reset(arena);
        Field fields[10];
        size_t count = random_below(&random, 11);
        for (size_t i = 0; i < count; i++) {
            fields[i] = field(names[i], random_type(&random, arena, false, 3));
        }
        const Schema *schema = schema_new(arena, fields, count);
        SchemaHistory *history = schema_history_new(arena);
        schema_history_add(history, schema);
        Batch *batch = batch_new(arena, schema, 4);
        Batch *back = batch_new(arena, schema, 1);
        AUTO_BUFFER Buffer rows = {0};
        enum { ROWS = 20 };
        size_t ends[ROWS + 1] = {0};
        for (uint32_t row = 0; row < ROWS; row++) {
            for (size_t i = 0; i < count; i++) {
                random_append(&random, arena, batch->columns[i]);
            }
            batch->row_count++;
            batch->selected_count++;
            row_encode(history, batch, row, &rows);
            ends[row + 1] = rows.size;
        }
        for (uint32_t row = 0; row < ROWS; row++) {
            Str bytes = {rows.data + ends[row], ends[row + 1] - ends[row]};
            assert_null(row_decode(history, bytes, arena, back));
        }
        assert_int_equal(back->row_count, ROWS);
        assert_int_equal(back->selected_count, ROWS);
        for (size_t i = 0; i < count; i++) {
            for (uint32_t row = 0; row < ROWS; row++) {
                assert_true(vector_value_equal(batch->columns[i], row, back->columns[i], row));
            }
        }
    }
}

/* ---- Old versions ---- */

static void new_columns_read_null_gone_ones_are_dropped(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field first[] = {field("k", &type_bigint), field("gone", type_array(arena, &type_string)),
                           field("v", &type_string)};
    const Field second[] = {field("new", &type_double), field("V", &type_string),
                            field("k", &type_bigint)};
    SchemaHistory *history = schema_history_new(arena);
    const Schema *old = schema_new(arena, first, 3);
    schema_history_add(history, old);
    Batch *batch = one_row(arena, old);
    vector_append_int(batch->columns[0], arena, 5);
    vector_append_str(batch->columns[1]->children[0], arena, STR("x"));
    vector_finish_list(batch->columns[1], arena);
    vector_append_str(batch->columns[2], arena, STR("value"));
    AUTO_BUFFER Buffer bytes = {0};
    row_encode(history, batch, 0, &bytes);

    assert_int_equal(schema_history_add(history, schema_new(arena, second, 3)), 2);
    Batch *newest = batch_new(arena, schema_history_get(history, 2), 1);
    assert_null(row_decode(history, buffer_str(&bytes), arena, newest));
    assert_int_equal(newest->row_count, 1);
    assert_false(vector_is_valid(newest->columns[0], 0));
    assert_true(str_equal(VECTOR_VALUE(newest->columns[1], Str, 0), STR("value")));
    assert_true(VECTOR_VALUE(newest->columns[2], int64_t, 0) == 5);
    /* Strings are views of the bytes. */
    const char *data = VECTOR_VALUE(newest->columns[1], Str, 0).data;
    assert_true(data >= bytes.data && data < bytes.data + bytes.size);
    assert_int_equal(schema_history_get(history, 1)->field_count, 3);
}

/* Fields of a struct may differ in case only: each keeps its value, and after a change equal
 * spellings find each other before others do. */
static void names_that_differ_in_case_only(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field first[] = {field("A", &type_int), field("a", &type_int)};
    const Field second[] = {field("a", &type_int)};
    SchemaHistory *history = schema_history_new(arena);
    const Schema *old = schema_new(arena, first, 2);
    schema_history_add(history, old);
    Batch *batch = one_row(arena, old);
    vector_append_int(batch->columns[0], arena, 1);
    vector_append_int(batch->columns[1], arena, 2);
    AUTO_BUFFER Buffer bytes = {0};
    row_encode(history, batch, 0, &bytes);
    Batch *same = batch_new(arena, old, 1);
    assert_null(row_decode(history, buffer_str(&bytes), arena, same));
    assert_int_equal(VECTOR_VALUE(same->columns[0], int32_t, 0), 1);
    assert_true(vector_is_valid(same->columns[1], 0));
    assert_int_equal(VECTOR_VALUE(same->columns[1], int32_t, 0), 2);
    schema_history_add(history, schema_new(arena, second, 1));
    Batch *later = batch_new(arena, schema_history_get(history, 2), 1);
    assert_null(row_decode(history, buffer_str(&bytes), arena, later));
    assert_int_equal(VECTOR_VALUE(later->columns[0], int32_t, 0), 2);
}

static void wider_types_and_structs_with_more_fields(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field inner_old[] = {field("x", &type_int), field("y", &type_string)};
    const Field inner_new[] = {field("z", &type_boolean), field("x", &type_bigint)};
    const Field first[] = {
        field("i", &type_tinyint), field("f", &type_float), field("d", type_decimal(arena, 5, 2)),
        field("l", type_array(arena, type_struct(arena, inner_old, 2))), field("t", &type_string)};
    const Field second[] = {
        field("i", &type_bigint), field("f", &type_double), field("d", type_decimal(arena, 10, 2)),
        field("l", type_array(arena, type_struct(arena, inner_new, 2))), field("t", &type_int)};
    SchemaHistory *history = schema_history_new(arena);
    const Schema *old = schema_new(arena, first, 5);
    schema_history_add(history, old);
    Batch *batch = one_row(arena, old);
    vector_append_int(batch->columns[0], arena, -128);
    vector_append_double(batch->columns[1], arena, 0.5);
    vector_append_int128(batch->columns[2], arena, 12345);
    Vector *structs = batch->columns[3]->children[0];
    vector_append_int(structs->children[0], arena, 9);
    vector_append_str(structs->children[1], arena, STR("dropped"));
    vector_finish_struct(structs, arena);
    vector_append_null(structs, arena);
    vector_finish_list(batch->columns[3], arena);
    vector_append_str(batch->columns[4], arena, STR("7"));
    AUTO_BUFFER Buffer bytes = {0};
    row_encode(history, batch, 0, &bytes);

    schema_history_add(history, schema_new(arena, second, 5));
    Batch *newest = batch_new(arena, schema_history_get(history, 2), 1);
    assert_null(row_decode(history, buffer_str(&bytes), arena, newest));
    assert_true(VECTOR_VALUE(newest->columns[0], int64_t, 0) == -128);
    assert_true(VECTOR_VALUE(newest->columns[1], double, 0) == 0.5);
    assert_true(VECTOR_VALUE(newest->columns[2], int128, 0) == 12345);
    const Vector *list = newest->columns[3];
    assert_int_equal(list->offsets[1], 2);
    assert_false(vector_is_valid(list->children[0]->children[0], 0));
    assert_true(VECTOR_VALUE(list->children[0]->children[1], int64_t, 0) == 9);
    assert_false(vector_is_valid(list->children[0], 1));
    /* A type that cannot be widened reads NULL. */
    assert_false(vector_is_valid(newest->columns[4], 0));
}

/* RW-50: INT to BIGINT to DECIMAL or DOUBLE, DATE to TIMESTAMP at the zone's midnight. */
static void rows_of_narrower_types(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field first[] = {field("a", &type_int),
                           field("b", &type_bigint),
                           field("c", &type_bigint),
                           field("d", &type_date),
                           field("e", &type_date),
                           field("m", type_decimal(arena, 5, 2)),
                           field("l", type_array(arena, &type_smallint))};
    const Field second[] = {field("a", &type_double),
                            field("b", type_decimal(arena, 22, 3)),
                            field("c", &type_double),
                            field("d", &type_timestamp),
                            field("e", &type_timestamp_ntz),
                            field("m", type_decimal(arena, 9, 4)),
                            field("l", type_array(arena, type_decimal(arena, 7, 2)))};
    TimeZone *oslo = NULL;
    assert_null(time_zone_open(STR("Europe/Oslo"), &oslo));
    SchemaHistory *history = schema_history_new(arena);
    schema_history_set_date_zone(history, oslo);
    const Schema *old = schema_new(arena, first, 7);
    schema_history_add(history, old);
    Batch *batch = one_row(arena, old);
    vector_append_int(batch->columns[0], arena, -7);
    vector_append_int(batch->columns[1], arena, INT64_MIN);
    vector_append_int(batch->columns[2], arena, INT64_C(9007199254740993));
    vector_append_int(batch->columns[3], arena, 19723); /* 2024-01-01 */
    vector_append_int(batch->columns[4], arena, -1);
    vector_append_int128(batch->columns[5], arena, -12345);
    vector_append_int(batch->columns[6]->children[0], arena, 300);
    vector_append_null(batch->columns[6]->children[0], arena);
    vector_finish_list(batch->columns[6], arena);
    AUTO_BUFFER Buffer bytes = {0};
    row_encode(history, batch, 0, &bytes);

    schema_history_add(history, schema_new(arena, second, 7));
    Batch *newest = batch_new(arena, schema_history_get(history, 2), 1);
    assert_null(row_decode(history, buffer_str(&bytes), arena, newest));
    assert_true(VECTOR_VALUE(newest->columns[0], double, 0) == -7.0);
    assert_true(VECTOR_VALUE(newest->columns[1], int128, 0) == (int128)INT64_MIN * 1000);
    assert_true(VECTOR_VALUE(newest->columns[2], double, 0) == 9007199254740992.0);
    assert_true(VECTOR_VALUE(newest->columns[3], int64_t, 0) ==
                INT64_C(1704067200000000) - INT64_C(3600000000));
    assert_true(VECTOR_VALUE(newest->columns[4], int64_t, 0) == -INT64_C(86400000000));
    assert_true(VECTOR_VALUE(newest->columns[5], int128, 0) == -1234500);
    assert_true(VECTOR_VALUE(newest->columns[6]->children[0], int128, 0) == 30000);
    assert_false(vector_is_valid(newest->columns[6]->children[0], 1));
    time_zone_free(oslo);
}

static void many_versions(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    enum { VERSIONS = 150 };
    SchemaHistory *history = schema_history_new(arena);
    AUTO_BUFFER Buffer rows = {0};
    size_t ends[VERSIONS + 1] = {0};
    Field fields[VERSIONS];
    for (uint32_t version = 1; version <= VERSIONS; version++) {
        fields[version - 1] = field(arena_printf(arena, "c%u", version), &type_int);
        const Schema *schema = schema_new(arena, fields, version);
        assert_int_equal(schema_history_add(history, schema), version);
        Batch *batch = one_row(arena, schema);
        for (uint32_t i = 0; i < version; i++) {
            vector_append_int(batch->columns[i], arena, version * 1000 + i);
        }
        row_encode(history, batch, 0, &rows);
        ends[version] = rows.size;
    }
    Batch *newest = batch_new(arena, schema_history_get(history, VERSIONS), 1);
    for (uint32_t version = 1; version <= VERSIONS; version++) {
        Str bytes = {rows.data + ends[version - 1], ends[version] - ends[version - 1]};
        assert_null(row_decode(history, bytes, arena, newest));
        for (uint32_t i = 0; i < VERSIONS; i++) {
            bool there = i < version;
            assert_true(vector_is_valid(newest->columns[i], version - 1) == there);
            assert_true(!there || VECTOR_VALUE(newest->columns[i], int32_t, version - 1) ==
                                      (int32_t)(version * 1000 + i));
        }
    }
}

/* ---- Damage ---- */

static void expect_corrupt(const SchemaHistory *history, Str bytes, Arena *arena, Batch *batch)
{
    uint32_t rows = batch->row_count;
    AUTO(error) Error *error = row_decode(history, bytes, arena, batch);
    assert_non_null(error);
    assert_int_equal(error_class(error), ERROR_STATE_CORRUPT);
    assert_int_equal(batch->row_count, rows);
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        assert_int_equal(batch->columns[i]->length, rows);
    }
}

static void damaged_rows(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    Random random = {3};
    static const char *const names[] = {"a", "b", "c"};
    for (int round = 0; round < 1000; round++) {
        arena_reset(arena);
        Field fields[3];
        for (size_t i = 0; i < 3; i++) {
            fields[i] = field(names[i], random_type(&random, arena, false, 2));
        }
        const Schema *schema = schema_new(arena, fields, 3);
        SchemaHistory *history = schema_history_new(arena);
        schema_history_add(history, schema);
        Batch *batch = one_row(arena, schema);
        for (size_t i = 0; i < 3; i++) {
            random_append(&random, arena, batch->columns[i]);
        }
        AUTO_BUFFER Buffer bytes = {0};
        row_encode(history, batch, 0, &bytes);
        Batch *back = batch_new(arena, schema, 1);
        for (size_t size = 0; size < bytes.size; size++) {
            expect_corrupt(history, (Str){bytes.data, size}, arena, back);
        }
        buffer_append_byte(&bytes, 0);
        expect_corrupt(history, buffer_str(&bytes), arena, back);
        bytes.size--;
        bytes.data[random_below(&random, (uint32_t)bytes.size)] ^=
            (char)(1 << random_below(&random, 8));
        AUTO(error) Error *error = row_decode(history, buffer_str(&bytes), arena, back);
        assert_true(error == NULL || back->row_count == 0);
    }
}

static void lengths_beyond_the_end(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("test");
    const Field fields[] = {field("s", &type_string), field("l", type_array(arena, &type_null))};
    SchemaHistory *history = schema_history_new(arena);
    const Schema *schema = schema_new(arena, fields, 2);
    schema_history_add(history, schema);
    Batch *batch = batch_new(arena, schema, 1);
    expect_corrupt(history, STR(""), arena, batch);
    expect_corrupt(history, STR_NULL, arena, batch);
    expect_corrupt(history, STR("\x00"), arena, batch);     /* version 0 */
    expect_corrupt(history, STR("\x02\x03"), arena, batch); /* version 2 */
    expect_corrupt(history, STR("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"), arena, batch);
    expect_corrupt(history, STR("\x01\x07"), arena, batch); /* a bit beyond the columns */
    expect_corrupt(history, STR("\x01\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01x"), arena, batch);
    expect_corrupt(history,
                   STR("\x01\x02\x05"
                       "abcd"),
                   arena, batch);
    /* A list of four thousand million nulls in a few bytes. */
    expect_corrupt(history, STR("\x01\x01\xFF\xFF\xFF\xFF\x0F\xFF\xFF"), arena, batch);
    assert_true(arena_held_bytes(arena) < 1 << 20);
    assert_null(row_decode(history, STR("\x01\x03"), arena, batch));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_a_row),
        cmocka_unit_test(random_rows_there_and_back),
        cmocka_unit_test(new_columns_read_null_gone_ones_are_dropped),
        cmocka_unit_test(names_that_differ_in_case_only),
        cmocka_unit_test(wider_types_and_structs_with_more_fields),
        cmocka_unit_test(rows_of_narrower_types),
        cmocka_unit_test(many_versions),
        cmocka_unit_test(damaged_rows),
        cmocka_unit_test(lengths_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
