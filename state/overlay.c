/* Overlay layers over a table's store. Each layer is a map of key entries in an arena of its own; a
 * layer's rows for a key stand on top of the first `kept` rows of what lies below it.
 *
 * Example: the store has key k with rows (a, b) of sequence 5. An epoch appends c (also 5):
 * kept = 2, rows = (c), published = 2. The next epoch replaces by d (sequence 6): kept = 0, rows =
 * (d), published = 3, so the topic gets d as ordinal 0 and tombstones for ordinals 1 and 2. Merged
 * into the committed layer both become: kept = 0, rows = (d), lower = 2 rows in the store, of which
 * the checkpoint deletes ordinal 1. */
#include "state/overlay.h"

#include <assert.h>
#include <stdlib.h>

#include "processor/base/hash.h"
#include "processor/base/map.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* A key in the committed or checkpointing layer. */
typedef struct LayerEntry {
    Str key;
    uint32_t shard;
    uint32_t lower; /* rows of the key in the layers below this one, at most */
    uint32_t kept;
    uint32_t count;
    Str sequence;
    Str *rows;
    uint32_t row_count;
    uint32_t row_capacity;
} LayerEntry;

typedef struct Layer {
    Arena *arena;
    Map entries;        /* key -> LayerEntry */
    int64_t *positions; /* a shard; -1: not moved by this layer */
    bool moved;         /* some position is set */
} Layer;

struct Overlay {
    TableStore *store;
    uint32_t shards;
    uint32_t (*shard_of)(void *context, Str key);
    void *shard_context;

    Arena *epoch_arena;
    Map epoch; /* key -> KeyEntry */
    KeyEntry **changes;
    size_t change_count;
    size_t change_capacity;
    size_t epoch_rows;

    Layer committed;
    Layer checkpointing;
    bool checkpoint_running;
};

static void layer_init(Layer *layer, uint32_t shards, const char *name)
{
    *layer = (Layer){.arena = arena_new(name)};
    layer->positions = mem_alloc_array(shards, sizeof *layer->positions);
    for (uint32_t i = 0; i < shards; i++) {
        layer->positions[i] = -1;
    }
}

static void layer_done(Layer *layer)
{
    map_done(&layer->entries);
    arena_free(layer->arena);
    mem_free(layer->positions);
}

static void layer_clear(Layer *layer, uint32_t shards)
{
    map_clear(&layer->entries);
    arena_reset(layer->arena);
    for (uint32_t i = 0; i < shards; i++) {
        layer->positions[i] = -1;
    }
    layer->moved = false;
}

Overlay *overlay_new(TableStore *store, uint32_t (*shard_of)(void *context, Str key), void *context)
{
    Overlay *overlay = mem_new(Overlay);
    overlay->store = store;
    overlay->shards = table_store_shards(store);
    overlay->shard_of = shard_of;
    overlay->shard_context = context;
    overlay->epoch_arena = arena_new("epoch");
    layer_init(&overlay->committed, overlay->shards, "committed");
    layer_init(&overlay->checkpointing, overlay->shards, "checkpointing");
    return overlay;
}

void overlay_free(Overlay *overlay)
{
    if (overlay == NULL) {
        return;
    }
    assert(!overlay->checkpoint_running);
    map_done(&overlay->epoch);
    mem_free(overlay->changes);
    arena_free(overlay->epoch_arena);
    layer_done(&overlay->committed);
    layer_done(&overlay->checkpointing);
    mem_free(overlay);
}

/* Count and sequence as a layer tells them; false when it does not know the key. The sequence is
 * copied: a layer may be dropped by the end of a checkpoint while the epoch goes on. */
static bool find_in_layer(const Layer *layer, Arena *epoch_arena, KeyEntry *entry)
{
    const LayerEntry *known = map_get(&layer->entries, entry->key);
    if (known == NULL) {
        return false;
    }
    entry->count = known->count;
    entry->sequence = arena_copy_str(epoch_arena, known->sequence);
    return true;
}

