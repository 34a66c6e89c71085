/* YAML nodes to typed values. */
#include "processor/testing/yaml_value.h"

#include <ctype.h>

#include "processor/base/base64.h"
#include "processor/data/decimal.h"
#include "processor/data/value_text.h"

#include "processor/base/banned.h"

enum { DEPTH_MAX = 32 };

typedef struct Conversion {
    const TimeZone *zone;
    Arena *arena;
} Conversion;

static Error *append_value(const Conversion *conversion, const YamlNode *node, Vector *vector,
                           int depth);

static Error *mismatch(const YamlNode *node, const Type *type)
{
    AUTO_BUFFER Buffer text = {0};
    type_format(type, &text);
    return error_at(ERROR_SCENARIO_INVALID, node->place, "%s is no value of type %s.",
                    yaml_node_describe(node), buffer_cstr(&text));
}

/* CAST would round here; an expectation must not be met by accident. */
static Error *append_decimal(const Conversion *conversion, const YamlNode *node, Vector *vector)
{
    int128 value = 0;
    const Type *type = vector->type;
    DecimalParse result =
        decimal_parse(str_trim(node->text), type->precision, type->scale, false, &value);
    if (result != DECIMAL_OK) {
        return mismatch(node, type);
    }
    vector_append_int128(vector, conversion->arena, value);
    return NULL;
}

static Error *append_binary(const Conversion *conversion, const YamlNode *node, Vector *vector)
{
    Str bytes = STR_NULL;
    if (!base64_decode(node->text, conversion->arena, &bytes)) {
        return mismatch(node, vector->type);
    }
    vector_append_str(vector, conversion->arena, bytes);
    return NULL;
}

/* A nested value given as text: the text holds it in YAML or JSON. */
static Error *append_nested_text(const Conversion *conversion, const YamlNode *node, Vector *vector,
                                 int depth)
{
    Diagnostics diagnostics = {0};
    YamlDocument *document = NULL;
    yaml_parse(node->text, "value", conversion->arena, &diagnostics, &document);
    bool good = diagnostics.count == 0 && document != NULL && document->root->kind != YAML_SCALAR;
    diagnostics_done(&diagnostics);
    if (!good) {
        return mismatch(node, vector->type);
    }
    Error *error = append_value(conversion, document->root, vector, depth + 1);
    return error == NULL ? NULL : error_set_place(error, node->place);
}

static Error *append_scalar(const Conversion *conversion, const YamlNode *node, Vector *vector,
                            int depth)
{
    switch (vector->type->kind) {
    case TYPE_DECIMAL:
        return append_decimal(conversion, node, vector);
    case TYPE_BINARY:
        return append_binary(conversion, node, vector);
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        return append_nested_text(conversion, node, vector, depth);
    case TYPE_NULL:
    case TYPE_VARIANT:
        return mismatch(node, vector->type);
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_STRING:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
        break;
    }
    Error *error = value_parse(node->text, conversion->zone, conversion->arena, vector);
    if (error == NULL) {
        return NULL;
    }
    Error *placed = mismatch(node, vector->type);
    return error_set_cause(placed, error);
}

static Error *append_list(const Conversion *conversion, const YamlNode *node, Vector *vector,
                          int depth)
{
    for (size_t i = 0; i < node->count; i++) {
        TRY(append_value(conversion, node->items[i], vector->children[0], depth + 1));
    }
    vector_finish_list(vector, conversion->arena);
    return NULL;
}

/* The name of an entry as a node, so that it is converted like any text. */
static YamlNode key_node(const YamlEntry *entry)
{
    return (YamlNode){.kind = YAML_SCALAR,
                      .style = YAML_SINGLE_QUOTED,
                      .place = entry->key_place,
                      .text = entry->key};
}

