/* Runs: changes in any order come out as if they had been made one after the other. */
#include "tests/unit/state/fixture.h"

#include "processor/base/fault.h"
#include "state/sizes.h"

#include "processor/base/banned.h"

static void put(StoreRun *run, uint32_t shard, const char *key, uint32_t ordinal, const char *row)
{
    store_run_put(run, shard, str_from(key), ordinal, STR("1"), str_from(row));
}

static void the_last_change_wins(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 3);
    StoreRun *run = store_run_new(store);
    ok(store_run_write(run)); /* empty */
    put(run, 2, "b", 0, "first");
    put(run, 0, "a longer key, whose beginning is the same: 2", 0, "two");
    put(run, 0, "a longer key, whose beginning is the same: 1", 0, "one");
    put(run, 0, "a longer key, whose beginning is the same: 1", 1, "one and more");
    store_run_position(run, 0, 5, 50);
    put(run, 2, "b", 0, "second");
    put(run, 1, "gone", 0, "x");
    store_run_delete(run, 1, STR("gone"), 0);
    store_run_delete(run, 1, STR("here"), 0);
    put(run, 1, "here", 0, "x");
    store_run_position(run, 0, 7, 70);
    assert_true(store_run_bytes(run) > 0);
    ok(store_run_write(run));
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(store, -1, &text),
                        "0 a longer key, whose beginning is the same: 1/1@1=one and more\n"
                        "0 a longer key, whose beginning is the same: 1/0@1=one\n"
                        "0 a longer key, whose beginning is the same: 2/0@1=two\n"
                        "1 here/0@1=x\n2 b/0@1=second\n");
    int64_t offset = 0;
    int64_t time_us = 0;
    ok(table_store_position(store, 0, &offset, &time_us));
    assert_int_equal(offset, 7);
    assert_int_equal(time_us, 70);
    /* It is empty again, and what comes next is newer. */
    store_run_delete(run, 2, STR("b"), 0);
    ok(store_run_write(run));
    assert_string_equal(dump(store, 2, &text), "");
    store_run_free(run);
    state_close(state);
    remove_folder(folder);
}

/* A key of 1 to 40 bytes out of few, so that many begin alike and come again. */
static Str random_key(Random *random, char out[40])
{
    uint32_t size = 1 + random_below(random, 40);
    for (uint32_t i = 0; i < size; i++) {
        out[i] = (char)(i < 30 ? 'a' + (i % 7 == 3 ? random_below(random, 2) : 0)
                               : random_below(random, 256));
    }
    out[size - 1] = '!'; /* none is the beginning of another */
    return (Str){out, size};
}

/* The same random changes by a run and, one by one, by batches. */
static void as_if_made_one_by_one(void **unused)
{
    (void)unused;
    Random random = random_of(9);
    static const int sizes[] = {1, 2, 11, 12, 13, 24, 25, 1000, 30000};
    for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
        char *folder = new_folder();
        State *state = open_state(folder);
        TableStore *by_run = open_table(state, "run", 4);
        TableStore *by_batch = open_table(state, "batch", 4);
        AUTO(store_run) StoreRun *run = store_run_new(by_run);
        AUTO(store_batch) StoreBatch *batch = store_batch_new(by_batch);
        for (int i = 0; i < sizes[s]; i++) {
            char bytes[40];
            Str key = random_key(&random, bytes);
            uint32_t shard = random_below(&random, 4);
            uint32_t ordinal = random_below(&random, 3);
            char row[16];
            (void)snprintf(row, sizeof row, "%d", i);
            if (random_below(&random, 3) == 0) {
                store_run_delete(run, shard, key, ordinal);
                store_batch_delete(batch, shard, key, ordinal);
            } else {
                store_run_put(run, shard, key, ordinal, STR("s"), str_from(row));
                store_batch_put(batch, shard, key, ordinal, STR("s"), str_from(row));
            }
            if (random_below(&random, 5000) == 0) {
                ok(store_run_write(run));
            }
        }
        ok(store_run_write(run));
        ok(store_batch_write(batch));
        AUTO_BUFFER Buffer have = {0};
        AUTO_BUFFER Buffer want = {0};
        assert_string_equal(dump(by_run, -1, &have), dump(by_batch, -1, &want));
        store_run_free(run);
        run = NULL;
        store_batch_free(batch);
        batch = NULL;
        state_close(state);
        remove_folder(folder);
    }
}

static void a_failed_write_can_be_repeated(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    StoreRun *run = store_run_new(store);
    put(run, 0, "b", 0, "x");
    put(run, 0, "a", 0, "x");
    put(run, 0, "b", 0, "y");
    AUTO_BUFFER Buffer text = {0};
    fault_arm("ingest.before", 1, FAULT_ERROR);
    fails(store_run_write(run), ERROR_KAFKA_TIMED_OUT, "ingest.before");
    fault_disarm();
    assert_string_equal(dump(store, -1, &text), "");
    ok(store_run_write(run));
    assert_string_equal(dump(store, -1, &text), "0 a/0@1=x\n0 b/0@1=y\n");
    store_run_free(run);
    state_close(state);
    remove_folder(folder);
}

static void fill_up(StoreRun *run, size_t *ret_bytes)
{
    static const char row[1000];
    for (uint32_t i = 0; !store_run_is_full(run); i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%08x", i);
        store_run_put(run, 0, str_from(key), 0, STR("1"), (Str){row, sizeof row});
    }
    *ret_bytes = store_run_bytes(run);
}

/* Together they keep within a quarter of the memory, and what they hold is told. */
static void runs_share_their_memory(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    StateSizes sizes;
    state_sizes(state, &sizes);
    assert_int_equal(sizes.run_bytes, 0);
    StoreRun *alone = store_run_new(store);
    size_t bytes = 0;
    fill_up(alone, &bytes);
    assert_in_range(bytes, FIXTURE_MEMORY / 5, FIXTURE_MEMORY / 4 + (64 << 10));
    state_sizes(state, &sizes);
    assert_in_range(sizes.run_bytes, bytes, FIXTURE_MEMORY / 2);
    ok(store_run_write(alone));
    StoreRun *runs[3];
    for (size_t i = 0; i < ARRAY_LENGTH(runs); i++) {
        runs[i] = store_run_new(store);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(runs); i++) {
        fill_up(runs[i], &bytes);
        assert_in_range(bytes, FIXTURE_MEMORY / 20, FIXTURE_MEMORY / 16 + (64 << 10));
    }
    for (size_t i = 0; i < ARRAY_LENGTH(runs); i++) {
        store_run_free(runs[i]);
    }
    store_run_free(alone);
    store_run_free(NULL);
    state_sizes(state, &sizes);
    assert_int_equal(sizes.run_bytes, 0);
    assert_true(sizes.filter_bytes > 0);
    assert_true(sizes.block_cache_bytes + sizes.filter_bytes + sizes.write_buffers_bytes <
                FIXTURE_MEMORY);
    state_close(state);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_change_wins),
        cmocka_unit_test(as_if_made_one_by_one),
        cmocka_unit_test(a_failed_write_can_be_repeated),
        cmocka_unit_test(runs_share_their_memory),
    };
    return cmocka_run_group_tests_name("state/run", tests, NULL, NULL);
}
