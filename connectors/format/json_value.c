/* Typed values but objects' members (json_object.c) and maps (json_map.c): two dispatches on the
 * type, one for values written as JSON text, one for the others, each a line a type. */
#include "connectors/format/json_value.h"

#include <stdarg.h>
#include <stdio.h>

#include "connectors/format/json_map.h"
#include "connectors/format/json_number.h"
#include "processor/base/base64.h"

#include "processor/base/banned.h"

/* ---- Failures ---- */

static void append_path(const ValueNode *node, Buffer *out)
{
    if (node->parent != NULL) {
        append_path(node->parent, out);
        buffer_append_byte(out, '.');
    }
    buffer_append_str(out, node->name);
}

Error *json_record_error(const JsonReader *reader, const ValueNode *node, const char *at,
                         const char *reason)
{
    AUTO_BUFFER Buffer place = {0};
    if (node != NULL) {
        buffer_append_cstr(&place, "column `");
        append_path(node, &place);
        buffer_append_cstr(&place, "`, ");
    }
    size_t position = (size_t)(at - reader->scan.begin) + 1;
    return error_new(ERROR_MALFORMED_RECORD, "%sbyte %zu: %s", buffer_cstr(&place), position,
                     reason);
}

ReadResult json_broken(JsonReader *reader, const ValueNode *node)
{
    reader->error_at = reader->scan.problem_at;
    reader->error = json_record_error(reader, node, reader->error_at, reader->scan.problem);
    return READ_BROKEN;
}

enum { REASON_BYTES = 400 };

ReadResult json_misfit(JsonReader *reader, const ValueNode *node, const char *at,
                       const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    reader->error_at = at;
    reader->error = json_record_error(reader, node, at, reason);
    return READ_MISFIT;
}

enum { SHOWN_BYTES = 40 };

/* The type's name, for messages. */
static const char *type_name(const ValueNode *node, Buffer *out)
{
    type_format(node->type, out);
    if (out->size > 100) {
        out->size = 100;
        buffer_append_cstr(out, "…");
    }
    return buffer_cstr(out);
}

/* A value as a message shows it: the first bytes, cut between characters. */
static const char *shown(Str text, Buffer *out)
{
    if (text.size > SHOWN_BYTES) {
        size_t size = SHOWN_BYTES;
        while (size > 0 && ((unsigned char)text.data[size] & 0xC0) == 0x80) {
            size--;
        }
        buffer_append(out, text.data, size);
        buffer_append_cstr(out, "…");
    } else {
        buffer_append_str(out, text);
    }
    return buffer_cstr(out);
}

static const char *kind_of_value(char first)
{
    switch (first) {
    case '"':
        return "a text";
    case '{':
        return "an object";
    case '[':
        return "an array";
    case 't':
    case 'f':
        return "a boolean";
    default:
        return "a number";
    }
}

COLD static ReadResult wrong_kind(JsonReader *reader, const ValueNode *node, const char *at)
{
    AUTO_BUFFER Buffer type = {0};
    bool number_as_text = *at == '"' && type_is_numeric(node->type);
    return json_misfit(
        reader, node, at, "%s cannot be read as %s%s", kind_of_value(*at), type_name(node, &type),
        number_as_text ? " (a source with `coerce: true` reads numbers from text, a query "
                         "can CAST a STRING)"
                       : "");
}

COLD static ReadResult wrong_text(JsonReader *reader, const ValueNode *node, const char *at,
                                  Str text, const char *wanted)
{
    AUTO_BUFFER Buffer type = {0};
    AUTO_BUFFER Buffer value = {0};
    return json_misfit(reader, node, at, "`%s` cannot be read as %s: %s", shown(text, &value),
                       type_name(node, &type), wanted);
}

/* ---- Numbers ---- */

/* Counts one more row of the vector; rows beyond the length are valid already (vector.c). */
static inline uint32_t add_row(Vector *vector, Arena *arena)
{
    if (UNLIKELY(vector->length == vector->capacity)) {
        vector_reserve(vector, arena, vector->length + 1);
    }
    return vector->length++;
}

/* The row is added first: that may move the data. */
#define APPEND(vector, arena, CType, value)                                                        \
    do {                                                                                           \
        uint32_t row_ = add_row((vector), (arena));                                                \
        VECTOR_DATA((vector), CType)[row_] = (value);                                              \
    } while (0)

