/* Rows kept in memory: columns in chunks of BATCH_ROWS, deep copies (bytes included) in an arena of
 * the store. What a join builds, a sort sorts, a window looks over. Rows are numbered from 0 in the
 * order they came. Not for streaming. Thread: one at a time. */
#ifndef EXEC_ROW_STORE_H
#define EXEC_ROW_STORE_H

#include "processor/data/batch.h"

typedef struct RowStore RowStore;

RETURNS_NONNULL RowStore *row_store_new(const Schema *schema);
/* Ends when the last who keeps it lets go. */
void row_store_free(RowStore *store);
/* Keeps the store until the arena is reset: batches in it refer to bytes of the store. */
void row_store_keep(RowStore *store, Arena *arena);
/* Copies the selected rows to the end. */
void row_store_append(RowStore *store, const Batch *batch);
/* Forgets all rows; keeps the memory. */
void row_store_clear(RowStore *store);
uint32_t row_store_count(const RowStore *store);
/* Memory held, for QueryMemory. */
size_t row_store_bytes(const RowStore *store);
const Schema *row_store_schema(const RowStore *store);
/* The chunk that holds the row; its row number there is row % BATCH_ROWS. */
const Batch *row_store_chunk(const RowStore *store, uint32_t row);
/* Column `column` of the given rows, in that order, in `arena`; ROW_NONE gives NULL. Bytes stay the
 * store's. */
#define ROW_NONE UINT32_MAX
RETURNS_NONNULL Vector *row_store_gather(const RowStore *store, size_t column, const uint32_t *rows,
                                         uint32_t count, Arena *arena);
/* The same for all columns. */
RETURNS_NONNULL Batch *row_store_batch(const RowStore *store, const uint32_t *rows, uint32_t count,
                                       Arena *arena);

#endif
