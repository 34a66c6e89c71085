/* Inferred columns. The expected ones are Spark 4.3.0's: spark.read.json, and spark.read.csv with
 * header and inferSchema. */
#include "tests/unit/file/file_fixture.h"

static void assert_columns(const Folder *folder, const char *name, const char *text,
                           const char *expected)
{
    static const unsigned threads[] = {1, 4};
    const char *path = write_file(folder, name, str_from(text));
    for (size_t i = 0; i < ARRAY_LENGTH(threads); i++) {
        AUTO_BUFFER Buffer columns = {0};
        assert_no_error(infer_path(folder, path, threads[i], &columns));
        assert_string_equal(buffer_cstr(&columns), expected);
    }
}

static void test_json(void **state)
{
    assert_columns(
        *state, "j1.jsonl",
        "{\"z\":1,\"a\":\"x\",\"b\":1.5,\"c\":true,\"n\":null,\"arr\":[1,2.5],\"s\":{\"y\":1,\"x\":"
        "\"q\"},"
        "\"big\":12345678901234567890,\"e\":[],\"o\":{},\"mix\":1,\"ts\":\"2026-01-01T00:00:00Z\"}"
        "\n"
        "{\"z\":2.5,\"a\":null,\"b\":2,\"c\":\"yes\",\"arr\":[null],\"s\":{\"w\":[{\"k\":1}]},"
        "\"big\":1,"
        "\"e\":[[]],\"mix\":{\"a\":1},\"huge\":123456789012345678901234567890123456789012,\"d\":"
        "1e3}\n"
        "{\"_u\":1,\"\xC3\xA9\":2,\"arr2\":[{\"a\":1},{\"b\":2}],\"arr3\":[1,\"x\"],"
        "\"neg\":-9223372036854775809, \"nl\":[null], \"m\":{\"a\":null}}\n",
        "_u BIGINT, a STRING, arr ARRAY<DOUBLE>, arr2 ARRAY<STRUCT<a: BIGINT, b: BIGINT>>, "
        "arr3 ARRAY<STRING>, b DOUBLE, big DECIMAL(20,0), c STRING, d DOUBLE, "
        "e ARRAY<ARRAY<STRING>>, huge DOUBLE, m STRUCT<a: STRING>, mix STRING, n STRING, "
        "neg DECIMAL(19,0), nl ARRAY<STRING>, s STRUCT<w: ARRAY<STRUCT<k: BIGINT>>, x: STRING, "
        "y: BIGINT>, ts STRING, z DOUBLE, `\xC3\xA9` BIGINT");
}

static void test_json_conflicts(void **state)
{
    assert_columns(
        *state, "j3.jsonl",
        "{\"a\":9223372036854775807,\"b\":0.1,\"c\":1E400,\"d\":\"2026-01-01\",\"e\":{\"x\":1},"
        "\"f\":[1],"
        "\"g\":[{\"x\":{}}],\"h\":123.0, \"i\":[1,null,\"a\"],\"j\":[[1],[2.5]], \"k\":[1,[2]]}\n"
        "{\"a\":9223372036854775808,\"b\":99999999999999999999999,\"e\":[1],\"f\":{\"a\":1}}\n",
        "a DECIMAL(20,0), b DOUBLE, c DOUBLE, d STRING, e STRING, f STRING, h DOUBLE, "
        "i ARRAY<STRING>, j ARRAY<ARRAY<DOUBLE>>, k ARRAY<STRING>");
}

/* Escaped names are the names they stand for. */
static void test_json_names(void **state)
{
    assert_columns(*state, "n.jsonl", "{\"\\u0061\":1}\n{\"a\":2.5}\n", "a DOUBLE");
}

static void assert_refused(const Folder *folder, const char *name, const char *text,
                           ErrorClass class, const char *message, int line)
{
    AUTO_BUFFER Buffer columns = {0};
    const char *path = write_file(folder, name, str_from(text));
    assert_fails(infer_path(folder, path, 2, &columns), class, message, line);
}