COLD static ReadResult wrong_number(JsonReader *reader, const ValueNode *node, const char *at,
                                    Str text, DecimalParse parse)
{
    const char *reason = "it is no number";
    if (parse == DECIMAL_OUT_OF_RANGE) {
        reason = "it is out of range";
    } else if (parse == DECIMAL_INEXACT) {
        reason = node->type->kind == TYPE_DECIMAL ? "it has more digits than the scale"
                                                  : "it is not a whole number";
    } else if (parse == DECIMAL_OK || number_from_word(text, &(double){0})) {
        reason = "the type has no such value";
    }
    return wrong_text(reader, node, at, text, reason);
}

typedef struct IntegerRange {
    int64_t min;
    int64_t max;
} IntegerRange;

static inline IntegerRange integer_range(TypeKind kind)
{
    int bits = kind == TYPE_TINYINT ? 8 : kind == TYPE_SMALLINT ? 16 : kind == TYPE_INT ? 32 : 64;
    int64_t max = (int64_t)(UINT64_MAX >> (65 - bits));
    return (IntegerRange){-max - 1, max};
}

static ReadResult append_integer(JsonReader *reader, const ValueNode *node, const char *at,
                                 Str text, Vector *vector)
{
    IntegerRange range = integer_range(node->type->kind);
    int64_t value = 0;
    DecimalParse parse = number_to_integer(text, range.min, range.max, &value);
    if (parse != DECIMAL_OK) {
        return wrong_number(reader, node, at, text, parse);
    }
    vector_append_int(vector, reader->arena, value);
    return READ_OK;
}

static ReadResult append_decimal(JsonReader *reader, const ValueNode *node, const char *at,
                                 Str text, Vector *vector)
{
    int128 value = 0;
    DecimalParse parse = number_to_decimal(text, node->type->precision, node->type->scale, &value);
    if (parse != DECIMAL_OK) {
        return wrong_number(reader, node, at, text, parse);
    }
    vector_append_int128(vector, reader->arena, value);
    return READ_OK;
}

static ReadResult append_double(JsonReader *reader, const ValueNode *node, const char *at, Str text,
                                Vector *vector)
{
    double value = 0;
    float narrow = 0;
    bool fits = node->type->kind == TYPE_FLOAT ? number_to_float(text, &narrow)
                                               : number_to_double(text, &value);
    if (!fits) {
        return wrong_number(reader, node, at, text, DECIMAL_OUT_OF_RANGE);
    }
    vector_append_double(vector, reader->arena,
                         node->type->kind == TYPE_FLOAT ? (double)narrow : value);
    return READ_OK;
}

static ReadResult append_number(JsonReader *reader, const ValueNode *node, const char *at, Str text,
                                Vector *vector)
{
    if (node->type->kind == TYPE_DECIMAL) {
        return append_decimal(reader, node, at, text, vector);
    }
    if (type_is_integral(node->type)) {
        return append_integer(reader, node, at, text, vector);
    }
    return append_double(reader, node, at, text, vector);
}

static bool begins_number(char c)
{
    return char_is_digit(c) || c == '-' || c == 'N' || c == 'I';
}

static ReadResult read_number(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    const char *at = reader->scan.at;
    Str text = STR_NULL;
    if (!begins_number(*at)) {
        return wrong_kind(reader, node, at);
    }
    if (!json_scan_number(&reader->scan, &text)) {
        return json_broken(reader, node);
    }
    return append_number(reader, node, at, text, vector);
}

/* A short number of an integral column, without a detour over its text. */
static inline bool store_integer(Vector *vector, Arena *arena, TypeKind kind, int64_t value)
{
    if (kind == TYPE_BIGINT) {
        APPEND(vector, arena, int64_t, value);
    } else if (kind == TYPE_INT && value == (int32_t)value) {
        APPEND(vector, arena, int32_t, (int32_t)value);
    } else if (kind == TYPE_SMALLINT && value == (int16_t)value) {
        APPEND(vector, arena, int16_t, (int16_t)value);
    } else if (kind == TYPE_TINYINT && value == (int8_t)value) {
        APPEND(vector, arena, int8_t, (int8_t)value);
    } else {
        return false;
    }
    return true;
}

static ReadResult read_integer(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    const char *first = reader->scan.at;
    int64_t value = 0;
    int fraction = 0;
    if (LIKELY(number_scan_short(&reader->scan.at, reader->scan.end, &value, &fraction)) &&
        LIKELY(fraction == 0) &&
        LIKELY(store_integer(vector, reader->arena, node->type->kind, value))) {
        return READ_OK;
    }
    reader->scan.at = first;
    return read_number(reader, node, vector);
}

