/* TableStore: what is put in comes out, in order, per shard, and what was flushed survives. */
#include "tests/unit/state/fixture.h"

#include "processor/data/key_encoding.h"

#include "processor/base/banned.h"

static void put(StoreBatch *batch, uint32_t shard, const char *key, uint32_t ordinal,
                const char *sequence, const char *row)
{
    store_batch_put(batch, shard, str_from(key), ordinal, str_from(sequence), str_from(row));
}

static KeyState look_up(TableStore *store, Arena *arena, uint32_t shard, Str key)
{
    KeyState state = {.count = 99};
    ok(table_store_lookup(store, &shard, &key, 1, arena, &state));
    return state;
}

static void assert_state(TableStore *store, uint32_t shard, Str key, uint32_t count,
                         const char *sequence)
{
    AUTO(arena) Arena *arena = arena_new("test");
    KeyState state = look_up(store, arena, shard, key);
    assert_int_equal(state.count, count);
    if (count > 0) {
        assert_true(str_equal(state.sequence, str_from(sequence)));
    }
}

static void rows_come_back(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 3);
    assert_int_equal(table_store_shards(store), 3);
    StoreBatch *batch = store_batch_new(store);
    put(batch, 2, "b", 0, "5", "beta");
    put(batch, 0, "a", 0, "3", "one");
    put(batch, 0, "a", 1, "3", "two");
    put(batch, 0, "a", 2, "3", "three");
    put(batch, 1, "a", 0, "9", "");
    assert_true(store_batch_bytes(batch) >= 5 * 12);
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(store, -1, &text), ""); /* a batch is nothing before its write */
    ok(store_batch_write(batch));
    assert_int_equal(store_batch_bytes(batch), 0);
    assert_string_equal(dump(store, -1, &text), "0 a/2@3=three\n0 a/1@3=two\n0 a/0@3=one\n"
                                                "1 a/0@9=\n2 b/0@5=beta\n");
    assert_string_equal(dump(store, 0, &text), "0 a/2@3=three\n0 a/1@3=two\n0 a/0@3=one\n");
    assert_string_equal(dump(store, 1, &text), "1 a/0@9=\n");
    assert_state(store, 0, STR("a"), 3, "3");
    assert_state(store, 1, STR("a"), 1, "9");
    assert_state(store, 2, STR("a"), 0, "");
    assert_state(store, 0, STR("b"), 0, "");
    /* Batches are absolute: applied again, nothing changes. */
    store_batch_delete(batch, 0, STR("a"), 2);
    store_batch_delete(batch, 0, STR("a"), 2);
    put(batch, 0, "a", 1, "3", "TWO");
    ok(store_batch_write(batch));
    ok(store_batch_write(batch)); /* empty */
    assert_string_equal(dump(store, 0, &text), "0 a/1@3=TWO\n0 a/0@3=one\n");
    assert_state(store, 0, STR("a"), 2, "3");
    store_batch_free(batch);
    state_close(state);
    remove_folder(folder);
}

static void encode_text_key(Buffer *out, const char *text)
{
    AUTO(arena) Arena *arena = arena_new("key");
    Vector *vector = vector_new(arena, &type_string, 1);
    vector_append_str(vector, arena, str_from(text));
    buffer_clear(out);
    key_encode_value(vector, 0, out);
}

/* The rows of k1 are replaced; k and k10 must not notice. */
static void replace_k1(const Str keys[3])
{
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    store_batch_put(batch, 0, keys[1], 0, STR("1"), STR("a"));
    store_batch_put(batch, 0, keys[1], 1, STR("1"), STR("a2"));
    store_batch_put(batch, 0, keys[2], 0, STR("1"), STR("b"));
    store_batch_put(batch, 0, keys[0], 0, STR("1"), STR("c"));
    store_batch_put(batch, 0, keys[0], 1, STR("1"), STR("c2"));
    store_batch_put(batch, 0, keys[0], 2, STR("1"), STR("c3"));
    ok(store_batch_write(batch));
    assert_state(store, 0, keys[0], 3, "1");
    assert_state(store, 0, keys[1], 2, "1");
    assert_state(store, 0, keys[2], 1, "1");
    store_batch_put(batch, 0, keys[1], 0, STR("2"), STR("A"));
    store_batch_delete(batch, 0, keys[1], 1);
    ok(store_batch_write(batch));
    assert_state(store, 0, keys[0], 3, "1");
    assert_state(store, 0, keys[1], 1, "2");
    assert_state(store, 0, keys[2], 1, "1");
    store_batch_delete(batch, 0, keys[0], 0);
    store_batch_delete(batch, 0, keys[0], 1);
    store_batch_delete(batch, 0, keys[0], 2);
    ok(store_batch_write(batch));
    assert_state(store, 0, keys[0], 0, "");
    assert_state(store, 0, keys[1], 1, "2");
    assert_state(store, 0, keys[2], 1, "1");
    store_batch_free(batch);
    batch = NULL;
    state_close(state);
    remove_folder(folder);
}

