/* to_json: a STRUCT, MAP or ARRAY as text, as Spark writes it. Times have milliseconds, NaN and the
 * infinities are strings, keys of maps are text whatever their type. */
#include "processor/base/base64.h"
#include "processor/data/datetime.h"
#include "processor/data/decimal.h"
#include "processor/data/value_text.h"
#include "processor/exec/kernels/json_options.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

typedef struct Writer {
    Buffer *out;
    const TimeZone *zone;
    const JsonOptions *options;
    bool pretty;
    unsigned depth; /* objects around, for the indentation */
} Writer;

static void write_value(Writer *writer, const Vector *vector, uint32_t row);

/* ---- Scalars ---- */

/* The digits of Java's BigDecimal.toString: with an exponent when there would be more than six
 * zeros behind the point. */
static void write_decimal(Writer *writer, int128 value, int scale)
{
    AUTO_BUFFER Buffer digits = {0};
    decimal_format(value < 0 ? -value : value, 0, &digits);
    int exponent = (int)digits.size - 1 - scale;
    if (scale == 0 || exponent >= -6) {
        decimal_format(value, scale, writer->out);
        return;
    }
    buffer_append_cstr(writer->out, value < 0 ? "-" : "");
    buffer_append_byte(writer->out, digits.data[0]);
    if (digits.size > 1) {
        buffer_append_byte(writer->out, '.');
        buffer_append(writer->out, digits.data + 1, digits.size - 1);
    }
    buffer_printf(writer->out, "E%d", exponent);
}

/* +02:00 or Z */
static void put_offset(Buffer *out, int64_t offset_us)
{
    int64_t minutes = offset_us / 60000000;
    if (minutes == 0) {
        buffer_append_byte(out, 'Z');
        return;
    }
    int64_t size = minutes < 0 ? -minutes : minutes;
    buffer_printf(out, "%c%02d:%02d", minutes < 0 ? '-' : '+', (int)(size / 60), (int)(size % 60));
}

/* yyyy-MM-dd'T'HH:mm:ss.SSS and, for instants, the offset. */
void json_put_time(Buffer *out, int64_t us, const TimeZone *zone)
{
    int64_t offset = zone == NULL ? 0 : time_zone_offset_us(zone, us);
    AUTO_BUFFER Buffer text = {0};
    timestamp_format_iso(us + offset, false, &text);
    buffer_append(out, text.data, text.size - 3); /* of the microseconds the last digits */
    if (zone != NULL) {
        put_offset(out, offset);
    }
}

static void put_formatted(const Writer *writer, const Vector *vector, uint32_t row, Buffer *out)
{
    value_format(vector, row, writer->zone, out);
}

static void write_quoted(const Writer *writer, const Vector *vector, uint32_t row)
{
    AUTO_BUFFER Buffer text = {0};
    put_formatted(writer, vector, row, &text);
    json_put_text(writer->out, buffer_str(&text));
}

/* By the pattern the options give. */
static void write_pattern(Writer *writer, const DatePattern *pattern, int64_t us,
                          const TimeZone *zone)
{
    AUTO_BUFFER Buffer text = {0};
    date_pattern_format(pattern, us, zone, &text);
    json_put_text(writer->out, buffer_str(&text));
}

static void write_time(Writer *writer, const Vector *vector, uint32_t row)
{
    bool instant = vector->type->kind == TYPE_TIMESTAMP;
    int64_t us = VECTOR_VALUE(vector, int64_t, row);
    const DatePattern *pattern =
        writer->options->patterns[instant ? JSON_TIMESTAMP : JSON_TIMESTAMP_NTZ];
    if (pattern != NULL) {
        write_pattern(writer, pattern, us, instant ? writer->zone : time_zone_utc());
        return;
    }
    buffer_append_byte(writer->out, '"');
    json_put_time(writer->out, us, instant ? writer->zone : NULL);
    buffer_append_byte(writer->out, '"');
}

static void write_date(Writer *writer, const Vector *vector, uint32_t row)
{
    const DatePattern *pattern = writer->options->patterns[JSON_DATE];
    if (pattern == NULL) {
        write_quoted(writer, vector, row);
        return;
    }
    write_pattern(writer, pattern,
                  (int64_t)VECTOR_VALUE(vector, int32_t, row) * INT64_C(86400000000),
                  time_zone_utc());
}

static void write_binary(Writer *writer, Str bytes)
{
    buffer_append_byte(writer->out, '"');
    base64_encode(bytes, writer->out);
    buffer_append_byte(writer->out, '"');
}

/* A float is written with its own shortest digits. */
static void write_float(Writer *writer, const Vector *vector, uint32_t row)
{
    AUTO_BUFFER Buffer text = {0};
    put_formatted(writer, vector, row, &text);
    char last = text.data[text.size - 1];
    if (last == 'N' || last == 'y') { /* NaN, Infinity */
        json_put_text(writer->out, buffer_str(&text));
    } else {
        buffer_append_str(writer->out, buffer_str(&text));
    }
}

/* ---- Nested ---- */

static void new_line(Writer *writer)
{
    if (writer->pretty) {
        buffer_append_byte(writer->out, '\n');
        for (unsigned i = 0; i < writer->depth; i++) {
            buffer_append_cstr(writer->out, "  ");
        }
    }
}

static void open_object(Writer *writer)
{
    buffer_append_byte(writer->out, '{');
    writer->depth++;
}

