/* DECIMAL arithmetic on unscaled 128-bit integers, to 38 digits. A value is (int128 unscaled) with
 * the precision and scale its type says. */
#ifndef DATA_DECIMAL_H
#define DATA_DECIMAL_H

#include "processor/base/buffer.h"
#include "processor/base/compiler.h"
#include "processor/base/str.h"

/* 10^n for 0 <= n <= 38. */
int128 decimal_power_of_ten(int n);
/* |value| < 10^precision? */
bool decimal_fits(int128 value, int precision);

typedef enum DecimalParse {
    DECIMAL_OK,
    DECIMAL_MALFORMED,
    DECIMAL_OUT_OF_RANGE,
    DECIMAL_INEXACT
} DecimalParse;

/* Text (sign, digits, point, exponent; no spaces) to an unscaled value of (precision, scale).
 * DECIMAL_INEXACT when non-zero digits lie beyond the scale and `round` is false; with `round`,
 * half up as Spark's CAST. DECIMAL_OUT_OF_RANGE when it does not fit. Any exponent, however large,
 * is handled in time linear in the text. */
DecimalParse decimal_parse(Str text, int precision, int scale, bool round, int128 *ret_value);
/* Another scale; rounds half up when digits go. False when it does not fit the new precision. */
bool decimal_rescale(int128 value, int from_scale, int to_precision, int to_scale,
                     int128 *ret_value);
/* Exact products and quotients round half up to the result's scale; false on overflow of precision.
 */
bool decimal_multiply(int128 a, int128 b, int product_scale, int precision, int scale,
                      int128 *ret_value);
/* b != 0. a has scale_a, b has scale_b. */
bool decimal_divide(int128 a, int scale_a, int128 b, int scale_b, int precision, int scale,
                    int128 *ret_value);
int decimal_compare(int128 a, int scale_a, int128 b, int scale_b);
/* Exactly `scale` fraction digits: 7 with scale 2 is "0.07". */
void decimal_format(int128 value, int scale, Buffer *out);
/* The same to memory with room for DECIMAL_TEXT_MAX bytes; returns the end of the text. */
enum { DECIMAL_TEXT_MAX = 42 };
char *decimal_put(char *to, int128 value, int scale);
double decimal_to_double(int128 value, int scale);
/* Nearest decimal (half up) of a finite double by its shortest text, as Spark; false when it does
 * not fit. */
bool decimal_from_double(double number, int precision, int scale, int128 *ret_value);

#endif
