/* What the files that know RocksDB share. */
#ifndef STATE_ROCKS_INTERNAL_H
#define STATE_ROCKS_INTERNAL_H

#include <pthread.h>
#include <rocksdb/c.h>

#include "state/rocks.h"

struct RocksFamily {
    char *name;
    rocksdb_column_family_handle_t *handle;
    RocksFamily *next;
};

struct Rocks {
    rocksdb_t *db;
    rocksdb_cache_t *cache;
    size_t cache_bytes; /* with the filters and indexes beside it */
    rocksdb_options_t *options;
    rocksdb_options_t *file_options; /* of files to be ingested */
    rocksdb_writeoptions_t *write_options;
    rocksdb_readoptions_t *read_options;
    pthread_mutex_t lock; /* protects families */
    RocksFamily *families;
};

/* Options of the database and of every family of it. */
rocksdb_options_t *rocks_options(size_t memory_bytes, rocksdb_cache_t *cache);
size_t rocks_buffer_bytes(size_t memory_bytes);
rocksdb_cache_t *rocks_cache(size_t bytes);

/* The same for files that are ingested. */
rocksdb_options_t *rocks_file_options(rocksdb_options_t *options);

/* The failure RocksDB tells as text, which is freed: "The state could not be `doing`: ...". */
NODISCARD COLD Error *rocks_error(char *message, const char *doing);

#define ROCKS_TRY(message, doing)                                                                  \
    do {                                                                                           \
        if ((message) != NULL) {                                                                   \
            return rocks_error((message), (doing));                                                \
        }                                                                                          \
    } while (0)

#endif
