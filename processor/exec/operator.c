/* What operators share: lists of expressions, rows that failed. */
#include "processor/exec/operator.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

Error *expression_list_open(ExpressionList *list, BoundExpr *const *exprs, size_t count,
                            const ExecContext *context)
{
    list->expressions = mem_alloc_array(count, sizeof(Expression *));
    for (size_t i = 0; i < count; i++) {
        TRY(expression_open(exprs[i], context, &list->expressions[i]));
        list->count++;
    }
    return NULL;
}

Error *expression_list_evaluate(const ExpressionList *list, const Pull *pull, Batch *batch,
                                const Vector **ret_values)
{
    RowErrors failed = {0};
    for (size_t i = 0; i < list->count; i++) {
        Error *error =
            expression_evaluate(list->expressions[i], batch, pull->arena, &failed, &ret_values[i]);
        if (error != NULL) {
            row_errors_done(&failed);
            return error;
        }
    }
    pull_take_errors(pull, batch, &failed);
    return NULL;
}

void expression_list_set_now(const ExpressionList *list, int64_t now_us)
{
    for (size_t i = 0; i < list->count; i++) {
        expression_set_now(list->expressions[i], now_us);
    }
}

void expression_list_done(ExpressionList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        expression_close(list->expressions[i]);
    }
    mem_free(list->expressions);
    *list = (ExpressionList){0};
}

Error *pull_check(const Pull *pull, const bool *interrupted)
{
    /* Another thread or a signal sets it. */
    if (interrupted != NULL && *(const volatile bool *)interrupted) {
        return error_new(ERROR_INTERRUPTED, "The query was interrupted.");
    }
    return pull->strict && pull->errors->count > 0 ? error_copy(pull->errors->errors[0]) : NULL;
}

Error *pull_input(Operator *child, const Pull *pull, Arena *arena, Batch **ret_batch)
{
    arena_reset(arena);
    Pull own = *pull;
    own.arena = arena;
    TRY(child->next(child, &own, ret_batch));
    return pull_check(pull, NULL);
}

static void drop_rows(const Pull *pull, Batch *batch, const RowErrors *failed)
{
    uint16_t *selection =
        arena_alloc(pull->arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (!row_errors_has(failed, row)) {
            selection[count++] = (uint16_t)row;
        }
    }
    batch->selection = selection;
    batch->selected_count = count;
}

void pull_take_errors(const Pull *pull, Batch *batch, RowErrors *failed)
{
    if (failed->count > 0) {
        drop_rows(pull, batch, failed);
        for (size_t i = 0; i < failed->count; i++) {
            row_errors_add(pull->errors, batch_origin(batch, failed->rows[i]), failed->errors[i]);
        }
        failed->count = 0; /* the errors have a new owner */
    }
    row_errors_done(failed);
}
