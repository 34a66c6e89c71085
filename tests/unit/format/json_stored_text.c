/* Stored rows and keys as text: texts by hand, and every answer compared with the way through
 * vectors (row_decode or key_decode, then json_encode_…), for good bytes and for damaged ones. */
#include <stdlib.h>

#include "processor/data/key_encoding.h"
#include "processor/data/row_encoding.h"
#include "tests/unit/format/fixture.h"
#include "tests/unit/format/random_values.h"

/* ---- The way through vectors ---- */

static Error *row_by_vectors(const SchemaHistory *history, Str row, Arena *arena, Buffer *out)
{
    const Schema *schema = schema_history_get(history, schema_history_newest(history));
    Batch *batch = batch_new(arena, schema, 1);
    TRY(row_decode(history, row, arena, batch));
    json_encode_row(batch, 0, out);
    return NULL;
}

static Error *key_by_vectors(const Field *fields, size_t count, Str key, uint32_t ordinal,
                             Arena *arena, Buffer *out)
{
    Vector **columns = arena_new_array(arena, Vector *, count);
    for (size_t i = 0; i < count; i++) {
        columns[i] = vector_new(arena, fields[i].type, 1);
    }
    TRY(key_decode(key, arena, columns, count));
    json_encode_key(fields, columns, count, 0, ordinal, out);
    return NULL;
}

/* Both ways must say the same; `text` begins with something that must stay. */
static void compare(Error *error, const Buffer *text, Error *expected_error, const Buffer *expected)
{
    assert_int_equal(error == NULL, expected_error == NULL);
    if (error != NULL) {
        assert_string_equal(error_message(error), error_message(expected_error));
        assert_int_equal(error_class(error), ERROR_STATE_CORRUPT);
    }
    assert_int_equal(text->size, expected->size);
    assert_memory_equal(text->data, expected->data, text->size);
    error_free(error);
    error_free(expected_error);
}

static void check_stored_row(const SchemaHistory *history, const JsonRowWriter *writer, Str row,
                             Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    AUTO_BUFFER Buffer expected = {0};
    buffer_append_cstr(&text, "before ");
    buffer_append_cstr(&expected, "before ");
    /* Bytes of their own, so that a read behind the end is seen. */
    char *own = malloc(row.size + (row.size == 0));
    assert_non_null(own);
    memcpy(own, row.data, row.size);
    Str copy = {own, row.size};
    compare(json_row_write(writer, copy, &text), &text,
            row_by_vectors(history, copy, arena, &expected), &expected);
    free(own);
}

static void check_stored_key(const Field *fields, size_t count, const JsonKeyWriter *writer,
                             Str key, uint32_t ordinal, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    AUTO_BUFFER Buffer expected = {0};
    buffer_append_cstr(&text, "before ");
    buffer_append_cstr(&expected, "before ");
    char *own = malloc(key.size + (key.size == 0));
    assert_non_null(own);
    memcpy(own, key.data, key.size);
    Str copy = {own, key.size};
    compare(json_key_write(writer, copy, ordinal, &text), &text,
            key_by_vectors(fields, count, copy, ordinal, arena, &expected), &expected);
    free(own);
}

/* ---- By hand ---- */

