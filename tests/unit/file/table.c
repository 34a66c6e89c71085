/* Tables in files: order and errors with any number of threads, chunks, folders, patterns, packed
 * files, and batches that outlive their source. */
#include <zlib.h>

#include "tests/unit/file/file_fixture.h"

enum { MANY = 40000 }; /* rows: a few chunks */

static const Schema *two_columns(const Folder *folder)
{
    const Field fields[] = {FIELD("id", &type_bigint), FIELD("note", &type_string)};
    return schema_new(folder->arena, fields, ARRAY_LENGTH(fields));
}

static void put_rows(Buffer *out, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        buffer_printf(out, "{\"id\":%d,\"note\":\"number %d of many rows in this file\"}\n", i, i);
    }
}

/* The order is the file's, whatever works on it. */
static void test_order(void **state)
{
    const Folder *folder = *state;
    AUTO_BUFFER Buffer text = {0};
    put_rows(&text, 0, MANY);
    const char *path = write_file(folder, "many.jsonl", buffer_str(&text));
    static const unsigned threads[] = {1, 2, 8};
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++) {
        AUTO_BUFFER Buffer rows = {0};
        assert_no_error(read_path(path, two_columns(folder), threads[i], &rows));
        assert_true(str_equal(buffer_str(&rows), buffer_str(&text)));
    }
}

static void test_column_subset(void **state)
{
    const Folder *folder = *state;
    const Field wanted[] = {FIELD("note", &type_string)};
    const uint32_t columns[] = {1};
    const char *path = write_file(folder, "s.jsonl", STR("{\"id\":\"no number\",\"note\":\"x\"}"));
    AUTO_BUFFER Buffer rows = {0};
    AUTO(file_table) FileTable *table = open_table(path, 1);
    assert_no_error(read_rows(table, two_columns(folder), schema_new(folder->arena, wanted, 1),
                              columns, &rows));
    assert_string_equal(buffer_cstr(&rows), "{\"note\":\"x\"}\n");
}

/* A line far behind in the second file: its place is told in its file. */
static void test_place_of_errors(void **state)
{
    const Folder *folder = *state;
    AUTO_BUFFER Buffer text = {0};
    put_rows(&text, 0, MANY);
    (void)write_file(folder, "e1.jsonl", buffer_str(&text));
    buffer_append_cstr(&text, "\n{\"id\":1.5}\n");
    put_rows(&text, 0, MANY);
    (void)write_file(folder, "e2.jsonl", buffer_str(&text));
    static const unsigned threads[] = {1, 3};
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++) {
        AUTO_BUFFER Buffer rows = {0};
        Error *error =
            read_path(path_in(folder, "e*.jsonl"), two_columns(folder), threads[i], &rows);
        assert_non_null(error);
        assert_string_equal(error_file(error), path_in(folder, "e2.jsonl"));
        assert_fails(error, ERROR_MALFORMED_RECORD, "column `id`", MANY + 2);
    }
}

static void test_long_record(void **state)
{
    const Folder *folder = *state;
    enum { LONG = 3 << 20 };
    AUTO_BUFFER Buffer text = {0};
    buffer_append_cstr(&text, "{\"id\":1,\"note\":\"a\"}\n{\"id\":2,\"note\":\"");
    memset(buffer_reserve(&text, LONG), 'x', LONG);
    text.size += LONG;
    buffer_append_cstr(&text, "\"}\n{\"id\":3,\"note\":\"b\"}\n");
    AUTO_BUFFER Buffer rows = {0};
    const char *path = write_file(folder, "long.jsonl", buffer_str(&text));
    assert_no_error(read_path(path, two_columns(folder), 2, &rows));
    assert_true(str_equal(buffer_str(&rows), buffer_str(&text)));
}

static void test_folder(void **state)
{
    const Folder *folder = *state;
    (void)write_file(folder, "b.jsonl", STR("{\"id\":2}\n"));
    (void)write_file(folder, "a.jsonl", STR("{\"id\":1}\n\n  \n{\"id\":11}"));
    (void)write_file(folder, "c.jsonl", STR(""));
    (void)write_file(folder, "_SUCCESS", STR("no rows"));
    (void)write_file(folder, ".hidden", STR("no rows"));
    const Field fields[] = {FIELD("id", &type_int)};
    AUTO_BUFFER Buffer rows = {0};
    assert_no_error(read_path(folder->path, schema_new(folder->arena, fields, 1), 2, &rows));
    assert_string_equal(buffer_cstr(&rows), "{\"id\":1}\n{\"id\":11}\n{\"id\":2}\n");
}

static void assert_not_found(const char *path, const char *message)
{
    FileOptions options = {.time_zone = time_zone_utc()};
    FileTable *table = NULL;
    assert_fails(file_table_open(str_from(path), &options, &table), ERROR_PATH_NOT_FOUND, message,
                 0);
}

static void test_missing(void **state)
{
    const Folder *folder = *state;
    assert_not_found(path_in(folder, "none.jsonl"), "Path does not exist: ");
    assert_not_found(path_in(folder, "none*.jsonl"), "Path does not exist: no file fits ");
    assert_not_found(folder->path, "There are no files in the folder ");
}

