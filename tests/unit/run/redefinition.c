/* Definitions that change: what `validate --against-running` says, full refreshes under other keys
 * that die at every fault point, and random lives of a table whose key widens again and again. */
#include "tests/unit/run/fixture.h"

#include "processor/run/progress.h"
#include "processor/run/redefinition.h"

#include "processor/base/banned.h"

static void open_and_update(Rig *rig)
{
    ok(rig_try_open(rig));
    ok(rig_try_update(rig, false));
}

/* ------------------------------------------------------------------------------- reports ---- */

static Program *load(Rig *rig, const char *sql)
{
    const char *text = arena_printf(rig->arena,
                                    "pipeline: p\n"
                                    "kafka: {bootstrap: model:9092}\n"
                                    "state: {dir: %s}\n"
                                    "sources:\n"
                                    "  src: {columns: \"k STRING, n INT, seq BIGINT\"}\n"
                                    "sql: |\n%s",
                                    rig->dir, sql);
    Diagnostics diagnostics = {0};
    Topology *topology = NULL;
    Program *program = NULL;
    topology_load_text(str_from(text), "p.yaml", NULL, rig->arena, &diagnostics, &topology);
    if (diagnostics.count == 0) {
        program_load(topology, rig->arena, &diagnostics, &program);
    }
    assert_int_equal(diagnostics.count, 0);
    diagnostics_done(&diagnostics);
    return program;
}

static const char *report(Rig *rig, const Program *program, bool *ret_good)
{
    AUTO_BUFFER Buffer out = {0};
    ok(redefinition_report(program, rig->log, TIMEOUT_MS, &out, ret_good));
    return arena_copy_cstr(rig->arena, buffer_str(&out));
}

#define TABLE(name, clauses, columns)                                                              \
    "  CREATE OR REFRESH STREAMING TABLE " name " " clauses                                        \
    " FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT " columns " FROM STREAM(src);\n"

static void what_a_deployment_means(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 1);
    rig.program = load(
        &rig, TABLE("same", "", "*") TABLE("columns", "COMMENT 'c'", "k, n, seq")
                  TABLE("wide", "", "k, n, seq") TABLE("keys", "TBLPROPERTIES (a.b = '1')", "*")
                      TABLE("locked", "", "*") TABLE("narrow", "", "*") TABLE("gone", "", "*"));
    bool good = false;
    assert_string_equal(report(&rig, rig.program, &good),
                        "same: new\ncolumns: new\nwide: new\nkeys: new\nlocked: new\nnarrow: new\n"
                        "gone: new\nThe pipeline p has not run yet.\n");
    assert_true(good);
    open_and_update(&rig);
    rig_close(&rig, false);
    assert_string_equal(report(&rig, rig.program, &good),
                        "same: unchanged\ncolumns: unchanged\nwide: unchanged\nkeys: unchanged\n"
                        "locked: unchanged\nnarrow: unchanged\ngone: unchanged\n");
    assert_true(good);

    const Program *next = load(
        &rig,
        TABLE("same", "", "*") TABLE("columns", "TBLPROPERTIES (x = '1')", "k, upper(k) AS u, seq")
            TABLE("wide", "", "k, CAST(n AS DECIMAL(12,1)) AS n, seq") TABLE("added", "", "*"));
    assert_string_equal(report(&rig, next, &good),
                        "same: unchanged\n"
                        "columns: compatible\n"
                        "    column `n` stays; it is NULL in rows to come\n"
                        "    column u STRING is new; it is NULL in the rows there are\n"
                        "    the flow changed; it applies to records from now on\n"
                        "    no longer there: COMMENT\n"
                        "    new: TBLPROPERTIES `x`\n"
                        "wide: compatible\n"
                        "    column `n` widens from INT to DECIMAL(12,1)\n"
                        "    the flow changed; it applies to records from now on\n"
                        "added: new\n"
                        "keys: no longer in the program; its topic stays as it is\n"
                        "locked: no longer in the program; its topic stays as it is\n"
                        "narrow: no longer in the program; its topic stays as it is\n"
                        "gone: no longer in the program; its topic stays as it is\n");
    assert_true(good);

    next = load(
        &rig, "  CREATE OR REFRESH STREAMING TABLE keys FLOW REPLACE USING (n) SEQUENCE BY seq BY "
              "NAME SELECT * FROM STREAM(src);\n"
              "  CREATE OR REFRESH STREAMING TABLE locked TBLPROPERTIES (pipelines.reset.allowed "
              "= 'false') FLOW REPLACE USING (k) SEQUENCE BY n BY NAME SELECT * FROM "
              "STREAM(src);\n" TABLE("narrow", "", "k, CAST(n AS SMALLINT) AS n, seq"));
    const char *text = report(&rig, next, &good);
    assert_false(good);
    assert_non_null(strstr(text, "keys: needs a full refresh\n    p.yaml:7:62: "));
    assert_non_null(strstr(text, "The REPLACE USING keys of the table `keys` changed."));
    assert_non_null(strstr(text, "locked: refused\n    p.yaml:8:"));
    assert_non_null(strstr(text, "pipelines.reset.allowed"));
    assert_non_null(strstr(text, "narrow: refused\n    p.yaml:9:"));
    assert_non_null(strstr(text, "is INT and cannot become SMALLINT"));
    rig_done(&rig);
}

