/* Intervals to and from text, as Spark 4 casts them and reads literals.
 *
 * Both families are a list of fields from the type's first to its last: the first may be any number
 * and carries the sign, later ones stay within their range (11 months, 23 hours, 59 minutes). The
 * other form, "3 days -4 hours", adds numbers of units. */
#include "processor/data/interval_text.h"

#include <assert.h>
#include <stdio.h>

#include "processor/data/number_text.h"

#include "processor/base/banned.h"

/* A field: its word, its size in months or microseconds, how many digits it may have as the first
 * one, the largest value when it is not first, and what separates it from the field before. */
static const struct IntervalFieldFacts {
    const char *word;
    const char *letter; /* in descriptions of formats */
    int64_t unit;
    size_t digits_max;
    int64_t max;
    char separator;
} field_facts[] = {
    [FIELD_YEAR] = {"YEAR", "y", 12, SIZE_MAX, 0, 0},
    [FIELD_MONTH] = {"MONTH", "m", 1, SIZE_MAX, 11, '-'},
    [FIELD_DAY] = {"DAY", "d", INT64_C(86400000000), 9, 0, 0},
    [FIELD_HOUR] = {"HOUR", "h", INT64_C(3600000000), 10, 23, ' '},
    [FIELD_MINUTE] = {"MINUTE", "m", INT64_C(60000000), 12, 59, ':'},
    [FIELD_SECOND] = {"SECOND", "s.n", INT64_C(1000000), 13, 59, ':'},
};

enum { FRACTION_DIGITS_MAX = 9, LATER_DIGITS_MAX = 2, SHOWN_MAX = 512 };

/* ---- Errors ---- */

/* The sentence all of them begin with. */
static void begin_message(Str text, Buffer *out)
{
    bool cut = text.size > SHOWN_MAX;
    buffer_printf(out,
                  "Error parsing '%.*s%s' to interval. Please ensure that the value provided is in "
                  "a valid format for defining an interval. You can reference the documentation "
                  "for the correct format. ",
                  (int)(cut ? SHOWN_MAX : text.size), text.data, cut ? "…" : "");
}

static COLD Error *invalid(ErrorClass class, Str text, const char *why)
{
    AUTO_BUFFER Buffer message = {0};
    begin_message(text, &message);
    buffer_append_cstr(&message, why);
    return error_new(class, "%s", buffer_cstr(&message));
}

static void append_fields(const Type *type, Buffer *out)
{
    buffer_append_cstr(out, "[+|-]");
    for (int field = type->precision; field <= type->scale; field++) {
        if (field != type->precision) {
            buffer_append_byte(out, field_facts[field].separator);
        }
        buffer_append_cstr(out, field_facts[field].letter);
    }
}

static void append_range(const Type *type, Buffer *out)
{
    buffer_append_cstr(out, field_facts[type->precision].word);
    if (type->precision != type->scale) {
        buffer_printf(out, " TO %s", field_facts[type->scale].word);
    }
}

/* The text has not the form of the type's fields. */
static COLD Error *unmatched(Str text, const Type *type)
{
    bool months = type->kind == TYPE_INTERVAL_YEAR_MONTH;
    AUTO_BUFFER Buffer message = {0};
    begin_message(text, &message);
    buffer_printf(&message, "Interval string does not match %s format of `",
                  months ? "year-month" : "day-time");
    append_fields(type, &message);
    buffer_append_cstr(&message, "`, `INTERVAL [+|-]'");
    append_fields(type, &message);
    buffer_append_cstr(&message, "' ");
    append_range(type, &message);
    buffer_append_cstr(&message, "` when cast to ");
    type_format_simple(type, &message);
    buffer_printf(&message, ": %.*s.", (int)(text.size > SHOWN_MAX ? SHOWN_MAX : text.size),
                  text.data);
    return error_new(months ? ERROR_INTERVAL_UNMATCHED : ERROR_INTERVAL_UNMATCHED_DAY_TIME, "%s",
                     buffer_cstr(&message));
}

/* The form is right, a value is not. */
static COLD Error *out_of_range(Str text, const Type *type)
{
    return invalid(ERROR_INTERVAL_PARSING, text,
                   type->kind == TYPE_INTERVAL_YEAR_MONTH
                       ? "Error parsing interval year-month string."
                       : "Error parsing interval day-time string.");
}

