/* The threads and the queue between them. One lock guards all of it; it is held for a moment per
 * chunk of some thousand lines. Reading happens outside of it, but by one thread at a time, so that
 * chunks are numbered in file order. */
#include "connectors/file/chunk_pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { THREADS_MAX = 64, AHEAD_MAX = 4 * THREADS_MAX, WAIT_MS = 50 };

struct ChunkPool {
    ChunkTask task;
    ChunkReader *reader;
    const bool *interrupted;
    atomic_bool closing;
    atomic_uint_fast64_t position;
    pthread_t threads[THREADS_MAX];
    size_t thread_count;
    size_t ahead_max;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool reading;                /* a thread is at the reader */
    bool ended;                  /* no chunks behind `read` */
    uint64_t read;               /* chunks that were read, or are being read */
    uint64_t taken;              /* chunks that were taken */
    ChunkWork *ready[AHEAD_MAX]; /* by number, modulo ahead_max; NULL: not ready */
    ChunkWork *free_chunks;
    size_t out_count; /* chunks taken and not given back */
    size_t next_worker;
};

/* ------------------------------------------------------------ the chunks --- */

static void free_chunk(ChunkWork *chunk)
{
    error_free(chunk->error);
    buffer_done(&chunk->chunk.bytes);
    arena_free(chunk->arena);
    mem_free(chunk);
}

static ChunkWork *new_chunk(void)
{
    ChunkWork *chunk = mem_new(ChunkWork);
    chunk->arena = arena_new("chunk");
    return chunk;
}

static void clear_chunk(ChunkWork *chunk)
{
    error_free(chunk->error);
    chunk->error = NULL;
    chunk->batches = NULL;
    chunk->batch_count = 0;
    chunk->lines = 0;
    arena_reset(chunk->arena);
}

