/* Doubles and floats as text, as Java's Double.toString and Float.toString (JDK 19 and later) print
 * them: of all decimals that read back as the number the shortest, of those the nearest; at least
 * two digits; plain from 1e-3 to 1e7, else d.dddE±n.
 *
 * Most numbers people write have few digits: number · 10^k is then (after rounding) an integer
 * below 10^15 for a small k, and that integer over 10^k, both exact, divides to the number again.
 *
 * For the rest C's own conversions are asked. 15 digits of a normal double (6 of a float) are never
 * ambiguous, so if the correctly rounded 15 digits read back as the number, they are (less trailing
 * zeros) the answer. Otherwise 16 digits are tried, with both neighbours of the last digit, since
 * at a power of two the interval of decimals that read back reaches twice as far up as down and the
 * nearest 16 digits may lie outside when another 16 digits lie inside. 17 digits always read back.
 */
#include "processor/data/value_text.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "processor/data/digits.h"
#include "processor/base/banned.h"

enum { DIGITS_MAX = 17, TEXT_MAX = 40 };

/* 0.d1d2d3… · 10^point: the digits of a positive number and where its point is. */
typedef struct Digits {
    char digit[DIGITS_MAX + 1];
    int count;
    int point;
} Digits;

/* The two kinds of numbers differ in how they are read back and in their digits. */
typedef struct Format {
    bool (*reads_as)(const char *text, double number);
    int safe_digits; /* never ambiguous for normal numbers */
    int full_digits; /* always enough */
    double smallest_normal;
} Format;

static bool reads_as_double(const char *text, double number)
{
    return strtod(text, NULL) == number;
}

static bool reads_as_float(const char *text, double number)
{
    return (double)strtof(text, NULL) == number;
}

static const Format double_format_kind = {reads_as_double, 15, 17, DBL_MIN};
static const Format float_format_kind = {reads_as_float, 6, 9, (double)FLT_MIN};

static void digits_of(double number, int count, Digits *ret)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%.*e", count - 1, number);
    ret->count = count;
    ret->digit[0] = text[0];
    memcpy(ret->digit + 1, text + 2, (size_t)count - 1);
    ret->point = (int)strtol(text + count + (count > 1) + 1, NULL, 10) + 1;
}

static bool digits_read_as(const Format *format, const Digits *digits, double number)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "0.%.*se%d", digits->count, digits->digit, digits->point);
    return format->reads_as(text, number);
}

/* The next decimal of as many digits, up or down. */
static void digits_step(Digits *digits, int direction)
{
    int i = digits->count - 1;
    char limit = direction > 0 ? '9' : '0';
    while (i >= 0 && digits->digit[i] == limit) {
        digits->digit[i--] = direction > 0 ? '0' : '9';
    }
    if (i >= 0) {
        digits->digit[i] = (char)(digits->digit[i] + direction);
    } else { /* 999 → 1000, of which the last zero goes */
        digits->digit[0] = '1';
        digits->point++;
    }
}

/* The nearest decimal of `count` digits that reads back as `number`. */
static bool digits_try(const Format *format, double number, int count, bool neighbours, Digits *ret)
{
    digits_of(number, count, ret);
    if (digits_read_as(format, ret, number)) {
        return true;
    }
    for (int direction = 1; neighbours && direction >= -1; direction -= 2) {
        Digits other = *ret;
        digits_step(&other, direction);
        if (digits_read_as(format, &other, number)) {
            *ret = other;
            return true;
        }
    }
    return false;
}

/* A double that is an integer of at most 15 digits over 10^k, 0 <= k <= 15. */
static bool few_digits(double number, Digits *ret)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    for (size_t k = 0; k < ARRAY_LENGTH(powers); k++) {
        double scaled = rint(number * powers[k]);
        if (scaled >= 1e15) {
            break;
        }
        if (scaled >= 1 && scaled / powers[k] == number) {
            char text[TEXT_MAX];
            int count = 0;
            for (uint64_t rest = (uint64_t)scaled; rest > 0; rest /= 10) {
                text[count++] = (char)('0' + rest % 10);
            }
            ret->count = count;
            ret->point = count - (int)k;
            for (int i = 0; i < count; i++) {
                ret->digit[i] = text[count - 1 - i];
            }
            if (count == 1) { /* two at least */
                ret->digit[ret->count++] = '0';
            }
            return true;
        }
    }
    return false;
}

/* Any positive number: more and more digits until they read back. */
static void search_digits(const Format *format, double number, Digits *ret)
{
    bool normal = number >= format->smallest_normal;
    int count = normal ? format->safe_digits : 2;
    while (!digits_try(format, number, count, normal && count > format->safe_digits, ret)) {
        count++;
    }
    assert(count <= format->full_digits);
}

static void shortest_digits(const Format *format, double number, Digits *ret)
{
    if (format->full_digits < DIGITS_MAX || !few_digits(number, ret)) {
        search_digits(format, number, ret);
    }
    while (ret->count > 2 && ret->digit[ret->count - 1] == '0') {
        ret->count--;
    }
}

static char *put_chars(char *to, const char *digits, int count)
{
    memcpy(to, digits, (size_t)count);
    return to + count;
}

static char *put_zeros(char *to, int count)
{
    memset(to, '0', (size_t)count);
    return to + count;
}

static char *put_plain(char *to, const Digits *digits)
{
    if (digits->point <= 0) {
        to = put_chars(to, "0.", 2);
        to = put_zeros(to, -digits->point);
        int count = digits->count;
        count -= count == 2 && digits->digit[1] == '0';
        return put_chars(to, digits->digit, count);
    }
    if (digits->count <= digits->point) {
        to = put_chars(to, digits->digit, digits->count);
        to = put_zeros(to, digits->point - digits->count);
        return put_chars(to, ".0", 2);
    }
    to = put_chars(to, digits->digit, digits->point);
    *to++ = '.';
    return put_chars(to, digits->digit + digits->point, digits->count - digits->point);
}

static char *put_scientific(char *to, const Digits *digits)
{
    *to++ = digits->digit[0];
    *to++ = '.';
    to = put_chars(to, digits->digit + 1, digits->count - 1);
    *to++ = 'E';
    return integer_put(to, digits->point - 1);
}

static char *put_number(char *to, const Format *format, double number)
{
    if (isnan(number)) {
        return put_chars(to, "NaN", 3);
    }
    if (signbit(number)) {
        *to++ = '-';
        number = -number;
    }
    if (isinf(number)) {
        return put_chars(to, "Infinity", 8);
    }
    if (number == 0) {
        return put_chars(to, "0.0", 3);
    }
    Digits digits;
    shortest_digits(format, number, &digits);
    return number >= 1e-3 && number < 1e7 ? put_plain(to, &digits) : put_scientific(to, &digits);
}

char *double_put(char *to, double number)
{
    return put_number(to, &double_format_kind, number);
}

char *float_put(char *to, float number)
{
    return put_number(to, &float_format_kind, (double)number);
}

void double_format(double number, Buffer *out)
{
    char *to = buffer_reserve(out, DOUBLE_TEXT_MAX);
    out->size += (size_t)(double_put(to, number) - to);
}

void float_format(float number, Buffer *out)
{
    char *to = buffer_reserve(out, DOUBLE_TEXT_MAX);
    out->size += (size_t)(float_put(to, number) - to);
}