/* ---- From text: fields ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_spaces(Str *rest)
{
    while (rest->size > 0 && is_space(rest->data[0])) {
        *rest = (Str){rest->data + 1, rest->size - 1};
    }
}

static bool skip_byte(Str *rest, char byte)
{
    if (rest->size == 0 || rest->data[0] != byte) {
        return false;
    }
    *rest = (Str){rest->data + 1, rest->size - 1};
    return true;
}

/* White space and the word, in any case. */
static bool skip_word(Str *rest, const char *word, bool space_first)
{
    Str wanted = str_from(word);
    if (space_first && (rest->size == 0 || !is_space(rest->data[0]))) {
        return false;
    }
    skip_spaces(rest);
    if (rest->size < wanted.size ||
        !str_equal_ignore_case((Str){rest->data, wanted.size}, wanted)) {
        return false;
    }
    *rest = (Str){rest->data + wanted.size, rest->size - wanted.size};
    return true;
}

static int take_sign(Str *rest)
{
    if (skip_byte(rest, '-')) {
        return -1;
    }
    (void)skip_byte(rest, '+');
    return 1;
}

/* 1 to `max` digits. A value beyond int64 is its largest. */
static bool take_digits(Str *rest, size_t max, int64_t *ret_value)
{
    size_t count = 0;
    int64_t value = 0;
    for (; count < rest->size && char_is_digit(rest->data[count]); count++) {
        if (count == max) {
            return false;
        }
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, rest->data[count] - '0', &value)) {
            value = INT64_MAX;
        }
    }
    *rest = (Str){rest->data + count, rest->size - count};
    *ret_value = value;
    return count > 0;
}

/* .digits, cut to microseconds. */
static bool take_fraction(Str *rest, int64_t *ret_us)
{
    Str before = *rest;
    int64_t digits = 0;
    if (!take_digits(rest, FRACTION_DIGITS_MAX, &digits)) {
        return false;
    }
    for (size_t count = before.size - rest->size; count < FRACTION_DIGITS_MAX; count++) {
        digits *= 10;
    }
    *ret_us = digits / 1000;
    return true;
}

/* A value on its way: what is wrong with it is only told when the whole text has the right form. */
typedef struct FieldSum {
    int64_t value;
    bool bad;
} FieldSum;

static void add_part(FieldSum *sum, int64_t value, int64_t unit, int sign)
{
    int64_t part = 0;
    sum->bad = sum->bad || __builtin_mul_overflow(value, sign * unit, &part) ||
               __builtin_add_overflow(sum->value, part, &sum->value);
}

/* The fields from first to last; the rest of the text is the caller's. */
static bool take_fields(Str *rest, const Type *type, int sign, FieldSum *sum)
{
    sign *= take_sign(rest);
    for (int field = type->precision; field <= type->scale; field++) {
        const struct IntervalFieldFacts *facts = &field_facts[field];
        bool first = field == type->precision;
        bool any_digits = first || type->kind == TYPE_INTERVAL_YEAR_MONTH;
        int64_t value = 0;
        if ((!first && !skip_byte(rest, facts->separator)) ||
            !take_digits(rest, any_digits ? facts->digits_max : LATER_DIGITS_MAX, &value)) {
            return false;
        }
        sum->bad = sum->bad || (!first && value > facts->max);
        add_part(sum, value, facts->unit, sign);
    }
    if (type->scale == FIELD_SECOND && skip_byte(rest, '.')) {
        int64_t us = 0;
        if (!take_fraction(rest, &us)) {
            return false;
        }
        add_part(sum, us, 1, sign);
    }
    return true;
}

static bool take_literal(Str *rest, const Type *type, FieldSum *sum)
{
    if (!skip_word(rest, "INTERVAL", false) || rest->size == 0 || !is_space(rest->data[0])) {
        return false;
    }
    skip_spaces(rest);
    int sign = take_sign(rest);
    if (!skip_byte(rest, '\'') || !take_fields(rest, type, sign, sum) || !skip_byte(rest, '\'') ||
        !skip_word(rest, field_facts[type->precision].word, true)) {
        return false;
    }
    return type->precision == type->scale ||
           (skip_word(rest, "TO", true) && skip_word(rest, field_facts[type->scale].word, true));
}

static Error *parse(Str text, const Type *type, bool literal, int64_t *ret_value)
{
    Str rest = text_trim_all(text);
    FieldSum sum = {0};
    bool formed = literal ? take_literal(&rest, type, &sum) : take_fields(&rest, type, 1, &sum);
    if (!formed || rest.size > 0) {
        return unmatched(text, type);
    }
    if (sum.bad || (type->kind == TYPE_INTERVAL_YEAR_MONTH &&
                    (sum.value < INT32_MIN || sum.value > INT32_MAX))) {
        return out_of_range(text, type);
    }
    *ret_value = sum.value;
    return NULL;
}

