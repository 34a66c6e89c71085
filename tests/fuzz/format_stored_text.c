/* Any bytes as a stored row (of an old version or the newest) and as a stored key: the text written
 * straight from the bytes must be the text that goes by way of vectors, or the same error. */
#include <stdio.h>
#include <stdlib.h>

#include "connectors/format/format.h"
#include "processor/data/key_encoding.h"
#include "processor/data/row_encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

static void require(bool condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "format_stored_text: %s\n", what);
        abort();
    }
}

static void add_versions(SchemaHistory *history, Arena *arena)
{
    const Field inner[] = {FIELD("x", &type_int), FIELD("a \"quoted\" name", &type_string)};
    const Type *record = type_struct(arena, inner, ARRAY_LENGTH(inner));
    const Field old[] = {FIELD("s", &type_string), FIELD("i", &type_int), FIELD("d", &type_double)};
    const Field newest[] = {
        FIELD("s", &type_string),
        FIELD("i", &type_bigint),
        FIELD("t", &type_tinyint),
        FIELD("b", &type_boolean),
        FIELD("n", type_decimal(arena, 10, 2)),
        FIELD("N", type_decimal(arena, 38, 20)),
        FIELD("f", &type_float),
        FIELD("d", &type_double),
        FIELD("raw", &type_binary),
        FIELD("day", &type_date),
        FIELD("at", &type_timestamp),
        FIELD("local", &type_timestamp_ntz),
        FIELD("nothing", &type_null),
        FIELD("list", type_array(arena, type_array(arena, &type_smallint))),
        FIELD("records", type_array(arena, record)),
        FIELD("m", type_map(arena, &type_string, record)),
        FIELD("pairs", type_map(arena, type_array(arena, &type_int), &type_string)),
    };
    schema_history_add(history, schema_new(arena, old, ARRAY_LENGTH(old)));
    schema_history_add(history, schema_new(arena, newest, ARRAY_LENGTH(newest)));
}

static void compare(Error *error, const Buffer *text, Error *expected_error, const Buffer *expected)
{
    require((error == NULL) == (expected_error == NULL), "an error by one way only");
    if (error != NULL) {
        require(strcmp(error_message(error), error_message(expected_error)) == 0, "two messages");
    }
    if (!str_equal(buffer_str(text), buffer_str(expected))) {
        (void)fprintf(stderr, "%.*s\n%.*s\n", STR_ARG(buffer_str(text)),
                      STR_ARG(buffer_str(expected)));
        require(false, "two texts");
    }
    error_free(error);
    error_free(expected_error);
}

static void try_row(const SchemaHistory *history, Str row, Arena *arena)
{
    const JsonRowWriter *writer = json_row_writer_new(arena, history);
    AUTO_BUFFER Buffer text = {0};
    AUTO_BUFFER Buffer expected = {0};
    Batch *batch = batch_new(arena, schema_history_get(history, 2), 1);
    Error *error = row_decode(history, row, arena, batch);
    if (error == NULL) {
        json_encode_row(batch, 0, &expected);
    }
    compare(json_row_write(writer, row, &text), &text, error, &expected);
}

static void try_key(const Field *fields, size_t count, Str key, Arena *arena)
{
    const JsonKeyWriter *writer = json_key_writer_new(arena, fields, count);
    AUTO_BUFFER Buffer text = {0};
    AUTO_BUFFER Buffer expected = {0};
    Vector **columns = arena_new_array(arena, Vector *, count);
    for (size_t i = 0; i < count; i++) {
        columns[i] = vector_new(arena, fields[i].type, 1);
    }
    Error *error = key_decode(key, arena, columns, count);
    if (error == NULL) {
        json_encode_key(fields, columns, count, 0, 7, &expected);
    }
    compare(json_key_write(writer, key, 7, &text), &text, error, &expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) Arena *arena = arena_new("fuzz");
    SchemaHistory *history = schema_history_new(arena);
    add_versions(history, arena);
    /* A block of its own, so that a read behind the end is seen. */
    char *own = malloc(size + (size == 0));
    require(own != NULL, "no memory");
    if (size > 0) {
        memcpy(own, data, size);
    }
    Str bytes = {own, size};
    try_row(history, bytes, arena);
    const Schema *schema = schema_history_get(history, 2);
    try_key(schema->fields, 4, bytes, arena);
    try_key(schema->fields + 4, 4, bytes, arena);
    try_key(schema->fields + 8, 4, bytes, arena);
    try_key(schema->fields, 1, bytes, arena);
    free(own);
    return 0;
}
