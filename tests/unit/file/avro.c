/* Avro container files. data/all_types_*.avro were written by fastavro, one for each way of packing
 * (data/from_fastavro.py); all_types.jsonl is what their records are. */
#include "tests/unit/file/file_fixture.h"

#define DATA "tests/unit/file/data/"

static void read_text(const char *path, Buffer *out)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t got = 1; got > 0; out->size += got) {
        got = fread(buffer_reserve(out, 4096), 1, 4096, file);
    }
    assert_int_equal(fclose(file), 0);
}

static const char *const files[] = {DATA "all_types_null.avro", DATA "all_types_deflate.avro",
                                    DATA "all_types_snappy.avro", DATA "all_types_zstandard.avro"};

static const Schema *columns_of(const Folder *folder, FileTable *table)
{
    const Schema *schema = NULL;
    assert_no_error(file_table_infer(table, folder->arena, &schema));
    return schema;
}

static void test_columns(void **state)
{
    AUTO_BUFFER Buffer columns = {0};
    assert_no_error(infer_path(*state, files[0], 1, &columns));
    assert_string_equal(
        buffer_cstr(&columns),
        "id BIGINT, name STRING, i INT, f FLOAT, d DOUBLE, b BOOLEAN, raw BINARY, day DATE, "
        "ts TIMESTAMP, tu TIMESTAMP, loc TIMESTAMP_NTZ, amt DECIMAL(10,2), fx DECIMAL(38,0), "
        "e STRING, e2 STRING, arr ARRAY<INT>, m MAP<STRING, DOUBLE>, "
        "s STRUCT<p: INT, q: STRING>, u BIGINT");
}

static void test_rows(void **state)
{
    AUTO_BUFFER Buffer expected = {0};
    read_text(DATA "all_types.jsonl", &expected);
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        AUTO(file_table) FileTable *table = open_table(files[i], 2);
        AUTO_BUFFER Buffer rows = {0};
        assert_no_error(read_all(table, columns_of(*state, table), &rows));
        assert_string_equal(buffer_cstr(&rows), buffer_cstr(&expected));
    }
}

static void test_column_by_name(void **state)
{
    const Folder *folder = *state;
    const Field fields[] = {FIELD("none", &type_int), FIELD("I", &type_bigint)};
    const Schema *schema = schema_new(folder->arena, fields, ARRAY_LENGTH(fields));
    AUTO_BUFFER Buffer rows = {0};
    assert_no_error(read_path(files[1], schema, 1, &rows));
    assert_true(str_starts_with(buffer_str(&rows),
                                STR("{\"none\":null,\"I\":0}\n{\"none\":null,\"I\":-1}\n")));
    const Field wrong[] = {FIELD("name", &type_int)};
    assert_fails(read_path(files[1], schema_new(folder->arena, wrong, 1), 1, &rows),
                 ERROR_MALFORMED_RECORD, "is STRING in the file and cannot be read as INT", 0);
}

/* Cut off anywhere, or with any byte changed, a file gives rows or an error, never more. */
static void test_damaged(void **state)
{
    const Folder *folder = *state;
    for (size_t f = 0; f < ARRAY_LENGTH(files); f++) {
        AUTO_BUFFER Buffer bytes = {0};
        read_text(files[f], &bytes);
        AUTO(file_table) FileTable *good = open_table(files[f], 1);
        const Schema *schema = columns_of(folder, good);
        unsigned failed = 0;
        for (size_t at = 5; at < bytes.size; at += 11) {
            AUTO_BUFFER Buffer rows = {0};
            char before = bytes.data[at];
            bytes.data[at] = (char)(before ^ (char)(1 << (at % 8)));
            Str cut = {bytes.data, at % 2 == 0 ? bytes.size : at};
            const char *path = write_file(folder, "damaged.avro", cut);
            Error *error = read_path(path, schema, 1, &rows);
            failed += error != NULL;
            error_free(error);
            bytes.data[at] = before;
        }
        assert_true(failed > bytes.size / 11 / 3);
    }
}

/* The least BIGINT as the count of the header's entries has no opposite. */
static void test_endless_header(void **state)
{
    static const char bytes[] = "Obj\1\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1\xFF\xFF";
    const Folder *folder = *state;
    AUTO_BUFFER Buffer rows = {0};
    const Field fields[] = {FIELD("a", &type_int)};
    const char *path = write_file(folder, "endless.avro", (Str){bytes, sizeof bytes - 1});
    assert_fails(read_path(path, schema_new(folder->arena, fields, 1), 1, &rows),
                 ERROR_MALFORMED_RECORD, "ends inside its header", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_columns, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_rows, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_column_by_name, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_damaged, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_endless_header, folder_open, folder_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