/* Keys no layer knows, to be asked of the store in one go. */
typedef struct Misses {
    KeyEntry **entries;
    Str *keys;
    uint32_t *shards;
    size_t count;
} Misses;

static KeyEntry *add_entry(Overlay *overlay, MapEntry *slot, Misses *misses)
{
    KeyEntry *entry = arena_new_object(overlay->epoch_arena, KeyEntry);
    entry->key = arena_copy_str(overlay->epoch_arena, slot->key);
    entry->shard = overlay->shard_of(overlay->shard_context, entry->key);
    assert(entry->shard < overlay->shards);
    slot->key = entry->key;
    slot->value = entry;
    if (!find_in_layer(&overlay->committed, overlay->epoch_arena, entry) &&
        !find_in_layer(&overlay->checkpointing, overlay->epoch_arena, entry)) {
        misses->entries[misses->count] = entry;
        misses->keys[misses->count] = entry->key;
        misses->shards[misses->count++] = entry->shard;
    }
    return entry;
}

/* Entries whose rows could not be looked up must not be taken for keys without rows. */
static void forget_entries(Overlay *overlay, KeyEntry *const *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        map_remove(&overlay->epoch, entries[i]->key);
    }
}

Error *overlay_find(Overlay *overlay, const Str *keys, size_t count, Arena *batch_arena,
                    KeyEntry **ret_entries)
{
    Misses misses = {arena_new_array(batch_arena, KeyEntry *, count),
                     arena_new_array(batch_arena, Str, count),
                     arena_new_array(batch_arena, uint32_t, count), 0};
    KeyEntry **added = arena_new_array(batch_arena, KeyEntry *, count);
    size_t added_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_new = false;
        MapEntry *slot = map_find_or_add(&overlay->epoch, keys[i], hash_bytes(keys[i]), &is_new);
        ret_entries[i] = is_new ? add_entry(overlay, slot, &misses) : slot->value;
        if (is_new) {
            added[added_count++] = ret_entries[i];
        }
    }
    KeyState *states = arena_new_array(batch_arena, KeyState, misses.count);
    Error *error = table_store_lookup(overlay->store, misses.shards, misses.keys, misses.count,
                                      overlay->epoch_arena, states);
    if (error != NULL) {
        forget_entries(overlay, added, added_count);
        return error;
    }
    for (size_t i = 0; i < misses.count; i++) {
        misses.entries[i]->count = states[i].count;
        misses.entries[i]->sequence = states[i].sequence;
    }
    for (size_t i = 0; i < added_count; i++) {
        added[i]->published = added[i]->count;
        added[i]->kept = added[i]->count;
    }
    return NULL;
}

static void note_change(Overlay *overlay, KeyEntry *entry)
{
    if (!entry->changed) {
        entry->changed = true;
        mem_reserve(overlay->changes, &overlay->change_capacity, overlay->change_count + 1);
        overlay->changes[overlay->change_count++] = entry;
    }
}

/* Room for one more row pointer, doubling in the arena. */
static void reserve_row(Arena *arena, Str **rows, uint32_t count, uint32_t *capacity)
{
    if (count < *capacity) {
        return;
    }
    uint32_t wanted = *capacity == 0 ? 1 : *capacity * 2;
    Str *larger = arena_alloc(arena, sizeof(Str) * wanted);
    if (count > 0) {
        memcpy(larger, *rows, sizeof(Str) * count);
    }
    *rows = larger;
    *capacity = wanted;
}

static void push_row(Overlay *overlay, KeyEntry *entry, Str row)
{
    reserve_row(overlay->epoch_arena, &entry->rows, entry->row_count, &entry->row_capacity);
    entry->rows[entry->row_count++] = arena_copy_str(overlay->epoch_arena, row);
    entry->count = entry->kept + entry->row_count;
    overlay->epoch_rows++;
}