static void test_name_with_brackets(void **state)
{
    const Folder *folder = *state;
    const char *path = write_file(folder, "x[1].jsonl", STR("{\"id\":1}"));
    AUTO_BUFFER Buffer rows = {0};
    assert_no_error(read_path(path, two_columns(folder), 1, &rows));
    assert_string_equal(buffer_cstr(&rows), "{\"id\":1,\"note\":null}\n");
}

static void write_packed(const char *path, const char *mode, Str bytes)
{
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes.data, (unsigned)bytes.size), bytes.size);
    assert_int_equal(gzclose(file), Z_OK);
}

/* Two members, one behind the other; what is cut off is an error. */
static void test_packed(void **state)
{
    const Folder *folder = *state;
    const char *path = path_in(folder, "p.jsonl.gz");
    AUTO_BUFFER Buffer text = {0};
    put_rows(&text, 0, MANY);
    write_packed(path, "wb", buffer_str(&text));
    size_t half = text.size;
    put_rows(&text, MANY, 10);
    write_packed(path, "ab", (Str){text.data + half, text.size - half});
    AUTO_BUFFER Buffer rows = {0};
    assert_no_error(read_path(path, two_columns(folder), 2, &rows));
    assert_true(str_equal(buffer_str(&rows), buffer_str(&text)));
    assert_int_equal(truncate(path, 5000), 0);
    buffer_clear(&rows);
    assert_fails(read_path(path, two_columns(folder), 2, &rows), ERROR_FILE_NOT_READABLE,
                 "its packed data are cut off", 0);
}

/* Batches live as long as the arena they were asked for, though the source is gone. */
static void test_batches_outlive(void **state)
{
    const Folder *folder = *state;
    AUTO_BUFFER Buffer text = {0};
    put_rows(&text, 0, MANY);
    const char *path = write_file(folder, "live.jsonl", buffer_str(&text));
    AUTO(file_table) FileTable *table = open_table(path, 3);
    const uint32_t columns[] = {0, 1};
    const Schema *schema = two_columns(folder);
    BatchSource *source = NULL;
    AUTO(arena) Arena *arena = arena_new("all");
    Batch *first = NULL;
    Batch *batch = NULL;
    assert_no_error(file_table_read(table, schema, schema, columns, &source));
    assert_no_error(source->next(source, arena, &first));
    for (int i = 0; i < 5; i++) {
        assert_no_error(source->next(source, arena, &batch));
    }
    assert_no_error(source->next(source, NULL, &batch)); /* the source's own */
    source->close(source);                               /* long before the end */
    assert_int_equal(VECTOR_VALUE(first->columns[0], int64_t, 7), 7);
    Str note = VECTOR_VALUE(first->columns[1], Str, 7);
    assert_true(str_equal(note, STR("number 7 of many rows in this file")));
}

static void test_estimate(void **state)
{
    const Folder *folder = *state;
    AUTO_BUFFER Buffer text = {0};
    put_rows(&text, 0, MANY);
    (void)write_file(folder, "x1.jsonl", buffer_str(&text));
    (void)write_file(folder, "x2.jsonl", buffer_str(&text));
    int64_t rows = 0;
    AUTO(file_table) FileTable *table = open_table(path_in(folder, "x?.jsonl"), 1);
    assert_no_error(file_table_estimate(table, &rows));
    assert_in_range(rows, 2 * MANY * 9 / 10, 2 * MANY * 11 / 10);
    AUTO(file_table) FileTable *empty = open_table(write_file(folder, "y.jsonl", STR("")), 1);
    assert_no_error(file_table_estimate(empty, &rows));
    assert_int_equal(rows, -1);
}

static void test_interrupted(void **state)
{
    const Folder *folder = *state;
    AUTO_BUFFER Buffer text = {0};
    put_rows(&text, 0, MANY);
    const char *path = write_file(folder, "i.jsonl", buffer_str(&text));
    bool interrupted = true;
    FileOptions options = {.time_zone = time_zone_utc(), .threads = 2, .interrupted = &interrupted};
    AUTO(file_table) FileTable *table = NULL;
    AUTO_BUFFER Buffer rows = {0};
    assert_no_error(file_table_open(str_from(path), &options, &table));
    assert_fails(read_all(table, two_columns(folder), &rows), ERROR_INTERRUPTED, "interrupted", 0);
}

static void test_progress(void **state)
{
    const Folder *folder = *state;
    const char *path = write_file(folder, "g.jsonl", STR("{\"id\":1}\n"));
    AUTO(file_table) FileTable *table = open_table(path, 1);
    uint64_t read = 0;
    uint64_t total = 0;
    file_table_progress(table, &read, &total);
    assert_int_equal(read, 0);
    assert_int_equal(total, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_column_subset, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_place_of_errors, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_long_record, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_folder, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_missing, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_name_with_brackets, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_packed, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_batches_outlive, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_estimate, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_interrupted, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_progress, folder_open, folder_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
