/* Expressions against what Apache Spark 4.3.0 answered (spark/ *.tsv: expression, type, value; or
 * expression, ERROR, class). Each runs many ways with the same result:
 *
 *     as it stands         every operand is a constant, folded when the expression is compiled
 *     literals as columns  1, 7 and 2048 rows; the loops run
 *     a selection          every third row is asked for, the others hold NULLs or other values
 *     with nulls           every second row is all NULL and must not disturb its neighbours
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "processor/data/value_text.h"
#include "tests/support/sql_fixture.h"

enum { LITERALS_MAX = 64 };

typedef struct Answer {
    const char *text;
    const char *type; /* "ERROR" */
    const char *value;
} Answer;

typedef struct Runner {
    SqlFixture sql;
    Arena *batch_arena;
    size_t failed;
    size_t passed;
    const Answer *complained; /* one complaint an answer is enough */
} Runner;

/* ---- Literals become columns ---- */

typedef struct Literals {
    const Vector *values[LITERALS_MAX];
    Field fields[LITERALS_MAX];
    size_t count;
} Literals;

static BoundExpr *with_columns(Arena *arena, const BoundExpr *expr, Literals *literals)
{
    BoundExpr *copy = arena_new_object(arena, BoundExpr);
    *copy = *expr;
    if (expr->kind == BOUND_LITERAL && literals->count < LITERALS_MAX) {
        literals->values[literals->count] = expr->literal;
        literals->fields[literals->count] = (Field){.name = STR("c"), .type = expr->type};
        copy->kind = BOUND_COLUMN;
        copy->column = (uint32_t)literals->count++;
        return copy;
    }
    copy->children = arena_new_array(arena, BoundExpr *, expr->child_count);
    for (size_t i = 0; i < expr->child_count; i++) {
        copy->children[i] = with_columns(arena, expr->children[i], literals);
    }
    return copy;
}

typedef bool IsNullRow(uint32_t row);

static bool never(uint32_t row)
{
    (void)row;
    return false;
}

static bool odd_rows(uint32_t row)
{
    return row % 2 == 1;
}

static bool not_third_rows(uint32_t row)
{
    return row % 3 != 0;
}

static Batch *batch_of(Runner *runner, const Literals *literals, uint32_t row_count,
                       IsNullRow *is_null)
{
    Arena *arena = runner->batch_arena;
    const Schema *schema = schema_new(arena, literals->fields, literals->count);
    Batch *batch = batch_new(arena, schema, row_count);
    for (size_t i = 0; i < literals->count; i++) {
        for (uint32_t row = 0; row < row_count; row++) {
            if (is_null(row)) {
                vector_append_null(batch->columns[i], arena);
            } else {
                vector_append_from(batch->columns[i], arena, literals->values[i], 0);
            }
        }
    }
    return batch_from_columns(arena, schema, batch->columns, row_count);
}

static void select_third_rows(Runner *runner, Batch *batch)
{
    uint16_t *selection = arena_new_array(runner->batch_arena, uint16_t, batch->row_count);
    uint32_t count = 0;
    for (uint32_t row = 0; row < batch->row_count; row += 3) {
        selection[count++] = (uint16_t)row;
    }
    batch->selection = selection;
    batch->selected_count = count;
}

/* ---- Judging ---- */

static void complain(Runner *runner, const Answer *answer, const char *way, const char *got)
{
    runner->failed++;
    if (runner->complained == answer) {
        return;
    }
    runner->complained = answer;
    print_message("%s: %s\n    expected %s %s\n    got      %s\n", way, answer->text, answer->type,
                  answer->value, got);
}

static bool expects_error(const Answer *answer)
{
    return strcmp(answer->type, "ERROR") == 0;
}

static bool is_expected_error(const Answer *answer, const Error *error)
{
    return expects_error(answer) &&
           strcmp(error_class_name(error_class(error)), answer->value) == 0;
}

static void judge_error(Runner *runner, const Answer *answer, const char *way, const Error *error)
{
    if (!is_expected_error(answer, error)) {
        AUTO_BUFFER Buffer text = {0};
        error_format_line(error, &text);
        complain(runner, answer, way, buffer_cstr(&text));
    } else {
        runner->passed++;
    }
}

static void format_value(const Runner *runner, const Vector *vector, uint32_t row, Buffer *out)
{
    if (vector->type->kind != TYPE_BINARY || !vector_is_valid(vector, row)) {
        value_format(vector, row, runner->sql.exec.time_zone, out);
        return;
    }
    Str bytes = VECTOR_VALUE(vector, Str, row);
    for (size_t i = 0; i < bytes.size; i++) {
        buffer_printf(out, "%02X", (unsigned char)bytes.data[i]);
    }
}

/* The row's value or error is what Spark says. */
static bool judge_row(Runner *runner, const Answer *answer, const char *way, const Vector *vector,
                      const RowErrors *errors, uint32_t row)
{
    AUTO_BUFFER Buffer got = {0};
    for (size_t i = 0; i < errors->count; i++) {
        if (errors->rows[i] == row) {
            if (is_expected_error(answer, errors->errors[i])) {
                return true;
            }
            error_format_line(errors->errors[i], &got);
            complain(runner, answer, way, buffer_cstr(&got));
            return false;
        }
    }
    type_format_simple(vector->type, &got);
    buffer_append_byte(&got, ' ');
    size_t value_at = got.size;
    format_value(runner, vector, row, &got);
    if (strcmp(buffer_cstr(&got) + value_at, answer->value) == 0 &&
        strncmp(got.data, answer->type, strlen(answer->type)) == 0 &&
        got.data[strlen(answer->type)] == ' ') {
        return true;
    }
    complain(runner, answer, way, buffer_cstr(&got));
    return false;
}