void overlay_replace(Overlay *overlay, KeyEntry *entry, Str sequence, Str row)
{
    note_change(overlay, entry);
    entry->kept = 0;
    entry->row_count = 0;
    entry->sequence = arena_copy_str(overlay->epoch_arena, sequence);
    push_row(overlay, entry, row);
}

void overlay_append(Overlay *overlay, KeyEntry *entry, Str row)
{
    assert(entry->count > 0);
    note_change(overlay, entry);
    push_row(overlay, entry, row);
}

KeyEntry *const *overlay_changes(const Overlay *overlay, size_t *ret_count)
{
    *ret_count = overlay->change_count;
    return overlay->changes;
}

size_t overlay_epoch_rows(const Overlay *overlay)
{
    return overlay->epoch_rows;
}

size_t overlay_epoch_bytes(const Overlay *overlay)
{
    return arena_used_bytes(overlay->epoch_arena);
}

void overlay_abort_epoch(Overlay *overlay)
{
    map_clear(&overlay->epoch);
    overlay->change_count = 0;
    overlay->epoch_rows = 0;
    arena_reset(overlay->epoch_arena);
}

static void add_layer_row(Arena *arena, LayerEntry *entry, Str row)
{
    reserve_row(arena, &entry->rows, entry->row_count, &entry->row_capacity);
    entry->rows[entry->row_count++] = arena_copy_str(arena, row);
}

/* Puts (kept, rows) on top of what the layer says of the key. `below`: rows of the key under the
 * change, needed when the layer does not know it yet. */
static void merge_entry(Layer *layer, Str key, uint32_t shard, uint32_t below, uint32_t kept,
                        Str sequence, const Str *rows, uint32_t row_count)
{
    bool added = false;
    MapEntry *slot = map_find_or_add(&layer->entries, key, hash_bytes(key), &added);
    if (added) {
        LayerEntry *fresh = arena_new_object(layer->arena, LayerEntry);
        fresh->key = arena_copy_str(layer->arena, key);
        fresh->shard = shard;
        fresh->lower = below;
        fresh->kept = below;
        fresh->count = below;
        slot->key = fresh->key;
        slot->value = fresh;
    }
    LayerEntry *entry = slot->value;
    assert(kept == 0 || kept == entry->count);
    if (kept == 0) {
        entry->kept = 0;
        entry->row_count = 0;
    }
    for (uint32_t i = 0; i < row_count; i++) {
        add_layer_row(layer->arena, entry, rows[i]);
    }
    entry->count = entry->kept + entry->row_count;
    entry->sequence = arena_copy_str(layer->arena, sequence);
}

static void merge_positions(Layer *layer, const int64_t *ends, uint32_t shards)
{
    for (uint32_t i = 0; i < shards; i++) {
        if (ends[i] >= 0) {
            assert(ends[i] >= layer->positions[i]);
            layer->positions[i] = ends[i];
            layer->moved = true;
        }
    }
}

void overlay_commit_epoch(Overlay *overlay, const int64_t *ends)
{
    for (size_t i = 0; i < overlay->change_count; i++) {
        const KeyEntry *entry = overlay->changes[i];
        merge_entry(&overlay->committed, entry->key, entry->shard, entry->published, entry->kept,
                    entry->sequence, entry->rows, entry->row_count);
    }
    merge_positions(&overlay->committed, ends, overlay->shards);
    overlay_abort_epoch(overlay);
}

size_t overlay_committed_bytes(const Overlay *overlay)
{
    return arena_used_bytes(overlay->committed.arena);
}

bool overlay_checkpoint_begin(Overlay *overlay)
{
    if (overlay->checkpoint_running || !overlay->committed.moved) {
        return false;
    }
    Layer frozen = overlay->committed;
    overlay->committed = overlay->checkpointing;
    overlay->checkpointing = frozen;
    overlay->checkpoint_running = true;
    return true;
}

