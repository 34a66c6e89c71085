/* Sorted sets of changes: written to a file as they come, then taken into the database in one step.
 * A restore and every checkpoint go this way. */
#include <assert.h>

#include "processor/base/fault.h"
#include "processor/base/memory.h"
#include "state/state_internal.h"

#include "processor/base/banned.h"

/* An entry that must be found once the file is in. */
typedef struct Witness {
    Buffer key;
    size_t value_size;
} Witness;

struct StoreIngest {
    TableStore *store;
    RocksFile *file;
    Buffer key;
    Buffer value;
    size_t bytes;
    Witness first; /* that is no deletion; no key: there is none */
    Witness last;
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

static void set_witness(Witness *witness, Str key, Str value)
{
    buffer_clear(&witness->key);
    buffer_append_str(&witness->key, key);
    witness->value_size = value.size;
}

Error *store_ingest_entry(StoreIngest *ingest, Str key, Str value)
{
    ingest->bytes += key.size + value.size;
    if (value.data == NULL) {
        return rocks_file_delete(ingest->file, key);
    }
    if (ingest->first.key.size == 0) {
        set_witness(&ingest->first, key, value);
    }
    set_witness(&ingest->last, key, value);
    return rocks_file_put(ingest->file, key, value);
}

Error *store_ingest_position(StoreIngest *ingest, uint32_t shard, int64_t offset, int64_t time_us)
{
    assert(shard < ingest->store->shards && offset >= 0);
    char key[STORE_POSITION_KEY_SIZE];
    char value[STORE_POSITION_SIZE];
    store_write_position_key(key, shard);
    store_write_position(value, offset, time_us);
    return store_ingest_entry(ingest, (Str){key, sizeof key}, (Str){value, sizeof value});
}

Error *store_ingest_put(StoreIngest *ingest, uint32_t shard, Str key, uint32_t ordinal,
                        Str sequence, Str row)
{
    assert(shard < ingest->store->shards && ordinal < UINT32_MAX);
    store_format_row_key(&ingest->key, shard, key, ordinal);
    store_format_row_value(&ingest->value, sequence, row);
    return store_ingest_entry(ingest, buffer_str(&ingest->key), buffer_str(&ingest->value));
}

Error *store_ingest_delete(StoreIngest *ingest, uint32_t shard, Str key, uint32_t ordinal)
{
    assert(shard < ingest->store->shards && ordinal < UINT32_MAX);
    store_format_row_key(&ingest->key, shard, key, ordinal);
    return store_ingest_entry(ingest, buffer_str(&ingest->key), STR_NULL);
}

size_t store_ingest_bytes(const StoreIngest *ingest)
{
    return ingest->bytes;
}

static void take_size(void *context, Str value)
{
    *(size_t *)context = value.size;
}

static Error *check_witness(const StoreIngest *ingest, const Witness *witness)
{
    if (witness->key.size == 0) {
        return NULL;
    }
    const TableStore *store = ingest->store;
    size_t size = SIZE_MAX;
    TRY(rocks_get(store->rocks, store->family, buffer_str(&witness->key), take_size, &size));
    if (size == witness->value_size) {
        return NULL;
    }
    return error_new(ERROR_STATE_CORRUPT,
                     "What was written to the state of table `%s` is not there.", store->name);
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
    /* RocksDB 7.8 reads the file's first and last key, and takes a read that fails there for a file
     * without keys: it would be in the list, and no look-up would find it. */
    TRY(check_witness(ingest, &ingest->first));
    TRY(check_witness(ingest, &ingest->last));
    state_settle_memory(ingest->store->state);
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
        buffer_done(&ingest->first.key);
        buffer_done(&ingest->last.key);
        mem_free(ingest);
    }
}