static void free_pool(ChunkPool *pool)
{
    while (pool->free_chunks != NULL) {
        ChunkWork *chunk = pool->free_chunks;
        pool->free_chunks = chunk->next;
        free_chunk(chunk);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    (void)pthread_cond_destroy(&pool->changed);
    mem_free(pool);
}

/* --------------------------------------------------------------- working --- */

static bool can_work(const ChunkPool *pool)
{
    return !pool->reading && !pool->ended && pool->read - pool->taken < pool->ahead_max;
}

/* Reads the next chunk. The lock is held, and let go while reading. NULL: there is none. */
static ChunkWork *read_next(ChunkPool *pool, uint64_t *ret_number)
{
    ChunkWork *chunk = pool->free_chunks;
    if (chunk != NULL) {
        pool->free_chunks = chunk->next;
    }
    *ret_number = pool->read++;
    pool->reading = true;
    (void)pthread_mutex_unlock(&pool->lock);
    chunk = chunk == NULL ? new_chunk() : chunk;
    bool more = false;
    chunk->error = chunk_reader_next(pool->reader, &chunk->chunk, &more);
    atomic_store(&pool->position, chunk_reader_position(pool->reader));
    (void)pthread_mutex_lock(&pool->lock);
    pool->reading = false;
    if (chunk->error != NULL) {
        pool->ended = true; /* behind this one */
    } else if (!more) {
        pool->ended = true;
        pool->read--;
        chunk->next = pool->free_chunks;
        pool->free_chunks = chunk;
        chunk = NULL;
    }
    (void)pthread_cond_broadcast(&pool->changed);
    return chunk;
}

/* One chunk from reading to results; can_work() and the lock is held, which is let go meanwhile. */
static void work_once(ChunkPool *pool, void *worker)
{
    uint64_t number = 0;
    ChunkWork *chunk = read_next(pool, &number);
    if (chunk == NULL) {
        return;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (chunk->error == NULL) {
        pool->task.work(worker, chunk);
    }
    (void)pthread_mutex_lock(&pool->lock);
    assert(pool->ready[number % pool->ahead_max] == NULL);
    pool->ready[number % pool->ahead_max] = chunk;
    (void)pthread_cond_broadcast(&pool->changed);
}

static void *thread_main(void *argument)
{
    ChunkPool *pool = argument;
    (void)pthread_mutex_lock(&pool->lock);
    void *worker = pool->task.workers[pool->next_worker++];
    while (!atomic_load(&pool->closing) && !pool->ended) {
        if (can_work(pool)) {
            work_once(pool, worker);
        } else {
            (void)pthread_cond_wait(&pool->changed, &pool->lock);
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

ChunkPool *chunk_pool_open(FileList *files, const ChunkTask *task, const bool *interrupted)
{
    ChunkPool *pool = mem_new(ChunkPool);
    pool->task = *task;
    pool->interrupted = interrupted;
    pool->reader = chunk_reader_new(files, task->records_end, task->context,
                                    (ReadStop){&pool->closing, interrupted});
    size_t threads = task->worker_count < THREADS_MAX ? task->worker_count : THREADS_MAX;
    pool->ahead_max = threads * 3 + 1;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->changed, NULL);
    pool->next_worker = 1; /* 0 is the taker's */
    while (pool->thread_count + 1 < threads &&
           pthread_create(&pool->threads[pool->thread_count], NULL, thread_main, pool) == 0) {
        pool->thread_count++;
    }
    return pool;
}

void chunk_pool_close(ChunkPool *pool)
{
    if (pool == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->closing, true);
    (void)pthread_cond_broadcast(&pool->changed);
    (void)pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->thread_count; i++) {
        (void)pthread_join(pool->threads[i], NULL);
    }
    for (size_t i = 0; i < pool->ahead_max; i++) {
        if (pool->ready[i] != NULL) {
            free_chunk(pool->ready[i]);
        }
    }
    chunk_reader_free(pool->reader);
    pool->reader = NULL;
    if (pool->out_count == 0) {
        free_pool(pool);
    }
}

/* ---------------------------------------------------------------- taking --- */

/* Looks after the interruption now and then. */
static void wait_a_moment(ChunkPool *pool)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    (void)pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
}

static bool is_interrupted(const ChunkPool *pool)
{
    return pool->interrupted != NULL && *(const volatile bool *)pool->interrupted;
}

/* The chunk that is next, NULL at the end or when interrupted. The lock is held. */
static ChunkWork *wait_for_next(ChunkPool *pool)
{
    while (!is_interrupted(pool)) {
        ChunkWork **slot = &pool->ready[pool->taken % pool->ahead_max];
        if (*slot != NULL) {
            ChunkWork *chunk = *slot;
            *slot = NULL;
            pool->taken++;
            pool->out_count++;
            (void)pthread_cond_broadcast(&pool->changed);
            return chunk;
        }
        if (pool->ended && pool->taken == pool->read) {
            return NULL;
        }
        if (can_work(pool)) {
            work_once(pool, pool->task.workers[0]);
        } else {
            wait_a_moment(pool);
        }
    }
    return NULL;
}

Error *chunk_pool_take(ChunkPool *pool, ChunkWork **ret_chunk)
{
    (void)pthread_mutex_lock(&pool->lock);
    ChunkWork *chunk = wait_for_next(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    if (chunk == NULL && is_interrupted(pool)) {
        return error_new(ERROR_INTERRUPTED, "The query was interrupted.");
    }
    *ret_chunk = chunk;
    return NULL;
}

void chunk_pool_give_back(ChunkPool *pool, ChunkWork *chunk)
{
    clear_chunk(chunk);
    (void)pthread_mutex_lock(&pool->lock);
    chunk->next = pool->free_chunks;
    pool->free_chunks = chunk;
    assert(pool->out_count > 0);
    bool last = --pool->out_count == 0 && atomic_load(&pool->closing);
    (void)pthread_mutex_unlock(&pool->lock);
    if (last) {
        free_pool(pool);
    }
}

uint64_t chunk_pool_position(const ChunkPool *pool)
{
    return atomic_load(&pool->position);
}
