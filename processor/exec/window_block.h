/* Sorted rows of whole partitions, enough of them to be worth a loop: what window functions are
 * computed over. */
#ifndef EXEC_WINDOW_BLOCK_H
#define EXEC_WINDOW_BLOCK_H

#include "processor/exec/row_store.h"

/* Columns of the rows that make partitions and peers. */
typedef struct WindowKeys {
    const size_t *partition;
    size_t partition_count;
    const size_t *order;
    size_t order_count;
} WindowKeys;

typedef struct WindowBlock {
    RowStore *rows;
    uint32_t count;       /* of the rows that belong to whole partitions; others may follow them */
    uint32_t *partitions; /* first row of each, then `count` */
    uint32_t partition_count;
    uint32_t *peers; /* first row of each group of peers, then `count`; a partition begins one */
    uint32_t peer_count;
    size_t partition_capacity;
    size_t peer_capacity;
} WindowBlock;

/* Zeroed block; window_block_done releases it. */
void window_block_init(WindowBlock *block, const Schema *schema);
void window_block_done(WindowBlock *block);
/* Appends the next sorted rows and notes where partitions and peers begin. */
void window_block_add(WindowBlock *block, const WindowKeys *keys, const Batch *batch);
/* Can the block be computed: are there BATCH_ROWS rows before the last partition, which may go on?
 */
bool window_block_is_ready(const WindowBlock *block);
/* Ends the block before its last partition, whose rows go to `next` (or after it when `next` is
 * NULL: no more rows come). */
void window_block_end(WindowBlock *block, const WindowKeys *keys, WindowBlock *next);
size_t window_block_bytes(const WindowBlock *block);

#endif
