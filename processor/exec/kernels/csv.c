/* from_csv, to_csv, schema_of_csv: one line of CSV, as Spark reads and writes it. A value in quotes
 * ends at a quote before a separator, \" inside is a quote; what is quoted otherwise stays as it is
 * written. */
#include "processor/data/datetime.h"
#include "processor/data/decimal.h"
#include "processor/data/number_text.h"
#include "processor/data/value_text.h"
#include "processor/exec/kernels/json_options.h"
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

#define DAY_US INT64_C(86400000000)

/* ---- Values of a line ---- */

typedef struct Line {
    Str rest;
    bool more; /* another value follows */
    const JsonOptions *options;
    Arena *arena;
} Line;

static bool at_separator(const Line *line, size_t at)
{
    Str rest = {line->rest.data + at, line->rest.size - at};
    return rest.size == 0 || str_starts_with(rest, line->options->separator);
}

/* Passes `size` bytes and the separator behind them. */
static Str take(Line *line, size_t size)
{
    Str value = {line->rest.data, size};
    line->more = size < line->rest.size;
    size_t passed = size + (line->more ? line->options->separator.size : 0);
    line->rest = (Str){line->rest.data + passed, line->rest.size - passed};
    return value;
}

/* The offset of the quote that ends the value; SIZE_MAX when none stands before a separator. */
static size_t closing_quote(const Line *line)
{
    for (size_t at = 1; at < line->rest.size; at++) {
        char c = line->rest.data[at];
        if (c == '\\' && at + 1 < line->rest.size) {
            at++;
        } else if (c == '"') {
            return at_separator(line, at + 1) ? at : SIZE_MAX;
        }
    }
    return SIZE_MAX;
}

static Str take_quoted(Line *line, size_t end)
{
    AUTO_BUFFER Buffer text = {0};
    Str inside = {line->rest.data + 1, end - 1};
    for (size_t i = 0; i < inside.size; i++) {
        bool escape = inside.data[i] == '\\' && i + 1 < inside.size &&
                      (inside.data[i + 1] == '"' || inside.data[i + 1] == '\\');
        i += escape;
        buffer_append_byte(&text, inside.data[i]);
    }
    (void)take(line, end + 1);
    return arena_copy_str(line->arena, buffer_str(&text));
}

static Str trimmed(const JsonOptions *options, Str text)
{
    while (options->trim_leading && text.size > 0 && (unsigned char)text.data[0] <= ' ') {
        text = (Str){text.data + 1, text.size - 1};
    }
    while (options->trim_trailing && text.size > 0 &&
           (unsigned char)text.data[text.size - 1] <= ' ') {
        text.size--;
    }
    return text;
}

/* The next value; STR_NULL when it is the NULL of the options, or empty. */
static Str next_value(Line *line)
{
    size_t end = line->rest.size > 0 && line->rest.data[0] == '"' ? closing_quote(line) : SIZE_MAX;
    Str value = STR_NULL;
    if (end != SIZE_MAX) {
        value = take_quoted(line, end);
    } else {
        size_t size = 0;
        while (size < line->rest.size && !at_separator(line, size)) {
            size++;
        }
        value = trimmed(line->options, take(line, size));
    }
    return value.size == 0 || str_equal(value, line->options->null_value) ? STR_NULL : value;
}

/* ---- Typed values ---- */

typedef struct CsvReader {
    const KernelCall *call;
    const JsonOptions *options;
} CsvReader;

static bool append_whole(const CsvReader *reader, Str text, Vector *out)
{
    static const int64_t limits[] = {[TYPE_TINYINT] = INT8_MAX,
                                     [TYPE_SMALLINT] = INT16_MAX,
                                     [TYPE_INT] = INT32_MAX,
                                     [TYPE_BIGINT] = INT64_MAX};
    int64_t value = 0;
    int64_t limit = limits[out->type->kind];
    if (!int64_parse(text, &value) || value > limit || value < -limit - 1) {
        return false;
    }
    vector_append_int(out, reader->call->arena, value);
    return true;
}