static void close_object(Writer *writer, bool empty)
{
    writer->depth--;
    if (empty) {
        buffer_append_cstr(writer->out, writer->pretty ? " }" : "}");
        return;
    }
    new_line(writer);
    buffer_append_byte(writer->out, '}');
}

static void write_name(Writer *writer, Str name, bool first)
{
    buffer_append_cstr(writer->out, first ? "" : ",");
    new_line(writer);
    json_put_text(writer->out, name);
    buffer_append_cstr(writer->out, writer->pretty ? " : " : ":");
}

static bool is_null(const Vector *vector, uint32_t row)
{
    return !vector_is_valid(vector, row) || vector->type->kind == TYPE_NULL;
}

static void write_struct(Writer *writer, const Vector *vector, uint32_t row)
{
    bool first = true;
    open_object(writer);
    for (uint32_t i = 0; i < vector->child_count; i++) {
        if (writer->options->keep_null_fields || !is_null(vector->children[i], row)) {
            write_name(writer, vector->type->fields[i].name, first);
            write_value(writer, vector->children[i], row);
            first = false;
        }
    }
    close_object(writer, first);
}

/* What a key prints inside Spark: dates and times are the numbers they are stored as, a struct
 * lists its fields in brackets. */
static void put_key(const Writer *writer, const Vector *keys, uint32_t row, Buffer *out)
{
    const Type *type = keys->type;
    if (is_null(keys, row)) {
        buffer_append_cstr(out, "null");
    } else if (type_is_datetime(type) || type_is_interval(type)) {
        buffer_printf(out, "%lld", (long long)vector_int_value(keys, row));
    } else if (type->kind == TYPE_STRUCT) {
        buffer_append_byte(out, '[');
        for (uint32_t i = 0; i < keys->child_count; i++) {
            buffer_append_cstr(out, i == 0 ? "" : ",");
            put_key(writer, keys->children[i], row, out);
        }
        buffer_append_byte(out, ']');
    } else {
        put_formatted(writer, keys, row, out);
    }
}

static void write_map(Writer *writer, const Vector *vector, uint32_t row)
{
    uint32_t begin = vector->offsets[row];
    open_object(writer);
    for (uint32_t i = begin; i < vector->offsets[row + 1]; i++) {
        AUTO_BUFFER Buffer key = {0};
        put_key(writer, vector->children[0], i, &key);
        write_name(writer, buffer_str(&key), i == begin);
        write_value(writer, vector->children[1], i);
    }
    close_object(writer, begin == vector->offsets[row + 1]);
}

static void write_array(Writer *writer, const Vector *vector, uint32_t row)
{
    uint32_t begin = vector->offsets[row];
    buffer_append_cstr(writer->out, writer->pretty ? "[ " : "[");
    for (uint32_t i = begin; i < vector->offsets[row + 1]; i++) {
        buffer_append_cstr(writer->out, i == begin ? "" : writer->pretty ? ", " : ",");
        write_value(writer, vector->children[0], i);
    }
    bool empty = begin == vector->offsets[row + 1];
    buffer_append_cstr(writer->out, writer->pretty && !empty ? " ]" : "]");
}

static void write_value(Writer *writer, const Vector *vector, uint32_t row)
{
    if (is_null(vector, row)) {
        buffer_append_cstr(writer->out, "null");
        return;
    }
    switch (vector->type->kind) {
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        put_formatted(writer, vector, row, writer->out);
        return;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        write_float(writer, vector, row);
        return;
    case TYPE_DECIMAL:
        write_decimal(writer, VECTOR_VALUE(vector, int128, row), vector->type->scale);
        return;
    case TYPE_STRING:
        json_put_text(writer->out, VECTOR_VALUE(vector, Str, row));
        return;
    case TYPE_BINARY:
        write_binary(writer, VECTOR_VALUE(vector, Str, row));
        return;
    case TYPE_DATE:
        write_date(writer, vector, row);
        return;
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
        write_quoted(writer, vector, row);
        return;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        write_time(writer, vector, row);
        return;
    case TYPE_VARIANT: /* refused by the types */
        return;
    case TYPE_ARRAY:
        write_array(writer, vector, row);
        return;
    case TYPE_MAP:
        write_map(writer, vector, row);
        return;
    case TYPE_STRUCT:
        write_struct(writer, vector, row);
        return;
    }
}

/* ---- Rows ---- */

static void to_json(const KernelCall *call)
{
    const JsonOptionsState *state = call->state;
    AUTO_BUFFER Buffer out = {0};
    FOR_ROWS(call->rows, row, {
        if (is_null(call->arguments[0], row)) {
            vector_set_null(call->result, call->arena, row);
        } else {
            JsonOptions options = json_options_at(state, call, row);
            Writer writer = {.out = &out,
                             .zone = call->context->time_zone,
                             .options = &options,
                             .pretty = options.pretty};
            buffer_clear(&out);
            write_value(&writer, call->arguments[0], row);
            text_store(call, row, buffer_str(&out));
        }
    });
}

static KernelRun *choose_to_json(KernelSetup *setup)
{
    JsonOptionsState *state = arena_new_object(setup->arena, JsonOptionsState);
    json_options_prepare(setup, 1, false, state);
    setup->state = state;
    return to_json;
}

const Kernel kernel_to_json = {.choose = choose_to_json};
