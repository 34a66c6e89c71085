/* WINDOW against a model that looks at every pair of rows: frames of ROWS, of peers and of
 * distances, NULL keys, either direction, many small partitions and few large ones, every batch
 * size and order of the input, and memory so small that sorting goes to disk. Values come from
 * functions whose answer the model can count itself: the row numbers a frame has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "processor/base/memory.h"
#include "tests/support/bind_fixture.h"
#include "tests/support/operator_fixture.h"
#include "tests/support/sql_fixture.h"

static const char columns[] = "id INT, p STRING, o INT, v INT";
enum { COLUMN_COUNT = 4 };

/* p: about `partitions` different ones; o: few different ones; both NULL at times. */
static Batch *random_rows(const Schema *schema, Arena *arena, uint32_t count, uint32_t partitions)
{
    OperatorRandom random = {7};
    Batch *batch = batch_new(arena, schema, count);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t p = operator_fixture_random(&random, partitions + 1);
        vector_append_int(batch->columns[0], arena, (int)row);
        if (p == partitions) {
            vector_append_null(batch->columns[1], arena);
        } else {
            vector_append_str(batch->columns[1], arena,
                              str_from(arena_printf(arena, "partition %u", p)));
        }
        for (size_t k = 2; k < COLUMN_COUNT; k++) {
            if (operator_fixture_random(&random, 6) == 0) {
                vector_append_null(batch->columns[k], arena);
            } else {
                vector_append_int(batch->columns[k], arena,
                                  (int)operator_fixture_random(&random, 30) - 10);
            }
        }
    }
    return batch_from_columns(arena, schema, batch->columns, count);
}

/* ---- The model ---- */

typedef struct Case {
    SqlFixture *sql;
    const Schema *schema;
    const Batch *rows;
    bool descending;
    bool nulls_first;
    bool ordered; /* ORDER BY o, id; `by_id` false: ORDER BY o */
    bool by_id;
    FrameUnit unit;
    BoundFrameBound start;
    BoundFrameBound end;
} Case;

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static bool same_partition(const Case *test, uint32_t a, uint32_t b)
{
    return vector_value_equal(test->rows->columns[1], a, test->rows->columns[1], b);
}

/* < 0: row a comes before row b in the window's order. */
static int compare_rows(const Case *test, uint32_t a, uint32_t b)
{
    const Vector *o = test->rows->columns[2];
    bool valid_a = vector_is_valid(o, a);
    bool valid_b = vector_is_valid(o, b);
    if (!test->ordered) {
        return 0;
    }
    int order = 0;
    if (!valid_a || !valid_b) {
        order = test->nulls_first ? valid_a - valid_b : valid_b - valid_a;
    } else {
        int up = COMPARE(VECTOR_VALUE(o, int32_t, a), VECTOR_VALUE(o, int32_t, b));
        order = test->descending ? -up : up;
    }
    return order != 0 || !test->by_id ? order : COMPARE(a, b);
}

/* Rows of the partition of `row` that come before it; `id` decides among peers, as the input does
 * when it is in order. */
static int64_t position(const Case *test, uint32_t row)
{
    int64_t before = 0;
    for (uint32_t other = 0; other < test->rows->row_count; other++) {
        if (same_partition(test, row, other)) {
            int order = compare_rows(test, other, row);
            before += order < 0 || (order == 0 && other < row);
        }
    }
    return before;
}

/* Where `other` stands to the bound of the frame of `row`: < 0 before, > 0 behind. */
static int64_t rows_side(const Case *test, const BoundFrameBound *bound, uint32_t row,
                         uint32_t other)
{
    int64_t distance = position(test, other) - position(test, row);
    int64_t offset =
        bound->kind == FRAME_CURRENT_ROW ? 0 : VECTOR_VALUE(bound->offset->literal, int32_t, 0);
    return distance - (bound->kind == FRAME_PRECEDING ? -offset : offset);
}

