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

/* At a digit or '-': an integer of at most 18 digits that ends at a byte no number goes on with.
 * False (and nothing said about why) for every other text: the general way decides then. */
static inline bool number_scan_short_integer(const char **at, const char *end, int64_t *ret_value)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    p += negative;
    const char *first = p;
    int64_t value = 0;
    const char *limit = end - p > 18 ? p + 18 : end;
    while (p < limit && (unsigned char)(*p - '0') <= 9) {
        value = value * 10 + (*p - '0');
        p++;
    }
    if (p == first || p == end || (*first == '0' && p - first > 1)) {
        return false;
    }
    char c = *p;
    if ((unsigned char)(c - '0') <= 9 || c == '.' || c == 'e' || c == 'E') {
        return false;
    }
    *ret_value = negative ? -value : value;
    *at = p;
    return true;
}

#endif