static bool append_float(const CsvReader *reader, Str text, Vector *out)
{
    double value = 0;
    float single = 0;
    if (out->type->kind == TYPE_FLOAT) {
        if (!float_parse_cast(text, &single)) {
            return false;
        }
        value = (double)single;
    } else if (!double_parse_cast(text, &value)) {
        return false;
    }
    vector_append_double(out, reader->call->arena, value);
    return true;
}

static bool append_boolean(const CsvReader *reader, Str text, Vector *out)
{
    bool value = str_equal_ignore_case(text, STR("true"));
    if (!value && !str_equal_ignore_case(text, STR("false"))) {
        return false;
    }
    vector_append_bool(out, reader->call->arena, value);
    return true;
}

static bool append_time(const CsvReader *reader, Str text, Vector *out)
{
    bool instant = out->type->kind == TYPE_TIMESTAMP;
    const TimeZone *zone = instant ? reader->call->context->time_zone : time_zone_utc();
    const DatePattern *pattern =
        reader->options->patterns[instant ? JSON_TIMESTAMP : JSON_TIMESTAMP_NTZ];
    int64_t us = 0;
    bool good = pattern != NULL ? date_pattern_parse(pattern, text, zone, !instant, &us)
                : instant       ? timestamp_parse(text, zone, &us)
                                : timestamp_ntz_parse(text, false, &us);
    if (good) {
        vector_append_int(out, reader->call->arena, us);
    }
    return good;
}

static bool append_date(const CsvReader *reader, Str text, Vector *out)
{
    const DatePattern *pattern = reader->options->patterns[JSON_DATE];
    int32_t days = 0;
    int64_t us = 0;
    if (pattern == NULL ? !date_parse(text, &days)
                        : !date_pattern_parse(pattern, text, time_zone_utc(), true, &us)) {
        return false;
    }
    days = pattern == NULL ? days : (int32_t)(us / DAY_US - (us % DAY_US < 0));
    vector_append_int(out, reader->call->arena, days);
    return true;
}

static bool append_decimal(const CsvReader *reader, Str text, Vector *out)
{
    int128 value = 0;
    if (decimal_parse(text, out->type->precision, out->type->scale, true, &value) != DECIMAL_OK) {
        return false;
    }
    vector_append_int128(out, reader->call->arena, value);
    return true;
}

/* False: the text is not one of the column's type; nothing was appended. */
static bool append_typed(const CsvReader *reader, Str text, Vector *out)
{
    switch (out->type->kind) {
    case TYPE_BOOLEAN:
        return append_boolean(reader, text, out);
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return append_whole(reader, text, out);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return append_float(reader, text, out);
    case TYPE_DECIMAL:
        return append_decimal(reader, text, out);
    case TYPE_STRING:
    case TYPE_BINARY:
        vector_append_str(out, reader->call->arena, text);
        return true;
    case TYPE_DATE:
        return append_date(reader, text, out);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return append_time(reader, text, out);
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_NULL:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT: /* refused by the types */
        break;
    }
    return false;
}

/* ---- from_csv ---- */

static bool append_fields(const CsvReader *reader, Str text, uint32_t corrupt, Vector *out)
{
    Line line = {.rest = text,
                 .more = text.size > 0,
                 .options = reader->options,
                 .arena = reader->call->arena};
    bool good = text.size > 0;
    for (uint32_t i = 0; i < out->child_count; i++) {
        Vector *column = out->children[i];
        bool given = line.more && i != corrupt;
        Str value = given ? next_value(&line) : STR_NULL;
        bool fits = value.data != NULL && append_typed(reader, value, column);
        if (!fits) {
            vector_append_null(column, reader->call->arena);
        }
        good = good && (i == corrupt || (given && (fits || value.data == NULL)));
    }
    vector_finish_struct(out, reader->call->arena);
    return good && !line.more;
}