static int64_t range_side(const Case *test, const BoundFrameBound *bound, uint32_t row,
                          uint32_t other)
{
    const Vector *o = test->rows->columns[2];
    if (bound->kind == FRAME_CURRENT_ROW || !vector_is_valid(o, row) ||
        !vector_is_valid(o, other)) {
        return compare_rows(test, other, row);
    }
    int64_t offset = VECTOR_VALUE(bound->offset->literal, int32_t, 0);
    int64_t sign = (bound->kind == FRAME_PRECEDING) != test->descending ? -1 : 1;
    int64_t edge = VECTOR_VALUE(o, int32_t, row) + sign * offset;
    int64_t value = VECTOR_VALUE(o, int32_t, other);
    return test->descending ? edge - value : value - edge;
}

static int64_t side(const Case *test, const BoundFrameBound *bound, uint32_t row, uint32_t other)
{
    if (bound->kind == FRAME_UNBOUNDED_PRECEDING) {
        return 1;
    }
    if (bound->kind == FRAME_UNBOUNDED_FOLLOWING) {
        return -1;
    }
    return test->unit == FRAME_ROWS ? rows_side(test, bound, row, other)
                                    : range_side(test, bound, row, other);
}

static bool in_frame(const Case *test, uint32_t row, uint32_t other)
{
    return same_partition(test, row, other) && side(test, &test->start, row, other) >= 0 &&
           side(test, &test->end, row, other) <= 0;
}

typedef struct Expected {
    int64_t count; /* of the frame */
    int64_t sum;   /* of v */
    bool has_sum;
    int64_t max_id; /* of the frame, -1 when empty */
    int64_t rank;
    int64_t row_number;
} Expected;

static Expected expect(const Case *test, uint32_t row)
{
    Expected out = {.max_id = -1, .rank = 1, .row_number = position(test, row) + 1};
    const Vector *v = test->rows->columns[3];
    for (uint32_t other = 0; other < test->rows->row_count; other++) {
        if (in_frame(test, row, other)) {
            out.count++;
            out.max_id = other;
            out.has_sum |= vector_is_valid(v, other);
            out.sum += vector_is_valid(v, other) ? VECTOR_VALUE(v, int32_t, other) : 0;
        }
        out.rank += same_partition(test, row, other) && compare_rows(test, other, row) < 0;
    }
    return out;
}

static void model(const Case *test, bool with_row_number, Buffer *out)
{
    for (uint32_t row = 0; row < test->rows->row_count; row++) {
        Expected want = expect(test, row);
        buffer_printf(out, "%u|%lld|", row, (long long)want.count);
        if (want.has_sum) {
            buffer_printf(out, "%lld|", (long long)want.sum);
        } else {
            buffer_append_cstr(out, "NULL|");
        }
        if (want.count > 0) {
            buffer_printf(out, "%lld|", (long long)want.max_id);
        } else {
            buffer_append_cstr(out, "NULL|");
        }
        buffer_printf(out, "%lld", (long long)want.rank);
        if (with_row_number) {
            buffer_printf(out, "|%lld", (long long)want.row_number);
        }
        buffer_append_byte(out, '\n');
    }
}

/* ---- Set-up ---- */

static BoundExpr *column(const Case *test, const char *name)
{
    BoundExpr *expr = NULL;
    assert_null(sql_fixture_expression(test->sql, name, test->schema, &expr));
    return expr;
}

static BoundWindowCall call_of(const Case *test, const char *name, const char *argument,
                               const Type *type)
{
    Arena *arena = test->sql->arena;
    BoundWindowCall call = {.unit = test->unit, .start = test->start, .end = test->end};
    call.call.function = function_catalog()->find(str_from(name));
    call.call.type = type;
    if (argument != NULL) {
        call.call.arguments = arena_new_array(arena, BoundExpr *, 1);
        call.call.arguments[0] = column(test, argument);
        call.call.argument_count = 1;
    }
    return call;
}

