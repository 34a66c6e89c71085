/* JOIN of every kind against a model that tries every pair: keys of every type, NULL keys, `=` and
 * `<=>`, conditions, either side built, every batch size, and memory so small that both sides go to
 * disk. The model knows three-valued logic and nothing of hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "processor/base/memory.h"
#include "processor/data/value_text.h"
#include "tests/support/bind_fixture.h"
#include "tests/support/operator_fixture.h"
#include "tests/support/sql_fixture.h"

enum { LEFT_ROWS = 120, RIGHT_ROWS = 90 };

static const char *const kind_names[] = {"INNER", "LEFT",      "RIGHT", "FULL",  "SEMI",
                                         "ANTI",  "NULL ANTI", "MARK",  "SINGLE"};

static const char left_columns[] = "id INT, k INT, s STRING, d DOUBLE, m DECIMAL(38,2), "
                                   "u STRUCT<a: INT, b: STRING>";
static const char right_columns[] = "rid INT, rk INT, rs STRING, rd DOUBLE, rm DECIMAL(38,2), "
                                    "ru STRUCT<a: INT, b: STRING>";

/* Few different values; `nulls` of 100 are NULL. */
static void append_random(Vector *vector, Arena *arena, OperatorRandom *random, uint32_t nulls)
{
    static const double doubles[] = {0.0, -0.0, 1.5, -7.25, 1e300};
    if (operator_fixture_random(random, 100) < nulls) {
        vector_append_null(vector, arena);
        return;
    }
    uint32_t small = operator_fixture_random(random, 12);
    switch (type_physical(vector->type)) {
    case PHYSICAL_INT32:
        vector_append_int(vector, arena, small);
        return;
    case PHYSICAL_STR: {
        const char *text = arena_printf(arena, "%s%u", small > 5 ? "a long text " : "t", small);
        vector_append_str(vector, arena, str_from(text));
        return;
    }
    case PHYSICAL_DOUBLE:
        vector_append_double(vector, arena, doubles[small % 5]);
        return;
    case PHYSICAL_INT128:
        vector_append_int128(vector, arena, (int128)small * ((int128)1 << 70));
        return;
    default:
        for (uint32_t i = 0; i < vector->child_count; i++) {
            append_random(vector->children[i], arena, random, nulls);
        }
        vector_finish_struct(vector, arena);
    }
}

static Batch *random_rows(const Schema *schema, Arena *arena, uint32_t count, uint64_t seed,
                          uint32_t nulls)
{
    OperatorRandom random = {seed};
    Batch *batch = batch_new(arena, schema, count);
    for (uint32_t row = 0; row < count; row++) {
        vector_append_int(batch->columns[0], arena, (int)row);
        for (size_t k = 1; k < schema->field_count; k++) {
            append_random(batch->columns[k], arena, &random, nulls);
        }
    }
    return batch_from_columns(arena, schema, batch->columns, count);
}

/* ---- The model ---- */

typedef struct Case {
    SqlFixture *sql;
    JoinKind kind;
    const Batch *left;
    const Batch *right;
    size_t key_count;
    size_t left_keys[3]; /* columns */
    size_t right_keys[3];
    bool null_equal[3];
    const char *condition; /* SQL text; NULL: none */
    BoundExpr *left_exprs[3];
    BoundExpr *right_exprs[3];
    BoundExpr *bound_condition;
    const Schema *both;
    bool *condition_true; /* of every pair: left row * right rows + right row */
} Case;

typedef enum Truth { IS_FALSE, IS_OPEN, IS_TRUE } Truth;

static Truth key_truth(const Case *test, size_t key, uint32_t left, uint32_t right)
{
    const Vector *a = test->left->columns[test->left_keys[key]];
    const Vector *b = test->right->columns[test->right_keys[key]];
    if (!test->null_equal[key] && (!vector_is_valid(a, left) || !vector_is_valid(b, right))) {
        return IS_OPEN;
    }
    return vector_value_equal(a, left, b, right) ? IS_TRUE : IS_FALSE;
}

/* AND of the keys; a condition that is not TRUE is FALSE. */
static Truth pair_truth(const Case *test, uint32_t left, uint32_t right)
{
    Truth truth = IS_TRUE;
    for (size_t i = 0; i < test->key_count; i++) {
        Truth key = key_truth(test, i, left, right);
        truth = key < truth ? key : truth;
    }
    if (truth != IS_FALSE && test->condition_true != NULL &&
        !test->condition_true[left * test->right->row_count + right]) {
        return IS_FALSE;
    }
    return truth;
}

