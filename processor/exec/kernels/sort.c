/* sort_array and array_sort. Without a lambda every array is sorted by SQL's order of its elements;
 * equal elements stay in their order.
 *
 * A comparator is a lambda, and a lambda is cheap only for many pairs at once. So all arrays of the
 * batch are merge-sorted in step, bottom up: runs of 1, 2, 4 … elements; each step compares the
 * heads of every pair of runs that is being merged, of all arrays, in one call. */
#include <stdlib.h>
#include <string.h>

#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* ---- By the type's order ---- */

typedef struct Order {
    const Vector *vector;
    bool descending;
    bool nulls_last;
} Order;

static int compare_elements(const void *a, const void *b, void *context)
{
    const Order *order = context;
    uint32_t one = *(const uint32_t *)a;
    uint32_t other = *(const uint32_t *)b;
    bool one_valid = vector_is_valid(order->vector, one);
    bool other_valid = vector_is_valid(order->vector, other);
    int compared = 0;
    if (one_valid != other_valid) {
        return one_valid == order->nulls_last ? -1 : 1;
    }
    if (one_valid) {
        compared = value_compare(order->vector, one, order->vector, other);
        compared = order->descending ? -compared : compared;
    }
    return compared != 0 ? compared : one < other ? -1 : 1;
}

/* The places of the elements, each row's sorted. */
static uint32_t *places_of(const KernelCall *call, const Elements *elements)
{
    if (elements->places != NULL) {
        return elements->places;
    }
    uint32_t *places = arena_new_array(call->arena, uint32_t, elements->count);
    for (uint32_t i = 0; i < elements->count; i++) {
        places[i] = i;
    }
    return places;
}

/* The end of the run of elements that lie in the row of element `first`. */
static uint32_t end_of_row(const Elements *elements, uint32_t first)
{
    uint32_t end = first;
    while (end < elements->count && elements->row_of[end] == elements->row_of[first]) {
        end++;
    }
    return end;
}

static void give_sorted(const KernelCall *call, const uint32_t *places, uint32_t count)
{
    const Vector *list = call->arguments[0];
    call->result->children[0] = vector_gather(call->arena, list->children[0], places, count);
    list_finish_like(call, list);
}

static bool is_descending(const KernelCall *call, uint32_t row)
{
    return call->argument_count > 1 && vector_is_valid(call->arguments[1], row) &&
           VECTOR_VALUE(call->arguments[1], uint8_t, row) == 0;
}

static void sort_rows(const KernelCall *call, bool nulls_last)
{
    Elements elements;
    elements_of(call, call->arguments[0], &elements);
    uint32_t *places = places_of(call, &elements);
    uint32_t end = 0;
    for (uint32_t first = 0; first < elements.count; first = end) {
        end = end_of_row(&elements, first);
        bool descending = is_descending(call, elements.row_of[first]);
        Order order = {.vector = call->arguments[0]->children[0],
                       .descending = descending,
                       .nulls_last = nulls_last || descending};
        qsort_r(places + first, end - first, sizeof *places, compare_elements, &order);
    }
    give_sorted(call, places, elements.count);
}

/* sort_array: NULLs come first, or last when the order is descending. */
static void sort_array(const KernelCall *call)
{
    sort_rows(call, false);
    const Vector *ascending = call->argument_count > 1 ? call->arguments[1] : NULL;
    if (ascending == NULL || ascending->validity == NULL) {
        return;
    }
    FOR_ROWS(call->rows, row, {
        if (!vector_is_valid(ascending, row)) {
            vector_set_null(call->result, call->arena, row);
        }
    });
}

/* ---- By a comparator ---- */

/* Two neighbouring runs of places being merged: [left, left_end) and [right, right_end) to `out`.
 */
typedef struct Merge {
    uint32_t left;
    uint32_t left_end;
    uint32_t right;
    uint32_t right_end;
    uint32_t out;
    uint32_t row;
} Merge;

typedef struct MergeSort {
    const KernelCall *call;
    const Elements *elements;
    uint32_t *places;
    uint32_t *sorted; /* the next places */
    Merge *merges;
    uint32_t merge_count;
    Arena *arena; /* of one step */
} MergeSort;

/* Pairs of runs of `width` elements; what has no partner is copied as it is. */
static void find_merges(MergeSort *sort, uint32_t width)
{
    sort->merge_count = 0;
    uint32_t end = 0;
    for (uint32_t first = 0; first < sort->elements->count; first = end) {
        end = end_of_row(sort->elements, first);
        uint32_t at = first;
        for (; end - at > width; at += end - at > 2 * width ? 2 * width : end - at) {
            uint32_t right_end = end - at > 2 * width ? at + 2 * width : end;
            sort->merges[sort->merge_count++] =
                (Merge){at, at + width, at + width, right_end, at, sort->elements->row_of[first]};
        }
        memcpy(sort->sorted + at, sort->places + at, (end - at) * sizeof(uint32_t));
    }
}

