/* SCAN: the batch pushed into a source, once. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Scan {
    Operator op;
    size_t source;
} Scan;

static Error *scan_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    const Scan *scan = (const Scan *)op;
    *ret_batch = pull->pushed[scan->source];
    pull->pushed[scan->source] = NULL;
    return NULL;
}

static void scan_close(Operator *op)
{
    mem_free(op);
}

Error *op_scan_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    (void)context;
    Scan *scan = mem_new(Scan);
    scan->op = (Operator){.next = scan_next, .close = scan_close};
    scan->source = node->source;
    *ret_op = &scan->op;
    return NULL;
}
