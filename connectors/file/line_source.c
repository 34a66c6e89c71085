/* A source of batches from files of lines: workers in a pool, batches in file order. A batch stays
 * as it was decoded, in its chunk, until whoever has it resets the arena it was asked for; nothing
 * is copied. */
#include <assert.h>

#include "connectors/file/file_table_internal.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct LineSource {
    BatchSource source;
    ReadRequest request;
    const LineFormat *format;
    void **workers;
    size_t worker_count;
    ChunkPool *pool;
    ChunkWork *chunk; /* being handed out; counts as one that holds it */
    size_t batch;     /* its next batch */
    LinePlace place;
    bool failed;
    ChunkWork *given; /* held for a batch given without an arena, until the next call */
} LineSource;

/* What keeps a chunk while a batch of it is in use. */
typedef struct Hold {
    ChunkPool *pool;
    ChunkWork *chunk;
} Hold;

void chunk_add_batch(ChunkWork *chunk, Batch *batch)
{
    size_t count = chunk->batch_count;
    if ((count & (count - 1)) == 0) { /* 0, 1, 2, 4 …: full */
        Batch **grown = arena_new_array(chunk->arena, Batch *, count == 0 ? 1 : count * 2);
        for (size_t i = 0; i < count; i++) {
            grown[i] = chunk->batches[i];
        }
        chunk->batches = grown;
    }
    chunk->batches[chunk->batch_count++] = batch;
}

static void let_go(ChunkPool *pool, ChunkWork *chunk)
{
    if (--chunk->held == 0) {
        chunk_pool_give_back(pool, chunk);
    }
}

static void release_hold(void *object)
{
    const Hold *hold = object;
    let_go(hold->pool, hold->chunk);
}

static void let_chunk_go(LineSource *source)
{
    if (source->chunk != NULL) {
        ChunkWork *chunk = source->chunk;
        source->chunk = NULL;
        let_go(source->pool, chunk);
    }
}

static Error *take_chunk(LineSource *source)
{
    let_chunk_go(source);
    TRY(chunk_pool_take(source->pool, &source->chunk));
    source->batch = 0;
    if (source->chunk == NULL) {
        return NULL;
    }
    source->chunk->held = 1;
    Error *error = line_place_advance(&source->place, source->request.table, source->chunk);
    source->failed = error != NULL;
    return error;
}

static void hold_for(LineSource *source, Arena *arena)
{
    source->chunk->held++;
    if (arena == NULL) {
        source->given = source->chunk;
        return;
    }
    Hold *hold = arena_new_object(arena, Hold);
    *hold = (Hold){source->pool, source->chunk};
    arena_on_reset(arena, release_hold, hold);
}

static Error *line_source_next(BatchSource *base, Arena *arena, Batch **ret_batch)
{
    LineSource *source = (LineSource *)base;
    assert(!source->failed);
    if (source->given != NULL) {
        let_go(source->pool, source->given);
        source->given = NULL;
    }
    while (source->chunk == NULL || source->batch == source->chunk->batch_count) {
        TRY(take_chunk(source));
        if (source->chunk == NULL) {
            *ret_batch = NULL;
            return NULL;
        }
    }
    hold_for(source, arena);
    *ret_batch = source->chunk->batches[source->batch++];
    return NULL;
}

static void line_source_close(BatchSource *base)
{
    LineSource *source = (LineSource *)base;
    if (source->given != NULL) {
        let_go(source->pool, source->given);
    }
    let_chunk_go(source);
    if (source->request.table->pool == source->pool) {
        source->request.table->pool = NULL;
    }
    chunk_pool_close(source->pool);
    for (size_t i = 0; i < source->worker_count; i++) {
        source->format->close(source->workers[i]);
    }
    mem_free(source->workers);
    arena_free(source->request.arena);
    mem_free(source);
}

static Error *open_workers(LineSource *source, size_t count)
{
    if (source->format->prepare != NULL) {
        TRY(source->format->prepare(&source->request));
    }
    source->workers = mem_alloc_array(count, sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        TRY(source->format->open(&source->request, &source->workers[i]));
        source->worker_count++;
    }
    return NULL;
}

Error *line_source_open(const ReadRequest *request, const LineFormat *format,
                        BatchSource **ret_source)
{
    FileTable *table = request->table;
    LineSource *source = mem_new(LineSource);
    source->request = *request;
    source->request.arena = arena_new("file source");
    source->format = format;
    source->source = (BatchSource){.next = line_source_next, .close = line_source_close};
    Error *error = file_table_estimate(table, &source->source.estimated_rows);
    if (error == NULL) {
        error = open_workers(source, table->threads);
    }
    if (error != NULL) {
        line_source_close(&source->source);
        return error;
    }
    ChunkTask task = {.records_end = format->records_end,
                      .context = table,
                      .work = format->work,
                      .workers = source->workers,
                      .worker_count = source->worker_count};
    source->pool = chunk_pool_open(&table->files, &task, table->options.interrupted);
    table->pool = source->pool;
    *ret_source = &source->source;
    return NULL;
}
