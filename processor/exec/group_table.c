/* Groups by key.
 *
 *     slots    open addressing: 32 bits of the hash, the group's number + 1
 *     chunks   blocks of a power of two of groups: states · keys · number · null bits
 *
 * A row costs two cache misses in a large table: its slot, and its group's block with states and
 * keys side by side. Both are asked for ahead: a first loop fetches the slots of the whole batch, a
 * second one follows them (a slot is believed when its 32 hash bits agree) and fetches the blocks,
 * then keys are compared column by column. The rare row that met another key with the same bits
 * goes on alone. The upper bits of the hash choose the slot, so a slot knows enough to be moved
 * when the table grows; the lower ones stay free for partitions.
 *
 * Texts are copied into the table's arena, nested keys into a vector a column. */
#include "processor/exec/group_table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

enum { SLOTS_MIN_BITS = 10, CHUNK_BYTES = 64 * 1024, SLAB_BYTES_MAX = 16 << 20, LINE = 64 };

typedef struct Slot {
    uint32_t hash;  /* upper half */
    uint32_t group; /* number + 1; 0: free */
} Slot;

typedef struct Key {
    const Type *type;
    uint32_t offset; /* in the block */
    uint32_t size;   /* 0: nested, in `values` */
    Vector *values;
} Key;

struct GroupTable {
    Key *keys;
    size_t key_count;
    Arena *arena;
    Slot *slots;
    unsigned slot_bits;
    char **chunks; /* aligned to cache lines */
    size_t chunk_count;
    size_t chunk_capacity;
    void **slabs; /* memory of many chunks each */
    size_t slab_count;
    size_t slab_capacity;
    char *slab_next; /* chunks the last slab has left */
    size_t slab_left;
    unsigned chunk_shift; /* groups a chunk: 1 << chunk_shift */
    size_t block_size;
    uint32_t null_offset;   /* bit i: key i is NULL */
    uint32_t number_offset; /* uint32_t */
    uint32_t count;
};

/* ---- Layout ---- */

static size_t round_up(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

static void lay_out(GroupTable *table, const Type *const *types, size_t state_size)
{
    size_t at = round_up(state_size, 8);
    for (size_t i = 0; i < table->key_count; i++) {
        Key *key = &table->keys[i];
        key->type = types[i];
        key->size = (uint32_t)type_value_size(types[i]);
        if (key->size == 0) {
            key->values = vector_new(table->arena, types[i], 0);
            continue;
        }
        at = round_up(at, key->size);
        key->offset = (uint32_t)at;
        at += key->size;
    }
    at = round_up(at, sizeof(uint32_t));
    table->number_offset = (uint32_t)at;
    table->null_offset = (uint32_t)(at + sizeof(uint32_t));
    table->block_size = round_up(table->null_offset + (table->key_count + 7) / 8, 16);
    while ((table->block_size << (table->chunk_shift + 1)) <= CHUNK_BYTES) {
        table->chunk_shift++;
    }
}

GroupTable *group_table_new(const Type *const *key_types, size_t key_count, size_t state_size)
{
    GroupTable *table = mem_new(GroupTable);
    table->arena = arena_new("groups");
    table->key_count = key_count;
    table->keys = mem_alloc_array(key_count, sizeof(Key));
    lay_out(table, key_types, state_size);
    table->slot_bits = SLOTS_MIN_BITS;
    table->slots = mem_alloc_array((size_t)1 << SLOTS_MIN_BITS, sizeof(Slot));
    return table;
}

void group_table_free(GroupTable *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->slab_count; i++) {
        mem_free(table->slabs[i]);
    }
    mem_free(table->slabs);
    mem_free(table->chunks);
    mem_free(table->slots);
    mem_free(table->keys);
    arena_free(table->arena);
    mem_free(table);
}

uint32_t group_table_count(const GroupTable *table)
{
    return table->count;
}

