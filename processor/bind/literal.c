/* Literals as values. Numbers get Spark's types: an integer is an INT, else a BIGINT, else a
 * DECIMAL; with a point a DECIMAL of just its digits; with an exponent a DOUBLE; a suffix rules.
 * Typed literals are read when the statement is bound, so their mistakes are placed (SQ-33). */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "processor/bind/binder.h"
#include "processor/data/datetime.h"
#include "processor/data/decimal.h"
#include "processor/data/value_text.h"

#include "processor/base/banned.h"

typedef struct LiteralMaker {
    Arena *arena;
    SourcePlace place;
    Str text;
} LiteralMaker;

static BoundExpr *make(const LiteralMaker *maker, const Type *type, Vector **ret_vector)
{
    BoundExpr *expr = arena_new_object(maker->arena, BoundExpr);
    Vector *vector = vector_new(maker->arena, type, 1);
    *expr = (BoundExpr){.kind = BOUND_LITERAL,
                        .type = type,
                        .place = maker->place,
                        .text = maker->text,
                        .literal = vector,
                        .height = 1,
                        .node_count = 1};
    *ret_vector = vector;
    return expr;
}

BoundExpr *bound_null(Arena *arena, const Type *type, SourcePlace place)
{
    LiteralMaker maker = {arena, place, STR("NULL")};
    Vector *vector = NULL;
    BoundExpr *expr = make(&maker, type, &vector);
    vector_append_null(vector, arena);
    return expr;
}

BoundExpr *bound_boolean(Arena *arena, bool value, SourcePlace place)
{
    LiteralMaker maker = {arena, place, value ? STR("true") : STR("false")};
    Vector *vector = NULL;
    BoundExpr *expr = make(&maker, &type_boolean, &vector);
    vector_append_bool(vector, arena, value);
    return expr;
}

bool bound_is_null_literal(const BoundExpr *expr)
{
    return expr->kind == BOUND_LITERAL && !vector_is_valid(expr->literal, 0);
}

static BoundExpr *make_int(const LiteralMaker *maker, const Type *type, int64_t value)
{
    Vector *vector = NULL;
    BoundExpr *expr = make(maker, type, &vector);
    vector_append_int(vector, maker->arena, value);
    return expr;
}

static BoundExpr *make_decimal(const LiteralMaker *maker, int precision, int scale, int128 value)
{
    Vector *vector = NULL;
    BoundExpr *expr = make(maker, type_decimal(maker->arena, precision, scale), &vector);
    vector_append_int128(vector, maker->arena, value);
    return expr;
}

static BoundExpr *make_double(const LiteralMaker *maker, const Type *type, double value)
{
    Vector *vector = NULL;
    BoundExpr *expr = make(maker, type, &vector);
    vector_append_double(vector, maker->arena, value);
    return expr;
}

static BoundExpr *make_str(const LiteralMaker *maker, const Type *type, Str value)
{
    Vector *vector = NULL;
    BoundExpr *expr = make(maker, type, &vector);
    /* An empty string is no NULL: its pointer must not be one either. */
    vector_append_str(vector, maker->arena, value.data == NULL ? STR("") : value);
    return expr;
}

/* Number of decimal digits, at least 1. */
static int count_digits(int128 value)
{
    int digits = 1;
    while (digits < DECIMAL_PRECISION_MAX && !decimal_fits(value, digits)) {
        digits++;
    }
    return digits;
}

static Error *too_many_digits(SourcePlace place, Str digits)
{
    return error_at(ERROR_DECIMAL_PRECISION_EXCEEDS_MAX, place,
                    "The number %.*s has more digits than a DECIMAL can hold (%d).",
                    STR_ARG(digits), DECIMAL_PRECISION_MAX);
}

static Error *number_out_of_range(SourcePlace place, Str digits, bool negative, const char *type,
                                  const char *low, const char *high)
{
    return error_at(ERROR_INVALID_NUMERIC_LITERAL_RANGE, place,
                    "Numeric literal %s%.*s is outside the valid range for %s with minimum value "
                    "of %s and maximum value of %s. Please adjust the value accordingly.",
                    negative ? "-" : "", STR_ARG(digits), type, low, high);
}

/* Fraction digits of the text less its exponent: 1.50 has 2, 1e3 has -3. */
static int text_scale(Str digits)
{
    Str mantissa = digits;
    int64_t exponent = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] == 'e' || digits.data[i] == 'E') {
            Str text = {digits.data + i + 1, digits.size - i - 1};
            if (text.size > 0 && text.data[0] == '+') {
                text = (Str){text.data + 1, text.size - 1};
            }
            mantissa.size = i;
            if (!str_to_int64(text, &exponent) || exponent > 1000 || exponent < -1000) {
                exponent = text.size > 0 && text.data[0] == '-' ? -1000 : 1000;
            }
        }
    }
    size_t point = str_find_byte(mantissa, '.');
    int fraction = point < mantissa.size ? (int)(mantissa.size - point - 1) : 0;
    return fraction - (int)exponent;
}

