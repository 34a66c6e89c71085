/* Ingestion: a sorted set of changes is there whole or not at all, newer than what was written
 * before it, and survives a crash. */
#include "tests/unit/state/fixture.h"

#include <dirent.h>

#include "processor/base/fault.h"

#include "processor/base/banned.h"

static StoreIngest *begin(TableStore *store)
{
    StoreIngest *ingest = NULL;
    ok(store_ingest_begin(store, &ingest));
    return ingest;
}

static void add(StoreIngest *ingest, uint32_t shard, const char *key, uint32_t ordinal,
                const char *sequence, const char *row)
{
    ok(store_ingest_put(ingest, shard, str_from(key), ordinal, str_from(sequence), str_from(row)));
}

static void finish(StoreIngest *ingest)
{
    ok(store_ingest_finish(ingest));
    store_ingest_free(ingest);
}

/* One row of shard 0 by a batch, not flushed. */
static void write_batch(TableStore *store, const char *key, const char *row)
{
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    store_batch_put(batch, 0, str_from(key), 0, STR("1"), str_from(row));
    ok(store_batch_write(batch));
}

static void expect_rows(TableStore *store, const char *rows)
{
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(store, -1, &text), rows);
}

static void expect_position(TableStore *store, uint32_t shard, int64_t offset, int64_t time_us)
{
    int64_t have = 0;
    int64_t have_us = 0;
    ok(table_store_position(store, shard, &have, &have_us));
    assert_int_equal(have, offset);
    assert_int_equal(have_us, time_us);
}

static int files_waiting(const char *folder)
{
    AUTO_BUFFER Buffer path = {0};
    DIR *dir = opendir(path_of(&path, folder, "ingest"));
    assert_non_null(dir);
    int count = 0;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(dir);
    return count;
}

static void rows_and_positions_come_back(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 3);
    StoreIngest *ingest = begin(store);
    ok(store_ingest_position(ingest, 0, 17, 1000));
    add(ingest, 0, "a", 2, "3", "three");
    add(ingest, 0, "a", 1, "3", "two");
    add(ingest, 0, "a", 0, "3", "one");
    add(ingest, 0, "b", 0, "4", "");
    ok(store_ingest_position(ingest, 2, 0, 1001));
    add(ingest, 2, "a", 0, "9", "else");
    assert_true(store_ingest_bytes(ingest) > 5 * 8);
    expect_rows(store, "");
    expect_position(store, 0, -1, 0);
    finish(ingest);
    /* Nothing is flushed at a close: it is on disk already. */
    for (int life = 0; life < 2; life++) {
        expect_rows(store, "0 a/2@3=three\n0 a/1@3=two\n0 a/0@3=one\n0 b/0@4=\n2 a/0@9=else\n");
        expect_position(store, 0, 17, 1000);
        expect_position(store, 1, -1, 0);
        expect_position(store, 2, 0, 1001);
        Str keys[] = {STR("a"), STR("b"), STR("c"), STR("a")};
        uint32_t shards[] = {0, 0, 0, 1};
        KeyState states[4];
        AUTO(arena) Arena *arena = arena_new("test");
        ok(table_store_lookup(store, shards, keys, 4, arena, states));
        assert_int_equal(states[0].count, 3);
        assert_true(str_equal(states[0].sequence, STR("3")));
        assert_int_equal(states[1].count, 1);
        assert_int_equal(states[2].count, 0);
        assert_int_equal(states[3].count, 0);
        state_close(state);
        assert_int_equal(files_waiting(folder), 0);
        state = open_state(folder);
        store = open_table(state, "t", 3);
    }
    state_close(state);
    remove_folder(folder);
}

static void deletes_and_changes(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    StoreIngest *ingest = begin(store);
    add(ingest, 0, "a", 1, "1", "a1");
    add(ingest, 0, "a", 0, "1", "a0");
    add(ingest, 0, "b", 0, "1", "b0");
    finish(ingest);
    ingest = begin(store);
    ok(store_ingest_delete(ingest, 0, STR("a"), 1));
    add(ingest, 0, "a", 0, "2", "A");
    ok(store_ingest_delete(ingest, 0, STR("b"), 0));
    ok(store_ingest_delete(ingest, 0, STR("never there"), 0));
    finish(ingest);
    expect_rows(store, "0 a/0@2=A\n");
    ingest = begin(store);
    finish(ingest); /* nothing put */
    expect_rows(store, "0 a/0@2=A\n");
    state_close(state);
    remove_folder(folder);
}

