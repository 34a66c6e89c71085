/* KeyTable: open addressing with linear probing. The home of a hash is its share of the capacity
 * (a multiplication, so any capacity will do), removal shifts what follows back, so there are no
 * tombstones. Eviction is the clock algorithm: a hand goes round, takes the mark from slots used
 * since it last passed and removes those without. */
#include "state/key_table.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    CAPACITY_FIRST = 1024,
    CAPACITY_LEAST = 16384, /* what memory_bytes cannot go below: a few batches of keys */
    LOAD_MAX = 85,          /* share of the slots in use, in percent */
};

typedef struct OutsideSequence {
    uint32_t size;
    char bytes[];
} OutsideSequence;

struct KeyTable {
    KeySlot *slots;
    size_t capacity;
    size_t capacity_max; /* by memory_bytes */
    size_t count;
    size_t hand; /* where eviction goes on */
    uint64_t seed;
    bool complete;
    bool evicted; /* a key, since filling began */
};

/* In large pages, for every look-up lands on another one. Zeroed. */
static KeySlot *slots_new(size_t capacity)
{
    KeySlot *slots = mem_alloc_array(capacity, sizeof *slots);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)slots + page - 1) & ~(page - 1);
    uintptr_t end = (uintptr_t)(slots + capacity) & ~(page - 1);
    if (end > start) {
        (void)madvise((char *)slots + (start - (uintptr_t)slots), end - start, MADV_HUGEPAGE);
    }
    return slots;
}

/* ------------------------------------------------------------------------------ sequence ---- */

static OutsideSequence *outside_of(const KeySlot *slot)
{
    OutsideSequence *outside;
    memcpy(&outside, slot->sequence, sizeof outside);
    return outside;
}

static void drop_sequence(KeySlot *slot)
{
    if (slot->sequence_size == KEY_SLOT_OUTSIDE) {
        mem_free(outside_of(slot));
    }
    slot->sequence_size = 0;
}

Str key_slot_sequence(const KeySlot *slot)
{
    if (slot->sequence_size == KEY_SLOT_OUTSIDE) {
        const OutsideSequence *outside = outside_of(slot);
        return (Str){outside->bytes, outside->size};
    }
    return (Str){slot->sequence, slot->sequence_size};
}

void key_slot_set_sequence(KeySlot *slot, Str sequence)
{
    if (sequence.size <= KEY_SLOT_INLINE) {
        drop_sequence(slot);
        memcpy(slot->sequence, sequence.data, sequence.size);
        slot->sequence_size = (uint8_t)sequence.size;
        return;
    }
    OutsideSequence *old = slot->sequence_size == KEY_SLOT_OUTSIDE ? outside_of(slot) : NULL;
    OutsideSequence *outside = mem_realloc(old, sizeof *outside + sequence.size);
    outside->size = (uint32_t)sequence.size;
    memcpy(outside->bytes, sequence.data, sequence.size);
    memcpy(slot->sequence, &outside, sizeof outside);
    slot->sequence_size = KEY_SLOT_OUTSIDE;
}

/* --------------------------------------------------------------------------------- table ---- */

__extension__ typedef unsigned __int128 Uint128;

static bool is_free(const KeySlot *slot)
{
    return (slot->hash.high | slot->hash.low) == 0;
}

static bool hash_equal(Hash128 a, Hash128 b)
{
    return a.high == b.high && a.low == b.low;
}

static size_t home_of(const KeyTable *table, Hash128 hash)
{
    return (size_t)(((Uint128)hash.high * table->capacity) >> 64);
}

static size_t next_of(const KeyTable *table, size_t at)
{
    return at + 1 == table->capacity ? 0 : at + 1;
}

KeyTable *key_table_new(size_t memory_bytes)
{
    KeyTable *table = mem_new(KeyTable);
    size_t slots = memory_bytes / sizeof(KeySlot);
    table->capacity_max = slots < CAPACITY_LEAST ? CAPACITY_LEAST : slots;
    table->capacity = CAPACITY_FIRST;
    table->slots = slots_new(table->capacity);
    table->complete = true;
    if (getrandom(&table->seed, sizeof table->seed, 0) != sizeof table->seed) {
        table->seed = (uint64_t)clock_monotonic_us();
    }
    return table;
}

void key_table_free(KeyTable *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        drop_sequence(&table->slots[i]);
    }
    mem_free(table->slots);
    mem_free(table);
}

Hash128 key_table_hash(const KeyTable *table, Str key)
{
    Hash128 hash = hash_bytes_128(key, table->seed);
    hash.low |= 1; /* zero marks a free slot */
    return hash;
}

