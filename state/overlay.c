/* Overlay: epochs over a table's store, and the key table that answers for them.
 *
 * Example: the store has key k with rows (a, b) of sequence 5. An epoch appends c (also 5):
 * kept = 2, rows = (c), published = 2. The next epoch replaces by d (sequence 6): kept = 0, rows =
 * (d), published = 3, so the topic gets d as ordinal 0 and tombstones for ordinals 1 and 2. A
 * checkpoint of both writes d as ordinal 0 and deletes ordinal 1. */
#include "state/overlay.h"

#include <assert.h>

#include "processor/base/memory.h"
#include "state/epoch.h"

#include "processor/base/banned.h"

enum { EPOCHS_MAX = 1 << 30, EPOCH_MEMORY_STEP = 8 };

struct Overlay {
    TableStore *store;
    uint32_t shards;
    NameKey name_key;
    void *name_context;
    Buffer name; /* scratch */

    KeyTable *keys;
    size_t key_memory;
    size_t batch_max;
    StoreScan *warming; /* NULL: not begun, or done */
    bool warming_first; /* the next row is the first of its key */
    bool warm;
    uint32_t written_epoch; /* epochs up to it are in the store */
    uint32_t next_epoch;    /* number */
    uint32_t epochs_max;
    EpochPool pool;
    Epoch *running;
    Epoch *closed;
    EpochList committed;
    EpochList checkpointing;
    bool checkpoint_running;

    int64_t *positions; /* a shard: as of the last commit; -1: unknown */
    int64_t *checkpoint_positions;
    bool moved; /* a position, since the last checkpoint began */
};

static int64_t *new_positions(uint32_t shards)
{
    int64_t *positions = mem_alloc_array(shards, sizeof *positions);
    for (uint32_t i = 0; i < shards; i++) {
        positions[i] = -1;
    }
    return positions;
}

static Epoch *next_epoch(Overlay *overlay)
{
    return epoch_new(&overlay->pool, overlay->next_epoch++);
}

Overlay *overlay_new(TableStore *store, const OverlayOptions *options)
{
    Overlay *overlay = mem_new(Overlay);
    overlay->store = store;
    overlay->shards = table_store_shards(store);
    overlay->name_key = options->name_key;
    overlay->name_context = options->context;
    overlay->key_memory = options->key_memory;
    overlay->batch_max = options->batch_max == 0 ? KEY_TABLE_RESERVE_MAX : options->batch_max;
    overlay->keys = key_table_new(overlay->key_memory, overlay->batch_max);
    overlay->warm = options->store_is_empty;
    if (!options->store_is_empty) {
        key_table_set_incomplete(overlay->keys);
    }
    overlay->epochs_max = options->epochs_max == 0 ? EPOCHS_MAX : options->epochs_max;
    overlay->pool.epoch_bytes = options->epoch_memory;
    overlay->next_epoch = 1;
    overlay->running = next_epoch(overlay);
    overlay->positions = new_positions(overlay->shards);
    overlay->checkpoint_positions = new_positions(overlay->shards);
    return overlay;
}

void overlay_free(Overlay *overlay)
{
    if (overlay == NULL) {
        return;
    }
    assert(!overlay->checkpoint_running);
    store_scan_close(overlay->warming);
    epoch_free(&overlay->pool, overlay->running);
    epoch_free(&overlay->pool, overlay->closed);
    epoch_list_free(&overlay->pool, &overlay->committed);
    epoch_pool_done(&overlay->pool);
    key_table_free(overlay->keys);
    buffer_done(&overlay->name);
    mem_free(overlay->positions);
    mem_free(overlay->checkpoint_positions);
    mem_free(overlay);
}

/* ------------------------------------------------------------------------------- look-up ---- */

/* Keys the table does not hold, to be asked of the store in one go. */
typedef struct Misses {
    KeySlot **slots;
    Str *keys;
    uint32_t *shards;
    size_t count;
} Misses;

static uint32_t name_key(Overlay *overlay, Str key)
{
    buffer_clear(&overlay->name);
    uint32_t shard = overlay->name_key(overlay->name_context, key, &overlay->name);
    assert(shard < overlay->shards);
    return shard;
}

