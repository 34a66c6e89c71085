/* The key table against a plain array: additions, removals, growth, eviction, sequences of every
 * length. Keys are numbers, so a model key is its index. */
#include "tests/unit/state/fixture.h"

#include "state/key_table.h"

#include "processor/base/banned.h"

enum { KEYS = 200000, SMALL = 8 << 20 /* bytes: about 98,000 keys */ };

typedef struct ModelKey {
    bool present;
    uint32_t count;
    uint32_t sequence_size;
    uint32_t epoch;
} ModelKey;

static Hash128 hash_of(const KeyTable *table, uint32_t key)
{
    return key_table_hash(table, (Str){(const char *)&key, sizeof key});
}

/* Up to 40 bytes: short ones lie in the slot, long ones beside it. */
static Str sequence_of(char *buffer, uint32_t key, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        buffer[i] = (char)(key * 7 + i);
    }
    return (Str){buffer, size};
}

static void put(KeyTable *table, ModelKey *model, uint32_t key, uint32_t size, uint32_t epoch)
{
    char bytes[64];
    bool added = false;
    KeySlot *slot = key_table_find_or_add(table, hash_of(table, key), &added);
    assert_int_equal(added, !model[key].present);
    if (!added) {
        assert_int_equal(slot->count, model[key].count);
    }
    slot->count = key + 1;
    slot->epoch = epoch;
    key_slot_set_sequence(slot, sequence_of(bytes, key, size));
    model[key] = (ModelKey){true, key + 1, size, epoch};
}

static void check_key(KeyTable *table, const ModelKey *model, uint32_t key)
{
    char bytes[64];
    key_table_reserve(table, 1, 0);
    const KeySlot *slot = key_table_find(table, hash_of(table, key));
    assert_int_equal(slot != NULL, model[key].present);
    if (slot != NULL) {
        assert_int_equal(slot->count, model[key].count);
        assert_true(
            str_equal(key_slot_sequence(slot), sequence_of(bytes, key, model[key].sequence_size)));
    }
}

static void grows_and_shrinks(void **unused)
{
    (void)unused;
    KeyTable *table = key_table_new(64 << 20, KEY_TABLE_RESERVE_MAX);
    ModelKey *model = mem_alloc_array(KEYS, sizeof *model);
    Random random = random_of(3);
    size_t present = 0;
    for (int i = 0; i < 600000; i++) {
        uint32_t key = random_below(&random, KEYS);
        if (random_below(&random, 3) == 0) {
            key_table_remove(table, hash_of(table, key));
            present -= model[key].present;
            model[key].present = false;
        } else {
            key_table_reserve(table, 1, 0);
            present += !model[key].present;
            put(table, model, key, random_below(&random, 40), 1);
        }
    }
    assert_int_equal(key_table_count(table), present);
    assert_true(key_table_is_complete(table)); /* nothing was evicted */
    for (uint32_t key = 0; key < KEYS; key++) {
        check_key(table, model, key);
    }
    key_table_free(table);
    mem_free(model);
}

/* Beyond its memory it forgets keys that are written, never one that waits. */
static void evicts_what_is_written(void **unused)
{
    (void)unused;
    KeyTable *table = key_table_new(SMALL, KEY_TABLE_RESERVE_MAX);
    ModelKey *model = mem_alloc_array(KEYS, sizeof *model);
    size_t room = key_table_room(table);
    assert_true(room > 95000 && room < 100000);
    for (uint32_t key = 0; key < KEYS; key++) {
        key_table_reserve(table, KEY_TABLE_RESERVE_MAX, 7);
        /* Each tenth waits for a checkpoint: its epoch is newer than what is written. */
        put(table, model, key, key % 20, key % 10 == 0 ? 8 : 7);
    }
    assert_false(key_table_is_complete(table));
    assert_true(key_table_bytes(table) <= SMALL);
    assert_true(key_table_count(table) <= room + 16); /* one a part came after the last one left */
    size_t found = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        bool here = key_table_find(table, hash_of(table, key)) != NULL;
        assert_true(here || key % 10 != 0);
        model[key].present = here;
        check_key(table, model, key);
        found += here;
    }
    assert_int_equal(found, key_table_count(table));
    key_table_free(table);
    mem_free(model);
}

