/* Rows in temporary files: what was written is read again, of every type, in batches that are full
 * where they can be; a damaged block is an error and never more; memory is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "processor/exec/column_block.h"
#include "processor/exec/spill.h"
#include "tests/unit/data/random_values.h"

static void assert_no_error(Error *error)
{
    if (error != NULL) {
        print_message("%s\n", error_message(error));
    }
    assert_null(error);
}

static const Schema *random_schema(Random *random, Arena *arena)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    Field fields[4] = {0};
    uint32_t count = random_below(random, 5);
    for (uint32_t i = 0; i < count; i++) {
        fields[i].name = str_from(names[i]);
        fields[i].type = random_type(random, arena, false, 2);
    }
    return schema_new(arena, fields, count);
}

static Batch *random_batch(Random *random, Arena *arena, const Schema *schema, uint32_t rows)
{
    Batch *batch = batch_new(arena, schema, 0);
    for (size_t i = 0; i < schema->field_count; i++) {
        for (uint32_t row = 0; row < rows; row++) {
            random_append(random, arena, batch->columns[i]);
        }
    }
    batch->row_count = rows;
    batch->selected_count = rows;
    return batch;
}

/* Some of the rows, in order. */
static void select_some(Random *random, Arena *arena, Batch *batch)
{
    uint16_t *selection = arena_new_array(arena, uint16_t, batch->row_count + 1);
    batch->selected_count = 0;
    for (uint32_t row = 0; row < batch->row_count; row++) {
        if (random_below(random, 3) > 0) {
            selection[batch->selected_count++] = (uint16_t)row;
        }
    }
    batch->selection = selection;
}

static void assert_same_row(const Batch *a, uint32_t row_a, const Batch *b, uint32_t row_b)
{
    for (size_t i = 0; i < a->schema->field_count; i++) {
        bool none = type_physical(a->columns[i]->type) == PHYSICAL_NONE;
        assert_true(none || vector_value_equal(a->columns[i], row_a, b->columns[i], row_b));
    }
}

static void check_round_trip(Random *random, Arena *arena)
{
    const Schema *schema = random_schema(random, arena);
    Batch *written[40];
    uint32_t count = random_below(random, ARRAY_LENGTH(written));
    uint64_t rows = 0;
    AUTO(spill) SpillFile *file = NULL;
    assert_no_error(spill_open(NULL, schema, &file));
    for (uint32_t i = 0; i < count; i++) {
        written[i] = random_batch(random, arena, schema, random_below(random, 60));
        if (random_below(random, 2) == 0) {
            select_some(random, arena, written[i]);
        }
        assert_no_error(spill_write(file, written[i]));
        rows += written[i]->selected_count;
    }
    assert_int_equal(spill_rows(file), rows);
    for (int pass = 0; pass < 2; pass++) { /* rewound, it begins again */
        assert_no_error(spill_rewind(file));
        Batch *read = NULL;
        uint32_t at = 0;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < written[i]->selected_count; k++, at++) {
                if (read == NULL || at == read->row_count) {
                    assert_no_error(spill_read(file, arena, &read));
                    assert_non_null(read);
                    at = 0;
                }
                assert_same_row(written[i], batch_selected(written[i], k), read, at);
            }
        }
        assert_no_error(spill_read(file, arena, &read));
        assert_null(read);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    Random random = {0x853C49E6748FEA9B};
    for (int round = 0; round < 60; round++) {
        check_round_trip(&random, arena);
        arena_reset(arena);
    }
    arena_free(arena);
}

/* More rows than a batch and a frame hold; they come back in full batches. */
static void test_large(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    const Field fields[] = {{.name = STR("id"), .type = &type_bigint},
                            {.name = STR("text"), .type = &type_string}};
    const Schema *schema = schema_new(arena, fields, 2);
    AUTO(spill) SpillFile *file = NULL;
    assert_no_error(spill_open(NULL, schema, &file));
    enum { BATCHES = 500, ROWS = 100 };
    for (int i = 0; i < BATCHES; i++) {
        Batch *batch = batch_new(arena, schema, ROWS);
        for (int row = 0; row < ROWS; row++) {
            vector_append_int(batch->columns[0], arena, i * ROWS + row);
            vector_append_str(batch->columns[1], arena,
                              str_from(arena_printf(arena, "row %d", i * ROWS + row)));
        }
        batch->row_count = ROWS;
        batch->selected_count = ROWS;
        assert_no_error(spill_write(file, batch));
    }
    assert_no_error(spill_rewind(file));
    int64_t next = 0;
    uint32_t batches = 0;
    for (Batch *batch = NULL;; batches++) {
        assert_no_error(spill_read(file, arena, &batch));
        if (batch == NULL) {
            break;
        }
        assert_true(batch->row_count <= BATCH_ROWS);
        for (uint32_t row = 0; row < batch->row_count; row++, next++) {
            assert_int_equal(VECTOR_VALUE(batch->columns[0], int64_t, row), next);
            assert_true(str_equal(VECTOR_VALUE(batch->columns[1], Str, row),
                                  str_from(arena_printf(arena, "row %ld", (long)next))));
        }
    }
    assert_int_equal(next, BATCHES * ROWS);
    assert_true(batches < 2 * BATCHES * ROWS / BATCH_ROWS);
    arena_free(arena);
}

