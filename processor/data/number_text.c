/* Numbers from text.
 *
 * A floating-point text is first checked against the grammar and taken apart by scan_number. If its
 * digits fit 53 bits and the power of ten is exact in a double, one multiplication or division
 * rounds correctly (Clinger's fast path, most texts); else strtod, which is correctly rounded in
 * glibc, reads the text that is known to be well formed. */
#include "processor/data/number_text.h"

#include <math.h>
#include <stdlib.h>

#include "processor/base/buffer.h"
#include "processor/data/value_text.h"
#include "processor/base/banned.h"

Str text_trim_all(Str text)
{
    while (text.size > 0 && ((unsigned char)text.data[0] <= ' ' || text.data[0] == 0x7F)) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 &&
           ((unsigned char)text.data[text.size - 1] <= ' ' || text.data[text.size - 1] == 0x7F)) {
        text.size--;
    }
    return text;
}

Str text_trim_java(Str text)
{
    while (text.size > 0 && (unsigned char)text.data[0] <= ' ') {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && (unsigned char)text.data[text.size - 1] <= ' ') {
        text.size--;
    }
    return text;
}

bool int64_parse(Str text, int64_t *ret_value)
{
    size_t at = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
    if (at == text.size) {
        return false;
    }
    int64_t value = 0; /* negative all along: its range is the wider one */
    for (; at < text.size; at++) {
        if (!char_is_digit(text.data[at]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, text.data[at] - '0', &value)) {
            return false;
        }
    }
    if (text.data[0] != '-') {
        if (value == INT64_MIN) {
            return false;
        }
        value = -value;
    }
    *ret_value = value;
    return true;
}

/* ---- Floating point ---- */

/* What scan_number saw: value = digits · 10^exponent when `small`, else strtod must read it. */
typedef struct NumberText {
    bool small; /* digits below 2^53 and all of them counted */
    uint64_t digits;
    int exponent;
} NumberText;

enum { EXPONENT_LIMIT = 100000 };

static size_t scan_exponent(Str text, size_t at, int *ret_exponent)
{
    at++;
    bool negative = at < text.size && text.data[at] == '-';
    at += negative || (at < text.size && text.data[at] == '+');
    size_t begin = at;
    int exponent = 0;
    for (; at < text.size && char_is_digit(text.data[at]); at++) {
        exponent = exponent < EXPONENT_LIMIT ? exponent * 10 + (text.data[at] - '0') : exponent;
    }
    *ret_exponent = negative ? -exponent : exponent;
    return at == begin ? SIZE_MAX : at;
}

/* digits [. digits] [e±digits], no sign, at least one digit; the whole text. */
static bool scan_number(Str text, NumberText *ret)
{
    const uint64_t limit = UINT64_C(1) << 53;
    size_t at = 0;
    size_t digit_count = 0;
    bool point = false;
    *ret = (NumberText){.small = true};
    for (; at < text.size && (char_is_digit(text.data[at]) || (text.data[at] == '.' && !point));
         at++) {
        if (text.data[at] == '.') {
            point = true;
            continue;
        }
        digit_count++;
        if (ret->small) {
            ret->digits = ret->digits * 10 + (uint64_t)(text.data[at] - '0');
            ret->exponent -= point;
            ret->small = ret->digits < limit && ret->exponent > -EXPONENT_LIMIT;
        }
    }
    if (digit_count == 0) {
        return false;
    }
    if (at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
        int exponent = 0;
        at = scan_exponent(text, at, &exponent);
        ret->exponent += exponent;
    }
    return at == text.size;
}

/* 0x hex [. hex] p±digits, the whole text. */
static bool is_hex_number(Str text)
{
    if (text.size < 2 || text.data[0] != '0' || (text.data[1] != 'x' && text.data[1] != 'X')) {
        return false;
    }
    size_t at = 2;
    size_t digit_count = 0;
    bool point = false;
    for (;
         at < text.size && (char_hex_value(text.data[at]) >= 0 || (text.data[at] == '.' && !point));
         at++) {
        point |= text.data[at] == '.';
        digit_count += text.data[at] != '.';
    }
    if (digit_count == 0 || at == text.size || (text.data[at] != 'p' && text.data[at] != 'P')) {
        return false;
    }
    int exponent = 0;
    return scan_exponent(text, at, &exponent) == text.size;
}

