/* What is written is read back as the same row: the JSON form is the changelog. Random schemas,
 * random rows, batches of 1, 7 and 2,048. */
#include "tests/unit/format/fixture.h"
#include "tests/unit/format/random_values.h"

static void compare_batches(const Batch *a, const Batch *b, uint64_t seed)
{
    for (size_t column = 0; column < a->schema->field_count; column++) {
        for (uint32_t row = 0; row < a->row_count; row++) {
            if (vector_value_equal(a->columns[column], row, b->columns[column], row)) {
                continue;
            }
            AUTO_BUFFER Buffer text = {0};
            json_encode_value(a->columns[column], row, &text);
            buffer_append_cstr(&text, " became ");
            json_encode_value(b->columns[column], row, &text);
            fail_msg("seed %llu: %s", (unsigned long long)seed, buffer_cstr(&text));
        }
    }
}

static const Batch *random_batch(Fixture *f, Random *random, uint32_t rows)
{
    Field fields[8];
    uint32_t count = 1 + random_below(random, (uint32_t)ARRAY_LENGTH(fields));
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = random_field(random, f->arena, i, 3);
    }
    fixture_open(f, fields, count);
    Batch *batch = batch_new(f->arena, f->schema, rows);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < count; i++) {
            append_random(random, f->arena, batch->columns[i], true);
        }
    }
    batch->row_count = rows;
    return batch;
}

static void round_trip(uint64_t seed, uint32_t rows)
{
    Fixture f;
    fixture_init(&f);
    Random random = {seed};
    const Batch *batch = random_batch(&f, &random, rows);
    Str records[BATCH_ROWS];
    AUTO_BUFFER Buffer text = {0};
    for (uint32_t row = 0; row < rows; row++) {
        buffer_clear(&text);
        json_encode_row(batch, row, &text);
        records[row] = arena_copy_str(f.arena, buffer_str(&text));
    }
    fixture_decode(&f, records, rows);
    if (f.errors.count > 0) {
        fail_msg("seed %llu: %s: %.*s", (unsigned long long)seed, error_message(f.errors.errors[0]),
                 STR_ARG(records[f.errors.rows[0]]));
    }
    compare_batches(batch, f.batch, seed);
    for (uint32_t row = 0; row < rows; row++) {
        buffer_clear(&text);
        json_encode_row(f.batch, row, &text);
        assert_true(str_equal(buffer_str(&text), records[row]));
    }
    fixture_done(&f);
}

static void rows_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        round_trip(seed, seed % 2 == 0 ? 1 : 7);
    }
    for (uint64_t seed = 1001; seed <= 1006; seed++) {
        round_trip(seed, BATCH_ROWS);
    }
}

/* Keys of every orderable type, some rows with an ordinal, read one behind the other. */
static void keys_come_back(void **state)
{
    Fixture *f = *state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        Random random = {seed};
        Field fields[4];
        Vector *columns[4];
        Vector *read[4];
        uint32_t count = 1 + random_below(&random, (uint32_t)ARRAY_LENGTH(fields));
        for (uint32_t i = 0; i < count; i++) {
            do {
                fields[i] = random_field(&random, f->arena, i, 2);
            } while (!type_is_orderable(fields[i].type));
            columns[i] = vector_new(f->arena, fields[i].type, 20);
            read[i] = vector_new(f->arena, fields[i].type, 0);
        }
        for (uint32_t row = 0; row < 20; row++) {
            AUTO_BUFFER Buffer key = {0};
            for (uint32_t i = 0; i < count; i++) {
                append_random(&random, f->arena, columns[i], true);
            }
            json_encode_key(fields, columns, count, row, row % 3, &key);
            uint32_t ordinal = 77;
            Error *error =
                json_decode_key(fields, count, arena_copy_str(f->arena, buffer_str(&key)), NULL,
                                f->arena, read, &ordinal);
            assert_null(error);
            assert_int_equal(ordinal, row % 3);
            for (uint32_t i = 0; i < count; i++) {
                assert_true(vector_value_equal(columns[i], row, read[i], row));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back),
        FIXTURE_TEST(keys_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
