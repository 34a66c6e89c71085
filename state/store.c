/* TableStore: rows of one table by shard, key and ordinal; see state.h for the layout. */
#include <assert.h>

#include "processor/base/buffer.h"
#include "processor/base/memory.h"
#include "state/state_internal.h"
#include "state/view.h"

#include "processor/base/banned.h"

enum { TAG_POSITION = 0, TAG_ROW = 1, PREFIX_SIZE = 3, POSITION_SIZE = 16 };
enum { ORDINAL_SIZE = ROCKS_PREFIX_TAIL };

static void append_prefix(Buffer *out, uint32_t shard, char tag)
{
    buffer_append_u16_be(out, (uint16_t)shard);
    buffer_append_byte(out, tag);
}

void store_format_row_key(Buffer *out, uint32_t shard, Str key, uint32_t ordinal)
{
    buffer_clear(out);
    append_prefix(out, shard, TAG_ROW);
    buffer_append_str(out, key);
    buffer_append_u32_be(out, UINT32_MAX - ordinal); /* the last row of a key comes first */
}

static uint32_t read_u32_be(const char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap32(value);
}

static int64_t read_i64_be(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return (int64_t)__builtin_bswap64(value);
}

/* Value of a row entry: length of the sequence (4 bytes), sequence, row. */
void store_format_row_value(Buffer *out, Str sequence, Str row)
{
    buffer_clear(out);
    buffer_append_u32_be(out, (uint32_t)sequence.size);
    buffer_append_str(out, sequence);
    buffer_append_str(out, row);
}

void store_format_position_key(Buffer *out, uint32_t shard)
{
    buffer_clear(out);
    append_prefix(out, shard, TAG_POSITION);
}

void store_format_position_value(Buffer *out, int64_t offset, int64_t time_us)
{
    buffer_clear(out);
    buffer_append_u64_be(out, (uint64_t)offset);
    buffer_append_u64_be(out, (uint64_t)time_us);
}

Error *store_noted(const TableStore *store, Error *error)
{
    if (error != NULL && error_class(error) == ERROR_STATE_CORRUPT) {
        state_mark_damaged(store->state);
        error_set_hint(error, "the state is made anew from the topics when it is next opened");
    }
    return error;
}

static Error *corrupt(const TableStore *store)
{
    return store_noted(store, error_new(ERROR_STATE_CORRUPT,
                                        "The state of table `%s` holds bytes that are no row.",
                                        store->name));
}

static Error *split_row_value(const TableStore *store, Str value, Str *ret_sequence, Str *ret_row)
{
    if (value.size < 4) {
        return corrupt(store);
    }
    size_t sequence_size = read_u32_be(value.data);
    if (sequence_size > value.size - 4) {
        return corrupt(store);
    }
    *ret_sequence = (Str){value.data + 4, sequence_size};
    *ret_row = (Str){value.data + 4 + sequence_size, value.size - 4 - sequence_size};
    return NULL;
}

uint32_t table_store_shards(const TableStore *store)
{
    return store->shards;
}

static void take_bytes(void *context, Str value)
{
    buffer_append_str(context, value);
}

Error *table_store_position(TableStore *store, uint32_t shard, int64_t *ret_offset,
                            int64_t *ret_time_us)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer value = {0};
    store_format_position_key(&key, shard);
    TRY(store_noted(store,
                    rocks_get(store->rocks, store->family, buffer_str(&key), take_bytes, &value)));
    if (value.size != 0 && value.size != POSITION_SIZE) {
        return corrupt(store);
    }
    *ret_offset = value.size == 0 ? -1 : read_i64_be(value.data);
    if (ret_time_us != NULL) {
        *ret_time_us = value.size == 0 ? 0 : read_i64_be(value.data + 8);
    }
    return NULL;
}

static uint32_t read_ordinal(Str row_key)
{
    return UINT32_MAX - read_u32_be(row_key.data + row_key.size - ORDINAL_SIZE);
}

/* The first entry of the key is its last row and tells both: its ordinal + 1 is the count, its
 * sequence the sequence. Keys are prefix free, and the iterator sees entries of this key only. */