/* What an operator remembers of the rows before is of no use to another query. */
static void an_operator_that_remembers_something_else(void **state)
{
    (void)state;
    Rig rig;
    rig_init(&rig, 1);
    rig.program = load(&rig, TABLE("t", "", "DISTINCT k, n, seq"));
    open_and_update(&rig);
    rig_close(&rig, false);
    bool good = false;
    assert_string_equal(report(&rig, rig.program, &good), "t: unchanged\n");
    rig.program = load(&rig, TABLE("t", "", "DISTINCT k, n + 1L AS n, seq"));
    const char *text = report(&rig, rig.program, &good);
    assert_false(good);
    assert_non_null(strstr(text, "t: needs a full refresh\n    p.yaml:7:"));
    assert_non_null(strstr(text, "what its operator"));
    fails(rig_try_open(&rig), ERROR_FULL_REFRESH_REQUIRED, "what its operator");
    UpdateRequest request = {.full_refresh = true, .cause = "USER_ACTION"};
    rig.full_refresh = &request;
    ok(rig_try_open(&rig));
    ok(rig_try_update(&rig, true));
    assert_string_equal(report(&rig, rig.program, &good), "t: unchanged\n");
    rig_done(&rig);
}

/* -------------------------------------------------------------- another key, and a crash ---- */

#define BY_V                                                                                       \
    "  CREATE OR REFRESH STREAMING TABLE t\n"                                                      \
    "  FLOW REPLACE USING (v) SEQUENCE BY n BY NAME\n"                                             \
    "  SELECT v, CAST(seq AS INT) AS n FROM STREAM(src) WHERE seq IS NOT NULL;\n"

static const char *rows(Rig *rig, const Program *program)
{
    FoldedTable folded = {0};
    ok(table_fold(rig->log, "t", program->tables[0].bound->schema, NULL, TIMEOUT_MS, rig->arena,
                  &folded));
    AUTO_BUFFER Buffer text = {0};
    for (size_t i = 0; i < folded.count; i++) {
        buffer_append_str(&text, folded.keys[i]);
        buffer_append_byte(&text, ' ');
        json_encode_row(folded.rows, (uint32_t)i, &text);
        buffer_append_byte(&text, '\n');
    }
    return arena_copy_cstr(rig->arena, buffer_str(&text));
}

