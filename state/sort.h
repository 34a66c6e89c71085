/* Sorting entries by key for bulk writes. An entry is described by the first bytes of its key,
 * which settle most comparisons without touching it. Shared by the files of state/ only. */
#ifndef STATE_SORT_H
#define STATE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SORT_HEAD_WORDS = 3, SORT_HEAD_SIZE = 8 * SORT_HEAD_WORDS };

typedef struct SortItem {
    uint64_t
        head[SORT_HEAD_WORDS]; /* the first bytes of the key as numbers, zeros behind a short one */
    const void *entry;
} SortItem;

/* The head of a key, of which `size` bytes are at hand. */
SortItem sort_item_of(const void *entry, const char *key, size_t size);
static inline bool sort_same_head(const SortItem *a, const SortItem *b)
{
    return a->head[0] == b->head[0] && a->head[1] == b->head[1] && a->head[2] == b->head[2];
}
/* Sorts by head, then by `compare` (as memcmp) where heads are equal; stable. `scratch` has room
 * for as many. Gives the one of the two arrays the result is in. */
SortItem *sort_items(SortItem *items, SortItem *scratch, size_t count,
                     int (*compare)(const void *a, const void *b));

#endif
