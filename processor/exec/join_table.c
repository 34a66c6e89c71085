/* The hash table of a join. Slots are probed one after the other from the low bits of the hash; a
 * slot keeps the high half as a tag, so that a look at other keys' rows is rare, and the first of a
 * chain of rows. Rows with the same tag share a chain; their keys are compared later, many pairs at
 * a time. Rows are put in from the last to the first, so that chains ascend.
 *
 * What misses the cache is asked for ahead: the slot of the key PREFETCH_AHEAD places on. */
#include "processor/exec/join_table.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

enum { PREFETCH_AHEAD = 24, SLOTS_MIN = 16 };

JoinTable *join_table_new(const KeyedRows *side, const bool *null_equal)
{
    JoinTable *table = mem_new(JoinTable);
    table->side = side;
    table->null_equal = null_equal;
    table->rows = row_store_new(side->extended);
    table->arena = arena_new("join table");
    return table;
}

void join_table_free(JoinTable *table)
{
    if (table == NULL) {
        return;
    }
    row_store_free(table->rows);
    arena_free(table->arena);
    mem_free(table);
}

void join_table_add(JoinTable *table, const Batch *extended)
{
    row_store_append(table->rows, extended);
    table->count = row_store_count(table->rows);
}

static size_t slot_count(uint32_t rows)
{
    size_t count = SLOTS_MIN;
    while (count < (size_t)rows * 2) {
        count *= 2;
    }
    return count;
}

size_t join_table_bytes(const JoinTable *table)
{
    size_t bytes = row_store_bytes(table->rows) + table->count;
    if (table->side->key_count > 0) {
        bytes += slot_count(table->count) * sizeof(JoinSlot) +
                 (size_t)table->count * (sizeof(uint32_t) + sizeof(uint64_t));
    }
    for (size_t i = 0; i < table->side->key_count; i++) {
        const Type *type = table->side->extended->fields[table->side->key_columns[i]].type;
        bytes += (size_t)table->count * type_value_size(type);
    }
    return bytes;
}

/* ---- Building ---- */

/* Key columns in one piece, so that a row's key is found by its number alone. */
static void gather_keys(JoinTable *table)
{
    size_t key_count = table->side->key_count;
    uint32_t *all = mem_alloc_array(table->count, sizeof *all);
    for (uint32_t row = 0; row < table->count; row++) {
        all[row] = row;
    }
    table->keys = arena_new_array(table->arena, Vector *, key_count);
    for (size_t i = 0; i < key_count; i++) {
        table->keys[i] = row_store_gather(table->rows, table->side->key_columns[i], all,
                                          table->count, table->arena);
    }
    mem_free(all);
}

static bool key_is_null(const JoinTable *table, uint32_t row)
{
    for (size_t i = 0; i < table->side->key_count; i++) {
        if (!table->null_equal[i] && keyed_value_is_null(table->keys[i], row)) {
            return true;
        }
    }
    return false;
}

/* Can a key that `=` compares be NULL? */
static bool may_be_null(const JoinTable *table, const Vector *const *keys)
{
    for (size_t i = 0; i < table->side->key_count; i++) {
        if (!table->null_equal[i] &&
            (keys[i]->validity != NULL || type_physical(keys[i]->type) == PHYSICAL_NONE)) {
            return true;
        }
    }
    return false;
}

/* True: the row joined a chain that was there. */
static inline bool put_in(JoinTable *table, uint32_t row, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (uint64_t at = hash & table->mask;; at = (at + 1) & table->mask) {
        JoinSlot *slot = &table->slots[at];
        if (slot->head == ROW_NONE) {
            *slot = (JoinSlot){tag, row};
            return false;
        }
        if (slot->tag == tag) {
            table->next[row] = slot->head;
            slot->head = row;
            return true;
        }
    }
}

static void put_in_all(JoinTable *table, const uint64_t *hashes)
{
    bool nulls = may_be_null(table, (const Vector *const *)table->keys);
    bool chains = false;
    for (uint32_t row = table->count; row-- > 0;) {
        if (row >= PREFETCH_AHEAD) {
            __builtin_prefetch(&table->slots[hashes[row - PREFETCH_AHEAD] & table->mask], 1);
        }
        if (!nulls || !key_is_null(table, row)) {
            chains |= put_in(table, row, hashes[row]);
        }
    }
    if (!chains) {
        table->next = NULL;
    }
}

void join_table_finish(JoinTable *table)
{
    table->matched = arena_new_array(table->arena, uint8_t, table->count);
    if (table->side->key_count == 0) {
        return;
    }
    gather_keys(table);
    size_t slots = slot_count(table->count);
    table->mask = slots - 1;
    table->slots = arena_alloc(table->arena, arena_array_size_(slots, sizeof(JoinSlot)));
    memset(table->slots, 0xFF, slots * sizeof(JoinSlot)); /* ROW_NONE */
    table->next = arena_alloc(table->arena, arena_array_size_(table->count, sizeof *table->next));
    memset(table->next, 0xFF, table->count * sizeof *table->next);
    uint64_t *hashes = mem_alloc_array(table->count, sizeof *hashes);
    row_hash((const Vector *const *)table->keys, table->side->key_count, (Rows){NULL, table->count},
             hashes);
    put_in_all(table, hashes);
    mem_free(hashes);
}

/* ---- Finding ---- */

static inline uint32_t find(const JoinTable *table, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (uint64_t at = hash & table->mask;; at = (at + 1) & table->mask) {
        JoinSlot slot = table->slots[at];
        if (slot.tag == tag || slot.head == ROW_NONE) {
            return slot.head;
        }
    }
}

static void find_all(const JoinTable *table, const uint64_t *hashes, Rows rows, uint32_t *heads)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        if (i + PREFETCH_AHEAD < rows.count) {
            uint64_t ahead = hashes[rows_at(rows, i + PREFETCH_AHEAD)];
            __builtin_prefetch(&table->slots[ahead & table->mask]);
        }
        heads[i] = find(table, hashes[rows_at(rows, i)]);
    }
}

static void forget_nulls(const JoinTable *table, const Vector *const *keys, Rows rows,
                         uint32_t *heads)
{
    for (size_t k = 0; k < table->side->key_count; k++) {
        for (uint32_t i = 0; !table->null_equal[k] && i < rows.count; i++) {
            if (keyed_value_is_null(keys[k], rows_at(rows, i))) {
                heads[i] = ROW_NONE;
            }
        }
    }
}

void join_table_find(const JoinTable *table, const Vector *const *keys, Rows rows, Arena *arena,
                     uint32_t *heads)
{
    if (table->side->key_count == 0 || table->count == 0) {
        for (uint32_t i = 0; i < rows.count; i++) {
            heads[i] = table->count == 0 ? ROW_NONE : 0;
        }
        return;
    }
    uint64_t *hashes = arena_alloc(arena, arena_array_size_(keys[0]->length, sizeof *hashes));
    row_hash(keys, table->side->key_count, rows, hashes);
    find_all(table, hashes, rows, heads);
    if (may_be_null(table, keys)) {
        forget_nulls(table, keys, rows, heads);
    }
}
