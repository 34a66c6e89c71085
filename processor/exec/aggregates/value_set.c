/* Distinct values in a state. Most sets are small: up to LINEAR_MAX values are compared one after
 * the other by their hashes, a table of slots comes only then. */
#include "processor/exec/aggregates/value_set.h"

#include <string.h>

#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

enum { CAPACITY_MIN = 4, LINEAR_MAX = 8 };

static bool holds(const ValueSet *set, uint32_t index, const Vector *from, uint32_t row,
                  uint64_t hash)
{
    return set->hashes[index] == hash && row_value_equal(set->values, index, from, row);
}

/* The slot of the value, or the free one where it belongs. */
static uint32_t slot_of(const ValueSet *set, const Vector *from, uint32_t row, uint64_t hash)
{
    uint32_t mask = set->slot_count - 1;
    uint32_t at = (uint32_t)hash & mask;
    while (set->slots[at] != 0 &&
           (from == NULL || !holds(set, set->slots[at] - 1, from, row, hash))) {
        at = (at + 1) & mask;
    }
    return at;
}

static void make_slots(ValueSet *set, Arena *arena)
{
    set->slot_count = set->capacity * 2;
    set->slots = arena_new_array(arena, uint32_t, set->slot_count);
    for (uint32_t i = 0; i < set->values->length; i++) {
        set->slots[slot_of(set, NULL, 0, set->hashes[i])] = i + 1;
    }
}

static void grow(ValueSet *set, const Type *type, Arena *arena)
{
    if (set->values == NULL) {
        set->values = vector_new(arena, type, CAPACITY_MIN);
    }
    uint32_t count = set->values->length;
    if (count < set->capacity) {
        return;
    }
    set->capacity = set->capacity == 0 ? CAPACITY_MIN : set->capacity * 2;
    int64_t *counts = arena_new_array(arena, int64_t, set->capacity);
    uint64_t *hashes = arena_new_array(arena, uint64_t, set->capacity);
    if (count > 0) {
        memcpy(counts, set->counts, count * sizeof *counts);
        memcpy(hashes, set->hashes, count * sizeof *hashes);
    }
    set->counts = counts;
    set->hashes = hashes;
    if (set->capacity > LINEAR_MAX) {
        make_slots(set, arena);
    }
}

static bool find(const ValueSet *set, const Vector *from, uint32_t row, uint64_t hash,
                 uint32_t *ret_index)
{
    uint32_t count = set->values == NULL ? 0 : set->values->length;
    if (set->slots != NULL) {
        uint32_t slot = set->slots[slot_of(set, from, row, hash)];
        *ret_index = slot - 1;
        return slot != 0;
    }
    for (*ret_index = 0; *ret_index < count; ++*ret_index) {
        if (holds(set, *ret_index, from, row, hash)) {
            return true;
        }
    }
    return false;
}

void value_set_add(ValueSet *set, const Vector *from, uint32_t row, uint64_t hash, Arena *arena)
{
    uint32_t index = 0;
    if (!find(set, from, row, hash, &index)) {
        grow(set, from->type, arena);
        index = set->values->length;
        append_copy(set->values, from, row, arena);
        row_normalize(set->values, index);
        set->hashes[index] = hash;
        if (set->slots != NULL) {
            set->slots[slot_of(set, NULL, 0, hash)] = index + 1;
        }
    }
    set->counts[index]++;
}