static Operator *open_window(const Case *test, bool with_row_number, QueryMemory *memory)
{
    Arena *arena = test->sql->arena;
    BoundWindowCall *calls = arena_new_array(arena, BoundWindowCall, 5);
    calls[0] = call_of(test, "count", NULL, &type_bigint);
    calls[1] = call_of(test, "sum", "v", &type_bigint);
    calls[2] = call_of(test, "max", "id", &type_int);
    calls[3] = call_of(test, "rank", NULL, &type_int);
    calls[4] = call_of(test, "row_number", NULL, &type_int);
    size_t count = with_row_number ? 5 : 4;
    Field *fields = arena_new_array(arena, Field, COLUMN_COUNT + count);
    memcpy(fields, test->schema->fields, COLUMN_COUNT * sizeof *fields);
    for (size_t i = 0; i < count; i++) {
        fields[COLUMN_COUNT + i] = (Field){.name = STR("w"), .type = calls[i].call.type};
    }
    LogicalNode *nodes = arena_new_array(arena, LogicalNode, 2);
    BoundExpr **partition = arena_new_array(arena, BoundExpr *, 1);
    BoundSortKey *keys = arena_new_array(arena, BoundSortKey, 2);
    partition[0] = column(test, "concat(p, '')"); /* computed, and NULL where p is */
    keys[0] = (BoundSortKey){column(test, "o"), test->descending, test->nulls_first};
    keys[1] = (BoundSortKey){column(test, "id"), false, true};
    nodes[1] = (LogicalNode){.kind = LOGICAL_SCAN, .schema = test->schema};
    nodes[0] = (LogicalNode){.kind = LOGICAL_WINDOW,
                             .schema = schema_new(arena, fields, COLUMN_COUNT + count),
                             .child = &nodes[1],
                             .expressions = partition,
                             .expression_count = 1,
                             .windows = calls,
                             .window_count = count,
                             .sort_keys = keys,
                             .sort_key_count = !test->ordered ? 0
                                               : test->by_id  ? 2
                                                              : 1};
    ExecContext context = test->sql->exec;
    context.memory = memory;
    Operator *op = NULL;
    assert_null(op_window_open(&nodes[0], &context, &op));
    return op;
}

/* Leaves id and the values of the functions, in the order of id. */
static void only_values(Buffer *text)
{
    AUTO_BUFFER Buffer lines = {0};
    char *at = NULL;
    for (char *line = strtok_r(text->data, "\n", &at); line != NULL;
         line = strtok_r(NULL, "\n", &at)) {
        char *values = line;
        for (int i = 0; i < COLUMN_COUNT; i++) {
            values = strchr(values, '|') + 1;
        }
        buffer_printf(&lines, "%.*s%s\n", (int)(strchr(line, '|') - line + 1), line, values);
    }
    buffer_clear(text);
    buffer_append_str(text, buffer_str(&lines));
}

typedef struct Way {
    uint32_t batch_rows;
    size_t memory_bytes; /* 0: no bound */
    uint64_t seed;       /* of the order; 0: by id */
} Way;

/* Among peers row_number goes by the order of the input. */
static bool has_row_number(const Case *test, const Way *way)
{
    return test->by_id || way->seed == 0;
}

static void check_way(const Case *test, const Way *way, const char *want)
{
    QueryMemory memory = {.limit_bytes = way->memory_bytes};
    Operator *op =
        open_window(test, has_row_number(test, way), way->memory_bytes == 0 ? NULL : &memory);
    uint32_t count = test->rows->row_count;
    uint32_t *order = arena_new_array(test->sql->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    if (way->seed > 0) {
        operator_fixture_shuffle(&(OperatorRandom){way->seed}, order, count);
    }
    op->child = operator_fixture_feed(test->rows, order, count, way->batch_rows);
    AUTO_BUFFER Buffer got = {0};
    assert_null(operator_fixture_run(op, &got));
    operator_fixture_close(op);
    assert_int_equal(memory.used_bytes, 0);
    (void)buffer_cstr(&got);
    only_values(&got);
    operator_fixture_sort_lines(&got);
    assert_string_equal(buffer_cstr(&got), want);
}

static void check(const Case *test)
{
    static const Way ways[] = {
        {BATCH_ROWS, 0, 0}, {1, 0, 1}, {7, 0, 2}, {BATCH_ROWS, 1, 3}, {50, 20000, 4}};
    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
        AUTO_BUFFER Buffer want = {0};
        model(test, has_row_number(test, &ways[i]), &want);
        operator_fixture_sort_lines(&want);
        check_way(test, &ways[i], buffer_cstr(&want));
    }
}

