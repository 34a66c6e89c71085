/* A read of a table's file that fails is told, wherever the iterator was: it never looks like the
 * end. The first block of a file is the one that RocksDB 7.8 loses (state/README.md, "Damage"). */
#include "tests/unit/state/fixture.h"

#include <errno.h>
#include <sys/syscall.h>

#include "processor/base/arena.h"
#include "state/view.h"

#include "processor/base/banned.h"

/* RocksDB reads its tables with pread, and finds this one. A file is told by its size, which no
 * two files of a test share. */
static int64_t broken_size = -1;
static int failed_reads;

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    struct stat info;
    if (broken_size >= 0 && offset == 0 && fstat(fd, &info) == 0 && info.st_size == broken_size) {
        failed_reads++;
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, bytes, size, offset);
}

/* The size of the newest table of the database. */
static int64_t newest_table_size(const char *folder)
{
    AUTO_BUFFER Buffer path = {0};
    for (int number = 200; number > 0; number--) {
        buffer_clear(&path);
        buffer_printf(&path, "%s/rocksdb/%06d.sst", folder, number);
        struct stat info;
        if (stat(buffer_cstr(&path), &info) == 0) {
            return info.st_size;
        }
    }
    fail();
    return -1;
}

/* Keys "0000" to below count, rows of that length: the file has many blocks. */
static void ingest_rows(TableStore *store, uint32_t shard, int count, int length)
{
    AUTO_BUFFER Buffer key = {0};
    AUTO_BUFFER Buffer row = {0};
    for (int i = 0; i < length; i++) {
        buffer_append_byte(&row, 'x');
    }
    StoreIngest *ingest = NULL;
    ok(store_ingest_begin(store, &ingest));
    ok(store_ingest_position(ingest, shard, 5, 1));
    for (int i = 0; i < count; i++) {
        buffer_clear(&key);
        buffer_printf(&key, "%04d", i);
        ok(store_ingest_put(ingest, shard, buffer_str(&key), 0, STR("1"), buffer_str(&row)));
    }
    ok(store_ingest_finish(ingest));
    store_ingest_free(ingest);
}

/* Opened anew, so that no block is in the cache. */
static TableStore *reopen(const char *folder, State **state)
{
    state_close(*state);
    *state = open_state(folder);
    return open_table(*state, "t", 2);
}

#define is_told(call)                                                                              \
    do {                                                                                           \
        failed_reads = 0;                                                                          \
        fails((call), ERROR_STATE_IO, "Input/output error");                                       \
        assert_true(failed_reads > 0);                                                             \
    } while (0)

static Error *scan_all(TableStore *store, int64_t shard)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, shard);
    bool found = true;
    while (found) {
        StoredRow row = {0};
        TRY(store_scan_next(scan, &row, &found));
    }
    return NULL;
}

static Error *scan_key(TableStore *store, uint32_t shard, Str key)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan_key(store, shard, key);
    StoredRow row = {0};
    bool found = false;
    return store_scan_next(scan, &row, &found);
}

/* Every user of iterators meets the first row of the shard, whose block cannot be read. */
static void every_reader_is_told(TableStore *store, uint32_t shard, bool first_of_all)
{
    Arena *arena = arena_new("test");
    Str rows[1];
    KeyState states[2];
    const uint32_t shards[2] = {shard, shard};
    const Str keys[2] = {STR("0000"), STR("0400")};
    bool empty = false;
    is_told(scan_all(store, -1));
    is_told(scan_all(store, shard));
    is_told(scan_key(store, shard, keys[0]));
    is_told(table_store_lookup(store, shards, keys, 2, arena, states));
    is_told(table_store_rows(store, shard, keys[0], 1, arena, rows));
    if (first_of_all) {
        is_told(table_store_is_empty(store, &empty));
    }
    arena_free(arena);
}

static void of_the_only_file(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    ingest_rows(open_table(state, "t", 2), 0, 500, 100);
    TableStore *store = reopen(folder, &state);
    broken_size = newest_table_size(folder);
    every_reader_is_told(store, 0, true);
    broken_size = -1;
    ok(scan_all(store, -1));
    state_close(state);
    remove_folder(folder);
}

/* Files whose keys do not overlap lie on one level, and a scan goes from one to the next. */
static void of_the_second_file_of_a_level(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 2);
    ingest_rows(store, 0, 500, 100);
    ingest_rows(store, 1, 500, 120);
    store = reopen(folder, &state);
    broken_size = newest_table_size(folder);
    every_reader_is_told(store, 1, false);
    broken_size = -1;
    ok(scan_all(store, -1));
    state_close(state);
    remove_folder(folder);
}

/* What was cleared lies below what came after it. */
static void after_a_clearing(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 2);
    ingest_rows(store, 0, 400, 100);
    ok(table_store_clear_shard(store, 0));
    ingest_rows(store, 0, 500, 120);
    store = reopen(folder, &state);
    broken_size = newest_table_size(folder);
    every_reader_is_told(store, 0, true);
    broken_size = -1;
    ok(scan_all(store, -1));
    state_close(state);
    remove_folder(folder);
}

/* The directory was opened by a program that gave the table's topic another name. */
static void after_another_topic(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 2);
    ingest_rows(store, 0, 400, 100);
    ok(state_table(state, STR("t"), STR("other"), 2, &store));
    ingest_rows(store, 0, 500, 120);
    state_close(state);
    state = open_state(folder);
    ok(state_table(state, STR("t"), STR("other"), 2, &store));
    broken_size = newest_table_size(folder);
    every_reader_is_told(store, 0, true);
    broken_size = -1;
    state_close(state);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_only_file),
        cmocka_unit_test(of_the_second_file_of_a_level),
        cmocka_unit_test(after_a_clearing),
        cmocka_unit_test(after_another_topic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