/* In the order of the store: the last row of a key comes first. */
static void write_entry(StoreBatch *batch, const LayerEntry *entry)
{
    for (uint32_t i = entry->lower; i > entry->count; i--) {
        store_batch_delete(batch, entry->shard, entry->key, i - 1);
    }
    for (uint32_t i = entry->row_count; i > 0; i--) {
        store_batch_put(batch, entry->shard, entry->key, entry->kept + i - 1, entry->sequence,
                        entry->rows[i - 1]);
    }
}

static int compare_entries(const void *a, const void *b)
{
    const LayerEntry *x = *(const LayerEntry *const *)a;
    const LayerEntry *y = *(const LayerEntry *const *)b;
    if (x->shard != y->shard) {
        return x->shard < y->shard ? -1 : 1;
    }
    return str_compare(x->key, y->key);
}

/* Sorted: RocksDB takes ascending keys several times faster than random ones. */
static void write_entries(StoreBatch *batch, const Layer *layer)
{
    LayerEntry **entries = mem_alloc_array(layer->entries.count, sizeof *entries);
    size_t count = 0;
    for (MapEntry *slot = map_first(&layer->entries); slot != NULL;
         slot = map_next(&layer->entries, slot)) {
        entries[count++] = slot->value;
    }
    if (count > 0) {
        qsort(entries, count, sizeof *entries, compare_entries);
    }
    for (size_t i = 0; i < count; i++) {
        write_entry(batch, entries[i]);
    }
    mem_free(entries);
}

Error *overlay_checkpoint_write(Overlay *overlay, int64_t time_us)
{
    assert(overlay->checkpoint_running);
    const Layer *layer = &overlay->checkpointing;
    AUTO(store_batch) StoreBatch *batch = store_batch_new(overlay->store);
    write_entries(batch, layer);
    for (uint32_t i = 0; i < overlay->shards; i++) {
        if (layer->positions[i] >= 0) {
            store_batch_set_position(batch, i, layer->positions[i], time_us);
        }
    }
    TRY(store_batch_write(batch));
    return table_store_flush(overlay->store);
}

/* A write that failed may have reached the store all the same (its flush failed): the layer's rows
 * then lie in the store already. So what the next checkpoint deletes must reach beyond whichever
 * number of rows is larger. */
static void expect_own_rows_below(const Layer *layer)
{
    for (MapEntry *slot = map_first(&layer->entries); slot != NULL;
         slot = map_next(&layer->entries, slot)) {
        LayerEntry *entry = slot->value;
        entry->lower = entry->count > entry->lower ? entry->count : entry->lower;
    }
}

/* The frozen layer could not be written: what was committed since goes on top of it again. */
static void take_back(Overlay *overlay)
{
    Layer *old = &overlay->checkpointing;
    const Layer *newer = &overlay->committed;
    expect_own_rows_below(old);
    for (MapEntry *slot = map_first(&newer->entries); slot != NULL;
         slot = map_next(&newer->entries, slot)) {
        const LayerEntry *entry = slot->value;
        merge_entry(old, entry->key, entry->shard, entry->lower, entry->kept, entry->sequence,
                    entry->rows, entry->row_count);
    }
    merge_positions(old, newer->positions, overlay->shards);
    Layer merged = *old;
    overlay->checkpointing = overlay->committed;
    overlay->committed = merged;
}

void overlay_checkpoint_end(Overlay *overlay, bool written)
{
    assert(overlay->checkpoint_running);
    if (!written) {
        take_back(overlay);
    }
    layer_clear(&overlay->checkpointing, overlay->shards);
    overlay->checkpoint_running = false;
}

Error *overlay_checkpoint(Overlay *overlay, int64_t time_us)
{
    if (!overlay_checkpoint_begin(overlay)) {
        return NULL;
    }
    Error *error = overlay_checkpoint_write(overlay, time_us);
    overlay_checkpoint_end(overlay, error == NULL);
    return error;
}