static void print_side(const Batch *batch, uint32_t row, Buffer *out)
{
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : "|");
        if (row == UINT32_MAX) {
            buffer_append_cstr(out, "NULL");
        } else {
            value_format(batch->columns[i], row, NULL, out);
        }
    }
}

static void print_pair(const Case *test, uint32_t left, uint32_t right, Buffer *out)
{
    print_side(test->left, left, out);
    buffer_append_byte(out, '|');
    print_side(test->right, right, out);
    buffer_append_byte(out, '\n');
}

static void print_left(const Case *test, uint32_t left, const char *mark, Buffer *out)
{
    print_side(test->left, left, out);
    buffer_append_cstr(out, mark);
    buffer_append_byte(out, '\n');
}

static bool gives_pairs(JoinKind kind)
{
    return kind == JOIN_INNER || kind == JOIN_LEFT || kind == JOIN_RIGHT || kind == JOIN_FULL ||
           kind == JOIN_SINGLE;
}

static void model_left_row(const Case *test, uint32_t left, bool *right_matched, Buffer *out)
{
    Truth best = IS_FALSE;
    for (uint32_t right = 0; right < test->right->row_count; right++) {
        Truth truth = pair_truth(test, left, right);
        best = truth > best ? truth : best;
        if (truth == IS_TRUE) {
            right_matched[right] = true;
            if (gives_pairs(test->kind)) {
                print_pair(test, left, right, out);
            }
        }
    }
    bool given = (test->kind == JOIN_SEMI && best == IS_TRUE) ||
                 (test->kind == JOIN_ANTI && best != IS_TRUE) ||
                 (test->kind == JOIN_NULL_ANTI && best == IS_FALSE);
    if (given) {
        print_left(test, left, "", out);
    } else if (test->kind == JOIN_MARK) {
        static const char *const marks[] = {"|false", "|NULL", "|true"};
        print_left(test, left, marks[best], out);
    } else if (best != IS_TRUE &&
               (test->kind == JOIN_LEFT || test->kind == JOIN_FULL || test->kind == JOIN_SINGLE)) {
        print_pair(test, left, UINT32_MAX, out);
    }
}

static void model(const Case *test, Buffer *out)
{
    bool *right_matched = mem_alloc_array(test->right->row_count, sizeof *right_matched);
    for (uint32_t left = 0; left < test->left->row_count; left++) {
        model_left_row(test, left, right_matched, out);
    }
    for (uint32_t right = 0; right < test->right->row_count; right++) {
        if (!right_matched[right] && (test->kind == JOIN_RIGHT || test->kind == JOIN_FULL)) {
            print_pair(test, UINT32_MAX, right, out);
        }
    }
    mem_free(right_matched);
}

/* ---- Set-up ---- */

static const Schema *schema_of_both(const Case *test, const Schema *left, const Schema *right)
{
    size_t count = left->field_count + right->field_count;
    Field *fields = arena_new_array(test->sql->arena, Field, count);
    memcpy(fields, left->fields, left->field_count * sizeof *fields);
    memcpy(fields + left->field_count, right->fields, right->field_count * sizeof *fields);
    return schema_new(test->sql->arena, fields, count);
}

/* The condition's value for every pair, each on its own: one row at a time. */
static void evaluate_condition(Case *test)
{
    Expression *expression = NULL;
    assert_null(
        sql_fixture_expression(test->sql, test->condition, test->both, &test->bound_condition));
    assert_null(expression_open(test->bound_condition, &test->sql->exec, &expression));
    uint32_t pairs = test->left->row_count * test->right->row_count;
    test->condition_true = arena_new_array(test->sql->arena, bool, pairs);
    AUTO(arena) Arena *arena = arena_new("pair");
    for (uint32_t pair = 0; pair < pairs; pair++) {
        arena_reset(arena);
        Batch *batch = batch_new(arena, test->both, 1);
        size_t left_count = test->left->schema->field_count;
        for (size_t i = 0; i < test->both->field_count; i++) {
            bool in_left = i < left_count;
            vector_append_from(
                batch->columns[i], arena,
                in_left ? test->left->columns[i] : test->right->columns[i - left_count],
                in_left ? pair / test->right->row_count : pair % test->right->row_count);
        }
        batch = batch_from_columns(arena, test->both, batch->columns, 1);
        RowErrors errors = {0};
        const Vector *value = NULL;
        assert_null(expression_evaluate(expression, batch, arena, &errors, &value));
        assert_int_equal(errors.count, 0);
        test->condition_true[pair] =
            vector_is_valid(value, 0) && VECTOR_VALUE(value, uint8_t, 0) != 0;
    }
    expression_close(expression);
}