static void a_row_by_hand(void **state)
{
    Fixture *f = *state;
    const Field inner[] = {FIELD("x", &type_tinyint), FIELD("y\"", &type_date)};
    const Field fields[] = {
        FIELD("region", &type_string),
        FIELD("customer_id", &type_bigint),
        FIELD("amount", type_decimal(f->arena, 10, 2)),
        FIELD("active", &type_boolean),
        FIELD("a name of more than sixteen bytes", &type_timestamp),
        FIELD("note", &type_string),
        FIELD("nothing", &type_int),
        FIELD("raw", &type_binary),
        FIELD("list", type_array(f->arena, &type_double)),
        FIELD("s", type_struct(f->arena, inner, 2)),
        FIELD("m", type_map(f->arena, &type_string, &type_smallint)),
        FIELD("pairs", type_map(f->arena, &type_int, &type_boolean)),
    };
    SchemaHistory *history = schema_history_new(f->arena);
    schema_history_add(history, schema_new(f->arena, fields, ARRAY_LENGTH(fields)));
    const char row[] = "\x01"                             /* version */
                       "\x40\x00"                         /* column 6 is NULL */
                       "\x02r7"                           /* size, bytes */
                       "\xFE\xFF\x07"                     /* zigzag of 65535 */
                       "\xE1\x01"                         /* of -113 */
                       "\x01"                             /* true */
                       "\x80\x80\x9B\xEC\xE4\xFA\xA5\x06" /* of 1772323200000000 */
                       "\x0B"
                       "tab\t\"q\" \xC3\xA9\x01" /* 11 bytes */
                       "\x02\x00\x01"            /* two bytes */
                       "\x02\x02"                /* two elements, the second NULL */
                       "\x00\x00\x00\x00\x00\x00\xF8\x3F"
                       "\x00\x01\x00" /* no NULL; -1; day 0 */
                       "\x01\x00\x01k\x01"
                       "\x02\x00\x02\x04\x01\x00";
    const JsonRowWriter *writer = json_row_writer_new(f->arena, history);
    AUTO_BUFFER Buffer text = {0};
    assert_null(json_row_write(writer, (Str){row, sizeof row - 1}, &text));
    assert_string_equal(
        buffer_cstr(&text),
        "{\"region\":\"r7\",\"customer_id\":65535,\"amount\":-1.13,\"active\":true,"
        "\"a name of more than sixteen bytes\":\"2026-03-01T00:00:00.000000Z\","
        "\"note\":\"tab\\t\\\"q\\\" \xC3\xA9\\u0001\",\"nothing\":null,\"raw\":\"AAE=\","
        "\"list\":[1.5,null],\"s\":{\"x\":-1,\"y\\\"\":\"1970-01-01\"},\"m\":{\"k\":null},"
        "\"pairs\":[[1,null],[2,false]]}");
}

static void a_key_by_hand(void **state)
{
    Fixture *f = *state;
    const Field fields[] = {FIELD("region", &type_string), FIELD("id", &type_bigint),
                            FIELD("day", &type_date), FIELD("d", type_decimal(f->arena, 9, 3))};
    const char key[] = "\x01"
                       "Z\xC3\xBCrich\x00\x00"
                       "\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFE"
                       "\x00"
                       "\x01\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\xD2";
    const JsonKeyWriter *writer = json_key_writer_new(f->arena, fields, ARRAY_LENGTH(fields));
    const char *expected[] = {
        "{\"region\":\"Z\xC3\xBCrich\",\"id\":-2,\"day\":null,\"d\":1.234}",
        "{\"region\":\"Z\xC3\xBCrich\",\"id\":-2,\"day\":null,\"d\":1.234,\"_row\":4294967295}"};
    AUTO_BUFFER Buffer text = {0};
    assert_null(json_key_write(writer, (Str){key, sizeof key - 1}, 0, &text));
    assert_string_equal(buffer_cstr(&text), expected[0]);
    AUTO_BUFFER Buffer more = {0};
    json_key_write_ordinal(buffer_str(&text), UINT32_MAX, &more);
    assert_string_equal(buffer_cstr(&more), expected[1]);
    buffer_clear(&more);
    json_key_write_ordinal(buffer_str(&text), 0, &more);
    assert_string_equal(buffer_cstr(&more), expected[0]);
}

static void no_columns_at_all(void **state)
{
    Fixture *f = *state;
    const JsonKeyWriter *writer = json_key_writer_new(f->arena, NULL, 0);
    AUTO_BUFFER Buffer text = {0};
    assert_null(json_key_write(writer, STR(""), 0, &text));
    assert_string_equal(buffer_cstr(&text), "{}");
    assert_null(json_key_write(writer, STR(""), 3, &text));
    json_key_write_ordinal(STR("{}"), 3, &text);
    assert_string_equal(buffer_cstr(&text), "{}{\"_row\":3}{\"_row\":3}");
}

