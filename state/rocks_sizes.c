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

uint64_t rocks_cache_bytes(Rocks *rocks)
{
    pthread_mutex_lock(&rocks->lock);
    const RocksFamily *any = rocks->families; /* all share one cache */
    uint64_t bytes = any == NULL ? 0 : number(rocks, any, "rocksdb.block-cache-usage");
    pthread_mutex_unlock(&rocks->lock);
    return bytes;
}

uint64_t rocks_write_buffer_bytes(Rocks *rocks)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&rocks->lock);
    for (const RocksFamily *family = rocks->families; family != NULL; family = family->next) {
        bytes += number(rocks, family, "rocksdb.size-all-mem-tables");
    }
    pthread_mutex_unlock(&rocks->lock);
    return bytes;
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
