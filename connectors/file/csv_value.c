/* Typed values of CSV fields. They are read as Spark's CSV source reads them: numbers without
 * blanks around, true and false in any case, dates and times as CAST takes them, decimals with or
 * without commas between the thousands, BINARY as the bytes that stand there. */
#include "connectors/file/csv_value.h"

#include "processor/data/value_text.h"

#include "processor/base/banned.h"

enum { SHORT_DIGITS = 18, DECIMAL_TEXT_MAX = 128 };

bool csv_has_type(const Type *type)
{
    switch (type->kind) {
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
    case TYPE_NULL:
        return false;
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
        return true;
    }
    return false;
}

/* The general way: as CAST. Blanks around a value are part of it, and no number has some. */
static bool append_as_cast(Vector *vector, Str text, const TimeZone *zone, Arena *arena)
{
    if (text.size == 0 || text.data[0] <= ' ' || text.data[text.size - 1] <= ' ') {
        return false;
    }
    uint32_t length = vector->length;
    Error *error = value_parse(text, zone, arena, vector);
    if (error != NULL) {
        error_free(error);
        vector_truncate(vector, length);
        return false;
    }
    return true;
}

static bool fits(TypeKind kind, int64_t value)
{
    return kind == TYPE_BIGINT || (kind == TYPE_INT && value == (int32_t)value) ||
           (kind == TYPE_SMALLINT && value == (int16_t)value) ||
           (kind == TYPE_TINYINT && value == (int8_t)value);
}

static bool append_integer(Vector *vector, Str text, const TimeZone *zone, Arena *arena)
{
    size_t sign = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
    if (text.size == sign || text.size - sign > SHORT_DIGITS) {
        return append_as_cast(vector, text, zone, arena);
    }
    int64_t value = 0;
    for (size_t i = sign; i < text.size; i++) {
        if (!char_is_digit(text.data[i])) {
            return false;
        }
        value = value * 10 + (text.data[i] - '0');
    }
    value = text.data[0] == '-' ? -value : value;
    if (!fits(vector->type->kind, value)) {
        return false;
    }
    vector_append_int(vector, arena, value);
    return true;
}

static bool append_decimal(Vector *vector, Str text, const TimeZone *zone, Arena *arena)
{
    char digits[DECIMAL_TEXT_MAX];
    if (str_find_byte(text, ',') == text.size || text.size > sizeof digits) {
        return append_as_cast(vector, text, zone, arena);
    }
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != ',') {
            digits[size++] = text.data[i];
        }
    }
    return append_as_cast(vector, (Str){digits, size}, zone, arena);
}

static bool append_boolean(Vector *vector, Str text, Arena *arena)
{
    bool yes = str_equal_ignore_case(text, STR("true"));
    if (!yes && !str_equal_ignore_case(text, STR("false"))) {
        return false;
    }
    vector_append_bool(vector, arena, yes);
    return true;
}

static bool append_double(Vector *vector, Str text, const TimeZone *zone, Arena *arena)
{
    if (str_equal(text, STR("Inf")) || str_equal(text, STR("-Inf"))) {
        vector_append_double(vector, arena,
                             text.data[0] == '-' ? -__builtin_inf() : __builtin_inf());
        return true;
    }
    return append_as_cast(vector, text, zone, arena);
}

bool csv_append_value(Vector *vector, Str text, const TimeZone *zone, Arena *arena)
{
    if (text.data == NULL) {
        vector_append_null(vector, arena);
        return true;
    }
    switch (vector->type->kind) {
    case TYPE_STRING:
    case TYPE_BINARY:
        vector_append_str(vector, arena, text);
        return true;
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return append_integer(vector, text, zone, arena);
    case TYPE_BOOLEAN:
        return append_boolean(vector, text, arena);
    case TYPE_DECIMAL:
        return append_decimal(vector, text, zone, arena);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return append_double(vector, text, zone, arena);
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
        return append_as_cast(vector, text, zone, arena);
    case TYPE_NULL:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
        return false;
    }
    return false;
}
