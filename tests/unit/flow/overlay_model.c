/* The overlay against a model: thousands of random epochs, aborts, checkpoints (good, failed before
 * and after their write, on another thread) and restarts. The model knows nothing of layers: an
 * array of keys with their rows and sequence, and a topic that is a list of records.
 *
 * After every commit the lookups agree with the model and the topic, folded by (key, ordinal), is
 * the model; after a restart the store plus the topic from the store's positions on is the model.
 */
#include "tests/unit/state/fixture.h"

#include <pthread.h>

#include "processor/flow/table_delta.h"

#include "processor/base/banned.h"

enum { KEYS = 40, SHARDS = 3, ROWS_MAX = 64, EPOCH_FINDS = 12 };

typedef struct ModelKey {
    uint32_t count;
    uint32_t sequence;
    uint32_t rows[ROWS_MAX]; /* every row is a number of its own */
} ModelKey;

/* A record of the table topic: key, ordinal, and a row or none. */
typedef struct Record {
    uint32_t key;
    uint32_t ordinal;
    uint32_t sequence;
    uint32_t row; /* 0: tombstone */
} Record;

typedef struct Topic {
    Record *records;
    size_t count;
    size_t capacity;
} Topic;

typedef struct World {
    Random random;
    char *folder;
    State *state;
    TableStore *store;
    Overlay *overlay;
    Arena *arena;
    ModelKey committed[KEYS];
    ModelKey closed[KEYS];  /* with those of the epoch being committed */
    ModelKey running[KEYS]; /* with those of the epoch in hand, too */
    const Epoch *epoch;     /* being committed, or NULL */
    Topic topics[SHARDS];
    uint32_t next_row;
    bool checkpointing;
    bool threaded;
    pthread_t thread;
    Error *checkpoint_error;
    size_t key_memory;
    size_t batch_max;
} World;

/* Keys of different lengths; prefix free, as encoded keys are. */
static Str key_text(char buffer[16], uint32_t key)
{
    int size = snprintf(buffer, 16, "%s%u.", key % 3 == 0 ? "key" : "k", (unsigned)key);
    return (Str){buffer, (size_t)size};
}

static uint32_t key_number(Str text)
{
    uint32_t key = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] >= '0' && text.data[i] <= '9') {
            key = key * 10 + (uint32_t)(text.data[i] - '0');
        }
    }
    return key;
}

static uint32_t name_key(void *context, Str key, Buffer *out)
{
    (void)context;
    buffer_printf(out, "{\"k\":%u}", (unsigned)key_number(key));
    return key_number(key) % SHARDS;
}

static Str number_text(char buffer[16], uint32_t number)
{
    int size = snprintf(buffer, 16, "%08u", (unsigned)number);
    return (Str){buffer, (size_t)size};
}

static void open_world(World *world)
{
    world->state = open_state(world->folder);
    world->store = open_table(world->state, "t", SHARDS);
    OverlayOptions options = {.name_key = name_key,
                              .epochs_max = 20,
                              .epoch_memory = 1 << 16,
                              .key_memory = world->key_memory,
                              .batch_max = world->batch_max};
    ok(table_store_is_empty(world->store, &options.store_is_empty));
    world->overlay = overlay_new(world->store, &options);
}

/* ---------------------------------------------------------------------------- checking ---- */

static void assert_key(uint32_t key, const ModelKey *model, uint32_t count, Str sequence)
{
    char text[16];
    if (count != model->count) {
        print_error("key %u: %u rows instead of %u\n", key, count, model->count);
    }
    assert_int_equal(count, model->count);
    assert_true(count == 0 || str_equal(sequence, number_text(text, model->sequence)));
}

static void check_rows(World *world, const ModelKey *model, Str key, const KeySlot *slot)
{
    const Str *rows = NULL;
    ok(overlay_rows(world->overlay, slot, key, world->arena, &rows));
    for (uint32_t i = 0; i < model->count; i++) {
        assert_int_equal(key_number(rows[i]), model->rows[i]);
    }
}