static Misses find_slots(Overlay *overlay, const Str *keys, size_t count, Arena *batch_arena,
                         KeySlot **ret_slots)
{
    Misses misses = {.slots = arena_alloc(batch_arena, count * sizeof(KeySlot *)),
                     .keys = arena_alloc(batch_arena, count * sizeof(Str))};
    Hash128 *hashes = arena_alloc(batch_arena, count * sizeof *hashes);
    for (size_t i = 0; i < count; i++) {
        hashes[i] = key_table_hash(overlay->keys, keys[i]);
        key_table_prefetch(overlay->keys, hashes[i]);
    }
    for (size_t i = 0; i < count; i++) {
        bool added = false;
        ret_slots[i] = key_table_find_or_add(overlay->keys, hashes[i], &added);
        if (added) {
            misses.slots[misses.count] = ret_slots[i];
            misses.keys[misses.count++] = keys[i];
        }
    }
    return misses;
}

/* Keys whose rows could not be looked up must not be taken for keys without rows. Removing moves
 * slots: by hash, not by place. */
static void forget(Overlay *overlay, const Misses *misses, Arena *batch_arena)
{
    Hash128 *hashes = arena_alloc(batch_arena, misses->count * sizeof *hashes);
    for (size_t i = 0; i < misses->count; i++) {
        hashes[i] = misses->slots[i]->hash;
    }
    for (size_t i = 0; i < misses->count; i++) {
        key_table_remove(overlay->keys, hashes[i]);
    }
}

static Error *look_up(Overlay *overlay, Misses *misses, Arena *batch_arena)
{
    misses->shards = arena_alloc(batch_arena, misses->count * sizeof(uint32_t));
    for (size_t i = 0; i < misses->count; i++) {
        misses->shards[i] = name_key(overlay, misses->keys[i]);
    }
    KeyState *states = arena_new_array(batch_arena, KeyState, misses->count);
    TRY(table_store_lookup(overlay->store, misses->shards, misses->keys, misses->count, batch_arena,
                           states));
    for (size_t i = 0; i < misses->count; i++) {
        misses->slots[i]->count = states[i].count;
        if (states[i].count > 0) {
            key_slot_set_sequence(misses->slots[i], states[i].sequence);
        }
    }
    return NULL;
}

Error *overlay_find(Overlay *overlay, const Str *keys, size_t count, Arena *batch_arena,
                    KeySlot **ret_slots)
{
    key_table_reserve(overlay->keys, count, overlay->written_epoch);
    Misses misses = find_slots(overlay, keys, count, batch_arena, ret_slots);
    if (misses.count == 0 || key_table_is_complete(overlay->keys)) {
        return NULL;
    }
    Error *error = look_up(overlay, &misses, batch_arena);
    if (error != NULL) {
        forget(overlay, &misses, batch_arena);
    }
    return error;
}

/* While all keys fit each gets a slot at its first record, which the later ones keep up to date.
 * When they do not fit any more, those that are left must go on being kept: but none is added, for
 * of a key that was evicted the store knows more than the record at hand. */
static KeySlot *restored_slot(Overlay *overlay, Str key)
{
    if (!key_table_is_complete(overlay->keys) && key_table_count(overlay->keys) == 0) {
        return NULL;
    }
    key_table_reserve(overlay->keys, 1, overlay->written_epoch);
    bool added = false;
    Hash128 hash = key_table_hash(overlay->keys, key);
    return key_table_is_complete(overlay->keys) ? key_table_find_or_add(overlay->keys, hash, &added)
                                                : key_table_find(overlay->keys, hash);
}

void overlay_note_restored(Overlay *overlay, Str key, uint32_t ordinal, Str sequence)
{
    KeySlot *slot = restored_slot(overlay, key);
    if (slot == NULL) {
        return; /* the store is asked when it is needed */
    }
    if (sequence.data == NULL) {
        slot->count = slot->count < ordinal ? slot->count : ordinal;
        return;
    }
    slot->count = slot->count > ordinal ? slot->count : ordinal + 1;
    key_slot_set_sequence(slot, sequence);
}

static void stop_warming(Overlay *overlay)
{
    store_scan_close(overlay->warming);
    overlay->warming = NULL;
    overlay->warm = true;
}

/* What the table knows already is newer than the store. */
static void add_stored_key(Overlay *overlay, const StoredRow *row)
{
    bool added = false;
    KeySlot *slot =
        key_table_find_or_add(overlay->keys, key_table_hash(overlay->keys, row->key), &added);
    if (added) {
        slot->count = row->ordinal + 1;
        key_slot_set_sequence(slot, row->sequence);
    }
}

