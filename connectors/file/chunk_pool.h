/* Threads that work on the chunks of files, ahead of the one that takes the results in file order.
 *
 *     files ─► chunk reader ─► [work]─┐
 *              one at a time   [work]─┼─► results, in the order of the chunks ─► taker
 *                              [work]─┘   (the taker works too when nothing is ready)
 *
 * Each thread has a worker of its own, so what is done with a chunk needs no lock. The number of
 * chunks ahead of the taker is bounded; chunks that were taken are reused when they are given back.
 */
#ifndef FILE_CHUNK_POOL_H
#define FILE_CHUNK_POOL_H

#include "connectors/file/chunk_reader.h"
#include "processor/base/arena.h"
#include "processor/data/batch.h"

/* A chunk and what became of it. */
typedef struct ChunkWork {
    Chunk chunk;
    Arena *arena;    /* of the results; reset when the chunk is given back */
    Batch **batches; /* in order */
    size_t batch_count;
    uint64_t lines; /* lines it has */
    Error *error;   /* NULL: none. Its place counts lines from the chunk's beginning */
    struct ChunkWork *next;
    size_t held; /* batches of it that are in use; of the taker */
} ChunkWork;

typedef struct ChunkTask {
    RecordsEnd records_end;
    const void *context;
    /* A thread's own state; the errors of `work` go into the chunk. */
    void (*work)(void *worker, ChunkWork *chunk);
    void **workers; /* one a thread */
    size_t worker_count;
} ChunkTask;

typedef struct ChunkPool ChunkPool;

/* worker_count threads, the taker's counted. `files` and the workers must outlive the pool. */
ChunkPool *chunk_pool_open(FileList *files, const ChunkTask *task, const bool *interrupted);
/* Ends the threads. Chunks that were not given back stay until they are. */
void chunk_pool_close(ChunkPool *pool);
/* The next chunk's results, NULL behind the last. The caller gives it back. INTERRUPTED. */
NODISCARD Error *chunk_pool_take(ChunkPool *pool, ChunkWork **ret_chunk);
/* Thread: the taker's. */
void chunk_pool_give_back(ChunkPool *pool, ChunkWork *chunk);
/* Bytes of the files read so far. Thread: any. */
uint64_t chunk_pool_position(const ChunkPool *pool);

#endif