static ReadResult read_decimal(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    const char *first = reader->scan.at;
    int64_t digits = 0;
    int fraction = 0;
    int scale = node->type->scale;
    if (LIKELY(number_scan_short(&reader->scan.at, reader->scan.end, &digits, &fraction)) &&
        LIKELY(fraction <= scale && scale - fraction <= 18)) {
        int128 value = (int128)digits * decimal_power_of_ten(scale - fraction);
        if (LIKELY(decimal_fits(value, node->type->precision))) {
            APPEND(vector, reader->arena, int128, value);
            return READ_OK;
        }
    }
    reader->scan.at = first;
    return read_number(reader, node, vector);
}

/* ---- Texts ---- */

ReadResult json_read_text(JsonReader *reader, const ValueNode *node, Str *ret_text)
{
    Str raw = STR_NULL;
    bool escaped = false;
    if (UNLIKELY(!json_scan_string(&reader->scan, &raw, &escaped))) {
        return json_broken(reader, node);
    }
    *ret_text = raw;
    if (UNLIKELY(escaped)) {
        char *text = arena_alloc_bytes(reader->arena, raw.size);
        size_t size = 0;
        if (!json_unescape(&reader->scan, raw, text, &size)) {
            return json_broken(reader, node);
        }
        *ret_text = (Str){text, size};
    }
    return READ_OK;
}

static ReadResult append_base64(JsonReader *reader, const ValueNode *node, const char *at, Str text,
                                Vector *vector)
{
    Str bytes = STR_NULL;
    if (!base64_decode(text, reader->arena, &bytes)) {
        return wrong_text(reader, node, at, text, "it is not base64 with padding");
    }
    vector_append_str(vector, reader->arena, bytes);
    return READ_OK;
}

static ReadResult append_date(JsonReader *reader, const ValueNode *node, const char *at, Str text,
                              Vector *vector)
{
    int32_t days = 0;
    if (!date_parse_iso(text, &days)) {
        return wrong_text(reader, node, at, text, "a date is written YYYY-MM-DD");
    }
    vector_append_int(vector, reader->arena, days);
    return READ_OK;
}

static ReadResult append_timestamp(JsonReader *reader, const ValueNode *node, const char *at,
                                   Str text, Vector *vector)
{
    int64_t us = 0;
    int32_t days = 0;
    bool instant = node->type->kind == TYPE_TIMESTAMP;
    bool fits = instant ? timestamp_parse_iso(text, reader->time_zone, &us)
                        : timestamp_ntz_parse_iso(text, &us);
    if (!fits && reader->dates && date_parse_iso(text, &days)) {
        us = date_to_timestamp_us(days, instant ? reader->time_zone : NULL);
        fits = true;
    }
    if (!fits) {
        return wrong_text(reader, node, at, text,
                          node->type->kind == TYPE_TIMESTAMP
                              ? "a timestamp is written YYYY-MM-DDThh:mm:ss[.fraction][zone]"
                              : "it is written YYYY-MM-DDThh:mm:ss[.fraction], without a zone");
    }
    vector_append_int(vector, reader->arena, us);
    return READ_OK;
}

/* A text for a numeric column: NaN and the infinities for floating point, numbers if coerced. */
static ReadResult append_number_text(JsonReader *reader, const ValueNode *node, const char *at,
                                     Str text, Vector *vector)
{
    double word = 0;
    bool floating = node->type->kind == TYPE_FLOAT || node->type->kind == TYPE_DOUBLE;
    if (floating && number_from_word(text, &word)) {
        vector_append_double(vector, reader->arena, word);
        return READ_OK;
    }
    if (!reader->coerce) {
        return wrong_kind(reader, node, at);
    }
    Str trimmed = str_trim(text);
    if (!number_text_is_loose(trimmed)) {
        return wrong_text(reader, node, at, text, "it is no number");
    }
    return append_number(reader, node, at, trimmed, vector);
}

ReadResult json_read_text_value(JsonReader *reader, const ValueNode *node, Str text, const char *at,
                                Vector *vector)
{
    switch (node->type->kind) {
    case TYPE_STRING:
        APPEND(vector, reader->arena, Str, text);
        return READ_OK;
    case TYPE_BINARY:
        return append_base64(reader, node, at, text, vector);
    case TYPE_DATE:
        return append_date(reader, node, at, text, vector);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return append_timestamp(reader, node, at, text, vector);
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
        return append_number_text(reader, node, at, text, vector);
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        break;
    }
    return wrong_kind(reader, node, at);
}

/* ---- Everything else ---- */

