/* Implicit conversion as Spark 4 does it in ANSI mode (AnsiTypeCoercion, Cast.canAnsiCast,
 * Cast.canANSIStoreAssign). Four questions about pairs of types; none looks at values.
 *
 * The common type of two, tried in this order:
 *     equal types, NULL with anything
 *     numbers: the wider integer; FLOAT with an integer is DOUBLE (a FLOAT cannot hold an INT);
 *              DECIMALs get the digits of both, at the price of fraction digits beyond 38
 *     dates and times: DATE < TIMESTAMP_NTZ < TIMESTAMP
 *     a STRING follows the other: BIGINT for integers, DOUBLE for fractions, else that very type
 *     arrays, maps and structs part by part
 */
#include "processor/bind/coerce.h"

#include <assert.h>

#include "processor/base/banned.h"

static const Type *common_type(Arena *arena, const Type *a, const Type *b, int depth);

/* Types nest as deep as the text that declares them allows (AST_DEPTH_MAX). */
enum { TYPE_DEPTH_MAX = 1000 };

static bool is_fractional(const Type *type)
{
    return type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE || type->kind == TYPE_DECIMAL;
}

static bool has_parts(const Type *type)
{
    return type->kind == TYPE_ARRAY || type->kind == TYPE_MAP || type->kind == TYPE_STRUCT;
}

static bool is_atomic(const Type *type)
{
    return type->kind != TYPE_NULL && type->kind != TYPE_VARIANT && !has_parts(type);
}

const Type *coerce_decimal_bounded(Arena *arena, int precision, int scale)
{
    /* Spark's boundedPreferIntegralDigits: what is too much is taken from the fraction. */
    if (precision > DECIMAL_PRECISION_MAX) {
        int excess = precision - DECIMAL_PRECISION_MAX;
        scale = scale > excess ? scale - excess : 0;
        precision = DECIMAL_PRECISION_MAX;
    }
    return type_decimal(arena, precision, scale);
}

const Type *coerce_to_decimal(Arena *arena, const Type *type)
{
    /* Spark's DecimalType.forType: it gives BIGINT one digit more than a value can have. */
    assert(type_is_numeric(type));
    if (type->kind == TYPE_DECIMAL) {
        return type;
    }
    if (type->kind == TYPE_FLOAT) {
        return type_decimal(arena, 14, 7);
    }
    if (type->kind == TYPE_DOUBLE) {
        return type_decimal(arena, 30, 15);
    }
    return type_decimal(arena, type->kind == TYPE_BIGINT ? 20 : type_whole_digits(type), 0);
}

static const Type *wider_decimal(Arena *arena, const Type *a, const Type *b)
{
    int integral_a = a->precision - a->scale;
    int integral_b = b->precision - b->scale;
    int scale = a->scale > b->scale ? a->scale : b->scale;
    int integral = integral_a > integral_b ? integral_a : integral_b;
    return coerce_decimal_bounded(arena, integral + scale, scale);
}

static const Type *common_numeric(Arena *arena, const Type *a, const Type *b)
{
    bool decimal_a = a->kind == TYPE_DECIMAL;
    bool decimal_b = b->kind == TYPE_DECIMAL;
    if (decimal_a || decimal_b) {
        const Type *other = decimal_a ? b : a;
        if (other->kind == TYPE_FLOAT || other->kind == TYPE_DOUBLE) {
            return &type_double;
        }
        return wider_decimal(arena, coerce_to_decimal(arena, a), coerce_to_decimal(arena, b));
    }
    const Type *wider = a->kind > b->kind ? a : b;
    return wider->kind == TYPE_FLOAT ? &type_double : wider;
}

static const Type *common_datetime(const Type *a, const Type *b)
{
    return a->kind == TYPE_TIMESTAMP || b->kind == TYPE_TIMESTAMP ? &type_timestamp
                                                                  : &type_timestamp_ntz;
}

static const Type *common_interval(Arena *arena, const Type *a, const Type *b)
{
    if (a->kind != b->kind) {
        return NULL;
    }
    uint8_t first = a->precision < b->precision ? a->precision : b->precision;
    uint8_t last = a->scale > b->scale ? a->scale : b->scale;
    return type_interval(arena, a->kind, (enum IntervalField)first, (enum IntervalField)last);
}