static uint32_t corrupt_field(const Type *type, Str name)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (str_equal(type->fields[i].name, name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void read_line(const CsvReader *reader, uint32_t row, Str text, Vector *out)
{
    uint32_t corrupt = corrupt_field(out->type, reader->options->corrupt_column);
    if (append_fields(reader, text, corrupt, out)) {
        return;
    }
    if (reader->options->fail_fast) {
        kernel_fail(
            reader->call, row,
            error_new(ERROR_MALFORMED_RECORD_IN_PARSING,
                      "Malformed records are detected in record parsing: %.*s.\nParse Mode: "
                      "FAILFAST. To process malformed records as null result, try setting "
                      "the option 'mode' as 'PERMISSIVE'.",
                      STR_ARG(text)));
    } else if (corrupt != UINT32_MAX) {
        vector_truncate(out->children[corrupt], out->length - 1);
        vector_append_str(out->children[corrupt], reader->call->arena, text);
    }
}

static void from_csv(const KernelCall *call)
{
    const JsonOptionsState *state = call->state;
    Vector *out = vector_new(call->arena, call->result->type, call->row_count);
    for (uint32_t k = 0; k <= call->rows.count; k++) {
        uint32_t row = k < call->rows.count ? rows_at(call->rows, k) : call->row_count;
        while (out->length < row) {
            vector_append_null(out, call->arena);
        }
        if (k == call->rows.count) {
            break;
        }
        if (vector_is_valid(call->arguments[0], row)) {
            JsonOptions options = json_options_at(state, call, row);
            CsvReader reader = {.call = call, .options = &options};
            read_line(&reader, row, STR_ARGUMENT(call, 0, row), out);
        } else {
            vector_append_null(out, call->arena);
        }
    }
    *call->result = *out;
}

static KernelRun *choose_from_csv(KernelSetup *setup)
{
    JsonOptionsState *state = arena_new_object(setup->arena, JsonOptionsState);
    json_options_prepare(setup, 2, true, state);
    setup->state = state;
    return from_csv;
}

/* ---- to_csv ---- */

static bool needs_quotes(const JsonOptions *options, Str text)
{
    bool special = options->quote_all || text.size == 0;
    for (size_t i = 0; i < text.size && !special; i++) {
        char c = text.data[i];
        special = c == '"' || c == '\n' || c == '\r' ||
                  str_starts_with((Str){text.data + i, text.size - i}, options->separator);
    }
    return special;
}

static void put_field(const JsonOptions *options, Str text, Buffer *out)
{
    if (!needs_quotes(options, text)) {
        buffer_append_str(out, text);
        return;
    }
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        buffer_append_cstr(out, text.data[i] == '"' ? "\\" : "");
        buffer_append_byte(out, text.data[i]);
    }
    buffer_append_byte(out, '"');
}

/* [61 62 63] */
static void format_bytes(Str bytes, Buffer *out)
{
    buffer_append_byte(out, '[');
    for (size_t i = 0; i < bytes.size; i++) {
        buffer_printf(out, "%s%02X", i == 0 ? "" : " ", (unsigned char)bytes.data[i]);
    }
    buffer_append_byte(out, ']');
}

/* The text of a value that is there. */
static void format_field(const KernelCall *call, const JsonOptions *options, const Vector *vector,
                         uint32_t row, Buffer *out)
{
    TypeKind kind = vector->type->kind;
    const TimeZone *zone = kind == TYPE_TIMESTAMP ? call->context->time_zone : time_zone_utc();
    const DatePattern *pattern = kind == TYPE_DATE        ? options->patterns[JSON_DATE]
                                 : kind == TYPE_TIMESTAMP ? options->patterns[JSON_TIMESTAMP]
                                 : kind == TYPE_TIMESTAMP_NTZ
                                     ? options->patterns[JSON_TIMESTAMP_NTZ]
                                     : NULL;
    if (pattern != NULL) {
        int64_t value = vector_int_value(vector, row);
        date_pattern_format(pattern, kind == TYPE_DATE ? value * DAY_US : value, zone, out);
    } else if (kind == TYPE_TIMESTAMP || kind == TYPE_TIMESTAMP_NTZ) {
        json_put_time(out, vector_int_value(vector, row), kind == TYPE_TIMESTAMP ? zone : NULL);
    } else if (kind == TYPE_BINARY) {
        format_bytes(VECTOR_VALUE(vector, Str, row), out);
    } else {
        value_format(vector, row, call->context->time_zone, out);
    }
}

static void write_line(const KernelCall *call, const JsonOptions *options, uint32_t row,
                       Buffer *out)
{
    const Vector *record = call->arguments[0];
    for (uint32_t i = 0; i < record->child_count; i++) {
        const Vector *field = record->children[i];
        buffer_append_str(out, i == 0 ? STR("") : options->separator);
        if (!vector_is_valid(field, row) || field->type->kind == TYPE_NULL) {
            buffer_append_str(out, options->null_value);
            continue;
        }
        AUTO_BUFFER Buffer text = {0};
        format_field(call, options, field, row, &text);
        put_field(options, str_trim(buffer_str(&text)), out);
    }
}

static void to_csv(const KernelCall *call)
{
    const JsonOptionsState *state = call->state;
    AUTO_BUFFER Buffer out = {0};
    FOR_ROWS(call->rows, row, {
        if (!vector_is_valid(call->arguments[0], row)) {
            vector_set_null(call->result, call->arena, row);
        } else {
            JsonOptions options = json_options_at(state, call, row);
            buffer_clear(&out);
            write_line(call, &options, row, &out);
            text_store(call, row, buffer_str(&out));
        }
    });
}

static KernelRun *choose_to_csv(KernelSetup *setup)
{
    JsonOptionsState *state = arena_new_object(setup->arena, JsonOptionsState);
    json_options_prepare(setup, 1, false, state);
    setup->state = state;
    return to_csv;
}

/* ---- schema_of_csv ---- */

/* The first type, of those Spark tries, that the text is one of. */
static const Type *type_of_text(const KernelCall *call, Str text)
{
    int64_t whole = 0;
    double number = 0;
    int32_t days = 0;
    int64_t us = 0;
    if (text.data == NULL) {
        return &type_string;
    }
    if (int64_parse(text, &whole)) {
        return whole == (int32_t)whole ? &type_int : &type_bigint;
    }
    if (double_parse_cast(text, &number)) {
        return &type_double;
    }
    if (text.size <= sizeof "2024-01-02" - 1 && text.size >= sizeof "2024-1-2" - 1 &&
        date_parse(text, &days)) {
        return &type_date;
    }
    if (text.size > sizeof "2024-01-02" - 1 &&
        timestamp_parse(text, call->context->time_zone, &us)) {
        return &type_timestamp;
    }
    bool truth =
        str_equal_ignore_case(text, STR("true")) || str_equal_ignore_case(text, STR("false"));
    return truth ? &type_boolean : &type_string;
}

static void schema_of_csv(const KernelCall *call)
{
    const JsonOptionsState *state = call->state;
    FOR_VALID_ROWS(call, row)
    {
        JsonOptions options = json_options_at(state, call, row);
        Str text = STR_ARGUMENT(call, 0, row);
        Line line = {
            .rest = text, .more = text.size > 0, .options = &options, .arena = call->arena};
        AUTO_BUFFER Buffer out = {0};
        buffer_append_cstr(&out, "STRUCT<");
        for (size_t i = 0; line.more; i++) {
            buffer_printf(&out, "%s_c%zu: ", i == 0 ? "" : ", ", i);
            type_format(type_of_text(call, next_value(&line)), &out);
        }
        buffer_append_byte(&out, '>');
        text_store(call, row, buffer_str(&out));
    }
}

static KernelRun *choose_schema_of_csv(KernelSetup *setup)
{
    JsonOptionsState *state = arena_new_object(setup->arena, JsonOptionsState);
    json_options_prepare(setup, 1, true, state);
    setup->state = state;
    return schema_of_csv;
}

const Kernel kernel_from_csv = {.choose = choose_from_csv};
const Kernel kernel_to_csv = {.choose = choose_to_csv};
const Kernel kernel_schema_of_csv = {.choose = choose_schema_of_csv};
