/* CSV files. The cases named csv.* are those of the requirements; what Spark does was asked of
 * Spark 4.3.0 (from_csv), but for doubled quotes, which are one quote here. */
#include "tests/unit/file/file_fixture.h"

static const Schema *three_columns(const Folder *folder)
{
    const Field fields[] = {FIELD("a", &type_int), FIELD("b", &type_string),
                            FIELD("c", &type_string)};
    return schema_new(folder->arena, fields, ARRAY_LENGTH(fields));
}

static void assert_csv(const Folder *folder, const Schema *schema, const char *text,
                       const char *expected)
{
    AUTO_BUFFER Buffer rows = {0};
    const char *path = write_file(folder, "t.csv", str_from(text));
    assert_no_error(read_path(path, schema, 1, &rows));
    assert_string_equal(buffer_cstr(&rows), expected);
}

/* csv.quotes-and-line-ends */
static void test_quotes_and_line_ends(void **state)
{
    const Folder *folder = *state;
    assert_csv(folder, three_columns(folder), "1,\"x,y\",z\n2,\"x\ny\",z\n3,\"\",z\n4,x,z\r\n",
               "{\"a\":1,\"b\":\"x,y\",\"c\":\"z\"}\n{\"a\":2,\"b\":\"x\\ny\",\"c\":\"z\"}\n"
               "{\"a\":3,\"b\":\"\",\"c\":\"z\"}\n{\"a\":4,\"b\":\"x\",\"c\":\"z\"}\n");
}

/* csv.empty-and-null */
static void test_empty_and_null(void **state)
{
    const Folder *folder = *state;
    assert_csv(folder, three_columns(folder), "1,,\n2,\"\",NULL\n3\n",
               "{\"a\":1,\"b\":null,\"c\":null}\n{\"a\":2,\"b\":\"\",\"c\":\"NULL\"}\n"
               "{\"a\":3,\"b\":null,\"c\":null}\n");
}

static void test_quotes(void **state)
{
    const Folder *folder = *state;
    assert_csv(folder, three_columns(folder),
               "1,\"a\"\"b\",\"a\\\"b\"\n2,a\"b,\"ab\"c\n3, \"ab\" ,\"c\\d\"\n4,'x,\"e\\\\f\"",
               "{\"a\":1,\"b\":\"a\\\"b\",\"c\":\"a\\\"b\"}\n"
               "{\"a\":2,\"b\":\"a\\\"b\",\"c\":\"\\\"ab\\\"c\"}\n"
               "{\"a\":3,\"b\":\" \\\"ab\\\" \",\"c\":\"c\\\\d\"}\n"
               "{\"a\":4,\"b\":\"'x\",\"c\":\"e\\\\f\"}\n");
}

static void test_blank_lines(void **state)
{
    const Folder *folder = *state;
    assert_csv(folder, three_columns(folder), "\n\r\n1,x,y\n\n\n2,x,y\n\n",
               "{\"a\":1,\"b\":\"x\",\"c\":\"y\"}\n{\"a\":2,\"b\":\"x\",\"c\":\"y\"}\n");
    assert_csv(folder, three_columns(folder), "", "");
    assert_csv(folder, three_columns(folder), "\n", "");
}

static void test_types(void **state)
{
    const Folder *folder = *state;
    const Field fields[] = {
        FIELD("t", &type_tinyint),   FIELD("l", &type_bigint),
        FIELD("d", &type_double),    FIELD("n", type_decimal(folder->arena, 10, 2)),
        FIELD("o", &type_boolean),   FIELD("y", &type_date),
        FIELD("z", &type_timestamp), FIELD("w", &type_timestamp_ntz),
        FIELD("r", &type_binary),
    };
    const Schema *schema = schema_new(folder->arena, fields, ARRAY_LENGTH(fields));
    assert_csv(
        folder, schema,
        "-128,+9223372036854775807,1e3,\"1,000\",TRUE,2026-01-02,2026-01-02 03:04:05,"
        "2026-01-02T03:04:05,abcd\n127,-9223372036854775808,Inf,1.5,false,,"
        "2026-01-02T03:04:05.5Z,,\n,,NaN,-0.01,,,,,\n",
        "{\"t\":-128,\"l\":9223372036854775807,\"d\":1000.0,\"n\":1000.00,\"o\":true,\"y\":"
        "\"2026-01-02\",\"z\":\"2026-01-02T03:04:05.000000Z\",\"w\":\"2026-01-02T03:04:05."
        "000000\",\"r\":\"YWJjZA==\"}\n"
        "{\"t\":127,\"l\":-9223372036854775808,\"d\":\"Infinity\",\"n\":1.50,\"o\":false,\"y\":"
        "null,\"z\":\"2026-01-02T03:04:05.500000Z\",\"w\":null,\"r\":null}\n"
        "{\"t\":null,\"l\":null,\"d\":\"NaN\",\"n\":-0.01,\"o\":null,\"y\":null,\"z\":null,"
        "\"w\":null,\"r\":null}\n");
}

