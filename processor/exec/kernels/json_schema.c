/* schema_of_json: the type that holds a JSON value, as text. Arrays have the type that holds all
 * their elements; objects become STRUCTs with their fields in the order of their names; what does
 * not fit together is a STRING. */
#include "processor/data/decimal.h"
#include "processor/data/number_text.h"
#include "processor/exec/kernels/json_options.h"
#include "processor/exec/kernels/kernels.h"
#include "processor/exec/kernels/text.h"

#include <stdlib.h>

#include "processor/base/banned.h"

typedef struct Inference {
    JsonTokens tokens;
    Arena *arena;
    const JsonOptions *options;
    bool broken;
} Inference;

static const Type *infer_value(Inference *inference);

/* ---- One type for two ---- */

static const Type *merge(Arena *arena, const Type *a, const Type *b);

static const Type *merge_structs(Arena *arena, const Type *a, const Type *b)
{
    Field *fields = arena_new_array(arena, Field, a->field_count + b->field_count);
    size_t count = 0;
    size_t i = 0;
    size_t k = 0;
    while (i < a->field_count || k < b->field_count) {
        int order = i == a->field_count   ? 1
                    : k == b->field_count ? -1
                                          : str_compare(a->fields[i].name, b->fields[k].name);
        fields[count] = order <= 0 ? a->fields[i] : b->fields[k];
        if (order == 0) {
            fields[count].type = merge(arena, a->fields[i].type, b->fields[k].type);
        }
        i += order <= 0;
        k += order >= 0;
        count++;
    }
    return type_struct(arena, fields, count);
}

static bool is_number(const Type *type)
{
    return type->kind == TYPE_BIGINT || type->kind == TYPE_DOUBLE || type->kind == TYPE_DECIMAL;
}

static const Type *merge_numbers(Arena *arena, const Type *a, const Type *b)
{
    if (a->kind == TYPE_DOUBLE || b->kind == TYPE_DOUBLE) {
        return &type_double;
    }
    int scale_a = a->kind == TYPE_DECIMAL ? a->scale : 0;
    int scale_b = b->kind == TYPE_DECIMAL ? b->scale : 0;
    int whole_a = a->kind == TYPE_DECIMAL ? a->precision - a->scale : 20;
    int whole_b = b->kind == TYPE_DECIMAL ? b->precision - b->scale : 20;
    int scale = scale_a > scale_b ? scale_a : scale_b;
    int whole = whole_a > whole_b ? whole_a : whole_b;
    return whole + scale > DECIMAL_PRECISION_MAX ? &type_double
                                                 : type_decimal(arena, whole + scale, scale);
}

static const Type *merge(Arena *arena, const Type *a, const Type *b)
{
    if (a->kind == TYPE_NULL || type_equal(a, b)) {
        return b;
    }
    if (b->kind == TYPE_NULL) {
        return a;
    }
    if (is_number(a) && is_number(b)) {
        return merge_numbers(arena, a, b);
    }
    if (a->kind == TYPE_STRUCT && b->kind == TYPE_STRUCT) {
        return merge_structs(arena, a, b);
    }
    if (a->kind == TYPE_ARRAY && b->kind == TYPE_ARRAY) {
        return type_array(arena, merge(arena, a->element, b->element));
    }
    return &type_string;
}

/* ---- The type of a value ---- */

/* The DECIMAL with the number's digits; DOUBLE when there are too many. */
static const Type *exact_type(Arena *arena, Str text)
{
    int whole = 0;
    int fraction = 0;
    bool point = false;
    int64_t exponent = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == 'e' || text.data[i] == 'E') {
            Str rest = {text.data + i + 1, text.size - i - 1};
            if (!int64_parse(rest, &exponent) || exponent > 1000 || exponent < -1000) {
                return &type_double;
            }
            break;
        }
        point = point || text.data[i] == '.';
        bool digit = char_is_digit(text.data[i]);
        whole += digit && !point && (whole > 0 || text.data[i] != '0');
        fraction += digit && point;
    }
    int64_t scale = fraction - exponent;
    int64_t precision = whole + fraction == 0 ? 1 : whole + fraction;
    if (scale < 0) {
        precision -= scale;
        scale = 0;
    }
    precision = precision > scale ? precision : scale;
    return precision > DECIMAL_PRECISION_MAX ? &type_double
                                             : type_decimal(arena, (int)precision, (int)scale);
}

static const Type *number_type(const Inference *inference)
{
    const JsonTokens *tokens = &inference->tokens;
    int64_t value = 0;
    if (inference->options->primitives_as_string) {
        return &type_string;
    }
    if (tokens->token == JSON_INTEGER) {
        return int64_parse(tokens->text, &value) ? &type_bigint
                                                 : exact_type(inference->arena, tokens->text);
    }
    char last = tokens->text.data[tokens->text.size - 1];
    bool finite = char_is_digit(last);
    return inference->options->prefers_decimal && finite
               ? exact_type(inference->arena, tokens->text)
               : &type_double;
}

