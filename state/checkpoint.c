/* Writing committed epochs to the store: the changes of all epochs sorted in the order of the
 * store, those of one key folded into what is left of them, in one atomic step with the positions.
 */
#include <assert.h>
#include <stdlib.h>

#include "processor/base/memory.h"
#include "state/epoch.h"

#include "processor/base/banned.h"

/* A change with the front of its place in the store, shard and key: most comparisons end there,
 * without touching the change. */
typedef struct SortItem {
    uint64_t high;
    uint64_t low;
    const KeyChange *change;
} SortItem;

enum { FRONT_SIZE = 16, SHARD_SIZE = 2 };

static uint64_t read_u64_be(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

static SortItem sort_item(const KeyChange *change)
{
    unsigned char front[FRONT_SIZE] = {(unsigned char)(change->shard >> 8),
                                       (unsigned char)change->shard};
    size_t size =
        change->key.size < FRONT_SIZE - SHARD_SIZE ? change->key.size : FRONT_SIZE - SHARD_SIZE;
    memcpy(front + SHARD_SIZE, change->key.data, size);
    return (SortItem){read_u64_be(front), read_u64_be(front + 8), change};
}

/* Changes of one key in the order of their epochs. */
static int compare_items(const void *a, const void *b)
{
    const SortItem *x = a;
    const SortItem *y = b;
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    int order = str_compare(x->change->key, y->change->key);
    if (order != 0) {
        return order;
    }
    return x->change->epoch < y->change->epoch ? -1 : x->change->epoch > y->change->epoch;
}

static SortItem *sorted_changes(const EpochList *epochs)
{
    SortItem *items = mem_alloc_array(epochs->change_count + 1, sizeof *items);
    size_t count = 0;
    for (const Epoch *epoch = epochs->first; epoch != NULL; epoch = epoch->next) {
        for (const KeyChange *change = epoch->first; change != NULL; change = change->next) {
            items[count++] = sort_item(change);
        }
    }
    assert(count == epochs->change_count);
    if (count > 1) {
        qsort(items, count, sizeof *items, compare_items);
    }
    return items;
}

/* The changes of one key: those before the last replacement are of no account. */
typedef struct KeyGroup {
    const SortItem *items;
    size_t count;
    size_t first;   /* whose rows count */
    uint32_t kept;  /* rows of the store that stay */
    uint32_t lower; /* rows of the store, at most */
    uint32_t rows;  /* rows now */
} KeyGroup;

static KeyGroup group_of(const SortItem *items, size_t left, bool maybe_written)
{
    KeyGroup group = {.items = items, .count = 1};
    Str key = items[0].change->key;
    while (group.count < left && items[group.count].high == items[0].high &&
           items[group.count].low == items[0].low &&
           str_equal(items[group.count].change->key, key)) {
        group.count++;
    }
    group.lower = items[0].change->published;
    for (size_t i = 0; i < group.count; i++) {
        const KeyChange *change = items[i].change;
        group.first = change->kept == 0 ? i : group.first;
        if (maybe_written && change->count > group.lower) {
            group.lower = change->count;
        }
    }
    group.kept = items[group.first].change->kept;
    group.rows = items[group.count - 1].change->count;
    return group;
}

/* In the order of the store: the last row of a key comes first. */
static Error *write_group(StoreIngest *ingest, const KeyGroup *group)
{
    const KeyChange *last = group->items[group->count - 1].change;
    for (uint32_t i = group->lower; i > group->rows; i--) {
        TRY(store_ingest_delete(ingest, last->shard, last->key, i - 1));
    }
    uint32_t ordinal = group->rows;
    for (size_t i = group->count; i > group->first; i--) {
        const KeyChange *change = group->items[i - 1].change;
        for (uint32_t row = change->row_count; row > 0; row--) {
            TRY(store_ingest_put(ingest, last->shard, last->key, --ordinal, last->sequence,
                                 change->rows[row - 1]));
        }
    }
    assert(ordinal == group->kept);
    return NULL;
}

/* An earlier checkpoint may have written some of it in spite of its error: then more rows may have
 * to go than the changes know. */
static bool is_maybe_written(const EpochList *epochs)
{
    return epochs->first != NULL && epochs->first->maybe_written;
}

/* Shard by shard, the position first. */
static Error *write_all(StoreIngest *ingest, uint32_t shards, const EpochList *epochs,
                        const SortItem *items, const int64_t *positions, int64_t time_us)
{
    size_t at = 0;
    for (uint32_t shard = 0; shard < shards; shard++) {
        if (positions[shard] >= 0) {
            TRY(store_ingest_position(ingest, shard, positions[shard], time_us));
        }
        while (at < epochs->change_count && items[at].change->shard == shard) {
            KeyGroup group =
                group_of(&items[at], epochs->change_count - at, is_maybe_written(epochs));
            TRY(write_group(ingest, &group));
            at += group.count;
        }
    }
    assert(at == epochs->change_count);
    return store_ingest_finish(ingest);
}

Error *checkpoint_write(TableStore *store, const EpochList *epochs, const int64_t *positions,
                        int64_t time_us)
{
    AUTO(store_ingest) StoreIngest *ingest = NULL;
    TRY(store_ingest_begin(store, &ingest));
    SortItem *items = sorted_changes(epochs);
    Error *error = write_all(ingest, table_store_shards(store), epochs, items, positions, time_us);
    mem_free(items);
    return error;
}
