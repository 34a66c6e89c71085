/* SORT against a model that compares values one by one: every direction and place of NULLs, every
 * type, limits, batch sizes, and memory so small that rows go to disk. Sorting is stable, so there
 * is one right answer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "processor/base/memory.h"
#include "processor/data/value_text.h"
#include "tests/support/bind_fixture.h"
#include "tests/support/operator_fixture.h"
#include "tests/support/sql_fixture.h"

static const char columns[] =
    "id INT, b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, f FLOAT, d DOUBLE, "
    "m DECIMAL(38,2), s STRING, x BINARY, l ARRAY<INT>, u STRUCT<a: INT, c: STRING>";
enum { ROW_MAX = 5000 };

static double random_double(OperatorRandom *random)
{
    static const double odd[] = {0.0, -0.0, (double)NAN, (double)INFINITY, -(double)INFINITY};
    uint32_t choice = operator_fixture_random(random, 20);
    return choice < 5 ? odd[choice] : ((double)operator_fixture_random(random, 200) - 100) / 4;
}

/* Few different values, so that many keys are equal. */
static void append_random(Vector *vector, Arena *arena, OperatorRandom *random)
{
    if (operator_fixture_random(random, 8) == 0) {
        vector_append_null(vector, arena);
        return;
    }
    int64_t small = (int64_t)operator_fixture_random(random, 100) - 50;
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        vector_append_null(vector, arena);
        return;
    case PHYSICAL_BOOL:
        vector_append_bool(vector, arena, small > 0);
        return;
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
        vector_append_int(vector, arena, small);
        return;
    case PHYSICAL_INT64:
        vector_append_int(vector, arena, small * INT64_C(100000000000));
        return;
    case PHYSICAL_INT128:
        vector_append_int128(vector, arena, (int128)small * ((int128)1 << 80));
        return;
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
        vector_append_double(vector, arena, random_double(random));
        return;
    case PHYSICAL_STR: {
        /* Equal in the first bytes, some with a NUL, of every length. */
        const char *text = arena_printf(arena, "a long beginning %03d", (int)small + 50);
        uint32_t length = operator_fixture_random(random, 21);
        vector_append_str(vector, arena, (Str){text, length});
        return;
    }
    case PHYSICAL_LIST:
        for (uint32_t i = operator_fixture_random(random, 4); i > 0; i--) {
            append_random(vector->children[0], arena, random);
        }
        vector_finish_list(vector, arena);
        return;
    case PHYSICAL_STRUCT:
        for (uint32_t i = 0; i < vector->child_count; i++) {
            append_random(vector->children[i], arena, random);
        }
        vector_finish_struct(vector, arena);
        return;
    }
}

static Batch *random_rows(const Schema *schema, Arena *arena, uint32_t count)
{
    OperatorRandom random = {42};
    Batch *batch = batch_new(arena, schema, count);
    for (uint32_t row = 0; row < count; row++) {
        vector_append_int(batch->columns[0], arena, (int)row);
        for (size_t k = 1; k < schema->field_count; k++) {
            append_random(batch->columns[k], arena, &random);
        }
    }
    return batch_from_columns(arena, schema, batch->columns, count);
}

/* ---- The model ---- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_doubles(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : COMPARE(a, b);
}

static int compare_values(const Vector *vector, uint32_t a, uint32_t b);

static int compare_lists(const Vector *vector, uint32_t a, uint32_t b)
{
    uint32_t size_a = vector->offsets[a + 1] - vector->offsets[a];
    uint32_t size_b = vector->offsets[b + 1] - vector->offsets[b];
    for (uint32_t i = 0; i < size_a && i < size_b; i++) {
        int order =
            compare_values(vector->children[0], vector->offsets[a] + i, vector->offsets[b] + i);
        if (order != 0) {
            return order;
        }
    }
    return COMPARE(size_a, size_b);
}

static int compare_structs(const Vector *vector, uint32_t a, uint32_t b)
{
    int order = 0;
    for (uint32_t i = 0; i < vector->child_count && order == 0; i++) {
        order = compare_values(vector->children[i], a, b);
    }
    return order;
}

/* Ascending, NULLs first. */
static int compare_values(const Vector *vector, uint32_t a, uint32_t b)
{
    if (!vector_is_valid(vector, a) || !vector_is_valid(vector, b)) {
        return vector_is_valid(vector, a) - vector_is_valid(vector, b);
    }
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        return 0;
    case PHYSICAL_BOOL:
        return VECTOR_VALUE(vector, uint8_t, a) - VECTOR_VALUE(vector, uint8_t, b);
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
        return COMPARE(vector_int_value(vector, a), vector_int_value(vector, b));
    case PHYSICAL_INT128:
        return COMPARE(VECTOR_VALUE(vector, int128, a), VECTOR_VALUE(vector, int128, b));
    case PHYSICAL_FLOAT:
        return compare_doubles((double)VECTOR_VALUE(vector, float, a),
                               (double)VECTOR_VALUE(vector, float, b));
    case PHYSICAL_DOUBLE:
        return compare_doubles(VECTOR_VALUE(vector, double, a), VECTOR_VALUE(vector, double, b));
    case PHYSICAL_STR: {
        Str left = VECTOR_VALUE(vector, Str, a);
        Str right = VECTOR_VALUE(vector, Str, b);
        size_t size = left.size < right.size ? left.size : right.size;
        int order = size == 0 ? 0 : memcmp(left.data, right.data, size);
        return order != 0 ? order : COMPARE(left.size, right.size);
    }
    case PHYSICAL_LIST:
        return compare_lists(vector, a, b);
    case PHYSICAL_STRUCT:
        return compare_structs(vector, a, b);
    }
    return 0;
}

