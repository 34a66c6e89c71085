/* RocksDB, as little of it as the state needs. The only place that includes its C API; everything
 * above speaks in column families, write batches and iterators of this file.
 *
 * No write-ahead log: state is disposable and rebuilt from the topics. A write batch is atomic, and
 * what is on disk after a crash is always whole batches, in their order (per column family).
 * Every block has a checksum; damage shows when the block is read, at the latest: STATE_CORRUPT.
 * Threads: any, except that an iterator or a batch belongs to one thread at a time. */
#ifndef STATE_ROCKS_H
#define STATE_ROCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/error.h"
#include "processor/base/str.h"

typedef struct Rocks Rocks;
typedef struct RocksFamily RocksFamily;
typedef struct RocksBatch RocksBatch;
typedef struct RocksIterator RocksIterator;

/* Bytes at the end of a key that do not count for the filters: an ordinal. */
enum { ROCKS_PREFIX_TAIL = 4 };

/* Opens or creates the database in `dir` (which exists). `memory_bytes` covers write buffers (a
 * sixteenth), filters, indexes and the block cache (the rest), at least 1 MiB. STATE_LOCKED
 * (another process has it), STATE_CORRUPT (make a new one), STATE_UNWRITABLE (rights, space),
 * STATE_IO (the disk). */
NODISCARD Error *rocks_open(const char *dir, size_t memory_bytes, Rocks **ret_rocks);
/* The database as its owner, who may be at work, last wrote its list of files; takes no lock and
 * writes nothing. It does not follow what the owner writes later. */
NODISCARD Error *rocks_open_to_read(const char *dir, size_t memory_bytes, Rocks **ret_rocks);
/* Writes nothing more: what was not flushed is gone, as after a crash. */
void rocks_close(Rocks *rocks);
/* The column family of that name, made when there is none. Lives as long as the database. */
NODISCARD Error *rocks_family(Rocks *rocks, const char *name, RocksFamily **ret_family);
bool rocks_has_family(Rocks *rocks, const char *name);
/* Fits the cache into what filters, indexes and `reserved` bytes of others leave of the memory; now
 * and then, as after an ingestion. */
void rocks_settle_memory(Rocks *rocks, size_t reserved);
/* Makes everything written to the family so far durable. */
NODISCARD Error *rocks_flush(Rocks *rocks, RocksFamily *family);

RocksBatch *rocks_batch_new(void);
void rocks_batch_free(RocksBatch *batch);
void rocks_batch_put(RocksBatch *batch, RocksFamily *family, Str key, Str value);
void rocks_batch_delete(RocksBatch *batch, RocksFamily *family, Str key);
size_t rocks_batch_bytes(const RocksBatch *batch);
/* Applies and empties the batch. */
NODISCARD Error *rocks_write(Rocks *rocks, RocksBatch *batch);

/* A file of sorted entries, written beside the database (same file system) and then taken in whole.
 * Keys ascend bytewise, none twice: another order is a bug. */
typedef struct RocksFile RocksFile;

NODISCARD Error *rocks_file_open(Rocks *rocks, RocksFamily *family, const char *path,
                                 RocksFile **ret_file);
NODISCARD Error *rocks_file_put(RocksFile *file, Str key, Str value);
NODISCARD Error *rocks_file_delete(RocksFile *file, Str key);
/* All entries are on disk; none may be put after it. At least one was put. */
NODISCARD Error *rocks_file_seal(RocksFile *file);
/* The sealed file becomes part of the family, durably; newer than all that was written before. */
NODISCARD Error *rocks_file_ingest(RocksFile *file);
/* Deletes the file unless it was ingested. */
void rocks_file_free(RocksFile *file);

/* *ret_value is malloc'ed by RocksDB and given to `take` before the call returns; not called when
 * the key is absent. */
NODISCARD Error *rocks_get(Rocks *rocks, RocksFamily *family, Str key,
                           void (*take)(void *context, Str value), void *context);

/* Sees the family as it was when opened. `upper`: keys >= it are not seen (STR_NULL: no bound); its
 * bytes must live as long as the iterator. */
RocksIterator *rocks_iterate(Rocks *rocks, RocksFamily *family, Str upper);
/* For look-ups: a seek finds entries that share all but the last ROCKS_PREFIX_TAIL bytes of the key
 * sought, and is invalid when there are none; filters answer for most that are not there. */
RocksIterator *rocks_iterate_prefixes(Rocks *rocks, RocksFamily *family);
void rocks_iterator_close(RocksIterator *iterator);
void rocks_iterator_seek(RocksIterator *iterator, Str key); /* first key >= */
void rocks_iterator_next(RocksIterator *iterator);
bool rocks_iterator_valid(const RocksIterator *iterator);
/* Views until the iterator moves. */
Str rocks_iterator_key(const RocksIterator *iterator);
Str rocks_iterator_value(const RocksIterator *iterator);
/* The failure that made the iterator invalid, NULL when it just reached the end. */
NODISCARD Error *rocks_iterator_error(const RocksIterator *iterator);

/* Sizes, for operators (rocks_sizes.c). The last one leaves the results alone when there is no such
 * family. */
uint64_t rocks_cache_bytes(Rocks *rocks);
uint64_t rocks_write_buffer_bytes(Rocks *rocks);
uint64_t rocks_reader_bytes(Rocks *rocks); /* filters and indexes of open files */
void rocks_family_sizes(Rocks *rocks, const char *name, uint64_t *ret_file_bytes,
                        uint64_t *ret_entries);

DEFINE_AUTO(rocks_batch, RocksBatch, rocks_batch_free)
DEFINE_AUTO(rocks_file, RocksFile, rocks_file_free)
DEFINE_AUTO(rocks_iterator, RocksIterator, rocks_iterator_close)

#endif
