/* LIMIT: rows from `offset` on, at most `limit`; the input is not read further than that. With
 * expressions, so many of each run of rows in which these are equal: the input is sorted by them.
 */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Limit {
    Operator op;
    const LogicalNode *node;
    uint64_t offset;
    uint64_t end;  /* offset + limit */
    uint64_t seen; /* rows of this run, or of all */
    ExpressionList keys;
    Arena *arena;  /* of `last` */
    Vector **last; /* the keys of the row before */
    bool has_last;
} Limit;

/* Begins the row a run of its own? */
static bool is_new_run(const Limit *limit, const Vector *const *keys, uint32_t row)
{
    if (!limit->has_last) {
        return true;
    }
    for (size_t i = 0; i < limit->keys.count; i++) {
        if (!vector_value_equal(limit->last[i], 0, keys[i], row)) {
            return true;
        }
    }
    return false;
}

static void remember(Limit *limit, const Vector *const *keys, uint32_t row)
{
    arena_reset(limit->arena);
    for (size_t i = 0; i < limit->keys.count; i++) {
        limit->last[i] = vector_copy_value(limit->arena, keys[i], row);
    }
    limit->has_last = true;
}

static Error *start_runs(Limit *limit, const Pull *pull, Batch *batch, const Vector ***ret_keys)
{
    if (limit->keys.count == 0) {
        return NULL;
    }
    const Vector **keys = arena_new_array(pull->arena, const Vector *, limit->keys.count);
    TRY(expression_list_evaluate(&limit->keys, pull, batch, keys));
    *ret_keys = keys;
    return NULL;
}

static Error *limit_batch(Limit *limit, const Pull *pull, Batch *batch)
{
    const Vector **keys = NULL;
    TRY(start_runs(limit, pull, batch, &keys));
    uint16_t *selection =
        arena_alloc(pull->arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (keys != NULL && is_new_run(limit, keys, row)) {
            limit->seen = 0;
            remember(limit, keys, row);
        }
        selection[count] = (uint16_t)row;
        count += limit->seen >= limit->offset && limit->seen < limit->end;
        limit->seen += limit->seen < limit->end;
    }
    if (count < batch->selected_count) {
        batch->selection = selection;
        batch->selected_count = count;
    }
    return NULL;
}

static bool is_done(const Limit *limit)
{
    return limit->keys.count == 0 && limit->seen >= limit->end;
}

static Error *limit_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Limit *limit = (Limit *)op;
    *ret_batch = NULL;
    while (!is_done(limit)) {
        ArenaMark mark = arena_mark(pull->arena);
        Batch *in = NULL;
        TRY(op->child->next(op->child, pull, &in));
        if (in == NULL) {
            return NULL;
        }
        Batch *out = arena_new_object(pull->arena, Batch);
        *out = *in;
        TRY(limit_batch(limit, pull, out));
        if (out->selected_count > 0) {
            *ret_batch = out;
            return NULL;
        }
        TRY(pull_check(pull, NULL));
        arena_release(pull->arena, mark);
    }
    return NULL;
}

static void limit_close(Operator *op)
{
    Limit *limit = (Limit *)op;
    expression_list_done(&limit->keys);
    mem_free(limit->last);
    arena_free(limit->arena);
    mem_free(limit);
}

Error *op_limit_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Limit *limit = mem_new(Limit);
    limit->op = (Operator){.next = limit_next, .close = limit_close};
    limit->node = node;
    limit->offset = (uint64_t)node->offset;
    limit->end = node->limit < 0 ? UINT64_MAX : (uint64_t)node->offset + (uint64_t)node->limit;
    limit->arena = arena_new("limit keys");
    limit->last = mem_alloc_array(node->expression_count, sizeof(Vector *));
    Error *error =
        expression_list_open(&limit->keys, node->expressions, node->expression_count, context);
    if (error != NULL) {
        limit_close(&limit->op);
        return error;
    }
    *ret_op = &limit->op;
    return NULL;
}
