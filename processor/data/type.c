/* SQL types: constants for the primitive ones, constructors for the rest, and what follows from a
 * type alone — how its values lie in memory, whether it can be ordered, how it is written.
 *
 * Everything that depends on the kind only sits in two tables, so a new kind is a line in each. */
#include "processor/data/type.h"

#include <assert.h>

#include "processor/base/banned.h"

const Type type_null = {.kind = TYPE_NULL};
const Type type_boolean = {.kind = TYPE_BOOLEAN};
const Type type_tinyint = {.kind = TYPE_TINYINT};
const Type type_smallint = {.kind = TYPE_SMALLINT};
const Type type_int = {.kind = TYPE_INT};
const Type type_bigint = {.kind = TYPE_BIGINT};
const Type type_float = {.kind = TYPE_FLOAT};
const Type type_double = {.kind = TYPE_DOUBLE};
const Type type_string = {.kind = TYPE_STRING};
const Type type_binary = {.kind = TYPE_BINARY};
const Type type_date = {.kind = TYPE_DATE};
const Type type_timestamp = {.kind = TYPE_TIMESTAMP};
const Type type_timestamp_ntz = {.kind = TYPE_TIMESTAMP_NTZ};
const Type type_variant = {.kind = TYPE_VARIANT};

/* What follows from the kind. The names of parameterised kinds are their first word. */
static const struct TypeFacts {
    const char *name;   /* as typeof prints it, upper case */
    const char *simple; /* Spark's simpleString */
} type_facts[] = {
    [TYPE_NULL] = {"VOID", "void"},
    [TYPE_BOOLEAN] = {"BOOLEAN", "boolean"},
    [TYPE_TINYINT] = {"TINYINT", "tinyint"},
    [TYPE_SMALLINT] = {"SMALLINT", "smallint"},
    [TYPE_INT] = {"INT", "int"},
    [TYPE_BIGINT] = {"BIGINT", "bigint"},
    [TYPE_FLOAT] = {"FLOAT", "float"},
    [TYPE_DOUBLE] = {"DOUBLE", "double"},
    [TYPE_DECIMAL] = {"DECIMAL", "decimal"},
    [TYPE_STRING] = {"STRING", "string"},
    [TYPE_BINARY] = {"BINARY", "binary"},
    [TYPE_DATE] = {"DATE", "date"},
    [TYPE_TIMESTAMP] = {"TIMESTAMP", "timestamp"},
    [TYPE_TIMESTAMP_NTZ] = {"TIMESTAMP_NTZ", "timestamp_ntz"},
    [TYPE_INTERVAL_YEAR_MONTH] = {"INTERVAL", "interval"},
    [TYPE_INTERVAL_DAY_TIME] = {"INTERVAL", "interval"},
    [TYPE_ARRAY] = {"ARRAY", "array"},
    [TYPE_MAP] = {"MAP", "map"},
    [TYPE_STRUCT] = {"STRUCT", "struct"},
    [TYPE_VARIANT] = {"VARIANT", "variant"},
};

/* How values of the kind lie in memory; apart, since hot loops ask. */
const uint8_t type_physical_kinds[] = {
    [TYPE_NULL] = PHYSICAL_NONE,
    [TYPE_BOOLEAN] = PHYSICAL_BOOL,
    [TYPE_TINYINT] = PHYSICAL_INT8,
    [TYPE_SMALLINT] = PHYSICAL_INT16,
    [TYPE_INT] = PHYSICAL_INT32,
    [TYPE_BIGINT] = PHYSICAL_INT64,
    [TYPE_FLOAT] = PHYSICAL_FLOAT,
    [TYPE_DOUBLE] = PHYSICAL_DOUBLE,
    [TYPE_DECIMAL] = PHYSICAL_INT128,
    [TYPE_STRING] = PHYSICAL_STR,
    [TYPE_BINARY] = PHYSICAL_STR,
    [TYPE_DATE] = PHYSICAL_INT32,
    [TYPE_TIMESTAMP] = PHYSICAL_INT64,
    [TYPE_TIMESTAMP_NTZ] = PHYSICAL_INT64,
    [TYPE_INTERVAL_YEAR_MONTH] = PHYSICAL_INT32,
    [TYPE_INTERVAL_DAY_TIME] = PHYSICAL_INT64,
    [TYPE_ARRAY] = PHYSICAL_LIST,
    [TYPE_MAP] = PHYSICAL_LIST,
    [TYPE_STRUCT] = PHYSICAL_STRUCT,
    [TYPE_VARIANT] = PHYSICAL_STR,
};

