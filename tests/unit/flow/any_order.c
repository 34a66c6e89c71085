/* RU-7: whatever the order, the batches, epochs, aborts and checkpoints, a key ends with the rows
 * of its highest sequence. Expected is the closed form over all rows, computed from the ranks the
 * test gives to its values, not from any encoding. */
#include "tests/unit/flow/fixture.h"

#include "processor/base/banned.h"

enum { ROWS = 400, VALUES_MAX = 12 };

/* A value by its text (as the fixture reads it) and its rank among the others: equal ranks are
 * equal values. */
typedef struct Ranked {
    const char *text;
    int rank;
} Ranked;

typedef struct Values {
    const Type *type;
    int count;
    Ranked values[VALUES_MAX];
} Values;

/* In the order of the decisions: NULL lowest, NaN highest, -0.0 equal to 0.0, strings by bytes. */
static const Values KINDS[] = {
    {&type_bigint,
     7,
     {{"NULL", 0},
      {"-9223372036854775808", 1},
      {"-1", 2},
      {"0", 3},
      {"9", 4},
      {"10", 5},
      {"9223372036854775807", 6}}},
    {&type_tinyint, 5, {{"NULL", 0}, {"-128", 1}, {"-1", 2}, {"0", 3}, {"127", 4}}},
    {&type_double,
     12,
     {{"NULL", 0},
      {"-inf", 1},
      {"-1.5", 2},
      {"-5e-324", 3},
      {"-0.0", 4},
      {"0.0", 4},
      {"5e-324", 5},
      {"1", 6},
      {"1.0000000000000002", 7},
      {"inf", 8},
      {"nan", 9},
      {"-nan", 9}}},
    {&type_string,
     10,
     {{"NULL", 0},
      {"", 1},
      {"10", 2},
      {"9", 3},
      {"A", 4},
      {"a", 5},
      {"aa", 6},
      {"b", 7},
      {"ä", 8},
      {"\xF0\x9F\x98\x80", 9}}},
    {&type_timestamp,
     6,
     {{"NULL", 0},
      {"-62135596800000000", 1},
      {"-1", 2},
      {"0", 3},
      {"1704067200100000", 4},
      {"1704067200100001", 5}}},
    {&type_date, 4, {{"NULL", 0}, {"-719162", 1}, {"0", 2}, {"20000", 3}}},
};

typedef struct Row {
    int key1; /* index into the values */
    int key2;
    int sequence;
    bool selected;
} Row;

typedef struct World {
    Random random;
    FlowFixture flow;
    const Values *key1;
    const Values *key2;
    const Values *sequence;
    Row rows[ROWS];
} World;

static int random_index(World *world, const Values *values)
{
    return (int)random_below(&world->random, (uint32_t)values->count);
}

