/* Merge sort from the bottom up: stable, and as it goes through a callback, with few comparisons.
 */
#include "processor/exec/aggregates/row_order.h"

#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

static uint32_t min_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Merges the sorted runs [begin, middle) and [middle, end) of `rows` into `spare`. */
static void merge(const uint32_t *rows, uint32_t *spare, uint32_t begin, uint32_t middle,
                  uint32_t end, IsBehind *is_behind, const void *context)
{
    uint32_t left = begin;
    uint32_t right = middle;
    for (uint32_t to = begin; to < end; to++) {
        bool take_right =
            left == middle || (right < end && is_behind(context, rows[left], rows[right]));
        spare[to] = rows[take_right ? right++ : left++];
    }
}

uint32_t *row_order_new(uint32_t count, IsBehind *is_behind, const void *context)
{
    uint32_t *rows = mem_alloc_array(2 * (size_t)count, sizeof(uint32_t));
    uint32_t *spare = rows + count;
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = i;
    }
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t begin = 0; begin < count; begin += 2 * width) {
            uint32_t middle = min_of((uint32_t)(begin + width), count);
            uint32_t end = begin + 2 * width < count ? (uint32_t)(begin + 2 * width) : count;
            merge(rows, spare, (uint32_t)begin, middle, end, is_behind, context);
        }
        memcpy(rows, spare, count * sizeof *rows);
    }
    return rows;
}