static const uint8_t physical_sizes[] = {
    [PHYSICAL_NONE] = 0,
    [PHYSICAL_BOOL] = sizeof(uint8_t),
    [PHYSICAL_INT8] = sizeof(int8_t),
    [PHYSICAL_INT16] = sizeof(int16_t),
    [PHYSICAL_INT32] = sizeof(int32_t),
    [PHYSICAL_INT64] = sizeof(int64_t),
    [PHYSICAL_INT128] = sizeof(int128),
    [PHYSICAL_FLOAT] = sizeof(float),
    [PHYSICAL_DOUBLE] = sizeof(double),
    [PHYSICAL_STR] = sizeof(Str),
    [PHYSICAL_LIST] = 0,
    [PHYSICAL_STRUCT] = 0,
};

const Type *type_decimal(Arena *arena, int precision, int scale)
{
    assert(precision >= 1 && precision <= DECIMAL_PRECISION_MAX);
    assert(scale >= 0 && scale <= precision);
    Type *type = arena_new_object(arena, Type);
    type->kind = TYPE_DECIMAL;
    type->precision = (uint8_t)precision;
    type->scale = (uint8_t)scale;
    return type;
}

const Type *type_interval(Arena *arena, TypeKind kind, enum IntervalField first,
                          enum IntervalField last)
{
    assert(first <= last);
    assert(kind == TYPE_INTERVAL_YEAR_MONTH ? last <= FIELD_MONTH
                                            : kind == TYPE_INTERVAL_DAY_TIME && first >= FIELD_DAY);
    Type *type = arena_new_object(arena, Type);
    type->kind = kind;
    type->precision = (uint8_t)first;
    type->scale = (uint8_t)last;
    return type;
}

const Type *type_array(Arena *arena, const Type *element)
{
    assert(element != NULL);
    Type *type = arena_new_object(arena, Type);
    type->kind = TYPE_ARRAY;
    type->element = element;
    return type;
}

const Type *type_map(Arena *arena, const Type *key, const Type *value)
{
    assert(key != NULL && value != NULL);
    Type *type = arena_new_object(arena, Type);
    type->kind = TYPE_MAP;
    type->key = key;
    type->element = value;
    return type;
}

const Type *type_struct(Arena *arena, const Field *fields, size_t count)
{
    assert(fields != NULL || count == 0);
    Field *copy = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        copy[i] = fields[i];
    }
    Type *type = arena_new_object(arena, Type);
    type->kind = TYPE_STRUCT;
    type->fields = copy;
    type->field_count = count;
    return type;
}

const Type *type_copy(Arena *arena, const Type *type)
{
    if (type == NULL) {
        return NULL;
    }
    Type *copy = arena_new_object(arena, Type);
    *copy = *type;
    copy->element = type_copy(arena, type->element);
    copy->key = type_copy(arena, type->key);
    Field *fields = arena_new_array(arena, Field, type->field_count);
    for (size_t i = 0; i < type->field_count; i++) {
        const Field *from = &type->fields[i];
        fields[i] = (Field){arena_copy_str(arena, from->name), type_copy(arena, from->type),
                            from->not_null, arena_copy_str(arena, from->comment)};
    }
    copy->fields = type->fields == NULL ? NULL : fields;
    return copy;
}