static void note_key(void *context, Str key)
{
    bool *seen = context;
    seen[key_number(key)] = true;
}

/* Visiting finds every key with rows. */
static void check_visit(const World *world)
{
    bool seen[KEYS] = {false};
    ok(overlay_visit_keys(world->overlay, note_key, seen));
    for (uint32_t k = 0; k < KEYS; k++) {
        assert_true(seen[k] || world->running[k].count == 0);
    }
}

/* Looks all keys up: what they are now, in the running epoch. */
static void check_lookups(World *world)
{
    char names[KEYS][16];
    Str keys[KEYS] = {0};
    KeySlot *slots[KEYS];
    for (uint32_t k = 0; k < KEYS; k++) {
        keys[k] = key_text(names[k], k);
    }
    ok(overlay_find(world->overlay, keys, KEYS, world->arena, slots));
    for (uint32_t k = 0; k < KEYS; k++) {
        assert_key(k, &world->running[k], slots[k]->count, key_slot_sequence(slots[k]));
        check_rows(world, &world->running[k], keys[k], slots[k]);
    }
    arena_reset(world->arena);
    check_visit(world);
}

/* What a reader of the topic sees: the last record of every (key, ordinal). */
static void check_topic(const World *world)
{
    static uint32_t rows[KEYS][ROWS_MAX];
    memset(rows, 0, sizeof rows);
    for (int s = 0; s < SHARDS; s++) {
        for (size_t i = 0; i < world->topics[s].count; i++) {
            const Record *record = &world->topics[s].records[i];
            rows[record->key][record->ordinal] = record->row;
        }
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        for (uint32_t i = 0; i < ROWS_MAX; i++) {
            const ModelKey *model = &world->committed[k];
            assert_int_equal(rows[k][i], i < model->count ? model->rows[i] : 0);
        }
    }
}

/* The whole store is the model. */
static void check_store(const World *world)
{
    ModelKey seen[KEYS] = {0};
    AUTO(store_scan) StoreScan *scan = table_store_scan(world->store, -1);
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        ok(store_scan_next(scan, &row, &found));
        if (!found) {
            break;
        }
        uint32_t key = key_number(row.key);
        char text[16];
        assert_true(key < KEYS);
        assert_int_equal(row.shard, key % SHARDS);
        seen[key].count++; /* the last row of a key comes first */
        assert_int_equal(row.ordinal, world->committed[key].count - seen[key].count);
        assert_int_equal(key_number(row.row), world->committed[key].rows[row.ordinal]);
        assert_true(str_equal(row.sequence, number_text(text, world->committed[key].sequence)));
    }
    for (uint32_t k = 0; k < KEYS; k++) {
        assert_int_equal(seen[k].count, world->committed[k].count);
    }
}

/* ------------------------------------------------------------------------------ epochs ---- */

/* One row arrives for a key, as REPLACE USING treats it; or all its rows go. */
static void change(World *world, uint32_t key, Str name, KeySlot *slot)
{
    ModelKey *model = &world->running[key];
    assert_key(key, model, slot->count, key_slot_sequence(slot));
    char row[16];
    char sequence[16];
    uint32_t number = ++world->next_row;
    if (random_below(&world->random, 10) == 0) {
        overlay_remove(world->overlay, slot, name);
        model->count = 0;
        assert_int_equal(slot->count, 0);
        return;
    }
    bool replace =
        model->count == 0 || model->count == ROWS_MAX || random_below(&world->random, 3) == 0;
    if (replace) {
        model->sequence += 1 + random_below(&world->random, 5);
        model->count = 0;
        overlay_replace(world->overlay, slot, name, number_text(sequence, model->sequence),
                        number_text(row, number));
    } else {
        overlay_append(world->overlay, slot, name, number_text(row, number));
    }
    model->rows[model->count++] = number;
    assert_int_equal(slot->count, model->count);
}

