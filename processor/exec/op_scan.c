/* SCAN: the batch pushed into a source, once; or the batches of a source that is pulled. */
#include "processor/base/memory.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Scan {
    Operator op;
    size_t source;
    const bool *interrupted;
} Scan;

static Error *pull_source(const Scan *scan, const Pull *pull, Batch **ret_batch)
{
    TRY(pull_check(pull, scan->interrupted));
    BatchSource *source = pull->sources[scan->source];
    return source->next(source, pull->arena, ret_batch);
}

static Error *scan_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    const Scan *scan = (const Scan *)op;
    if (pull->sources[scan->source] != NULL) {
        return pull_source(scan, pull, ret_batch);
    }
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
    Scan *scan = mem_new(Scan);
    scan->op = (Operator){.next = scan_next, .close = scan_close};
    scan->source = node->source;
    scan->interrupted = context->interrupted;
    *ret_op = &scan->op;
    return NULL;
}