static bool fields_equal(const Type *a, const Type *b)
{
    if (a->field_count != b->field_count) {
        return false;
    }
    for (size_t i = 0; i < a->field_count; i++) {
        if (!str_equal_ignore_case(a->fields[i].name, b->fields[i].name) ||
            !type_equal(a->fields[i].type, b->fields[i].type)) {
            return false;
        }
    }
    return true;
}

/* What a kind does not use is zero or NULL, so all parts may be compared whatever the kind. */
bool type_equal(const Type *a, const Type *b)
{
    if (a == b) {
        return true;
    }
    if (a == NULL || b == NULL || a->kind != b->kind) {
        return false;
    }
    return a->precision == b->precision && a->scale == b->scale && type_equal(a->key, b->key) &&
           type_equal(a->element, b->element) && fields_equal(a, b);
}

size_t type_value_size(const Type *type)
{
    return physical_sizes[type_physical(type)];
}

bool type_is_integral(const Type *type)
{
    return type->kind >= TYPE_TINYINT && type->kind <= TYPE_BIGINT;
}

bool type_is_numeric(const Type *type)
{
    return type->kind >= TYPE_TINYINT && type->kind <= TYPE_DECIMAL;
}

bool type_is_datetime(const Type *type)
{
    return type->kind == TYPE_DATE || type->kind == TYPE_TIMESTAMP ||
           type->kind == TYPE_TIMESTAMP_NTZ;
}

bool type_is_interval(const Type *type)
{
    return type->kind == TYPE_INTERVAL_YEAR_MONTH || type->kind == TYPE_INTERVAL_DAY_TIME;
}

int type_whole_digits(const Type *type)
{
    static const uint8_t integral_digits[] = {
        [TYPE_TINYINT] = 3,
        [TYPE_SMALLINT] = 5,
        [TYPE_INT] = 10,
        [TYPE_BIGINT] = 19,
    };
    assert(type_is_integral(type) || type->kind == TYPE_DECIMAL);
    return type->kind == TYPE_DECIMAL ? type->precision - type->scale : integral_digits[type->kind];
}

uint32_t type_child_count(const Type *type)
{
    if (type->kind == TYPE_STRUCT) {
        return (uint32_t)type->field_count;
    }
    return (uint32_t)(type->key != NULL) + (uint32_t)(type->element != NULL);
}

const Type *type_child(const Type *type, uint32_t child)
{
    assert(child < type_child_count(type));
    if (type->kind == TYPE_STRUCT) {
        return type->fields[child].type;
    }
    return type->kind == TYPE_MAP && child == 0 ? type->key : type->element;
}

bool type_is_orderable(const Type *type)
{
    if (type->kind == TYPE_MAP || type->kind == TYPE_VARIANT) {
        return false;
    }
    if (type->kind == TYPE_ARRAY) {
        return type_is_orderable(type->element);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (!type_is_orderable(type->fields[i].type)) {
            return false;
        }
    }
    return true;
}

/* ---- Text ---- */

static void append_interval_fields(const Type *type, bool upper, Buffer *out)
{
    static const char *const names[2][6] = {
        {"year", "month", "day", "hour", "minute", "second"},
        {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"},
    };
    buffer_append_byte(out, ' ');
    buffer_append_cstr(out, names[upper][type->precision]);
    if (type->precision != type->scale) {
        buffer_append_cstr(out, upper ? " TO " : " to ");
        buffer_append_cstr(out, names[upper][type->scale]);
    }
}

static bool is_plain_word(Str name)
{
    static const char *const reserved[] = {"ALL",    "AND",  "AS",   "CASE", "DISTINCT",
                                           "FALSE",  "FROM", "NOT",  "NULL", "OR",
                                           "SELECT", "TRUE", "WHEN", "WITH"};
    for (size_t i = 0; i < ARRAY_LENGTH(reserved); i++) {
        if (str_equal_ignore_case(name, str_from(reserved[i]))) {
            return false;
        }
    }
    bool letters = false;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(c >= '0' && c <= '9')) {
            return false;
        }
        letters |= letter;
    }
    /* A digit in front would begin a number (Spark's lexer would cope, a reader would not). */
    return letters && !(name.data[0] >= '0' && name.data[0] <= '9');
}

