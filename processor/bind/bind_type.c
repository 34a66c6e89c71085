/* Types as words to types, column definitions to schemas. */
#include <stdarg.h>
#include <stdio.h>

#include "processor/bind/binder.h"

#include "processor/base/banned.h"

Error *not_yet(SourcePlace place, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_at(ERROR_NOT_YET, place, "%s is not built yet.", text);
}

static Error *bind_decimal(Arena *arena, const AstDataType *type, const Type **ret_type)
{
    int64_t precision = type->precision;
    int64_t scale = type->scale;
    if (precision > DECIMAL_PRECISION_MAX || scale > DECIMAL_PRECISION_MAX) {
        return error_at(ERROR_DECIMAL_PRECISION_EXCEEDS_MAX, type->place,
                        "Decimal precision %lld exceeds max precision %d.",
                        (long long)(precision > scale ? precision : scale), DECIMAL_PRECISION_MAX);
    }
    if (precision < 1 || scale < 0 || scale > precision) {
        return error_at(ERROR_DECIMAL_SCALE_EXCEEDS_PRECISION, type->place,
                        "Decimal scale (%lld) cannot be greater than precision (%lld), and the "
                        "precision is 1 to %d.",
                        (long long)scale, (long long)precision, DECIMAL_PRECISION_MAX);
    }
    *ret_type = type_decimal(arena, (int)precision, (int)scale);
    return NULL;
}

static enum IntervalField interval_field(AstIntervalUnit unit)
{
    switch (unit) {
    case AST_UNIT_YEAR:
        return FIELD_YEAR;
    case AST_UNIT_MONTH:
        return FIELD_MONTH;
    case AST_UNIT_WEEK:
    case AST_UNIT_DAY:
        return FIELD_DAY;
    case AST_UNIT_HOUR:
        return FIELD_HOUR;
    case AST_UNIT_MINUTE:
        return FIELD_MINUTE;
    case AST_UNIT_SECOND:
    case AST_UNIT_MILLISECOND:
    case AST_UNIT_MICROSECOND:
        return FIELD_SECOND;
    }
    return FIELD_SECOND;
}

static Error *bind_interval(Arena *arena, const AstDataType *type, const Type **ret_type)
{
    enum IntervalField first = interval_field(type->interval_from);
    enum IntervalField last = interval_field(type->interval_to);
    bool months_first = first <= FIELD_MONTH;
    bool months_last = last <= FIELD_MONTH;
    if (months_first != months_last || first > last) {
        return error_at(ERROR_UNSUPPORTED_DATATYPE, type->place, "Unsupported data type \"%.*s\".",
                        STR_ARG(type->text));
    }
    TypeKind kind = months_first ? TYPE_INTERVAL_YEAR_MONTH : TYPE_INTERVAL_DAY_TIME;
    *ret_type = type_interval(arena, kind, first, last);
    return NULL;
}

static Error *bind_struct_fields(Arena *arena, const AstDataType *type, const Type **ret_type)
{
    Field *fields = arena_new_array(arena, Field, type->field_count);
    for (size_t i = 0; i < type->field_count; i++) {
        const AstStructField *from = &type->fields[i];
        for (size_t k = 0; k < i; k++) {
            if (str_equal_ignore_case(fields[k].name, from->name.name)) {
                return error_at(ERROR_COLUMN_ALREADY_EXISTS, from->name.place,
                                "The column `%.*s` already exists. Choose another name or rename "
                                "the existing column.",
                                STR_ARG(from->name.name));
            }
        }
        const Type *field_type = NULL;
        TRY(bind_type(arena, from->type, &field_type));
        fields[i] = (Field){from->name.name, field_type, from->not_null, from->comment.value};
    }
    *ret_type = type_struct(arena, fields, type->field_count);
    return NULL;
}

static Error *check_collation(const AstDataType *type)
{
    if (type->collation.name.data == NULL ||
        str_equal_ignore_case(type->collation.name, STR("UTF8_BINARY"))) {
        return NULL;
    }
    return error_at(ERROR_UNSUPPORTED_COLLATION, type->collation.place,
                    "The collation %.*s is not supported. UTF8_BINARY is the only one.",
                    STR_ARG(type->collation.name));
}

static Error *bind_map(Arena *arena, const AstDataType *type, const Type **ret_type)
{
    const Type *key = NULL;
    const Type *element = NULL;
    TRY(bind_type(arena, type->key, &key));
    TRY(bind_type(arena, type->element, &element));
    if (!type_is_orderable(key)) {
        return error_at(ERROR_UNSUPPORTED_DATATYPE, type->key->place,
                        "A MAP cannot have keys of the type \"%.*s\".", STR_ARG(type->key->text));
    }
    *ret_type = type_map(arena, key, element);
    return NULL;
}