/* A STRING meets `other`. */
static const Type *common_with_string(const Type *other)
{
    if (type_is_integral(other)) {
        return &type_bigint;
    }
    if (is_fractional(other)) {
        return &type_double;
    }
    return is_atomic(other) && !type_is_interval(other) ? other : NULL;
}

static const Type *common_struct(Arena *arena, const Type *a, const Type *b, int depth)
{
    if (a->field_count != b->field_count) {
        return NULL;
    }
    Field *fields = arena_new_array(arena, Field, a->field_count);
    for (size_t i = 0; i < a->field_count; i++) {
        if (!str_equal_ignore_case(a->fields[i].name, b->fields[i].name)) {
            return NULL;
        }
        const Type *type = common_type(arena, a->fields[i].type, b->fields[i].type, depth);
        if (type == NULL) {
            return NULL;
        }
        fields[i] = (Field){a->fields[i].name, type, a->fields[i].not_null && b->fields[i].not_null,
                            a->fields[i].comment};
    }
    return type_struct(arena, fields, a->field_count);
}

static const Type *common_nested(Arena *arena, const Type *a, const Type *b, int depth)
{
    if (a->kind != b->kind || depth > TYPE_DEPTH_MAX) {
        return NULL;
    }
    if (a->kind == TYPE_STRUCT) {
        return common_struct(arena, a, b, depth + 1);
    }
    if (a->kind != TYPE_ARRAY && a->kind != TYPE_MAP) {
        return NULL;
    }
    const Type *element = common_type(arena, a->element, b->element, depth + 1);
    if (element == NULL || a->kind == TYPE_ARRAY) {
        return element == NULL ? NULL : type_array(arena, element);
    }
    const Type *key = common_type(arena, a->key, b->key, depth + 1);
    return key == NULL ? NULL : type_map(arena, key, element);
}

static const Type *common_type(Arena *arena, const Type *a, const Type *b, int depth)
{
    if (b->kind == TYPE_NULL || type_equal(a, b)) {
        return a;
    }
    if (a->kind == TYPE_NULL) {
        return b;
    }
    if (type_is_numeric(a) && type_is_numeric(b)) {
        return common_numeric(arena, a, b);
    }
    if (type_is_datetime(a) && type_is_datetime(b)) {
        return common_datetime(a, b);
    }
    if (type_is_interval(a) && type_is_interval(b)) {
        return common_interval(arena, a, b);
    }
    if (a->kind == TYPE_STRING || b->kind == TYPE_STRING) {
        return common_with_string(a->kind == TYPE_STRING ? b : a);
    }
    return common_nested(arena, a, b, depth);
}

const Type *coerce_common_type(Arena *arena, const Type *a, const Type *b)
{
    return common_type(arena, a, b, 0);
}

typedef bool PairTest(const Type *from, const Type *to, int depth);

/* Are the two built alike, and does the test hold for each part of one and its match? */
static bool parts_pass(const Type *from, const Type *to, int depth, PairTest *test)
{
    uint32_t count = type_child_count(to);
    if (from->kind != to->kind || type_child_count(from) != count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!test(type_child(from, i), type_child(to, i), depth)) {
            return false;
        }
    }
    return true;
}

static bool same_field_names(const Type *from, const Type *to)
{
    for (size_t i = 0; i < from->field_count && i < to->field_count; i++) {
        if (!str_equal_ignore_case(from->fields[i].name, to->fields[i].name)) {
            return false;
        }
    }
    return true;
}

static bool is_assignable(const Type *from, const Type *to, int depth)
{
    if (from->kind == TYPE_NULL || type_equal(from, to)) {
        return true;
    }
    if (depth > TYPE_DEPTH_MAX) {
        return false;
    }
    if (has_parts(to)) {
        return same_field_names(from, to) && parts_pass(from, to, depth + 1, is_assignable);
    }
    if (to->kind == TYPE_STRING) {
        return is_atomic(from);
    }
    if (type_is_interval(to)) {
        return from->kind == to->kind;
    }
    return (type_is_numeric(from) && type_is_numeric(to)) ||
           (type_is_datetime(from) && type_is_datetime(to));
}

bool coerce_is_assignable(const Type *from, const Type *to)
{
    return is_assignable(from, to, 0);
}