/* What batches wrote earlier is older, overlapping or not, and on disk no later. */
static void batches_and_files_keep_their_order(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 3);
    write_batch(store, "a", "first");
    write_batch(store, "z", "elsewhere");
    StoreIngest *ingest = begin(store);
    add(ingest, 0, "a", 0, "2", "second");
    add(ingest, 0, "b", 0, "2", "b");
    write_batch(store, "b", "written while the file was");
    finish(ingest);
    expect_rows(store, "0 a/0@2=second\n0 b/0@2=b\n0 z/0@1=elsewhere\n");
    /* A file that overlaps with nothing: what came before it is there nevertheless. */
    write_batch(store, "y", "before");
    ingest = begin(store);
    add(ingest, 2, "k", 0, "1", "alone");
    finish(ingest);
    write_batch(store, "a", "lost with the crash");
    state_close(state);
    state = open_state(folder);
    store = open_table(state, "t", 3);
    expect_rows(store, "0 a/0@2=second\n0 b/0@2=b\n0 y/0@1=before\n0 z/0@1=elsewhere\n"
                       "2 k/0@1=alone\n");
    write_batch(store, "a", "newest");
    expect_rows(store, "0 a/0@1=newest\n0 b/0@2=b\n0 y/0@1=before\n0 z/0@1=elsewhere\n"
                       "2 k/0@1=alone\n");
    state_close(state);
    remove_folder(folder);
}

static void clear_shard(TableStore *store, uint32_t shard)
{
    ok(table_store_clear_shard(store, shard));
}

/* A shard is emptied and filled again, as by a full refresh or a restore from nothing. */
static void after_a_shard_was_cleared(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 2);
    for (int round = 0; round < 3; round++) {
        StoreIngest *ingest = begin(store);
        ok(store_ingest_position(ingest, 0, 5, 1));
        add(ingest, 0, "a", 0, "1", "old");
        ok(store_ingest_position(ingest, 1, 6, 1));
        add(ingest, 1, "a", 0, "1", "stays");
        finish(ingest);
        clear_shard(store, 0);
        expect_rows(store, "1 a/0@1=stays\n");
        ingest = begin(store);
        add(ingest, 0, "a", 0, "1", "new");
        add(ingest, 0, "b", 0, "1", "new");
        finish(ingest);
        state_close(state);
        state = open_state(folder);
        store = open_table(state, "t", 2);
        expect_rows(store, "0 a/0@1=new\n0 b/0@1=new\n1 a/0@1=stays\n");
        expect_position(store, 0, -1, 0);
        expect_position(store, 1, 6, 1);
        clear_shard(store, 0);
    }
    state_close(state);
    remove_folder(folder);
}

static void a_scan_sees_all_of_it_or_nothing(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    StoreIngest *ingest = begin(store);
    add(ingest, 0, "b", 0, "1", "old");
    add(ingest, 0, "d", 0, "1", "old");
    finish(ingest);
    StoreScan *scan = table_store_scan(store, -1);
    ingest = begin(store);
    ok(store_ingest_position(ingest, 0, 9, 9));
    add(ingest, 0, "a", 0, "2", "new");
    ok(store_ingest_delete(ingest, 0, STR("b"), 0));
    add(ingest, 0, "c", 0, "2", "new");
    add(ingest, 0, "d", 0, "2", "new");
    finish(ingest);
    const char *const seen[] = {"b", "d"};
    for (size_t i = 0; i <= ARRAY_LENGTH(seen); i++) {
        StoredRow row = {0};
        bool found = false;
        ok(store_scan_next(scan, &row, &found));
        assert_int_equal(found, i < ARRAY_LENGTH(seen));
        assert_true(!found || str_equal(row.key, str_from(seen[i])));
        assert_true(!found || str_equal(row.row, STR("old")));
    }
    store_scan_close(scan);
    expect_rows(store, "0 a/0@2=new\n0 c/0@2=new\n0 d/0@2=new\n");
    state_close(state);
    remove_folder(folder);
}

static void what_was_not_finished_never_was(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    StoreIngest *ingest = begin(store);
    add(ingest, 0, "a", 0, "1", "given up");
    assert_int_equal(files_waiting(folder), 1);
    store_ingest_free(ingest);
    assert_int_equal(files_waiting(folder), 0);
    store_ingest_free(NULL);
    state_close(state);
    /* Left behind by a crash: the next opening sweeps them away. */
    AUTO_BUFFER Buffer path = {0};
    write_file(path_of(&path, folder, "ingest"), "0.sst", STR("half a file"));
    write_file(buffer_cstr(&path), "77.sst", STR(""));
    assert_int_equal(files_waiting(folder), 2);
    state = open_state(folder);
    assert_int_equal(files_waiting(folder), 0);
    store = open_table(state, "t", 1);
    expect_rows(store, "");
    ingest = begin(store);
    add(ingest, 0, "a", 0, "1", "one");
    finish(ingest);
    expect_rows(store, "0 a/0@1=one\n");
    state_close(state);
    remove_folder(folder);
}

