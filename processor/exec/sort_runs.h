/* Sorted runs of rows in temporary files, and their merge: what a sort does beyond its memory. */
#ifndef EXEC_SORT_RUNS_H
#define EXEC_SORT_RUNS_H

#include "processor/exec/row_store.h"
#include "processor/exec/sort_keys.h"
#include "processor/exec/spill.h"

typedef struct SortRuns SortRuns;

RETURNS_NONNULL SortRuns *sort_runs_new(const Schema *schema, const QueryMemory *memory);
void sort_runs_free(SortRuns *runs);
/* Writes rows of the store as the next run, in the order of `keys`. Rows of equal keys come out in
 * the order of the runs. */
NODISCARD Error *sort_runs_add(SortRuns *runs, const RowStore *store, const SortKey *keys,
                               const Str *rests, uint32_t count);
size_t sort_runs_count(const SortRuns *runs);
/* All runs are there: merging begins. */
NODISCARD Error *sort_runs_begin(SortRuns *runs);
/* The next rows (BATCH_ROWS at most) in order, in `arena`; NULL at the end. */
NODISCARD Error *sort_runs_next(SortRuns *runs, Arena *arena, Batch **ret_batch);

#endif