static Error *lookup_one(const TableStore *store, RocksIterator *iterator, Buffer *seek,
                         uint32_t shard, Str key, Arena *arena, KeyState *ret_state)
{
    store_format_row_key(seek, shard, key, UINT32_MAX);
    *ret_state = (KeyState){0};
    rocks_iterator_seek(iterator, buffer_str(seek));
    if (!rocks_iterator_valid(iterator)) {
        return store_noted(store, rocks_iterator_error(iterator));
    }
    Str found = rocks_iterator_key(iterator);
    Str shared = {seek->data, seek->size - ORDINAL_SIZE};
    if (found.size != seek->size || !str_starts_with(found, shared)) {
        return NULL;
    }
    Str sequence;
    Str row;
    TRY(split_row_value(store, rocks_iterator_value(iterator), &sequence, &row));
    uint32_t ordinal = read_ordinal(found);
    if (ordinal == UINT32_MAX) {
        return corrupt(store); /* never put */
    }
    ret_state->count = ordinal + 1;
    ret_state->sequence = arena_copy_str(arena, sequence);
    return NULL;
}

Error *table_store_lookup(TableStore *store, const uint32_t *shards, const Str *keys, size_t count,
                          Arena *arena, KeyState *ret_states)
{
    if (count == 0) {
        return NULL;
    }
    AUTO_BUFFER Buffer seek = {0};
    AUTO(rocks_iterator)
    RocksIterator *iterator = rocks_iterate_prefixes(store->rocks, store->family);
    for (size_t i = 0; i < count; i++) {
        TRY(lookup_one(store, iterator, &seek, shards[i], keys[i], arena, &ret_states[i]));
    }
    return NULL;
}

struct StoreBatch {
    TableStore *store;
    RocksBatch *batch;
    Buffer key;
    Buffer value;
};

StoreBatch *store_batch_new(TableStore *store)
{
    StoreBatch *batch = mem_new(StoreBatch);
    batch->store = store;
    batch->batch = rocks_batch_new();
    return batch;
}

void store_batch_free(StoreBatch *batch)
{
    if (batch != NULL) {
        rocks_batch_free(batch->batch);
        buffer_done(&batch->key);
        buffer_done(&batch->value);
        mem_free(batch);
    }
}

void store_batch_put(StoreBatch *batch, uint32_t shard, Str key, uint32_t ordinal, Str sequence,
                     Str row)
{
    assert(shard < batch->store->shards && ordinal < UINT32_MAX);
    store_format_row_key(&batch->key, shard, key, ordinal);
    store_format_row_value(&batch->value, sequence, row);
    rocks_batch_put(batch->batch, batch->store->family, buffer_str(&batch->key),
                    buffer_str(&batch->value));
}

void store_batch_delete(StoreBatch *batch, uint32_t shard, Str key, uint32_t ordinal)
{
    assert(shard < batch->store->shards);
    store_format_row_key(&batch->key, shard, key, ordinal);
    rocks_batch_delete(batch->batch, batch->store->family, buffer_str(&batch->key));
}

void store_batch_clear_shard(StoreBatch *batch, uint32_t shard)
{
    AUTO_BUFFER Buffer from = {0};
    AUTO_BUFFER Buffer to = {0};
    append_prefix(&from, shard, TAG_POSITION);
    append_prefix(&to, shard, TAG_ROW + 1);
    rocks_batch_delete_range(batch->batch, batch->store->family, buffer_str(&from),
                             buffer_str(&to));
}

void store_batch_set_position(StoreBatch *batch, uint32_t shard, int64_t offset, int64_t time_us)
{
    assert(offset >= 0);
    store_format_position_key(&batch->key, shard);
    store_format_position_value(&batch->value, offset, time_us);
    rocks_batch_put(batch->batch, batch->store->family, buffer_str(&batch->key),
                    buffer_str(&batch->value));
}

size_t store_batch_bytes(const StoreBatch *batch)
{
    return rocks_batch_bytes(batch->batch);
}

Error *store_batch_write(StoreBatch *batch)
{
    atomic_store(&batch->store->unflushed, true);
    return store_noted(batch->store, rocks_write(batch->store->rocks, batch->batch));
}

