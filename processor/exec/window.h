/* What a window function is to the operator that runs it: a loop over the rows of one partition.
 *
 * Rows are numbered in a block: whole partitions, sorted, one behind the other. Ranking functions
 * write values; the others say in which row the value of their first argument is, which the
 * operator then gathers for all partitions at once. */
#ifndef EXEC_WINDOW_H
#define EXEC_WINDOW_H

#include "processor/exec/kernel.h"
#include "processor/exec/row_store.h"

typedef struct WindowPartition {
    uint32_t begin; /* its rows: begin … end - 1 */
    uint32_t end;
    const uint32_t *peers; /* first row of each group with equal order keys; behind them `end` */
    uint32_t peer_count;
} WindowPartition;

typedef struct WindowCall {
    int64_t constant;       /* buckets of ntile, distance of lag and lead, number of nth_value */
    bool ignore_nulls;      /* then: rows of the partition whose value is not NULL */
    const uint32_t *valued; /* ascending */
    uint32_t valued_count;
    const uint32_t *frame_begin; /* by row; kernels that are `framed` */
    const uint32_t *frame_end;
} WindowCall;

struct WindowKernel {
    /* Writes result rows begin … end - 1, which are zero so far. */
    void (*rank)(const WindowCall *call, const WindowPartition *partition, Vector *result);
    /* Or: writes to rows[begin … end) where the value is, ROW_NONE: nowhere, the default. */
    void (*locate)(const WindowCall *call, const WindowPartition *partition, uint32_t *rows);
    bool framed;
    /* Which argument, counted from 1, is WindowCall.constant (1 when the call has none), the
     * default (of the current row; NULL when there is none), says IGNORE NULLS; 0: none. */
    unsigned constant;
    unsigned fallback;
    unsigned ignore_nulls;
};

/* first_value and last_value are aggregates; over frames they are found, not added up. */
extern const WindowKernel window_first;
extern const WindowKernel window_last;

#endif