bool coerce_is_implicit(const Type *from, const Type *to)
{
    /* A function that wants whole numbers does not get a fraction cut off. */
    if (is_fractional(from) && type_is_integral(to)) {
        return false;
    }
    if (from->kind == TYPE_STRING) {
        return is_atomic(to) && !type_is_interval(to);
    }
    return is_assignable(from, to, 0);
}

static bool is_scalar_castable(const Type *from, const Type *to)
{
    bool from_string = from->kind == TYPE_STRING;
    switch (to->kind) {
    case TYPE_BOOLEAN:
        return from_string || type_is_numeric(from);
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
        return from_string || type_is_numeric(from) || from->kind == TYPE_BOOLEAN ||
               from->kind == TYPE_TIMESTAMP || type_is_interval(from);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return from_string || type_is_numeric(from) || from->kind == TYPE_BOOLEAN ||
               from->kind == TYPE_TIMESTAMP;
    case TYPE_DECIMAL:
        return from_string || type_is_numeric(from) || from->kind == TYPE_BOOLEAN ||
               from->kind == TYPE_TIMESTAMP || type_is_interval(from);
    case TYPE_BINARY:
        return from_string;
    case TYPE_DATE:
        return from_string || type_is_datetime(from);
    case TYPE_TIMESTAMP:
        return from_string || type_is_datetime(from) || type_is_numeric(from);
    case TYPE_TIMESTAMP_NTZ:
        return from_string || type_is_datetime(from);
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
        return from_string || from->kind == to->kind || type_is_integral(from) ||
               from->kind == TYPE_DECIMAL;
    case TYPE_NULL:
    case TYPE_STRING:
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
    case TYPE_VARIANT:
        return false;
    }
    return false;
}

static bool is_castable(const Type *from, const Type *to, int depth)
{
    if (from->kind == TYPE_NULL || type_equal(from, to)) {
        return true;
    }
    if (depth > TYPE_DEPTH_MAX) {
        return false;
    }
    if (to->kind == TYPE_STRING) {
        return true;
    }
    if (to->kind == TYPE_VARIANT) {
        return from->kind != TYPE_MAP && from->kind != TYPE_STRUCT && !type_is_interval(from);
    }
    if (from->kind == TYPE_VARIANT) {
        return !type_is_interval(to);
    }
    return has_parts(to) ? parts_pass(from, to, depth + 1, is_castable)
                         : is_scalar_castable(from, to);
}

bool coerce_is_castable(const Type *from, const Type *to)
{
    return is_castable(from, to, 0);
}

/* A cast that never gives NULL for what is not NULL. */
static bool cannot_fail(const Type *from, const Type *to)
{
    if (type_equal(from, to) || to->kind == TYPE_STRING) {
        return true;
    }
    bool numbers = type_is_integral(from) && type_is_numeric(to) && to->kind != TYPE_DECIMAL;
    return (numbers && (to->kind > from->kind)) ||
           (from->kind == TYPE_FLOAT && to->kind == TYPE_DOUBLE);
}

static bool keys_are_safe(const Type *from, const Type *to, int depth)
{
    if (from->kind != to->kind || depth > TYPE_DEPTH_MAX) {
        return true;
    }
    if (from->kind == TYPE_MAP && !cannot_fail(from->key, to->key)) {
        return false;
    }
    uint32_t count = type_child_count(from);
    for (uint32_t i = 0; i < count && i < type_child_count(to); i++) {
        if (!keys_are_safe(type_child(from, i), type_child(to, i), depth + 1)) {
            return false;
        }
    }
    return true;
}

bool coerce_is_try_castable(const Type *from, const Type *to)
{
    return is_castable(from, to, 0) && keys_are_safe(from, to, 0);
}

static bool was_castable(const Type *from, const Type *to, int depth)
{
    if (is_castable(from, to, depth)) {
        return true;
    }
    if (has_parts(to) && depth <= TYPE_DEPTH_MAX) {
        return parts_pass(from, to, depth + 1, was_castable);
    }
    bool time = from->kind == TYPE_DATE || from->kind == TYPE_TIMESTAMP;
    switch (to->kind) {
    case TYPE_BINARY:
        return type_is_integral(from);
    case TYPE_BOOLEAN:
        return time;
    case TYPE_TIMESTAMP:
        return from->kind == TYPE_BOOLEAN;
    default:
        return type_is_numeric(to) && time;
    }
}

bool coerce_was_castable(const Type *from, const Type *to)
{
    return was_castable(from, to, 0);
}
