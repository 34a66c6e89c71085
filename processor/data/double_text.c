/* Doubles and floats as text, as Java's Double.toString and Float.toString (JDK 19 and later) print
 * them: of all decimals that read back as the number the shortest, of those the nearest; at least
 * two digits; plain from 1e-3 to 1e7, else d.dddE±n.
 *
 * The method is Schubfach (Raffaele Giulietti, "The Schubfach way to render doubles", 2020). A
 * number c·2^q reads back from every decimal between the middles to its neighbours, (c ± 1/2)·2^q;
 * the ends count when c is even, since reading rounds to even. With the largest 10^k that is not
 * above the width of that interval, it holds a multiple of 10^k at least and one of 10^(k+1) at
 * most. So the two multiples of 10^(k+1) around the number are tried, then those of 10^k. All is
 * compared in quarters of 10^k, as integers: 4·c·2^q·10^-k is a product with one of 617 powers of
 * ten, of which 126 bits and rounding to odd are enough to compare right (the paper has the proof).
 *
 * Example: 0.3 is c = 5404319552844596, q = -54; k = -17. In units of 10^-17 the number lies at
 * 29999999999999998.89, the interval from …96.11 to 30000000000000001.67. Inside is a multiple of
 * ten, 30000000000000000: 0.3. */
#include "processor/data/value_text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "processor/data/digits.h"
#include "processor/base/banned.h"

typedef struct PowerOfTen {
    uint64_t high; /* 63 bits each */
    uint64_t low;
} PowerOfTen;

#define P(high, low) {UINT64_C(high), UINT64_C(low)},
static const PowerOfTen powers[] = {
#include "processor/data/powers_of_ten.def"
};
#undef P

enum { POWER_MIN = -324 };

static const uint64_t low_63_bits = (UINT64_C(1) << 63) - 1;

/* A positive number c·2^q. */
typedef struct Binary {
    uint64_t c;
    int q;
    bool narrow_below; /* c is a power of two: the neighbour below is half as far */
} Binary;

/* digits · 10^exponent */
typedef struct Decimal {
    uint64_t digits;
    int exponent;
} Decimal;

/* floor(log10(2^e)), floor(log10(3/4·2^e)) and floor(log2(10^e)), exact for the exponents here. */
static int log10_of_power_of_2(int e)
{
    return (int)(e * INT64_C(661971961083) >> 41);
}

static int log10_of_three_quarters(int e)
{
    return (int)((e * INT64_C(661971961083) - INT64_C(274743187321)) >> 41);
}

static int log2_of_power_of_10(int e)
{
    return (int)(e * INT64_C(913124641741) >> 38);
}

static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    return (uint64_t)((uint128)a * b >> 64);
}

/* value · power / 2^126 rounded to odd: cut, with the last bit set if anything was cut off. */
static uint64_t scale(const PowerOfTen *power, uint64_t value)
{
    uint64_t middle = (power->high * value >> 1) + multiply_high(power->low, value);
    uint64_t whole = multiply_high(power->high, value) + (middle >> 63);
    return whole | ((middle & low_63_bits) + low_63_bits) >> 63;
}

static Decimal shortest_decimal(Binary number)
{
    uint64_t odd = number.c & 1; /* the ends of the interval are outside */
    int k = number.narrow_below ? log10_of_three_quarters(number.q) : log10_of_power_of_2(number.q);
    const PowerOfTen *power = &powers[k - POWER_MIN];
    int shift = number.q + log2_of_power_of_10(-k) + 2;
    uint64_t quarters = number.c << 2;
    uint64_t value = scale(power, quarters << shift);
    uint64_t lower = scale(power, (quarters - 2 + number.narrow_below) << shift);
    uint64_t upper = scale(power, (quarters + 2) << shift);
    uint64_t below = value >> 2;
    if (below >= 100) {
        uint64_t tens = below / 10 * 10;
        bool tens_inside = lower + odd <= tens << 2;
        bool next_inside = ((tens + 10) << 2) + odd <= upper;
        if (tens_inside != next_inside) {
            return (Decimal){tens_inside ? tens : tens + 10, k};
        }
    }
    bool below_inside = lower + odd <= below << 2;
    bool above_inside = ((below + 1) << 2) + odd <= upper;
    bool nearer_below = value < (below << 2) + 2 || (value == (below << 2) + 2 && below % 2 == 0);
    bool choose_below = below_inside != above_inside ? below_inside : nearer_below;
    return (Decimal){choose_below ? below : below + 1, k};
}

/* The layout of a kind of number; `tiny`: below so many of the smallest steps the shortest decimal
 * has one digit, where Java wants the best of two. */
typedef struct Layout {
    int fraction_bits;
    int q_min;
    uint64_t tiny;
} Layout;

static const Layout double_layout = {52, -1074, 3};
static const Layout float_layout = {23, -149, 8};

/* A positive finite number of these bits (no sign). */
static Decimal decimal_of(const Layout *layout, uint64_t bits)
{
    uint64_t hidden = UINT64_C(1) << layout->fraction_bits;
    uint64_t fraction = bits & (hidden - 1);
    int exponent = (int)(bits >> layout->fraction_bits);
    if (exponent > 0) {
        return shortest_decimal((Binary){.c = hidden | fraction,
                                         .q = layout->q_min + exponent - 1,
                                         .narrow_below = fraction == 0 && exponent > 1});
    }
    if (fraction >= layout->tiny) {
        return shortest_decimal((Binary){.c = fraction, .q = layout->q_min});
    }
    Decimal tenfold = shortest_decimal((Binary){.c = fraction * 10, .q = layout->q_min});
    return (Decimal){tenfold.digits, tenfold.exponent - 1};
}

/* 0.d1d2d3… · 10^point: two digits at least, else no zeros at the end. */
enum { DIGITS_MAX = 20 };

typedef struct Digits {
    char digit[DIGITS_MAX];
    int count;
    int point;
} Digits;

static Digits digits_of(Decimal decimal)
{
    Digits digits;
    unsigned count = digits_count(decimal.digits);
    (void)digits_put(digits.digit, count, decimal.digits);
    digits.point = (int)count + decimal.exponent;
    if (count == 1) {
        digits.digit[count++] = '0';
    }
    while (count > 2 && digits.digit[count - 1] == '0') {
        count--;
    }
    digits.count = (int)count;
    return digits;
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

/* What is no number, and zero; NULL: a positive number is to be written at *to. */
static char *put_special(char **to, double number)
{
    if (isnan(number)) {
        return put_chars(*to, "NaN", 3);
    }
    if (signbit(number)) {
        *(*to)++ = '-';
    }
    if (isinf(number)) {
        return put_chars(*to, "Infinity", 8);
    }
    return number == 0 ? put_chars(*to, "0.0", 3) : NULL;
}

static char *put_decimal(char *to, double number, Decimal decimal)
{
    Digits digits = digits_of(decimal);
    double size = fabs(number);
    return size >= 1e-3 && size < 1e7 ? put_plain(to, &digits) : put_scientific(to, &digits);
}

char *double_put(char *to, double number)
{
    char *end = put_special(&to, number);
    if (end != NULL) {
        return end;
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return put_decimal(to, number, decimal_of(&double_layout, bits << 1 >> 1));
}

char *float_put(char *to, float number)
{
    char *end = put_special(&to, (double)number);
    if (end != NULL) {
        return end;
    }
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return put_decimal(to, (double)number, decimal_of(&float_layout, bits << 1 >> 1));
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
