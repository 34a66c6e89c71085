/* KeyTable: open addressing with linear probing, in parts that grow one at a time, so that growing
 * takes little memory beside the table and little time at once. The home of a hash is its share of
 * the capacity (a multiplication, so any capacity will do), removal shifts what follows back, so
 * there are no tombstones. Eviction is the clock algorithm: a hand goes round, takes the mark from
 * slots used since it last passed and puts those without into the part's archive. A key that came
 * back from there leaves its entry behind: the slot is what counts, and is written over it when it
 * is put away again. */
#include "state/key_table.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

#include "processor/base/clock.h"
#include "processor/base/memory.h"
#include "state/key_archive.h"

#include "processor/base/banned.h"

enum {
    PARTS_MAX = 16,
    CAPACITY_FIRST = 256, /* of a part, at most */
    BATCHES_LEAST = 2,    /* what memory_bytes cannot bring a part below, in batches of keys */
    LOAD_MAX = 75,        /* share of the slots in use, in percent */
    SLOTS_LEAST = 8,      /* share of the memory that is slots at least: an eighth */
    SHRINK_ABOVE =
        10, /* slots beyond what the archive leaves them, in percent, before a part shrinks */
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
    size_t step; /* … and how far it goes: coprime with the capacity */
    KeyArchive archive;
} Part;

/* Keys are put away as soon as slots do not suffice, if their sequences are short enough. */
typedef enum Archiving { NOT_NEEDED_YET, ARCHIVING, NOT_POSSIBLE } Archiving;

struct KeyTable {
    Part parts[PARTS_MAX];
    size_t part_count;  /* a power of two */
    size_t part_bytes;  /* of a part's slots and archive */
    size_t slots_least; /* of a part */
    size_t batch_max;
    Archiving archiving;
    size_t count; /* keys known, in slots or put away */
    uint64_t seed;
    bool complete;
    bool evicted; /* a key was forgotten, since filling began */
};