static void run_batch(World *world)
{
    char names[EPOCH_FINDS][16];
    Str keys[EPOCH_FINDS] = {0};
    uint32_t numbers[EPOCH_FINDS];
    KeySlot *slots[EPOCH_FINDS];
    uint32_t count = random_below(&world->random, EPOCH_FINDS + 1);
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = random_below(&world->random, KEYS);
        if (random_below(&world->random, 4) == 0) {
            numbers[i] %= 3; /* some keys are much busier than others */
        }
        keys[i] = key_text(names[i], numbers[i]);
    }
    ok(overlay_find(world->overlay, keys, count, world->arena, slots));
    for (uint32_t i = 0; i < count; i++) {
        check_rows(world, &world->running[numbers[i]], keys[i], slots[i]);
        uint32_t rows = random_below(&world->random, 4);
        for (uint32_t r = 0; r < rows; r++) {
            change(world, numbers[i], keys[i], slots[i]);
        }
    }
    arena_reset(world->arena);
}

/* Hands the running epoch out for its commit; the next one runs from here on. */
static void close_epoch(World *world)
{
    if (world->epoch == NULL) {
        world->epoch = overlay_close_epoch(world->overlay);
        memcpy(world->closed, world->running, sizeof world->closed);
    }
}

static void publish(World *world, const DeltaRow *row)
{
    uint32_t key = key_number(row->key);
    assert_int_equal(row->shard, key % SHARDS);
    assert_int_equal(key_number(row->message_key), key);
    assert_true(row->ordinal < ROWS_MAX);
    Topic *topic = &world->topics[row->shard];
    mem_reserve(topic->records, &topic->capacity, topic->count + 1);
    topic->records[topic->count++] = (Record){key, row->ordinal, world->closed[key].sequence,
                                              row->row.data == NULL ? 0 : key_number(row->row)};
}

/* Publishes the closed epoch's delta and commits. */
static void commit(World *world)
{
    close_epoch(world);
    TableDelta delta = table_delta_of(world->epoch);
    DeltaRow row;
    while (table_delta_next(&delta, &row)) {
        publish(world, &row);
    }
    int64_t ends[SHARDS];
    for (int s = 0; s < SHARDS; s++) {
        /* Now and then the end is not known. */
        bool known = random_below(&world->random, 4) != 0;
        ends[s] = known ? (int64_t)world->topics[s].count : -1;
    }
    memcpy(world->committed, world->closed, sizeof world->committed);
    overlay_commit(world->overlay, ends);
    world->epoch = NULL;
}

/* Both the epoch in hand and the one whose commit failed. */
static void abort_epochs(World *world)
{
    memcpy(world->running, world->committed, sizeof world->running);
    overlay_abort(world->overlay);
    world->epoch = NULL;
}

/* -------------------------------------------------------------------------- checkpoints ---- */

static void *write_checkpoint(void *argument)
{
    World *world = argument;
    world->checkpoint_error = overlay_checkpoint_write(world->overlay, 5);
    return NULL;
}

typedef enum HowItEnds { WRITTEN, FAILED_BEFORE_WRITE, FAILED_AFTER_WRITE } HowItEnds;

static void begin_checkpoint(World *world)
{
    if (!world->checkpointing && overlay_checkpoint_begin(world->overlay)) {
        world->checkpointing = true;
        assert_false(overlay_checkpoint_begin(world->overlay));
        if (world->threaded) {
            assert_int_equal(pthread_create(&world->thread, NULL, write_checkpoint, world), 0);
        }
    }
}

static void end_checkpoint(World *world)
{
    if (!world->checkpointing) {
        return;
    }
    HowItEnds how = (HowItEnds)random_below(&world->random, 3);
    if (world->threaded) {
        assert_int_equal(pthread_join(world->thread, NULL), 0);
        how = how == FAILED_BEFORE_WRITE ? WRITTEN : how;
    } else if (how != FAILED_BEFORE_WRITE) {
        (void)write_checkpoint(world);
    }
    ok(world->checkpoint_error);
    world->checkpoint_error = NULL;
    overlay_checkpoint_end(world->overlay, how == WRITTEN);
    world->checkpointing = false;
}

