/* Wider types of a column; recursion is bounded by the depth of types. */
#include "processor/data/type_widening.h"

#include "processor/base/banned.h"

static bool integer_widens(const Type *from, const Type *to)
{
    if (type_is_integral(to)) {
        return from->kind <= to->kind;
    }
    return to->kind == TYPE_DOUBLE ||
           (to->kind == TYPE_DECIMAL && to->precision - to->scale >= type_whole_digits(from));
}

static bool decimal_widens(const Type *from, const Type *to)
{
    return to->kind == TYPE_DECIMAL && to->scale >= from->scale &&
           to->precision - to->scale >= from->precision - from->scale;
}

static const Type *field_type(const Type *type, Str name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (str_equal_ignore_case(type->fields[i].name, name)) {
            return type->fields[i].type;
        }
    }
    return NULL;
}

static bool struct_widens(const Type *from, const Type *to)
{
    for (size_t i = 0; to->kind == TYPE_STRUCT && i < from->field_count; i++) {
        const Type *type = field_type(to, from->fields[i].name);
        if (type == NULL || !type_widens_to(from->fields[i].type, type)) {
            return false;
        }
    }
    return to->kind == TYPE_STRUCT;
}

bool type_widens_to(const Type *from, const Type *to)
{
    if (type_equal(from, to)) {
        return true;
    }
    switch (from->kind) {
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return integer_widens(from, to);
    case TYPE_DECIMAL:
        return decimal_widens(from, to);
    case TYPE_DATE:
        return to->kind == TYPE_TIMESTAMP || to->kind == TYPE_TIMESTAMP_NTZ;
    case TYPE_ARRAY:
        return to->kind == TYPE_ARRAY && type_widens_to(from->element, to->element);
    case TYPE_MAP:
        return to->kind == TYPE_MAP && type_equal(from->key, to->key) &&
               type_widens_to(from->element, to->element);
    case TYPE_STRUCT:
        return struct_widens(from, to);
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        return false;
    }
    return false;
}

bool type_widening_is_exact(const Type *from, const Type *to)
{
    if (from->kind == TYPE_ARRAY || from->kind == TYPE_MAP) {
        return type_widening_is_exact(from->element, to->element);
    }
    for (size_t i = 0; from->kind == TYPE_STRUCT && i < from->field_count; i++) {
        if (!type_widening_is_exact(from->fields[i].type, field_type(to, from->fields[i].name))) {
            return false;
        }
    }
    return !(from->kind == TYPE_BIGINT && to->kind == TYPE_DOUBLE);
}