static Error *append_map(const Conversion *conversion, const YamlNode *node, Vector *vector,
                         int depth)
{
    for (size_t i = 0; i < node->count; i++) {
        if (node->kind == YAML_MAPPING) {
            YamlNode key = key_node(&node->entries[i]);
            TRY(append_value(conversion, &key, vector->children[0], depth + 1));
            TRY(append_value(conversion, node->entries[i].value, vector->children[1], depth + 1));
            continue;
        }
        const YamlNode *pair = node->items[i];
        if (pair->kind != YAML_SEQUENCE || pair->count != 2) {
            return error_at(ERROR_SCENARIO_INVALID, pair->place,
                            "An entry of a map is [key, value].");
        }
        TRY(append_value(conversion, pair->items[0], vector->children[0], depth + 1));
        TRY(append_value(conversion, pair->items[1], vector->children[1], depth + 1));
    }
    vector_finish_list(vector, conversion->arena);
    return NULL;
}

static Error *too_many(const YamlNode *node, size_t expected)
{
    return error_at(ERROR_SCENARIO_INVALID, node->place, "%zu values for %zu columns.", node->count,
                    expected);
}

static const YamlNode *entry_of(const YamlNode *mapping, Str name)
{
    for (size_t i = 0; i < mapping->count; i++) {
        if (str_equal_ignore_case(mapping->entries[i].key, name)) {
            return mapping->entries[i].value;
        }
    }
    return NULL;
}

static Error *check_names(const YamlNode *mapping, const Field *fields, size_t count)
{
    for (size_t i = 0; i < mapping->count; i++) {
        bool known = false;
        for (size_t k = 0; k < count; k++) {
            known = known || str_equal_ignore_case(mapping->entries[i].key, fields[k].name);
        }
        if (!known) {
            return error_at(ERROR_SCENARIO_INVALID, mapping->entries[i].key_place,
                            "There is no column `%.*s`.", STR_ARG(mapping->entries[i].key));
        }
    }
    return NULL;
}

/* One value to each of the columns. */
static Error *append_fields(const Conversion *conversion, const YamlNode *node, const Field *fields,
                            Vector *const *columns, size_t count, int depth)
{
    if (node->kind == YAML_SEQUENCE && node->count > count) {
        return too_many(node, count);
    }
    if (node->kind == YAML_MAPPING) {
        TRY(check_names(node, fields, count));
    }
    for (size_t i = 0; i < count; i++) {
        const YamlNode *value = node->kind == YAML_MAPPING ? entry_of(node, fields[i].name)
                                : i < node->count          ? node->items[i]
                                                           : NULL;
        if (value == NULL) {
            vector_append_null(columns[i], conversion->arena);
        } else {
            TRY(append_value(conversion, value, columns[i], depth + 1));
        }
    }
    return NULL;
}

static Error *append_value(const Conversion *conversion, const YamlNode *node, Vector *vector,
                           int depth)
{
    if (depth > DEPTH_MAX) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "Values are nested too deeply.");
    }
    if (yaml_node_is_null(node)) {
        vector_append_null(vector, conversion->arena);
        return NULL;
    }
    if (node->kind == YAML_SCALAR) {
        return append_scalar(conversion, node, vector, depth);
    }
    const Type *type = vector->type;
    if (type->kind == TYPE_ARRAY && node->kind == YAML_SEQUENCE) {
        return append_list(conversion, node, vector, depth);
    }
    if (type->kind == TYPE_MAP) {
        return append_map(conversion, node, vector, depth);
    }
    if (type->kind != TYPE_STRUCT) {
        return mismatch(node, type);
    }
    TRY(append_fields(conversion, node, type->fields, vector->children, type->field_count, depth));
    vector_finish_struct(vector, conversion->arena);
    return NULL;
}

Error *yaml_value_append(const YamlNode *node, const TimeZone *zone, Arena *arena, Vector *vector)
{
    Conversion conversion = {zone, arena};
    return append_value(&conversion, node, vector, 0);
}

Error *yaml_row_append(const YamlNode *node, const TimeZone *zone, Arena *arena, Batch *batch)
{
    if (node->kind == YAML_SCALAR) {
        return error_at(ERROR_SCENARIO_INVALID, node->place,
                        "A row is a list of values or a mapping by column.");
    }
    Conversion conversion = {zone, arena};
    TRY(append_fields(&conversion, node, batch->schema->fields, batch->columns,
                      batch->schema->field_count, 0));
    batch->row_count++;
    batch->selected_count++;
    return NULL;
}

