/* Expectations over batches. */
#include "processor/run/expectations.h"

#include "connectors/format/format.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

struct Expectations {
    const BoundTable *table;
    Expression **conditions;
};

Error *expectations_open(const BoundTable *table, const ExecContext *context,
                         Expectations **ret_expectations)
{
    Expectations *expectations = mem_new(Expectations);
    expectations->table = table;
    expectations->conditions =
        mem_alloc_array(table->expectation_count, sizeof *expectations->conditions);
    for (size_t i = 0; i < table->expectation_count; i++) {
        Error *error = expression_open(table->expectations[i].condition, context,
                                       &expectations->conditions[i]);
        if (error != NULL) {
            expectations_close(expectations);
            return error;
        }
    }
    *ret_expectations = expectations;
    return NULL;
}

void expectations_close(Expectations *expectations)
{
    if (expectations != NULL) {
        for (size_t i = 0; i < expectations->table->expectation_count; i++) {
            expression_close(expectations->conditions[i]);
        }
        mem_free(expectations->conditions);
        mem_free(expectations);
    }
}

void expectations_set_now(Expectations *expectations, int64_t now_us)
{
    for (size_t i = 0; i < expectations->table->expectation_count; i++) {
        expression_set_now(expectations->conditions[i], now_us);
    }
}

static Error *violation(const BoundTable *table, const BoundExpectation *expectation,
                        const Batch *batch, uint32_t row)
{
    AUTO_BUFFER Buffer text = {0};
    json_encode_row(batch, row, &text);
    Str shown = buffer_str(&text);
    bool cut = shown.size > 400;
    return error_new(ERROR_EXPECTATION_VIOLATION,
                     "Table `%.*s`: a row violates expectation `%.*s` (%.*s) ON VIOLATION FAIL "
                     "UPDATE: %.*s%s",
                     STR_ARG(table->name), STR_ARG(expectation->name), STR_ARG(expectation->text),
                     cut ? 400 : (int)shown.size, shown.data, cut ? "…" : "");
}

/* Evaluates one expectation on the selected rows; marks the rows to drop. */
static Error *apply_one(Expectations *expectations, size_t index, const Batch *batch,
                        Arena *batch_arena, uint8_t *dropped, ExpectationCount *count)
{
    const BoundExpectation *expectation = &expectations->table->expectations[index];
    const Vector *result = NULL;
    RowErrors failing = {0};
    Error *error =
        expression_evaluate(expectations->conditions[index], batch, batch_arena, &failing, &result);
    uint8_t *raised = arena_alloc_zero(batch_arena, batch->row_count + 1);
    for (size_t i = 0; i < failing.count; i++) {
        raised[failing.rows[i]] = 1;
    }
    row_errors_done(&failing);
    TRY(error);
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        bool holds = raised[row] == 0 && vector_is_valid(result, row) &&
                     VECTOR_VALUE(result, uint8_t, row) != 0;
        if (holds) {
            count->passed++;
            continue;
        }
        count->failed++;
        if (expectation->action == EXPECT_FAIL) {
            return violation(expectations->table, expectation, batch, row);
        }
        if (expectation->action == EXPECT_DROP) {
            count->dropped++;
            dropped[row] = 1;
        }
    }
    return NULL;
}

static void remove_dropped(Batch *batch, Arena *batch_arena, const uint8_t *dropped,
                           uint64_t *dropped_rows)
{
    uint16_t *selection = arena_new_array(batch_arena, uint16_t, batch->selected_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (dropped[row] == 0) {
            selection[count++] = (uint16_t)row;
        }
    }
    *dropped_rows += batch->selected_count - count;
    batch->selection = selection;
    batch->selected_count = count;
}

Error *expectations_apply(Expectations *expectations, Batch *batch, Arena *batch_arena,
                          ExpectationCount *counts, uint64_t *dropped_rows)
{
    if (expectations->table->expectation_count == 0) {
        return NULL;
    }
    uint8_t *dropped = arena_alloc_zero(batch_arena, batch->row_count + 1);
    for (size_t i = 0; i < expectations->table->expectation_count; i++) {
        TRY(apply_one(expectations, i, batch, batch_arena, dropped, &counts[i]));
    }
    remove_dropped(batch, batch_arena, dropped, dropped_rows);
    return NULL;
}

Error *check_not_null(const BoundTable *table, const Batch *batch)
{
    for (size_t c = 0; c < table->schema->field_count; c++) {
        const Vector *column = batch->columns[c];
        if (!table->schema->fields[c].not_null || column->validity == NULL) {
            continue;
        }
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            uint32_t row = batch_selected(batch, i);
            if (!vector_is_valid(column, row)) {
                AUTO_BUFFER Buffer text = {0};
                json_encode_row(batch, row, &text);
                return error_new(ERROR_NOT_NULL_CONSTRAINT_VIOLATION,
                                 "Table `%.*s`: column `%.*s` is NOT NULL, a row brings NULL: %s",
                                 STR_ARG(table->name), STR_ARG(table->schema->fields[c].name),
                                 buffer_cstr(&text));
            }
        }
    }
    return NULL;
}
