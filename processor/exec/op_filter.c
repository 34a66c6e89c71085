/* FILTER: narrows the selection to the rows for which the condition is TRUE; columns are not
 * touched. A batch of which nothing is left is handed on, so that whoever pulls can reset its
 * arena: a filter may read for long before it finds a row. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Filter {
    Operator op;
    Expression *condition;
} Filter;

static void keep_true(const Pull *pull, Batch *batch, const Vector *condition)
{
    const uint8_t *values = condition->data;
    uint16_t *selection =
        arena_alloc(pull->arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        selection[count] = (uint16_t)row;
        count += vector_is_valid(condition, row) && values[row] != 0;
    }
    if (count < batch->selected_count) {
        batch->selection = selection;
        batch->selected_count = count;
    }
}

static Error *filter_batch(const Filter *filter, const Pull *pull, const Batch *in, Batch **ret_out)
{
    Batch *out = arena_new_object(pull->arena, Batch);
    *out = *in;
    RowErrors failed = {0};
    const Vector *condition = NULL;
    Error *error = expression_evaluate(filter->condition, in, pull->arena, &failed, &condition);
    if (error != NULL) {
        row_errors_done(&failed);
        return error;
    }
    pull_take_errors(pull, out, &failed);
    if (out->selected_count > 0) {
        keep_true(pull, out, condition);
    }
    *ret_out = out;
    return NULL;
}

static Error *filter_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Batch *batch = NULL;
    TRY(op->child->next(op->child, pull, &batch));
    if (batch != NULL) {
        TRY(filter_batch((const Filter *)op, pull, batch, &batch));
    }
    *ret_batch = batch;
    return NULL;
}

static void filter_set_now(Operator *op, int64_t now_us)
{
    expression_set_now(((Filter *)op)->condition, now_us);
}

static void filter_close(Operator *op)
{
    expression_close(((Filter *)op)->condition);
    mem_free(op);
}

Error *op_filter_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Expression *condition = NULL;
    TRY(expression_open(node->expressions[0], context, &condition));
    Filter *filter = mem_new(Filter);
    filter->op = (Operator){.next = filter_next, .set_now = filter_set_now, .close = filter_close};
    filter->condition = condition;
    *ret_op = &filter->op;
    return NULL;
}