/* state-output.prefix-is-not-a-key, with keys as they are encoded: prefix free. */
static void prefix_is_not_a_key(void **unused)
{
    (void)unused;
    AUTO_BUFFER Buffer k = {0};
    AUTO_BUFFER Buffer k1 = {0};
    AUTO_BUFFER Buffer k10 = {0};
    encode_text_key(&k, "k");
    encode_text_key(&k1, "k1");
    encode_text_key(&k10, "k10");
    replace_k1((Str[]){buffer_str(&k), buffer_str(&k1), buffer_str(&k10)});
}

/* A look-up behind the last row of a shard meets the next shard's position, which is no row. */
static void a_position_is_no_row_of_the_shard_before(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 3);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    put(batch, 0, "a", 0, "1", "x");
    for (uint32_t shard = 0; shard < 3; shard++) {
        store_batch_set_position(batch, shard, 7, 1);
    }
    for (int flushed = 0; flushed < 2; flushed++) {
        ok(store_batch_write(batch));
        assert_state(store, 0, STR("a"), 1, "1");
        assert_state(store, 0, STR("b"), 0, "");
        assert_state(store, 1, STR("b"), 0, "");
        assert_state(store, 2, STR(""), 0, "");
        ok(table_store_flush(store));
    }
    store_batch_free(batch);
    batch = NULL;
    state_close(state);
    remove_folder(folder);
}

static void positions_move_with_rows(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 2);
    int64_t offset = 0;
    int64_t time_us = 1;
    ok(table_store_position(store, 0, &offset, &time_us));
    assert_int_equal(offset, -1);
    assert_int_equal(time_us, 0);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    store_batch_set_position(batch, 1, INT64_MAX, INT64_C(1772366400000000));
    store_batch_set_position(batch, 0, 0, -5);
    ok(store_batch_write(batch));
    ok(table_store_position(store, 1, &offset, &time_us));
    assert_true(offset == INT64_MAX);
    assert_true(time_us == INT64_C(1772366400000000));
    ok(table_store_position(store, 0, &offset, NULL));
    assert_int_equal(offset, 0);
    ok(table_store_position(store, 0, &offset, &time_us));
    assert_int_equal(time_us, -5);
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(store, -1, &text), ""); /* positions are no rows */
    store_batch_free(batch);
    batch = NULL;
    state_close(state);
    remove_folder(folder);
}

static void clearing_a_shard_leaves_the_others(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 300);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    const uint32_t shards[] = {0, 1, 2, 255, 256, 299};
    for (size_t i = 0; i < ARRAY_LENGTH(shards); i++) {
        put(batch, shards[i], "a", 0, "1", "x");
        put(batch, shards[i], "\xFF\xFF\xFF\xFF", 0, "1", "y");
        store_batch_set_position(batch, shards[i], 7, 1);
    }
    ok(store_batch_write(batch));
    /* What follows the clearing stays. */
    ok(table_store_clear_shard(store, 1));
    put(batch, 1, "b", 0, "2", "new");
    ok(store_batch_write(batch));
    ok(table_store_clear_shard(store, 255));
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(store, 1, &text), "1 b/0@2=new\n");
    assert_string_equal(dump(store, 255, &text), "");
    assert_string_equal(dump(store, 0, &text), "0 a/0@1=x\n0 \xFF\xFF\xFF\xFF/0@1=y\n");
    assert_string_equal(dump(store, 2, &text), "2 a/0@1=x\n2 \xFF\xFF\xFF\xFF/0@1=y\n");
    assert_string_equal(dump(store, 256, &text), "256 a/0@1=x\n256 \xFF\xFF\xFF\xFF/0@1=y\n");
    const int64_t positions[] = {7, -1, 7, -1, 7, 7};
    for (size_t i = 0; i < ARRAY_LENGTH(shards); i++) {
        int64_t offset = 0;
        ok(table_store_position(store, shards[i], &offset, NULL));
        assert_int_equal(offset, positions[i]);
    }
    store_batch_free(batch);
    batch = NULL;
    state_close(state);
    remove_folder(folder);
}

