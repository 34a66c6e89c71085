/* SET: UNION ALL gives the rows of the one side, then those of the other. INTERSECT ALL and EXCEPT
 * ALL count (op_set_all.c). Without ALL, planning has made them joins. */
#include <assert.h>

#include "processor/base/memory.h"
#include "processor/exec/op_set_all.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Union {
    Operator op;
    const Schema *schema;
    bool on_right;
} Union;

static Error *union_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Union *both = (Union *)op;
    Batch *in = NULL;
    if (!both->on_right) {
        TRY(op->child->next(op->child, pull, &in));
        both->on_right = in == NULL;
    }
    if (both->on_right) {
        TRY(op->right->next(op->right, pull, &in));
        both->on_right = in != NULL; /* then there may be new batches on the left */
    }
    *ret_batch = NULL;
    if (in != NULL) {
        Batch *out = arena_new_object(pull->arena, Batch);
        *out = *in;
        out->schema = both->schema;
        *ret_batch = out;
    }
    return NULL;
}

static void union_close(Operator *op)
{
    mem_free(op);
}

Error *op_set_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    if (node->set_operation != SET_UNION) {
        assert(node->all);
        return op_set_all_open(node, context, ret_op);
    }
    Union *both = mem_new(Union);
    both->op = (Operator){.next = union_next, .close = union_close};
    both->schema = node->schema;
    *ret_op = &both->op;
    return NULL;
}