/* DECIMAL with just the digits written; 0.05 is DECIMAL(2,2), 1e3BD DECIMAL(4,0). */
static Error *bind_decimal(const LiteralMaker *maker, Str digits, bool negative, BoundExpr **ret)
{
    int scale = digits.size > 1000 ? DECIMAL_PRECISION_MAX + 1 : text_scale(digits);
    scale = scale < 0 ? 0 : scale;
    int128 value = 0;
    if (scale > DECIMAL_PRECISION_MAX ||
        decimal_parse(digits, DECIMAL_PRECISION_MAX, scale, false, &value) != DECIMAL_OK) {
        return too_many_digits(maker->place, digits);
    }
    int precision = count_digits(value);
    precision = precision < scale ? scale : precision;
    *ret = make_decimal(maker, precision, scale, negative ? -value : value);
    return NULL;
}

static Error *bind_integer(const LiteralMaker *maker, Str digits, bool negative, BoundExpr **ret)
{
    int128 value = 0;
    if (decimal_parse(digits, DECIMAL_PRECISION_MAX, 0, false, &value) != DECIMAL_OK) {
        return too_many_digits(maker->place, digits);
    }
    value = negative ? -value : value;
    if (value >= INT32_MIN && value <= INT32_MAX) {
        *ret = make_int(maker, &type_int, (int64_t)value);
    } else if (value >= INT64_MIN && value <= INT64_MAX) {
        *ret = make_int(maker, &type_bigint, (int64_t)value);
    } else {
        *ret = make_decimal(maker, count_digits(value), 0, value);
    }
    return NULL;
}

typedef struct IntegralRange {
    const Type *type;
    int64_t low;
    int64_t high;
    const char *name;
    const char *low_text;
    const char *high_text;
} IntegralRange;

static Error *bind_sized_integer(const LiteralMaker *maker, Str digits, bool negative,
                                 AstNumberSuffix suffix, BoundExpr **ret)
{
    static const IntegralRange ranges[] = {
        [AST_SUFFIX_L] = {&type_bigint, INT64_MIN, INT64_MAX, "bigint", "-9223372036854775808",
                          "9223372036854775807"},
        [AST_SUFFIX_S] = {&type_smallint, INT16_MIN, INT16_MAX, "smallint", "-32768", "32767"},
        [AST_SUFFIX_Y] = {&type_tinyint, INT8_MIN, INT8_MAX, "tinyint", "-128", "127"},
    };
    const IntegralRange *range = &ranges[suffix];
    int128 value = 0;
    bool fits = decimal_parse(digits, DECIMAL_PRECISION_MAX, 0, false, &value) == DECIMAL_OK;
    value = negative ? -value : value;
    if (!fits || value < range->low || value > range->high) {
        return number_out_of_range(maker->place, digits, negative, range->name, range->low_text,
                                   range->high_text);
    }
    *ret = make_int(maker, range->type, (int64_t)value);
    return NULL;
}

static Error *bind_double(const LiteralMaker *maker, Str digits, bool negative, bool is_float,
                          BoundExpr **ret)
{
    double value = 0;
    bool parsed = double_parse(digits, &value);
    double limit = is_float ? (double)FLT_MAX : DBL_MAX;
    if (!parsed || !(fabs(value) <= limit)) {
        return number_out_of_range(maker->place, digits, negative, is_float ? "float" : "double",
                                   is_float ? "-3.4028234663852886E+38"
                                            : "-1.7976931348623157E+308",
                                   is_float ? "3.4028234663852886E+38" : "1.7976931348623157E+308");
    }
    *ret = make_double(maker, is_float ? &type_float : &type_double, negative ? -value : value);
    return NULL;
}

static Error *bind_number(const LiteralMaker *maker, const AstLiteral *literal, bool negative,
                          BoundExpr **ret)
{
    switch (literal->suffix) {
    case AST_SUFFIX_L:
    case AST_SUFFIX_S:
    case AST_SUFFIX_Y:
        return bind_sized_integer(maker, literal->value, negative, literal->suffix, ret);
    case AST_SUFFIX_F:
        return bind_double(maker, literal->value, negative, true, ret);
    case AST_SUFFIX_D:
        return bind_double(maker, literal->value, negative, false, ret);
    case AST_SUFFIX_BD:
        return bind_decimal(maker, literal->value, negative, ret);
    case AST_SUFFIX_NONE:
        break;
    }
    if (literal->kind == AST_LITERAL_INTEGER) {
        return bind_integer(maker, literal->value, negative, ret);
    }
    if (literal->kind == AST_LITERAL_DECIMAL) {
        return bind_decimal(maker, literal->value, negative, ret);
    }
    return bind_double(maker, literal->value, negative, false, ret);
}