/* Keys by name; an expression "k + 0" is the column k to the model. */
static void set_keys(Case *test, const char *const *names, size_t count, const char *form)
{
    test->key_count = count;
    for (size_t i = 0; i < count; i++) {
        const char *left = names[i];
        const char *right = arena_printf(test->sql->arena, "r%s", left);
        test->left_keys[i] = (size_t)schema_find(test->left->schema, str_from(left));
        test->right_keys[i] = (size_t)schema_find(test->right->schema, str_from(right));
        if (form != NULL) {
            left = arena_printf(test->sql->arena, "%s %s", left, form);
            right = arena_printf(test->sql->arena, "%s %s", right, form);
        }
        assert_null(
            sql_fixture_expression(test->sql, left, test->left->schema, &test->left_exprs[i]));
        assert_null(
            sql_fixture_expression(test->sql, right, test->right->schema, &test->right_exprs[i]));
    }
}

static void init_case(Case *test, SqlFixture *sql, uint32_t left_rows, uint32_t right_rows,
                      uint32_t nulls)
{
    *test = (Case){.sql = sql};
    test->left =
        random_rows(bind_fixture_schema(sql->arena, left_columns), sql->arena, left_rows, 1, nulls);
    test->right = random_rows(bind_fixture_schema(sql->arena, right_columns), sql->arena,
                              right_rows, 2, nulls);
    test->both = schema_of_both(test, test->left->schema, test->right->schema);
}

static const Schema *output_schema(const Case *test)
{
    if (gives_pairs(test->kind)) {
        return test->both;
    }
    if (test->kind != JOIN_MARK) {
        return test->left->schema;
    }
    static const Field mark = {.name = {"mark", 4}, .type = &type_boolean};
    static const Schema one = {.fields = &mark, .field_count = 1};
    return schema_of_both(test, test->left->schema, &one);
}

static Operator *open_join(const Case *test, bool build_left, QueryMemory *memory)
{
    LogicalNode *nodes = arena_new_array(test->sql->arena, LogicalNode, 3);
    nodes[1] = (LogicalNode){.kind = LOGICAL_SCAN, .schema = test->left->schema};
    nodes[2] = (LogicalNode){.kind = LOGICAL_SCAN, .schema = test->right->schema};
    nodes[0] = (LogicalNode){.kind = LOGICAL_JOIN,
                             .schema = output_schema(test),
                             .child = &nodes[1],
                             .right = &nodes[2],
                             .join = test->kind,
                             .expressions = (BoundExpr **)(uintptr_t)test->left_exprs,
                             .right_keys = (BoundExpr **)(uintptr_t)test->right_exprs,
                             .expression_count = test->key_count,
                             .null_equal = test->null_equal,
                             .condition = test->bound_condition,
                             .build_left = build_left};
    ExecContext context = test->sql->exec;
    context.memory = memory;
    Operator *op = NULL;
    assert_null(op_join_open(&nodes[0], &context, &op));
    return op;
}

/* ---- Runs ---- */

typedef struct Way {
    bool build_left;
    uint32_t batch_rows;
    size_t memory_bytes; /* 0: no bound */
} Way;

static const Way ways[] = {{false, BATCH_ROWS, 0}, {true, BATCH_ROWS, 0}, {false, 1, 0},
                           {true, 7, 0},           {false, 7, 1},         {true, BATCH_ROWS, 1},
                           {false, 100, 20000},    {true, 1, 20000}};

static void feed(const Case *test, Operator *op, uint32_t batch_rows, uint64_t seed)
{
    OperatorRandom random = {seed};
    uint32_t *left = arena_new_array(test->sql->arena, uint32_t, test->left->row_count);
    uint32_t *right = arena_new_array(test->sql->arena, uint32_t, test->right->row_count);
    operator_fixture_shuffle(&random, left, test->left->row_count);
    operator_fixture_shuffle(&random, right, test->right->row_count);
    op->child = operator_fixture_feed(test->left, left, test->left->row_count, batch_rows);
    op->right = operator_fixture_feed(test->right, right, test->right->row_count, batch_rows);
}

