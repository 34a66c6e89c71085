/* from_json: text to a STRUCT, ARRAY or MAP. A value that is not one of its field's type makes the
 * field NULL and the record a bad one; text that is no JSON makes the whole record NULL. A bad
 * record fails its row (FAILFAST) or puts its text into the column for such records.
 *
 * Values are appended to the result as they are read; what must not stay is cut off again. */
#include <string.h>

#include "processor/base/base64.h"
#include "processor/data/datetime.h"
#include "processor/data/decimal.h"
#include "processor/data/number_text.h"
#include "processor/data/value_text.h"
#include "processor/exec/kernels/json_options.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

#define DAY_US INT64_C(86400000000)

typedef enum Reading {
    READ_OK,
    READ_MISFIT, /* not of the type: nothing was appended */
    READ_BROKEN, /* no JSON */
} Reading;

typedef struct Reader {
    JsonTokens tokens;
    const KernelCall *call;
    const JsonOptions *options;
    bool misfit; /* a field became NULL */
} Reader;

typedef struct ReadState {
    JsonOptionsState options;
} ReadState;

static Reading read_value(Reader *reader, const Type *type, Vector *out);

/* ---- Scalars ---- */

static Reading read_integer(const Reader *reader, const Type *type, Vector *out)
{
    static const int64_t limits[] = {[TYPE_TINYINT] = INT8_MAX,
                                     [TYPE_SMALLINT] = INT16_MAX,
                                     [TYPE_INT] = INT32_MAX,
                                     [TYPE_BIGINT] = INT64_MAX};
    int64_t value = 0;
    if (reader->tokens.token != JSON_INTEGER || !int64_parse(reader->tokens.text, &value) ||
        value > limits[type->kind] || value < -limits[type->kind] - 1) {
        return READ_MISFIT;
    }
    vector_append_int(out, reader->call->arena, value);
    return READ_OK;
}

