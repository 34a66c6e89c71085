/* Sort keys: the key columns of a row as bytes whose memcmp order is the wanted one (data's
 * key_encoding, bytes inverted for DESC, NULLs put first or last), cut in two: 16 bytes as two
 * numbers, which decide nearly always, and the rest. No key is a prefix of another, so short ones
 * are filled up with zeros. */
#ifndef EXEC_SORT_KEYS_H
#define EXEC_SORT_KEYS_H

#include <string.h>

#include "processor/exec/kernel.h"

typedef struct SortOrder {
    bool descending;
    bool nulls_first;
} SortOrder;

enum { SORT_KEY_HEAD = 16 };

typedef struct SortKey {
    uint64_t high;
    uint64_t low;
    uint32_t row; /* the caller's number of the row; `rests` are found by it */
} SortKey;

/* Keys of the rows asked for: keys[i] and rests[i] of the i-th of them, keys[i].row = i. False: no
 * key is longer than 16 bytes, `rests` is not written. Bytes of rests lie in `arena`. */
bool sort_keys_encode(const SortOrder *orders, const Vector *const *columns, size_t column_count,
                      Rows rows, Arena *arena, SortKey *keys, Str *rests);
/* Sorts stably; `rests` by SortKey.row, NULL when there are none. */
void sort_keys_sort(SortKey *keys, uint32_t count, const Str *rests);

static inline int sort_rest_compare(Str a, Str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    return size == 0 ? 0 : memcmp(a.data, b.data, size);
}

/* < 0: a comes before b. Each with its own rest. */
static inline int sort_key_compare(const SortKey *a, Str rest_a, const SortKey *b, Str rest_b)
{
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    return sort_rest_compare(rest_a, rest_b);
}

#endif