Error *bind_type(Arena *arena, const AstDataType *type, const Type **ret_type)
{
    static const Type *const simple[] = {
        [AST_TYPE_BOOLEAN] = &type_boolean,     [AST_TYPE_TINYINT] = &type_tinyint,
        [AST_TYPE_SMALLINT] = &type_smallint,   [AST_TYPE_INT] = &type_int,
        [AST_TYPE_BIGINT] = &type_bigint,       [AST_TYPE_FLOAT] = &type_float,
        [AST_TYPE_DOUBLE] = &type_double,       [AST_TYPE_STRING] = &type_string,
        [AST_TYPE_BINARY] = &type_binary,       [AST_TYPE_DATE] = &type_date,
        [AST_TYPE_TIMESTAMP] = &type_timestamp, [AST_TYPE_TIMESTAMP_NTZ] = &type_timestamp_ntz,
        [AST_TYPE_VARIANT] = &type_variant,
    };
    const Type *element = NULL;
    switch (type->kind) {
    case AST_TYPE_DECIMAL:
        return bind_decimal(arena, type, ret_type);
    case AST_TYPE_CHAR:
        return not_yet(type->place, "The type CHAR(n) (use STRING)");
    case AST_TYPE_VARCHAR:
        return not_yet(type->place, "The type VARCHAR(n) (use STRING)");
    case AST_TYPE_INTERVAL:
        return bind_interval(arena, type, ret_type);
    case AST_TYPE_ARRAY:
        TRY(bind_type(arena, type->element, &element));
        *ret_type = type_array(arena, element);
        return NULL;
    case AST_TYPE_MAP:
        return bind_map(arena, type, ret_type);
    case AST_TYPE_STRUCT:
        return bind_struct_fields(arena, type, ret_type);
    case AST_TYPE_STRING:
        TRY(check_collation(type));
        *ret_type = &type_string;
        return NULL;
    case AST_TYPE_BOOLEAN:
    case AST_TYPE_TINYINT:
    case AST_TYPE_SMALLINT:
    case AST_TYPE_INT:
    case AST_TYPE_BIGINT:
    case AST_TYPE_FLOAT:
    case AST_TYPE_DOUBLE:
    case AST_TYPE_BINARY:
    case AST_TYPE_DATE:
    case AST_TYPE_TIMESTAMP:
    case AST_TYPE_TIMESTAMP_NTZ:
    case AST_TYPE_VARIANT:
        *ret_type = simple[type->kind];
        return NULL;
    }
    return error_at(ERROR_INTERNAL_ERROR, type->place, "unknown kind of type");
}

/* Does a value of the type hold an INTERVAL or VARIANT? */
static bool holds_unreadable(const Type *type)
{
    if (type_is_interval(type) || type->kind == TYPE_VARIANT) {
        return true;
    }
    for (uint32_t i = 0; i < type_child_count(type); i++) {
        if (holds_unreadable(type_child(type, i))) {
            return true;
        }
    }
    return false;
}

static Error *bind_source_column(Arena *arena, const AstColumnDefinition *column, Field *ret_field)
{
    const Type *type = NULL;
    TRY(bind_type(arena, column->type, &type));
    if (holds_unreadable(type)) {
        return not_yet(column->type->place, "Reading records into a column of the type %.*s",
                       STR_ARG(column->type->text));
    }
    Field field = {column->name.name, type, false, STR_NULL};
    for (size_t i = 0; i < column->property_count; i++) {
        const AstColumnProperty *property = &column->properties[i];
        if (property->kind == AST_COLUMN_NOT_NULL) {
            field.not_null = true;
        } else if (property->kind == AST_COLUMN_COMMENT) {
            field.comment = property->comment.value;
        } else {
            return error_at(ERROR_UNSUPPORTED_COLUMN_FEATURE, property->place,
                            "A column of a source has a type, NOT NULL and COMMENT, nothing else.");
        }
    }
    *ret_field = field;
    return NULL;
}

Error *bind_schema(Arena *arena, const AstColumnDefinition *columns, size_t count,
                   const Schema **ret_schema)
{
    Field *fields = arena_new_array(arena, Field, count);
    Schema so_far = {.fields = fields, .field_count = 0};
    for (size_t i = 0; i < count; i++) {
        TRY(bind_source_column(arena, &columns[i], &fields[i]));
        if (schema_find(&so_far, columns[i].name.name) >= 0) {
            return error_at(ERROR_COLUMN_ALREADY_EXISTS, columns[i].name.place,
                            "The column `%.*s` already exists. Choose another name or rename the "
                            "existing column.",
                            STR_ARG(columns[i].name.name));
        }
        so_far.field_count++;
    }
    *ret_schema = schema_new(arena, fields, count);
    return NULL;
}