Error *interval_parse(Str text, const Type *type, int64_t *ret_value)
{
    Str trimmed = text_trim_all(text);
    bool literal = trimmed.size > 0 && (trimmed.data[0] == 'I' || trimmed.data[0] == 'i');
    return parse(text, type, literal, ret_value);
}

Error *interval_parse_fields(Str text, const Type *type, int64_t *ret_value)
{
    return parse(text, type, false, ret_value);
}

/* ---- From text: units ---- */

typedef struct UnitFacts {
    const char *word;
    int64_t months;
    int64_t days;
    int64_t us;
    enum IntervalField field;
} UnitFacts;

static const UnitFacts unit_facts[] = {
    {"year", 12, 0, 0, FIELD_YEAR},
    {"month", 1, 0, 0, FIELD_MONTH},
    {"week", 0, 7, 0, FIELD_DAY},
    {"day", 0, 1, 0, FIELD_DAY},
    {"hour", 0, 0, INT64_C(3600000000), FIELD_HOUR},
    {"minute", 0, 0, INT64_C(60000000), FIELD_MINUTE},
    {"second", 0, 0, INT64_C(1000000), FIELD_SECOND},
    {"millisecond", 0, 0, INT64_C(1000), FIELD_SECOND},
    {"microsecond", 0, 0, 1, FIELD_SECOND},
};

/* A number before its unit. */
typedef struct UnitNumber {
    int sign;
    int64_t whole;
    int64_t fraction_us;
    bool has_fraction;
} UnitNumber;

static Error *take_number_fraction(Str text, Str *rest, bool digits_before, UnitNumber *number)
{
    number->has_fraction = true;
    int64_t digits = 0;
    size_t count = 0;
    for (; rest->size > 0 && char_is_digit(rest->data[0]); count++) {
        if (count == FRACTION_DIGITS_MAX) {
            return invalid(ERROR_INTERVAL_INVALID_PRECISION, text,
                           "Interval can only support nanosecond precision.");
        }
        digits = digits * 10 + (rest->data[0] - '0');
        *rest = (Str){rest->data + 1, rest->size - 1};
    }
    if (count == 0 && !digits_before) {
        return invalid(ERROR_INTERVAL_INVALID_VALUE, text, "A number needs digits.");
    }
    for (; count < FRACTION_DIGITS_MAX; count++) {
        digits *= 10;
    }
    number->fraction_us = digits / 1000;
    return NULL;
}

static Error *take_unit_number(Str text, Str *rest, UnitNumber *number)
{
    *number = (UnitNumber){.sign = 1};
    bool sign = rest->data[0] == '-' || rest->data[0] == '+';
    number->sign = take_sign(rest);
    if (sign) {
        skip_spaces(rest);
    }
    if (rest->size == 0) {
        return invalid(ERROR_INTERVAL_MISSING_NUMBER, text, "Expect a number after the sign.");
    }
    bool point_first = rest->data[0] == '.';
    if (!char_is_digit(rest->data[0]) && !point_first) {
        return invalid(ERROR_INTERVAL_UNRECOGNIZED_NUMBER, text, "Unrecognized number.");
    }
    int64_t whole = 0;
    if (!point_first && take_digits(rest, SIZE_MAX, &whole) && whole == INT64_MAX) {
        /* The largest value is one too, but take_digits cannot tell it from a larger one. */
        Str digits = {rest->data - 19, 19};
        if (!str_equal(digits, STR("9223372036854775807"))) {
            return invalid(ERROR_INTERVAL_ARITHMETIC_EXCEPTION, text,
                           "Uncaught arithmetic exception while parsing it.");
        }
    }
    number->whole = whole;
    return skip_byte(rest, '.') ? take_number_fraction(text, rest, !point_first || sign, number)
                                : NULL;
}

/* The unit's word, singular or plural, up to a blank or the end. */
static const UnitFacts *take_unit(Str *rest)
{
    size_t size = 0;
    while (size < rest->size && !is_space(rest->data[size])) {
        size++;
    }
    Str word = {rest->data, size};
    for (size_t i = 0; i < ARRAY_LENGTH(unit_facts); i++) {
        Str singular = str_from(unit_facts[i].word);
        Str stem = {word.data, singular.size};
        bool plural = word.size == singular.size + 1 && (word.data[singular.size] | 0x20) == 's';
        if ((word.size == singular.size || plural) && str_equal_ignore_case(stem, singular)) {
            *rest = (Str){rest->data + size, rest->size - size};
            return &unit_facts[i];
        }
    }
    return NULL;
}

