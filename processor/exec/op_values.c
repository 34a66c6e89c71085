/* VALUES: rows of expressions without columns, BATCH_ROWS at a time. Row i of the list is row i for
 * errors. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Values {
    Operator op;
    const LogicalNode *node;
    ExecContext context;
    size_t next_row;
} Values;

/* Appends the value of one expression. */
static Error *append_value(const Values *values, const BoundExpr *expr, Arena *arena,
                           RowErrors *failed, Vector *column)
{
    if (expr->kind == BOUND_LITERAL) {
        vector_append_from(column, arena, expr->literal, 0);
        return NULL;
    }
    static const Schema no_columns = {.fields = NULL, .field_count = 0};
    AUTO(expression) Expression *expression = NULL;
    TRY(expression_open(expr, &values->context, &expression));
    const Batch one_row = {.schema = &no_columns, .row_count = 1, .selected_count = 1};
    const Vector *value = NULL;
    TRY(expression_evaluate(expression, &one_row, arena, failed, &value));
    if (failed->count > 0) {
        vector_append_null(column, arena);
        return NULL;
    }
    const Vector *own = vector_copy_value(arena, value, 0); /* the expression is closed here */
    vector_append_from(column, arena, own, 0);
    return NULL;
}

static Error *append_row(const Values *values, size_t row, const Pull *pull, Batch *batch,
                         RowErrors *failed)
{
    size_t columns = values->node->schema->field_count;
    RowErrors own = {0};
    Error *error = NULL;
    for (size_t i = 0; i < columns && error == NULL; i++) {
        error = append_value(values, values->node->expressions[row * columns + i], pull->arena,
                             &own, batch->columns[i]);
    }
    if (own.count > 0) {
        row_errors_add(failed, batch->row_count, own.errors[0]);
        own.count = 0;
    }
    row_errors_done(&own);
    batch->row_count++;
    batch->selected_count++;
    return error;
}

static Error *values_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Values *values = (Values *)op;
    *ret_batch = NULL;
    size_t left = values->node->row_count - values->next_row;
    if (left == 0) {
        return NULL;
    }
    uint32_t count = left < BATCH_ROWS ? (uint32_t)left : BATCH_ROWS;
    Batch *batch = batch_new(pull->arena, values->node->schema, count);
    uint32_t *origin = arena_new_array(pull->arena, uint32_t, count);
    batch->origin = origin;
    RowErrors failed = {0};
    Error *error = NULL;
    for (uint32_t i = 0; i < count && error == NULL; i++) {
        origin[i] = (uint32_t)values->next_row;
        error = append_row(values, values->next_row++, pull, batch, &failed);
    }
    if (error != NULL) {
        row_errors_done(&failed);
        return error;
    }
    pull_take_errors(pull, batch, &failed);
    *ret_batch = batch;
    return NULL;
}

static void values_set_now(Operator *op, int64_t now_us)
{
    ((Values *)op)->context.now_us = now_us;
}

static void values_close(Operator *op)
{
    mem_free(op);
}

Error *op_values_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Values *values = mem_new(Values);
    values->op = (Operator){.next = values_next, .set_now = values_set_now, .close = values_close};
    values->node = node;
    values->context = *context;
    *ret_op = &values->op;
    return NULL;
}
