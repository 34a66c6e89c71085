/* How much the state holds, for operators. Cheap: RocksDB keeps these numbers. Threads: any, while
 * the state is open. */
#ifndef STATE_SIZES_H
#define STATE_SIZES_H

#include "state/state.h"

typedef struct StateSizes {
    uint64_t block_cache_bytes;   /* blocks of rows */
    uint64_t filter_bytes;        /* filters and indexes of the files */
    uint64_t write_buffers_bytes; /* batches that are not flushed */
    uint64_t run_bytes;           /* what restores gather, sort and write */
} StateSizes;

typedef struct TableSizes {
    uint64_t file_bytes; /* live files on disk */
    uint64_t rows;       /* an estimate */
} TableSizes;

void state_sizes(State *state, StateSizes *ret_sizes);
/* Zeros for a table that has no store yet. */
void state_table_sizes(State *state, Str table, TableSizes *ret_sizes);

#endif
