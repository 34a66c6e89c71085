/* Blocks of sorted rows: see window_block.h. Partitions and peers are found by comparing each row
 * with the one before it. */
#include "processor/exec/window_block.h"

#include <assert.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

void window_block_init(WindowBlock *block, const Schema *schema)
{
    *block = (WindowBlock){.rows = row_store_new(schema)};
}

void window_block_done(WindowBlock *block)
{
    row_store_free(block->rows);
    mem_free(block->partitions);
    mem_free(block->peers);
    *block = (WindowBlock){0};
}

static void push(uint32_t **starts, uint32_t *count, size_t *capacity, uint32_t row)
{
    mem_reserve(*starts, capacity, (size_t)*count + 1);
    (*starts)[(*count)++] = row;
}

/* Do the rows, neighbours in the store, differ in one of the columns? */
static bool rows_differ(const RowStore *rows, const size_t *columns, size_t column_count,
                        uint32_t row)
{
    const Batch *before = row_store_chunk(rows, row - 1);
    const Batch *chunk = row_store_chunk(rows, row);
    for (size_t i = 0; i < column_count; i++) {
        if (!vector_value_equal(before->columns[columns[i]], (row - 1) % BATCH_ROWS,
                                chunk->columns[columns[i]], row % BATCH_ROWS)) {
            return true;
        }
    }
    return false;
}

void window_block_add(WindowBlock *block, const WindowKeys *keys, const Batch *batch)
{
    uint32_t row = row_store_count(block->rows);
    row_store_append(block->rows, batch);
    for (; row < row_store_count(block->rows); row++) {
        bool partition =
            row == 0 || rows_differ(block->rows, keys->partition, keys->partition_count, row);
        if (partition) {
            push(&block->partitions, &block->partition_count, &block->partition_capacity, row);
        }
        if (partition || rows_differ(block->rows, keys->order, keys->order_count, row)) {
            push(&block->peers, &block->peer_count, &block->peer_capacity, row);
        }
    }
}

bool window_block_is_ready(const WindowBlock *block)
{
    return block->partition_count > 1 &&
           block->partitions[block->partition_count - 1] >= BATCH_ROWS;
}

/* The rows from `row` on go to `next`. */
static void move_rows(const WindowBlock *block, const WindowKeys *keys, uint32_t row,
                      WindowBlock *next)
{
    AUTO(arena) Arena *arena = arena_new("window rows");
    uint32_t rows[BATCH_ROWS];
    while (row < row_store_count(block->rows)) {
        uint32_t count = 0;
        for (; count < BATCH_ROWS && row < row_store_count(block->rows); row++) {
            rows[count++] = row;
        }
        arena_reset(arena);
        window_block_add(next, keys, row_store_batch(block->rows, rows, count, arena));
    }
}

void window_block_end(WindowBlock *block, const WindowKeys *keys, WindowBlock *next)
{
    block->count = row_store_count(block->rows);
    if (next != NULL) {
        assert(block->partition_count > 1);
        block->count = block->partitions[--block->partition_count];
        while (block->peers[block->peer_count - 1] >= block->count) {
            block->peer_count--;
        }
        move_rows(block, keys, block->count, next);
    }
    push(&block->partitions, &block->partition_count, &block->partition_capacity, block->count);
    push(&block->peers, &block->peer_count, &block->peer_capacity, block->count);
    block->partition_count--;
    block->peer_count--;
}

size_t window_block_bytes(const WindowBlock *block)
{
    return row_store_bytes(block->rows) +
           (block->partition_capacity + block->peer_capacity) * sizeof(uint32_t);
}
