/* A merge sort, bottom up from short runs sorted by insertion. */
#include "state/sort.h"

#include <string.h>

#include "processor/base/banned.h"

enum { SMALL_SORT = 12 };

typedef int (*Compare)(const void *a, const void *b);

static uint64_t read_head(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

SortItem sort_item_of(const void *entry, const char *key, size_t size)
{
    char head[SORT_HEAD_SIZE] = {0};
    memcpy(head, key, size < SORT_HEAD_SIZE ? size : SORT_HEAD_SIZE);
    return (SortItem){{read_head(head), read_head(head + 8), read_head(head + 16)}, entry};
}

/* Whether `b` must come before `a`. */
static inline bool is_behind(const SortItem *a, const SortItem *b, Compare compare)
{
    if (a->head[0] != b->head[0]) {
        return a->head[0] > b->head[0];
    }
    if (a->head[1] != b->head[1]) {
        return a->head[1] > b->head[1];
    }
    if (a->head[2] != b->head[2]) {
        return a->head[2] > b->head[2];
    }
    return compare(a->entry, b->entry) > 0;
}

static void sort_small(SortItem *items, size_t count, Compare compare)
{
    for (size_t i = 1; i < count; i++) {
        SortItem moved = items[i];
        size_t to = i;
        for (; to > 0 && is_behind(&items[to - 1], &moved, compare); to--) {
            items[to] = items[to - 1];
        }
        items[to] = moved;
    }
}

static void merge(const SortItem *left, const SortItem *middle, const SortItem *end, SortItem *out,
                  Compare compare)
{
    const SortItem *right = middle;
    const SortItem *a = left;
    while (a < middle && right < end) {
        *out++ = is_behind(a, right, compare) ? *right++ : *a++;
    }
    memcpy(out, a, (size_t)(middle - a) * sizeof *out);
    memcpy(out + (middle - a), right, (size_t)(end - right) * sizeof *out);
}

SortItem *sort_items(SortItem *items, SortItem *scratch, size_t count, Compare compare)
{
    SortItem *from = items;
    SortItem *to = scratch;
    for (size_t i = 0; i < count; i += SMALL_SORT) {
        sort_small(from + i, count - i < SMALL_SORT ? count - i : SMALL_SORT, compare);
    }
    for (size_t width = SMALL_SORT; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t middle = i + width < count ? i + width : count;
            size_t end = middle + width < count ? middle + width : count;
            merge(from + i, from + middle, from + end, to + i, compare);
        }
        SortItem *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}