static void check_way(const Case *test, const Way *way, uint64_t seed, const char *want)
{
    QueryMemory memory = {.limit_bytes = way->memory_bytes};
    Operator *op = open_join(test, way->build_left, way->memory_bytes == 0 ? NULL : &memory);
    feed(test, op, way->batch_rows, seed);
    AUTO_BUFFER Buffer got = {0};
    assert_null(operator_fixture_run(op, &got));
    operator_fixture_close(op);
    assert_int_equal(memory.used_bytes, 0);
    operator_fixture_sort_lines(&got);
    if (strcmp(buffer_cstr(&got), want) != 0) {
        print_message("%s, condition %s, build %s, batches of %u, memory %zu\n",
                      kind_names[test->kind], test->condition == NULL ? "none" : test->condition,
                      way->build_left ? "left" : "right", way->batch_rows, way->memory_bytes);
        assert_string_equal(buffer_cstr(&got), want);
    }
}

static void check(const Case *test)
{
    AUTO_BUFFER Buffer want = {0};
    model(test, &want);
    operator_fixture_sort_lines(&want);
    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
        check_way(test, &ways[i], i, buffer_cstr(&want));
    }
}

/* All kinds but SINGLE, which most of these inputs break. */
static void check_kinds(Case *test)
{
    for (JoinKind kind = JOIN_INNER; kind <= JOIN_MARK; kind++) {
        test->kind = kind;
        check(test);
    }
}

static void test_one_key(void **state)
{
    (void)state;
    static const char *const names[] = {"k", "s", "d", "m", "u"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        for (unsigned null_equal = 0; null_equal < 2; null_equal++) {
            SqlFixture sql;
            Case test;
            sql_fixture_init(&sql, "UTC");
            init_case(&test, &sql, LEFT_ROWS, RIGHT_ROWS, i == 0 ? 3 : 20);
            set_keys(&test, &names[i], 1, NULL);
            test.null_equal[0] = null_equal == 1;
            check_kinds(&test);
            sql_fixture_done(&sql);
        }
    }
}

static void test_several_keys(void **state)
{
    (void)state;
    static const char *const names[][3] = {{"k", "s", "d"}, {"u", "m", "k"}, {"k", "k", "k"}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        for (unsigned null_equal = 0; null_equal < 8; null_equal += 3) {
            SqlFixture sql;
            Case test;
            sql_fixture_init(&sql, "UTC");
            init_case(&test, &sql, LEFT_ROWS, RIGHT_ROWS, 10);
            set_keys(&test, names[i], null_equal == 3 ? 2 : 3, NULL);
            for (unsigned k = 0; k < 3; k++) {
                test.null_equal[k] = (null_equal >> k & 1) != 0;
            }
            check_kinds(&test);
            sql_fixture_done(&sql);
        }
    }
}

static void test_computed_keys_and_conditions(void **state)
{
    (void)state;
    static const char *const key = "k";
    static const char *const conditions[] = {"s < rs", "id % 3 = rid % 3 AND d <> rd", "s IS NULL",
                                             "FALSE", "id >= 0"};
    for (size_t i = 0; i < ARRAY_LENGTH(conditions); i++) {
        for (size_t key_count = 0; key_count < 2; key_count++) {
            SqlFixture sql;
            Case test;
            sql_fixture_init(&sql, "UTC");
            init_case(&test, &sql, 50, 40, 10);
            test.condition = conditions[i];
            evaluate_condition(&test);
            set_keys(&test, &key, key_count, i % 2 == 0 ? "+ 0" : NULL);
            check_kinds(&test);
            sql_fixture_done(&sql);
        }
    }
}

static void test_no_keys_and_empty_sides(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{30, 20}, {0, 20}, {30, 0}, {0, 0}, {30, 1}, {1, 30}};
    static const char *const key = "k";
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        for (size_t key_count = 0; key_count < 2; key_count++) {
            SqlFixture sql;
            Case test;
            sql_fixture_init(&sql, "UTC");
            init_case(&test, &sql, sizes[i][0], sizes[i][1], 30);
            set_keys(&test, &key, key_count, NULL);
            check_kinds(&test);
            sql_fixture_done(&sql);
        }
    }
}