static void test_json_refused(void **state)
{
    const Folder *folder = *state;
    assert_refused(folder, "r.jsonl", "{\"a\":1}\n\n{\"a\":}\n", ERROR_MALFORMED_RECORD,
                   "byte 6: a value is expected", 3);
    assert_refused(folder, "r.jsonl", "[1]\n", ERROR_MALFORMED_RECORD,
                   "a record must be a JSON object", 1);
    assert_refused(folder, "r.jsonl", "{\"a\":1}x\n", ERROR_MALFORMED_RECORD, "byte 8", 1);
    assert_refused(folder, "r.jsonl", "{\"a\":1 \"b\":2}\n", ERROR_MALFORMED_RECORD, "byte 8", 1);
    assert_refused(folder, "r.jsonl", "{\"a\":1,\"A\":2}\n", ERROR_COLUMN_ALREADY_EXISTS, "`a`", 0);
}

static void test_csv(void **state)
{
    assert_columns(
        *state, "c1.csv",
        "id,name,amount,d,ts,b,big,mix,empty,neg,ntz,mixdate,dec\n"
        "1,a,1.5,2026-01-01,2026-01-01T00:00:00Z,true,12345678901,1,,-1,2026-01-01T10:00:00,"
        "2026-01-01,12345678901234567890\n"
        "2,,2,2026-01-02,2026-01-01 00:00:00,FALSE,1,x,,+2,2026-01-01 "
        "10:00,2026-01-01T00:00:00,1\n",
        "id INT, name STRING, amount DOUBLE, d DATE, ts TIMESTAMP, b BOOLEAN, big BIGINT, "
        "mix STRING, empty STRING, neg INT, ntz TIMESTAMP, mixdate TIMESTAMP, dec DECIMAL(20,0)");
    assert_columns(*state, "c2.csv",
                   "a,b,c,d,f,h\n1,NaN,1e5,2026-1-5,0x1F,$1\n2,1.0,Inf,2026-02,2,2\n",
                   "a INT, b DOUBLE, c DOUBLE, d TIMESTAMP, f STRING, h STRING");
    assert_columns(*state, "c3.csv", "a,b,c,d\n1,true,1.5,1\n,1,true,2026-01-01\n",
                   "a INT, b STRING, c STRING, d STRING");
}

/* Names as Spark 4.3.0 makes them (header true): empty ones numbered, and those that are there
 * twice. Where every column is text nothing tells such a line from a row. */
static void test_csv_odd_headers(void **state)
{
    assert_columns(*state, "h1.csv", "id,id,ID\n1,2,3\n", "id0 INT, id1 INT, ID2 INT");
    assert_columns(
        *state, "h2.csv", "Order ID,order id,Price ($),,select\n1,2,3.5,x,y\n",
        "`Order ID0` INT, `order id1` INT, `Price ($)` DOUBLE, _c3 STRING, `select` STRING");
    assert_columns(*state, "h3.csv", ",a\n0,2\n1,3\n", "_c0 INT, a INT");
    assert_columns(*state, "h4.csv", "name,\nann,oslo\n", "_c0 STRING, _c1 STRING");
    assert_columns(*state, "h5.csv", "a,a\n", "_c0 STRING, _c1 STRING");
    assert_columns(*state, "h6.csv", "\xEF\xBB\xBF\"id\",name\n1,x\n", "id INT, name STRING");
}

/* Without a header columns are called as Spark calls them. */
static void test_csv_without_header(void **state)
{
    assert_columns(*state, "n.csv", "1,x\n2,y\n", "_c0 INT, _c1 STRING");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_json, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_json_conflicts, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_json_names, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_json_refused, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_csv, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_csv_odd_headers, folder_open, folder_close),
        cmocka_unit_test_setup_teardown(test_csv_without_header, folder_open, folder_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