static void test_bad_values(void **state)
{
    const Folder *folder = *state;
    static const struct {
        const char *text;
        const char *message;
        int line;
    } cases[] = {
        {"1,x,y\nz,x,y\n", "column `a`: `z` cannot be read as INT", 2},
        {"1 ,x,y\n", "column `a`: `1 ` cannot be read as INT", 1},
        {"2147483648,x,y\n", "`2147483648` cannot be read as INT", 1},
        {"1,\"x\n\",y\n2,x,y,z\n", "the record has 4 fields, the columns are 3", 3},
        {"c,a\nx,1\ny,2,z\n", "the record has 3 fields, the header names 2", 3},
        {"1,x,y\n2,\"x,y\n3,x,y\n", "a quote that begins a field is not closed", 2},
        {"a,b,A\n1,x,y\n", "the header names the column `a` twice", 1},
        {"9999999999999999999999,x,y", "cannot be read as INT", 1},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_BUFFER Buffer rows = {0};
        const char *path = write_file(folder, "bad.csv", str_from(cases[i].text));
        assert_fails(read_path(path, three_columns(folder), 1, &rows), ERROR_MALFORMED_RECORD,
                     cases[i].message, cases[i].line);
    }
}

/* A byte order mark is no part of the first name, nor of the first value. */
static void test_byte_order_mark(void **state)
{
    const Folder *folder = *state;
    assert_csv(folder, three_columns(folder),
               "\xEF\xBB\xBF"
               "a,b\n1,x\n",
               "{\"a\":1,\"b\":\"x\",\"c\":null}\n");
    assert_csv(folder, three_columns(folder),
               "\xEF\xBB\xBF"
               "1,\"x\ny\",z\n",
               "{\"a\":1,\"b\":\"x\\ny\",\"c\":\"z\"}\n");
    assert_csv(folder, three_columns(folder), "\xEF\xBB\xBF", "");
}

/* With a header columns go by name, whatever their order, and those it does not name are NULL. */
static void test_header(void **state)
{
    const Folder *folder = *state;
    const Schema *schema = three_columns(folder);
    assert_csv(folder, schema, "c,\"A\",more\nx,1,2\n", "{\"a\":1,\"b\":null,\"c\":\"x\"}\n");
    FileOptions options = {
        .time_zone = time_zone_utc(), .threads = 1, .csv_header = CSV_HEADER_YES};
    const char *path = write_file(folder, "h.csv", STR("p;q;r\n1;2;3\n"));
    options.csv_separator = ';';
    AUTO_BUFFER Buffer rows = {0};
    AUTO(file_table) FileTable *table = NULL;
    assert_no_error(file_table_open(str_from(path), &options, &table));
    assert_no_error(read_all(table, schema, &rows));
    assert_string_equal(buffer_cstr(&rows), "{\"a\":1,\"b\":\"2\",\"c\":\"3\"}\n");
}

static void test_no_header(void **state)
{
    const Folder *folder = *state;
    FileOptions options = {.time_zone = time_zone_utc(), .threads = 1, .csv_header = CSV_HEADER_NO};
    const char *path = write_file(folder, "n.tsv", STR("a\tb\tc\n"));
    AUTO_BUFFER Buffer rows = {0};
    AUTO(file_table) FileTable *table = NULL;
    assert_no_error(file_table_open(str_from(path), &options, &table));
    assert_fails(read_all(table, three_columns(folder), &rows), ERROR_MALFORMED_RECORD,
                 "column `a`: `a` cannot be read as INT", 1);
}

/* Each file of a pattern is looked at for itself. */
static void test_headers_of_files(void **state)
{
    const Folder *folder = *state;
    (void)write_file(folder, "p1.csv", STR("a,b\n1,x\n"));
    (void)write_file(folder, "p2.csv", STR("b,a,c\ny,2,z\n"));
    (void)write_file(folder, "p3.csv", STR("3,v,w\n"));
    AUTO_BUFFER Buffer rows = {0};
    assert_no_error(read_path(path_in(folder, "p?.csv"), three_columns(folder), 2, &rows));
    assert_string_equal(buffer_cstr(&rows), "{\"a\":1,\"b\":\"x\",\"c\":null}\n"
                                            "{\"a\":2,\"b\":\"y\",\"c\":\"z\"}\n"
                                            "{\"a\":3,\"b\":\"v\",\"c\":\"w\"}\n");
}

static void test_nested_types(void **state)
{
    const Folder *folder = *state;
    const Field fields[] = {FIELD("l", type_array(folder->arena, &type_int))};
    AUTO_BUFFER Buffer rows = {0};
    const char *path = write_file(folder, "l.csv", STR("1\n"));
    assert_fails(read_path(path, schema_new(folder->arena, fields, 1), 1, &rows),
                 ERROR_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE,
                 "column `l` of the type \"ARRAY<INT>\"", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_quotes_and_line_ends, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_empty_and_null, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_quotes, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_blank_lines, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_types, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_bad_values, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_byte_order_mark, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_header, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_no_header, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_headers_of_files, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_nested_types, folder_open, folder_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
