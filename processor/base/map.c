/* Open addressing with linear probing; removal shifts the following run back, so there are no
 * tombstones and probes stay short. Grows at three quarters full. */
#include "processor/base/map.h"

#include <assert.h>

#include "processor/base/hash.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { CAPACITY_MIN = 16 };

void map_done(Map *map)
{
    mem_free(map->entries);
    *map = (Map){0};
}

void map_clear(Map *map)
{
    if (map->count > 0) {
        memset(map->entries, 0, map->capacity * sizeof *map->entries);
        map->count = 0;
    }
}

/* The slot of `key`, or the free slot where it would go. The table has a free slot. */
static MapEntry *find_slot(const Map *map, Str key, uint64_t hash)
{
    size_t mask = map->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        MapEntry *entry = &map->entries[i];
        if (entry->key.data == NULL || (entry->hash == hash && str_equal(entry->key, key))) {
            return entry;
        }
    }
}

static void grow(Map *map)
{
    Map larger = {.capacity = map->capacity == 0 ? CAPACITY_MIN : map->capacity * 2};
    larger.entries = mem_alloc_array(larger.capacity, sizeof *larger.entries);
    larger.count = map->count;
    for (size_t i = 0; i < map->capacity; i++) {
        const MapEntry *entry = &map->entries[i];
        if (entry->key.data != NULL) {
            *find_slot(&larger, entry->key, entry->hash) = *entry;
        }
    }
    mem_free(map->entries);
    *map = larger;
}

void *map_get(const Map *map, Str key)
{
    return map->count == 0 ? NULL : find_slot(map, key, hash_bytes(key))->value;
}

MapEntry *map_find_or_add(Map *map, Str key, uint64_t hash, bool *ret_added)
{
    assert(key.data != NULL);
    if ((map->count + 1) * 4 > map->capacity * 3) {
        grow(map);
    }
    MapEntry *entry = find_slot(map, key, hash);
    bool added = entry->key.data == NULL;
    if (added) {
        *entry = (MapEntry){.hash = hash, .key = key};
        map->count++;
    }
    if (ret_added != NULL) {
        *ret_added = added;
    }
    return entry;
}

void map_put(Map *map, Str key, void *value)
{
    map_find_or_add(map, key, hash_bytes(key), NULL)->value = value;
}

void map_remove(Map *map, Str key)
{
    if (map->count == 0) {
        return;
    }
    MapEntry *entry = find_slot(map, key, hash_bytes(key));
    if (entry->key.data == NULL) {
        return;
    }
    size_t mask = map->capacity - 1;
    size_t hole = (size_t)(entry - map->entries);
    for (size_t i = (hole + 1) & mask; map->entries[i].key.data != NULL; i = (i + 1) & mask) {
        size_t home = map->entries[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole] = (MapEntry){0};
    map->count--;
}

static MapEntry *scan_from(const Map *map, size_t i)
{
    for (; i < map->capacity; i++) {
        if (map->entries[i].key.data != NULL) {
            return &map->entries[i];
        }
    }
    return NULL;
}

MapEntry *map_first(const Map *map)
{
    return scan_from(map, 0);
}

MapEntry *map_next(const Map *map, const MapEntry *entry)
{
    return scan_from(map, (size_t)(entry - map->entries) + 1);
}