/* A key of the right side, so that a row has one match at most. */
static void test_unique_build_side(void **state)
{
    (void)state;
    static const char *const key = "id";
    SqlFixture sql;
    Case test;
    sql_fixture_init(&sql, "UTC");
    init_case(&test, &sql, LEFT_ROWS, RIGHT_ROWS, 10);
    set_keys(&test, &key, 1, NULL);
    check_kinds(&test);
    test.kind = JOIN_SINGLE;
    check(&test);
    test.condition = "k < rk";
    evaluate_condition(&test);
    check_kinds(&test);
    test.kind = JOIN_SINGLE;
    check(&test);
    sql_fixture_done(&sql);
}

static ErrorClass class_of(const Case *test)
{
    Operator *op = open_join(test, false, NULL);
    feed(test, op, 7, 1);
    AUTO_BUFFER Buffer got = {0};
    Error *error = operator_fixture_run(op, &got);
    operator_fixture_close(op);
    assert_non_null(error);
    ErrorClass class = error_class(error);
    error_free(error);
    return class;
}

static void test_second_row_of_a_scalar_subquery(void **state)
{
    (void)state;
    static const char *const key = "k";
    SqlFixture sql;
    Case test;
    sql_fixture_init(&sql, "UTC");
    init_case(&test, &sql, LEFT_ROWS, RIGHT_ROWS, 10);
    test.kind = JOIN_SINGLE;
    set_keys(&test, &key, 1, NULL);
    assert_int_equal(class_of(&test), ERROR_SCALAR_SUBQUERY_TOO_MANY_ROWS);
    init_case(&test, &sql, 0, 2, 10); /* nothing asks, there are two all the same */
    test.kind = JOIN_SINGLE;
    assert_int_equal(class_of(&test), ERROR_SCALAR_SUBQUERY_TOO_MANY_ROWS);
    sql_fixture_done(&sql);
}

static void test_errors_of_keys_and_conditions(void **state)
{
    (void)state;
    static const char *const key = "k";
    SqlFixture sql;
    Case test;
    sql_fixture_init(&sql, "UTC");
    init_case(&test, &sql, LEFT_ROWS, RIGHT_ROWS, 10);
    set_keys(&test, &key, 1, NULL);
    assert_null(
        sql_fixture_expression(&sql, "10 div (k - k) = 1", test.both, &test.bound_condition));
    assert_int_equal(class_of(&test), ERROR_DIVIDE_BY_ZERO);
    test.bound_condition = NULL;
    assert_null(
        sql_fixture_expression(&sql, "10 div (k - k)", test.left->schema, &test.left_exprs[0]));
    assert_int_equal(class_of(&test), ERROR_DIVIDE_BY_ZERO);
    sql_fixture_done(&sql);
}

/* One row with more matches than a batch holds: they stream, in the order of the build side, and
 * rows of both sides outlive the batch they came in. */
static void test_many_matches_stream(void **state)
{
    (void)state;
    enum { MATCHES = 3 * BATCH_ROWS + 5 };
    SqlFixture sql;
    Case test = {.sql = &sql};
    sql_fixture_init(&sql, "UTC");
    const Schema *left = bind_fixture_schema(sql.arena, "k INT, s STRING");
    const Schema *right = bind_fixture_schema(sql.arena, "rk INT, n INT");
    static const char *const texts[] = {"1", "one", "2", "two", "1", "uno"};
    test.left = sql_fixture_batch(&sql, left, 3, texts);
    Batch *many = batch_new(sql.arena, right, MATCHES);
    for (uint32_t i = 0; i < MATCHES; i++) {
        vector_append_int(many->columns[0], sql.arena, 1);
        vector_append_int(many->columns[1], sql.arena, (int)i);
    }
    test.right = batch_from_columns(sql.arena, right, many->columns, MATCHES);
    test.both = schema_of_both(&test, left, right);
    test.kind = JOIN_LEFT;
    static const char *const key = "k";
    set_keys(&test, &key, 1, NULL);
    Operator *op = open_join(&test, false, NULL);
    uint32_t *order = arena_new_array(sql.arena, uint32_t, MATCHES);
    for (uint32_t i = 0; i < MATCHES; i++) {
        order[i] = i;
    }
    op->child = operator_fixture_feed(test.left, order, 3, 2);
    op->right = operator_fixture_feed(test.right, order, MATCHES, BATCH_ROWS);
    AUTO_BUFFER Buffer got = {0};
    AUTO_BUFFER Buffer want = {0};
    assert_null(operator_fixture_run(op, &got));
    operator_fixture_close(op);
    for (uint32_t row = 0; row < 3; row++) {
        for (uint32_t i = 0; i < MATCHES && row != 1; i++) {
            buffer_printf(&want, "1|%s|1|%u\n", row == 0 ? "one" : "uno", i);
        }
        buffer_append_cstr(&want, row == 1 ? "2|two|NULL|NULL\n" : "");
    }
    assert_string_equal(buffer_cstr(&got), buffer_cstr(&want));
    sql_fixture_done(&sql);
}

