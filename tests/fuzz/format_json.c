/* The JSON decoder on any bytes, against a schema that holds every type. A row that is read must be
 * written and read back as the same row and the same text; where cJSON reads the text too, both
 * must agree on what is there. The same bytes also go through json_decode_key. */
#include <stdio.h>
#include <stdlib.h>

#include "connectors/format/format.h"
#include "connectors/format/json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

static const Schema *every_type(Arena *arena)
{
    const Field inner[] = {FIELD("a", &type_int), FIELD("S", &type_string),
                           FIELD("l", type_array(arena, &type_string))};
    const Type *record = type_struct(arena, inner, ARRAY_LENGTH(inner));
    const Field fields[] = {
        FIELD("b", &type_boolean),
        FIELD("t", &type_tinyint),
        FIELD("s", &type_smallint),
        FIELD("i", &type_int),
        FIELD("l", &type_bigint),
        FIELD("f", &type_float),
        FIELD("d", &type_double),
        FIELD("n", type_decimal(arena, 20, 4)),
        FIELD("N", type_decimal(arena, 38, 38)),
        FIELD("x", &type_string),
        FIELD("y", &type_binary),
        FIELD("D", &type_date),
        FIELD("T", &type_timestamp),
        FIELD("Z", &type_timestamp_ntz),
        FIELD("v", &type_null),
        FIELD("aa", type_array(arena, type_array(arena, &type_double))),
        FIELD("r", record),
        FIELD("lr", type_array(arena, record)),
        FIELD("m", type_map(arena, &type_string, record)),
        FIELD("mi", type_map(arena, &type_bigint, &type_string)),
        FIELD("md", type_map(arena, &type_double, type_map(arena, &type_date, &type_boolean))),
    };
    return schema_new(arena, fields, ARRAY_LENGTH(fields));
}

static void require(bool condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "format_json: %s\n", what);
        abort();
    }
}

static Decoder *open(const Schema *schema, bool coerce)
{
    Decoder *decoder = NULL;
    const DecoderOptions options = {
        .kind = FORMAT_JSON, .time_zone = time_zone_utc(), .coerce = coerce};
    Error *error = decoder_open(&options, schema, &decoder);
    require(error == NULL, "the schema is refused");
    return decoder;
}

static bool names_column(Str name, Str column)
{
    return str_equal_ignore_case(name, column);
}

/* Members whose name is the column's ignoring case. */
static size_t matching_members(const JsonTree *root, Str column)
{
    size_t count = 0;
    for (size_t i = 0; i < json_tree_size(root); i++) {
        Str name = STR_NULL;
        (void)json_tree_member(root, i, &name);
        count += names_column(name, column);
    }
    return count;
}

static void compare_with_tree(const Batch *batch, const JsonTree *root)
{
    require(json_tree_kind(root) == JSON_OBJECT, "a row without an object");
    for (size_t i = 0; i < batch->schema->field_count && json_tree_size(root) < 200; i++) {
        const Field *field = &batch->schema->fields[i];
        const Vector *column = batch->columns[i];
        bool valid = vector_is_valid(column, 0);
        const JsonTree *node = json_tree_get(root, field->name.data);
        if (matching_members(root, field->name) == 0) {
            require(!valid, "a value out of nothing");
        }
        if (node == NULL) {
            continue;
        }
        require(valid == (json_tree_kind(node) != JSON_NULL), "null against a value");
        if (valid && field->type->kind == TYPE_ARRAY) {
            require(column->offsets[1] == json_tree_size(node), "lists of two lengths");
        }
        if (valid && field->type->kind == TYPE_STRING && json_tree_kind(node) == JSON_STRING) {
            require(str_equal(VECTOR_VALUE(column, Str, 0), json_tree_str(node, STR_NULL)),
                    "two texts");
        }
        if (valid && field->type->kind == TYPE_BOOLEAN) {
            require((VECTOR_VALUE(column, uint8_t, 0) != 0) == json_tree_bool(node, false),
                    "two booleans");
        }
        if (valid && field->type->kind == TYPE_DOUBLE && json_tree_kind(node) == JSON_NUMBER) {
            require(VECTOR_VALUE(column, double, 0) == json_tree_double(node, 0.5), "two doubles");
        }
        if (valid && field->type->kind == TYPE_INT && json_tree_kind(node) == JSON_NUMBER) {
            require(VECTOR_VALUE(column, int32_t, 0) == json_tree_int(node, 7), "two integers");
        }
    }
}

static void check_row(const Batch *batch, const Schema *schema, Arena *arena)
{
    AUTO_BUFFER Buffer text = {0};
    AUTO_BUFFER Buffer again = {0};
    json_encode_row(batch, 0, &text);
    AUTO(decoder) Decoder *decoder = open(schema, false);
    RowErrors errors = {0};
    Batch *read = NULL;
    Str record = buffer_str(&text);
    decoder_decode(decoder, &record, 1, arena, &errors, &read);
    if (errors.count > 0) {
        require(false, error_message(errors.errors[0]));
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        require(vector_value_equal(batch->columns[i], 0, read->columns[i], 0),
                "a value changed on its way");
    }
    json_encode_row(read, 0, &again);
    require(str_equal(record, buffer_str(&again)), "the text changed on its way");
    row_errors_done(&errors);
}

static void try_record(const Schema *schema, Str record, bool coerce, Arena *arena)
{
    AUTO(decoder) Decoder *decoder = open(schema, coerce);
    RowErrors errors = {0};
    Batch *batch = NULL;
    /* Twice, so that the guesses of the first are tried; and rows behind a bad one. */
    const Str records[] = {record, STR("{\"i\":1}"), record};
    decoder_decode(decoder, records, ARRAY_LENGTH(records), arena, &errors, &batch);
    require(vector_is_valid(batch->columns[3], 1), "the row behind is lost");
    require(errors.count == 0 || errors.count == 2, "the same record, two answers");
    const JsonTree *root = NULL;
    AUTO(error) Error *error = json_tree_parse(record, arena, &root);
    if (errors.count == 0) {
        for (size_t i = 0; i < schema->field_count; i++) {
            require(vector_value_equal(batch->columns[i], 0, batch->columns[i], 2),
                    "the same record, two rows");
        }
        check_row(batch, schema, arena);
        if (error == NULL) {
            compare_with_tree(batch, root);
        }
    }
    row_errors_done(&errors);
}

static void try_key(const Schema *schema, Str key, Arena *arena)
{
    const size_t first = 4; /* BIGINT, FLOAT, DOUBLE, DECIMAL */
    for (size_t count = 0; count <= 4; count++) {
        Vector *columns[4];
        for (size_t i = 0; i < count; i++) {
            columns[i] = vector_new(arena, schema->fields[first + i].type, 0);
        }
        uint32_t ordinal = 0;
        AUTO(error)
        Error *error =
            json_decode_key(schema->fields + first, count, key, NULL, arena, columns, &ordinal);
        for (size_t i = 0; i < count; i++) {
            require(columns[i]->length == (error == NULL ? 1 : 0), "a key half read");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    AUTO(arena) Arena *arena = arena_new("fuzz");
    const Schema *schema = every_type(arena);
    /* A block of its own, so that a read behind the end is seen. */
    char *bytes = malloc(size);
    require(bytes != NULL, "no memory");
    memcpy(bytes, data, size);
    Str record = {bytes + 1, size - 1};
    try_record(schema, record, bytes[0] == 'c', arena);
    try_key(schema, record, arena);
    arena_reset(arena);
    free(bytes);
    return 0;
}
