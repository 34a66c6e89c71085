/* Inferring columns: a tree of shapes that only ever widen, NULL ─► LONG ─► DECIMAL ─► DOUBLE ─►
 * STRING and, beside the numbers, BOOLEAN, ARRAY and STRUCT ─► STRING. Merging is commutative and
 * associative, so threads can infer apart.
 *
 * A record is gone through once, values are not converted. As records mostly have the same fields
 * in the same order, the field behind the one found last is tried first. */
#include "connectors/format/json_infer.h"

#include <stdlib.h>

#include "connectors/format/json_number.h"
#include "connectors/format/json_scan.h"
#include "processor/base/map.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef enum ShapeKind {
    SHAPE_NULL,
    SHAPE_BOOLEAN,
    SHAPE_LONG,
    SHAPE_DECIMAL,
    SHAPE_DOUBLE,
    SHAPE_STRING,
    SHAPE_ARRAY,
    SHAPE_STRUCT,
} ShapeKind;

typedef struct ShapeField ShapeField;

typedef struct Shape {
    ShapeKind kind;
    int digits;            /* DECIMAL */
    struct Shape *element; /* ARRAY */
    ShapeField **fields;   /* STRUCT, in the order they were seen */
    size_t field_count;
    size_t field_capacity;
    Map by_name; /* -> ShapeField */
} Shape;

struct ShapeField {
    Str name;
    size_t index;
    Shape shape;
};

struct JsonInference {
    Arena *arena;
    Shape root; /* a STRUCT */
};

enum { LONG_AS_DECIMAL = 20, LONG_DIGITS = 18 };

/* --------------------------------------------------------------- shapes --- */

static void shape_done(Shape *shape)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        shape_done(&shape->fields[i]->shape);
    }
    if (shape->element != NULL) {
        shape_done(shape->element);
    }
    map_done(&shape->by_name);
}

