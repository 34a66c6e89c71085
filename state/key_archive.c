/* KeyArchive: linear probing over entries of one size, without padding. It grows by a quarter, for
 * it is what fills a process's memory; removal shifts back what follows, so there are no
 * tombstones. */
#include "state/key_archive.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    HIGH_AT = 0,
    LOW_AT = 8, /* never 0 where there is a key: key_table_hash sets the lowest bit */
    SIZE_AT = 12,
    COUNT_AT = 13,
    SEQUENCE_AT = 14,
    CAPACITY_FIRST = 4096, /* or a quarter of what it may become, if that is less */
    CAPACITY_LEAST = 2,    /* one entry, and the free one that ends a search */
    LOAD_MAX = 90,         /* percent */
};

__extension__ typedef unsigned __int128 Uint128;

static unsigned char *entry_at(const KeyArchive *archive, size_t at)
{
    return archive->entries + at * archive->stride;
}

static uint64_t high_of(const unsigned char *entry)
{
    uint64_t high;
    memcpy(&high, entry + HIGH_AT, sizeof high);
    return high;
}

static uint32_t low_of(const unsigned char *entry)
{
    uint32_t low;
    memcpy(&low, entry + LOW_AT, sizeof low);
    return low;
}

static bool is_free(const unsigned char *entry)
{
    return low_of(entry) == 0;
}

static size_t home_of(const KeyArchive *archive, uint64_t high)
{
    return (size_t)(((Uint128)high * archive->capacity) >> 64);
}

static size_t next_of(const KeyArchive *archive, size_t at)
{
    return at + 1 == archive->capacity ? 0 : at + 1;
}

static size_t used_max(size_t capacity)
{
    return capacity * LOAD_MAX / 100;
}

void key_archive_init(KeyArchive *archive, size_t sequence_max, size_t memory_bytes)
{
    assert(sequence_max <= KEY_ARCHIVE_SEQUENCE_MAX);
    *archive = (KeyArchive){.stride = SEQUENCE_AT + sequence_max};
    archive->capacity_max = memory_bytes / archive->stride;
}

void key_archive_done(KeyArchive *archive)
{
    mem_free_pages(archive->entries, archive->capacity, archive->stride);
    *archive = (KeyArchive){0};
}

bool key_archive_fits(const KeyArchive *archive, uint32_t count, size_t sequence_size)
{
    return count <= KEY_ARCHIVE_COUNT_MAX && SEQUENCE_AT + sequence_size <= archive->stride;
}

size_t key_archive_room(const KeyArchive *archive)
{
    size_t most = used_max(archive->capacity_max);
    return archive->count < most ? most - archive->count : 0;
}

size_t key_archive_bytes(const KeyArchive *archive)
{
    return archive->capacity * archive->stride;
}

bool key_archive_hash_matches(Hash128 archived, Hash128 hash)
{
    return archived.high == hash.high && (uint32_t)archived.low == (uint32_t)hash.low;
}

void key_archive_prefetch(const KeyArchive *archive, Hash128 hash)
{
    if (archive->capacity > 0) {
        __builtin_prefetch(entry_at(archive, home_of(archive, hash.high)));
    }
}

/* The entry of the key, or the free one where it would go. */
static size_t probe(const KeyArchive *archive, uint64_t high, uint32_t low)
{
    size_t at = home_of(archive, high);
    for (;;) {
        const unsigned char *entry = entry_at(archive, at);
        uint32_t found = low_of(entry);
        if (found == 0 || (found == low && high_of(entry) == high)) {
            return at;
        }
        at = next_of(archive, at);
    }
}

static void resize(KeyArchive *archive, size_t capacity)
{
    KeyArchive old = *archive;
    archive->entries = mem_alloc_pages(capacity, archive->stride);
    archive->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        const unsigned char *entry = entry_at(&old, i);
        if (!is_free(entry)) {
            size_t at = probe(archive, high_of(entry), low_of(entry));
            memcpy(entry_at(archive, at), entry, archive->stride);
        }
    }
    mem_free_pages(old.entries, old.capacity, old.stride);
}

static bool is_full(const KeyArchive *archive)
{
    return archive->count >= used_max(archive->capacity_max);
}