static void run_batch(Runner *runner, const Answer *answer, const char *way, const BoundExpr *expr,
                      const Batch *batch, IsNullRow *is_null)
{
    AUTO(expression) Expression *expression = NULL;
    Error *error = expression_open(expr, &runner->sql.exec, &expression);
    if (error != NULL) {
        judge_error(runner, answer, way, error);
        error_free(error);
        return;
    }
    RowErrors errors = {0};
    const Vector *vector = NULL;
    error = expression_evaluate(expression, batch, runner->batch_arena, &errors, &vector);
    assert_null(error);
    assert_int_equal(vector->length, batch->row_count);
    bool good = true;
    for (uint32_t i = 0; i < batch->selected_count && good; i++) {
        uint32_t row = batch_selected(batch, i);
        good = is_null(row) || judge_row(runner, answer, way, vector, &errors, row);
    }
    runner->passed += good;
    /* No error of a row that was not asked for. */
    for (size_t i = 0; i < errors.count; i++) {
        if (batch->selection != NULL && errors.rows[i] % 3 != 0) {
            complain(runner, answer, way, "an error of a row that is not selected");
            break;
        }
    }
    row_errors_done(&errors);
}

static void run_columns(Runner *runner, const Answer *answer, const BoundExpr *bound)
{
    static const uint32_t row_counts[] = {1, 7, BATCH_ROWS};
    Literals literals = {0};
    const BoundExpr *expr = with_columns(runner->sql.arena, bound, &literals);
    for (size_t i = 0; i < ARRAY_LENGTH(row_counts); i++) {
        Batch *batch = batch_of(runner, &literals, row_counts[i], never);
        run_batch(runner, answer, "columns", expr, batch, never);
    }
    run_batch(runner, answer, "with nulls", expr, batch_of(runner, &literals, 100, odd_rows),
              odd_rows);
    Batch *batch = batch_of(runner, &literals, 100, never);
    select_third_rows(runner, batch);
    run_batch(runner, answer, "selection", expr, batch, never);
    batch = batch_of(runner, &literals, 100, not_third_rows);
    select_third_rows(runner, batch);
    run_batch(runner, answer, "selection among nulls", expr, batch, not_third_rows);
    arena_reset(runner->batch_arena);
}

static void run_answer(Runner *runner, const Answer *answer)
{
    BoundExpr *bound = NULL;
    Error *error = sql_fixture_expression(&runner->sql, answer->text, NULL, &bound);
    if (error != NULL) {
        judge_error(runner, answer, "bind", error);
        error_free(error);
        return;
    }
    Literals none = {0};
    run_batch(runner, answer, "constants", bound, batch_of(runner, &none, 1, never), never);
    run_columns(runner, answer, bound);
}

/* ---- Files ---- */

/* \n, \t and \\ in values. */
static void unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in != '\0'; in++) {
        if (*in == '\\') {
            in++;
            *out++ = *in == 'n' ? '\n' : *in == 't' ? '\t' : '\\';
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
}

static bool split_line(char *line, Answer *ret)
{
    char *type = strchr(line, '\t');
    char *value = type == NULL ? NULL : strchr(type + 1, '\t');
    if (value == NULL || line[0] == '#') {
        return false;
    }
    *type++ = '\0';
    *value++ = '\0';
    value[strcspn(value, "\n")] = '\0';
    unescape(value);
    *ret = (Answer){line, type, value};
    return true;
}

static void run_file(const char *path, const char *zone)
{
    Runner runner = {.batch_arena = arena_new("batch")};
    sql_fixture_init(&runner.sql, zone);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) > 0) {
        Answer answer;
        if (split_line(line, &answer)) {
            runner.complained = NULL;
            run_answer(&runner, &answer);
        }
    }
    free(line);
    assert_int_equal(fclose(file), 0);
    sql_fixture_done(&runner.sql);
    arena_free(runner.batch_arena);
    print_message("%s: %zu right, %zu wrong\n", path, runner.passed, runner.failed);
    assert_int_equal(runner.failed, 0);
    assert_true(runner.passed > 100);
}

/* By file and session zone; each is a test of its own. */
typedef struct AnswerFile {
    const char *name;
    const char *zone;
} AnswerFile;

static const AnswerFile answer_files[] = {
    {"utc", "UTC"},        {"oslo", "Europe/Oslo"},
    {"intervals", "UTC"},  {"datetime", "UTC"},
    {"patterns", "UTC"},   {"casts", "UTC"},
    {"formats", "UTC"},    {"oslo_times", "Europe/Oslo"},
    {"collection", "UTC"}, {"lambda", "UTC"},
    {"json", "UTC"},       {"text", "UTC"},
    {"csv", "UTC"},
};

static void test_file(void **state)
{
    const AnswerFile *file = *state;
    AUTO_BUFFER Buffer path = {0};
    buffer_printf(&path, "tests/unit/exec/spark/%s.tsv", file->name);
    run_file(buffer_cstr(&path), file->zone);
}

/* With a file and a zone as arguments: that file only. */
int main(int argc, char **argv)
{
    if (argc == 3) {
        run_file(argv[1], argv[2]);
        return 0;
    }
    struct CMUnitTest tests[ARRAY_LENGTH(answer_files)];
    for (size_t i = 0; i < ARRAY_LENGTH(answer_files); i++) {
        tests[i] = (struct CMUnitTest){.name = answer_files[i].name,
                                       .test_func = test_file,
                                       .initial_state = (void *)(uintptr_t)&answer_files[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