/* The last row of a key comes first and tells all; ordinal 0 is the last to come. */
static Error *warm_rows(Overlay *overlay, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        StoredRow row = {0};
        bool found = false;
        TRY(store_scan_next(overlay->warming, &row, &found));
        if (!found) {
            key_table_end_filling(overlay->keys);
            stop_warming(overlay);
            return NULL;
        }
        if (overlay->warming_first) {
            add_stored_key(overlay, &row);
        }
        overlay->warming_first = row.ordinal == 0;
    }
    return NULL;
}

static Error *warm_some(Overlay *overlay, size_t rows)
{
    if (!key_table_has_room(overlay->keys, rows)) {
        stop_warming(overlay);
        return NULL;
    }
    if (overlay->warming == NULL) {
        overlay->warming = table_store_scan(overlay->store, -1);
        overlay->warming_first = true;
        key_table_begin_filling(overlay->keys);
    }
    key_table_reserve(overlay->keys, rows, overlay->written_epoch);
    if (key_table_has_evicted(overlay->keys)) {
        /* The scan sees the store as it was when it began: of a key that was changed since, written
         * and evicted, it would bring back what is no longer so. */
        stop_warming(overlay);
        return NULL;
    }
    return warm_rows(overlay, rows);
}

Error *overlay_warm(Overlay *overlay, size_t rows, bool *ret_done)
{
    while (rows > 0 && !overlay->warm) {
        size_t some = rows < overlay->batch_max ? rows : overlay->batch_max;
        TRY(warm_some(overlay, some));
        rows -= some;
    }
    *ret_done = overlay->warm;
    return NULL;
}

void overlay_forget_keys(Overlay *overlay)
{
    assert(overlay->running->change_count == 0 && overlay->closed == NULL &&
           overlay->committed.change_count == 0);
    stop_warming(overlay);
    key_table_free(overlay->keys);
    overlay->keys = key_table_new(overlay->key_memory, overlay->batch_max);
}

/* ------------------------------------------------------------------------------- changes ---- */

static void append_change(Epoch *epoch, KeyChange *change)
{
    if (epoch->last == NULL) {
        epoch->first = change;
    } else {
        epoch->last->next = change;
    }
    epoch->last = change;
    epoch->change_count++;
}

static KeyChange *new_change(Overlay *overlay, KeySlot *slot, Str key)
{
    Epoch *epoch = overlay->running;
    Arena *arena = epoch->memory->arena;
    KeyChange *change = arena_alloc_zero(arena, sizeof *change);
    change->shard = name_key(overlay, key);
    change->key = arena_copy_str(arena, key);
    change->message_key = arena_copy_str(arena, buffer_str(&overlay->name));
    change->hash = slot->hash;
    change->count = slot->count;
    change->published = slot->count;
    change->kept = slot->count;
    change->previous_epoch = slot->epoch;
    change->previous = slot->change;
    change->previous_sequence = arena_copy_str(arena, key_slot_sequence(slot));
    change->sequence = change->previous_sequence;
    append_change(epoch, change);
    slot->change = change;
    slot->epoch = epoch->number;
    return change;
}

static KeyChange *change_of(Overlay *overlay, KeySlot *slot, Str key)
{
    return slot->epoch == overlay->running->number ? slot->change : new_change(overlay, slot, key);
}

/* Room for one more row, doubling in the arena; the first row lies in the change itself. */
static void reserve_row(Arena *arena, KeyChange *change)
{
    if (change->row_count < change->row_capacity) {
        return;
    }
    if (change->row_capacity == 0) {
        change->rows = &change->single_row;
        change->row_capacity = 1;
        return;
    }
    Str *larger = arena_alloc(arena, sizeof(Str) * change->row_capacity * 2);
    memcpy(larger, change->rows, sizeof(Str) * change->row_count);
    change->rows = larger;
    change->row_capacity *= 2;
}

static void push_row(Overlay *overlay, KeySlot *slot, KeyChange *change, Str row)
{
    Arena *arena = overlay->running->memory->arena;
    reserve_row(arena, change);
    change->rows[change->row_count++] = arena_copy_str(arena, row);
    change->count = change->kept + change->row_count;
    slot->count = change->count;
    overlay->running->rows++;
}