/* Partitions that are too large are cut again, and rows of one key, which no cut takes apart, are
 * joined all the same. */
static void test_partitions_are_cut_again(void **state)
{
    (void)state;
    static const char *const key = "id";
    enum { COUNT = 20000 };
    SqlFixture sql;
    Case test = {.sql = &sql, .kind = JOIN_FULL};
    sql_fixture_init(&sql, "UTC");
    init_case(&test, &sql, COUNT, COUNT, 10);
    test.kind = JOIN_FULL;
    set_keys(&test, &key, 1, NULL);
    VECTOR_DATA(test.right->columns[0], int32_t)[7] = COUNT; /* without a match */
    for (uint32_t row = 10000; row < COUNT; row++) {
        VECTOR_DATA(test.right->columns[0], int32_t)[row] = -5; /* without matches, all equal */
    }
    AUTO_BUFFER Buffer want = {0};
    for (uint32_t row = 0; row < COUNT; row++) {
        bool matched = row < 10000 && row != 7;
        print_pair(&test, row, matched ? row : UINT32_MAX, &want);
        if (!matched) {
            print_pair(&test, UINT32_MAX, row, &want);
        }
    }
    operator_fixture_sort_lines(&want);
    check_way(&test, &(Way){false, BATCH_ROWS, 1}, 1, buffer_cstr(&want));
    check_way(&test, &(Way){true, BATCH_ROWS, 300000}, 2, buffer_cstr(&want));
    sql_fixture_done(&sql);
}

/* Results may be held as long as their arena, whatever the join does meanwhile. */
static void test_results_live_in_their_arena(void **state)
{
    (void)state;
    static const char *const key = "s";
    SqlFixture sql;
    Case test;
    sql_fixture_init(&sql, "UTC");
    init_case(&test, &sql, LEFT_ROWS, RIGHT_ROWS, 10);
    test.kind = JOIN_FULL;
    set_keys(&test, &key, 1, NULL);
    QueryMemory memory = {.limit_bytes = 1};
    for (unsigned spilled = 0; spilled < 2; spilled++) {
        Operator *op = open_join(&test, false, spilled == 1 ? &memory : NULL);
        feed(&test, op, 13, 1);
        AUTO(arena) Arena *arena = arena_new("results");
        RowErrors errors = {0};
        Pull pull = {.arena = arena, .errors = &errors, .strict = true};
        Batch *batches[1000];
        size_t count = 0;
        do {
            assert_null(op->next(op, &pull, &batches[count]));
        } while (batches[count++] != NULL);
        AUTO_BUFFER Buffer text = {0};
        for (size_t i = 0; i + 1 < count; i++) {
            buffer_append_cstr(&text, sql_fixture_rows(&sql, batches[i]));
        }
        AUTO_BUFFER Buffer want = {0};
        model(&test, &want);
        operator_fixture_sort_lines(&want);
        operator_fixture_sort_lines(&text);
        assert_string_equal(buffer_cstr(&text), buffer_cstr(&want));
        operator_fixture_close(op);
    }
    sql_fixture_done(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_several_keys),
        cmocka_unit_test(test_computed_keys_and_conditions),
        cmocka_unit_test(test_no_keys_and_empty_sides),
        cmocka_unit_test(test_unique_build_side),
        cmocka_unit_test(test_second_row_of_a_scalar_subquery),
        cmocka_unit_test(test_errors_of_keys_and_conditions),
        cmocka_unit_test(test_many_matches_stream),
        cmocka_unit_test(test_partitions_are_cut_again),
        cmocka_unit_test(test_results_live_in_their_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
