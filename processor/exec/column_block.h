/* Batches as bytes, column by column: what temporary files hold. For one program run only: numbers
 * lie as the machine has them.
 *
 *     block    row count (4) · columns
 *     column   a byte: is there a bitmap? · bitmap of the rows that have a value
 *     numbers  values side by side
 *     STRING   sizes (4 each) · bytes
 *     LIST     counts (4 each) · columns of the elements
 *     STRUCT   columns of the fields */
#ifndef EXEC_COLUMN_BLOCK_H
#define EXEC_COLUMN_BLOCK_H

#include "processor/base/buffer.h"
#include "processor/data/batch.h"

/* Appends the selected rows as one block. */
void column_block_put(const Batch *batch, Buffer *out);
/* How many rows the block at the front of `bytes` has; false: it is damaged. */
bool column_block_rows(Str bytes, uint32_t *ret_rows);
/* Takes the block at the front of `*bytes` away and appends its rows to the batch, whose columns
 * are of the types that were written (grown in `arena`, bytes copied there). False: the block is
 * damaged, the batch is of no use any more. Every size is checked against the bytes there are. */
bool column_block_take(Str *bytes, Arena *arena, Batch *batch);

#endif