void key_table_prefetch(const KeyTable *table, Hash128 hash)
{
    __builtin_prefetch(&table->slots[home_of(table, hash)]);
}

/* The slot of the hash, or the free one where it would go. */
static size_t probe(const KeyTable *table, Hash128 hash)
{
    size_t at = home_of(table, hash);
    while (!is_free(&table->slots[at]) && !hash_equal(table->slots[at].hash, hash)) {
        at = next_of(table, at);
    }
    return at;
}

KeySlot *key_table_find(const KeyTable *table, Hash128 hash)
{
    KeySlot *slot = &table->slots[probe(table, hash)];
    return is_free(slot) ? NULL : slot;
}

KeySlot *key_table_find_or_add(KeyTable *table, Hash128 hash, bool *ret_added)
{
    KeySlot *slot = &table->slots[probe(table, hash)];
    *ret_added = is_free(slot);
    if (*ret_added) {
        assert(table->count < table->capacity - 1);
        slot->hash = hash;
        table->count++;
    }
    slot->recent = true;
    return slot;
}

/* Is `home` between the hole and `at`, going round? Then the slot at `at` may not move into the
 * hole: probing would start behind it. */
static bool starts_behind(size_t hole, size_t home, size_t at)
{
    return hole <= at ? hole < home && home <= at : hole < home || home <= at;
}

static void remove_at(KeyTable *table, size_t hole)
{
    drop_sequence(&table->slots[hole]);
    for (size_t at = next_of(table, hole); !is_free(&table->slots[at]); at = next_of(table, at)) {
        if (!starts_behind(hole, home_of(table, table->slots[at].hash), at)) {
            table->slots[hole] = table->slots[at];
            hole = at;
        }
    }
    table->slots[hole] = (KeySlot){0};
    table->count--;
}

void key_table_remove(KeyTable *table, Hash128 hash)
{
    size_t at = probe(table, hash);
    if (!is_free(&table->slots[at])) {
        table->evicted = true; /* filling may have passed it already */
        remove_at(table, at);
    }
}

/* ------------------------------------------------------------------------------- bounds ---- */

static void resize(KeyTable *table, size_t capacity)
{
    KeySlot *old = table->slots;
    size_t old_capacity = table->capacity;
    table->slots = slots_new(capacity);
    table->capacity = capacity;
    table->hand = 0;
    for (size_t i = 0; i < old_capacity; i++) {
        if (!is_free(&old[i])) {
            table->slots[probe(table, old[i].hash)] = old[i];
        }
    }
    mem_free(old);
}

static size_t used_max(size_t capacity)
{
    return capacity / 100 * LOAD_MAX;
}

static void grow_within(KeyTable *table, size_t wanted)
{
    while (wanted > used_max(table->capacity) && table->capacity < table->capacity_max) {
        size_t twice = table->capacity * 2;
        resize(table, twice < table->capacity_max ? twice : table->capacity_max);
    }
}

/* At most two rounds: the first takes the marks away. What waits to be written stays. */
static void evict_until(KeyTable *table, size_t used, uint32_t written_epoch)
{
    for (size_t steps = 0; table->count > used && steps < 2 * table->capacity; steps++) {
        KeySlot *slot = &table->slots[table->hand];
        if (!is_free(slot) && slot->epoch <= written_epoch && !slot->recent) {
            table->complete = false;
            table->evicted = true;
            remove_at(table, table->hand); /* what moved here is looked at next */
            continue;
        }
        slot->recent = false;
        table->hand = next_of(table, table->hand);
    }
}

void key_table_reserve(KeyTable *table, size_t count, uint32_t written_epoch)
{
    size_t wanted = table->count + count;
    grow_within(table, wanted);
    if (wanted <= used_max(table->capacity)) {
        return;
    }
    evict_until(table, used_max(table->capacity) - count, written_epoch);
    while (table->count + count > used_max(table->capacity)) {
        resize(table, table->capacity + table->capacity / 2);
    }
}

size_t key_table_room(const KeyTable *table)
{
    return used_max(table->capacity_max);
}

bool key_table_is_complete(const KeyTable *table)
{
    return table->complete;
}

void key_table_set_incomplete(KeyTable *table)
{
    table->complete = false;
}

void key_table_begin_filling(KeyTable *table)
{
    table->evicted = false;
}

void key_table_end_filling(KeyTable *table)
{
    table->complete = !table->evicted;
}

bool key_table_has_room(const KeyTable *table, size_t count)
{
    return table->count + count <= used_max(table->capacity_max);
}

size_t key_table_count(const KeyTable *table)
{
    return table->count;
}

size_t key_table_bytes(const KeyTable *table)
{
    return table->capacity * sizeof(KeySlot);
}
