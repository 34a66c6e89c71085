/* Every type that a column may change to (RW-50), with random values: a row of the narrower type is
 * the same row whether it is read from the state (row encoding of the old version) or from the
 * topic (its JSON text), and a message key keeps its text, and stays a key of its own. */
#include "tests/unit/run/fixture.h"

#include "processor/data/key_encoding.h"
#include "processor/data/type_widening.h"
#include "processor/run/table_key.h"
#include "tests/unit/format/random_values.h"

#include "processor/base/banned.h"

enum { VALUES = 400, PAIRS_MAX = 64 };

typedef struct Pair {
    const Type *from;
    const Type *to;
} Pair;

static Field field(const char *name, const Type *type)
{
    return (Field){str_from(name), type, false, STR_NULL};
}

static const Type *struct_of(Arena *arena, const Type *a, const Type *more)
{
    const Field fields[] = {field("a", a), field("z", more)};
    return type_struct(arena, fields, more == NULL ? 1 : 2);
}

static size_t scalar_pairs(Arena *arena, Pair *pairs)
{
    const Type *const integers[] = {&type_tinyint, &type_smallint, &type_int, &type_bigint};
    static const int digits[] = {3, 5, 10, 19};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(integers); i++) {
        for (size_t k = i + 1; k < ARRAY_LENGTH(integers); k++) {
            pairs[count++] = (Pair){integers[i], integers[k]};
        }
        pairs[count++] = (Pair){integers[i], type_decimal(arena, digits[i], 0)};
        pairs[count++] = (Pair){integers[i], type_decimal(arena, digits[i] + 4, 3)};
        pairs[count++] = (Pair){integers[i], type_decimal(arena, 38, 38 - digits[i])};
        pairs[count++] = (Pair){integers[i], &type_double};
    }
    pairs[count++] = (Pair){type_decimal(arena, 5, 2), type_decimal(arena, 6, 2)};
    pairs[count++] = (Pair){type_decimal(arena, 5, 2), type_decimal(arena, 38, 35)};
    pairs[count++] = (Pair){type_decimal(arena, 37, 0), type_decimal(arena, 38, 1)};
    pairs[count++] = (Pair){&type_date, &type_timestamp};
    pairs[count++] = (Pair){&type_date, &type_timestamp_ntz};
    return count;
}

static size_t all_pairs(Arena *arena, Pair *pairs)
{
    size_t count = scalar_pairs(arena, pairs);
    const Type *cents = type_decimal(arena, 12, 2);
    pairs[count++] = (Pair){type_array(arena, &type_int), type_array(arena, cents)};
    pairs[count++] = (Pair){type_array(arena, &type_date), type_array(arena, &type_timestamp)};
    pairs[count++] = (Pair){type_map(arena, &type_string, &type_bigint),
                            type_map(arena, &type_string, &type_double)};
    pairs[count++] = (Pair){struct_of(arena, &type_int, NULL), struct_of(arena, cents, &type_date)};
    assert_true(count <= PAIRS_MAX);
    return count;
}

static void what_widens(void **state)
{
    (void)state;
    AUTO(arena) Arena *arena = arena_new("pairs");
    Pair pairs[PAIRS_MAX];
    size_t count = all_pairs(arena, pairs);
    for (size_t i = 0; i < count; i++) {
        assert_true(type_widens_to(pairs[i].from, pairs[i].to));
        assert_true(type_widens_to(pairs[i].from, pairs[i].from));
        assert_false(type_widens_to(pairs[i].to, pairs[i].from));
        bool exact = !(pairs[i].from->kind == TYPE_BIGINT && pairs[i].to->kind == TYPE_DOUBLE) &&
                     pairs[i].from->kind != TYPE_MAP; /* the one above is BIGINT to DOUBLE */
        assert_int_equal(type_widening_is_exact(pairs[i].from, pairs[i].to), exact);
    }
    const Pair none[] = {
        {&type_float, &type_double},
        {&type_bigint, type_decimal(arena, 20, 2)},
        {&type_int, &type_float},
        {&type_int, &type_string},
        {type_decimal(arena, 5, 2), &type_double},
        {type_decimal(arena, 5, 2), type_decimal(arena, 8, 1)},
        {type_decimal(arena, 5, 2), type_decimal(arena, 5, 3)},
        {&type_timestamp_ntz, &type_timestamp},
        {&type_date, &type_bigint},
        {&type_boolean, &type_int},
        {struct_of(arena, &type_int, &type_int), struct_of(arena, &type_int, NULL)},
        {type_map(arena, &type_int, &type_int), type_map(arena, &type_bigint, &type_int)}};
    for (size_t i = 0; i < ARRAY_LENGTH(none); i++) {
        assert_false(type_widens_to(none[i].from, none[i].to));
    }
}