static BoundFrameBound bound(const Case *test, FrameBoundKind kind, int offset)
{
    BoundFrameBound out = {.kind = kind};
    if (kind == FRAME_PRECEDING || kind == FRAME_FOLLOWING) {
        BoundExpr *literal = NULL;
        assert_null(sql_fixture_expression(
            test->sql, arena_printf(test->sql->arena, "%d", offset < 0 ? -offset : offset),
            test->schema, &literal));
        if (offset < 0) {
            Vector *value = vector_copy_value(test->sql->arena, literal->literal, 0);
            VECTOR_DATA(value, int32_t)[0] = offset;
            literal->literal = value;
        }
        out.offset = literal;
    }
    return out;
}

typedef struct FrameText {
    FrameBoundKind start;
    int start_offset;
    FrameBoundKind end;
    int end_offset;
} FrameText;

static const FrameText frames[] = {
    {FRAME_UNBOUNDED_PRECEDING, 0, FRAME_UNBOUNDED_FOLLOWING, 0},
    {FRAME_UNBOUNDED_PRECEDING, 0, FRAME_CURRENT_ROW, 0},
    {FRAME_CURRENT_ROW, 0, FRAME_UNBOUNDED_FOLLOWING, 0},
    {FRAME_CURRENT_ROW, 0, FRAME_CURRENT_ROW, 0},
    {FRAME_PRECEDING, 2, FRAME_FOLLOWING, 3},
    {FRAME_PRECEDING, 4, FRAME_PRECEDING, 2},
    {FRAME_FOLLOWING, 1, FRAME_FOLLOWING, 5},
    {FRAME_UNBOUNDED_PRECEDING, 0, FRAME_FOLLOWING, 2},
    {FRAME_PRECEDING, 1, FRAME_UNBOUNDED_FOLLOWING, 0},
    {FRAME_FOLLOWING, -3, FRAME_PRECEDING, -1},
};

static void check_frames(SqlFixture *sql, uint32_t count, uint32_t partitions, FrameUnit unit)
{
    Case test = {.sql = sql, .schema = bind_fixture_schema(sql->arena, columns), .unit = unit};
    test.rows = random_rows(test.schema, sql->arena, count, partitions);
    for (size_t i = 0; i < ARRAY_LENGTH(frames); i++) {
        test.start = bound(&test, frames[i].start, frames[i].start_offset);
        test.end = bound(&test, frames[i].end, frames[i].end_offset);
        test.descending = i % 2 == 1;
        test.nulls_first = i % 3 == 0;
        test.ordered = true;
        test.by_id = unit == FRAME_ROWS;
        check(&test);
    }
}

static void test_rows_frames(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    check_frames(&sql, 120, 3, FRAME_ROWS);
    check_frames(&sql, 90, 60, FRAME_ROWS);
    sql_fixture_done(&sql);
}

static void test_range_frames(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    check_frames(&sql, 120, 3, FRAME_RANGE);
    check_frames(&sql, 90, 60, FRAME_RANGE);
    sql_fixture_done(&sql);
}

/* Without ORDER BY all rows of a partition are peers. */
static void test_no_order(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    Case test = {.sql = &sql, .schema = bind_fixture_schema(sql.arena, columns)};
    test.rows = random_rows(test.schema, sql.arena, 150, 5);
    test.unit = FRAME_ROWS;
    test.start.kind = FRAME_UNBOUNDED_PRECEDING;
    test.end.kind = FRAME_UNBOUNDED_FOLLOWING;
    check(&test);
    sql_fixture_done(&sql);
}

