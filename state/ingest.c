/* Sorted sets of changes: written to a file as they come, then taken into the database in one step.
 * A restore and every checkpoint go this way. */
#include <assert.h>

#include "processor/base/fault.h"
#include "processor/base/memory.h"
#include "state/state_internal.h"

#include "processor/base/banned.h"

struct StoreIngest {
    TableStore *store;
    RocksFile *file;
    Buffer key;
    Buffer value;
    size_t bytes;
};

Error *store_ingest_begin(TableStore *store, StoreIngest **ret_ingest)
{
    StoreIngest *ingest = mem_new(StoreIngest);
    ingest->store = store;
    const char *path = state_new_file(store->state, &ingest->key);
    Error *error = rocks_file_open(store->rocks, store->family, path, &ingest->file);
    if (error != NULL) {
        store_ingest_free(ingest);
        return error;
    }
    *ret_ingest = ingest;
    return NULL;
}

static Error *put(StoreIngest *ingest)
{
    ingest->bytes += ingest->key.size + ingest->value.size;
    return rocks_file_put(ingest->file, buffer_str(&ingest->key), buffer_str(&ingest->value));
}

Error *store_ingest_position(StoreIngest *ingest, uint32_t shard, int64_t offset, int64_t time_us)
{
    assert(shard < ingest->store->shards && offset >= 0);
    store_format_position_key(&ingest->key, shard);
    store_format_position_value(&ingest->value, offset, time_us);
    return put(ingest);
}

Error *store_ingest_put(StoreIngest *ingest, uint32_t shard, Str key, uint32_t ordinal,
                        Str sequence, Str row)
{
    assert(shard < ingest->store->shards && ordinal < UINT32_MAX);
    store_format_row_key(&ingest->key, shard, key, ordinal);
    store_format_row_value(&ingest->value, sequence, row);
    return put(ingest);
}

Error *store_ingest_delete(StoreIngest *ingest, uint32_t shard, Str key, uint32_t ordinal)
{
    assert(shard < ingest->store->shards && ordinal < UINT32_MAX);
    store_format_row_key(&ingest->key, shard, key, ordinal);
    ingest->bytes += ingest->key.size;
    return rocks_file_delete(ingest->file, buffer_str(&ingest->key));
}

size_t store_ingest_bytes(const StoreIngest *ingest)
{
    return ingest->bytes;
}

/* RocksDB flushes what batches wrote only where it overlaps with the file; all of it goes first, so
 * that a crash never leaves a later change without an earlier one. */
static Error *finish(StoreIngest *ingest)
{
    TRY(fault_check("ingest.write"));
    TRY(rocks_file_seal(ingest->file));
    TRY(fault_check("ingest.before"));
    if (atomic_load(&ingest->store->unflushed)) {
        TRY(table_store_flush(ingest->store));
    }
    TRY(rocks_file_ingest(ingest->file));
    return fault_check("ingest.after");
}

Error *store_ingest_finish(StoreIngest *ingest)
{
    return ingest->bytes == 0 ? NULL : store_noted(ingest->store, finish(ingest));
}

void store_ingest_free(StoreIngest *ingest)
{
    if (ingest != NULL) {
        rocks_file_free(ingest->file);
        buffer_done(&ingest->key);
        buffer_done(&ingest->value);
        mem_free(ingest);
    }
}