static int compare_keys(const Batch *rows, const BoundSortKey *keys, size_t key_count, uint32_t a,
                        uint32_t b)
{
    for (size_t i = 0; i < key_count; i++) {
        const Vector *column = rows->columns[keys[i].expr->column];
        int order = compare_values(column, a, b);
        bool nulls = !vector_is_valid(column, a) || !vector_is_valid(column, b);
        if (nulls ? !keys[i].nulls_first : keys[i].descending) {
            order = -order;
        }
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

/* A stable merge sort of row numbers. */
static void model_sort(const Batch *rows, const BoundSortKey *keys, size_t key_count,
                       uint32_t *order, uint32_t count, uint32_t *room)
{
    if (count < 2) {
        return;
    }
    uint32_t half = count / 2;
    model_sort(rows, keys, key_count, order, half, room);
    model_sort(rows, keys, key_count, order + half, count - half, room);
    uint32_t left = 0;
    uint32_t right = half;
    for (uint32_t i = 0; i < count; i++) {
        bool take_right =
            left == half ||
            (right < count && compare_keys(rows, keys, key_count, order[right], order[left]) < 0);
        room[i] = take_right ? order[right++] : order[left++];
    }
    memcpy(order, room, count * sizeof *order);
}

/* ---- Runs ---- */

typedef struct Case {
    SqlFixture *sql;
    const Batch *rows;
    uint32_t count;
    const BoundSortKey *keys;
    size_t key_count;
} Case;

static void expect(const Case *test, const uint32_t *input, int64_t limit, Buffer *out)
{
    uint32_t *order = mem_alloc_array(test->count, sizeof *order);
    uint32_t *room = mem_alloc_array(test->count, sizeof *order);
    memcpy(order, input, test->count * sizeof *order);
    model_sort(test->rows, test->keys, test->key_count, order, test->count, room);
    for (uint32_t i = 0; i < test->count && (limit < 0 || i < limit); i++) {
        for (size_t k = 0; k < test->rows->schema->field_count; k++) {
            buffer_append_cstr(out, k == 0 ? "" : "|");
            value_format(test->rows->columns[k], order[i], NULL, out);
        }
        buffer_append_byte(out, '\n');
    }
    mem_free(order);
    mem_free(room);
}

static void check(const Case *test, const uint32_t *input, uint32_t batch_rows, int64_t limit,
                  size_t memory_bytes)
{
    QueryMemory memory = {.limit_bytes = memory_bytes};
    ExecContext context = test->sql->exec;
    context.memory = memory_bytes == 0 ? NULL : &memory;
    LogicalNode child = {.kind = LOGICAL_SCAN, .schema = test->rows->schema};
    LogicalNode node = {.kind = LOGICAL_SORT,
                        .schema = test->rows->schema,
                        .child = &child,
                        .sort_keys = test->keys,
                        .sort_key_count = test->key_count,
                        .limit = limit};
    Operator *op = NULL;
    assert_null(op_sort_open(&node, &context, &op));
    op->child = operator_fixture_feed(test->rows, input, test->count, batch_rows);
    AUTO_BUFFER Buffer got = {0};
    AUTO_BUFFER Buffer want = {0};
    assert_null(operator_fixture_run(op, &got));
    operator_fixture_close(op);
    assert_int_equal(memory.used_bytes, 0);
    expect(test, input, limit, &want);
    assert_string_equal(buffer_cstr(&got), buffer_cstr(&want));
}

static BoundSortKey key_of(SqlFixture *sql, const Schema *schema, const char *name, unsigned how)
{
    BoundSortKey key = {.descending = (how & 1) != 0, .nulls_first = (how & 2) != 0};
    assert_null(sql_fixture_expression(sql, name, schema, &key.expr));
    return key;
}

static void test_every_type_and_direction(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, columns);
    enum { COUNT = 300 };
    uint32_t input[COUNT];
    Case test = {.sql = &sql, .rows = random_rows(schema, sql.arena, COUNT), .count = COUNT};
    operator_fixture_shuffle(&(OperatorRandom){1}, input, COUNT);
    for (size_t column = 1; column < schema->field_count; column++) {
        for (unsigned how = 0; how < 4; how++) {
            BoundSortKey key =
                key_of(&sql, schema, arena_copy_cstr(sql.arena, schema->fields[column].name), how);
            test.keys = &key;
            test.key_count = 1;
            check(&test, input, 100, -1, 0);
            check(&test, input, 100, 7, 0);
            check(&test, input, 100, -1, 1);
        }
    }
    sql_fixture_done(&sql);
}

static void test_several_keys(void **state)
{
    (void)state;
    static const char *const names[][3] = {
        {"b", "i4", "m"}, {"s", "i1", "l"}, {"u", "b", "x"}, {"f", "d", "i2"}, {"b", "b", "i8"}};
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, columns);
    enum { COUNT = 1000 };
    uint32_t input[COUNT];
    Case test = {.sql = &sql, .rows = random_rows(schema, sql.arena, COUNT), .count = COUNT};
    operator_fixture_shuffle(&(OperatorRandom){2}, input, COUNT);
    for (unsigned i = 0; i < ARRAY_LENGTH(names); i++) {
        BoundSortKey keys[3];
        for (unsigned k = 0; k < 3; k++) {
            keys[k] = key_of(&sql, schema, names[i][k], (i + k) & 3);
        }
        test.keys = keys;
        test.key_count = 3;
        check(&test, input, BATCH_ROWS, -1, 0);
        check(&test, input, 7, 100, 0);
        check(&test, input, BATCH_ROWS, -1, 20000);
    }
    sql_fixture_done(&sql);
}