static ReadResult read_boolean(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    char c = *reader->scan.at;
    if (c != 't' && c != 'f') {
        return wrong_kind(reader, node, reader->scan.at);
    }
    if (!json_scan_word(&reader->scan, c == 't' ? STR("true") : STR("false"))) {
        return json_broken(reader, node);
    }
    vector_append_bool(vector, reader->arena, c == 't');
    return READ_OK;
}

/* A STRING column takes numbers, booleans, arrays and objects as they are written. */
static ReadResult read_as_written(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    const char *first = reader->scan.at;
    if (!json_skip_value(&reader->scan, reader->depth)) {
        return json_broken(reader, node);
    }
    vector_append_str(vector, reader->arena, (Str){first, (size_t)(reader->scan.at - first)});
    return READ_OK;
}

static ReadResult read_array(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    if (*reader->scan.at != '[') {
        return wrong_kind(reader, node, reader->scan.at);
    }
    bool more = false;
    ReadResult result = json_open_array(reader, node, &more);
    while (result == READ_OK && more) {
        result = json_read_value(reader, &node->children[0], vector->children[0]);
        if (result == READ_OK) {
            result = json_next_element(reader, node, &more);
        }
    }
    if (result == READ_OK) {
        vector_finish_list(vector, reader->arena);
    }
    return result;
}

static ReadResult read_struct(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    if (*reader->scan.at != '{') {
        return wrong_kind(reader, node, reader->scan.at);
    }
    ReadResult result =
        json_read_object(reader, node->object, node, vector->children, vector->length);
    if (result == READ_OK) {
        vector_finish_struct(vector, reader->arena);
    }
    return result;
}

static ReadResult read_other(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    switch (node->type->kind) {
    case TYPE_BOOLEAN:
        return read_boolean(reader, node, vector);
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return read_integer(reader, node, vector);
    case TYPE_DECIMAL:
        return read_decimal(reader, node, vector);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return read_number(reader, node, vector);
    case TYPE_STRING:
        return read_as_written(reader, node, vector);
    case TYPE_ARRAY:
        return read_array(reader, node, vector);
    case TYPE_MAP:
        return json_read_map(reader, node, vector);
    case TYPE_STRUCT:
        return read_struct(reader, node, vector);
    case TYPE_NULL:
    case TYPE_BINARY:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        break;
    }
    return wrong_kind(reader, node, reader->scan.at);
}

static bool begins_value(char c)
{
    return c == '{' || c == '[' || c == 't' || c == 'f' || begins_number(c);
}

ReadResult json_read_value(JsonReader *reader, const ValueNode *node, Vector *vector)
{
    const char *at = reader->scan.at;
    char first = json_peek(&reader->scan);
    if (first == '"') {
        Str text = STR_NULL;
        if (UNLIKELY(json_read_text(reader, node, &text) != READ_OK)) {
            return READ_BROKEN;
        }
        return json_read_text_value(reader, node, text, at, vector);
    }
    if (first == 'n') {
        if (!json_scan_word(&reader->scan, STR("null"))) {
            return json_broken(reader, node);
        }
        vector_append_null(vector, reader->arena);
        return READ_OK;
    }
    if (UNLIKELY(!begins_value(first))) {
        json_problem(&reader->scan, at,
                     at == reader->scan.end ? "the text ends where a value is expected"
                                            : "a value is expected");
        return json_broken(reader, node);
    }
    return read_other(reader, node, vector);
}

ReadResult json_open_array(JsonReader *reader, const ValueNode *node, bool *ret_more)
{
    JsonScan *scan = &reader->scan;
    if (reader->depth >= JSON_DEPTH_MAX) {
        json_problem(scan, scan->at, "arrays and objects are nested too deeply");
        return json_broken(reader, node);
    }
    reader->depth++;
    scan->at++;
    json_skip_space(scan);
    *ret_more = json_peek(scan) != ']';
    if (!*ret_more) {
        scan->at++;
        reader->depth--;
    }
    return READ_OK;
}

ReadResult json_next_element(JsonReader *reader, const ValueNode *node, bool *ret_more)
{
    JsonScan *scan = &reader->scan;
    json_skip_space(scan);
    char c = json_peek(scan);
    if (c != ',' && c != ']') {
        json_problem(scan, scan->at, "a comma or a closing bracket is expected");
        return json_broken(reader, node);
    }
    scan->at++;
    *ret_more = c == ',';
    if (*ret_more) {
        json_skip_space(scan);
    } else {
        reader->depth--;
    }
    return READ_OK;
}