/* Opens the table with that topic and number of shards; is its content still there? */
static bool still_there(const char *folder, const char *topic, uint32_t shards)
{
    State *state = open_state(folder);
    TableStore *store = NULL;
    ok(state_table(state, STR("t"), str_from(topic), shards, &store));
    AUTO_BUFFER Buffer text = {0};
    bool there = strcmp(dump(store, -1, &text), "0 a/0@1=x\n") == 0;
    int64_t offset = 0;
    ok(table_store_position(store, 0, &offset, NULL));
    assert_int_equal(offset, there ? 7 : -1);
    if (!there) {
        assert_string_equal(buffer_cstr(&text), "");
        AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
        put(batch, 0, "a", 0, "1", "x");
        store_batch_set_position(batch, 0, 7, 1);
        ok(store_batch_write(batch));
        ok(table_store_flush(store));
    }
    state_close(state);
    return there;
}

static void another_topic_empties_the_store(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    assert_false(still_there(folder, "p.t", 2));
    assert_true(still_there(folder, "p.t", 2));
    assert_false(still_there(folder, "p.t", 4)); /* partitions were added: keys moved */
    assert_true(still_there(folder, "p.t", 4));
    assert_false(still_there(folder, "q.t", 4));
    assert_true(still_there(folder, "q.t", 4));
    remove_folder(folder);
}

static void stores_do_not_mix(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *one = open_table(state, "t", 1);
    TableStore *other = open_table(state, "main.default.t`ü", 1);
    assert_ptr_equal(open_table(state, "t", 1), one);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(one);
    put(batch, 0, "a", 0, "1", "x");
    ok(store_batch_write(batch));
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(other, -1, &text), "");
    TableStore *wide = NULL;
    fails(state_table(state, STR("w"), STR("w"), 65537, &wide), ERROR_STATE_FORMAT, "65537");
    store_batch_free(batch);
    batch = NULL;
    state_close(state);
    remove_folder(folder);
}

static void only_what_was_flushed_survives(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    put(batch, 0, "a", 0, "1", "kept");
    store_batch_set_position(batch, 0, 7, 1);
    ok(store_batch_write(batch));
    ok(table_store_flush(store));
    put(batch, 0, "a", 0, "2", "lost");
    put(batch, 0, "b", 0, "2", "lost");
    store_batch_set_position(batch, 0, 9, 2);
    ok(store_batch_write(batch));
    store_batch_free(batch);
    batch = NULL;
    state_close(state);
    state = open_state(folder);
    store = open_table(state, "t", 1);
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(store, -1, &text), "0 a/0@1=kept\n");
    int64_t offset = 0;
    ok(table_store_position(store, 0, &offset, NULL));
    assert_int_equal(offset, 7);
    state_close(state);
    remove_folder(folder);
}

static void a_scan_sees_the_store_as_it_was(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    put(batch, 0, "a", 0, "1", "x");
    put(batch, 0, "b", 0, "1", "y");
    ok(store_batch_write(batch));
    StoreScan *scan = table_store_scan(store, -1);
    StoredRow row = {0};
    bool found = false;
    ok(store_scan_next(scan, &row, &found));
    ok(table_store_clear_shard(store, 0));
    put(batch, 0, "c", 0, "1", "z");
    ok(store_batch_write(batch));
    ok(table_store_flush(store));
    ok(store_scan_next(scan, &row, &found));
    assert_true(found && str_equal(row.row, STR("y")));
    ok(store_scan_next(scan, &row, &found));
    assert_false(found);
    ok(store_scan_next(scan, &row, &found)); /* the end stays the end */
    assert_false(found);
    store_scan_close(scan);
    AUTO_BUFFER Buffer text = {0};
    assert_string_equal(dump(store, -1, &text), "0 c/0@1=z\n");
    store_batch_free(batch);
    batch = NULL;
    state_close(state);
    remove_folder(folder);
}

