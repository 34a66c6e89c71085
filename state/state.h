/* State: one directory, one RocksDB, one TableStore a table. All of it is disposable: it is a cache
 * of the table topics, never ahead of them, and is rebuilt from them when lost, foreign or too old.
 *
 * A table has P shards, the partitions of its topic. The store of a table is one column family:
 *
 *     shard (2 bytes)  0x00                          position: topic offset, time of the checkpoint
 *     shard (2 bytes)  0x01  key  ordinal (4 bytes)  row: sequence, row bytes
 *
 * `key` is prefix free and ordered (data/key_encoding.h), the ordinal is the row's number within
 * its key, as in the topic ("_row"), stored so that the last row comes first. All rows of a key
 * have one sequence, and ordinals run from 0 without holes, so the first entry of a key tells
 * sequence and number of rows: nothing else is stored that could disagree, and filters on the key
 * answer for most keys that are unknown. Applying a topic record twice changes nothing. */
#ifndef STATE_STATE_H
#define STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

typedef struct State State;
typedef struct TableStore TableStore;

typedef struct StateOptions {
    const char *dir;      /* made when missing */
    const char *pipeline; /* a directory of another pipeline is refused */
    size_t memory_bytes;  /* all that StateSizes lists (sizes.h) */
    size_t
        run_bytes; /* of one run, beside memory_bytes; 0: all runs together have a quarter of it */
} StateOptions;

enum { STATE_SHARDS_MAX = 65536 };

/* Opens the directory and locks it. STATE_LOCKED (who holds it), STATE_UNWRITABLE, STATE_FORMAT
 * (made by another pipeline or a newer program, or no state directory), STATE_IO. A damaged
 * database is thrown away and made anew: *ret_rebuilt says so (the caller reports it), may be NULL.
 *
 * Damage that opening does not see (the middle of a large file) shows when it is read: any call
 * below may then fail with STATE_CORRUPT; wrong rows are never given. It is noted on disk at once:
 * close the state and open it again (in this process or the next), and it is made anew. */
NODISCARD Error *state_open(const StateOptions *options, State **ret_state, bool *ret_rebuilt);
/* Nothing is flushed: what no checkpoint wrote is gone, as after a crash. */
void state_close(State *state);
/* Notes on disk that the state is damaged: the next state_open makes it anew. For damage found by
 * the caller (a row that does not decode). Thread: any. */
void state_mark_damaged(State *state);

/* Deletes a state directory (closed, made by state_open) with everything in it; not there is fine.
 */
void state_remove(const char *dir);

/* The store of a table, made when there is none; lives as long as the state. `topic` and `shards`
 * identify what it caches: when they differ from what is stored, the store is emptied. STATE_FORMAT
 * for more than STATE_SHARDS_MAX shards. Thread: any, one a table. */
NODISCARD Error *state_table(State *state, Str table, Str topic, uint32_t shards,
                             TableStore **ret_store);

uint32_t table_store_shards(const TableStore *store);

/* Up to where the shard's partition of the topic is in the store; -1: nothing yet. *ret_time_us
 * (may be NULL): when that was written. */
NODISCARD Error *table_store_position(TableStore *store, uint32_t shard, int64_t *ret_offset,
                                      int64_t *ret_time_us);

/* Sequence and number of rows of a key; count 0: the key is unknown. */
typedef struct KeyState {
    uint32_t count;
    Str sequence; /* key encoding of the sequence value; in the arena */
} KeyState;

/* Looks many keys up at once. keys[i] is in shards[i]. */
NODISCARD Error *table_store_lookup(TableStore *store, const uint32_t *shards, const Str *keys,
                                    size_t count, Arena *arena, KeyState *ret_states);

/* The first `count` rows of a key, by ordinal, copied to the arena. They must be there: that one is
 * missing is damage. */
NODISCARD Error *table_store_rows(TableStore *store, uint32_t shard, Str key, uint32_t count,
                                  Arena *arena, Str *ret_rows);

/* Deletes everything of a shard, its position first, durably; time and space grow with its rows. A
 * failure may leave a part of the rows, without a position. */
NODISCARD Error *table_store_clear_shard(TableStore *store, uint32_t shard);

/* A set of absolute changes, applied in one atomic step. */
typedef struct StoreBatch StoreBatch;

