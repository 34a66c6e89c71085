/* See elements.h. Lists are taken apart and put together by offsets, not element by element: where
 * every row is asked for, the children are used as they are. */
#include "processor/exec/kernels/elements.h"

#include <assert.h>
#include <string.h>

#include "processor/data/value_text.h"
#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

/* ---- Apart ---- */

/* Are the elements of all rows just the children from the first to the last? */
static bool is_dense(const KernelCall *call, const Vector *list)
{
    if (call->rows.selection != NULL || call->rows.count != call->row_count ||
        list->offsets[0] != 0) {
        return false;
    }
    for (uint32_t row = 0; list->validity != NULL && row < call->row_count; row++) {
        if (!vector_is_valid(list, row) && list_count(list, row) > 0) {
            return false;
        }
    }
    return true;
}

void elements_of(const KernelCall *call, const Vector *list, Elements *ret)
{
    uint32_t count = 0;
    FOR_ROWS(call->rows, row, { count += vector_is_valid(list, row) ? list_count(list, row) : 0; });
    bool dense = is_dense(call, list);
    *ret = (Elements){.count = count, .row_of = arena_new_array(call->arena, uint32_t, count)};
    ret->places = dense ? NULL : arena_new_array(call->arena, uint32_t, count);
    uint32_t element = 0;
    FOR_ROWS(call->rows, row, {
        for (uint32_t i = list->offsets[row];
             vector_is_valid(list, row) && i < list->offsets[row + 1]; i++) {
            ret->row_of[element] = row;
            if (!dense) {
                ret->places[element] = i;
            }
            element++;
        }
    });
}

Vector *elements_gather(const KernelCall *call, const Elements *elements, const Vector *child)
{
    return elements->places == NULL
               ? vector_view(call->arena, child, 0, elements->count)
               : vector_gather(call->arena, child, elements->places, elements->count);
}

void elements_fail(const KernelCall *call, const Elements *elements, RowErrors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        kernel_fail(call, elements->row_of[errors->rows[i]], errors->errors[i]);
    }
    errors->count = 0;
    row_errors_done(errors);
}

/* ---- Together ---- */

uint32_t *list_counts_new(const KernelCall *call)
{
    uint32_t *counts =
        arena_alloc(call->arena, arena_array_size_(call->row_count + 1, sizeof(uint32_t)));
    memset(counts, 0xFF, call->row_count * sizeof(uint32_t));
    return counts;
}

void list_finish_all(const KernelCall *call, const uint32_t *counts)
{
    Vector *result = call->result;
    assert(result->capacity >= call->row_count);
    uint32_t end = 0;
    for (uint32_t row = 0; row < call->row_count; row++) {
        if (counts[row] == NULL_ROW) {
            vector_set_null(result, call->arena, row);
        } else {
            end += counts[row];
        }
        result->offsets[row + 1] = end;
    }
    result->length = call->row_count;
    assert(end == result->children[0]->length);
}

void list_finish_like(const KernelCall *call, const Vector *list)
{
    uint32_t *counts = list_counts_new(call);
    FOR_ROWS(call->rows, row, {
        if (vector_is_valid(list, row)) {
            counts[row] = list_count(list, row);
        }
    });
    list_finish_all(call, counts);
}

/* ---- Sets of elements ---- */

uint64_t *element_hashes(Arena *arena, const Vector *vector)
{
    uint64_t *hashes = arena_new_array(arena, uint64_t, vector->length);
    if (vector->length > 0 && type_physical(vector->type) != PHYSICAL_NONE) {
        row_hash(&vector, 1, (Rows){NULL, vector->length}, hashes);
    }
    return hashes;
}

void element_set_start(ElementSet *set, uint32_t element_count)
{
    uint32_t capacity = 8;
    while (capacity < element_count * 2) {
        capacity *= 2;
    }
    if (capacity > set->slot_capacity) {
        set->slots = arena_new_array(set->arena, uint32_t, capacity);
        set->slot_capacity = capacity;
    } else {
        memset(set->slots, 0, capacity * sizeof(uint32_t));
    }
    set->mask = capacity - 1;
}

static bool same_element(const Vector *a, uint32_t element_a, const Vector *b, uint32_t element_b)
{
    return type_physical(a->type) == PHYSICAL_NONE ||
           vector_value_equal(a, element_a, b, element_b);
}

/* The slot that holds an equal element, or the free one where it belongs. */
static uint32_t find_slot(const ElementSet *set, const Vector *vector, uint32_t element,
                          uint64_t hash)
{
    uint32_t slot = (uint32_t)(hash ^ hash >> 32) & set->mask;
    while (set->slots[slot] != 0) {
        uint32_t other = set->slots[slot] - 1;
        if (set->hashes[other] == hash && same_element(set->vector, other, vector, element)) {
            break;
        }
        slot = (slot + 1) & set->mask;
    }
    return slot;
}

bool element_set_has(const ElementSet *set, const Vector *vector, uint32_t element, uint64_t hash)
{
    return set->slots[find_slot(set, vector, element, hash)] != 0;
}

bool element_set_add(ElementSet *set, uint32_t element)
{
    uint32_t slot = find_slot(set, set->vector, element, set->hashes[element]);
    if (set->slots[slot] != 0) {
        return false;
    }
    set->slots[slot] = element + 1;
    return true;
}

/* ---- Keys of maps ---- */

enum { FEW_KEYS = 16 };

static bool has_twice(const KernelCall *call, const Vector *keys, uint32_t first, uint32_t end,
                      uint32_t *ret_key)
{
    for (uint32_t i = first; end - first <= FEW_KEYS && i < end; i++) {
        for (uint32_t k = first; k < i; k++) {
            if (vector_value_equal(keys, i, keys, k)) {
                *ret_key = i;
                return true;
            }
        }
    }
    if (end - first <= FEW_KEYS) {
        return false;
    }
    Vector *own = vector_new(call->arena, keys->type, end - first);
    for (uint32_t i = first; i < end; i++) {
        vector_append_from(own, call->arena, keys, i);
    }
    ElementSet set = {
        .vector = own, .hashes = element_hashes(call->arena, own), .arena = call->arena};
    element_set_start(&set, own->length);
    for (uint32_t i = 0; i < own->length; i++) {
        if (!element_set_add(&set, i)) {
            *ret_key = first + i;
            return true;
        }
    }
    return false;
}

bool map_keys_are_good(const KernelCall *call, uint32_t row, const Vector *keys, uint32_t first,
                       uint32_t end)
{
    uint32_t twice = 0;
    for (uint32_t i = first; i < end; i++) {
        if (!vector_is_valid(keys, i) || type_physical(keys->type) == PHYSICAL_NONE) {
            kernel_fail(call, row, error_new(ERROR_NULL_MAP_KEY, "Cannot use null as map key."));
            return false;
        }
    }
    if (has_twice(call, keys, first, end, &twice)) {
        AUTO_BUFFER Buffer key = {0};
        value_format(keys, twice, call->context->time_zone, &key);
        kernel_fail(call, row,
                    error_new(ERROR_DUPLICATED_MAP_KEY,
                              "Duplicate map key %s was found, please check the input data.",
                              buffer_cstr(&key)));
        return false;
    }
    return true;
}