Error *yaml_rows(const YamlNode *list, const Schema *schema, const TimeZone *zone, Arena *arena,
                 Batch **ret_batch)
{
    if (list->kind != YAML_SEQUENCE) {
        return error_at(ERROR_SCENARIO_INVALID, list->place,
                        "Here is %s; a list of rows is needed.", yaml_node_describe(list));
    }
    Batch *batch = batch_new(arena, schema, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        TRY(yaml_row_append(list->items[i], zone, arena, batch));
    }
    *ret_batch = batch;
    return NULL;
}

/* ---------------------------------------------------------------------------- plain values ---- */

Error *yaml_text(const YamlNode *node, const char *what, Str otherwise, Str *ret_text)
{
    if (node == NULL) {
        *ret_text = otherwise;
        return NULL;
    }
    if (node->kind != YAML_SCALAR || yaml_node_is_null(node)) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "`%s` is a text, not %s.", what,
                        yaml_node_describe(node));
    }
    *ret_text = node->text;
    return NULL;
}

Error *yaml_int(const YamlNode *node, const char *what, int64_t otherwise, int64_t *ret_number)
{
    if (node == NULL) {
        *ret_number = otherwise;
        return NULL;
    }
    if (node->kind != YAML_SCALAR || !str_to_int64(node->text, ret_number)) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "`%s` is a whole number.", what);
    }
    return NULL;
}

Error *yaml_bool(const YamlNode *node, const char *what, bool otherwise, bool *ret_value)
{
    if (node == NULL) {
        *ret_value = otherwise;
        return NULL;
    }
    bool is_true = node->kind == YAML_SCALAR && str_equal(node->text, STR("true"));
    if (!is_true && (node->kind != YAML_SCALAR || !str_equal(node->text, STR("false")))) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "`%s` is true or false.", what);
    }
    *ret_value = is_true;
    return NULL;
}

/* --------------------------------------------------------------------------------- bytes ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    int lower = tolower((unsigned char)c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Blanks between the digits are skipped. */
Error *yaml_hex_bytes(const YamlNode *node, Arena *arena, Str *ret_bytes)
{
    char *bytes = arena_alloc_bytes(arena, node->text.size / 2 + 1);
    size_t digits = 0;
    unsigned value = 0;
    for (size_t i = 0; i < node->text.size; i++) {
        if (node->text.data[i] == ' ') {
            continue;
        }
        int digit = hex_digit(node->text.data[i]);
        if (digit < 0) {
            return error_at(ERROR_SCENARIO_INVALID, node->place, "`hex` is hexadecimal digits.");
        }
        value = value << 4 | (unsigned)digit;
        if (++digits % 2 == 0) {
            bytes[digits / 2 - 1] = (char)value;
        }
    }
    if (digits % 2 != 0) {
        return error_at(ERROR_SCENARIO_INVALID, node->place, "`hex` needs two digits a byte.");
    }
    *ret_bytes = (Str){bytes, digits / 2};
    return NULL;
}

/* A text, null, {hex: …}, or any other value as JSON text would be a guess: refused. */
Error *yaml_bytes(const YamlNode *node, Arena *arena, Str *ret_bytes)
{
    if (yaml_node_is_null(node)) {
        *ret_bytes = STR_NULL;
        return NULL;
    }
    if (node->kind == YAML_SCALAR) {
        *ret_bytes = node->text;
        return NULL;
    }
    const YamlNode *hex = node->kind == YAML_MAPPING ? yaml_node_get(node, STR("hex")) : NULL;
    if (hex == NULL || hex->kind != YAML_SCALAR) {
        return error_at(ERROR_SCENARIO_INVALID, node->place,
                        "A key or value of a record is a text, null or {hex: …}.");
    }
    return yaml_hex_bytes(hex, arena, ret_bytes);
}