/* What a life that never knew another definition ends with. */
static const char *rows_of_a_new_table(uint64_t seed, Arena *arena)
{
    Rig rig;
    rig_init(&rig, seed);
    rig_load(&rig, NULL, NULL, BY_V);
    feed(&rig, 120);
    open_and_update(&rig);
    const char *text = arena_copy_cstr(arena, str_from(rows(&rig, rig.program)));
    rig_done(&rig);
    return text;
}

/* Until it goes through; after a crash as a user would: run, and refresh again when that is asked
 * for. */
static int rebuild(Rig *rig, bool wipe)
{
    UpdateRequest request = {.full_refresh = true, .cause = "USER_ACTION"};
    rig->full_refresh = &request;
    bool full = true;
    for (int crashes = 0;;) {
        Error *error = rig_try_open(rig);
        if (error != NULL && error_class(error) == ERROR_FULL_REFRESH_REQUIRED) {
            assert_true(crashes > 0 && !full);
            rig->full_refresh = &request;
            full = true;
        } else if (error == NULL) {
            error = rig_try_update(rig, full);
        }
        if (error == NULL) {
            rig->full_refresh = NULL;
            return crashes;
        }
        if (crashed(error)) {
            crashes++;
            full = false;
            rig->full_refresh = NULL;
        } else if (error_class(error) != ERROR_FULL_REFRESH_REQUIRED) {
            ok(error);
        }
        error_free(error);
        rig_close(rig, wipe);
    }
}

static void another_key_and_a_crash_at_every_point(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("expected");
    const char *expected = rows_of_a_new_table(9, arena);
    int crashes = 0;
    for (size_t i = 0; i < fault_name_count; i++) {
        for (unsigned way = 0; way < 6; way++) {
            Rig rig;
            rig_init(&rig, 9);
            rig.threaded = way % 2 == 0;
            feed(&rig, 120);
            open_and_update(&rig);
            rig_close(&rig, false);
            rig_load(&rig, NULL, NULL, BY_V);
            fault_arm(fault_names[i], way / 2 + 1, FAULT_CRASH);
            crashes += rebuild(&rig, way % 2 == 0);
            fault_disarm();
            assert_string_equal(rows(&rig, rig.program), expected);
            state_equals_topic(&rig);
            rig_close(&rig, true); /* of what lies before the refresh nothing fits any more */
            ok(rig_try_open(&rig));
            state_equals_topic(&rig);
            rig_done(&rig);
        }
    }
    assert_true(crashes > 40);
}

/* ----------------------------------------------------------------------- keys that widen ---- */

/* Each widens the one before; the key is the record's id over `over`, in quarters. */
static const struct {
    const char *key;
    const char *sequence;
    int quarters;
} shapes[] = {
    {"id", "seq", 4},
    {"CAST(id AS BIGINT)", "seq", 4},
    {"CAST(id AS BIGINT)", "CAST(seq AS DECIMAL(22,0))", 4},
    {"CAST(id AS DECIMAL(22,1)) / 2", "CAST(seq AS DECIMAL(22,0))", 2},
    {"CAST(id AS DECIMAL(24,3)) / 4", "CAST(seq AS DECIMAL(25,2))", 1},
};

enum { IDS = 40, SHAPE_COUNT = 5, ROWS_MAX = 4000 };

typedef struct ModelKey {
    int64_t sequence;
    int64_t rows[ROWS_MAX]; /* numbers of records */
    size_t count;
} ModelKey;

typedef struct Model {
    ModelKey *keys; /* by quarters */
    int64_t records;
} Model;

static void feed_model(Rig *rig, Model *model, size_t shape, int count)
{
    for (int i = 0; i < count; i++) {
        int id = (int)draw(rig, IDS);
        int64_t sequence = model->records / 20 + draw(rig, 3);
        int64_t number = model->records++;
        feed_one(rig, (int32_t)draw(rig, (uint32_t)rig->partitions),
                 arena_printf(rig->arena, "{\"id\":%d,\"seq\":%lld,\"v\":%lld}", id,
                              (long long)sequence, (long long)number));
        ModelKey *key = &model->keys[id * shapes[shape].quarters];
        if (key->count == 0 || sequence > key->sequence) {
            key->count = 0;
            key->sequence = sequence;
        }
        if (sequence == key->sequence) {
            assert_true(key->count < ROWS_MAX);
            key->rows[key->count++] = number;
        }
    }
}