static void shuffle(World *world, uint32_t *order)
{
    for (uint32_t i = ROWS - 1; i > 0; i--) {
        uint32_t j = random_below(&world->random, i + 1);
        uint32_t swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
}

static void append_row(World *world, Batch *batch, uint32_t id)
{
    Arena *arena = world->flow.batch_arena;
    const Row *row = &world->rows[id];
    append_cell(batch->columns[0], arena, str_from(world->key1->values[row->key1].text));
    append_cell(batch->columns[1], arena, str_from(world->key2->values[row->key2].text));
    append_cell(batch->columns[2], arena, str_from(world->sequence->values[row->sequence].text));
    vector_append_int(batch->columns[3], arena, id);
    batch->row_count++;
}

static void apply(World *world, const uint32_t *ids, uint32_t count)
{
    FlowFixture *flow = &world->flow;
    Batch *batch = batch_new(flow->batch_arena, flow->schema, count);
    uint16_t *selection = arena_new_array(flow->batch_arena, uint16_t, count);
    uint32_t selected = 0;
    for (uint32_t i = 0; i < count; i++) {
        append_row(world, batch, ids[i]);
        if (world->rows[ids[i]].selected) {
            selection[selected++] = (uint16_t)i;
        }
    }
    batch->selection = selected == count ? NULL : selection;
    batch->selected_count = selected;
    ok(flow_apply(flow->flow, batch, flow->batch_arena));
    arena_reset(flow->batch_arena);
}

/* Applies all rows in that order, in random batches and epochs. An epoch begins at `start` again
 * when it is aborted. */
static void apply_all(World *world, const uint32_t *order)
{
    static const uint32_t sizes[] = {1, 7, 50, ROWS};
    uint32_t largest = sizes[random_below(&world->random, 4)];
    uint32_t start = 0;
    for (uint32_t at = 0; at < ROWS || start < ROWS;) {
        uint32_t count = at == ROWS ? 0 : 1 + random_below(&world->random, largest);
        count = count < ROWS - at ? count : ROWS - at;
        if (count > 0) {
            apply(world, order + at, count);
        }
        at += count;
        uint32_t then = random_below(&world->random, 8);
        if (then == 0) {
            overlay_abort(world->flow.overlay);
            at = start;
        } else if (then < 4) {
            flow_fixture_commit(&world->flow);
            start = at;
        }
        if (then == 1) {
            ok(overlay_checkpoint(world->flow.overlay, 1));
        }
    }
}

/* Is the row among those its key ends with? */
static bool survives(const World *world, uint32_t id)
{
    const Row *row = &world->rows[id];
    for (uint32_t i = 0; i < ROWS; i++) {
        const Row *other = &world->rows[i];
        bool same_key =
            world->key1->values[other->key1].rank == world->key1->values[row->key1].rank &&
            world->key2->values[other->key2].rank == world->key2->values[row->key2].rank;
        if (other->selected && same_key &&
            world->sequence->values[other->sequence].rank >
                world->sequence->values[row->sequence].rank) {
            return false;
        }
    }
    return row->selected;
}

static void check(World *world)
{
    AUTO_BUFFER Buffer text = {0};
    (void)flow_fixture_table(&world->flow, &text); /* store and topic agree */
    int seen[ROWS] = {0};
    AUTO(arena) Arena *arena = arena_new("check");
    AUTO(store_scan) StoreScan *scan = table_store_scan(world->flow.store, -1);
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        ok(store_scan_next(scan, &row, &found));
        if (!found) {
            break;
        }
        const Batch *batch = flow_fixture_decode(&world->flow, arena, row.row);
        int64_t id = VECTOR_VALUE(batch->columns[3], int64_t, 0);
        assert_true(id >= 0 && id < ROWS);
        seen[id]++;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(seen[i], survives(world, i) ? 1 : 0);
    }
}

static void run_world(uint64_t seed)
{
    static const uint32_t keys[] = {0, 1};
    World *world = mem_new(World);
    world->random = random_of(seed);
    world->key1 = &KINDS[random_below(&world->random, ARRAY_LENGTH(KINDS))];
    world->key2 = &KINDS[random_below(&world->random, ARRAY_LENGTH(KINDS))];
    world->sequence = &KINDS[seed % ARRAY_LENGTH(KINDS)];
    uint32_t order[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        order[i] = i;
        world->rows[i] =
            (Row){random_index(world, world->key1), random_index(world, world->key2),
                  random_index(world, world->sequence), random_below(&world->random, 10) != 0};
    }
    const Field fields[] = {{.name = STR("a"), .type = world->key1->type},
                            {.name = STR("b"), .type = world->key2->type},
                            {.name = STR("s"), .type = world->sequence->type},
                            {.name = STR("id"), .type = &type_bigint}};
    for (int permutation = 0; permutation < 3; permutation++) {
        flow_fixture_open(&world->flow, fields, 4, keys, 2, 2);
        shuffle(world, order);
        apply_all(world, order);
        check(world);
        flow_fixture_close(&world->flow);
    }
    mem_free(world);
}

static void any_order_any_split(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        run_world(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order_any_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
