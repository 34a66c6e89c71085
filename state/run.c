/* Runs: changes in any order, held in memory, then sorted and ingested as one file. The last change
 * of an entry wins.
 *
 * A change is kept as it is stored: the bytes of its key and of its value lie together, copied
 * once, and the sort moves only small descriptions of them. Most comparisons are settled by the
 * first 16 bytes of the key, which the description holds as two numbers. The sort is a merge sort:
 * it is stable, so that among equal keys the last one is the newest. */
#include <assert.h>

#include "processor/base/memory.h"
#include "state/state_internal.h"

#include "processor/base/banned.h"

enum {
    HEAD_SIZE = 16,
    SMALL_SORT = 12,
    RUN_BYTES_MAX = 32 << 20,
    RUN_BYTES_MIN = 64 << 10,
};

typedef struct Change {
    uint64_t head[2]; /* the first bytes of the key as numbers, zeros behind a short one */
    const char *key;  /* the value follows */
    uint32_t key_size;
    uint32_t value_size; /* DELETED: there is none */
} Change;

#define DELETED UINT32_MAX

struct StoreRun {
    TableStore *store;
    Arena *arena; /* keys and values */
    Change *changes;
    Change *scratch; /* of the sort, as many */
    size_t count;
    size_t capacity;
    size_t counted; /* bytes told to the state */
};

StoreRun *store_run_new(TableStore *store)
{
    StoreRun *run = mem_new(StoreRun);
    run->store = store;
    run->arena = arena_new("run");
    state_count_run(store->state, 1);
    return run;
}

void store_run_free(StoreRun *run)
{
    if (run != NULL) {
        state_count_run(run->store->state, -1);
        state_count_run_bytes(run->store->state, run->counted, 0);
        arena_free(run->arena);
        mem_free(run->changes);
        mem_free(run->scratch);
        mem_free(run);
    }
}

static void grow(StoreRun *run)
{
    run->capacity = run->capacity == 0 ? 1024 : run->capacity * 2;
    run->changes = mem_realloc(run->changes, run->capacity * sizeof *run->changes);
    /* The scratch holds nothing between sorts. */
    mem_free(run->scratch);
    run->scratch = mem_alloc_array(run->capacity, sizeof *run->scratch);
}

