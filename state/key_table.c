/* KeyTable: open addressing with linear probing, in parts that grow one at a time, so that growing
 * takes little memory beside the table and little time at once. The home of a hash is its share of
 * the capacity (a multiplication, so any capacity will do), removal shifts what follows back, so
 * there are no tombstones. Eviction is the clock algorithm: a hand goes round, takes the mark from
 * slots used since it last passed and removes those without. */
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
    PARTS_MAX = 16,
    CAPACITY_FIRST = 256, /* of a part */
    CAPACITY_LEAST =
        4096,      /* what memory_bytes cannot bring a part below: a batch of keys and more */
    LOAD_MAX = 85, /* share of the slots in use, in percent */
};

typedef struct OutsideSequence {
    uint32_t size;
    char bytes[];
} OutsideSequence;

typedef struct Part {
    KeySlot *slots;
    size_t capacity;
    size_t count;
    size_t hand; /* where eviction goes on */
} Part;

struct KeyTable {
    Part parts[PARTS_MAX];
    size_t part_count;   /* a power of two */
    size_t capacity_max; /* of a part, by memory_bytes */
    size_t count;
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

/* One half of the hash chooses the part, the other the place in it. */
static size_t part_number(const KeyTable *table, Hash128 hash)
{
    return (hash.low >> 32) & (table->part_count - 1);
}

static size_t home_of(const Part *part, Hash128 hash)
{
    return (size_t)(((Uint128)hash.high * part->capacity) >> 64);
}

static size_t next_of(const Part *part, size_t at)
{
    return at + 1 == part->capacity ? 0 : at + 1;
}

KeyTable *key_table_new(size_t memory_bytes)
{
    KeyTable *table = mem_new(KeyTable);
    size_t slots = memory_bytes / sizeof(KeySlot);
    table->part_count = PARTS_MAX;
    while (table->part_count > 1 && slots / table->part_count < CAPACITY_LEAST) {
        table->part_count /= 2;
    }
    slots /= table->part_count;
    table->capacity_max = slots < CAPACITY_LEAST ? CAPACITY_LEAST : slots;
    for (size_t i = 0; i < table->part_count; i++) {
        table->parts[i].capacity = CAPACITY_FIRST;
        table->parts[i].slots = slots_new(CAPACITY_FIRST);
    }
    table->complete = true;
    if (getrandom(&table->seed, sizeof table->seed, 0) != sizeof table->seed) {
        table->seed = (uint64_t)clock_monotonic_us();
    }
    return table;
}

static void part_done(const Part *part)
{
    for (size_t i = 0; i < part->capacity; i++) {
        drop_sequence(&part->slots[i]);
    }
    mem_free(part->slots);
}

void key_table_free(KeyTable *table)
{
    if (table != NULL) {
        for (size_t i = 0; i < table->part_count; i++) {
            part_done(&table->parts[i]);
        }
        mem_free(table);
    }
}

Hash128 key_table_hash(const KeyTable *table, Str key)
{
    Hash128 hash = hash_bytes_128(key, table->seed);
    hash.low |= 1; /* zero marks a free slot */
    return hash;
}

void key_table_prefetch(const KeyTable *table, Hash128 hash)
{
    const Part *part = &table->parts[part_number(table, hash)];
    __builtin_prefetch(&part->slots[home_of(part, hash)]);
}

/* The slot of the hash, or the free one where it would go. */
static size_t probe(const Part *part, Hash128 hash)
{
    size_t at = home_of(part, hash);
    while (!is_free(&part->slots[at]) && !hash_equal(part->slots[at].hash, hash)) {
        at = next_of(part, at);
    }
    return at;
}

KeySlot *key_table_find(const KeyTable *table, Hash128 hash)
{
    const Part *part = &table->parts[part_number(table, hash)];
    KeySlot *slot = &part->slots[probe(part, hash)];
    return is_free(slot) ? NULL : slot;
}

KeySlot *key_table_find_or_add(KeyTable *table, Hash128 hash, bool *ret_added)
{
    Part *part = &table->parts[part_number(table, hash)];
    KeySlot *slot = &part->slots[probe(part, hash)];
    *ret_added = is_free(slot);
    if (*ret_added) {
        assert(part->count < part->capacity - 1);
        slot->hash = hash;
        part->count++;
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

static void remove_at(KeyTable *table, Part *part, size_t hole)
{
    drop_sequence(&part->slots[hole]);
    for (size_t at = next_of(part, hole); !is_free(&part->slots[at]); at = next_of(part, at)) {
        if (!starts_behind(hole, home_of(part, part->slots[at].hash), at)) {
            part->slots[hole] = part->slots[at];
            hole = at;
        }
    }
    part->slots[hole] = (KeySlot){0};
    part->count--;
    table->count--;
}

void key_table_remove(KeyTable *table, Hash128 hash)
{
    Part *part = &table->parts[part_number(table, hash)];
    size_t at = probe(part, hash);
    if (!is_free(&part->slots[at])) {
        table->evicted = true; /* filling may have passed it already */
        remove_at(table, part, at);
    }
}

/* ------------------------------------------------------------------------------- bounds ---- */

static void resize(Part *part, size_t capacity)
{
    Part old = *part;
    part->slots = slots_new(capacity);
    part->capacity = capacity;
    part->hand = 0;
    for (size_t i = 0; i < old.capacity; i++) {
        if (!is_free(&old.slots[i])) {
            part->slots[probe(part, old.slots[i].hash)] = old.slots[i];
        }
    }
    mem_free(old.slots);
}

static size_t used_max(size_t capacity)
{
    return capacity * LOAD_MAX / 100;
}

static void grow_within(const KeyTable *table, Part *part, size_t wanted)
{
    while (wanted > used_max(part->capacity) && part->capacity < table->capacity_max) {
        size_t twice = part->capacity * 2;
        resize(part, twice < table->capacity_max ? twice : table->capacity_max);
    }
}

/* At most two rounds: the first takes the marks away. What waits to be written stays. */
static void evict_until(KeyTable *table, Part *part, size_t used, uint32_t written_epoch)
{
    for (size_t steps = 0; part->count > used && steps < 2 * part->capacity; steps++) {
        KeySlot *slot = &part->slots[part->hand];
        if (!is_free(slot) && slot->epoch <= written_epoch && !slot->recent) {
            table->complete = false;
            table->evicted = true;
            remove_at(table, part, part->hand); /* what moved here is looked at next */
            continue;
        }
        slot->recent = false;
        part->hand = next_of(part, part->hand);
    }
}

static void reserve(KeyTable *table, Part *part, size_t count, uint32_t written_epoch)
{
    size_t wanted = part->count + count;
    grow_within(table, part, wanted);
    if (wanted <= used_max(part->capacity)) {
        return;
    }
    size_t room = used_max(part->capacity);
    evict_until(table, part, room > count ? room - count : 0, written_epoch);
    while (part->count + count > used_max(part->capacity)) {
        resize(part, part->capacity + part->capacity / 2);
    }
}

/* Nobody knows how the keys will be spread: each part has room for all of them. */
void key_table_reserve(KeyTable *table, size_t count, uint32_t written_epoch)
{
    assert(count <= KEY_TABLE_RESERVE_MAX);
    for (size_t i = 0; i < table->part_count; i++) {
        reserve(table, &table->parts[i], count, written_epoch);
    }
}

size_t key_table_room(const KeyTable *table)
{
    return (used_max(table->capacity_max) - KEY_TABLE_RESERVE_MAX) * table->part_count;
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

bool key_table_has_evicted(const KeyTable *table)
{
    return table->evicted;
}

void key_table_end_filling(KeyTable *table)
{
    table->complete = !table->evicted;
}

bool key_table_has_room(const KeyTable *table, size_t count)
{
    for (size_t i = 0; i < table->part_count; i++) {
        if (table->parts[i].count + count > used_max(table->capacity_max)) {
            return false;
        }
    }
    return true;
}

size_t key_table_count(const KeyTable *table)
{
    return table->count;
}

size_t key_table_bytes(const KeyTable *table)
{
    size_t slots = 0;
    for (size_t i = 0; i < table->part_count; i++) {
        slots += table->parts[i].capacity;
    }
    return slots * sizeof(KeySlot);
}

void key_table_renumber(KeyTable *table, uint32_t written_epoch)
{
    for (size_t i = 0; i < table->part_count; i++) {
        const Part *part = &table->parts[i];
        for (size_t at = 0; at < part->capacity; at++) {
            KeySlot *slot = &part->slots[at];
            slot->epoch = slot->epoch > written_epoch ? slot->epoch - written_epoch : 0;
        }
    }
}
