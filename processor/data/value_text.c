/* Values to and from text, as SQL's CAST between STRING and the other types does it (Spark 4,
 * ANSI).
 */
#include "processor/data/value_text.h"

#include <assert.h>

#include "processor/data/decimal.h"
#include "processor/data/interval_text.h"
#include "processor/data/number_text.h"
#include "processor/base/banned.h"

/* ---- Errors ---- */

/* A text as a SQL literal, for messages. Long ones are cut: a message is read by people. */
static void append_literal(Str text, Buffer *out)
{
    enum { SHOWN_MAX = 512 };
    buffer_append_byte(out, '\'');
    for (size_t i = 0; i < text.size && i < SHOWN_MAX; i++) {
        if (text.data[i] == '\'' || text.data[i] == '\\') {
            buffer_append_byte(out, '\\');
        }
        buffer_append_byte(out, text.data[i]);
    }
    buffer_append_cstr(out, text.size > SHOWN_MAX ? "…'" : "'");
}

static COLD Error *invalid_input(Str text, const Type *type)
{
    AUTO_BUFFER Buffer literal = {0};
    AUTO_BUFFER Buffer name = {0};
    append_literal(text, &literal);
    type_format(type, &name);
    return error_new(ERROR_CAST_INVALID_INPUT,
                     "The value %s of the type \"STRING\" cannot be cast to \"%s\" because it is "
                     "malformed. Correct the value as per the syntax, or change its target type. "
                     "Use `try_cast` to tolerate malformed input and return NULL instead.",
                     buffer_cstr(&literal), buffer_cstr(&name));
}

static COLD Error *refused(const Type *type)
{
    AUTO_BUFFER Buffer name = {0};
    type_format(type, &name);
    return error_new(ERROR_CAST_WITHOUT_SUGGESTION, "cannot cast \"STRING\" to \"%s\".",
                     buffer_cstr(&name));
}

static COLD Error *decimal_out_of_range(Str text, const Type *type)
{
    AUTO_BUFFER Buffer plain = {0};
    if (!decimal_text_to_plain(text, &plain)) {
        return error_new(ERROR_NUMERIC_OUT_OF_SUPPORTED_RANGE,
                         "The value %.*s cannot be interpreted as a numeric since it has more "
                         "than 38 digits.",
                         STR_ARG(text));
    }
    return error_new(ERROR_NUMERIC_VALUE_OUT_OF_RANGE,
                     "%s cannot be represented as Decimal(%d, %d). If necessary set "
                     "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error, and return "
                     "NULL instead.",
                     buffer_cstr(&plain), type->precision, type->scale);
}

/* ---- From text ---- */

static bool parse_boolean(Str text, bool *ret_value)
{
    static const char *const words[2][5] = {
        {"f", "false", "n", "no", "0"},
        {"t", "true", "y", "yes", "1"},
    };
    text = text_trim_all(text);
    for (int value = 0; value < 2; value++) {
        for (size_t i = 0; i < ARRAY_LENGTH(words[value]); i++) {
            if (str_equal_ignore_case(text, str_from(words[value][i]))) {
                *ret_value = value == 1;
                return true;
            }
        }
    }
    return false;
}

static bool parse_integer(Str text, const Type *type, int64_t *ret_value)
{
    int64_t value;
    if (!int64_parse(text_trim_all(text), &value)) {
        return false;
    }
    unsigned unused_bits = 64 - 8 * (unsigned)type_value_size(type);
    if (value < INT64_MIN >> unused_bits || value > INT64_MAX >> unused_bits) {
        return false;
    }
    *ret_value = value;
    return true;
}

static Error *parse_decimal(Str text, Arena *arena, Vector *vector)
{
    const Type *type = vector->type;
    Str number = text_trim_java(text);
    int128 value = 0;
    switch (decimal_parse(number, type->precision, type->scale, true, &value)) {
    case DECIMAL_OK:
        vector_append_int128(vector, arena, value);
        return NULL;
    case DECIMAL_OUT_OF_RANGE:
        return decimal_out_of_range(number, type);
    case DECIMAL_MALFORMED:
    case DECIMAL_INEXACT:
        break;
    }
    return invalid_input(text, type);
}

/* Types whose values are integers in the vector. */
static bool parse_to_int(Str text, const Type *type, const TimeZone *zone, int64_t *ret_value)
{
    int32_t days = 0;
    switch (type->kind) {
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return parse_integer(text, type, ret_value);
    case TYPE_DATE:
        if (!date_parse(text, &days)) {
            return false;
        }
        *ret_value = days;
        return true;
    case TYPE_TIMESTAMP:
        return timestamp_parse(text, zone, ret_value);
    case TYPE_TIMESTAMP_NTZ:
        return timestamp_ntz_parse(text, true, ret_value);
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
        break;
    }
    assert(false); /* not an integer in the vector */
    return false;
}

