/* Runs: changes in any order, held in memory, then sorted and ingested as one file. The last change
 * of an entry wins.
 *
 * A change is kept as it is stored: the bytes of its key and of its value lie together, copied
 * once, and the sort moves only small descriptions of them. It is stable, so that among equal keys
 * the last one is the newest. */
#include <assert.h>

#include "processor/base/memory.h"
#include "state/sort.h"
#include "state/state_internal.h"

#include "processor/base/banned.h"

enum {
    RUN_BYTES_MAX = 32 << 20,
    RUN_BYTES_MIN = 64 << 10,
};

typedef struct Change {
    uint32_t key_size;
    uint32_t value_size; /* DELETED: there is none */
    char bytes[];        /* key, value */
} Change;

#define DELETED UINT32_MAX

struct StoreRun {
    TableStore *store;
    Arena *arena; /* changes */
    SortItem *items;
    SortItem *scratch; /* of the sort, as many */
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
        mem_free(run->items);
        mem_free(run->scratch);
        mem_free(run);
    }
}

static void grow(StoreRun *run)
{
    run->capacity = run->capacity == 0 ? 1024 : run->capacity * 2;
    run->items = mem_realloc(run->items, run->capacity * sizeof *run->items);
    /* The scratch holds nothing between sorts. */
    mem_free(run->scratch);
    run->scratch = mem_alloc_array(run->capacity, sizeof *run->scratch);
}

/* Its bytes are written next, then it is added. */
static Change *new_change(StoreRun *run, size_t key_size, size_t value_size)
{
    assert(key_size < UINT32_MAX && value_size < DELETED);
    if (run->count == run->capacity) {
        grow(run);
    }
    Change *change = arena_alloc(run->arena, sizeof *change + key_size + value_size);
    change->key_size = (uint32_t)key_size;
    change->value_size = (uint32_t)value_size;
    return change;
}

static void add(StoreRun *run, const Change *change)
{
    run->items[run->count++] = sort_item_of(change, change->bytes, change->key_size);
}

void store_run_put(StoreRun *run, uint32_t shard, Str key, uint32_t ordinal, Str sequence, Str row)
{
    assert(shard < run->store->shards && ordinal < UINT32_MAX);
    size_t key_size = store_row_key_size(key);
    Change *change = new_change(run, key_size, store_row_value_size(sequence, row));
    store_write_row_key(change->bytes, shard, key, ordinal);
    store_write_row_value(change->bytes + key_size, sequence, row);
    add(run, change);
}

void store_run_delete(StoreRun *run, uint32_t shard, Str key, uint32_t ordinal)
{
    assert(shard < run->store->shards && ordinal < UINT32_MAX);
    Change *change = new_change(run, store_row_key_size(key), 0);
    store_write_row_key(change->bytes, shard, key, ordinal);
    change->value_size = DELETED;
    add(run, change);
}

void store_run_position(StoreRun *run, uint32_t shard, int64_t offset, int64_t time_us)
{
    assert(shard < run->store->shards && offset >= 0);
    Change *change = new_change(run, STORE_POSITION_KEY_SIZE, STORE_POSITION_SIZE);
    store_write_position_key(change->bytes, shard);
    store_write_position(change->bytes + STORE_POSITION_KEY_SIZE, offset, time_us);
    add(run, change);
}

size_t store_run_bytes(const StoreRun *run)
{
    return arena_used_bytes(run->arena) + run->count * 2 * sizeof(SortItem);
}

/* Memory held, which outlives a write: the next changes go into it. */
static void tell_bytes(StoreRun *run)
{
    size_t held = arena_held_bytes(run->arena) + run->capacity * 2 * sizeof(SortItem);
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

/* Keys whose heads are equal. */
static int compare_changes(const void *one, const void *other)
{
    const Change *a = one;
    const Change *b = other;
    return str_compare((Str){a->bytes, a->key_size}, (Str){b->bytes, b->key_size});
}

static bool same_entry(const SortItem *a, const SortItem *b)
{
    return sort_same_head(a, b) && compare_changes(a->entry, b->entry) == 0;
}

static Error *write_sorted(StoreIngest *ingest, const SortItem *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && same_entry(&items[i], &items[i + 1])) {
            continue; /* a newer one follows */
        }
        const Change *change = items[i].entry;
        Str key = {change->bytes, change->key_size};
        if (change->value_size == DELETED) {
            TRY(store_ingest_entry(ingest, key, STR_NULL));
        } else {
            TRY(store_ingest_entry(ingest, key,
                                   (Str){change->bytes + change->key_size, change->value_size}));
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
    TRY(write_sorted(ingest, sort_items(run->items, run->scratch, run->count, compare_changes),
                     run->count));
    TRY(store_ingest_finish(ingest));
    arena_reset(run->arena);
    run->count = 0;
    return NULL;
}