static inline char *block_of(const GroupTable *table, uint32_t group)
{
    uint32_t in_chunk = group & ((UINT32_C(1) << table->chunk_shift) - 1);
    return table->chunks[group >> table->chunk_shift] + in_chunk * table->block_size;
}

void *group_table_block(const GroupTable *table, uint32_t group)
{
    assert(group < table->count);
    return block_of(table, group);
}

uint32_t group_table_number(const GroupTable *table, const void *block)
{
    uint32_t number;
    memcpy(&number, (const char *)block + table->number_offset, sizeof number);
    return number;
}

size_t group_table_bytes(const GroupTable *table)
{
    return (sizeof(Slot) << table->slot_bits) +
           table->chunk_count * (table->block_size << table->chunk_shift) +
           arena_held_bytes(table->arena);
}

/* ---- Slots ---- */

static inline size_t slot_at(const GroupTable *table, uint32_t hash)
{
    return hash >> (32 - table->slot_bits);
}

static inline size_t next_slot(const GroupTable *table, size_t at)
{
    return (at + 1) & (((size_t)1 << table->slot_bits) - 1);
}

/* At most half of the slots are taken, also when every row to come makes a group. */
static void reserve(GroupTable *table, uint32_t more)
{
    uint64_t wanted = ((uint64_t)table->count + more) * 2;
    if (wanted <= (uint64_t)1 << table->slot_bits) {
        return;
    }
    GroupTable old = *table;
    while (wanted > (uint64_t)1 << table->slot_bits) {
        table->slot_bits += table->slot_bits < 16 ? 2 : 1;
    }
    assert(table->slot_bits <= 32);
    table->slots = mem_alloc_large_pages((size_t)1 << table->slot_bits, sizeof(Slot));
    for (size_t i = 0; i < (size_t)1 << old.slot_bits; i++) {
        if (old.slots[i].group != 0) {
            size_t at = slot_at(table, old.slots[i].hash);
            while (table->slots[at].group != 0) {
                at = next_slot(table, at);
            }
            table->slots[at] = old.slots[i];
        }
    }
    mem_free(old.slots);
}

/* ---- Keys in blocks ---- */

static inline bool stored_null(const GroupTable *table, const char *block, size_t key)
{
    return (block[table->null_offset + key / 8] >> (key % 8) & 1) != 0;
}

static inline bool is_null(const Vector *vector, uint32_t row)
{
    return !vector_is_valid(vector, row) || type_physical(vector->type) == PHYSICAL_NONE;
}

static void append_normal(Vector *to, const Vector *from, uint32_t row, Arena *arena);

/* The entries of a map by their keys: Spark shows the map of a group so. */
static void append_map(Vector *to, const Vector *from, uint32_t row, Arena *arena)
{
    uint32_t begin = from->offsets[row];
    uint32_t count = from->offsets[row + 1] - begin;
    uint32_t *order = mem_alloc_array(count, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 &&
               value_compare(from->children[0], order[at - 1], from->children[0], begin + i) > 0;
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = begin + i;
    }
    for (uint32_t i = 0; i < count; i++) {
        append_normal(to->children[0], from->children[0], order[i], arena);
        append_normal(to->children[1], from->children[1], order[i], arena);
    }
    mem_free(order);
    vector_finish_list(to, arena);
}

/* Deep copy; of equal values the same one. A type's depth is bounded by the parser. */
static void append_normal(Vector *to, const Vector *from, uint32_t row, Arena *arena)
{
    if (is_null(from, row) || type_child_count(to->type) == 0) {
        append_copy(to, from, row, arena);
        return;
    }
    switch (to->type->kind) {
    case TYPE_MAP:
        append_map(to, from, row, arena);
        return;
    case TYPE_ARRAY:
        for (uint32_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
            append_normal(to->children[0], from->children[0], i, arena);
        }
        vector_finish_list(to, arena);
        return;
    default:
        for (uint32_t i = 0; i < to->child_count; i++) {
            append_normal(to->children[i], from->children[i], row, arena);
        }
        vector_finish_struct(to, arena);
    }
}

