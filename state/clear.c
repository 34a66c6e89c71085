/* Deletes what a store holds of a shard, or all of it.
 *
 * Entry by entry, in sorted files: RocksDB could delete a range in one word, but an iterator of 7.8
 * that passes such a word forgets that a read failed, and what it could not read is then not there
 * (README, "Damage"). So none is ever written. Clearing is rare (a topic made anew, a state too
 * old), and what follows it, reading the topic, costs several times as much. */
#include <assert.h>

#include "processor/base/memory.h"
#include "state/state_internal.h"

#include "processor/base/banned.h"

/* Entries a file: a file's filter is made in memory, eight bytes an entry. */
enum { ENTRIES_MAX = 1 << 20 };

/* One file of deletions, for the entries the iterator stands at and after. */
static Error *delete_some(TableStore *store, RocksIterator *iterator)
{
    AUTO(store_ingest) StoreIngest *ingest = NULL;
    TRY(store_ingest_begin(store, &ingest));
    for (int i = 0; i < ENTRIES_MAX && rocks_iterator_valid(iterator); i++) {
        TRY(store_ingest_entry(ingest, rocks_iterator_key(iterator), STR_NULL));
        rocks_iterator_next(iterator);
    }
    TRY(store_noted(store, rocks_iterator_error(iterator)));
    return store_ingest_finish(ingest);
}

/* A shard's position is its first entry and goes first: when a crash leaves the rest, there is no
 * position to believe, and the shard is cleared again. */
static Error *delete_between(TableStore *store, Str from, Str upper)
{
    AUTO(rocks_iterator)
    RocksIterator *iterator = rocks_iterate(store->rocks, store->family, upper);
    rocks_iterator_seek(iterator, from);
    while (rocks_iterator_valid(iterator)) {
        TRY(delete_some(store, iterator));
    }
    return store_noted(store, rocks_iterator_error(iterator));
}

Error *table_store_clear_shard(TableStore *store, uint32_t shard)
{
    assert(shard < store->shards);
    char from[STORE_POSITION_KEY_SIZE];
    char upper[STORE_POSITION_KEY_SIZE];
    store_write_position_key(from, shard);
    store_write_shard_end(upper, shard);
    return delete_between(store, (Str){from, sizeof from}, (Str){upper, sizeof upper});
}

Error *table_store_clear(TableStore *store)
{
    return delete_between(store, STR(""), STR_NULL);
}
