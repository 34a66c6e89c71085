/* Sorts rows by keys, stably: all of them, within the query's memory and beyond it on disk, or only
 * the first so many, in memory for about twice as many. */
#ifndef EXEC_SORTER_H
#define EXEC_SORTER_H

#include "processor/exec/query.h"
#include "processor/exec/sort_keys.h"

typedef struct Sorter Sorter;

typedef struct SorterSetup {
    const Schema *schema;    /* of the rows */
    const SortOrder *orders; /* one a key; of the caller */
    size_t key_count;
    int64_t limit; /* rows wanted; -1: all */
    QueryMemory *memory;
} SorterSetup;

RETURNS_NONNULL Sorter *sorter_new(const SorterSetup *setup);
void sorter_free(Sorter *sorter);
/* Copies the selected rows; `keys` are columns as long as the batch. */
NODISCARD Error *sorter_add(Sorter *sorter, const Batch *batch, const Vector *const *keys);
/* No more rows come. */
NODISCARD Error *sorter_finish(Sorter *sorter);
/* The next rows in order, NULL at the end. In `arena`; bytes may be the sorter's. */
NODISCARD Error *sorter_next(Sorter *sorter, Arena *arena, Batch **ret_batch);

#endif