static void store_nested(GroupTable *table, Key *key, const Vector *from, uint32_t row)
{
    uint32_t number = key->values->length;
    append_normal(key->values, from, row, table->arena);
    row_normalize(key->values, number);
}

static void store_value(GroupTable *table, const Key *key, char *to, const Vector *from,
                        uint32_t row)
{
    switch (type_physical(key->type)) {
    case PHYSICAL_STR: {
        Str copy = VECTOR_VALUE(from, Str, row);
        char *bytes = arena_alloc_bytes(table->arena, copy.size + 1);
        if (copy.size > 0) {
            memcpy(bytes, copy.data, copy.size);
        }
        copy.data = bytes;
        memcpy(to, &copy, sizeof copy);
        return;
    }
    case PHYSICAL_FLOAT: {
        float value = (float)row_normal_double((double)VECTOR_VALUE(from, float, row));
        memcpy(to, &value, sizeof value);
        return;
    }
    case PHYSICAL_DOUBLE: {
        double value = row_normal_double(VECTOR_VALUE(from, double, row));
        memcpy(to, &value, sizeof value);
        return;
    }
    default:
        memcpy(to, (const char *)from->data + (size_t)row * key->size, key->size);
    }
}

static void store_keys(GroupTable *table, char *block, const Vector *const *keys, uint32_t row)
{
    for (size_t i = 0; i < table->key_count; i++) {
        Key *key = &table->keys[i];
        if (is_null(keys[i], row)) {
            char *bits = &block[table->null_offset + i / 8];
            *bits = (char)(*bits | 1 << (i % 8));
        } else if (key->size > 0) {
            store_value(table, key, block + key->offset, keys[i], row);
        }
        if (key->size == 0) {
            store_nested(table, key, keys[i], row);
        }
    }
}

/* As many chunks as there are already, up to a limit: large tables lie on large pages, of which the
 * processor's page table cache holds enough. */
static void new_slab(GroupTable *table)
{
    size_t chunk_bytes = table->block_size << table->chunk_shift;
    size_t count = table->chunk_count == 0 ? 1 : table->chunk_count;
    size_t count_max = SLAB_BYTES_MAX / chunk_bytes;
    count = count > count_max ? count_max : count;
    count = count == 0 ? 1 : count;
    mem_reserve(table->slabs, &table->slab_capacity, table->slab_count + 1);
    char *memory = mem_alloc_large_pages(count * chunk_bytes + LINE, 1);
    table->slabs[table->slab_count++] = memory;
    table->slab_next = memory + (LINE - (uintptr_t)memory % LINE) % LINE;
    table->slab_left = count;
}

static void new_chunk(GroupTable *table)
{
    if (table->slab_left == 0) {
        new_slab(table);
    }
    mem_reserve(table->chunks, &table->chunk_capacity, table->chunk_count + 1);
    table->chunks[table->chunk_count++] = table->slab_next;
    table->slab_next += table->block_size << table->chunk_shift;
    table->slab_left--;
}

static char *new_group(GroupTable *table, const Vector *const *keys, uint32_t row)
{
    uint32_t number = table->count++;
    assert(table->count != 0);
    if (number >> table->chunk_shift == table->chunk_count) {
        new_chunk(table);
    }
    char *block = block_of(table, number);
    memcpy(block + table->number_offset, &number, sizeof number);
    store_keys(table, block, keys, row);
    return block;
}

/* ---- Comparing ---- */

/* Clears the flag of every row that differs from its block in this key. */
typedef void MatchKey(const GroupTable *table, size_t key, const Vector *values, Rows rows,
                      void *const *blocks, uint8_t *matches);