/* --------------------------------------------------------------------------------- rows ---- */

static const Schema *schema_of(Arena *arena, const Type *type)
{
    const Field fields[] = {field("v", type)};
    return schema_new(arena, fields, 1);
}

static Batch *random_values(Random *random, Arena *arena, const Schema *schema)
{
    Batch *batch = batch_new(arena, schema, VALUES);
    for (uint32_t row = 0; row < VALUES; row++) {
        append_random(random, arena, batch->columns[0], true);
    }
    batch->row_count = VALUES;
    batch->selected_count = VALUES;
    return batch;
}

static Batch *from_topic(const Batch *old, const Schema *schema, const TimeZone *zone, Arena *arena)
{
    Str texts[VALUES];
    AUTO_BUFFER Buffer text = {0};
    for (uint32_t row = 0; row < VALUES; row++) {
        buffer_clear(&text);
        json_encode_row(old, row, &text);
        texts[row] = arena_copy_str(arena, buffer_str(&text));
    }
    DecoderOptions options = {.kind = FORMAT_JSON, .time_zone = zone, .dates = true};
    AUTO(decoder) Decoder *decoder = NULL;
    ok(decoder_open(&options, schema, &decoder));
    RowErrors bad = {0};
    Batch *batch = NULL;
    decoder_decode(decoder, texts, VALUES, arena, &bad, &batch);
    if (bad.count > 0) {
        print_error("%s: %.*s\n", error_message(bad.errors[0]), STR_ARG(texts[bad.rows[0]]));
    }
    assert_int_equal(bad.count, 0);
    return batch;
}

static Batch *from_state(const Batch *old, const Schema *schema, const TimeZone *zone, Arena *arena)
{
    SchemaHistory *history = schema_history_new(arena);
    schema_history_set_date_zone(history, zone);
    (void)schema_history_add(history, old->schema);
    AUTO_BUFFER Buffer bytes = {0};
    size_t ends[VALUES + 1] = {0};
    for (uint32_t row = 0; row < VALUES; row++) {
        row_encode(history, old, row, &bytes);
        ends[row + 1] = bytes.size;
    }
    (void)schema_history_add(history, schema);
    Str kept = arena_copy_str(arena, buffer_str(&bytes));
    Batch *batch = batch_new(arena, schema, VALUES);
    for (uint32_t row = 0; row < VALUES; row++) {
        ok(row_decode(history, (Str){kept.data + ends[row], ends[row + 1] - ends[row]}, arena,
                      batch));
    }
    return batch;
}