/* strtod or strtof on a copy with a NUL. */
static double read_double(Str text)
{
    AUTO_BUFFER Buffer copy = {0};
    buffer_append_str(&copy, text);
    return strtod(buffer_cstr(&copy), NULL);
}

static float read_float(Str text)
{
    AUTO_BUFFER Buffer copy = {0};
    buffer_append_str(&copy, text);
    return strtof(buffer_cstr(&copy), NULL);
}

static double number_to_double(Str text, const NumberText *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (number->small && number->exponent >= -22 && number->exponent <= 22) {
        return number->exponent < 0 ? (double)number->digits / powers[-number->exponent]
                                    : (double)number->digits * powers[number->exponent];
    }
    return read_double(text);
}

static Str cut_sign(Str text, bool *ret_negative)
{
    *ret_negative = text.size > 0 && text.data[0] == '-';
    size_t cut = *ret_negative || (text.size > 0 && text.data[0] == '+');
    return (Str){text.data + cut, text.size - cut};
}

bool double_parse(Str text, double *ret_number)
{
    bool negative;
    Str rest = cut_sign(text, &negative);
    NumberText number;
    double value;
    if (scan_number(rest, &number)) {
        value = number_to_double(rest, &number);
    } else if (str_equal_ignore_case(rest, STR("Infinity"))) {
        value = (double)INFINITY;
    } else if (str_equal_ignore_case(text, STR("NaN"))) {
        value = (double)NAN;
    } else {
        return false;
    }
    *ret_number = negative ? -value : value;
    return true;
}

/* ---- As casts read them ---- */

/* Java takes a suffix d or f behind a number; the exponent of a hexadecimal one is decimal, so a
 * suffix is never a digit. */
static Str cut_suffix(Str text)
{
    bool suffix = text.size > 0 && strchr("dDfF", text.data[text.size - 1]) != NULL &&
                  text.data[text.size - 1] != '\0';
    return (Str){text.data, text.size - suffix};
}

typedef enum SpecialNumber { NOT_SPECIAL, SPECIAL_NAN, SPECIAL_INFINITY } SpecialNumber;

/* Java: NaN and Infinity, each with a sign; Spark besides: nan (no sign), inf, infinity in any
 * case.
 */
static SpecialNumber special_number(Str text)
{
    bool negative;
    Str rest = cut_sign(text, &negative);
    if (str_equal(rest, STR("NaN")) || str_equal_ignore_case(text, STR("nan"))) {
        return SPECIAL_NAN;
    }
    if (str_equal_ignore_case(rest, STR("infinity")) || str_equal_ignore_case(rest, STR("inf"))) {
        return SPECIAL_INFINITY;
    }
    return NOT_SPECIAL;
}

bool double_parse_cast(Str text, double *ret_number)
{
    text = text_trim_java(text);
    bool negative;
    Str rest = cut_suffix(cut_sign(text, &negative));
    NumberText number;
    double value;
    if (scan_number(rest, &number)) {
        value = number_to_double(rest, &number);
    } else if (is_hex_number(rest)) {
        value = read_double(rest);
    } else {
        SpecialNumber special = special_number(text);
        if (special == NOT_SPECIAL) {
            return false;
        }
        value = special == SPECIAL_NAN ? (double)NAN : (double)INFINITY;
    }
    *ret_number = negative && !isnan(value) ? -value : value;
    return true;
}

bool float_parse_cast(Str text, float *ret_number)
{
    text = text_trim_java(text);
    bool negative;
    Str rest = cut_suffix(cut_sign(text, &negative));
    NumberText number;
    if (!scan_number(rest, &number) && !is_hex_number(rest)) {
        double special;
        if (special_number(text) == NOT_SPECIAL || !double_parse_cast(text, &special)) {
            return false;
        }
        *ret_number = (float)special;
        return true;
    }
    float value = read_float(rest);
    *ret_number = negative ? -value : value;
    return true;
}