void overlay_replace(Overlay *overlay, KeySlot *slot, Str key, Str sequence, Str row)
{
    KeyChange *change = change_of(overlay, slot, key);
    change->kept = 0;
    change->row_count = 0;
    change->sequence = arena_copy_str(overlay->running->memory->arena, sequence);
    key_slot_set_sequence(slot, sequence);
    push_row(overlay, slot, change, row);
}

void overlay_append(Overlay *overlay, KeySlot *slot, Str key, Str row)
{
    assert(slot->count > 0);
    push_row(overlay, slot, change_of(overlay, slot, key), row);
}

void overlay_remove(Overlay *overlay, KeySlot *slot, Str key)
{
    if (slot->count == 0) {
        return;
    }
    KeyChange *change = change_of(overlay, slot, key);
    change->kept = 0;
    change->row_count = 0;
    change->count = 0;
    slot->count = 0;
}

/* What waits, the newest change on top: each says how many of the rows below it stay, and those of
 * the store have been there since before the oldest of them. */
Error *overlay_rows(Overlay *overlay, const KeySlot *slot, Str key, Arena *arena,
                    const Str **ret_rows)
{
    uint32_t left = slot->count;
    Str *rows = arena_alloc(arena, arena_array_size_(left, sizeof(Str)));
    *ret_rows = rows;
    const KeyChange *change = slot->change;
    uint32_t epoch = slot->epoch;
    while (left > 0 && epoch > overlay->written_epoch) {
        assert(change->count == left);
        memcpy(rows + change->kept, change->rows, change->row_count * sizeof(Str));
        left = change->kept;
        epoch = change->previous_epoch;
        change = change->previous;
    }
    return left == 0
               ? NULL
               : table_store_rows(overlay->store, name_key(overlay, key), key, left, arena, rows);
}

static void visit_changes(const Epoch *epoch, void (*visit)(void *context, Str key), void *context)
{
    for (const KeyChange *change = epoch->first; change != NULL; change = change->next) {
        visit(context, change->key);
    }
}

static void visit_list(const EpochList *list, void (*visit)(void *context, Str key), void *context)
{
    for (const Epoch *epoch = list->first; epoch != NULL; epoch = epoch->next) {
        visit_changes(epoch, visit, context);
    }
}

/* Ordinal 0 is in the store once for each key of it. */
Error *overlay_visit_keys(const Overlay *overlay, void (*visit)(void *context, Str key),
                          void *context)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan(overlay->store, -1);
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        TRY(store_scan_next(scan, &row, &found));
        if (!found) {
            break;
        }
        if (row.ordinal == 0) {
            visit(context, row.key);
        }
    }
    visit_list(&overlay->checkpointing, visit, context);
    visit_list(&overlay->committed, visit, context);
    if (overlay->closed != NULL) {
        visit_changes(overlay->closed, visit, context);
    }
    visit_changes(overlay->running, visit, context);
    return NULL;
}

size_t overlay_epoch_rows(const Overlay *overlay)
{
    return overlay->running->rows;
}

size_t overlay_epoch_bytes(const Overlay *overlay)
{
    const Epoch *epoch = overlay->running;
    return arena_used_bytes(epoch->memory->arena) - epoch->used_before;
}

/* ---------------------------------------------------------------------- end of an epoch ---- */

const Epoch *overlay_close_epoch(Overlay *overlay)
{
    assert(overlay->closed == NULL);
    overlay->running->bytes = overlay_epoch_bytes(overlay);
    overlay->closed = overlay->running;
    overlay->running = next_epoch(overlay);
    return overlay->closed;
}

static void put_back(Overlay *overlay, const Epoch *epoch)
{
    for (const KeyChange *change = epoch->first; change != NULL; change = change->next) {
        KeySlot *slot = key_table_find(overlay->keys, change->hash);
        assert(slot != NULL); /* a changed key is not evicted */
        slot->count = change->published;
        slot->epoch = change->previous_epoch;
        slot->change = change->previous;
        key_slot_set_sequence(slot, change->previous_sequence);
    }
}

/* Newest first: each puts back what it found. */
void overlay_abort(Overlay *overlay)
{
    put_back(overlay, overlay->running);
    epoch_free(&overlay->pool, overlay->running);
    if (overlay->closed != NULL) {
        put_back(overlay, overlay->closed);
        epoch_free(&overlay->pool, overlay->closed);
        overlay->closed = NULL;
    }
    overlay->running = next_epoch(overlay);
}