/* As a killed process that starts again: what no checkpoint flushed is gone, the store reads the
 * topic from its positions on, sometimes with records it has already. */
static void restart(World *world)
{
    if (world->checkpointing) {
        if (world->threaded) {
            assert_int_equal(pthread_join(world->thread, NULL), 0);
        }
        overlay_checkpoint_end(world->overlay, false);
        world->checkpointing = false;
    }
    overlay_free(world->overlay);
    state_close(world->state);
    world->epoch = NULL;
    open_world(world);
    AUTO(store_batch) StoreBatch *batch = store_batch_new(world->store);
    for (uint32_t s = 0; s < SHARDS; s++) {
        int64_t position = 0;
        ok(table_store_position(world->store, s, &position, NULL));
        const Topic *topic = &world->topics[s];
        assert_true(position <= (int64_t)topic->count); /* never ahead of the topic */
        for (size_t i = position < 0 ? 0 : (size_t)position; i < topic->count; i++) {
            const Record *record = &topic->records[i];
            char key[16];
            char row[16];
            char sequence[16];
            Str name = key_text(key, record->key);
            Str order = number_text(sequence, record->sequence);
            if (record->row == 0) {
                store_batch_delete(batch, s, name, record->ordinal);
                overlay_note_restored(world->overlay, name, record->ordinal, STR_NULL);
            } else {
                store_batch_put(batch, s, name, record->ordinal, order,
                                number_text(row, record->row));
                overlay_note_restored(world->overlay, name, record->ordinal, order);
            }
        }
        if (random_below(&world->random, 2) == 0) {
            store_batch_set_position(batch, s, (int64_t)topic->count, 6);
        }
    }
    ok(store_batch_write(batch));
    if (random_below(&world->random, 2) == 0) {
        ok(table_store_flush(world->store));
    }
    memcpy(world->running, world->committed, sizeof world->running);
    check_store(world);
}

static void step(World *world)
{
    uint32_t what = random_below(&world->random, 100);
    if (what < 40) {
        bool done = false;
        ok(overlay_warm(world->overlay, random_below(&world->random, 8), &done));
        run_batch(world);
    } else if (what < 55) {
        close_epoch(world);
    } else if (what < 75) {
        commit(world);
        check_lookups(world);
    } else if (what < 80) {
        abort_epochs(world);
        check_lookups(world);
    } else if (what < 88) {
        begin_checkpoint(world);
    } else if (what < 99) {
        end_checkpoint(world);
    } else {
        restart(world);
        check_lookups(world);
    }
}

/* slots: how many keys in use the key table has memory for; 0: for all. */
static void run_world(uint64_t seed, bool threaded, int steps, size_t slots)
{
    World *world = mem_new(World);
    world->random = random_of(seed);
    world->key_memory = slots * sizeof(KeySlot);
    world->batch_max = slots == 0 ? 0 : 1 + random_below(&world->random, 3);
    world->folder = new_folder();
    world->arena = arena_new("test");
    world->threaded = threaded;
    open_world(world);
    for (int i = 0; i < steps; i++) {
        step(world);
        if (i % 100 == 0) {
            check_topic(world);
        }
    }
    commit(world);
    commit(world); /* what was closed, and what ran meanwhile */
    check_topic(world);
    check_lookups(world);
    end_checkpoint(world);
    restart(world);
    check_lookups(world);
    overlay_free(world->overlay);
    state_close(world->state);
    for (int s = 0; s < SHARDS; s++) {
        mem_free(world->topics[s].records);
    }
    arena_free(world->arena);
    remove_folder(world->folder);
    mem_free(world);
}

static void random_steps(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        print_message("seed %d\n", (int)seed);
        run_world(seed, false, 1500, 0);
    }
}