/* Keys of 64 KiB that differ in their last byte only, rows of 10 MiB, in little memory. */
static void large_keys_and_rows(void **unused)
{
    (void)unused;
    char *folder = new_folder();
    State *state = open_state(folder);
    TableStore *store = open_table(state, "t", 1);
    enum { KEY = 64 << 10, ROW = 10 << 20, COUNT = 3 };
    char *key = mem_alloc(KEY);
    char *row = mem_alloc(ROW);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(store);
    for (int i = 0; i < COUNT; i++) {
        key[KEY - 1] = (char)i;
        memset(row, 'A' + i, ROW);
        store_batch_put(batch, 0, (Str){key, KEY}, 0, (Str){key, KEY}, (Str){row, ROW});
        ok(store_batch_write(batch));
    }
    ok(table_store_flush(store));
    AUTO(arena) Arena *arena = arena_new("test");
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, 0);
    for (int i = 0; i < COUNT; i++) {
        key[KEY - 1] = (char)i;
        KeyState known = look_up(store, arena, 0, (Str){key, KEY});
        assert_int_equal(known.count, 1);
        assert_true(str_equal(known.sequence, (Str){key, KEY}));
        StoredRow found_row = {0};
        bool found = false;
        ok(store_scan_next(scan, &found_row, &found));
        memset(row, 'A' + i, ROW);
        assert_true(found && str_equal(found_row.row, (Str){row, ROW}));
        assert_true(str_equal(found_row.key, (Str){key, KEY}));
    }
    store_scan_close(scan);
    scan = NULL;
    store_batch_free(batch);
    batch = NULL;
    mem_free(key);
    mem_free(row);
    state_close(state);
    remove_folder(folder);
}

/* A batch far beyond the write buffers is still one step, and small memory copes with it. */
static void a_million_puts_in_a_batch(void **unused)
{
    (void)unused;
    enum { COUNT = 1000000, KEYS = 1000 };
    char *folder = new_folder();
    StateOptions options = {.dir = folder, .pipeline = "bookings", .memory_bytes = 1 << 20};
    State *state = NULL;
    ok(state_open(&options, &state, NULL));
    TableStore *store = open_table(state, "t", 1);
    StoreBatch *batch = store_batch_new(store);
    for (uint32_t i = 0; i < COUNT; i++) {
        char key[8];
        int size = snprintf(key, sizeof key, "%06u", (unsigned)(i % KEYS));
        store_batch_put(batch, 0, (Str){key, (size_t)size}, i / KEYS, STR("1"), STR("row"));
    }
    ok(store_batch_write(batch));
    ok(table_store_flush(store));
    store_batch_free(batch);
    state_close(state);
    ok(state_open(&options, &state, NULL));
    store = open_table(state, "t", 1);
    assert_state(store, 0, STR("000000"), COUNT / KEYS, "1");
    assert_state(store, 0, STR("000999"), COUNT / KEYS, "1");
    assert_state(store, 0, STR("001000"), 0, "");
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, -1);
    bool found = true;
    for (uint32_t i = 0; found; i++) {
        StoredRow row = {0};
        ok(store_scan_next(scan, &row, &found));
        assert_int_equal(found, i < COUNT);
        assert_true(!found || row.ordinal == COUNT / KEYS - 1 - i % (COUNT / KEYS));
    }
    store_scan_close(scan);
    scan = NULL;
    state_close(state);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back),
        cmocka_unit_test(prefix_is_not_a_key),
        cmocka_unit_test(a_position_is_no_row_of_the_shard_before),
        cmocka_unit_test(positions_move_with_rows),
        cmocka_unit_test(clearing_a_shard_leaves_the_others),
        cmocka_unit_test(another_topic_empties_the_store),
        cmocka_unit_test(stores_do_not_mix),
        cmocka_unit_test(only_what_was_flushed_survives),
        cmocka_unit_test(a_scan_sees_the_store_as_it_was),
        cmocka_unit_test(large_keys_and_rows),
        cmocka_unit_test(a_million_puts_in_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