/* Value of a column as a number of quarters. */
static int64_t in_quarters(const Vector *column, uint32_t row)
{
    switch (column->type->kind) {
    case TYPE_INT:
        return 4 * VECTOR_VALUE(column, int32_t, row);
    case TYPE_BIGINT:
        return 4 * VECTOR_VALUE(column, int64_t, row);
    default: {
        int128 value = VECTOR_VALUE(column, int128, row) * 4;
        for (int i = 0; i < column->type->scale; i++) {
            assert_true(value % 10 == 0);
            value /= 10;
        }
        return (int64_t)value;
    }
    }
}

static void table_is_as_the_model(Rig *rig, const Model *model)
{
    AUTO(arena) Arena *arena = arena_new("compare");
    const Schema *schema = pipeline_program(rig->pipeline)->tables[0].bound->schema;
    FoldedTable folded = {0};
    ok(table_fold(rig->log, "t", schema, NULL, TIMEOUT_MS, arena, &folded));
    size_t expected = 0;
    for (size_t i = 0; i < IDS * 4; i++) {
        expected += model->keys[i].count;
    }
    assert_int_equal(folded.count, expected);
    uint8_t *seen = arena_alloc_zero(arena, (size_t)model->records + 1);
    for (uint32_t row = 0; row < folded.count; row++) {
        const ModelKey *key = &model->keys[in_quarters(folded.rows->columns[0], row)];
        assert_int_equal(in_quarters(folded.rows->columns[1], row), 4 * key->sequence);
        int64_t number = VECTOR_VALUE(folded.rows->columns[2], int64_t, row);
        bool found = false;
        for (size_t i = 0; i < key->count; i++) {
            found = found || key->rows[i] == number;
        }
        assert_true(found && seen[number] == 0);
        seen[number] = 1;
    }
    state_equals_topic(rig);
}

static void a_key_that_widens_again_and_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        Rig rig;
        rig_init(&rig, seed);
        rig.threaded = seed % 2 == 0;
        Model model = {.keys = mem_alloc_array(IDS * 4, sizeof *model.keys)};
        for (size_t shape = 0; shape < SHAPE_COUNT; shape++) {
            rig_load(&rig, NULL, "id INT, seq INT, v BIGINT",
                     arena_printf(rig.arena,
                                  "  CREATE OR REFRESH STREAMING TABLE t\n"
                                  "  FLOW REPLACE USING (id) SEQUENCE BY seq BY NAME\n"
                                  "  SELECT %s AS id, %s AS seq, v FROM STREAM(src);\n",
                                  shapes[shape].key, shapes[shape].sequence));
            for (int round = 0; round < 3; round++) {
                feed_model(&rig, &model, shape, 30 + (int)draw(&rig, 30));
                (void)rig_run_through(&rig, false, false);
                table_is_as_the_model(&rig, &model);
                if (draw(&rig, 2) == 0) {
                    rig_close(&rig, draw(&rig, 2) == 0);
                }
                if (draw(&rig, 4) == 0) {
                    sim_broker_compact(rig.broker, "t");
                }
            }
            rig_close(&rig, draw(&rig, 3) == 0);
        }
        mem_free(model.keys);
        rig_done(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_deployment_means),
        cmocka_unit_test(an_operator_that_remembers_something_else),
        cmocka_unit_test(another_key_and_a_crash_at_every_point),
        cmocka_unit_test(a_key_that_widens_again_and_again),
    };
    return cmocka_run_group_tests_name("run/redefinition", tests, NULL, NULL);
}
