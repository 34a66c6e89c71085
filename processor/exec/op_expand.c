/* EXPAND: for each input row as many rows as the node has lists of expressions. They come out list
 * by list: all rows of an input batch by the first, then all by the second. The input batch lies in
 * a shared arena until the last list was computed. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"
#include "processor/exec/projection.h"
#include "processor/exec/shared_arena.h"

#include "processor/base/banned.h"

typedef struct Expand {
    Operator op;
    Projection *lists;
    size_t list_count;
    size_t next_list;
    SharedArena *arena; /* of `input` */
    Batch *input;       /* NULL: the next one is to be read */
} Expand;

static void forget_input(Expand *expand)
{
    shared_arena_unref(expand->arena);
    expand->arena = NULL;
    expand->input = NULL;
}

static Error *read_input(Expand *expand, const Pull *pull)
{
    expand->arena = shared_arena_new("expand input");
    expand->next_list = 0;
    TRY(pull_input(expand->op.child, pull, shared_arena(expand->arena), &expand->input));
    return NULL;
}

static Error *expand_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Expand *expand = (Expand *)op;
    *ret_batch = NULL;
    if (expand->list_count == 0) {
        return NULL;
    }
    if (expand->input == NULL) {
        forget_input(expand);
        TRY(read_input(expand, pull));
        if (expand->input == NULL) {
            forget_input(expand);
            return NULL;
        }
    }
    shared_arena_keep(expand->arena, pull->arena);
    TRY(projection_run(&expand->lists[expand->next_list++], pull, expand->input, ret_batch));
    if (expand->next_list == expand->list_count) {
        forget_input(expand);
    }
    return NULL;
}

static void expand_set_now(Operator *op, int64_t now_us)
{
    const Expand *expand = (const Expand *)op;
    for (size_t i = 0; i < expand->list_count; i++) {
        expression_list_set_now(&expand->lists[i].computed, now_us);
    }
}

static void expand_close(Operator *op)
{
    Expand *expand = (Expand *)op;
    for (size_t i = 0; i < expand->list_count; i++) {
        projection_done(&expand->lists[i]);
    }
    mem_free(expand->lists);
    forget_input(expand);
    mem_free(expand);
}

Error *op_expand_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Expand *expand = mem_new(Expand);
    expand->op = (Operator){.next = expand_next, .set_now = expand_set_now, .close = expand_close};
    expand->lists = mem_alloc_array(node->row_count, sizeof(Projection));
    expand->list_count = node->row_count;
    for (size_t i = 0; i < node->row_count; i++) {
        Error *error = projection_open(&expand->lists[i], node->schema,
                                       node->expressions + i * node->schema->field_count, context);
        if (error != NULL) {
            expand_close(&expand->op);
            return error;
        }
    }
    *ret_op = &expand->op;
    return NULL;
}
