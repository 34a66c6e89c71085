/* Writing committed epochs to the store: the changes of all epochs sorted in the order of the
 * store, those of one key folded into what is left of them, in one atomic step with the positions.
 */
#include <assert.h>
#include <stddef.h>

#include "processor/base/memory.h"
#include "state/epoch.h"
#include "state/sort.h"

#include "processor/base/banned.h"

enum {
    SHARD_SIZE = 2,
    AHEAD = 12, /* changes whose memory is asked for before they are written */
    LINE = 64,
    LINES = 6, /* a change with its key and a row behind it */
};

static SortItem item_of(const KeyChange *change)
{
    char front[SORT_HEAD_SIZE] = {(char)(change->shard >> 8), (char)change->shard};
    size_t room = SORT_HEAD_SIZE - SHARD_SIZE;
    size_t size = change->key.size < room ? change->key.size : room;
    memcpy(front + SHARD_SIZE, change->key.data, size);
    return sort_item_of(change, front, SHARD_SIZE + size);
}

/* Equal heads: the same shard. */
static int compare_keys(const void *a, const void *b)
{
    const KeyChange *x = a;
    const KeyChange *y = b;
    return str_compare(x->key, y->key);
}

/* Changes of one key stay in the order of their epochs. */
static SortItem *list_changes(const EpochList *epochs, SortItem *items)
{
    size_t count = 0;
    for (const Epoch *epoch = epochs->first; epoch != NULL; epoch = epoch->next) {
        for (const KeyChange *change = epoch->first; change != NULL; change = change->next) {
            items[count++] = item_of(change);
        }
    }
    assert(count == epochs->change_count);
    return items;
}

/* In the order of the store changes lie all over the memory. */
static void fetch_ahead(const SortItem *items, size_t left)
{
    if (left > AHEAD) {
        const char *memory = items[AHEAD].entry;
        for (int i = 0; i < LINES; i++) {
            __builtin_prefetch(memory + (ptrdiff_t)i * LINE);
        }
    }
}

/* The changes of one key: those before the last replacement are of no account. */
typedef struct KeyGroup {
    const SortItem *items; /* of KeyChanges */
    size_t count;
    size_t first;   /* whose rows count */
    uint32_t kept;  /* rows of the store that stay */
    uint32_t lower; /* rows of the store, at most */
    uint32_t rows;  /* rows now */
} KeyGroup;

static const KeyChange *change_at(const SortItem *items, size_t at)
{
    return items[at].entry;
}

static KeyGroup group_of(const SortItem *items, size_t left, bool maybe_written)
{
    KeyGroup group = {.items = items, .count = 1};
    const KeyChange *first = change_at(items, 0);
    while (group.count < left && sort_same_head(&items[group.count], &items[0]) &&
           str_equal(change_at(items, group.count)->key, first->key)) {
        group.count++;
    }
    group.lower = first->published;
    for (size_t i = 0; i < group.count; i++) {
        const KeyChange *change = change_at(items, i);
        group.first = change->kept == 0 ? i : group.first;
        if (maybe_written && change->count > group.lower) {
            group.lower = change->count;
        }
    }
    group.kept = change_at(items, group.first)->kept;
    group.rows = change_at(items, group.count - 1)->count;
    return group;
}

/* In the order of the store: the last row of a key comes first. */
static Error *write_group(StoreIngest *ingest, const KeyGroup *group)
{
    const KeyChange *last = change_at(group->items, group->count - 1);
    for (uint32_t i = group->lower; i > group->rows; i--) {
        TRY(store_ingest_delete(ingest, last->shard, last->key, i - 1));
    }
    uint32_t ordinal = group->rows;
    for (size_t i = group->count; i > group->first; i--) {
        const KeyChange *change = change_at(group->items, i - 1);
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
        while (at < epochs->change_count && change_at(items, at)->shard == shard) {
            fetch_ahead(&items[at], epochs->change_count - at);
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
    size_t count = epochs->change_count;
    SortItem *items = mem_alloc_array(2 * count + 1, sizeof *items);
    const SortItem *sorted =
        sort_items(list_changes(epochs, items), items + count, count, compare_keys);
    Error *error = write_all(ingest, table_store_shards(store), epochs, sorted, positions, time_us);
    mem_free(items);
    return error;
}
