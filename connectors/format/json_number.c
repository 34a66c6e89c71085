/* Numbers from text. Integers and decimals go through decimal_parse unless they are short; doubles
 * with at most 19 digits and a small power of ten are exact products of two exact doubles
 * (Clinger's fast path), the rest is the C library's, which rounds correctly. */
#include "connectors/format/json_number.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "processor/base/buffer.h"

#include "processor/base/banned.h"

static size_t digits_from(Str text, size_t at)
{
    size_t end = at;
    while (end < text.size && char_is_digit(text.data[end])) {
        end++;
    }
    return end - at;
}

static size_t sign_at(Str text, size_t at)
{
    return at < text.size && (text.data[at] == '-' || text.data[at] == '+') ? 1 : 0;
}

bool number_text_is_loose(Str text)
{
    size_t at = sign_at(text, 0);
    size_t digits = digits_from(text, at);
    at += digits;
    if (at < text.size && text.data[at] == '.') {
        size_t fraction = digits_from(text, at + 1);
        digits += fraction;
        at += 1 + fraction;
    }
    if (digits == 0) {
        return false;
    }
    if (at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        at += sign_at(text, at);
        size_t exponent = digits_from(text, at);
        if (exponent == 0) {
            return false;
        }
        at += exponent;
    }
    return at == text.size;
}

/* A number whose digits fit 64 bits: value = (negative ? -1 : 1) * mantissa * 10^exponent. */
typedef struct ShortNumber {
    bool negative;
    uint64_t mantissa;
    int exponent;
} ShortNumber;

/* Reads the exponent behind 'e'; false when it is large. */
static bool read_exponent(Str text, size_t at, int *exponent)
{
    bool negative = at < text.size && text.data[at] == '-';
    at += sign_at(text, at);
    size_t digits = digits_from(text, at);
    if (digits == 0 || digits > 4 || at + digits != text.size) {
        return false;
    }
    int value = 0;
    for (; at < text.size; at++) {
        value = value * 10 + (text.data[at] - '0');
    }
    *exponent += negative ? -value : value;
    return true;
}

/* False when the text is longer than that, or no plain number: then the general way decides. */
static bool read_short(Str text, ShortNumber *number)
{
    size_t at = sign_at(text, 0);
    *number = (ShortNumber){.negative = at == 1 && text.data[0] == '-'};
    int digits = 0;
    bool point = false;
    for (; at < text.size; at++) {
        char c = text.data[at];
        if (char_is_digit(c)) {
            number->mantissa = number->mantissa * 10 + (uint64_t)(c - '0');
            number->exponent -= point;
            if (++digits > 19) {
                return false;
            }
        } else if (c == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    if (digits == 0) {
        return false;
    }
    return at == text.size || ((text.data[at] == 'e' || text.data[at] == 'E') &&
                               read_exponent(text, at + 1, &number->exponent));
}

DecimalParse number_to_integer(Str text, int64_t min, int64_t max, int64_t *ret_value)
{
    int128 value = 0;
    double word = 0;
    if (number_from_word(text, &word)) {
        return DECIMAL_MALFORMED;
    }
    DecimalParse parse = decimal_parse(text, DECIMAL_PRECISION_MAX, 0, false, &value);
    if (parse != DECIMAL_OK) {
        return parse;
    }
    if (value < min || value > max) {
        return DECIMAL_OUT_OF_RANGE;
    }
    *ret_value = (int64_t)value;
    return DECIMAL_OK;
}

DecimalParse number_to_decimal(Str text, int precision, int scale, int128 *ret_value)
{
    ShortNumber number;
    if (read_short(text, &number) && number.exponent <= 0 && number.exponent + scale >= 0 &&
        scale <= 18) {
        int128 value =
            (int128)number.mantissa * (int128)decimal_power_of_ten(number.exponent + scale);
        if (!decimal_fits(value, precision)) {
            return DECIMAL_OUT_OF_RANGE;
        }
        *ret_value = number.negative ? -value : value;
        return DECIMAL_OK;
    }
    double word = 0;
    if (number_from_word(text, &word)) {
        return DECIMAL_MALFORMED;
    }
    return decimal_parse(text, precision, scale, false, ret_value);
}

bool number_from_word(Str text, double *ret_value)
{
    if (str_equal(text, STR("NaN"))) {
        *ret_value = (double)NAN;
        return true;
    }
    bool negative = str_equal(text, STR("-Infinity"));
    if (negative || str_equal(text, STR("Infinity"))) {
        *ret_value = negative ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    return false;
}

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool exact_double(const ShortNumber *number, double *ret_value)
{
    int exponent = number->exponent;
    if (number->mantissa > UINT64_C(1) << 53 || exponent < -22 || exponent > 22) {
        return false;
    }
    double value = (double)number->mantissa;
    value = exponent < 0 ? value / powers_of_ten[-exponent] : value * powers_of_ten[exponent];
    *ret_value = number->negative ? -value : value;
    return true;
}

static bool exact_float(const ShortNumber *number, float *ret_value)
{
    int exponent = number->exponent;
    if (number->mantissa > UINT64_C(1) << 24 || exponent < -10 || exponent > 10) {
        return false;
    }
    float value = (float)number->mantissa;
    float power = (float)powers_of_ten[exponent < 0 ? -exponent : exponent];
    value = exponent < 0 ? value / power : value * power;
    *ret_value = number->negative ? -value : value;
    return true;
}

bool number_to_double(Str text, double *ret_value)
{
    ShortNumber number;
    if ((read_short(text, &number) && exact_double(&number, ret_value)) ||
        number_from_word(text, ret_value)) {
        return true;
    }
    AUTO_BUFFER Buffer copy = {0};
    buffer_append_str(&copy, text);
    double value = strtod(buffer_cstr(&copy), NULL);
    if (isinf(value)) {
        return false;
    }
    *ret_value = value;
    return true;
}

bool number_to_float(Str text, float *ret_value)
{
    ShortNumber number;
    double word = 0;
    if (read_short(text, &number) && exact_float(&number, ret_value)) {
        return true;
    }
    if (number_from_word(text, &word)) {
        *ret_value = (float)word;
        return true;
    }
    AUTO_BUFFER Buffer copy = {0};
    buffer_append_str(&copy, text);
    float value = strtof(buffer_cstr(&copy), NULL);
    if (isinf(value)) {
        return false;
    }
    *ret_value = value;
    return true;
}