/* Many more keys than slots take: nothing is forgotten while the archives have room, and what comes
 * back from them is what was put away. */
static void puts_away_what_rests(void **unused)
{
    (void)unused;
    enum { MORE = 220000, ROUNDS = 250000 };
    KeyTable *table = key_table_new(SMALL, KEY_TABLE_RESERVE_MAX);
    ModelKey *model = mem_alloc_array(MORE, sizeof *model);
    Random random = random_of(5);
    size_t slots = key_table_room(table);
    assert_true(slots < 150000);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t key = random_below(&random, MORE);
        key_table_reserve(table, 1, 7);
        char bytes[64];
        bool added = false;
        KeySlot *slot = key_table_find_or_add(table, hash_of(table, key), &added);
        assert_int_equal(added, !model[key].present);
        assert_int_equal(slot->count, model[key].count);
        assert_true(
            str_equal(key_slot_sequence(slot), sequence_of(bytes, key, model[key].sequence_size)));
        slot->count = (uint32_t)i % 200;
        slot->epoch = 7;
        key_slot_set_sequence(slot, sequence_of(bytes, key, (uint32_t)i % 9));
        model[key] = (ModelKey){true, (uint32_t)i % 200, (uint32_t)i % 9, 7};
    }
    size_t present = 0;
    for (uint32_t key = 0; key < MORE; key++) {
        present += model[key].present;
    }
    assert_int_equal(key_table_count(table), present);
    assert_true(key_table_is_complete(table));
    assert_true(key_table_bytes(table) <= SMALL + SMALL / 8);
    for (uint32_t key = 0; key < MORE; key++) {
        key_table_reserve(table, 1, 7);
        const KeySlot *slot = key_table_find(table, hash_of(table, key));
        assert_int_equal(slot != NULL, model[key].present);
        assert_true(slot == NULL || slot->count == model[key].count);
    }
    /* A key that was put away is gone when it is removed. */
    for (uint32_t key = 0; key < 1000; key++) {
        key_table_remove(table, hash_of(table, key));
        key_table_reserve(table, 1, 7);
        assert_null(key_table_find(table, hash_of(table, key)));
    }
    key_table_free(table);
    mem_free(model);
}

/* The archives fill up too: then some are forgotten, and what is found is right. */
static void forgets_when_all_is_full(void **unused)
{
    (void)unused;
    enum { MORE = 500000 };
    KeyTable *table = key_table_new(SMALL, KEY_TABLE_RESERVE_MAX);
    ModelKey *model = mem_alloc_array(MORE, sizeof *model);
    Random random = random_of(6);
    for (int i = 0; i < MORE; i++) {
        uint32_t key = random_below(&random, MORE);
        key_table_reserve(table, 1, 7);
        char bytes[64];
        bool added = false;
        KeySlot *slot = key_table_find_or_add(table, hash_of(table, key), &added);
        if (!added) {
            assert_true(model[key].present);
            assert_int_equal(slot->count, model[key].count);
        }
        slot->count = (uint32_t)i % 250;
        slot->epoch = 1;
        key_slot_set_sequence(slot, sequence_of(bytes, key, 9));
        model[key] = (ModelKey){true, slot->count, 9, 1};
    }
    assert_false(key_table_is_complete(table));
    assert_true(key_table_bytes(table) <= SMALL + SMALL / 8);
    assert_true(key_table_count(table) > 200000);
    size_t found = 0;
    for (uint32_t key = 0; key < MORE; key++) {
        key_table_reserve(table, 1, 7);
        const KeySlot *slot = key_table_find(table, hash_of(table, key));
        assert_true(slot == NULL || slot->count == model[key].count);
        found += slot != NULL;
    }
    assert_true(found > 200000);
    key_table_free(table);
    mem_free(model);
}

/* Puts the key away by many others that come in between. */
static void crowd_out(KeyTable *table, uint32_t first, uint32_t count)
{
    char bytes[64];
    for (uint32_t key = first; key < first + count; key++) {
        bool added = false;
        key_table_reserve(table, 1, 7);
        KeySlot *slot = key_table_find_or_add(table, hash_of(table, key), &added);
        slot->count = 1;
        key_slot_set_sequence(slot, sequence_of(bytes, key, 9));
    }
}