/* Any bytes instead of a block: refused, or rows, but never more than the bytes can hold. The heap
 * copy lets the address sanitizer see a read beyond the end. */
static void test_damaged_blocks(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    Random random = {0xDA3E39CB94B95BDB};
    uint32_t refused = 0;
    for (int round = 0; round < 3000; round++) {
        const Schema *schema = random_schema(&random, arena);
        AUTO_BUFFER Buffer block = {0};
        column_block_put(random_batch(&random, arena, schema, random_below(&random, 20)), &block);
        size_t size = block.size;
        if (random_below(&random, 2) == 0) {
            size = random_below(&random, (uint32_t)size);
        } else {
            for (int i = 0; i < 3; i++) {
                block.data[random_below(&random, (uint32_t)size)] = (char)random_next(&random);
            }
        }
        char *bytes = test_malloc(size + 1);
        memcpy(bytes, block.data, size);
        Str at = {bytes, size};
        refused += !column_block_take(&at, arena, batch_new(arena, schema, 0));
        test_free(bytes);
        assert_true(arena_used_bytes(arena) < 4 << 20);
        arena_reset(arena);
    }
    assert_true(refused > 1000);
    arena_free(arena);
}

/* One wrong byte anywhere in a file, its frame headers included, is found. The file has no name,
 * but the number of the next file opened is known. */
static void test_damaged_file(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    Random random = {0x2545F4914F6CDD1D};
    const Field fields[] = {{.name = STR("a"), .type = &type_string}};
    const Schema *schema = schema_new(arena, fields, 1);
    for (int round = 0; round < 50; round++) {
        int fd = dup(0);
        assert_true(fd >= 0);
        close(fd);
        AUTO(spill) SpillFile *file = NULL;
        assert_no_error(spill_open(NULL, schema, &file));
        assert_no_error(spill_write(file, random_batch(&random, arena, schema, 100)));
        assert_no_error(spill_rewind(file));
        off_t at = (off_t)random_below(&random, (uint32_t)lseek(fd, 0, SEEK_END));
        char byte = 0;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte = (char)(byte ^ (1 << random_below(&random, 8)));
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        Batch *batch = NULL;
        Error *error = spill_read(file, arena, &batch);
        assert_non_null(error);
        assert_int_equal(error_class(error), ERROR_SPILL_IO);
        error_free(error);
    }
    arena_free(arena);
}

static void test_no_folder(void **state)
{
    (void)state;
    Arena *arena = arena_new("test");
    QueryMemory memory = {.spill_dir = "/no/such/folder"};
    SpillFile *file = NULL;
    Error *error = spill_open(&memory, schema_new(arena, NULL, 0), &file);
    assert_non_null(error);
    assert_null(file);
    assert_int_equal(error_class(error), ERROR_SPILL_IO);
    assert_non_null(strstr(error_message(error), "/no/such/folder"));
    error_free(error);
    arena_free(arena);
}

static void test_memory(void **state)
{
    (void)state;
    QueryMemory memory = {.limit_bytes = 1000};
    size_t a = 0;
    size_t b = 0;
    memory_hold(&memory, &a, 600);
    assert_false(memory_exceeded(&memory));
    memory_hold(&memory, &b, 500);
    assert_true(memory_exceeded(&memory));
    memory_hold(&memory, &a, 100);
    assert_int_equal(memory.used_bytes, 600);
    assert_false(memory_exceeded(&memory));
    memory_hold(&memory, &b, 0);
    memory_hold(NULL, &b, 5);
    assert_int_equal(b, 5);
    assert_false(memory_exceeded(NULL));
}

/* What cannot go to files: twice the bound, and 256 MiB at least. */
static bool may_hold(size_t limit_mib, size_t held_mib)
{
    QueryMemory memory = {.limit_bytes = limit_mib << 20};
    Error *error = memory_check(&memory, held_mib << 20, "Rows", "ask for less", (SourcePlace){0});
    if (error == NULL) {
        return true;
    }
    assert_int_equal(error_class(error), ERROR_INSUFFICIENT_MEMORY);
    error_free(error);
    return false;
}

static void what_must_be_in_memory(void **state)
{
    (void)state;
    assert_true(may_hold(1, 256));
    assert_false(may_hold(1, 257));
    assert_true(may_hold(1024, 2048));
    assert_false(may_hold(1024, 2049));
    assert_null(memory_check(NULL, SIZE_MAX, "Rows", "ask for less", (SourcePlace){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),        cmocka_unit_test(test_large),
        cmocka_unit_test(test_damaged_blocks),    cmocka_unit_test(test_damaged_file),
        cmocka_unit_test(test_no_folder),         cmocka_unit_test(test_memory),
        cmocka_unit_test(what_must_be_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
