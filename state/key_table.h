/* KeyTable: what is known of the keys of a table, in bounded memory: sequence and number of rows,
 * all a flow needs to decide on a row. A cache in front of the store, and the only place where keys
 * that are changed but not in the store yet are found: those are never evicted.
 *
 * Keys in use have a slot. When slots take all the memory, keys that were not used for long are put
 * away into archives of half the size (key_archive.h), and slots give way to them, down to an
 * eighth of the memory; a key comes back into a slot when it is asked for. Only when the archives
 * are full too is a key forgotten.
 *
 * A slot stands for a key by 128 bits of its hash, under a random seed of the process: keys are not
 * compared. Two of a billion keys meet with a probability below 1e-20, and nobody outside knows the
 * seed.
 *
 * Thread: one (the flow's). Slots stay where they are until the next key_table_reserve. */
#ifndef STATE_KEY_TABLE_H
#define STATE_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/hash.h"
#include "processor/base/str.h"

typedef struct KeyTable KeyTable;
struct KeyChange;

enum { KEY_SLOT_INLINE = 14, KEY_SLOT_OUTSIDE = UINT8_MAX };
/* Keys that room can be asked for at once. */
enum { KEY_TABLE_RESERVE_MAX = 2048 };

/* One key. Read-only outside state/; `count` and the sequence are what it has now. */
typedef struct KeySlot {
    Hash128 hash;                   /* zero: a free slot */
    struct KeyChange *change;       /* in the epoch `epoch`; meaningless when that is over */
    uint32_t count;                 /* rows now */
    uint32_t epoch;                 /* that changed it last; 0: none since it was looked up */
    bool recent;                    /* used since the eviction's hand passed */
    uint8_t sequence_size;          /* KEY_SLOT_OUTSIDE: on the heap */
    char sequence[KEY_SLOT_INLINE]; /* or the pointer to it, see key_slot_sequence */
} KeySlot;

_Static_assert(sizeof(KeySlot) == 48, "a slot is 48 bytes: memory is counted in slots");

/* memory_bytes: what the table may grow to; not below slots for two batches. batch_max: keys that
 * room is asked for at once, usually (1 … KEY_TABLE_RESERVE_MAX). */
KeyTable *key_table_new(size_t memory_bytes, size_t batch_max);
void key_table_free(KeyTable *table);

/* Makes room for `count` more keys: grows, or puts away keys not used for long whose last change is
 * in the store (epoch <= written_epoch), or forgets them. When nearly all wait to be written the
 * table grows beyond its memory rather than forget one: see key_table_room. Slots move. */
void key_table_reserve(KeyTable *table, size_t count, uint32_t written_epoch);
/* Slots that fit in its memory beside a batch that comes. Who keeps the changes waiting to be
 * written well below it never makes the table grow beyond. */
size_t key_table_room(const KeyTable *table);

Hash128 key_table_hash(const KeyTable *table, Str key);
/* Brings the slot's memory near before key_table_find_or_add asks for it. */
void key_table_prefetch(const KeyTable *table, Hash128 hash);
/* NULL: not here. Room must have been reserved, for it may come back from an archive. */
KeySlot *key_table_find(KeyTable *table, Hash128 hash);
/* *ret_added: it is new, with count 0 and nothing known yet. Room must have been reserved. */
KeySlot *key_table_find_or_add(KeyTable *table, Hash128 hash, bool *ret_added);
/* Slots move. */
void key_table_remove(KeyTable *table, Hash128 hash);

Str key_slot_sequence(const KeySlot *slot);
/* Copied. */
void key_slot_set_sequence(KeySlot *slot, Str sequence);

/* No key was ever forgotten or removed: a key that is not here was never put in. */
bool key_table_is_complete(const KeyTable *table);
/* There are keys that were never put in. */
void key_table_set_incomplete(KeyTable *table);
/* From now on keys the table lacks are put in, until all of them are: then it is complete, unless
 * one was forgotten in between. */
void key_table_begin_filling(KeyTable *table);
/* Was one forgotten since filling began? */
bool key_table_has_evicted(const KeyTable *table);
void key_table_end_filling(KeyTable *table);
/* Would `count` more keys fit without forgetting one? */
bool key_table_has_room(const KeyTable *table, size_t count);
/* Epochs are counted from `written_epoch` on, which becomes 0. */
void key_table_renumber(KeyTable *table, uint32_t written_epoch);
size_t key_table_count(const KeyTable *table);
size_t key_table_bytes(const KeyTable *table);

#endif
