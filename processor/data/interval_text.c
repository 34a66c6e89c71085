/* Intervals to and from text, as Spark 4 casts them.
 *
 * Both families are a list of fields from the type's first to its last: the first may be any number
 * and carries the sign, later ones stay within their range (11 months, 23 hours, 59 minutes). */
#include "processor/data/interval_text.h"

#include <assert.h>

#include "processor/data/number_text.h"
#include "processor/base/banned.h"

/* A field: its word, its size in months or microseconds, the largest value when it is not first,
 * and what separates it from the field before. */
static const struct IntervalFieldFacts {
    const char *word;
    int64_t unit;
    int64_t max;
    char separator;
} field_facts[] = {
    [FIELD_YEAR] = {"YEAR", 12, 0, 0},
    [FIELD_MONTH] = {"MONTH", 1, 11, '-'},
    [FIELD_DAY] = {"DAY", INT64_C(86400000000), 0, 0},
    [FIELD_HOUR] = {"HOUR", INT64_C(3600000000), 23, ' '},
    [FIELD_MINUTE] = {"MINUTE", INT64_C(60000000), 59, ':'},
    [FIELD_SECOND] = {"SECOND", INT64_C(1000000), 59, ':'},
};

enum { FRACTION_DIGITS_MAX = 9, LATER_DIGITS_MAX = 2 };

/* ---- From text ---- */

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

static bool take_digits(Str *rest, size_t max, int64_t *ret_value)
{
    size_t count = 0;
    int64_t value = 0;
    for (; count < rest->size && rest->data[count] >= '0' && rest->data[count] <= '9'; count++) {
        if (count == max || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, rest->data[count] - '0', &value)) {
            return false;
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

/* Adds sign·value·unit; false on overflow. */
static bool add_part(int64_t *total, int64_t value, int64_t unit, int sign)
{
    int64_t part;
    return !__builtin_mul_overflow(value, sign * unit, &part) &&
           !__builtin_add_overflow(*total, part, total);
}

/* The fields from first to last; the rest of the text is the caller's. */
static bool take_fields(Str *rest, const Type *type, int sign, int64_t *ret_value)
{
    *ret_value = 0;
    sign *= take_sign(rest);
    for (int field = type->precision; field <= type->scale; field++) {
        bool first = field == type->precision;
        int64_t value = 0;
        if (!first && !skip_byte(rest, field_facts[field].separator)) {
            return false;
        }
        if (!take_digits(rest, first ? SIZE_MAX : LATER_DIGITS_MAX, &value) ||
            (!first && value > field_facts[field].max) ||
            !add_part(ret_value, value, field_facts[field].unit, sign)) {
            return false;
        }
    }
    if (type->scale == FIELD_SECOND && skip_byte(rest, '.')) {
        int64_t us = 0;
        return take_fraction(rest, &us) && add_part(ret_value, us, 1, sign);
    }
    return true;
}

static bool take_literal(Str *rest, const Type *type, int64_t *ret_value)
{
    if (!skip_word(rest, "INTERVAL", false) || rest->size == 0 || !is_space(rest->data[0])) {
        return false;
    }
    skip_spaces(rest);
    int sign = take_sign(rest);
    if (!skip_byte(rest, '\'') || !take_fields(rest, type, sign, ret_value) ||
        !skip_byte(rest, '\'') || !skip_word(rest, field_facts[type->precision].word, true)) {
        return false;
    }
    return type->precision == type->scale ||
           (skip_word(rest, "TO", true) && skip_word(rest, field_facts[type->scale].word, true));
}

bool interval_parse(Str text, const Type *type, int64_t *ret_value)
{
    Str rest = text_trim_all(text);
    bool literal = rest.size > 0 && (rest.data[0] == 'I' || rest.data[0] == 'i');
    int64_t value = 0;
    if (!(literal ? take_literal(&rest, type, &value) : take_fields(&rest, type, 1, &value)) ||
        rest.size > 0) {
        return false;
    }
    if (type->kind == TYPE_INTERVAL_YEAR_MONTH && (value < INT32_MIN || value > INT32_MAX)) {
        return false;
    }
    *ret_value = value;
    return true;
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
