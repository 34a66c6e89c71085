/* Overlay: what was changed in a table but is not in RocksDB yet.
 *
 *     running        the epoch in hand: keys changed since the last one was closed
 *     closed         the epoch that is being committed, while the next one runs
 *     committed      epochs that are in the topic; the next checkpoint's content
 *     checkpointing  what a background checkpoint is writing
 *     TableStore     RocksDB
 *
 * An epoch is a list of changes, one a key, and is never touched again once it is closed: the
 * commit and the checkpoint read it from other threads. What a key is *now* lies in one place, the
 * key table, which answers for all of the above; only keys it does not hold are looked up in the
 * store.
 *
 * A change says what became of the rows below it: `kept` of them stay (all, or none after a
 * replacement), `rows` come on top. So a set of a million rows grows by one without being read.
 *
 * Thread: one (the flow's), except overlay_checkpoint_write, which any other may run, and reading a
 * closed epoch. */
#ifndef STATE_OVERLAY_H
#define STATE_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"
#include "state/key_table.h"
#include "state/state.h"

typedef struct Overlay Overlay;
typedef struct Epoch Epoch;

/* What an epoch made of one key. Read-only outside state/. */
typedef struct KeyChange {
    struct KeyChange *next; /* in the order of the keys' first change */
    Str key;                /* key encoding */
    Str message_key;        /* of its first row in the topic */
    uint32_t shard;
    uint32_t count;     /* rows now */
    uint32_t published; /* rows before the epoch: what the topic holds */
    uint32_t kept;      /* of those, the first `kept` stay as they are */
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t previous_epoch; /* what an abort puts back into the slot */
    Str previous_sequence;
    struct KeyChange *previous; /* of that epoch; meaningless once it is in the store */
    Hash128 hash;
    Str sequence;
    Str *rows; /* rows `kept` … count - 1 (row encoding) */
    Str single_row;
} KeyChange;

/* Appends the message key of a key's first row and gives its shard, the partition of that. */
typedef uint32_t (*NameKey)(void *context, Str key, Buffer *out);

typedef struct OverlayOptions {
    NameKey name_key;
    void *context;
    size_t key_memory;   /* bytes the key table may take */
    size_t batch_max;    /* keys of an overlay_find, usually; 0: KEY_TABLE_RESERVE_MAX */
    size_t epoch_memory; /* bytes of an epoch, at most; bounds what is kept for the next ones too */
    uint32_t epochs_max; /* counted from 1 again after so many; 0: 2^30 */
    bool store_is_empty; /* and stays so but for checkpoints and overlay_note_restored: then a key
                            that is not in the key table is unknown, and the store is not asked */
} OverlayOptions;

Overlay *overlay_new(TableStore *store, const OverlayOptions *options);
void overlay_free(Overlay *overlay);

/* The slots of the keys; equal keys get the same. What the key table does not hold is looked up in
 * the store. Valid until the next call. An error leaves the epoch as it was. */
NODISCARD Error *overlay_find(Overlay *overlay, const Str *keys, size_t count, Arena *batch_arena,
                              KeySlot **ret_slots);
/* The key's rows become this one row (copied). */
void overlay_replace(Overlay *overlay, KeySlot *slot, Str key, Str sequence, Str row);
/* One row more (copied). */
void overlay_append(Overlay *overlay, KeySlot *slot, Str key, Str row);
/* The key has no rows any more, and is unknown. */
void overlay_remove(Overlay *overlay, KeySlot *slot, Str key);

/* The rows the key has now, slot->count of them, by ordinal: read together from what waits in
 * memory and from the store. Views, in `arena` or valid until the next call of a function that
 * commits, aborts or ends a checkpoint. */
NODISCARD Error *overlay_rows(Overlay *overlay, const KeySlot *slot, Str key, Arena *arena,
                              const Str **ret_rows);

/* Every key that has rows, some of them more than once, and perhaps some that have none any more.
 * `visit` must not change the overlay nor keep the key. */
NODISCARD Error *overlay_visit_keys(const Overlay *overlay, void (*visit)(void *context, Str key),
                                    void *context);

/* While a table without state is restored: a record of its topic, in order; sequence.data == NULL
 * for a tombstone. Fills the key table, so that no look-ups are needed afterwards. */
void overlay_note_restored(Overlay *overlay, Str key, uint32_t ordinal, Str sequence);

/* After a start with state: reads the next `rows` rows of the store into the key table, so that
 * look-ups become rare and end when all keys are in. *ret_done: nothing (more) to do, for all were
 * read or the table is full. */
NODISCARD Error *overlay_warm(Overlay *overlay, size_t rows, bool *ret_done);

/* The store was emptied: no key is known any more. Nothing may be running, closed or committed. */
void overlay_forget_keys(Overlay *overlay);

/* Rows put in and bytes held by the running epoch. */
size_t overlay_epoch_rows(const Overlay *overlay);
size_t overlay_epoch_bytes(const Overlay *overlay);
/* Closes the running epoch, for its commit; the next one runs from now on. One at a time. */
const Epoch *overlay_close_epoch(Overlay *overlay);
const KeyChange *epoch_first_change(const Epoch *epoch);
/* The running epoch never was, nor the closed one. */
void overlay_abort(Overlay *overlay);
/* The closed epoch is committed. ends[shard]: offset behind the last record of the shard's
 * partition known to be in it, -1: unknown, leave as it was. */
void overlay_commit(Overlay *overlay, const int64_t *ends);

/* Bytes and keys that wait for a checkpoint, without those being written. */
size_t overlay_committed_bytes(const Overlay *overlay);
/* The key table is about to be full of keys that wait: a checkpoint is due whatever its size. */
bool overlay_is_crowded(const Overlay *overlay);
/* Takes what is committed for a checkpoint; false when there is nothing to write or one is under
 * way. */
bool overlay_checkpoint_begin(Overlay *overlay);
/* Writes it with its positions to the store in one atomic step, durably. Thread: any. */
NODISCARD Error *overlay_checkpoint_write(Overlay *overlay, int64_t time_us);
/* After the write: what was taken is dropped (written), or waits again for the next checkpoint; it
 * does no harm then that a failed write may have got through. */
void overlay_checkpoint_end(Overlay *overlay, bool written);
/* begin, write, end in one go; nothing to do is no error. */
NODISCARD Error *overlay_checkpoint(Overlay *overlay, int64_t time_us);

/* From now on; see OverlayOptions.epoch_memory. It shrinks in steps of an eighth: then what is free
 * goes back to the system, for the key table has it. */
void overlay_set_epoch_memory(Overlay *overlay, size_t bytes);
/* Bytes of the key table. */
size_t overlay_key_bytes(const Overlay *overlay);
/* What is held in memory, bytes. */
typedef struct OverlayMemory {
    size_t keys;    /* key table */
    size_t changes; /* epochs of every kind */
    size_t spare;   /* kept for the next epochs */
} OverlayMemory;
OverlayMemory overlay_memory(const Overlay *overlay);

DEFINE_AUTO(overlay, Overlay, overlay_free)

#endif
