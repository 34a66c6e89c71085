/* ONE ROW: what a SELECT without FROM reads, one row without columns. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct OneRow {
    Operator op;
    const Schema *schema;
    bool done;
} OneRow;

static Error *one_row_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    OneRow *one_row = (OneRow *)op;
    *ret_batch = NULL;
    if (!one_row->done) {
        one_row->done = true;
        *ret_batch = batch_from_columns(pull->arena, one_row->schema, NULL, 1);
    }
    return NULL;
}

static void one_row_close(Operator *op)
{
    mem_free(op);
}

Error *op_one_row_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    (void)context;
    static const Schema no_columns = {.fields = NULL, .field_count = 0};
    OneRow *one_row = mem_new(OneRow);
    one_row->op = (Operator){.next = one_row_next, .close = one_row_close};
    one_row->schema = node->schema != NULL ? node->schema : &no_columns;
    *ret_op = &one_row->op;
    return NULL;
}
