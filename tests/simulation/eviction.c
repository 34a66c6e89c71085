/* Keys are evicted from a key table of thousands; a run has a few dozen. So what the product does
 * when memory is short is done here now and then: a key whose last change is in the store may go
 * whenever room is asked for. Not where the table is small enough to do it itself. */
#include "tests/simulation/eviction.h"

#include <string.h>

#include "state/key_table.h"
#include "tests/simulation/chance.h"
#include "tests/simulation/small_table.h"

#include "processor/base/banned.h"

enum { SEEN_MAX = 4096 };

typedef struct SeenKey {
    const KeyTable *table;
    Hash128 hash;
} SeenKey;

KeySlot *__real_key_table_find_or_add(KeyTable *table, Hash128 hash, bool *ret_added);
KeySlot *__wrap_key_table_find_or_add(KeyTable *table, Hash128 hash, bool *ret_added);
void __real_key_table_reserve(KeyTable *table, size_t count, uint32_t written_epoch);
void __wrap_key_table_reserve(KeyTable *table, size_t count, uint32_t written_epoch);

static SeenKey seen[SEEN_MAX]; /* the newest */
static size_t seen_count;
static Chance chance;
static uint32_t evict_one_in;

void eviction_open(uint64_t seed)
{
    static const uint32_t rates[] = {0, 2, 10};
    chance = chance_stream(seed, 6);
    evict_one_in = rates[chance_below(&chance, 3)];
}

KeySlot *__wrap_key_table_find_or_add(KeyTable *table, Hash128 hash, bool *ret_added)
{
    KeySlot *slot = __real_key_table_find_or_add(table, hash, ret_added);
    if (*ret_added) {
        seen[seen_count++ % SEEN_MAX] = (SeenKey){table, hash};
    }
    return slot;
}

void __wrap_key_table_reserve(KeyTable *table, size_t count, uint32_t written_epoch)
{
    __real_key_table_reserve(table, count, written_epoch);
    if (!chance_one_in(&chance, evict_one_in) || small_table_is_on()) {
        return;
    }
    size_t known = seen_count < SEEN_MAX ? seen_count : SEEN_MAX;
    for (size_t i = 0; i < known; i++) {
        const KeySlot *slot = seen[i].table == table ? key_table_find(table, seen[i].hash) : NULL;
        if (slot != NULL && slot->epoch <= written_epoch && chance_one_in(&chance, 2)) {
            key_table_remove(table, seen[i].hash);
            key_table_set_incomplete(table);
        }
    }
}
