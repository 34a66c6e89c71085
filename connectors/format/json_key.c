/* Message keys back into values. json_encode_key writes the columns in their order and then the
 * ordinal, so the names are compared where they must stand, not looked up. */
#include <assert.h>

#include "connectors/format/format.h"
#include "connectors/format/json_number.h"
#include "connectors/format/json_value.h"

#include "processor/base/banned.h"

/* At a name: passes it and the colon if it is `name`. */
static bool pass_name(JsonReader *reader, Str name)
{
    Str found = STR_NULL;
    if (json_peek(&reader->scan) != '"') {
        return json_problem(&reader->scan, reader->scan.at, "a field name in quotes is expected");
    }
    const char *at = reader->scan.at;
    if (json_read_text(reader, NULL, &found) != READ_OK) {
        error_free(reader->error);
        reader->error = NULL;
        return false;
    }
    if (!str_equal(found, name)) {
        return json_problem(&reader->scan, at, "another field was expected here");
    }
    return json_scan_colon(&reader->scan);
}

static bool pass_byte(JsonReader *reader, char byte, const char *problem)
{
    if (json_peek(&reader->scan) != byte) {
        return json_problem(&reader->scan, reader->scan.at, problem);
    }
    reader->scan.at++;
    return true;
}

static bool is_nested(const Type *type)
{
    return type->kind == TYPE_ARRAY || type->kind == TYPE_MAP || type->kind == TYPE_STRUCT;
}

/* Reads one value; its failure, if any, stays in reader->error. A column of a plain type, which
 * keys are made of mostly, costs no memory here. */
static Error *read_column(JsonReader *reader, const Field *field, Vector *vector,
                          ReadResult *result)
{
    ValueNode node;
    AUTO(arena) Arena *node_arena = is_nested(field->type) ? arena_new("json key") : NULL;
    TRY(json_value_node_init(&node, node_arena, field, NULL));
    *result = json_read_value(reader, &node, vector);
    return NULL;
}

static bool read_ordinal(JsonReader *reader, uint32_t *ret_ordinal)
{
    int64_t value = 0;
    int fraction = 0;
    const char *at = reader->scan.at;
    if (!number_scan_short(&reader->scan.at, reader->scan.end, &value, &fraction) ||
        fraction != 0 || value < 1 || value > UINT32_MAX) {
        return json_problem(&reader->scan, at, "_row must be a number from 1");
    }
    *ret_ordinal = (uint32_t)value;
    return true;
}

/* What follows the columns: "_row" or nothing, then the end. */
static bool read_tail(JsonReader *reader, size_t count, uint32_t *ret_ordinal)
{
    uint32_t ordinal = 0;
    if (json_peek(&reader->scan) != '}') {
        if ((count > 0 && !pass_byte(reader, ',', "a comma or a closing brace is expected")) ||
            !pass_name(reader, STR("_row")) || !read_ordinal(reader, &ordinal)) {
            return false;
        }
    }
    *ret_ordinal = ordinal;
    return pass_byte(reader, '}', "a closing brace is expected") && json_scan_end(&reader->scan);
}

/* Reads the columns; false with scan.problem or reader->error set. */
static Error *read_columns(JsonReader *reader, const Field *fields, size_t count, Vector **columns,
                           bool *ret_good)
{
    *ret_good = false;
    if (!pass_byte(reader, '{', "a key must be a JSON object")) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !pass_byte(reader, ',', "a comma is expected")) {
            return NULL;
        }
        if (!pass_name(reader, fields[i].name)) {
            return NULL;
        }
        ReadResult result = READ_OK;
        TRY(read_column(reader, &fields[i], columns[i], &result));
        if (result != READ_OK) {
            return NULL;
        }
    }
    *ret_good = true;
    return NULL;
}

static Error *corrupt(JsonReader *reader, Str key)
{
    if (reader->error == NULL) {
        reader->error =
            json_record_error(reader, NULL, reader->scan.problem_at, reader->scan.problem);
    }
    Error *error = error_new(ERROR_STATE_CORRUPT, "`%.*s` is not a message key of this table",
                             (int)(key.size > 100 ? 100 : key.size), key.data);
    return error_set_cause(error, reader->error);
}

Error *json_decode_key(const Field *fields, size_t count, Str key, const TimeZone *date_zone,
                       Arena *arena, Vector **columns, uint32_t *ret_ordinal)
{
    assert(key.data != NULL);
    JsonReader reader = {.scan = json_scan_text(key),
                         .arena = arena,
                         .time_zone = date_zone == NULL ? time_zone_utc() : date_zone,
                         .dates = date_zone != NULL};
    uint32_t length = count == 0 ? 0 : columns[0]->length;
    uint32_t ordinal = 0;
    bool good = false;
    Error *error = read_columns(&reader, fields, count, columns, &good);
    if (error == NULL && !(good && read_tail(&reader, count, &ordinal))) {
        error = corrupt(&reader, key);
    }
    if (error != NULL) {
        for (size_t i = 0; i < count; i++) {
            vector_truncate(columns[i], length);
        }
        return error;
    }
    *ret_ordinal = ordinal;
    return NULL;
}