#define MATCH_KEY(name, CType, equal)                                                              \
    static void match_##name(const GroupTable *table, size_t key, const Vector *values, Rows rows, \
                             void *const *blocks, uint8_t *matches)                                \
    {                                                                                              \
        const CType *data = values->data;                                                          \
        const uint32_t offset = table->keys[key].offset;                                           \
        for (uint32_t i = 0; i < rows.count; i++) {                                                \
            const char *block = blocks[i];                                                         \
            if (block == NULL) {                                                                   \
                continue;                                                                          \
            }                                                                                      \
            const uint32_t row = rows_at(rows, i);                                                 \
            const bool null = !vector_is_valid(values, row);                                       \
            if (UNLIKELY(null || stored_null(table, block, key))) {                                \
                matches[i] &= null && stored_null(table, block, key);                              \
                continue;                                                                          \
            }                                                                                      \
            const CType a = data[row];                                                             \
            CType b;                                                                               \
            memcpy(&b, block + offset, sizeof b);                                                  \
            matches[i] &= (equal);                                                                 \
        }                                                                                          \
    }

MATCH_KEY(int8, uint8_t, a == b)
MATCH_KEY(int16, uint16_t, a == b)
MATCH_KEY(int32, uint32_t, a == b)
MATCH_KEY(int64, uint64_t, a == b)
MATCH_KEY(int128, int128, a == b)
MATCH_KEY(float, float, a == b || (isnan(a) && isnan(b)))
MATCH_KEY(double, double, a == b || (isnan(a) && isnan(b)))
MATCH_KEY(str, Str, str_equal(a, b))

static void match_nested(const GroupTable *table, size_t key, const Vector *values, Rows rows,
                         void *const *blocks, uint8_t *matches)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        if (blocks[i] != NULL) {
            matches[i] &= row_value_equal(values, rows_at(rows, i), table->keys[key].values,
                                          group_table_number(table, blocks[i]));
        }
    }
}

static void match_none(const GroupTable *table, size_t key, const Vector *values, Rows rows,
                       void *const *blocks, uint8_t *matches)
{
    (void)table;
    (void)key;
    (void)values;
    (void)rows;
    (void)blocks;
    (void)matches;
}

static void match_keys(const GroupTable *table, const Vector *const *keys, Rows rows,
                       void *const *blocks, uint8_t *matches)
{
    static MatchKey *const loops[PHYSICAL_STRUCT + 1] = {
        [PHYSICAL_NONE] = match_none,     [PHYSICAL_BOOL] = match_int8,
        [PHYSICAL_INT8] = match_int8,     [PHYSICAL_INT16] = match_int16,
        [PHYSICAL_INT32] = match_int32,   [PHYSICAL_INT64] = match_int64,
        [PHYSICAL_INT128] = match_int128, [PHYSICAL_FLOAT] = match_float,
        [PHYSICAL_DOUBLE] = match_double, [PHYSICAL_STR] = match_str,
        [PHYSICAL_LIST] = match_nested,   [PHYSICAL_STRUCT] = match_nested,
    };
    for (size_t i = 0; i < table->key_count; i++) {
        loops[type_physical(table->keys[i].type)](table, i, keys[i], rows, blocks, matches);
    }
}

/* ---- Finding ---- */

typedef struct Search {
    GroupTable *table;
    const Vector *const *keys;
    const uint64_t *hashes;
    Rows rows;
    GroupRows *out;
    bool add;
} Search;

/* The row at a free slot: a new group, or none. */
static void *at_free_slot(const Search *search, size_t at, uint32_t i)
{
    GroupTable *table = search->table;
    if (!search->add) {
        search->out->missing_count++;
        return NULL;
    }
    uint32_t row = rows_at(search->rows, i);
    char *block = new_group(table, search->keys, row);
    table->slots[at] = (Slot){(uint32_t)(search->hashes[row] >> 32), table->count};
    search->out->added[search->out->added_count++] = (uint16_t)i;
    return block;
}

static void fetch_slots(const Search *search)
{
    const GroupTable *table = search->table;
    for (uint32_t i = 0; i < search->rows.count; i++) {
        uint64_t hash = search->hashes[rows_at(search->rows, i)];
        __builtin_prefetch(&table->slots[slot_at(table, (uint32_t)(hash >> 32))]);
    }
}

