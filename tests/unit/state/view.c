/* A state seen from outside while its owner works: what was written out is there, nothing is
 * written, no lock is taken. */
#include <dirent.h>

#include "state/view.h"
#include "tests/unit/state/fixture.h"

#include "processor/base/banned.h"

/* Names, sizes and times of all files of a folder, sorted by the folder's own order. */
static void list_files(const char *folder, Buffer *out)
{
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    AUTO_BUFFER Buffer path = {0};
    for (const struct dirent *entry = readdir(open_folder); entry != NULL;
         entry = readdir(open_folder)) {
        struct stat info;
        assert_int_equal(stat(path_of(&path, folder, entry->d_name), &info), 0);
        buffer_printf(out, "%s %lld %lld.%09ld\n", entry->d_name, (long long)info.st_size,
                      (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    }
    (void)closedir(open_folder);
}

static void put_rows(TableStore *store, const char *key, uint32_t count, const char *sequence)
{
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    AUTO_BUFFER Buffer row = {0};
    for (uint32_t i = 0; i < count; i++) {
        buffer_clear(&row);
        buffer_printf(&row, "%s row %u", key, i);
        store_batch_put(batch, 1, str_from(key), i, str_from(sequence), buffer_str(&row));
    }
    store_batch_set_position(batch, 1, 40 + count, 77);
    ok(store_batch_write(batch));
    ok(table_store_flush(store));
}

static State *open_view(const char *folder)
{
    State *view = NULL;
    ok(state_view_open(folder, "bookings", &view));
    assert_non_null(view);
    return view;
}

static void check_key(State *view, const char *key, uint32_t count)
{
    TableStore *store = NULL;
    ok(state_view_table(view, STR("t"), &store));
    assert_non_null(store);
    assert_int_equal(table_store_shards(store), 3);
    AUTO(store_scan) StoreScan *scan = table_store_scan_key(store, 1, str_from(key));
    AUTO_BUFFER Buffer expected = {0};
    for (uint32_t left = count;; left--) {
        StoredRow row = {0};
        bool found = false;
        ok(store_scan_next(scan, &row, &found));
        assert_int_equal(found, left > 0);
        if (!found) {
            return;
        }
        buffer_clear(&expected);
        buffer_printf(&expected, "%s row %u", key, left - 1);
        assert_int_equal(row.ordinal, left - 1);
        assert_int_equal(row.shard, 1);
        assert_true(str_equal(row.key, str_from(key)));
        assert_true(str_equal(row.row, buffer_str(&expected)));
        assert_true(str_equal(row.sequence, STR("s1")));
    }
}

static void an_owner_is_watched(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    AUTO_BUFFER Buffer database = {0};
    (void)path_of(&database, folder, "rocksdb");
    State *none = NULL;
    ok(state_view_open(folder, "bookings", &none));
    assert_null(none);
    assert_int_equal(state_view_owner(folder), 0);

    State *owner = open_state(folder);
    assert_int_equal(state_view_owner(folder), getpid());
    TableStore *store = NULL;
    ok(state_table(owner, STR("t"), STR("topic"), 3, &store));
    put_rows(store, "aa", 3, "s1");
    put_rows(store, "ab", 1, "s1");

    State *view = open_view(folder);
    check_key(view, "aa", 3);
    check_key(view, "ab", 1);
    check_key(view, "ac", 0);
    TableStore *other = NULL;
    ok(state_view_table(view, STR("unknown"), &other));
    assert_null(other);
    ok(state_view_table(view, STR("t"), &other));
    int64_t offset = -1;
    int64_t time_us = 0;
    ok(table_store_position(other, 1, &offset, &time_us));
    assert_int_equal(offset, 41);
    assert_int_equal(time_us, 77);
    ok(table_store_position(other, 0, &offset, NULL));
    assert_int_equal(offset, -1);

    /* The owner goes on and removes files; the view stays as it was, a new one sees more. */
    for (int i = 0; i < 12; i++) {
        put_rows(store, "bb", 5, "s1");
    }
    check_key(view, "aa", 3);
    check_key(view, "bb", 0);
    state_close(view);
    view = open_view(folder);
    check_key(view, "bb", 5);
    state_close(view);

    /* Nobody has it open: the same, and the owner comes back undisturbed beside a view. */
    state_close(owner);
    assert_int_equal(state_view_owner(folder), 0);
    AUTO_BUFFER Buffer before = {0};
    AUTO_BUFFER Buffer after = {0};
    list_files(folder, &before);
    list_files(buffer_cstr(&database), &before);
    view = open_view(folder);
    check_key(view, "bb", 5);
    list_files(folder, &after);
    list_files(buffer_cstr(&database), &after);
    assert_string_equal(buffer_cstr(&before), buffer_cstr(&after)); /* nothing was written */
    owner = open_state(folder);
    state_close(owner);
    state_close(view);
    remove_folder(folder);
}

static void what_is_refused(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    state_close(open_state(folder));
    State *view = NULL;
    fails(state_view_open(folder, "another", &view), ERROR_STATE_FORMAT,
          "belongs to pipeline `bookings`");
    ok(state_view_open("/no/such/folder", "bookings", &view));
    assert_null(view);
    AUTO_BUFFER Buffer database = {0};
    (void)path_of(&database, folder, "rocksdb");
    write_file(buffer_cstr(&database), "CURRENT", STR("MANIFEST-999999\n"));
    AUTO(error) Error *error = state_view_open(folder, "bookings", &view);
    assert_non_null(error);
    assert_null(view);
    /* Damage is for the owner to note and to mend. */
    AUTO_BUFFER Buffer path = {0};
    assert_int_equal(access(path_of(&path, folder, "DAMAGED"), F_OK), -1);
    write_file(folder, "TIDEMARK", STR("tidemark state\nformat 99\npipeline bookings\n"));
    fails(state_view_open(folder, "bookings", &view), ERROR_STATE_FORMAT, "format 99");
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_is_watched),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests_name("state/view", tests, NULL, NULL);
}