/* The mark goes first: a batch written meanwhile sets it again. After an error it stays set. */
Error *table_store_flush(TableStore *store)
{
    atomic_store(&store->unflushed, false);
    Error *error = rocks_flush(store->rocks, store->family);
    if (error != NULL) {
        atomic_store(&store->unflushed, true);
    }
    return store_noted(store, error);
}

Error *table_store_clear(TableStore *store)
{
    AUTO_BUFFER Buffer to = {0};
    buffer_append(&to, "\xFF\xFF\xFF\xFF", 4);
    AUTO(rocks_batch) RocksBatch *batch = rocks_batch_new();
    rocks_batch_delete_range(batch, store->family, STR(""), buffer_str(&to));
    TRY(rocks_write(store->rocks, batch));
    return table_store_flush(store);
}

Error *table_store_is_empty(TableStore *store, bool *ret_empty)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, -1);
    StoredRow row = {0};
    bool found = false;
    TRY(store_scan_next(scan, &row, &found));
    *ret_empty = !found;
    return NULL;
}

struct StoreScan {
    TableStore *store;
    RocksIterator *iterator;
    Buffer upper;
    bool started;
};

StoreScan *table_store_scan(TableStore *store, int64_t shard)
{
    StoreScan *scan = mem_new(StoreScan);
    scan->store = store;
    AUTO_BUFFER Buffer from = {0};
    if (shard >= 0) {
        append_prefix(&scan->upper, (uint32_t)shard, TAG_ROW + 1);
        append_prefix(&from, (uint32_t)shard, TAG_ROW);
    }
    scan->iterator = rocks_iterate(store->rocks, store->family,
                                   shard >= 0 ? buffer_str(&scan->upper) : STR_NULL);
    rocks_iterator_seek(scan->iterator, buffer_str(&from));
    return scan;
}

/* Keys are prefix free, so what lies between the key's last row and its first is of this key. */
StoreScan *table_store_scan_key(TableStore *store, uint32_t shard, Str key)
{
    StoreScan *scan = mem_new(StoreScan);
    scan->store = store;
    AUTO_BUFFER Buffer from = {0};
    store_format_row_key(&from, shard, key, UINT32_MAX);
    store_format_row_key(&scan->upper, shard, key, 0);
    buffer_append_byte(&scan->upper, '\0');
    scan->iterator = rocks_iterate(store->rocks, store->family, buffer_str(&scan->upper));
    rocks_iterator_seek(scan->iterator, buffer_str(&from));
    return scan;
}

void store_scan_close(StoreScan *scan)
{
    if (scan != NULL) {
        rocks_iterator_close(scan->iterator);
        buffer_done(&scan->upper);
        mem_free(scan);
    }
}

static Error *read_entry(const StoreScan *scan, Str key, StoredRow *ret_row)
{
    if (key.size < PREFIX_SIZE + ORDINAL_SIZE || key.data[2] != TAG_ROW) {
        return corrupt(scan->store);
    }
    StoredRow row = {0};
    row.shard = (uint32_t)(unsigned char)key.data[0] << 8 | (unsigned char)key.data[1];
    row.key = (Str){key.data + PREFIX_SIZE, key.size - PREFIX_SIZE - ORDINAL_SIZE};
    row.ordinal = read_ordinal(key);
    TRY(split_row_value(scan->store, rocks_iterator_value(scan->iterator), &row.sequence,
                        &row.row));
    *ret_row = row;
    return NULL;
}

Error *store_scan_next(StoreScan *scan, StoredRow *ret_row, bool *ret_found)
{
    if (scan->started && rocks_iterator_valid(scan->iterator)) {
        rocks_iterator_next(scan->iterator);
    }
    scan->started = true;
    while (rocks_iterator_valid(scan->iterator)) {
        Str key = rocks_iterator_key(scan->iterator);
        if (key.size != PREFIX_SIZE || key.data[2] != TAG_POSITION) {
            TRY(read_entry(scan, key, ret_row));
            *ret_found = true;
            return NULL;
        }
        rocks_iterator_next(scan->iterator);
    }
    *ret_found = false;
    return store_noted(scan->store, rocks_iterator_error(scan->iterator));
}