/* Blocks: partitions larger than a batch, and so many small ones that there are several blocks.
 * The whole partition is the frame, so the model need not look at every pair. */
static void test_blocks(void **state)
{
    (void)state;
    static const uint32_t partitions[] = {1, 2, 40, 3000};
    enum { COUNT = 9000 };
    for (size_t i = 0; i < ARRAY_LENGTH(partitions); i++) {
        SqlFixture sql;
        sql_fixture_init(&sql, "UTC");
        Case test = {.sql = &sql, .schema = bind_fixture_schema(sql.arena, columns)};
        Batch *rows = random_rows(test.schema, sql.arena, COUNT, partitions[i]);
        uint32_t *counts = arena_new_array(sql.arena, uint32_t, partitions[i]);
        rows->columns[1]->validity = NULL; /* row modulo partitions instead */
        for (uint32_t row = 0; row < COUNT; row++) {
            uint32_t p = row % partitions[i];
            counts[p]++;
            VECTOR_DATA(rows->columns[1], Str)[row] = str_from(arena_printf(sql.arena, "%u", p));
            VECTOR_DATA(rows->columns[3], int32_t)[row] = 1;
        }
        rows->columns[3]->validity = NULL;
        test.rows = rows;
        test.unit = FRAME_ROWS;
        test.start.kind = FRAME_UNBOUNDED_PRECEDING;
        test.end.kind = FRAME_UNBOUNDED_FOLLOWING;
        test.ordered = false;
        AUTO_BUFFER Buffer want = {0};
        for (uint32_t row = 0; row < COUNT; row++) {
            uint32_t p = row % partitions[i];
            uint32_t last = p + (counts[p] - 1) * partitions[i];
            buffer_printf(&want, "%u|%u|%u|%u|1|%u\n", row, counts[p], counts[p], last,
                          row / partitions[i] + 1);
        }
        operator_fixture_sort_lines(&want);
        check_way(&test, &(Way){BATCH_ROWS, 0, 0}, buffer_cstr(&want));
        check_way(&test, &(Way){1000, 100000, 0}, buffer_cstr(&want));
        sql_fixture_done(&sql);
    }
}

static void test_empty_input_and_failing_keys(void **state)
{
    (void)state;
    SqlFixture sql;
    sql_fixture_init(&sql, "UTC");
    Case test = {.sql = &sql, .schema = bind_fixture_schema(sql.arena, columns), .ordered = true};
    test.rows = random_rows(test.schema, sql.arena, 10, 2);
    test.unit = FRAME_ROWS;
    test.start.kind = FRAME_UNBOUNDED_PRECEDING;
    test.end.kind = FRAME_CURRENT_ROW;
    static const uint32_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    Operator *op = open_window(&test, true, NULL);
    op->child = operator_fixture_feed(test.rows, order, 0, 5);
    AUTO_BUFFER Buffer got = {0};
    assert_null(operator_fixture_run(op, &got));
    assert_int_equal(got.size, 0);
    operator_fixture_close(op);
    /* o ± 1 beyond INT */
    test.unit = FRAME_RANGE;
    test.end = bound(&test, FRAME_FOLLOWING, 1);
    VECTOR_DATA(test.rows->columns[2], int32_t)[4] = INT32_MAX;
    vector_set_valid(test.rows->columns[2], 4);
    op = open_window(&test, true, NULL);
    op->child = operator_fixture_feed(test.rows, order, 10, 5);
    Error *error = operator_fixture_run(op, &got);
    assert_non_null(error);
    assert_int_equal(error_class(error), ERROR_ARITHMETIC_OVERFLOW);
    error_free(error);
    operator_fixture_close(op);
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_frames),
        cmocka_unit_test(test_range_frames),
        cmocka_unit_test(test_no_order),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_empty_input_and_failing_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
