/* Rows, keys and values as JSON text (DESIGN section 5): compact, declared order, nulls written,
 * exact numbers. The text is the changelog: reading it back gives the same row.
 *
 *     {"id":1,"price":12.50,"at":"2026-03-01T00:00:00.000000Z","tags":{"a":1},"raw":"AAE="} */
#include "connectors/format/format.h"
#include "connectors/format/json_put.h"
#include "processor/data/decimal.h"
#include "processor/data/value_text.h"

#include "processor/base/banned.h"

/* As buffer_append_byte, without a call where there is room. */
static inline void put_byte(Buffer *out, char byte)
{
    if (LIKELY(out->size < out->capacity)) {
        out->data[out->size++] = byte;
    } else {
        buffer_append_byte(out, byte);
    }
}

static void write_integer(Buffer *out, int64_t value)
{
    char *to = buffer_reserve(out, INT64_TEXT_MAX);
    out->size += (size_t)(integer_put(to, value) - to);
}

static void write_double(Buffer *out, double number, bool narrow)
{
    char *to = buffer_reserve(out, JSON_SCALAR_MAX);
    out->size += (size_t)(json_put_double(to, number, narrow) - to);
}

static void write_timestamp(Buffer *out, int64_t us, bool utc_suffix)
{
    char *to = buffer_reserve(out, JSON_SCALAR_MAX);
    out->size += (size_t)(json_put_timestamp(to, us, utc_suffix) - to);
}

static void write_date(Buffer *out, int32_t days)
{
    char *to = buffer_reserve(out, JSON_SCALAR_MAX);
    out->size += (size_t)(json_put_date(to, days) - to);
}

static void write_array(Buffer *out, const Vector *vector, uint32_t row)
{
    put_byte(out, '[');
    for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++) {
        if (i > vector->offsets[row]) {
            put_byte(out, ',');
        }
        json_encode_value(vector->children[0], i, out);
    }
    put_byte(out, ']');
}

/* String keys are field names; other keys have no such form, so each entry is a pair. */
static void write_map(Buffer *out, const Vector *vector, uint32_t row)
{
    bool object = vector->type->key->kind == TYPE_STRING;
    put_byte(out, object ? '{' : '[');
    for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++) {
        if (i > vector->offsets[row]) {
            put_byte(out, ',');
        }
        if (!object) {
            put_byte(out, '[');
        }
        json_encode_value(vector->children[0], i, out);
        put_byte(out, object ? ':' : ',');
        json_encode_value(vector->children[1], i, out);
        if (!object) {
            put_byte(out, ']');
        }
    }
    put_byte(out, object ? '}' : ']');
}

static void write_fields(Buffer *out, const Field *fields, Vector *const *columns, size_t count,
                         uint32_t row)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            put_byte(out, ',');
        }
        json_write_text(out, fields[i].name);
        put_byte(out, ':');
        json_encode_value(columns[i], row, out);
    }
}

static void write_struct(Buffer *out, const Vector *vector, uint32_t row)
{
    put_byte(out, '{');
    write_fields(out, vector->type->fields, vector->children, vector->child_count, row);
    put_byte(out, '}');
}

/* Types without a JSON form of their own (no topic has them: they cannot be read back): as SQL
 * prints them. */
static void write_as_text(Buffer *out, const Vector *vector, uint32_t row)
{
    AUTO_BUFFER Buffer text = {0};
    value_format(vector, row, time_zone_utc(), &text);
    json_write_text(out, buffer_str(&text));
}

void json_encode_value(const Vector *vector, uint32_t row, Buffer *out)
{
    if (!vector_is_valid(vector, row)) {
        buffer_append(out, "null", 4);
        return;
    }
    switch (vector->type->kind) {
    case TYPE_NULL:
        buffer_append(out, "null", 4);
        return;
    case TYPE_BOOLEAN:
        buffer_append_str(out, VECTOR_VALUE(vector, uint8_t, row) ? STR("true") : STR("false"));
        return;
    case TYPE_TINYINT:
        write_integer(out, VECTOR_VALUE(vector, int8_t, row));
        return;
    case TYPE_SMALLINT:
        write_integer(out, VECTOR_VALUE(vector, int16_t, row));
        return;
    case TYPE_INT:
        write_integer(out, VECTOR_VALUE(vector, int32_t, row));
        return;
    case TYPE_BIGINT:
        write_integer(out, VECTOR_VALUE(vector, int64_t, row));
        return;
    case TYPE_FLOAT:
        write_double(out, (double)VECTOR_VALUE(vector, float, row), true);
        return;
    case TYPE_DOUBLE:
        write_double(out, VECTOR_VALUE(vector, double, row), false);
        return;
    case TYPE_DECIMAL:
        decimal_format(VECTOR_VALUE(vector, int128, row), vector->type->scale, out);
        return;
    case TYPE_STRING:
        json_write_text(out, VECTOR_VALUE(vector, Str, row));
        return;
    case TYPE_BINARY:
        json_write_bytes(out, VECTOR_VALUE(vector, Str, row));
        return;
    case TYPE_DATE:
        write_date(out, VECTOR_VALUE(vector, int32_t, row));
        return;
    case TYPE_TIMESTAMP:
        write_timestamp(out, VECTOR_VALUE(vector, int64_t, row), true);
        return;
    case TYPE_TIMESTAMP_NTZ:
        write_timestamp(out, VECTOR_VALUE(vector, int64_t, row), false);
        return;
    case TYPE_ARRAY:
        write_array(out, vector, row);
        return;
    case TYPE_MAP:
        write_map(out, vector, row);
        return;
    case TYPE_STRUCT:
        write_struct(out, vector, row);
        return;
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        write_as_text(out, vector, row);
        return;
    }
}

void json_encode_row(const Batch *batch, uint32_t row, Buffer *out)
{
    put_byte(out, '{');
    write_fields(out, batch->schema->fields, batch->columns, batch->schema->field_count, row);
    put_byte(out, '}');
}

void json_encode_key(const Field *fields, Vector *const *columns, size_t count, uint32_t row,
                     uint32_t ordinal, Buffer *out)
{
    put_byte(out, '{');
    write_fields(out, fields, columns, count, row);
    if (ordinal > 0) {
        buffer_append_cstr(out, count > 0 ? ",\"_row\":" : "\"_row\":");
        write_integer(out, ordinal);
    }
    put_byte(out, '}');
}