static bool add_product(int64_t *total, int64_t value, int64_t unit, int64_t min, int64_t max)
{
    int64_t product = 0;
    return !__builtin_mul_overflow(value, unit, &product) &&
           !__builtin_add_overflow(*total, product, total) && *total >= min && *total <= max;
}

static Error *add_unit(Str text, const UnitNumber *number, const UnitFacts *unit,
                       IntervalUnits *ret)
{
    if (number->has_fraction && unit->us != INT64_C(1000000)) {
        char why[64];
        (void)snprintf(why, sizeof why, "'%s' cannot have fractional part.", unit->word);
        return invalid(ERROR_INTERVAL_INVALID_FRACTION, text, why);
    }
    int64_t value = number->sign * number->whole;
    if (!add_product(&ret->months, value, unit->months, INT32_MIN, INT32_MAX) ||
        !add_product(&ret->days, value, unit->days, INT32_MIN, INT32_MAX) ||
        !add_product(&ret->us, value, unit->us, INT64_MIN, INT64_MAX) ||
        !add_product(&ret->us, number->sign, number->fraction_us, INT64_MIN, INT64_MAX)) {
        return invalid(ERROR_INTERVAL_ARITHMETIC_EXCEPTION, text,
                       "Uncaught arithmetic exception while parsing it.");
    }
    ret->fields |= 1U << unit->field;
    return NULL;
}

Error *interval_parse_units(Str text, IntervalUnits *ret)
{
    Str rest = text_trim_all(text);
    *ret = (IntervalUnits){0};
    Str prefixed = rest;
    if (skip_word(&prefixed, "interval", false)) {
        if (prefixed.size > 0 && !is_space(prefixed.data[0])) {
            return invalid(ERROR_INTERVAL_INVALID_PREFIX, text, "Invalid interval prefix.");
        }
        skip_spaces(&prefixed);
        rest = prefixed;
    }
    if (rest.size == 0) {
        return invalid(ERROR_INTERVAL_INPUT_IS_EMPTY, text, "Interval string cannot be empty.");
    }
    while (rest.size > 0) {
        UnitNumber number;
        TRY(take_unit_number(text, &rest, &number));
        if (rest.size > 0 && !is_space(rest.data[0])) {
            return invalid(ERROR_INTERVAL_INVALID_VALUE, text, "Invalid value.");
        }
        skip_spaces(&rest);
        if (rest.size == 0) {
            return invalid(ERROR_INTERVAL_MISSING_UNIT, text,
                           "Expect a unit name after the number.");
        }
        const UnitFacts *unit = take_unit(&rest);
        if (unit == NULL) {
            return invalid(ERROR_INTERVAL_INVALID_UNIT, text, "Invalid unit.");
        }
        TRY(add_unit(text, &number, unit, ret));
        skip_spaces(&rest);
    }
    return NULL;
}

/* ---- To text ---- */

/* Seconds with their fraction, trailing zeros cut. */
static void append_seconds(uint64_t us, Buffer *out)
{
    buffer_printf(out, "%02llu", (unsigned long long)(us / 1000000));
    unsigned fraction = (unsigned)(us % 1000000);
    if (fraction > 0) {
        int width = 6;
        for (; fraction % 10 == 0; fraction /= 10) {
            width--;
        }
        buffer_printf(out, ".%0*u", width, fraction);
    }
}

void interval_format(int64_t value, const Type *type, Buffer *out)
{
    assert(type->kind == TYPE_INTERVAL_YEAR_MONTH || type->kind == TYPE_INTERVAL_DAY_TIME);
    buffer_append_cstr(out, value < 0 ? "INTERVAL '-" : "INTERVAL '");
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    for (int field = type->precision; field <= type->scale; field++) {
        if (field != type->precision) {
            buffer_append_byte(out, field_facts[field].separator);
        }
        if (field == FIELD_SECOND) {
            append_seconds(rest, out);
            break;
        }
        uint64_t unit = (uint64_t)field_facts[field].unit;
        bool padded = field >= FIELD_HOUR;
        buffer_printf(out, padded ? "%02llu" : "%llu", (unsigned long long)(rest / unit));
        rest %= unit;
    }
    buffer_printf(out, "' %s", field_facts[type->precision].word);
    if (type->precision != type->scale) {
        buffer_printf(out, " TO %s", field_facts[type->scale].word);
    }
}