/* It dies at each fault point: before the ingestion nothing is there, after it all is. */
static void deaths_on_the_way(void **unused)
{
    (void)unused;
    static const char *const points[] = {"ingest.write", "ingest.before", "ingest.after"};
    static const char *const rows[] = {"", "", "0 a/0@1=x\n0 b/0@1=y\n"};
    for (size_t i = 0; i < ARRAY_LENGTH(points); i++) {
        char *folder = new_folder();
        State *state = open_state(folder);
        TableStore *store = open_table(state, "t", 1);
        StoreIngest *ingest = begin(store);
        ok(store_ingest_position(ingest, 0, 3, 4));
        add(ingest, 0, "a", 0, "1", "x");
        add(ingest, 0, "b", 0, "1", "y");
        fault_arm(points[i], 1, FAULT_CRASH);
        fails(store_ingest_finish(ingest), ERROR_SIMULATED_CRASH, points[i]);
        fault_disarm();
        store_ingest_free(ingest);
        state_close(state);
        state = open_state(folder);
        store = open_table(state, "t", 1);
        expect_rows(store, rows[i]);
        expect_position(store, 0, i < 2 ? -1 : 3, i < 2 ? 0 : 4);
        state_close(state);
        remove_folder(folder);
    }
}

static void empty_or_not(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 2);
    bool empty = false;
    ok(table_store_is_empty(store, &empty));
    assert_true(empty);
    StoreIngest *ingest = begin(store);
    ok(store_ingest_position(ingest, 0, 5, 1));
    ok(store_ingest_position(ingest, 1, 5, 1));
    finish(ingest);
    ok(table_store_is_empty(store, &empty));
    assert_true(empty); /* positions are no rows */
    ingest = begin(store);
    add(ingest, 1, "a", 0, "1", "x");
    finish(ingest);
    ok(table_store_is_empty(store, &empty));
    assert_false(empty);
    clear_shard(store, 1);
    ok(table_store_is_empty(store, &empty));
    assert_true(empty);
    state_close(state);
    remove_folder(folder);
}

/* Random changes by files and by batches, with crashes, against a plain array. */
enum { SHARDS = 3, KEYS = 24, ORDINALS = 3, ROUNDS = 400 };

typedef struct Model {
    char rows[SHARDS][KEYS][ORDINALS][16]; /* empty: not there */
} Model;

static void dump_model(const Model *model, Buffer *out)
{
    buffer_clear(out);
    for (int s = 0; s < SHARDS; s++) {
        for (int k = 0; k < KEYS; k++) {
            for (int o = ORDINALS - 1; o >= 0; o--) {
                const char *row = model->rows[s][k][o];
                if (row[0] != '\0') {
                    buffer_printf(out, "%d k%02d/%d@1=%s\n", s, k, o, row);
                }
            }
        }
    }
}

/* A share of all entries, in the order of the store, by either way. */
static void change_some(TableStore *store, Model *model, Random *random, int round, bool by_file)
{
    StoreIngest *ingest = by_file ? begin(store) : NULL;
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    uint32_t one_in = 1 + random_below(random, 40);
    for (int i = 0; i < SHARDS * KEYS * ORDINALS; i++) {
        if (random_below(random, one_in) != 0) {
            continue;
        }
        int shard = i / (KEYS * ORDINALS);
        int k = i / ORDINALS % KEYS;
        int ordinal = ORDINALS - 1 - i % ORDINALS;
        char *row = model->rows[shard][k][ordinal];
        AUTO_BUFFER Buffer key = {0};
        buffer_printf(&key, "k%02d", k);
        bool delete = random_below(random, 3) == 0;
        (void)snprintf(row, sizeof model->rows[0][0][0], "%s%d", delete ? "" : "r", round);
        row[delete ? 0 : strlen(row)] = '\0';
        uint32_t s = (uint32_t)shard;
        uint32_t o = (uint32_t)ordinal;
        if (by_file && delete) {
            ok(store_ingest_delete(ingest, s, buffer_str(&key), o));
        } else if (by_file) {
            ok(store_ingest_put(ingest, s, buffer_str(&key), o, STR("1"), str_from(row)));
        } else if (delete) {
            store_batch_delete(batch, s, buffer_str(&key), o);
        } else {
            store_batch_put(batch, s, buffer_str(&key), o, STR("1"), str_from(row));
        }
    }
    if (by_file) {
        finish(ingest);
    } else {
        ok(store_batch_write(batch));
    }
}

static void random_changes(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", SHARDS);
    Model now = {0};
    Model durable = {0};
    Random random = random_of(41);
    AUTO_BUFFER Buffer want = {0};
    for (int round = 0; round < ROUNDS; round++) {
        bool by_file = random_below(&random, 4) != 0;
        change_some(store, &now, &random, round, by_file);
        if (by_file) {
            durable = now;
        }
        if (random_below(&random, 25) == 0) {
            state_close(state);
            state = open_state(folder);
            store = open_table(state, "t", SHARDS);
            now = durable;
        }
        dump_model(&now, &want);
        expect_rows(store, buffer_cstr(&want));
    }
    state_close(state);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_positions_come_back),
        cmocka_unit_test(deletes_and_changes),
        cmocka_unit_test(batches_and_files_keep_their_order),
        cmocka_unit_test(after_a_shard_was_cleared),
        cmocka_unit_test(a_scan_sees_all_of_it_or_nothing),
        cmocka_unit_test(what_was_not_finished_never_was),
        cmocka_unit_test(deaths_on_the_way),
        cmocka_unit_test(empty_or_not),
        cmocka_unit_test(random_changes),
    };
    return cmocka_run_group_tests_name("state/ingest", tests, NULL, NULL);
}
