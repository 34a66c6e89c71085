/* From a number's text to an exact value of a type. The texts are JSON numbers (json_scan_number)
 * or, where a source says `coerce: true`, the looser form of number_text_is_loose. */
#ifndef FORMAT_JSON_NUMBER_H
#define FORMAT_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/compiler.h"
#include "processor/base/str.h"
#include "processor/data/decimal.h"
#include "processor/data/type.h"

/* [+-] digits with a point anywhere among or around them, optional exponent; as CAST reads it. */
bool number_text_is_loose(Str text);

/* Exact: DECIMAL_INEXACT for a fraction that is not zero, DECIMAL_OUT_OF_RANGE outside min … max,
 * DECIMAL_MALFORMED for NaN and the infinities. 1.0 and 1e2 are integers. */
DecimalParse number_to_integer(Str text, int64_t min, int64_t max, int64_t *ret_value);
/* Exact: DECIMAL_INEXACT for non-zero digits beyond the scale. */
DecimalParse number_to_decimal(Str text, int precision, int scale, int128 *ret_value);
/* The nearest double or float; also NaN, Infinity, -Infinity. False when a number's magnitude is
 * beyond the type's greatest. */
bool number_to_double(Str text, double *ret_value);
bool number_to_float(Str text, float *ret_value);
/* NaN, Infinity or -Infinity, spelled so. */
bool number_from_word(Str text, double *ret_value);

/* At a digit or '-': a number of at most 18 digits, with or without a point, that ends at a byte no
 * number goes on with. Its value is digits / 10^fraction. False (and nothing said about why) for
 * every other text: the general way decides then. */
static inline bool number_scan_short(const char **at, const char *end, int64_t *ret_digits,
                                     int *ret_fraction)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    p += negative;
    const char *first = p;
    const char *limit = end - p > 18 ? p + 18 : end;
    int64_t digits = 0;
    while (p < limit && (unsigned char)(*p - '0') <= 9) {
        digits = digits * 10 + (*p - '0');
        p++;
    }
    if (p == first || (*first == '0' && p - first > 1)) {
        return false;
    }
    const char *point = p;
    if (p < limit && *p == '.') {
        p++;
        while (p < limit && (unsigned char)(*p - '0') <= 9) {
            digits = digits * 10 + (*p - '0');
            p++;
        }
        if (p - point < 2) {
            return false;
        }
    }
    if (p == end || (unsigned char)(*p - '0') <= 9 || *p == '.' || (*p | 0x20) == 'e') {
        return false;
    }
    *ret_digits = negative ? -digits : digits;
    *ret_fraction = p == point ? 0 : (int)(p - point) - 1;
    *at = p;
    return true;
}

#endif
