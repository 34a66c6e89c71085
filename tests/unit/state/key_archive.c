/* The archive against a plain array: every key that was put is there with what was put, those
 * replaced or removed are not, and memory stays within its bound. */
#include "tests/unit/state/fixture.h"

#include "state/key_archive.h"

#include "processor/base/banned.h"

enum { KEYS = 20000, SEQUENCE_MAX = 9 };

typedef struct ModelKey {
    bool present;
    uint32_t count;
    uint32_t size;
} ModelKey;

static Hash128 hash_of(uint32_t key)
{
    Hash128 hash = hash_bytes_128((Str){(const char *)&key, sizeof key}, 7);
    hash.low |= 1;
    return hash;
}

static Str sequence_of(char *bytes, uint32_t key, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (char)(key * 31 + i + size);
    }
    return (Str){bytes, size};
}

static void check(const KeyArchive *archive, const ModelKey *model)
{
    char bytes[SEQUENCE_MAX];
    size_t present = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        ArchivedKey found;
        assert_int_equal(key_archive_find(archive, hash_of(key), &found), model[key].present);
        if (model[key].present) {
            assert_int_equal(found.count, model[key].count);
            assert_true(str_equal(found.sequence, sequence_of(bytes, key, model[key].size)));
            assert_true(key_archive_hash_matches(found.hash, hash_of(key)));
            present++;
        }
    }
    assert_int_equal(archive->count, present);
}

static uint32_t key_of(Hash128 dropped)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        if (key_archive_hash_matches(dropped, hash_of(key))) {
            return key;
        }
    }
    fail();
    return 0;
}

static void put(KeyArchive *archive, ModelKey *model, uint32_t key, Random *random)
{
    char bytes[SEQUENCE_MAX];
    uint32_t count = random_below(random, KEY_ARCHIVE_COUNT_MAX + 1);
    uint32_t size = random_below(random, SEQUENCE_MAX + 1);
    assert_true(key_archive_fits(archive, count, size));
    Hash128 replaced;
    ArchivePut put =
        key_archive_put(archive, hash_of(key), count, sequence_of(bytes, key, size), &replaced);
    assert_true(put != ARCHIVE_FULL || !model[key].present);
    if (put == ARCHIVE_REPLACED) {
        assert_false(model[key].present);
        model[key_of(replaced)].present = false;
    }
    model[key] = (ModelKey){put != ARCHIVE_FULL, count, size};
}

static void puts_and_removes(void **unused)
{
    (void)unused;
    Random random = random_of(11);
    ModelKey *model = mem_alloc_array(KEYS, sizeof *model);
    KeyArchive archive;
    key_archive_init(&archive, SEQUENCE_MAX, 1 << 20);
    check(&archive, model);
    for (int i = 0; i < 100000; i++) {
        uint32_t key = random_below(&random, KEYS);
        if (random_below(&random, 3) == 0) {
            assert_int_equal(key_archive_remove(&archive, hash_of(key)), model[key].present);
            model[key].present = false;
        } else {
            put(&archive, model, key, &random);
        }
    }
    check(&archive, model);
    key_archive_done(&archive);
    mem_free(model);
}

static void forgets_when_it_is_full(void **unused)
{
    (void)unused;
    enum { MEMORY = 100000 };
    Random random = random_of(12);
    ModelKey *model = mem_alloc_array(KEYS, sizeof *model);
    KeyArchive archive;
    key_archive_init(&archive, SEQUENCE_MAX, MEMORY);
    size_t room = key_archive_room(&archive);
    assert_true(room > 3500 && room < MEMORY / 23);
    for (uint32_t key = 0; key < 6000; key++) {
        put(&archive, model, key, &random);
        assert_true(key_archive_bytes(&archive) <= MEMORY);
    }
    assert_int_equal(archive.count, room);
    check(&archive, model);
    key_archive_done(&archive);
    mem_free(model);
}

static void takes_what_fits(void **unused)
{
    (void)unused;
    KeyArchive archive;
    key_archive_init(&archive, SEQUENCE_MAX, 1 << 16);
    assert_true(key_archive_fits(&archive, 255, SEQUENCE_MAX));
    assert_false(key_archive_fits(&archive, 256, SEQUENCE_MAX));
    assert_false(key_archive_fits(&archive, 1, SEQUENCE_MAX + 1));
    assert_false(key_archive_remove(&archive, hash_of(1)));
    key_archive_done(&archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_and_removes),
        cmocka_unit_test(forgets_when_it_is_full),
        cmocka_unit_test(takes_what_fits),
    };
    return cmocka_run_group_tests_name("state/key_archive", tests, NULL, NULL);
}
