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

/* Deletes all rows and positions of the store, durably (clear.c). */
NODISCARD Error *table_store_clear(TableStore *store);

/* Damage found while the state is in use is noted on disk, so that the next opening makes it anew.
 * Gives the error back, NULL too. */
NODISCARD Error *store_noted(const TableStore *store, Error *error);

/* The database of the state. */
Rocks *state_rocks(State *state);

/* A new name for a file that is to be ingested, in a folder that is emptied when the state is
 * opened. */
const char *state_new_file(State *state, Buffer *path);

/* Entries of the store as bytes (state.h); the caller has room for as many as the sizes say. */
enum { STORE_POSITION_KEY_SIZE = 3, STORE_POSITION_SIZE = 16 };

size_t store_row_key_size(Str key);
void store_write_row_key(char *out, uint32_t shard, Str key, uint32_t ordinal);
size_t store_row_value_size(Str sequence, Str row);
void store_write_row_value(char *out, Str sequence, Str row);
void store_write_position_key(char *out, uint32_t shard);
void store_write_shard_end(char *out, uint32_t shard); /* above all entries of it; as long */
void store_write_position(char *out, int64_t offset, int64_t time_us);
/* The same in a buffer, replacing what is there. */
void store_format_row_key(Buffer *out, uint32_t shard, Str key, uint32_t ordinal);
void store_format_row_value(Buffer *out, Str sequence, Str row);

/* One entry as bytes; value STR_NULL: it is deleted. */
NODISCARD Error *store_ingest_entry(StoreIngest *ingest, Str key, Str value);

/* Fits the cache into what the other parts leave of the memory. */
void state_settle_memory(State *state);
/* Runs in memory share what the state has for them, which the cache lacks while there are any. */
void state_count_run(State *state, int change);
void state_count_run_bytes(State *state, size_t before, size_t now);
size_t state_run_bytes(const State *state);
size_t state_run_share(const State *state);

#endif