Error *value_parse(Str text, const TimeZone *zone, Arena *arena, Vector *vector)
{
    const Type *type = vector->type;
    bool boolean;
    int64_t integer;
    float single;
    double number;
    switch (type_physical(type)) {
    case PHYSICAL_BOOL:
        if (!parse_boolean(text, &boolean)) {
            return invalid_input(text, type);
        }
        vector_append_bool(vector, arena, boolean);
        return NULL;
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
        if (type_is_interval(type)) {
            TRY(interval_parse(text, type, &integer));
        } else if (!parse_to_int(text, type, zone, &integer)) {
            return invalid_input(text, type);
        }
        vector_append_int(vector, arena, integer);
        return NULL;
    case PHYSICAL_INT128:
        return parse_decimal(text, arena, vector);
    case PHYSICAL_FLOAT:
        if (!float_parse_cast(text, &single)) {
            return invalid_input(text, type);
        }
        vector_append_double(vector, arena, (double)single);
        return NULL;
    case PHYSICAL_DOUBLE:
        if (!double_parse_cast(text, &number)) {
            return invalid_input(text, type);
        }
        vector_append_double(vector, arena, number);
        return NULL;
    case PHYSICAL_STR:
        if (type->kind == TYPE_VARIANT) {
            return error_new(ERROR_NOT_YET, "A cast of text to VARIANT is not supported yet.");
        }
        vector_append_str(vector, arena, text);
        return NULL;
    case PHYSICAL_NONE:
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        break;
    }
    return refused(type);
}

/* ---- To text ---- */

/* A null inside an array, map or struct is "null", outside "NULL". */
static void format_element(const Vector *vector, uint32_t row, const TimeZone *zone, Buffer *out)
{
    if (vector_is_valid(vector, row)) {
        value_format(vector, row, zone, out);
    } else {
        buffer_append_cstr(out, "null");
    }
}

static void format_list(const Vector *vector, uint32_t row, const TimeZone *zone, Buffer *out)
{
    bool map = vector->type->kind == TYPE_MAP;
    buffer_append_byte(out, map ? '{' : '[');
    for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++) {
        buffer_append_cstr(out, i == vector->offsets[row] ? "" : ", ");
        format_element(vector->children[0], i, zone, out);
        if (map) {
            buffer_append_cstr(out, " -> ");
            format_element(vector->children[1], i, zone, out);
        }
    }
    buffer_append_byte(out, map ? '}' : ']');
}

static void format_struct(const Vector *vector, uint32_t row, const TimeZone *zone, Buffer *out)
{
    buffer_append_byte(out, '{');
    for (uint32_t i = 0; i < vector->child_count; i++) {
        buffer_append_cstr(out, i == 0 ? "" : ", ");
        format_element(vector->children[i], row, zone, out);
    }
    buffer_append_byte(out, '}');
}

void value_format(const Vector *vector, uint32_t row, const TimeZone *zone, Buffer *out)
{
    assert(row < vector->length);
    if (!vector_is_valid(vector, row)) {
        buffer_append_cstr(out, "NULL");
        return;
    }
    switch (vector->type->kind) {
    case TYPE_NULL:
        buffer_append_cstr(out, "NULL");
        return;
    case TYPE_BOOLEAN:
        buffer_append_cstr(out, VECTOR_VALUE(vector, uint8_t, row) ? "true" : "false");
        return;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        decimal_format(vector_int_value(vector, row), 0, out);
        return;
    case TYPE_FLOAT:
        float_format(VECTOR_VALUE(vector, float, row), out);
        return;
    case TYPE_DOUBLE:
        double_format(VECTOR_VALUE(vector, double, row), out);
        return;
    case TYPE_DECIMAL:
        decimal_format(VECTOR_VALUE(vector, int128, row), vector->type->scale, out);
        return;
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_VARIANT:
        buffer_append_str(out, VECTOR_VALUE(vector, Str, row));
        return;
    case TYPE_DATE:
        date_format(VECTOR_VALUE(vector, int32_t, row), out);
        return;
    case TYPE_TIMESTAMP:
        timestamp_format_sql(VECTOR_VALUE(vector, int64_t, row), zone, out);
        return;
    case TYPE_TIMESTAMP_NTZ:
        timestamp_format_sql(VECTOR_VALUE(vector, int64_t, row), time_zone_utc(), out);
        return;
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
        interval_format(vector_int_value(vector, row), vector->type, out);
        return;
    case TYPE_ARRAY:
    case TYPE_MAP:
        format_list(vector, row, zone, out);
        return;
    case TYPE_STRUCT:
        format_struct(vector, row, zone, out);
        return;
    }
}
