/* Overlay: what was changed but is not in RocksDB yet, as layers that reads see from the top:
 *
 *     epoch          keys changed since the last commit; dropped when the epoch aborts
 *     committed      changes of committed epochs, merged; the next checkpoint's content
 *     checkpointing  what a background checkpoint is writing; unchangeable
 *     TableStore     RocksDB
 *
 * A key's entry says what became of the rows below it: `kept` of them stay (all, or none after a
 * replacement), `rows` come on top. So a set of a million rows grows by one without being read.
 * Thread: one (the flow's), except overlay_checkpoint_write, which any other may run. */
#ifndef STATE_OVERLAY_H
#define STATE_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "state/state.h"

typedef struct Overlay Overlay;

/* The state of one key in the running epoch. Read-only outside overlay.c. */
typedef struct KeyEntry {
    Str key;
    uint32_t shard;
    bool changed;       /* in this epoch */
    uint32_t count;     /* rows now */
    uint32_t published; /* rows before the epoch: what the topic holds */
    uint32_t kept;      /* of those, the first `kept` stay as they are */
    Str sequence;       /* key encoding; meaningless while count == 0 */
    Str *rows;          /* rows `kept` … count - 1 (row encoding), in the epoch's arena */
    uint32_t row_count;
    uint32_t row_capacity;
} KeyEntry;

/* `shard_of` gives the shard of a key (the partition of its message key). */
Overlay *overlay_new(TableStore *store, uint32_t (*shard_of)(void *context, Str key),
                     void *context);
void overlay_free(Overlay *overlay);

/* The entries of the keys, looked up through all layers; equal keys get the same entry. Valid until
 * the epoch ends. An error leaves the epoch as it was. */
NODISCARD Error *overlay_find(Overlay *overlay, const Str *keys, size_t count, Arena *batch_arena,
                              KeyEntry **ret_entries);
/* The key's rows become this one row (copied). */
void overlay_replace(Overlay *overlay, KeyEntry *entry, Str sequence, Str row);
/* One row more (copied). */
void overlay_append(Overlay *overlay, KeyEntry *entry, Str row);

/* The entries changed in this epoch, in the order of their first change. */
KeyEntry *const *overlay_changes(const Overlay *overlay, size_t *ret_count);
/* Rows put in and bytes held by the running epoch. */
size_t overlay_epoch_rows(const Overlay *overlay);
size_t overlay_epoch_bytes(const Overlay *overlay);
/* The epoch never was. */
void overlay_abort_epoch(Overlay *overlay);
/* The epoch is committed: its changes join the committed layer. ends[shard]: offset behind the last
 * record of the shard's partition known to be in it, -1: unknown, leave as it was. */
void overlay_commit_epoch(Overlay *overlay, const int64_t *ends);

/* Bytes of the committed layer. */
size_t overlay_committed_bytes(const Overlay *overlay);
/* Freezes the committed layer for a checkpoint; false when there is nothing to write or one is
 * under way. */
bool overlay_checkpoint_begin(Overlay *overlay);
/* Writes the frozen layer and its positions to the store in one atomic step, durably. Thread: any.
 */
NODISCARD Error *overlay_checkpoint_write(Overlay *overlay, int64_t time_us);
/* After the write: the frozen layer is dropped (written), or joins the committed one again, to be
 * written with the next checkpoint; it does no harm then that a failed write may have got through.
 */
void overlay_checkpoint_end(Overlay *overlay, bool written);
/* begin, write, end in one go; nothing to do is no error. */
NODISCARD Error *overlay_checkpoint(Overlay *overlay, int64_t time_us);

DEFINE_AUTO(overlay, Overlay, overlay_free)

#endif