static uint64_t read_head(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

/* Room for a change in one piece of memory; what is written there is described last. */
static char *reserve(StoreRun *run, size_t key_size, size_t value_size)
{
    if (run->count == run->capacity) {
        grow(run);
    }
    return arena_alloc_bytes(run->arena, key_size + value_size);
}

static void describe(StoreRun *run, const char *key, size_t key_size, uint32_t value_size)
{
    assert(key_size < UINT32_MAX);
    char head[HEAD_SIZE] = {0};
    memcpy(head, key, key_size < HEAD_SIZE ? key_size : HEAD_SIZE);
    run->changes[run->count++] = (Change){.head = {read_head(head), read_head(head + 8)},
                                          .key = key,
                                          .key_size = (uint32_t)key_size,
                                          .value_size = value_size};
}

void store_run_put(StoreRun *run, uint32_t shard, Str key, uint32_t ordinal, Str sequence, Str row)
{
    assert(shard < run->store->shards && ordinal < UINT32_MAX);
    size_t key_size = store_row_key_size(key);
    size_t value_size = store_row_value_size(sequence, row);
    assert(value_size < DELETED);
    char *bytes = reserve(run, key_size, value_size);
    store_write_row_key(bytes, shard, key, ordinal);
    store_write_row_value(bytes + key_size, sequence, row);
    describe(run, bytes, key_size, (uint32_t)value_size);
}

void store_run_delete(StoreRun *run, uint32_t shard, Str key, uint32_t ordinal)
{
    assert(shard < run->store->shards && ordinal < UINT32_MAX);
    size_t key_size = store_row_key_size(key);
    char *bytes = reserve(run, key_size, 0);
    store_write_row_key(bytes, shard, key, ordinal);
    describe(run, bytes, key_size, DELETED);
}

void store_run_position(StoreRun *run, uint32_t shard, int64_t offset, int64_t time_us)
{
    assert(shard < run->store->shards && offset >= 0);
    char *bytes = reserve(run, STORE_POSITION_KEY_SIZE, STORE_POSITION_SIZE);
    store_write_position_key(bytes, shard);
    store_write_position(bytes + STORE_POSITION_KEY_SIZE, offset, time_us);
    describe(run, bytes, STORE_POSITION_KEY_SIZE, STORE_POSITION_SIZE);
}

size_t store_run_bytes(const StoreRun *run)
{
    return arena_used_bytes(run->arena) + run->count * 2 * sizeof(Change);
}

/* Memory held, which outlives a write: the next changes go into it. */
static void tell_bytes(StoreRun *run)
{
    size_t held = arena_held_bytes(run->arena) + run->capacity * 2 * sizeof(Change);
    state_count_run_bytes(run->store->state, run->counted, held);
    run->counted = held;
}

bool store_run_is_full(StoreRun *run)
{
    tell_bytes(run);
    size_t share = state_run_share(run->store->state);
    size_t limit = share < RUN_BYTES_MIN ? RUN_BYTES_MIN : share;
    return store_run_bytes(run) >= (limit > RUN_BYTES_MAX ? RUN_BYTES_MAX : limit);
}

static int compare_tails(const Change *a, const Change *b)
{
    uint32_t size = a->key_size < b->key_size ? a->key_size : b->key_size;
    int order =
        size <= HEAD_SIZE ? 0 : memcmp(a->key + HEAD_SIZE, b->key + HEAD_SIZE, size - HEAD_SIZE);
    return order != 0 ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

/* Whether `b` must come before `a`. */
static inline bool is_behind(const Change *a, const Change *b)
{
    if (a->head[0] != b->head[0]) {
        return a->head[0] > b->head[0];
    }
    if (a->head[1] != b->head[1]) {
        return a->head[1] > b->head[1];
    }
    return compare_tails(a, b) > 0;
}

static void sort_small(Change *changes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        Change moved = changes[i];
        size_t to = i;
        for (; to > 0 && is_behind(&changes[to - 1], &moved); to--) {
            changes[to] = changes[to - 1];
        }
        changes[to] = moved;
    }
}

static void merge(const Change *left, const Change *middle, const Change *end, Change *out)
{
    const Change *right = middle;
    const Change *a = left;
    while (a < middle && right < end) {
        *out++ = is_behind(a, right) ? *right++ : *a++;
    }
    memcpy(out, a, (size_t)(middle - a) * sizeof *out);
    memcpy(out + (middle - a), right, (size_t)(end - right) * sizeof *out);
}

/* Bottom up, from one array to the other and back; gives the one the result is in. */
static const Change *sort(StoreRun *run)
{
    Change *from = run->changes;
    Change *to = run->scratch;
    size_t count = run->count;
    for (size_t i = 0; i < count; i += SMALL_SORT) {
        sort_small(from + i, count - i < SMALL_SORT ? count - i : SMALL_SORT);
    }
    for (size_t width = SMALL_SORT; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t middle = i + width < count ? i + width : count;
            size_t end = middle + width < count ? middle + width : count;
            merge(from + i, from + middle, from + end, to + i);
        }
        Change *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

static bool same_entry(const Change *a, const Change *b)
{
    return a->head[0] == b->head[0] && a->head[1] == b->head[1] && compare_tails(a, b) == 0;
}

static Error *write_sorted(StoreIngest *ingest, const Change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const Change *change = &changes[i];
        if (i + 1 < count && same_entry(change, change + 1)) {
            continue; /* a newer one follows */
        }
        Str key = {change->key, change->key_size};
        if (change->value_size == DELETED) {
            TRY(store_ingest_entry(ingest, key, STR_NULL));
        } else {
            TRY(store_ingest_entry(ingest, key,
                                   (Str){change->key + change->key_size, change->value_size}));
        }
    }
    return NULL;
}

Error *store_run_write(StoreRun *run)
{
    if (run->count == 0) {
        return NULL;
    }
    AUTO(store_ingest) StoreIngest *ingest = NULL;
    TRY(store_ingest_begin(run->store, &ingest));
    TRY(write_sorted(ingest, sort(run), run->count));
    TRY(store_ingest_finish(ingest));
    arena_reset(run->arena);
    run->count = 0;
    return NULL;
}