/* So little memory that keys are put away, come back, and are forgotten all the time. */
static void random_steps_short_of_memory(void **unused)
{
    (void)unused;
    for (uint64_t seed = 20; seed < 26; seed++) {
        size_t slots = 3 + 5 * (seed - 20);
        print_message("seed %d, %d slots\n", (int)seed, (int)slots);
        run_world(seed, seed % 2 == 0, 1500, slots);
    }
}

static void checkpoints_on_another_thread(void **unused)
{
    (void)unused;
    for (uint64_t seed = 100; seed < 102; seed++) {
        print_message("seed %d\n", (int)seed);
        run_world(seed, true, 1500, 0);
    }
}

enum { MANY = 200000, MANY_BATCH = 2000 };

static void bump_random_keys(World *world, uint32_t *sequences, uint32_t *sets)
{
    static char names[MANY_BATCH][16];
    Str keys[MANY_BATCH];
    uint32_t numbers[MANY_BATCH];
    KeySlot *slots[MANY_BATCH];
    for (uint32_t i = 0; i < MANY_BATCH; i++) {
        numbers[i] = random_below(&world->random, MANY);
        keys[i] = key_text(names[i], numbers[i]);
    }
    ok(overlay_find(world->overlay, keys, MANY_BATCH, world->arena, slots));
    for (uint32_t i = 0; i < MANY_BATCH; i++) {
        char text[16];
        uint32_t key = numbers[i];
        assert_int_equal(slots[i]->count, sets[key]);
        assert_true(sets[key] == 0 ||
                    str_equal(key_slot_sequence(slots[i]), number_text(text, sequences[key])));
        if (sets[key] > 0 && random_below(&world->random, 2) == 0) {
            overlay_append(world->overlay, slots[i], keys[i], STR("row"));
            sets[key]++;
        } else {
            overlay_replace(world->overlay, slots[i], keys[i], number_text(text, ++sequences[key]),
                            STR("row"));
            sets[key] = 1;
        }
    }
    arena_reset(world->arena);
}

/* The key table holds some of the keys only: what it forgets is found in the store again, and what
 * waits for a checkpoint is not forgotten. */
static void more_keys_than_memory(void **unused)
{
    (void)unused;
    World *world = mem_new(World);
    world->random = random_of(7);
    world->folder = new_folder();
    world->arena = arena_new("test");
    open_world(world);
    uint32_t *sequences = mem_alloc_array(MANY, sizeof *sequences);
    uint32_t *sets = mem_alloc_array(MANY, sizeof *sets);
    const int64_t ends[SHARDS] = {1, 1, 1};
    for (int i = 1; i <= 150; i++) {
        bump_random_keys(world, sequences, sets);
        (void)overlay_close_epoch(world->overlay);
        overlay_commit(world->overlay, ends);
        if (overlay_is_crowded(world->overlay)) {
            ok(overlay_checkpoint(world->overlay, i));
        }
    }
    /* All keys would need twice as much. */
    assert_true(overlay_memory(world->overlay).keys < 8 << 20);
    overlay_free(world->overlay);
    state_close(world->state);
    arena_free(world->arena);
    remove_folder(world->folder);
    mem_free(sequences);
    mem_free(sets);
    mem_free(world);
}

static void restore_pass(World *world, uint32_t sequence, uint32_t ordinal)
{
    AUTO(store_batch) StoreBatch *batch = store_batch_new(world->store);
    for (uint32_t key = 0; key < MANY; key++) {
        char name[16];
        char text[16];
        Str order = number_text(text, sequence);
        store_batch_put(batch, key % SHARDS, key_text(name, key), ordinal, order, STR("row"));
        overlay_note_restored(world->overlay, key_text(name, key), ordinal, order);
    }
    ok(store_batch_write(batch));
}

/* A topic with more keys than the key table holds: what it does hold is what the topic says last,
 * though it ran full before it had seen that. */