/* The words a string may hold for a FLOAT or DOUBLE. */
static bool is_number_word(Str text)
{
    static const char *const words[] = {"NaN",      "+INF",      "-INF",
                                        "Infinity", "+Infinity", "-Infinity"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (str_equal(text, str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

static Reading read_float(const Reader *reader, const Type *type, Vector *out)
{
    const JsonTokens *tokens = &reader->tokens;
    bool number = tokens->token == JSON_INTEGER || tokens->token == JSON_FLOAT;
    if (!number && (tokens->token != JSON_STRING || !is_number_word(tokens->text))) {
        return READ_MISFIT;
    }
    double value = 0;
    float single = 0;
    if (type->kind == TYPE_FLOAT && float_parse_cast(tokens->text, &single)) {
        value = (double)single;
    } else if (type->kind == TYPE_FLOAT || !double_parse_cast(tokens->text, &value)) {
        return READ_MISFIT;
    }
    vector_append_double(out, reader->call->arena, value);
    return READ_OK;
}

static Reading read_decimal(const Reader *reader, const Type *type, Vector *out)
{
    const JsonTokens *tokens = &reader->tokens;
    int128 value = 0;
    bool text = tokens->token == JSON_INTEGER || tokens->token == JSON_FLOAT ||
                tokens->token == JSON_STRING;
    if (!text ||
        decimal_parse(tokens->text, type->precision, type->scale, true, &value) != DECIMAL_OK) {
        return READ_MISFIT;
    }
    vector_append_int128(out, reader->call->arena, value);
    return READ_OK;
}

static Reading read_boolean(const Reader *reader, Vector *out)
{
    JsonToken token = reader->tokens.token;
    if (token != JSON_TRUE && token != JSON_FALSE) {
        return READ_MISFIT;
    }
    vector_append_bool(out, reader->call->arena, token == JSON_TRUE);
    return READ_OK;
}

/* Strings as they are, anything else as the text it is. */
static Reading read_string(Reader *reader, Vector *out)
{
    JsonTokens *tokens = &reader->tokens;
    Str text = tokens->text;
    if (tokens->token != JSON_STRING) {
        AUTO_BUFFER Buffer copy = {0};
        if (!json_copy(tokens, &copy)) {
            return READ_BROKEN;
        }
        text = arena_copy_str(reader->call->arena, buffer_str(&copy));
    }
    vector_append_str(out, reader->call->arena, text);
    return READ_OK;
}

static Reading read_binary(const Reader *reader, Vector *out)
{
    Str bytes = STR_NULL;
    if (reader->tokens.token != JSON_STRING ||
        !base64_decode(reader->tokens.text, reader->call->arena, &bytes)) {
        return READ_MISFIT;
    }
    vector_append_str(out, reader->call->arena, bytes);
    return READ_OK;
}

/* A time by the pattern the options give; days since 1970 are of DATEs. */
static bool read_pattern(const Reader *reader, int pattern, bool local, int64_t *ret_us)
{
    return date_pattern_parse(reader->options->patterns[pattern], reader->tokens.text,
                              local ? time_zone_utc() : reader->call->context->time_zone, local,
                              ret_us);
}

static bool has_pattern(const Reader *reader, int pattern)
{
    return reader->options->patterns[pattern] != NULL;
}

static Reading read_date(const Reader *reader, Vector *out)
{
    int32_t days = 0;
    int64_t us = 0;
    bool good = reader->tokens.token == JSON_STRING;
    if (good && has_pattern(reader, JSON_DATE)) {
        good = read_pattern(reader, JSON_DATE, true, &us);
        days = (int32_t)(us / DAY_US - (us % DAY_US < 0));
    } else if (good) {
        good = date_parse(reader->tokens.text, &days);
    }
    if (good) {
        vector_append_int(out, reader->call->arena, days);
    }
    return good ? READ_OK : READ_MISFIT;
}

static bool parse_time(const Reader *reader, bool instant, int64_t *ret_us)
{
    Str text = reader->tokens.text;
    int pattern = instant ? JSON_TIMESTAMP : JSON_TIMESTAMP_NTZ;
    if (has_pattern(reader, pattern)) {
        return read_pattern(reader, pattern, !instant, ret_us);
    }
    return instant ? timestamp_parse(text, reader->call->context->time_zone, ret_us)
                   : timestamp_ntz_parse(text, false, ret_us);
}

/* Whole numbers are seconds since 1970. */
static Reading read_timestamp(const Reader *reader, const Type *type, Vector *out)
{
    const JsonTokens *tokens = &reader->tokens;
    int64_t us = 0;
    bool instant = type->kind == TYPE_TIMESTAMP;
    bool good = false;
    if (tokens->token == JSON_STRING) {
        good = parse_time(reader, instant, &us);
    } else if (tokens->token == JSON_INTEGER && instant) {
        good = int64_parse(tokens->text, &us) && !__builtin_mul_overflow(us, 1000000, &us);
    }
    if (!good) {
        return READ_MISFIT;
    }
    vector_append_int(out, reader->call->arena, us);
    return READ_OK;
}

/* Intervals, as CAST reads them. */
static Reading read_by_cast(const Reader *reader, Vector *out)
{
    if (reader->tokens.token != JSON_STRING) {
        return READ_MISFIT;
    }
    Error *error = value_parse(reader->tokens.text, reader->call->context->time_zone,
                               reader->call->arena, out);
    error_free(error);
    return error == NULL ? READ_OK : READ_MISFIT;
}

/* ---- Nested ---- */

/* Passes what is left of a value that began at `depth`. */
static Reading skip_rest(Reader *reader, unsigned depth)
{
    while (reader->tokens.depth > depth) {
        if (json_next(&reader->tokens) == JSON_BAD) {
            return READ_BROKEN;
        }
    }
    return READ_OK;
}

static Reading read_array(Reader *reader, const Type *type, Vector *out)
{
    Vector *elements = out->children[0];
    if (reader->tokens.token != JSON_ARRAY) {
        return READ_MISFIT;
    }
    while (json_next(&reader->tokens) != JSON_ARRAY_END) {
        Reading reading = read_value(reader, type->element, elements);
        if (reading != READ_OK) {
            return reading;
        }
    }
    vector_finish_list(out, reader->call->arena);
    return READ_OK;
}

static Reading read_map(Reader *reader, const Type *type, Vector *out)
{
    Vector *values = out->children[1];
    if (reader->tokens.token != JSON_OBJECT) {
        return READ_MISFIT;
    }
    while (json_next(&reader->tokens) != JSON_OBJECT_END) {
        if (reader->tokens.token == JSON_BAD) {
            return READ_BROKEN;
        }
        vector_append_str(out->children[0], reader->call->arena, reader->tokens.text);
        (void)json_next(&reader->tokens);
        Reading reading = read_value(reader, type->element, values);
        if (reading != READ_OK) {
            return reading;
        }
    }
    vector_finish_list(out, reader->call->arena);
    return READ_OK;
}

static size_t find_field(const Type *type, Str name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (str_equal(type->fields[i].name, name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* The value of a field of row `row`; an earlier one of that name gives way. */
static Reading read_field(Reader *reader, const Type *type, Vector *out, uint32_t row)
{
    size_t field = find_field(type, reader->tokens.text);
    unsigned depth = reader->tokens.depth;
    (void)json_next(&reader->tokens);
    if (field == SIZE_MAX) {
        return json_skip(&reader->tokens) ? READ_OK : READ_BROKEN;
    }
    Vector *column = out->children[field];
    vector_truncate(column, row);
    Reading reading = read_value(reader, type->fields[field].type, column);
    if (reading == READ_MISFIT) {
        reader->misfit = true;
        vector_truncate(column, row);
        return skip_rest(reader, depth);
    }
    return reading;
}

static Reading read_struct(Reader *reader, const Type *type, Vector *out)
{
    uint32_t row = out->length;
    if (reader->tokens.token != JSON_OBJECT) {
        return READ_MISFIT;
    }
    while (json_next(&reader->tokens) != JSON_OBJECT_END) {
        Reading reading =
            reader->tokens.token == JSON_NAME ? read_field(reader, type, out, row) : READ_BROKEN;
        if (reading != READ_OK) {
            return reading;
        }
    }
    for (uint32_t i = 0; i < out->child_count; i++) {
        if (out->children[i]->length == row) {
            vector_append_null(out->children[i], reader->call->arena);
        }
    }
    vector_finish_struct(out, reader->call->arena);
    return READ_OK;
}

static Reading read_typed(Reader *reader, const Type *type, Vector *out)
{
    switch (type->kind) {
    case TYPE_BOOLEAN:
        return read_boolean(reader, out);
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return read_integer(reader, type, out);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return read_float(reader, type, out);
    case TYPE_DECIMAL:
        return read_decimal(reader, type, out);
    case TYPE_STRING:
        return read_string(reader, out);
    case TYPE_BINARY:
        return read_binary(reader, out);
    case TYPE_DATE:
        return read_date(reader, out);
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return read_timestamp(reader, type, out);
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
        return read_by_cast(reader, out);
    case TYPE_ARRAY:
        return read_array(reader, type, out);
    case TYPE_MAP:
        return read_map(reader, type, out);
    case TYPE_STRUCT:
        return read_struct(reader, type, out);
    case TYPE_NULL:
    case TYPE_VARIANT:
        break;
    }
    return READ_MISFIT;
}

/* Stands at the first token of a value, afterwards at its last. */
static Reading read_value(Reader *reader, const Type *type, Vector *out)
{
    JsonToken token = reader->tokens.token;
    if (token == JSON_BAD || token == JSON_END) {
        return READ_BROKEN;
    }
    if (token == JSON_NULL) {
        vector_append_null(out, reader->call->arena);
        return READ_OK;
    }
    return read_typed(reader, type, out);
}

/* ---- Records ---- */

/* A STRUCT of NULLs, a NULL array or map; the text in the column for bad records. */
static void append_bad(Reader *reader, const Type *type, Vector *out)
{
    if (type->kind != TYPE_STRUCT) {
        vector_append_null(out, reader->call->arena);
        return;
    }
    for (uint32_t i = 0; i < out->child_count; i++) {
        vector_append_null(out->children[i], reader->call->arena);
    }
    vector_finish_struct(out, reader->call->arena);
}

/* An array of structs may be written as its only element. */
static Reading read_single_element(Reader *reader, const Type *type, Vector *out)
{
    Reading reading = read_value(reader, type->element, out->children[0]);
    if (reading == READ_OK) {
        vector_finish_list(out, reader->call->arena);
    }
    return reading;
}

static Reading read_root(Reader *reader, const Type *type, Vector *out)
{
    if (reader->tokens.token == JSON_NULL) {
        append_bad(reader, type, out);
        return READ_OK;
    }
    if (reader->tokens.token == JSON_OBJECT && type->kind == TYPE_ARRAY &&
        type->element->kind == TYPE_STRUCT) {
        return read_single_element(reader, type, out);
    }
    return read_value(reader, type, out);
}

static void note_bad_text(const Reader *reader, const Type *type, const JsonOptions *options,
                          Str text, Vector *out)
{
    size_t field = type->kind == TYPE_STRUCT ? find_field(type, options->corrupt_column) : SIZE_MAX;
    if (field != SIZE_MAX) {
        Vector *column = out->children[field];
        vector_truncate(column, out->length - 1);
        vector_append_str(column, reader->call->arena, text);
    }
}

static Error *malformed(Str text)
{
    return error_new(ERROR_MALFORMED_RECORD_IN_PARSING,
                     "Malformed records are detected in record parsing: %.*s.\nParse Mode: "
                     "FAILFAST. To process malformed records as null result, try setting the "
                     "option 'mode' as 'PERMISSIVE'.",
                     STR_ARG(text));
}

static void read_record(Reader *reader, uint32_t row, const JsonOptions *options, Str text,
                        Vector *out)
{
    const Type *type = out->type;
    json_tokens_init(&reader->tokens, text, options->syntax, reader->call->arena);
    reader->misfit = false;
    reader->options = options;
    if (json_next(&reader->tokens) == JSON_END) {
        vector_append_null(out, reader->call->arena);
        return;
    }
    uint32_t length = out->length;
    Reading reading = read_root(reader, type, out);
    if (reading != READ_OK) {
        vector_truncate(out, length);
        append_bad(reader, type, out);
    }
    if (reading == READ_OK && !reader->misfit) {
        return;
    }
    if (options->fail_fast) {
        kernel_fail(reader->call, row, malformed(text));
    } else {
        note_bad_text(reader, type, options, text, out);
    }
}

static void from_json(const KernelCall *call)
{
    const ReadState *state = call->state;
    Vector *out = vector_new(call->arena, call->result->type, call->row_count);
    Reader *reader = arena_new_object(call->arena, Reader);
    reader->call = call;
    for (uint32_t k = 0; k < call->rows.count; k++) {
        uint32_t row = rows_at(call->rows, k);
        while (out->length < row) {
            vector_append_null(out, call->arena);
        }
        if (vector_is_valid(call->arguments[0], row)) {
            JsonOptions options = json_options_at(&state->options, call, row);
            read_record(reader, row, &options, STR_ARGUMENT(call, 0, row), out);
        } else {
            vector_append_null(out, call->arena);
        }
    }
    while (out->length < call->row_count) {
        vector_append_null(out, call->arena);
    }
    *call->result = *out;
}

static KernelRun *choose_from_json(KernelSetup *setup)
{
    ReadState *state = arena_new_object(setup->arena, ReadState);
    json_options_prepare(setup, 2, true, &state->options);
    setup->state = state;
    return from_json;
}

const Kernel kernel_from_json = {.choose = choose_from_json};