void name_format(Str name, Buffer *out)
{
    if (is_plain_word(name)) {
        buffer_append_str(out, name);
        return;
    }
    buffer_append_byte(out, '`');
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == '`') {
            buffer_append_byte(out, '`');
        }
        buffer_append_byte(out, name.data[i]);
    }
    buffer_append_byte(out, '`');
}

static void append_quoted(Str text, Buffer *out)
{
    buffer_append_byte(out, '\'');
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\'' || text.data[i] == '\\') {
            buffer_append_byte(out, '\\');
        }
        buffer_append_byte(out, text.data[i]);
    }
    buffer_append_byte(out, '\'');
}

void field_format(const Field *field, const char *separator, Buffer *out)
{
    name_format(field->name, out);
    buffer_append_cstr(out, separator);
    type_format(field->type, out);
    if (field->not_null) {
        buffer_append_cstr(out, " NOT NULL");
    }
    if (field->comment.data != NULL) {
        buffer_append_cstr(out, " COMMENT ");
        append_quoted(field->comment, out);
    }
}

void type_format(const Type *type, Buffer *out)
{
    buffer_append_cstr(out, type_facts[type->kind].name);
    if (type->kind == TYPE_DECIMAL) {
        buffer_printf(out, "(%d,%d)", type->precision, type->scale);
    } else if (type->kind == TYPE_INTERVAL_YEAR_MONTH || type->kind == TYPE_INTERVAL_DAY_TIME) {
        append_interval_fields(type, true, out);
    } else if (type->kind == TYPE_ARRAY) {
        buffer_append_byte(out, '<');
        type_format(type->element, out);
        buffer_append_byte(out, '>');
    } else if (type->kind == TYPE_MAP) {
        buffer_append_byte(out, '<');
        type_format(type->key, out);
        buffer_append_cstr(out, ", ");
        type_format(type->element, out);
        buffer_append_byte(out, '>');
    } else if (type->kind == TYPE_STRUCT) {
        buffer_append_byte(out, '<');
        for (size_t i = 0; i < type->field_count; i++) {
            buffer_append_cstr(out, i == 0 ? "" : ", ");
            field_format(&type->fields[i], ": ", out);
        }
        buffer_append_byte(out, '>');
    }
}

void type_format_simple(const Type *type, Buffer *out)
{
    buffer_append_cstr(out, type_facts[type->kind].simple);
    if (type->kind == TYPE_DECIMAL) {
        buffer_printf(out, "(%d,%d)", type->precision, type->scale);
    } else if (type->kind == TYPE_INTERVAL_YEAR_MONTH || type->kind == TYPE_INTERVAL_DAY_TIME) {
        append_interval_fields(type, false, out);
    } else if (type->kind == TYPE_ARRAY) {
        buffer_append_byte(out, '<');
        type_format_simple(type->element, out);
        buffer_append_byte(out, '>');
    } else if (type->kind == TYPE_MAP) {
        buffer_append_byte(out, '<');
        type_format_simple(type->key, out);
        buffer_append_byte(out, ',');
        type_format_simple(type->element, out);
        buffer_append_byte(out, '>');
    } else if (type->kind == TYPE_STRUCT) {
        buffer_append_byte(out, '<');
        for (size_t i = 0; i < type->field_count; i++) {
            buffer_append_cstr(out, i == 0 ? "" : ",");
            buffer_append_str(out, type->fields[i].name);
            buffer_append_byte(out, ':');
            type_format_simple(type->fields[i].type, out);
        }
        buffer_append_byte(out, '>');
    }
}