StoreBatch *store_batch_new(TableStore *store);
void store_batch_free(StoreBatch *batch);
void store_batch_put(StoreBatch *batch, uint32_t shard, Str key, uint32_t ordinal, Str sequence,
                     Str row);
void store_batch_delete(StoreBatch *batch, uint32_t shard, Str key, uint32_t ordinal);
void store_batch_set_position(StoreBatch *batch, uint32_t shard, int64_t offset, int64_t time_us);
size_t store_batch_bytes(const StoreBatch *batch);
/* Applies and empties the batch. */
NODISCARD Error *store_batch_write(StoreBatch *batch);
/* Makes everything written so far survive a crash. */
NODISCARD Error *table_store_flush(TableStore *store);

/* A sorted set of absolute changes, written to a file beside the database and taken in whole: in
 * one atomic, durable step, at a third of what batches cost. Entries come in the order of the
 * store: by shard; a shard's position (if any) before its rows; rows by key, then by ordinal,
 * descending; no entry twice (out of order is a bug). What batches wrote before is made durable
 * first, so changes reach the disk in the order in which they were made. Readers see all of it or
 * nothing. Thread: one at a time; several may write to one store, each its own. */
typedef struct StoreIngest StoreIngest;

NODISCARD Error *store_ingest_begin(TableStore *store, StoreIngest **ret_ingest);
NODISCARD Error *store_ingest_position(StoreIngest *ingest, uint32_t shard, int64_t offset,
                                       int64_t time_us);
NODISCARD Error *store_ingest_put(StoreIngest *ingest, uint32_t shard, Str key, uint32_t ordinal,
                                  Str sequence, Str row);
NODISCARD Error *store_ingest_delete(StoreIngest *ingest, uint32_t shard, Str key,
                                     uint32_t ordinal);
/* Bytes of keys and values so far. */
size_t store_ingest_bytes(const StoreIngest *ingest);
/* Durable and visible when it returns. After an error it may be there or not, but whole; the caller
 * applies the changes again or makes the state anew. Nothing put: nothing happens. */
NODISCARD Error *store_ingest_finish(StoreIngest *ingest);
/* Not finished: nothing of it was ever there. */
void store_ingest_free(StoreIngest *ingest);

/* Changes in any order, held in memory until they are written; the last change of an entry wins.
 * All runs of a state together have a quarter of its memory. Thread: one at a time. */
typedef struct StoreRun StoreRun;

StoreRun *store_run_new(TableStore *store);
void store_run_free(StoreRun *run);
void store_run_put(StoreRun *run, uint32_t shard, Str key, uint32_t ordinal, Str sequence, Str row);
void store_run_delete(StoreRun *run, uint32_t shard, Str key, uint32_t ordinal);
void store_run_position(StoreRun *run, uint32_t shard, int64_t offset, int64_t time_us);
/* Memory in use, and whether it is time to write the run: its memory is used up (StateOptions). */
size_t store_run_bytes(const StoreRun *run);
bool store_run_is_full(StoreRun *run);
/* Sorts the changes, ingests them in one step, and empties the run. After an error it is as it was.
 */
NODISCARD Error *store_run_write(StoreRun *run);

/* Whether the store has no row of any shard. */
NODISCARD Error *table_store_is_empty(TableStore *store, bool *ret_empty);

/* All rows of a table or of one shard, in key order within a shard, the last row of a key first.
 * Sees the store as it was when the scan was opened. */
typedef struct StoreScan StoreScan;

typedef struct StoredRow {
    uint32_t shard;
    uint32_t ordinal;
    Str key;
    Str sequence;
    Str row;
} StoredRow;

/* shard: -1 for all. */
StoreScan *table_store_scan(TableStore *store, int64_t shard);
void store_scan_close(StoreScan *scan);
/* *ret_found false at the end. Views until the next call. */
NODISCARD Error *store_scan_next(StoreScan *scan, StoredRow *ret_row, bool *ret_found);

DEFINE_AUTO(store_batch, StoreBatch, store_batch_free)
DEFINE_AUTO(store_ingest, StoreIngest, store_ingest_free)
DEFINE_AUTO(store_run, StoreRun, store_run_free)
DEFINE_AUTO(store_scan, StoreScan, store_scan_close)

#endif