static bool is_number(ShapeKind kind)
{
    return kind == SHAPE_LONG || kind == SHAPE_DECIMAL || kind == SHAPE_DOUBLE;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Widens the shape to take values of that kind too. */
static void widen(Shape *shape, ShapeKind kind, int digits)
{
    if (kind == SHAPE_NULL || (kind == shape->kind && kind != SHAPE_DECIMAL)) {
        return;
    }
    if (shape->kind == SHAPE_NULL) {
        shape->kind = kind;
        shape->digits = digits;
    } else if (!is_number(kind) || !is_number(shape->kind)) {
        shape->kind = SHAPE_STRING;
    } else if (kind == SHAPE_DOUBLE || shape->kind == SHAPE_DOUBLE) {
        shape->kind = SHAPE_DOUBLE;
    } else {
        int own = shape->kind == SHAPE_LONG ? LONG_AS_DECIMAL : shape->digits;
        shape->kind = SHAPE_DECIMAL;
        shape->digits = larger(own, kind == SHAPE_LONG ? LONG_AS_DECIMAL : digits);
    }
}

static Shape *element_of(Shape *shape, Arena *arena)
{
    if (shape->element == NULL) {
        shape->element = arena_new_object(arena, Shape);
    }
    return shape->element;
}

static ShapeField *field_named(Shape *shape, Arena *arena, Str name)
{
    ShapeField *field = map_get(&shape->by_name, name);
    if (field == NULL) {
        field = arena_new_object(arena, ShapeField);
        field->name = arena_copy_str(arena, name);
        field->index = shape->field_count;
        map_put(&shape->by_name, field->name, field);
        *arena_push(arena, shape->fields, shape->field_count, shape->field_capacity) = field;
    }
    return field;
}

static void merge(Shape *into, Arena *arena, const Shape *from)
{
    widen(into, from->kind, from->digits);
    if (into->kind == SHAPE_ARRAY && from->element != NULL) {
        merge(element_of(into, arena), arena, from->element);
    }
    for (size_t i = 0; into->kind == SHAPE_STRUCT && i < from->field_count; i++) {
        const ShapeField *field = from->fields[i];
        merge(&field_named(into, arena, field->name)->shape, arena, &field->shape);
    }
}

/* -------------------------------------------------------------- reading --- */

static bool infer_value(JsonInference *inference, JsonScan *scan, Shape *shape, unsigned depth);

/* The whole number, its digits counted, with what takes it. */
static void take_whole_number(Shape *shape, Str text)
{
    int64_t value = 0;
    size_t digits = text.size - (text.data[0] == '-');
    if (digits <= LONG_DIGITS ||
        number_to_integer(text, INT64_MIN, INT64_MAX, &value) == DECIMAL_OK) {
        widen(shape, SHAPE_LONG, 0);
    } else if (digits <= DECIMAL_PRECISION_MAX) {
        widen(shape, SHAPE_DECIMAL, (int)digits);
    } else {
        widen(shape, SHAPE_DOUBLE, 0);
    }
}

static bool infer_number(JsonScan *scan, Shape *shape)
{
    const char *at = scan->at;
    int64_t digits = 0;
    int fraction = 0;
    if (LIKELY(number_scan_short(&at, scan->end, &digits, &fraction))) {
        widen(shape, fraction == 0 ? SHAPE_LONG : SHAPE_DOUBLE, 0);
        scan->at = at;
        return true;
    }
    Str text = STR_NULL;
    if (!json_scan_number(scan, &text)) {
        return false;
    }
    size_t whole = text.data[0] == '-';
    while (whole < text.size && char_is_digit(text.data[whole])) {
        whole++;
    }
    if (whole == text.size) {
        take_whole_number(shape, text);
    } else {
        widen(shape, SHAPE_DOUBLE, 0);
    }
    return true;
}

static bool infer_text(JsonScan *scan, Shape *shape)
{
    Str raw = STR_NULL;
    bool escaped = false;
    size_t size = 0;
    widen(shape, SHAPE_STRING, 0);
    return json_scan_string(scan, &raw, &escaped) &&
           (!escaped || json_unescape(scan, raw, NULL, &size));
}

static bool infer_array(JsonInference *inference, JsonScan *scan, Shape *shape, unsigned depth)
{
    widen(shape, SHAPE_ARRAY, 0);
    if (shape->kind != SHAPE_ARRAY || depth + 1 >= JSON_DEPTH_MAX) {
        return json_skip_value(scan, depth);
    }
    Shape *element = element_of(shape, inference->arena);
    scan->at++;
    json_skip_space(scan);
    if (json_peek(scan) == ']') {
        scan->at++;
        return true;
    }
    for (;;) {
        if (!infer_value(inference, scan, element, depth + 1)) {
            return false;
        }
        json_skip_space(scan);
        char c = json_peek(scan);
        if (c != ',' && c != ']') {
            return json_problem(scan, scan->at, "a comma or the end of the array is expected");
        }
        scan->at++;
        if (c == ']') {
            return true;
        }
        json_skip_space(scan);
    }
}

/* At a name: passes it and its colon. */
static ShapeField *read_name(JsonInference *inference, JsonScan *scan, Shape *shape, size_t guess)
{
    Str raw = STR_NULL;
    bool escaped = false;
    if (json_peek(scan) != '"') {
        (void)json_problem(scan, scan->at, "a field name in quotes is expected");
        return NULL;
    }
    if (!json_scan_string(scan, &raw, &escaped)) {
        return NULL;
    }
    if (escaped) {
        size_t size = 0;
        char *name = arena_alloc_bytes(inference->arena, raw.size);
        if (!json_unescape(scan, raw, name, &size)) {
            return NULL;
        }
        raw = (Str){name, size};
    }
    if (!json_scan_colon(scan)) {
        return NULL;
    }
    if (guess < shape->field_count && str_equal(shape->fields[guess]->name, raw)) {
        return shape->fields[guess];
    }
    return field_named(shape, inference->arena, raw);
}

/* At '{'. */
static bool infer_members(JsonInference *inference, JsonScan *scan, Shape *shape, unsigned depth)
{
    scan->at++;
    json_skip_space(scan);
    if (json_peek(scan) == '}') {
        scan->at++;
        return true;
    }
    for (size_t guess = 0;;) {
        ShapeField *field = read_name(inference, scan, shape, guess);
        if (field == NULL || !infer_value(inference, scan, &field->shape, depth + 1)) {
            return false;
        }
        guess = field->index + 1;
        json_skip_space(scan);
        char c = json_peek(scan);
        if (c != ',' && c != '}') {
            return json_problem(scan, scan->at, "a comma or the end of the object is expected");
        }
        scan->at++;
        if (c == '}') {
            return true;
        }
        json_skip_space(scan);
    }
}

static bool infer_object(JsonInference *inference, JsonScan *scan, Shape *shape, unsigned depth)
{
    widen(shape, SHAPE_STRUCT, 0);
    return shape->kind == SHAPE_STRUCT && depth + 1 < JSON_DEPTH_MAX
               ? infer_members(inference, scan, shape, depth)
               : json_skip_value(scan, depth);
}

static bool infer_value(JsonInference *inference, JsonScan *scan, Shape *shape, unsigned depth)
{
    switch (json_peek(scan)) {
    case '{':
        return infer_object(inference, scan, shape, depth);
    case '[':
        return infer_array(inference, scan, shape, depth);
    case '"':
        return infer_text(scan, shape);
    case 'n':
        return json_scan_word(scan, STR("null"));
    case 't':
        widen(shape, SHAPE_BOOLEAN, 0);
        return json_scan_word(scan, STR("true"));
    case 'f':
        widen(shape, SHAPE_BOOLEAN, 0);
        return json_scan_word(scan, STR("false"));
    case '-':
    case 'N':
    case 'I':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return infer_number(scan, shape);
    default:
        return json_problem(scan, scan->at, "a value is expected");
    }
}

Error *json_inference_add(JsonInference *inference, Str record)
{
    JsonScan scan = json_scan_text(record);
    json_skip_space(&scan);
    bool good = json_peek(&scan) == '{'
                    ? infer_members(inference, &scan, &inference->root, 0) && json_scan_end(&scan)
                    : json_problem(&scan, scan.at, "a record must be a JSON object");
    return good ? NULL
                : error_new(ERROR_MALFORMED_RECORD, "byte %zu: %s",
                            (size_t)(scan.problem_at - scan.begin) + 1, scan.problem);
}

/* --------------------------------------------------------------- result --- */

JsonInference *json_inference_new(void)
{
    JsonInference *inference = mem_new(JsonInference);
    inference->arena = arena_new("inference");
    inference->root.kind = SHAPE_STRUCT;
    return inference;
}

void json_inference_free(JsonInference *inference)
{
    if (inference != NULL) {
        shape_done(&inference->root);
        arena_free(inference->arena);
        mem_free(inference);
    }
}

void json_inference_merge(JsonInference *inference, const JsonInference *other)
{
    merge(&inference->root, inference->arena, &other->root);
}

static int compare_fields(const void *a, const void *b)
{
    return str_compare(((const Field *)a)->name, ((const Field *)b)->name);
}

static const Type *type_of(const Shape *shape, Arena *arena);

/* Objects without a field say nothing: no column comes of them (as Spark). */
static Field *fields_of(const Shape *shape, Arena *arena, size_t *ret_count)
{
    Field *fields = arena_new_array(arena, Field, shape->field_count);
    size_t count = 0;
    for (size_t i = 0; i < shape->field_count; i++) {
        const Type *type = type_of(&shape->fields[i]->shape, arena);
        if (type != NULL) {
            fields[count++] =
                (Field){.name = arena_copy_str(arena, shape->fields[i]->name), .type = type};
        }
    }
    qsort(fields, count, sizeof *fields, compare_fields);
    *ret_count = count;
    return fields;
}

static const Type *array_type(const Shape *shape, Arena *arena)
{
    const Type *element = shape->element == NULL ? &type_string : type_of(shape->element, arena);
    return element == NULL ? NULL : type_array(arena, element);
}

static const Type *struct_type(const Shape *shape, Arena *arena)
{
    size_t count = 0;
    const Field *fields = fields_of(shape, arena, &count);
    return count == 0 ? NULL : type_struct(arena, fields, count);
}

static const Type *type_of(const Shape *shape, Arena *arena)
{
    switch (shape->kind) {
    case SHAPE_NULL:
    case SHAPE_STRING:
        return &type_string;
    case SHAPE_BOOLEAN:
        return &type_boolean;
    case SHAPE_LONG:
        return &type_bigint;
    case SHAPE_DECIMAL:
        return type_decimal(arena, shape->digits, 0);
    case SHAPE_DOUBLE:
        return &type_double;
    case SHAPE_ARRAY:
        return array_type(shape, arena);
    case SHAPE_STRUCT:
        return struct_type(shape, arena);
    }
    return NULL;
}

Error *json_inference_schema(const JsonInference *inference, Arena *arena,
                             const Schema **ret_schema)
{
    size_t count = 0;
    const Field *fields = fields_of(&inference->root, arena, &count);
    const Schema *schema = schema_new(arena, fields, count);
    for (size_t i = 0; i < count; i++) {
        if (schema_find(schema, fields[i].name) != (int)i) {
            return error_new(ERROR_COLUMN_ALREADY_EXISTS,
                             "The column `%.*s` already exists. Choose another name or rename the "
                             "existing column.",
                             STR_ARG(fields[i].name));
        }
    }
    *ret_schema = schema;
    return NULL;
}
