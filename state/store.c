/* TableStore: rows of one table by shard, key and ordinal; see state.h for the layout. */
#include <assert.h>

#include "processor/base/buffer.h"
#include "processor/base/memory.h"
#include "state/state_internal.h"
#include "state/view.h"

#include "processor/base/banned.h"

enum { TAG_POSITION = 0, TAG_ROW = 1, PREFIX_SIZE = STORE_POSITION_KEY_SIZE };
enum { ORDINAL_SIZE = ROCKS_PREFIX_TAIL, SEQUENCE_LENGTH_SIZE = 4 };

static void write_u32_be(char *out, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(out, &value, sizeof value);
}

static void write_i64_be(char *out, int64_t value)
{
    uint64_t bytes = __builtin_bswap64((uint64_t)value);
    memcpy(out, &bytes, sizeof bytes);
}

static void write_prefix(char *out, uint32_t shard, char tag)
{
    out[0] = (char)(shard >> 8);
    out[1] = (char)shard;
    out[2] = tag;
}

static char *append(char *out, Str bytes)
{
    memcpy(out, bytes.data, bytes.size);
    return out + bytes.size;
}

size_t store_row_key_size(Str key)
{
    return PREFIX_SIZE + key.size + ORDINAL_SIZE;
}

/* The last row of a key comes first. */
void store_write_row_key(char *out, uint32_t shard, Str key, uint32_t ordinal)
{
    write_prefix(out, shard, TAG_ROW);
    write_u32_be(append(out + PREFIX_SIZE, key), UINT32_MAX - ordinal);
}

size_t store_row_value_size(Str sequence, Str row)
{
    return SEQUENCE_LENGTH_SIZE + sequence.size + row.size;
}

/* Length of the sequence, sequence, row. */
void store_write_row_value(char *out, Str sequence, Str row)
{
    write_u32_be(out, (uint32_t)sequence.size);
    (void)append(append(out + SEQUENCE_LENGTH_SIZE, sequence), row);
}

void store_write_position_key(char *out, uint32_t shard)
{
    write_prefix(out, shard, TAG_POSITION);
}

void store_write_shard_end(char *out, uint32_t shard)
{
    write_prefix(out, shard, TAG_ROW + 1);
}

void store_write_position(char *out, int64_t offset, int64_t time_us)
{
    write_i64_be(out, offset);
    write_i64_be(out + 8, time_us);
}

static char *resize(Buffer *out, size_t size)
{
    buffer_clear(out);
    char *bytes = buffer_reserve(out, size);
    out->size = size;
    return bytes;
}

void store_format_row_key(Buffer *out, uint32_t shard, Str key, uint32_t ordinal)
{
    store_write_row_key(resize(out, store_row_key_size(key)), shard, key, ordinal);
}

void store_format_row_value(Buffer *out, Str sequence, Str row)
{
    store_write_row_value(resize(out, store_row_value_size(sequence, row)), sequence, row);
}

static void append_prefix(Buffer *out, uint32_t shard, char tag)
{
    write_prefix(resize(out, PREFIX_SIZE), shard, tag);
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

/* Damage found while the state is in use is noted on disk, so that the next opening makes it anew.
 */
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
    if (value.size < SEQUENCE_LENGTH_SIZE) {
        return corrupt(store);
    }
    size_t sequence_size = read_u32_be(value.data);
    value = (Str){value.data + SEQUENCE_LENGTH_SIZE, value.size - SEQUENCE_LENGTH_SIZE};
    if (sequence_size > value.size) {
        return corrupt(store);
    }
    *ret_sequence = (Str){value.data, sequence_size};
    *ret_row = (Str){value.data + sequence_size, value.size - sequence_size};
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
    append_prefix(&key, shard, TAG_POSITION);
    TRY(store_noted(store,
                    rocks_get(store->rocks, store->family, buffer_str(&key), take_bytes, &value)));
    if (value.size != 0 && value.size != STORE_POSITION_SIZE) {
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

/* The last of them comes first, and none lies between two. */
Error *table_store_rows(TableStore *store, uint32_t shard, Str key, uint32_t count, Arena *arena,
                        Str *ret_rows)
{
    AUTO_BUFFER Buffer seek = {0};
    AUTO(rocks_iterator)
    RocksIterator *iterator = rocks_iterate_prefixes(store->rocks, store->family);
    store_format_row_key(&seek, shard, key, count - 1);
    rocks_iterator_seek(iterator, buffer_str(&seek));
    for (uint32_t ordinal = count; ordinal > 0; ordinal--) {
        store_format_row_key(&seek, shard, key, ordinal - 1);
        if (!rocks_iterator_valid(iterator) ||
            !str_equal(rocks_iterator_key(iterator), buffer_str(&seek))) {
            Error *error = rocks_iterator_error(iterator);
            return store_noted(store, error != NULL ? error : corrupt(store));
        }
        Str sequence;
        Str row;
        TRY(split_row_value(store, rocks_iterator_value(iterator), &sequence, &row));
        ret_rows[ordinal - 1] = arena_copy_str(arena, row);
        rocks_iterator_next(iterator);
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

void store_batch_set_position(StoreBatch *batch, uint32_t shard, int64_t offset, int64_t time_us)
{
    assert(offset >= 0);
    append_prefix(&batch->key, shard, TAG_POSITION);
    store_write_position(resize(&batch->value, STORE_POSITION_SIZE), offset, time_us);
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