/* In large pages, for every look-up lands on another one. Zeroed. */
static KeySlot *slots_new(size_t capacity)
{
    return mem_alloc_pages(capacity, sizeof(KeySlot));
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

static size_t greatest_common_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A hand that went from slot to slot would leave empty ones behind it and find ever fuller ones
 * before it, where a search takes hundreds of steps. It jumps, and still comes to each one. */
static size_t hand_step(size_t capacity)
{
    size_t step = (size_t)((double)capacity * 0.618);
    while (greatest_common_divisor(step, capacity) != 1) {
        step++;
    }
    return step;
}

static void part_init(Part *part, size_t capacity)
{
    part->slots = slots_new(capacity);
    part->capacity = capacity;
    part->hand = 0;
    part->step = hand_step(capacity);
}

KeyTable *key_table_new(size_t memory_bytes, size_t batch_max)
{
    assert(batch_max > 0 && batch_max <= KEY_TABLE_RESERVE_MAX);
    KeyTable *table = mem_new(KeyTable);
    table->batch_max = batch_max;
    size_t least = BATCHES_LEAST * batch_max;
    size_t slots = memory_bytes / sizeof(KeySlot);
    table->part_count = PARTS_MAX;
    while (table->part_count > 1 && slots / table->part_count < least) {
        table->part_count /= 2;
    }
    slots /= table->part_count;
    slots = slots < least ? least : slots;
    table->part_bytes = slots * sizeof(KeySlot);
    table->slots_least = slots / SLOTS_LEAST < least ? least : slots / SLOTS_LEAST;
    size_t first = table->slots_least < CAPACITY_FIRST ? table->slots_least : CAPACITY_FIRST;
    for (size_t i = 0; i < table->part_count; i++) {
        part_init(&table->parts[i], first);
    }
    table->complete = true;
    if (getrandom(&table->seed, sizeof table->seed, 0) != sizeof table->seed) {
        table->seed = (uint64_t)clock_monotonic_us();
    }
    return table;
}

static void part_done(Part *part)
{
    for (size_t i = 0; i < part->capacity; i++) {
        drop_sequence(&part->slots[i]);
    }
    mem_free_pages(part->slots, part->capacity, sizeof(KeySlot));
    key_archive_done(&part->archive);
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
    key_archive_prefetch(&part->archive, hash);
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

static KeySlot *add_slot(Part *part, KeySlot *slot, Hash128 hash)
{
    assert(part->count < part->capacity - 1);
    slot->hash = hash;
    part->count++;
    return slot;
}

/* Gives the key a slot again; its entry stays behind. */
static bool take_back(Part *part, KeySlot *slot, Hash128 hash)
{
    ArchivedKey key;
    if (!key_archive_find(&part->archive, hash, &key)) {
        return false;
    }
    add_slot(part, slot, hash);
    slot->count = key.count;
    key_slot_set_sequence(slot, key.sequence);
    return true;
}

KeySlot *key_table_find(KeyTable *table, Hash128 hash)
{
    Part *part = &table->parts[part_number(table, hash)];
    KeySlot *slot = &part->slots[probe(part, hash)];
    return is_free(slot) && !take_back(part, slot, hash) ? NULL : slot;
}

KeySlot *key_table_find_or_add(KeyTable *table, Hash128 hash, bool *ret_added)
{
    Part *part = &table->parts[part_number(table, hash)];
    KeySlot *slot = &part->slots[probe(part, hash)];
    *ret_added = is_free(slot) && !take_back(part, slot, hash);
    if (*ret_added) {
        add_slot(part, slot, hash);
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

static void remove_at(Part *part, size_t hole)
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
}

void key_table_remove(KeyTable *table, Hash128 hash)
{
    Part *part = &table->parts[part_number(table, hash)];
    size_t at = probe(part, hash);
    bool has_slot = !is_free(&part->slots[at]);
    if (has_slot) {
        remove_at(part, at);
    }
    if (key_archive_remove(&part->archive, hash) || has_slot) {
        table->evicted = true; /* filling may have passed it already */
        table->count--;
    }
}

/* ------------------------------------------------------------------------------- bounds ---- */

static size_t jump(const Part *part, size_t at)
{
    at += part->step;
    return at < part->capacity ? at : at - part->capacity;
}

static void resize(Part *part, size_t capacity)
{
    Part old = *part;
    part_init(part, capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        if (!is_free(&old.slots[i])) {
            part->slots[probe(part, old.slots[i].hash)] = old.slots[i];
        }
    }
    mem_free_pages(old.slots, old.capacity, sizeof(KeySlot));
}

static size_t used_max(size_t capacity)
{
    return capacity * LOAD_MAX / 100;
}

/* Slots a part may have beside its archive. */
static size_t capacity_max(const KeyTable *table, const Part *part)
{
    size_t archive = key_archive_bytes(&part->archive);
    size_t left = archive < table->part_bytes ? (table->part_bytes - archive) / sizeof(KeySlot) : 0;
    return left < table->slots_least ? table->slots_least : left;
}

static void grow_within(const KeyTable *table, Part *part, size_t wanted)
{
    size_t most = capacity_max(table, part);
    while (wanted > used_max(part->capacity) && part->capacity < most) {
        size_t twice = part->capacity * 2;
        resize(part, twice < most ? twice : most);
    }
}

/* Sequences of a table are of one type: those of a full part show how long they are. */
static void begin_archiving(KeyTable *table, const Part *full)
{
    size_t longest = 0;
    for (size_t at = 0; at < full->capacity; at++) {
        size_t size = is_free(&full->slots[at]) ? 0 : key_slot_sequence(&full->slots[at]).size;
        longest = size > longest ? size : longest;
    }
    table->archiving = longest <= KEY_ARCHIVE_SEQUENCE_MAX ? ARCHIVING : NOT_POSSIBLE;
    size_t bytes = table->part_bytes - table->slots_least * sizeof(KeySlot);
    for (size_t i = 0; table->archiving == ARCHIVING && i < table->part_count; i++) {
        key_archive_init(&table->parts[i].archive, longest, bytes);
    }
}

static void note_forgotten(KeyTable *table)
{
    table->complete = false;
    table->evicted = true;
    table->count--;
}

static bool has_slot(const Part *part, Hash128 archived)
{
    size_t at = home_of(part, archived);
    while (!is_free(&part->slots[at])) {
        if (key_archive_hash_matches(archived, part->slots[at].hash)) {
            return true;
        }
        at = next_of(part, at);
    }
    return false;
}

/* What is known of the key goes into the archive; false where it does not fit. */
static bool put_into_archive(KeyTable *table, Part *part, const KeySlot *slot)
{
    Str sequence = key_slot_sequence(slot);
    if (table->archiving != ARCHIVING ||
        !key_archive_fits(&part->archive, slot->count, sequence.size)) {
        return false;
    }
    Hash128 replaced;
    ArchivePut put = key_archive_put(&part->archive, slot->hash, slot->count, sequence, &replaced);
    if (put == ARCHIVE_REPLACED && !has_slot(part, replaced)) {
        note_forgotten(table);
    }
    return put != ARCHIVE_FULL;
}

static void evict_at(KeyTable *table, Part *part, size_t at)
{
    if (!put_into_archive(table, part, &part->slots[at])) {
        (void)key_archive_remove(&part->archive, part->slots[at].hash); /* what it was before */
        note_forgotten(table);
    }
    remove_at(part, at);
}

/* At most two rounds: the first takes the marks away. What waits to be written stays. */
static void evict_until(KeyTable *table, Part *part, size_t used, uint32_t written_epoch)
{
    size_t ahead = jump(part, jump(part, jump(part, part->hand)));
    for (size_t steps = 0; part->count > used && steps < 2 * part->capacity; steps++) {
        KeySlot *slot = &part->slots[part->hand];
        if (!is_free(slot) && slot->epoch <= written_epoch && !slot->recent) {
            evict_at(table, part, part->hand); /* what moved here is looked at next */
            continue;
        }
        slot->recent = false;
        part->hand = jump(part, part->hand);
        ahead = jump(part, ahead);
        __builtin_prefetch(&part->slots[ahead]);
    }
}

/* The archive has grown into the memory of the slots. */
static void shrink(const KeyTable *table, Part *part)
{
    size_t most = capacity_max(table, part);
    if (part->capacity > most + most * SHRINK_ABOVE / 100 && part->count < used_max(most)) {
        resize(part, most);
    }
}

/* An archive that grows to take keys leaves fewer slots: then some more must go. */
static void make_room(KeyTable *table, Part *part, size_t count, uint32_t written_epoch)
{
    size_t room;
    do {
        room = used_max(capacity_max(table, part));
        evict_until(table, part, room > count ? room - count : 0, written_epoch);
    } while (used_max(capacity_max(table, part)) < room);
}

static void reserve(KeyTable *table, Part *part, size_t count, uint32_t written_epoch)
{
    size_t wanted = part->count + count;
    grow_within(table, part, wanted);
    if (wanted <= used_max(part->capacity)) {
        return;
    }
    if (table->archiving == NOT_NEEDED_YET) {
        begin_archiving(table, part);
    }
    make_room(table, part, count, written_epoch);
    shrink(table, part);
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
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < table->part_count; i++) {
        size_t most = used_max(capacity_max(table, &table->parts[i]));
        least = most < least ? most : least;
    }
    return (least - table->batch_max) * table->part_count;
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

static bool part_has_room(const KeyTable *table, const Part *part, size_t count)
{
    return part->count + count <= used_max(capacity_max(table, part)) ||
           table->archiving == NOT_NEEDED_YET ||
           (table->archiving == ARCHIVING && key_archive_room(&part->archive) >= count);
}

bool key_table_has_room(const KeyTable *table, size_t count)
{
    for (size_t i = 0; i < table->part_count; i++) {
        if (!part_has_room(table, &table->parts[i], count)) {
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
    size_t bytes = 0;
    for (size_t i = 0; i < table->part_count; i++) {
        bytes += table->parts[i].capacity * sizeof(KeySlot) +
                 key_archive_bytes(&table->parts[i].archive);
    }
    return bytes;
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
