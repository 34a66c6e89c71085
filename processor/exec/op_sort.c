/* SORT: all rows of the child by the sort keys, or only the first `limit` of them. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"
#include "processor/exec/sorter.h"

#include "processor/base/banned.h"

typedef struct Sort {
    Operator op;
    const LogicalNode *node;
    ExpressionList keys;
    SortOrder *orders;
    Arena *input; /* of one batch */
    Sorter *sorter;
    bool sorted;
} Sort;

static Error *add_batch(Sort *sort, const Pull *pull, Batch *batch)
{
    const Vector **keys = arena_new_array(pull->arena, const Vector *, sort->keys.count);
    Batch own = *batch;
    TRY(expression_list_evaluate(&sort->keys, pull, &own, keys));
    return sorter_add(sort->sorter, &own, keys);
}

static Error *read_input(Sort *sort, const Pull *pull)
{
    Pull own = *pull;
    own.arena = sort->input;
    for (;;) {
        Batch *batch = NULL;
        TRY(pull_input(sort->op.child, pull, sort->input, &batch));
        if (batch == NULL) {
            arena_reset(sort->input);
            return sorter_finish(sort->sorter);
        }
        TRY(add_batch(sort, &own, batch));
    }
}

static Error *sort_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Sort *sort = (Sort *)op;
    *ret_batch = NULL;
    if (sort->node->limit == 0) {
        return NULL;
    }
    if (!sort->sorted) {
        TRY(read_input(sort, pull));
        sort->sorted = true;
    }
    return sorter_next(sort->sorter, pull->arena, ret_batch);
}

static void sort_set_now(Operator *op, int64_t now_us)
{
    expression_list_set_now(&((Sort *)op)->keys, now_us);
}

static void sort_close(Operator *op)
{
    Sort *sort = (Sort *)op;
    expression_list_done(&sort->keys);
    sorter_free(sort->sorter);
    mem_free(sort->orders);
    arena_free(sort->input);
    mem_free(sort);
}

static Error *open_keys(Sort *sort, const ExecContext *context)
{
    const LogicalNode *node = sort->node;
    BoundExpr **exprs = mem_alloc_array(node->sort_key_count, sizeof(BoundExpr *));
    sort->orders = mem_alloc_array(node->sort_key_count, sizeof(SortOrder));
    for (size_t i = 0; i < node->sort_key_count; i++) {
        exprs[i] = node->sort_keys[i].expr;
        sort->orders[i] =
            (SortOrder){node->sort_keys[i].descending, node->sort_keys[i].nulls_first};
    }
    Error *error = expression_list_open(&sort->keys, exprs, node->sort_key_count, context);
    mem_free(exprs);
    return error;
}

Error *op_sort_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Sort *sort = mem_new(Sort);
    sort->op = (Operator){.next = sort_next, .set_now = sort_set_now, .close = sort_close};
    sort->node = node;
    sort->input = arena_new("sort input");
    Error *error = open_keys(sort, context);
    if (error != NULL) {
        sort_close(&sort->op);
        return error;
    }
    sort->sorter = sorter_new(&(SorterSetup){.schema = node->child->schema,
                                             .orders = sort->orders,
                                             .key_count = node->sort_key_count,
                                             .limit = node->limit,
                                             .memory = context->memory});
    *ret_op = &sort->op;
    return NULL;
}