/* ---- Against vectors ---- */

static void damage(Random *random, Buffer *bytes)
{
    if (bytes->size == 0 || random_chance(random, 6)) {
        buffer_append_byte(bytes, (char)random_bits(random));
    } else if (random_chance(random, 3)) {
        bytes->size = random_below(random, (uint32_t)bytes->size);
    } else {
        bytes->data[random_below(random, (uint32_t)bytes->size)] = (char)random_bits(random);
    }
}

/* A schema with some of the fields of `older`, and new ones. */
static const Schema *next_schema(Random *random, Arena *arena, const Schema *older)
{
    Field fields[12];
    size_t count = 0;
    for (size_t i = 0; older != NULL && i < older->field_count && count < 6; i++) {
        if (!random_chance(random, 4)) {
            fields[count++] = older->fields[i];
        }
    }
    size_t total = count + 1 + random_below(random, 5);
    for (; count < total; count++) {
        uint32_t number = (uint32_t)count + (older == NULL ? 0 : 100);
        fields[count] = random_field(random, arena, number, random_chance(random, 2) ? 0 : 3);
    }
    return schema_new(arena, fields, count);
}

static void rows_of_random_schemas(void **state)
{
    Fixture *f = *state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        Random random = {seed};
        SchemaHistory *history = schema_history_new(f->arena);
        const Schema *old = next_schema(&random, f->arena, NULL);
        Buffer rows[12] = {{0}};
        for (uint32_t i = 0; i < ARRAY_LENGTH(rows); i++) {
            if (i == 0 || i == 4) {
                old = i == 0 ? old : next_schema(&random, f->arena, old);
                schema_history_add(history, old);
            }
            Batch *batch = batch_new(f->arena, old, 1);
            for (size_t column = 0; column < old->field_count; column++) {
                append_random(&random, f->arena, batch->columns[column], true);
            }
            batch->row_count = 1;
            row_encode(history, batch, 0, &rows[i]);
        }
        const JsonRowWriter *writer = json_row_writer_new(f->arena, history);
        for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
            check_stored_row(history, writer, buffer_str(&rows[i]), f->arena);
            for (int times = 0; times < 4; times++) {
                damage(&random, &rows[i]);
                check_stored_row(history, writer, buffer_str(&rows[i]), f->arena);
            }
            buffer_done(&rows[i]);
        }
        arena_reset(f->arena);
    }
}

static void keys_of_random_types(void **state)
{
    Fixture *f = *state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        Random random = {seed};
        Field fields[4];
        Vector *columns[4];
        uint32_t count = 1 + random_below(&random, (uint32_t)ARRAY_LENGTH(fields));
        for (uint32_t i = 0; i < count; i++) {
            do {
                fields[i] = random_field(&random, f->arena, i, (int)random_below(&random, 3));
            } while (!type_is_orderable(fields[i].type));
            columns[i] = vector_new(f->arena, fields[i].type, 1);
            append_random(&random, f->arena, columns[i], true);
        }
        AUTO_BUFFER Buffer key = {0};
        key_encode(columns, count, 0, &key);
        const JsonKeyWriter *writer = json_key_writer_new(f->arena, fields, count);
        uint32_t ordinal = random_chance(&random, 2) ? 0 : (uint32_t)random_bits(&random);
        check_stored_key(fields, count, writer, buffer_str(&key), ordinal, f->arena);
        for (int times = 0; times < 6; times++) {
            damage(&random, &key);
            check_stored_key(fields, count, writer, buffer_str(&key), ordinal, f->arena);
        }
        arena_reset(f->arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_row_by_hand),        FIXTURE_TEST(a_key_by_hand),
        FIXTURE_TEST(no_columns_at_all),    FIXTURE_TEST(rows_of_random_schemas),
        FIXTURE_TEST(keys_of_random_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