/* A key that was put away, came back and has more rows now than an archive takes is forgotten when
 * it must go again: what it was before may not be found in its place. */
static void forgets_what_no_longer_fits(void **unused)
{
    (void)unused;
    enum { FEW = 100, MORE = 20000, MANY_ROWS = 300 };
    KeyTable *table = key_table_new(1 << 20, 256);
    crowd_out(table, 0, FEW);
    crowd_out(table, FEW, MORE);
    size_t came_back = 0;
    for (uint32_t key = 0; key < FEW; key++) {
        key_table_reserve(table, 1, 7);
        KeySlot *slot = key_table_find(table, hash_of(table, key));
        if (slot != NULL) {
            slot->count = MANY_ROWS;
            came_back++;
        }
    }
    assert_true(came_back > FEW / 4);
    crowd_out(table, FEW + MORE, MORE);
    size_t forgotten = 0;
    for (uint32_t key = 0; key < FEW; key++) {
        key_table_reserve(table, 1, 7);
        const KeySlot *slot = key_table_find(table, hash_of(table, key));
        assert_true(slot == NULL || slot->count == MANY_ROWS);
        forgotten += slot == NULL;
    }
    assert_true(forgotten > FEW - came_back);
    assert_false(key_table_is_complete(table));
    key_table_free(table);
}

/* Recently used keys outlive others. */
static void keeps_what_is_used(void **unused)
{
    (void)unused;
    KeyTable *table = key_table_new(SMALL, KEY_TABLE_RESERVE_MAX);
    ModelKey *model = mem_alloc_array(KEYS, sizeof *model);
    for (uint32_t key = 0; key < KEYS; key++) {
        key_table_reserve(table, 2, 1);
        put(table, model, key, 9, 1);
        if (key > 0) {
            put(table, model, 0, 9, 1);
        }
    }
    check_key(table, model, 0);
    key_table_free(table);
    mem_free(model);
}

/* When all wait it grows beyond its memory rather than forget one. */
static void never_forgets_what_waits(void **unused)
{
    (void)unused;
    KeyTable *table = key_table_new(SMALL, KEY_TABLE_RESERVE_MAX);
    ModelKey *model = mem_alloc_array(KEYS, sizeof *model);
    for (uint32_t key = 0; key < KEYS; key++) {
        key_table_reserve(table, 1, 0);
        put(table, model, key, 9, 1);
    }
    assert_int_equal(key_table_count(table), KEYS);
    assert_true(key_table_is_complete(table));
    for (uint32_t key = 0; key < KEYS; key++) {
        check_key(table, model, key);
    }
    key_table_free(table);
    mem_free(model);
}

/* A key taken out while the table is filled may be one that filling has passed: not complete. */
static void filling_with_a_removal(void **unused)
{
    (void)unused;
    ModelKey model[4] = {0};
    for (int removes = 0; removes < 2; removes++) {
        KeyTable *table = key_table_new(SMALL, KEY_TABLE_RESERVE_MAX);
        key_table_set_incomplete(table);
        key_table_begin_filling(table);
        assert_true(key_table_has_room(table, 4));
        key_table_reserve(table, 4, 0);
        memset(model, 0, sizeof model);
        put(table, model, 1, 9, 0);
        put(table, model, 2, 9, 0);
        if (removes != 0) {
            key_table_remove(table, hash_of(table, 1));
        }
        key_table_end_filling(table);
        assert_int_equal(key_table_is_complete(table), removes == 0);
        key_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_shrinks),        cmocka_unit_test(evicts_what_is_written),
        cmocka_unit_test(keeps_what_is_used),       cmocka_unit_test(never_forgets_what_waits),
        cmocka_unit_test(filling_with_a_removal),   cmocka_unit_test(puts_away_what_rests),
        cmocka_unit_test(forgets_when_all_is_full), cmocka_unit_test(forgets_what_no_longer_fits),
    };
    return cmocka_run_group_tests_name("state/key_table", tests, NULL, NULL);
}
