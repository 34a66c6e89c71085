/* What the files of this folder share. */
#ifndef STATE_STATE_INTERNAL_H
#define STATE_STATE_INTERNAL_H

#include <stdatomic.h>

#include "processor/base/buffer.h"
#include "state/rocks.h"
#include "state/state.h"

struct TableStore {
    State *state;
    Rocks *rocks;
    RocksFamily *family;
    char *name;
    uint32_t shards;
    atomic_bool unflushed; /* a batch was written that is not on disk yet */
    TableStore *next;
};

/* Deletes all rows and positions of the store, durably. */
NODISCARD Error *table_store_clear(TableStore *store);

/* Damage found while the state is in use is noted on disk, so that the next opening makes it anew.
 * Gives the error back, NULL too. */
NODISCARD Error *store_noted(const TableStore *store, Error *error);

/* A new name for a file that is to be ingested, in a folder that is emptied when the state is
 * opened. */
const char *state_new_file(State *state, Buffer *path);

/* Entries of the store (state.h); each replaces what is in the buffer. */
void store_format_row_key(Buffer *out, uint32_t shard, Str key, uint32_t ordinal);
void store_format_row_value(Buffer *out, Str sequence, Str row);
void store_format_position_key(Buffer *out, uint32_t shard);
void store_format_position_value(Buffer *out, int64_t offset, int64_t time_us);

#endif
