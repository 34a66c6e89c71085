/* Map: byte-string keys to pointers, open addressing. Keys are borrowed: they must live as long as
 * the entry (put them in an arena). map_done frees the table, never the values. Zeroed = empty. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "processor/base/str.h"

typedef struct MapEntry {
    uint64_t hash;
    Str key; /* data == NULL: free slot */
    void *value;
} MapEntry;

typedef struct Map {
    MapEntry *entries;
    size_t capacity; /* 0 or a power of two */
    size_t count;
} Map;

/* Frees the table, never keys and values. */
void map_done(Map *map);
/* Forgets all entries, keeps the table. */
void map_clear(Map *map);
/* NULL when absent. */
void *map_get(const Map *map, Str key);
/* Sets or replaces; key.data must not be NULL. */
void map_put(Map *map, Str key, void *value);
/* The place of the value of `key`, made (with value NULL) when absent; valid until the next put.
 * *ret_added tells which; it may be NULL. The caller may replace entry->key by a longer-lived copy
 * of equal bytes. */
MapEntry *map_find_or_add(Map *map, Str key, uint64_t hash, bool *ret_added);
/* Removes the entry if present. */
void map_remove(Map *map, Str key);

/* for (MapEntry *e = map_first(&m); e != NULL; e = map_next(&m, e)) — order unspecified. */
MapEntry *map_first(const Map *map);
MapEntry *map_next(const Map *map, const MapEntry *entry);

#endif