/* The first slot of each row whose hash bits agree: most probably its group. */
static void follow_slots(const Search *search)
{
    const GroupTable *table = search->table;
    for (uint32_t i = 0; i < search->rows.count; i++) {
        uint32_t hash = (uint32_t)(search->hashes[rows_at(search->rows, i)] >> 32);
        size_t at = slot_at(table, hash);
        while (table->slots[at].group != 0 && table->slots[at].hash != hash) {
            at = next_slot(table, at);
        }
        if (table->slots[at].group == 0) {
            search->out->blocks[i] = at_free_slot(search, at, i);
        } else {
            search->out->blocks[i] = block_of(table, table->slots[at].group - 1);
            __builtin_prefetch(search->out->blocks[i]);
        }
    }
}

static bool row_matches(const Search *search, uint32_t row, void *block)
{
    uint16_t selection = (uint16_t)row;
    uint8_t match = 1;
    match_keys(search->table, search->keys, (Rows){&selection, 1}, &block, &match);
    return match != 0;
}

/* A row that met another key with its hash bits: looked for slot by slot. */
static void *find_alone(const Search *search, uint32_t i)
{
    const GroupTable *table = search->table;
    uint32_t row = rows_at(search->rows, i);
    uint32_t hash = (uint32_t)(search->hashes[row] >> 32);
    size_t at = slot_at(table, hash);
    for (; table->slots[at].group != 0; at = next_slot(table, at)) {
        if (table->slots[at].hash == hash) {
            char *block = block_of(table, table->slots[at].group - 1);
            if (row_matches(search, row, block)) {
                return block;
            }
        }
    }
    return at_free_slot(search, at, i);
}

static int by_position(const void *a, const void *b)
{
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static void find_all(const Search *search)
{
    GroupRows *out = search->out;
    out->added_count = 0;
    out->missing_count = 0;
    fetch_slots(search);
    follow_slots(search);
    uint8_t matches[BATCH_ROWS];
    memset(matches, 1, search->rows.count);
    match_keys(search->table, search->keys, search->rows, out->blocks, matches);
    uint32_t added = out->added_count;
    for (uint32_t i = 0; i < search->rows.count; i++) {
        if (UNLIKELY(matches[i] == 0)) {
            out->blocks[i] = find_alone(search, i);
        }
    }
    if (out->added_count > added) {
        qsort(out->added, out->added_count, sizeof(uint16_t), by_position);
    }
}

void group_table_add(GroupTable *table, const Vector *const *keys, const uint64_t *hashes,
                     Rows rows, GroupRows *ret)
{
    reserve(table, rows.count);
    find_all(&(Search){table, keys, hashes, rows, ret, true});
}

void group_table_find(GroupTable *table, const Vector *const *keys, const uint64_t *hashes,
                      Rows rows, GroupRows *ret)
{
    find_all(&(Search){table, keys, hashes, rows, ret, false});
}

/* ---- Reading keys ---- */

static Vector *nested_keys(const Key *key, uint32_t first, uint32_t count, Arena *arena)
{
    Vector *result = vector_new(arena, key->type, count);
    for (uint32_t i = 0; i < count; i++) {
        vector_append_from(result, arena, key->values, first + i);
    }
    return result;
}

Vector *group_table_keys(const GroupTable *table, size_t key_index, uint32_t first, uint32_t count,
                         Arena *arena)
{
    assert(first + count <= table->count);
    const Key *key = &table->keys[key_index];
    if (key->size == 0) {
        return nested_keys(key, first, count, arena);
    }
    Vector *result = vector_new(arena, key->type, count);
    result->length = count;
    char *to = result->data;
    for (uint32_t i = 0; i < count; i++) {
        const char *block = block_of(table, first + i);
        if (stored_null(table, block, key_index)) {
            vector_set_null(result, arena, i);
        } else {
            memcpy(to + (size_t)i * key->size, block + key->offset, key->size);
        }
    }
    return result;
}
