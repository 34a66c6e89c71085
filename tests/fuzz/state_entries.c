/* Bytes that are no rows in a table's store: lookups, positions and scans answer, or fail with
 * STATE_CORRUPT; they never read beyond what is there. The input is a list of entries: length of
 * the key, key, length of the value, value, each length one byte. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "processor/base/buffer.h"
#include "processor/base/memory.h"
#include "state/state_internal.h"

#include "processor/base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static State *state;
static TableStore *store;

static void must(Error *error)
{
    if (error != NULL) {
        abort();
    }
}

static void may_be_corrupt(Error *error)
{
    if (error != NULL && error_class(error) != ERROR_STATE_CORRUPT) {
        abort();
    }
    error_free(error);
}

static void close_state(void)
{
    state_close(state);
}

static void open_once(void)
{
    if (state != NULL) {
        return;
    }
    static char folder[] = "fuzz-state-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        abort();
    }
    StateOptions options = {.dir = folder, .pipeline = "fuzz", .memory_bytes = 8 << 20};
    must(state_open(&options, &state, NULL));
    must(state_table(state, STR("t"), STR("t"), 4, &store));
    (void)atexit(close_state);
}

/* The next length and that many bytes, or fewer at the end. */
static Str take(Str *rest)
{
    if (rest->size == 0) {
        return STR("");
    }
    size_t size = (unsigned char)rest->data[0];
    size = size < rest->size - 1 ? size : rest->size - 1;
    Str taken = {rest->data + 1, size};
    *rest = (Str){rest->data + 1 + size, rest->size - 1 - size};
    return taken;
}

/* Puts or deletes the entries; what is deleted is compacted away now and then. */
static void write_entries(Str input, bool put)
{
    static unsigned written;
    AUTO(rocks_batch) RocksBatch *batch = rocks_batch_new();
    while (input.size > 0) {
        Str key = take(&input);
        Str value = take(&input);
        if (put) {
            rocks_batch_put(batch, store->family, key, value);
        } else {
            rocks_batch_delete(batch, store->family, key);
        }
    }
    must(rocks_write(store->rocks, batch));
    if (++written % 500 == 0) {
        must(rocks_flush(store->rocks, store->family));
    }
}

static void look_up(Str input)
{
    AUTO(arena) Arena *arena = arena_new("fuzz");
    while (input.size > 0) {
        Str entry = take(&input);
        Str key = entry.size < 3 ? STR("") : (Str){entry.data + 3, entry.size - 3};
        for (size_t cut = 0; cut <= 4 && cut <= key.size; cut += 4) {
            uint32_t shard = entry.size < 2 ? 0 : (unsigned char)entry.data[1];
            Str shorter = {key.data, key.size - cut};
            KeyState known = {0};
            may_be_corrupt(table_store_lookup(store, &shard, &shorter, 1, arena, &known));
        }
        (void)take(&input);
    }
    for (uint32_t shard = 0; shard < 4; shard++) {
        int64_t offset = 0;
        may_be_corrupt(table_store_position(store, shard, &offset, NULL));
    }
}

static size_t scan_all(int64_t shard)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, shard);
    size_t bytes = 0;
    for (bool found = true; found;) {
        StoredRow row = {0};
        Error *error = store_scan_next(scan, &row, &found);
        if (error != NULL) {
            may_be_corrupt(error);
            break;
        }
        bytes += found ? row.key.size + row.sequence.size + row.row.size : 0;
        for (size_t i = 0; found && i < row.row.size; i++) {
            bytes += (unsigned char)row.row.data[i]; /* every byte can be read */
        }
    }
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_once();
    Str input = {(const char *)data, size};
    write_entries(input, true);
    look_up(input);
    (void)scan_all(-1);
    (void)scan_all(0);
    write_entries(input, false);
    return 0;
}