static void a_restore_of_more_keys_than_memory(void **unused)
{
    (void)unused;
    World *world = mem_new(World);
    world->folder = new_folder();
    world->arena = arena_new("test");
    open_world(world);
    restore_pass(world, 1, 0);
    restore_pass(world, 2, 0);
    restore_pass(world, 2, 1);
    for (uint32_t key = 0; key < MANY; key++) {
        char name[16];
        char text[16];
        KeySlot *slot = NULL;
        Str wanted = key_text(name, key);
        ok(overlay_find(world->overlay, &wanted, 1, world->arena, &slot));
        assert_int_equal(slot->count, 2);
        assert_true(str_equal(key_slot_sequence(slot), number_text(text, 2)));
    }
    overlay_free(world->overlay);
    state_close(world->state);
    arena_free(world->arena);
    remove_folder(world->folder);
    mem_free(world);
}

enum { STORED = 5000 };

static void find_some(World *world, uint32_t first, uint32_t count, KeySlot **slots)
{
    static char names[MANY_BATCH][16];
    Str keys[MANY_BATCH];
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_text(names[i], first + i);
    }
    ok(overlay_find(world->overlay, keys, count, world->arena, slots));
}

static void replace_stored(World *world)
{
    for (uint32_t key = 0; key < STORED; key++) {
        char name[16];
        char text[16];
        KeySlot *slot = NULL;
        find_some(world, key, 1, &slot);
        overlay_replace(world->overlay, slot, key_text(name, key), number_text(text, 2),
                        STR("new"));
    }
    (void)overlay_close_epoch(world->overlay);
    overlay_commit(world->overlay, (const int64_t[SHARDS]){1, 1, 1});
    ok(overlay_checkpoint(world->overlay, 2));
}

/* While the keys of the store come into memory they are changed, written and evicted: the scan,
 * which sees the store as it was, must not bring the old ones back. */
static void an_eviction_while_keys_come_into_memory(void **unused)
{
    (void)unused;
    World *world = mem_new(World);
    world->folder = new_folder();
    world->arena = arena_new("test");
    open_world(world);
    replace_stored(world); /* at first just so that the store has them */
    overlay_free(world->overlay);
    state_close(world->state);
    open_world(world);
    bool done = false;
    ok(overlay_warm(world->overlay, 1, &done));
    assert_false(done);
    KeySlot *slots[MANY_BATCH];
    for (uint32_t key = 0; key < STORED; key++) {
        char name[16];
        char text[16];
        find_some(world, key, 1, slots);
        overlay_replace(world->overlay, slots[0], key_text(name, key), number_text(text, 3),
                        STR("newer"));
    }
    (void)overlay_close_epoch(world->overlay);
    overlay_commit(world->overlay, (const int64_t[SHARDS]){2, 2, 2});
    ok(overlay_checkpoint(world->overlay, 3));
    for (uint32_t key = STORED; key + MANY_BATCH <= 3 * MANY; key += MANY_BATCH) {
        find_some(world, key, MANY_BATCH, slots);
        arena_reset(world->arena);
    }
    while (!done) {
        find_some(world, 2 * MANY, MANY_BATCH, slots); /* known, yet room is asked for */
        ok(overlay_warm(world->overlay, MANY_BATCH / 10, &done));
        arena_reset(world->arena);
    }
    for (uint32_t key = 0; key < STORED; key++) {
        char text[16];
        find_some(world, key, 1, slots);
        assert_int_equal(slots[0]->count, 1);
        assert_true(str_equal(key_slot_sequence(slots[0]), number_text(text, 3)));
    }
    overlay_free(world->overlay);
    state_close(world->state);
    arena_free(world->arena);
    remove_folder(world->folder);
    mem_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_keys_than_memory),
        cmocka_unit_test(an_eviction_while_keys_come_into_memory),
        cmocka_unit_test(a_restore_of_more_keys_than_memory),
        cmocka_unit_test(random_steps),
        cmocka_unit_test(random_steps_short_of_memory),
        cmocka_unit_test(checkpoints_on_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