static const Type *array_type(Inference *inference)
{
    const Type *element = &type_null;
    while (json_next(&inference->tokens) != JSON_ARRAY_END && !inference->broken) {
        element = merge(inference->arena, element, infer_value(inference));
    }
    return type_array(inference->arena, element);
}

static int by_name(const void *a, const void *b)
{
    return str_compare(((const Field *)a)->name, ((const Field *)b)->name);
}

static const Type *object_type(Inference *inference)
{
    Field *fields = NULL;
    size_t count = 0;
    size_t capacity = 0;
    while (json_next(&inference->tokens) != JSON_OBJECT_END && !inference->broken) {
        Field field = {.name = inference->tokens.text};
        inference->broken = inference->tokens.token != JSON_NAME;
        (void)json_next(&inference->tokens);
        field.type = infer_value(inference);
        *arena_push(inference->arena, fields, count, capacity) = field;
    }
    if (count > 1) {
        qsort(fields, count, sizeof(Field), by_name);
    }
    return type_struct(inference->arena, fields, count);
}

static const Type *infer_value(Inference *inference)
{
    switch (inference->tokens.token) {
    case JSON_OBJECT:
        return object_type(inference);
    case JSON_ARRAY:
        return array_type(inference);
    case JSON_STRING:
        return inference->tokens.text.size == 0 ? &type_null : &type_string;
    case JSON_INTEGER:
    case JSON_FLOAT:
        return number_type(inference);
    case JSON_TRUE:
    case JSON_FALSE:
        return inference->options->primitives_as_string ? &type_string : &type_boolean;
    case JSON_NULL:
        return &type_null;
    case JSON_END:
    case JSON_BAD:
    case JSON_NAME:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
        break;
    }
    inference->broken = true;
    return &type_null;
}

/* ---- What stands in the schema ---- */

/* Fields without a type of their own fall away: a STRUCT without fields is none (NULL); what was
 * only NULL is a STRING. */
static const Type *finished(Arena *arena, const Type *type)
{
    if (type->kind == TYPE_NULL) {
        return &type_string;
    }
    if (type->kind == TYPE_ARRAY) {
        const Type *element = finished(arena, type->element);
        return element == NULL ? NULL : type_array(arena, element);
    }
    if (type->kind != TYPE_STRUCT) {
        return type;
    }
    Field *fields = arena_new_array(arena, Field, type->field_count);
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const Type *own = finished(arena, type->fields[i].type);
        if (own != NULL && type->fields[i].name.size > 0) {
            fields[count] = type->fields[i];
            fields[count++].type = own;
        }
    }
    return count == 0 ? NULL : type_struct(arena, fields, count);
}

static const Type *schema_of(Arena *arena, const Type *type)
{
    const Type *result = finished(arena, type);
    if (result != NULL) {
        return result;
    }
    const Type *empty = type_struct(arena, NULL, 0);
    return type->kind == TYPE_ARRAY ? type_array(arena, empty) : empty;
}

static void write_schema(const KernelCall *call, uint32_t row, const JsonOptions *options,
                         Buffer *out)
{
    Inference *inference = arena_new_object(call->arena, Inference);
    inference->arena = call->arena;
    inference->options = options;
    json_tokens_init(&inference->tokens, STR_ARGUMENT(call, 0, row), options->syntax, call->arena);
    const Type *type = &type_null;
    if (json_next(&inference->tokens) != JSON_END) {
        type = infer_value(inference);
    }
    if (inference->broken || inference->tokens.token == JSON_BAD) {
        kernel_fail(call, row,
                    error_new(ERROR_MALFORMED_RECORD_IN_PARSING,
                              "The text given to schema_of_json is no JSON."));
        return;
    }
    type_format(schema_of(call->arena, type), out);
}

static void schema_of_json(const KernelCall *call)
{
    const JsonOptionsState *state = call->state;
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, row)
    {
        JsonOptions options = json_options_at(state, call, row);
        buffer_clear(&out);
        write_schema(call, row, &options, &out);
        text_store(call, row, buffer_str(&out));
    }
}

static KernelRun *choose_schema_of_json(KernelSetup *setup)
{
    JsonOptionsState *state = arena_new_object(setup->arena, JsonOptionsState);
    json_options_prepare(setup, 1, true, state);
    setup->state = state;
    return schema_of_json;
}

const Kernel kernel_schema_of_json = {.choose = choose_schema_of_json};