/* Whatever the size of the batches, the limit and the memory. */
static void test_limits_batches_memory(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 7, BATCH_ROWS};
    static const int64_t limits[] = {-1, 0, 1, 5, 1000, 4999, 5000, 6000};
    static const size_t memories[] = {0, 1, 200000};
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, "id INT, a INT, b STRING");
    Batch *rows = random_rows(schema, sql.arena, ROW_MAX);
    uint32_t *input = mem_alloc_array(ROW_MAX, sizeof *input);
    operator_fixture_shuffle(&(OperatorRandom){3}, input, ROW_MAX);
    BoundSortKey keys[] = {key_of(&sql, schema, "a", 1), key_of(&sql, schema, "b", 2)};
    for (size_t i = 0; i < ARRAY_LENGTH(limits); i++) {
        for (size_t k = 0; k < ARRAY_LENGTH(batches); k++) {
            for (size_t m = 0; m < ARRAY_LENGTH(memories); m++) {
                /* One row a file is slow: fewer of them. */
                Case test = {.sql = &sql,
                             .rows = rows,
                             .count = memories[m] == 1 && batches[k] < 10 ? 300 : ROW_MAX,
                             .keys = keys,
                             .key_count = (i & 1) + 1};
                if (test.count < ROW_MAX) {
                    operator_fixture_shuffle(&(OperatorRandom){4}, input, test.count);
                }
                check(&test, input, batches[k], limits[i], memories[m]);
                operator_fixture_shuffle(&(OperatorRandom){3}, input, ROW_MAX);
            }
        }
    }
    mem_free(input);
    sql_fixture_done(&sql);
}

static void test_no_rows(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, columns);
    BoundSortKey key = key_of(&sql, schema, "s", 0);
    Case test = {
        .sql = &sql, .rows = random_rows(schema, sql.arena, 1), .keys = &key, .key_count = 1};
    static const uint32_t none[1];
    check(&test, none, 7, -1, 0);
    check(&test, none, 7, 3, 1);
    sql_fixture_done(&sql);
}

static void test_key_that_fails(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    const Schema *schema = bind_fixture_schema(sql.arena, "id INT, a INT");
    BoundSortKey key = key_of(&sql, schema, "10 div a", 0);
    LogicalNode child = {.kind = LOGICAL_SCAN, .schema = schema};
    LogicalNode node = {.kind = LOGICAL_SORT,
                        .schema = schema,
                        .child = &child,
                        .sort_keys = &key,
                        .sort_key_count = 1,
                        .limit = -1};
    static const char *const texts[] = {"1", "2", "2", "0", "3", "1"};
    static const uint32_t order[] = {0, 1, 2};
    Operator *op = NULL;
    assert_null(op_sort_open(&node, &sql.exec, &op));
    op->child = operator_fixture_feed(sql_fixture_batch(&sql, schema, 3, texts), order, 3, 1);
    AUTO_BUFFER Buffer got = {0};
    Error *error = operator_fixture_run(op, &got);
    assert_non_null(error);
    assert_int_equal(error_class(error), ERROR_DIVIDE_BY_ZERO);
    error_free(error);
    operator_fixture_close(op);
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_and_direction), cmocka_unit_test(test_several_keys),
        cmocka_unit_test(test_limits_batches_memory),    cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_key_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
