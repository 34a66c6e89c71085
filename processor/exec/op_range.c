/* RANGE: the numbers from range_start to before range_end by range_step, BATCH_ROWS at a time. */
#include "processor/base/memory.h"
#include "processor/data/decimal.h"
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

typedef struct Range {
    Operator op;
    const Schema *schema;
    int64_t next;
    int64_t step;
    uint64_t left; /* numbers still to come */
    const bool *interrupted;
} Range;

static Error *range_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Range *range = (Range *)op;
    *ret_batch = NULL;
    if (range->left == 0) {
        return NULL;
    }
    TRY(pull_check(pull, range->interrupted));
    uint32_t count = range->left < BATCH_ROWS ? (uint32_t)range->left : BATCH_ROWS;
    Batch *batch = batch_new(pull->arena, range->schema, count);
    int64_t *values = VECTOR_DATA(batch->columns[0], int64_t);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (int64_t)((uint64_t)range->next + i * (uint64_t)range->step);
    }
    range->next = (int64_t)((uint64_t)range->next + count * (uint64_t)range->step);
    range->left -= count;
    batch->columns[0]->length = count;
    *ret_batch = batch_from_columns(pull->arena, range->schema, batch->columns, count);
    return NULL;
}

static void range_close(Operator *op)
{
    mem_free(op);
}

/* Counted in 128 bits: from the least number to the greatest is more than an int64_t holds. */
static uint64_t numbers_in(int64_t start, int64_t end, int64_t step)
{
    int128 distance = step > 0 ? (int128)end - start : (int128)start - end;
    int128 stride = step > 0 ? (int128)step : -(int128)step;
    return distance <= 0 || stride == 0 ? 0 : (uint64_t)((distance + stride - 1) / stride);
}

Error *op_range_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Range *range = mem_new(Range);
    range->op = (Operator){.next = range_next, .close = range_close};
    range->schema = node->schema;
    range->next = node->range_start;
    range->step = node->range_step;
    range->left = numbers_in(node->range_start, node->range_end, node->range_step);
    range->interrupted = context->interrupted;
    *ret_op = &range->op;
    return NULL;
}