static void rows_are_the_same_from_state_and_topic(void **state)
{
    (void)state;
    TimeZone *oslo = NULL;
    ok(time_zone_open(STR("Europe/Oslo"), &oslo));
    Random random = {7};
    AUTO(arena) Arena *types = arena_new("types");
    AUTO(arena) Arena *arena = arena_new("values");
    Pair pairs[PAIRS_MAX];
    size_t count = all_pairs(types, pairs);
    for (size_t i = 0; i < count; i++) {
        arena_reset(arena);
        const Batch *old = random_values(&random, arena, schema_of(arena, pairs[i].from));
        const Schema *schema = schema_of(arena, pairs[i].to);
        const Batch *topic = from_topic(old, schema, oslo, arena);
        const Batch *stored = from_state(old, schema, oslo, arena);
        for (uint32_t row = 0; row < VALUES; row++) {
            assert_int_equal(vector_is_valid(old->columns[0], row),
                             vector_is_valid(stored->columns[0], row));
            assert_true(vector_value_equal(topic->columns[0], row, stored->columns[0], row));
        }
    }
    time_zone_free(oslo);
}

/* --------------------------------------------------------------------------------- keys ---- */

static const TableKey *key_of(Arena *arena, const Schema *const *versions, size_t count,
                              const TimeZone *zone)
{
    static const uint32_t column = 0;
    TableKeyOptions options = {versions, count, &column, 1, zone};
    return table_key_new(arena, &options);
}

static Str encoded(const Vector *vector, uint32_t row, Arena *arena)
{
    AUTO_BUFFER Buffer bytes = {0};
    key_encode_value(vector, row, &bytes);
    return arena_copy_str(arena, buffer_str(&bytes));
}

static Str text_of(const TableKey *key, Str bytes, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    ok(table_key_write(key, bytes, 0, &text));
    return arena_copy_str(arena, buffer_str(&text));
}

/* A text is one key's, and reads back as it. */
static void note_key(Map *keys, const TableKey *key, Str bytes, Arena *arena)
{
    Str text = text_of(key, bytes, arena);
    const Str *known = map_get(keys, text);
    assert_true(known == NULL || str_equal(*known, bytes));
    Str *value = arena_new_object(arena, Str);
    *value = bytes;
    map_put(keys, text, value);
    AUTO_BUFFER Buffer back = {0};
    uint32_t ordinal = 9;
    ok(table_key_read(key, text, arena, &back, &ordinal));
    assert_int_equal(ordinal, 0);
    assert_true(str_equal(buffer_str(&back), bytes));
}

static void check_keys(Random *random, const Pair *pair, const TimeZone *zone, Arena *arena)
{
    const Schema *versions[] = {schema_of(arena, pair->from), schema_of(arena, pair->to)};
    const TableKey *before = key_of(arena, versions, 1, zone);
    const TableKey *after = key_of(arena, versions, 2, zone);
    const Batch *old = random_values(random, arena, versions[0]);
    const Batch *wide = from_state(old, versions[1], zone, arena);
    const Batch *others = random_values(random, arena, versions[1]);
    Map keys = {0};
    for (uint32_t row = 0; row < VALUES; row++) {
        Str bytes = encoded(wide->columns[0], row, arena);
        assert_true(str_equal(text_of(before, encoded(old->columns[0], row, arena), arena),
                              text_of(after, bytes, arena)));
        note_key(&keys, after, bytes, arena);
        note_key(&keys, after, encoded(others->columns[0], row, arena), arena);
    }
    map_done(&keys);
}

static void keys_keep_their_texts(void **state)
{
    (void)state;
    TimeZone *oslo = NULL;
    ok(time_zone_open(STR("Europe/Oslo"), &oslo));
    Random random = {11};
    AUTO(arena) Arena *types = arena_new("types");
    AUTO(arena) Arena *arena = arena_new("values");
    Pair pairs[PAIRS_MAX];
    size_t count = scalar_pairs(types, pairs);
    for (size_t i = 0; i < count; i++) {
        arena_reset(arena);
        if (type_widening_is_exact(pairs[i].from, pairs[i].to)) {
            check_keys(&random, &pairs[i], oslo, arena);
        }
    }
    time_zone_free(oslo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_widens),
        cmocka_unit_test(rows_are_the_same_from_state_and_topic),
        cmocka_unit_test(keys_keep_their_texts),
    };
    return cmocka_run_group_tests_name("run/widening", tests, NULL, NULL);
}
