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
    rocksdb_options_t *options;
    rocksdb_writeoptions_t *write_options;
    rocksdb_readoptions_t *read_options;
    pthread_mutex_t lock; /* protects families */
    RocksFamily *families;
};

/* Options of the database and of every family and file of it. */
rocksdb_options_t *rocks_options(size_t memory_bytes);

/* The failure RocksDB tells as text, which is freed: "The state could not be `doing`: ...". */
NODISCARD COLD Error *rocks_error(char *message, const char *doing);

#define ROCKS_TRY(message, doing)                                                                  \
    do {                                                                                           \
        if ((message) != NULL) {                                                                   \
            return rocks_error((message), (doing));                                                \
        }                                                                                          \
    } while (0)

#endif
