/* json_tuple(text, name, …): one row, the named fields of the object in the text. Each text is read
 * once, for all columns. What is no object, or stops being one before its end, has NULL in all. */
#include <string.h>

#include "processor/exec/generator.h"
#include "processor/exec/kernels/json_token.h"

#include "processor/base/banned.h"

/* The value at hand as text: a string without its quotes. False: it is no JSON. */
static bool read_value(JsonTokens *tokens, Buffer *text, Arena *arena, Str *ret)
{
    if (tokens->token == JSON_STRING) {
        *ret = arena_copy_str(arena, tokens->text);
        return true;
    }
    buffer_clear(text);
    bool good = json_copy(tokens, text);
    *ret = arena_copy_str(arena, buffer_str(text));
    return good;
}

/* A field by all columns that name it. A null leaves them as they are. */
static bool take_field(const GeneratorCall *call, uint32_t row, JsonTokens *tokens, Buffer *text,
                       Str *values)
{
    Str name = tokens->text;
    bool wanted = false;
    for (size_t i = 1; i < call->argument_count && !wanted; i++) {
        const Vector *names = call->arguments[i];
        wanted = vector_is_valid(names, row) && str_equal(VECTOR_VALUE(names, Str, row), name);
    }
    JsonToken token = json_next(tokens);
    if (token == JSON_BAD || token == JSON_END) {
        return false;
    }
    if (!wanted || token == JSON_NULL) {
        return json_skip(tokens);
    }
    Str value = STR_NULL;
    if (!read_value(tokens, text, call->arena, &value)) {
        return false;
    }
    for (size_t i = 1; i < call->argument_count; i++) {
        const Vector *names = call->arguments[i];
        if (vector_is_valid(names, row) && str_equal(VECTOR_VALUE(names, Str, row), name)) {
            values[i - 1] = value;
        }
    }
    return true;
}

static bool read_object(const GeneratorCall *call, uint32_t row, Str json, Buffer *text,
                        Str *values)
{
    static const JsonSyntax syntax = {.no_nan = true};
    JsonTokens tokens;
    json_tokens_init(&tokens, json, syntax, call->arena);
    if (json_next(&tokens) != JSON_OBJECT) {
        return false;
    }
    for (;;) {
        JsonToken token = json_next(&tokens);
        if (token == JSON_OBJECT_END) {
            return true;
        }
        if (token != JSON_NAME || !take_field(call, row, &tokens, text, values)) {
            return false;
        }
    }
}

/* The values of all rows, row by row: columns are made of them. */
static void count_and_read(GeneratorCall *call, Rows rows, uint32_t *counts)
{
    size_t width = call->result->field_count;
    Str *all = arena_new_array(call->arena, Str, width * call->row_count);
    AUTO_BUFFER Buffer text = {0};
    const Vector *texts = call->arguments[0];
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        Str *values = all + row * width;
        bool good = vector_is_valid(texts, row) &&
                    read_object(call, row, VECTOR_VALUE(texts, Str, row), &text, values);
        if (!good) {
            memset(values, 0, width * sizeof(Str));
        }
        counts[row] = 1;
    }
    call->state = all;
}

static Vector *value_column(const GeneratorCall *call, size_t column, const GeneratedRows *rows,
                            Arena *arena)
{
    const Str *all = call->state;
    size_t width = call->result->field_count;
    Vector *out = vector_new(arena, &type_string, rows->count);
    for (uint32_t i = 0; i < rows->count; i++) {
        Str value = all[rows->rows[i] * width + column];
        if (value.data == NULL) {
            vector_append_null(out, arena);
        } else {
            vector_append_str(out, arena, value);
        }
    }
    return out;
}

const GeneratorKernel generator_json_tuple = {count_and_read, value_column, false};
