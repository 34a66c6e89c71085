/* zip_with and map_zip_with: two lists made one by a lambda. What one of them lacks is NULL. */
#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* Pairs of elements, row by row: places in the children of both lists, NULL_ROW where one has none.
 */
typedef struct Pairs {
    uint32_t *row_of;
    uint32_t *left;
    uint32_t *right;
    uint32_t count;
    uint32_t *counts; /* by row */
} Pairs;

static bool both_valid(const KernelCall *call, uint32_t row)
{
    return vector_is_valid(call->arguments[0], row) && vector_is_valid(call->arguments[1], row);
}

static void pairs_new(const KernelCall *call, Pairs *ret)
{
    uint32_t count = 0;
    FOR_ROWS(call->rows, row, {
        count += list_count(call->arguments[0], row) + list_count(call->arguments[1], row);
    });
    *ret = (Pairs){.row_of = arena_new_array(call->arena, uint32_t, count),
                   .left = arena_new_array(call->arena, uint32_t, count),
                   .right = arena_new_array(call->arena, uint32_t, count),
                   .counts = list_counts_new(call)};
}

static void add_pair(Pairs *pairs, uint32_t row, uint32_t left, uint32_t right)
{
    pairs->row_of[pairs->count] = row;
    pairs->left[pairs->count] = left;
    pairs->right[pairs->count] = right;
    pairs->count++;
    pairs->counts[row]++;
}

/* The lambda over the pairs, its errors handed to their rows. */
static Vector *run_pairs(const KernelCall *call, Vector **columns, const Pairs *pairs)
{
    RowErrors errors = {0};
    const Vector *values =
        lambda_run(call, call_lambda(call, 0), columns, pairs->count, call->arena, &errors);
    Elements elements = {.count = pairs->count, .row_of = pairs->row_of};
    elements_fail(call, &elements, &errors);
    return vector_view(call->arena, values, 0, pairs->count);
}

/* ---- Arrays: by position ---- */

static void zip_with(const KernelCall *call)
{
    const Vector *left = call->arguments[0];
    const Vector *right = call->arguments[1];
    Pairs pairs;
    pairs_new(call, &pairs);
    FOR_ROWS(call->rows, row, {
        if (both_valid(call, row)) {
            pairs.counts[row] = 0;
            uint32_t left_count = list_count(left, row);
            uint32_t right_count = list_count(right, row);
            for (uint32_t i = 0; i < left_count || i < right_count; i++) {
                add_pair(&pairs, row, i < left_count ? left->offsets[row] + i : NULL_ROW,
                         i < right_count ? right->offsets[row] + i : NULL_ROW);
            }
        }
    });
    Vector **columns =
        lambda_columns(call, call_lambda(call, 0), call->arena, pairs.row_of, pairs.count);
    columns[0] = vector_gather(call->arena, left->children[0], pairs.left, pairs.count);
    columns[1] = vector_gather(call->arena, right->children[0], pairs.right, pairs.count);
    call->result->children[0] = run_pairs(call, columns, &pairs);
    list_finish_all(call, pairs.counts);
}

/* ---- Maps: by key ---- */

/* The place of the key in the row's map; NULL_ROW when it is not there. */
static uint32_t find_key(const Vector *map, uint32_t row, const Vector *keys, uint32_t key)
{
    for (uint32_t i = map->offsets[row]; i < map->offsets[row + 1]; i++) {
        if (vector_value_equal(map->children[0], i, keys, key)) {
            return i;
        }
    }
    return NULL_ROW;
}

/* Keys of the first map, in its order, then those only the second has. */
static void add_pairs_of_maps(const KernelCall *call, Pairs *pairs, uint32_t row)
{
    const Vector *left = call->arguments[0];
    const Vector *right = call->arguments[1];
    pairs->counts[row] = 0;
    for (uint32_t i = left->offsets[row]; i < left->offsets[row + 1]; i++) {
        add_pair(pairs, row, i, find_key(right, row, left->children[0], i));
    }
    for (uint32_t i = right->offsets[row]; i < right->offsets[row + 1]; i++) {
        if (find_key(left, row, right->children[0], i) == NULL_ROW) {
            add_pair(pairs, row, NULL_ROW, i);
        }
    }
}

static Vector *keys_of_pairs(const KernelCall *call, const Pairs *pairs)
{
    const Vector *left = call->arguments[0]->children[0];
    const Vector *right = call->arguments[1]->children[0];
    Vector *keys = vector_new(call->arena, left->type, pairs->count);
    for (uint32_t i = 0; i < pairs->count; i++) {
        if (pairs->left[i] != NULL_ROW) {
            vector_append_from(keys, call->arena, left, pairs->left[i]);
        } else {
            vector_append_from(keys, call->arena, right, pairs->right[i]);
        }
    }
    return keys;
}

static void map_zip_with(const KernelCall *call)
{
    Pairs pairs;
    pairs_new(call, &pairs);
    FOR_ROWS(call->rows, row, {
        if (both_valid(call, row)) {
            add_pairs_of_maps(call, &pairs, row);
        }
    });
    Vector **columns =
        lambda_columns(call, call_lambda(call, 0), call->arena, pairs.row_of, pairs.count);
    columns[0] = keys_of_pairs(call, &pairs);
    columns[1] =
        vector_gather(call->arena, call->arguments[0]->children[1], pairs.left, pairs.count);
    columns[2] =
        vector_gather(call->arena, call->arguments[1]->children[1], pairs.right, pairs.count);
    call->result->children[0] = columns[0];
    call->result->children[1] = run_pairs(call, columns, &pairs);
    list_finish_all(call, pairs.counts);
}

const Kernel kernel_zip_with = {.run = zip_with};
const Kernel kernel_map_zip_with = {.run = map_zip_with};
