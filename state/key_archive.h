/* KeyArchive: keys that rest. What a key table knows of keys it has not used for long, in half the
 * memory of a slot: enough to decide on the next row, nothing of epochs.
 *
 *     hash, 12 bytes | size of the sequence, 1 | rows, 1 | sequence, up to sequence_max
 *
 * A key stands here by 95 bits of its hash: two of a hundred million keys meet with a probability
 * below 1e-12. Open addressing, capped by memory: beyond it a key takes the place of another.
 * Thread: one at a time. */
#ifndef STATE_KEY_ARCHIVE_H
#define STATE_KEY_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/hash.h"
#include "processor/base/str.h"

enum { KEY_ARCHIVE_SEQUENCE_MAX = 24, KEY_ARCHIVE_COUNT_MAX = UINT8_MAX };

typedef struct KeyArchive {
    unsigned char *entries; /* NULL: none yet */
    size_t stride;
    size_t capacity;
    size_t capacity_max;
    size_t count;
} KeyArchive;

typedef struct ArchivedKey {
    Hash128 hash; /* as far as it is kept: compare with key_archive_hash_matches */
    uint32_t count;
    Str sequence; /* in the archive: valid until it changes */
} ArchivedKey;

/* Sequences up to sequence_max bytes (at most KEY_ARCHIVE_SEQUENCE_MAX), memory up to memory_bytes
 * once it has grown. */
void key_archive_init(KeyArchive *archive, size_t sequence_max, size_t memory_bytes);
void key_archive_done(KeyArchive *archive);

/* Would an entry take this key? */
bool key_archive_fits(const KeyArchive *archive, uint32_t count, size_t sequence_size);
typedef enum ArchivePut {
    ARCHIVE_PUT,      /* added, or written over what was known of the key */
    ARCHIVE_REPLACED, /* added in place of another key, which is forgotten */
    ARCHIVE_FULL,     /* not added */
} ArchivePut;

/* Adds a key that fits. *ret_replaced: the hash of the one forgotten, as far as it is kept. */
ArchivePut key_archive_put(KeyArchive *archive, Hash128 hash, uint32_t count, Str sequence,
                           Hash128 *ret_replaced);
bool key_archive_find(const KeyArchive *archive, Hash128 hash, ArchivedKey *ret_key);
/* True: it was there. */
bool key_archive_remove(KeyArchive *archive, Hash128 hash);
/* Is `hash` the one an archived hash was made of? */
bool key_archive_hash_matches(Hash128 archived, Hash128 hash);
/* Keys that still fit. */
size_t key_archive_room(const KeyArchive *archive);
size_t key_archive_bytes(const KeyArchive *archive);
void key_archive_prefetch(const KeyArchive *archive, Hash128 hash);

#endif
