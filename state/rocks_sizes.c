/* Numbers RocksDB keeps of itself. */
#include <string.h>

#include "state/rocks_internal.h"

#include "processor/base/banned.h"

/* 0 when there is no such number. */
static uint64_t number(const Rocks *rocks, const RocksFamily *family, const char *name)
{
    uint64_t value = 0;
    return rocksdb_property_int_cf(rocks->db, family->handle, name, &value) == 0 ? value : 0;
}

/* Of all families together. */
static uint64_t sum(Rocks *rocks, const char *name)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&rocks->lock);
    for (const RocksFamily *family = rocks->families; family != NULL; family = family->next) {
        bytes += number(rocks, family, name);
    }
    pthread_mutex_unlock(&rocks->lock);
    return bytes;
}

uint64_t rocks_cache_bytes(Rocks *rocks)
{
    return rocksdb_cache_get_usage(rocks->cache); /* all families share it */
}

uint64_t rocks_write_buffer_bytes(Rocks *rocks)
{
    return sum(rocks, "rocksdb.size-all-mem-tables");
}

uint64_t rocks_reader_bytes(Rocks *rocks)
{
    return sum(rocks, "rocksdb.estimate-table-readers-mem");
}

void rocks_family_sizes(Rocks *rocks, const char *name, uint64_t *ret_file_bytes,
                        uint64_t *ret_entries)
{
    pthread_mutex_lock(&rocks->lock);
    for (const RocksFamily *family = rocks->families; family != NULL; family = family->next) {
        if (strcmp(family->name, name) == 0) {
            *ret_file_bytes = number(rocks, family, "rocksdb.live-sst-files-size");
            *ret_entries = number(rocks, family, "rocksdb.estimate-num-keys");
        }
    }
    pthread_mutex_unlock(&rocks->lock);
}