static Error *comparator_failed(void)
{
    return error_new(ERROR_COMPARATOR_RETURNS_NULL,
                     "The comparator has returned a NULL for a comparison of two elements. It "
                     "should return a positive integer for \"greater than\", 0 for \"equal\" and a "
                     "negative integer for \"less than\". To handle NULLs in the array, say what "
                     "the comparator gives for them.");
}

/* Compares the heads of every merge: values[i] > 0 where the right one goes first. */
static const Vector *compare_heads(MergeSort *sort)
{
    const KernelCall *call = sort->call;
    const Lambda *lambda = call_lambda(call, 0);
    uint32_t count = sort->merge_count;
    uint32_t *rows = arena_new_array(sort->arena, uint32_t, count);
    uint32_t *left = arena_new_array(sort->arena, uint32_t, count);
    uint32_t *right = arena_new_array(sort->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = sort->merges[i].row;
        left[i] = sort->places[sort->merges[i].left];
        right[i] = sort->places[sort->merges[i].right];
    }
    const Vector *elements = call->arguments[0]->children[0];
    Vector **columns = lambda_columns(call, lambda, sort->arena, rows, count);
    columns[0] = vector_gather(sort->arena, elements, left, count);
    columns[1] = vector_gather(sort->arena, elements, right, count);
    RowErrors errors = {0};
    const Vector *values = lambda_run(call, lambda, columns, count, sort->arena, &errors);
    for (uint32_t i = 0; i < count; i++) {
        if (!vector_is_valid(values, i) && !row_errors_has(&errors, i)) {
            row_errors_add(&errors, i, comparator_failed());
        }
    }
    Elements pairs = {.count = count, .row_of = rows};
    elements_fail(call, &pairs, &errors);
    return values;
}

/* Moves one element of the merge to its place; false when the merge is through. */
static bool move_one(MergeSort *sort, Merge *merge, bool right_first)
{
    uint32_t *from = right_first ? &merge->right : &merge->left;
    sort->sorted[merge->out++] = sort->places[(*from)++];
    if (merge->left < merge->left_end && merge->right < merge->right_end) {
        return true;
    }
    uint32_t rest = merge->left < merge->left_end ? merge->left : merge->right;
    uint32_t end = merge->left < merge->left_end ? merge->left_end : merge->right_end;
    memcpy(sort->sorted + merge->out, sort->places + rest, (end - rest) * sizeof(uint32_t));
    return false;
}

static void merge_all(MergeSort *sort)
{
    while (sort->merge_count > 0) {
        const Vector *values = compare_heads(sort);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < sort->merge_count; i++) {
            bool right_first = vector_is_valid(values, i) && VECTOR_VALUE(values, int32_t, i) > 0;
            Merge merge = sort->merges[i];
            if (move_one(sort, &merge, right_first)) {
                sort->merges[kept++] = merge;
            }
        }
        sort->merge_count = kept;
        arena_reset(sort->arena);
    }
}

static uint32_t longest_row(const Elements *elements)
{
    uint32_t longest = 0;
    uint32_t end = 0;
    for (uint32_t first = 0; first < elements->count; first = end) {
        end = end_of_row(elements, first);
        longest = end - first > longest ? end - first : longest;
    }
    return longest;
}

static void sort_by_comparator(const KernelCall *call)
{
    Elements elements;
    elements_of(call, call->arguments[0], &elements);
    MergeSort sort = {.call = call,
                      .elements = &elements,
                      .places = places_of(call, &elements),
                      .sorted = arena_new_array(call->arena, uint32_t, elements.count),
                      .merges = arena_new_array(call->arena, Merge, elements.count / 2 + 1),
                      .arena = arena_new("sort")};
    uint32_t longest = longest_row(&elements);
    for (uint64_t width = 1; width < longest; width *= 2) {
        find_merges(&sort, (uint32_t)width);
        merge_all(&sort);
        uint32_t *sorted = sort.sorted;
        sort.sorted = sort.places;
        sort.places = sorted;
    }
    give_sorted(call, sort.places, elements.count);
    arena_free(sort.arena);
}

static void array_sort(const KernelCall *call)
{
    if (call_lambda_count(call) > 0) {
        sort_by_comparator(call);
    } else {
        sort_rows(call, true);
    }
}

const Kernel kernel_sort_array = {.run = sort_array};
const Kernel kernel_array_sort = {.run = array_sort};