void overlay_commit(Overlay *overlay, const int64_t *ends)
{
    assert(overlay->closed != NULL);
    epoch_list_append(&overlay->committed, overlay->closed);
    overlay->closed = NULL;
    for (uint32_t i = 0; i < overlay->shards; i++) {
        assert(ends[i] < 0 || ends[i] >= overlay->positions[i]);
        overlay->moved = overlay->moved || ends[i] > overlay->positions[i];
        overlay->positions[i] = ends[i] >= 0 ? ends[i] : overlay->positions[i];
    }
}

/* ---------------------------------------------------------------------------- checkpoint ---- */

size_t overlay_committed_bytes(const Overlay *overlay)
{
    return overlay->committed.bytes;
}

bool overlay_is_crowded(const Overlay *overlay)
{
    size_t waiting = overlay->committed.change_count + overlay->checkpointing.change_count +
                     overlay->running->change_count +
                     (overlay->closed == NULL ? 0 : overlay->closed->change_count);
    return waiting > key_table_room(overlay->keys) / 2;
}

bool overlay_checkpoint_begin(Overlay *overlay)
{
    bool nothing = !overlay->moved && overlay->committed.change_count == 0;
    if (overlay->checkpoint_running || nothing) {
        return false;
    }
    overlay->checkpointing = overlay->committed;
    overlay->committed = (EpochList){0};
    memcpy(overlay->checkpoint_positions, overlay->positions,
           overlay->shards * sizeof *overlay->positions);
    overlay->moved = false;
    overlay->checkpoint_running = true;
    return true;
}

Error *overlay_checkpoint_write(Overlay *overlay, int64_t time_us)
{
    assert(overlay->checkpoint_running);
    return checkpoint_write(overlay->store, &overlay->checkpointing, overlay->checkpoint_positions,
                            time_us);
}

/* A number would be used again after some months of commits every few milliseconds. No checkpoint
 * is under way, and a commit does not look at numbers. */
static void renumber_epochs(Overlay *overlay)
{
    uint32_t written = overlay->written_epoch;
    key_table_renumber(overlay->keys, written);
    for (Epoch *epoch = overlay->committed.first; epoch != NULL; epoch = epoch->next) {
        epoch_renumber(epoch, written);
    }
    if (overlay->closed != NULL) {
        epoch_renumber(overlay->closed, written);
    }
    epoch_renumber(overlay->running, written);
    overlay->next_epoch -= written;
    overlay->written_epoch = 0;
}

void overlay_checkpoint_end(Overlay *overlay, bool written)
{
    assert(overlay->checkpoint_running);
    overlay->checkpoint_running = false;
    if (written) {
        if (overlay->checkpointing.last != NULL) {
            overlay->written_epoch = overlay->checkpointing.last->number;
        }
        epoch_list_free(&overlay->pool, &overlay->checkpointing);
        if (overlay->next_epoch > overlay->epochs_max) {
            renumber_epochs(overlay);
        }
        return;
    }
    for (Epoch *epoch = overlay->checkpointing.first; epoch != NULL; epoch = epoch->next) {
        epoch->maybe_written = true;
    }
    epoch_list_prepend(&overlay->committed, &overlay->checkpointing);
    overlay->moved = true;
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

void overlay_set_epoch_memory(Overlay *overlay, size_t bytes)
{
    size_t held = overlay->pool.epoch_bytes;
    if (bytes > held) {
        overlay->pool.epoch_bytes = bytes;
    } else if (bytes < held - held / EPOCH_MEMORY_STEP) {
        overlay->pool.epoch_bytes = bytes;
        mem_give_back();
    }
}

size_t overlay_key_bytes(const Overlay *overlay)
{
    return key_table_bytes(overlay->keys);
}

OverlayMemory overlay_memory(const Overlay *overlay)
{
    size_t closed = overlay->closed == NULL ? 0 : overlay->closed->bytes;
    return (OverlayMemory){.keys = key_table_bytes(overlay->keys),
                           .changes = overlay->committed.bytes + overlay->checkpointing.bytes +
                                      closed + overlay_epoch_bytes(overlay),
                           .spare = overlay->pool.spare_bytes};
}