static Error *invalid_typed(const LiteralMaker *maker, const char *type, Str value)
{
    return error_at(ERROR_INVALID_TYPED_LITERAL, maker->place,
                    "The value of the typed literal \"%s\" is invalid: '%.*s'.", type,
                    STR_ARG(value));
}

static Error *bind_datetime(const LiteralMaker *maker, const AstLiteral *literal,
                            const TimeZone *zone, BoundExpr **ret)
{
    if (literal->kind == AST_LITERAL_DATE) {
        int32_t days = 0;
        if (!date_parse(literal->value, &days)) {
            return invalid_typed(maker, "DATE", literal->value);
        }
        *ret = make_int(maker, &type_date, days);
        return NULL;
    }
    int64_t us = 0;
    if (literal->kind == AST_LITERAL_TIMESTAMP_NTZ) {
        if (!timestamp_ntz_parse(literal->value, true, &us)) {
            return invalid_typed(maker, "TIMESTAMP_NTZ", literal->value);
        }
        *ret = make_int(maker, &type_timestamp_ntz, us);
        return NULL;
    }
    if (!timestamp_parse(literal->value, zone, &us)) {
        return invalid_typed(maker,
                             literal->kind == AST_LITERAL_TIMESTAMP ? "TIMESTAMP" : "TIMESTAMP_LTZ",
                             literal->value);
    }
    *ret = make_int(maker, &type_timestamp, us);
    return NULL;
}

static Error *bind_time_literal(Binder *binder, const LiteralMaker *maker,
                                const AstLiteral *literal, BoundExpr **ret)
{
    const Type *type = literal->kind == AST_LITERAL_DATE            ? &type_date
                       : literal->kind == AST_LITERAL_TIMESTAMP_NTZ ? &type_timestamp_ntz
                                                                    : &type_timestamp;
    BoundExpr place = {.place = maker->place, .text = maker->text};
    return is_special_time(literal->value, type)
               ? bind_special_time(binder, literal->value, type, &place, ret)
               : bind_datetime(maker, literal, binder->context->time_zone, ret);
}

/* X'1F2' is the bytes 01 F2, as in Spark. */
static Error *bind_binary(const LiteralMaker *maker, Str digits, BoundExpr **ret)
{
    size_t size = (digits.size + 1) / 2;
    char *bytes = arena_alloc_bytes(maker->arena, size + 1);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = 0;
    }
    for (size_t i = 0; i < digits.size; i++) {
        int digit = char_hex_value(digits.data[i]);
        if (digit < 0) {
            return invalid_typed(maker, "X", digits);
        }
        size_t nibble = i + (digits.size & 1);
        int shifted = nibble % 2 == 0 ? digit << 4 : digit;
        bytes[nibble / 2] = (char)(bytes[nibble / 2] | shifted);
    }
    *ret = make_str(maker, &type_binary, (Str){bytes, size});
    return NULL;
}

Error *bind_literal(Binder *binder, const AstExpr *expr, bool negative, BoundExpr **ret)
{
    const AstLiteral *literal = &expr->literal;
    LiteralMaker maker = {binder->arena, expr->place, expr->text};
    switch (literal->kind) {
    case AST_LITERAL_NULL:
        *ret = bound_null(binder->arena, &type_null, expr->place);
        return NULL;
    case AST_LITERAL_TRUE:
    case AST_LITERAL_FALSE:
        *ret = bound_boolean(binder->arena, literal->kind == AST_LITERAL_TRUE, expr->place);
        return NULL;
    case AST_LITERAL_STRING:
        *ret = make_str(&maker, &type_string, literal->value);
        return NULL;
    case AST_LITERAL_INTEGER:
    case AST_LITERAL_DECIMAL:
    case AST_LITERAL_DOUBLE:
        return bind_number(&maker, literal, negative, ret);
    case AST_LITERAL_DATE:
    case AST_LITERAL_TIMESTAMP:
    case AST_LITERAL_TIMESTAMP_NTZ:
    case AST_LITERAL_TIMESTAMP_LTZ:
        return bind_time_literal(binder, &maker, literal, ret);
    case AST_LITERAL_BINARY:
        return bind_binary(&maker, literal->value, ret);
    }
    return error_at(ERROR_INTERNAL_ERROR, expr->place, "unknown kind of literal");
}

BoundExpr *bound_literal_to_decimal(Arena *arena, const BoundExpr *literal)
{
    assert(literal->kind == BOUND_LITERAL && type_is_integral(literal->type));
    int128 value = vector_int_value(literal->literal, 0);
    LiteralMaker maker = {arena, literal->place, literal->text};
    return make_decimal(&maker, count_digits(value), 0, value);
}