static size_t capacity_first(const KeyArchive *archive)
{
    size_t quarter = archive->capacity_max / 4;
    quarter = quarter < CAPACITY_LEAST ? CAPACITY_LEAST : quarter;
    return quarter < CAPACITY_FIRST ? quarter : CAPACITY_FIRST;
}

static void grow(KeyArchive *archive)
{
    if (archive->count < used_max(archive->capacity) || is_full(archive)) {
        return;
    }
    size_t larger = archive->capacity == 0 ? capacity_first(archive)
                                           : archive->capacity + archive->capacity / 4 + 1;
    resize(archive, larger < archive->capacity_max ? larger : archive->capacity_max);
}

static void write_entry(const KeyArchive *archive, size_t at, Hash128 hash, uint32_t count,
                        Str sequence)
{
    unsigned char *entry = entry_at(archive, at);
    uint32_t low = (uint32_t)hash.low;
    memcpy(entry + HIGH_AT, &hash.high, sizeof hash.high);
    memcpy(entry + LOW_AT, &low, sizeof low);
    entry[SIZE_AT] = (unsigned char)sequence.size;
    entry[COUNT_AT] = (unsigned char)count;
    if (sequence.size > 0) {
        memcpy(entry + SEQUENCE_AT, sequence.data, sequence.size);
    }
}

/* The key at the new one's home goes: nothing moves, and every other key is still found, for the
 * place stays taken. A home that is free is one of the last free ones, which end every search. */
static ArchivePut replace(const KeyArchive *archive, Hash128 hash, uint32_t count, Str sequence,
                          Hash128 *ret_replaced)
{
    if (archive->capacity == 0) {
        return ARCHIVE_FULL;
    }
    size_t home = home_of(archive, hash.high);
    const unsigned char *entry = entry_at(archive, home);
    if (is_free(entry)) {
        return ARCHIVE_FULL;
    }
    *ret_replaced = (Hash128){.high = high_of(entry), .low = low_of(entry)};
    write_entry(archive, home, hash, count, sequence);
    return ARCHIVE_REPLACED;
}

ArchivePut key_archive_put(KeyArchive *archive, Hash128 hash, uint32_t count, Str sequence,
                           Hash128 *ret_replaced)
{
    assert(key_archive_fits(archive, count, sequence.size));
    grow(archive);
    if (archive->capacity > 0) {
        size_t at = probe(archive, hash.high, (uint32_t)hash.low);
        bool is_new = is_free(entry_at(archive, at));
        if (!is_new || !is_full(archive)) {
            write_entry(archive, at, hash, count, sequence);
            archive->count += is_new;
            return ARCHIVE_PUT;
        }
    }
    return replace(archive, hash, count, sequence, ret_replaced);
}

bool key_archive_find(const KeyArchive *archive, Hash128 hash, ArchivedKey *ret_key)
{
    if (archive->capacity == 0) {
        return false;
    }
    const unsigned char *entry = entry_at(archive, probe(archive, hash.high, (uint32_t)hash.low));
    if (is_free(entry)) {
        return false;
    }
    *ret_key = (ArchivedKey){{.high = hash.high, .low = (uint32_t)hash.low},
                             entry[COUNT_AT],
                             {(const char *)entry + SEQUENCE_AT, entry[SIZE_AT]}};
    return true;
}

/* Is `home` between the hole and `at`, going round? Then the entry at `at` may not move into the
 * hole: probing would start behind it. */
static bool starts_behind(size_t hole, size_t home, size_t at)
{
    return hole <= at ? hole < home && home <= at : hole < home || home <= at;
}

static void remove_at(KeyArchive *archive, size_t hole)
{
    for (size_t at = next_of(archive, hole); !is_free(entry_at(archive, at));
         at = next_of(archive, at)) {
        const unsigned char *entry = entry_at(archive, at);
        if (!starts_behind(hole, home_of(archive, high_of(entry)), at)) {
            memcpy(entry_at(archive, hole), entry, archive->stride);
            hole = at;
        }
    }
    memset(entry_at(archive, hole), 0, archive->stride);
    archive->count--;
}

bool key_archive_remove(KeyArchive *archive, Hash128 hash)
{
    if (archive->capacity == 0) {
        return false;
    }
    size_t at = probe(archive, hash.high, (uint32_t)hash.low);
    if (is_free(entry_at(archive, at))) {
        return false;
    }
    remove_at(archive, at);
    return true;
}
