/* DECIMAL arithmetic on unscaled 128-bit integers.
 *
 * Products and dividends need up to 256 bits; Wide is that, in 64-bit limbs, with just the
 * operations wanted here: multiply by a word, divide by a word, long division. Everything works on
 * magnitudes, the sign is put back at the end: "half up" means away from zero at the half, as
 * Java's RoundingMode.HALF_UP.
 */
#include "processor/data/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "processor/data/digits.h"
#include "processor/data/number_text.h"
#include "processor/data/value_text.h"
#include "processor/base/banned.h"

enum { DIGITS_MAX = 38, WORD_DIGITS = 19 };

int128 decimal_power_of_ten(int n)
{
    assert(n >= 0 && n <= DIGITS_MAX);
    if (n <= WORD_DIGITS) {
        return (int128)powers_of_ten_u64[n];
    }
    return (int128)((uint128)powers_of_ten_u64[WORD_DIGITS] * powers_of_ten_u64[n - WORD_DIGITS]);
}

static uint128 magnitude(int128 value)
{
    return value < 0 ? -(uint128)value : (uint128)value;
}

/* The signed value, if its magnitude has at most `precision` digits. */
static bool finish(uint128 value, bool negative, int precision, int128 *ret_value)
{
    if (value >= (uint128)decimal_power_of_ten(precision)) {
        return false;
    }
    *ret_value = negative ? -(int128)value : (int128)value;
    return true;
}

bool decimal_fits(int128 value, int precision)
{
    return magnitude(value) < (uint128)decimal_power_of_ten(precision);
}

/* ---- 256 bits ---- */

enum { LIMBS = 4 };

typedef struct Wide {
    uint64_t limb[LIMBS]; /* least significant first */
} Wide;

static Wide wide_from(uint128 value)
{
    return (Wide){{(uint64_t)value, (uint64_t)(value >> 64), 0, 0}};
}

static bool wide_fits_128(const Wide *a)
{
    return a->limb[2] == 0 && a->limb[3] == 0;
}

static uint128 wide_low(const Wide *a)
{
    return (uint128)a->limb[1] << 64 | a->limb[0];
}

static int wide_compare(const Wide *a, const Wide *b)
{
    for (int i = LIMBS - 1; i >= 0; i--) {
        if (a->limb[i] != b->limb[i]) {
            return a->limb[i] < b->limb[i] ? -1 : 1;
        }
    }
    return 0;
}

/* a *= factor; false when the product needs more than 256 bits. */
static bool wide_multiply_word(Wide *a, uint64_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint128 product = (uint128)a->limb[i] * factor + carry;
        a->limb[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    return carry == 0;
}

/* a *= 10^n; false on more than 256 bits. */
static bool wide_multiply_power(Wide *a, int n)
{
    for (; n > 0; n -= WORD_DIGITS) {
        if (!wide_multiply_word(a, powers_of_ten_u64[n < WORD_DIGITS ? n : WORD_DIGITS])) {
            return false;
        }
    }
    return true;
}

static Wide wide_multiply(uint128 a, uint128 b)
{
    uint64_t b_words[2] = {(uint64_t)b, (uint64_t)(b >> 64)};
    uint64_t a_words[2] = {(uint64_t)a, (uint64_t)(a >> 64)};
    Wide result = {{0}};
    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 2; j++) {
            uint128 sum = (uint128)a_words[i] * b_words[j] + result.limb[i + j] + carry;
            result.limb[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        result.limb[i + 2] = carry;
    }
    return result;
}

/* a /= divisor; returns the remainder. */
static uint64_t wide_divide_word(Wide *a, uint64_t divisor)
{
    uint64_t remainder = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        uint128 part = (uint128)remainder << 64 | a->limb[i];
        a->limb[i] = (uint64_t)(part / divisor);
        remainder = (uint64_t)(part % divisor);
    }
    return remainder;
}

static void wide_add_word(Wide *a, uint64_t word)
{
    for (int i = 0; i < LIMBS && word != 0; i++) {
        uint64_t sum = a->limb[i] + word;
        word = sum < word;
        a->limb[i] = sum;
    }
}

static void wide_subtract(Wide *a, const Wide *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint128 difference = (uint128)a->limb[i] - b->limb[i] - borrow;
        a->limb[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

static bool wide_shift_left(Wide *a, unsigned bit_in)
{
    uint64_t carry = bit_in;
    for (int i = 0; i < LIMBS; i++) {
        uint64_t next = a->limb[i] >> 63;
        a->limb[i] = a->limb[i] << 1 | carry;
        carry = next;
    }
    return carry != 0;
}

/* a = a / 10^n, cut. Dividing by parts gives the same quotient: floor(floor(a/x)/y) = floor(a/xy).
 */
static void wide_cut_digits(Wide *a, int n)
{
    for (; n > 0; n -= WORD_DIGITS) {
        (void)wide_divide_word(a, powers_of_ten_u64[n < WORD_DIGITS ? n : WORD_DIGITS]);
    }
}

/* a = a / 10^n, half up: the first digit cut decides. */
static void wide_round_digits(Wide *a, int n)
{
    if (n > 0) {
        wide_cut_digits(a, n - 1);
        if (wide_divide_word(a, 10) >= 5) {
            wide_add_word(a, 1);
        }
    }
}

/* Long division, a bit at a time when neither short form fits; *a becomes the quotient. */
static void wide_divide(Wide *a, const Wide *divisor, Wide *ret_remainder)
{
    if (wide_fits_128(divisor) && divisor->limb[1] == 0) {
        *ret_remainder = wide_from(wide_divide_word(a, divisor->limb[0]));
        return;
    }
    if (wide_fits_128(a) && wide_fits_128(divisor)) {
        uint128 dividend = wide_low(a);
        *a = wide_from(dividend / wide_low(divisor));
        *ret_remainder = wide_from(dividend % wide_low(divisor));
        return;
    }
    Wide remainder = {{0}};
    Wide quotient = {{0}};
    for (int bit = LIMBS * 64 - 1; bit >= 0; bit--) {
        bool beyond = wide_shift_left(&remainder, (unsigned)(a->limb[bit / 64] >> (bit % 64)) & 1);
        if (beyond || wide_compare(&remainder, divisor) >= 0) {
            wide_subtract(&remainder, divisor);
            quotient.limb[bit / 64] |= UINT64_C(1) << (bit % 64);
        }
    }
    *a = quotient;
    *ret_remainder = remainder;
}

/* ---- Scale, product, quotient ---- */

bool decimal_rescale(int128 value, int from_scale, int to_precision, int to_scale,
                     int128 *ret_value)
{
    uint128 number = magnitude(value);
    int cut = from_scale - to_scale;
    if (cut > DIGITS_MAX) {
        number = cut == DIGITS_MAX + 1 && number >= 5 * (uint128)decimal_power_of_ten(DIGITS_MAX);
    } else if (cut > 0) {
        uint128 power = (uint128)decimal_power_of_ten(cut);
        uint128 rest = number % power;
        number = number / power + (rest >= power - rest);
    } else if (cut < 0 && number != 0) {
        if (-cut > DIGITS_MAX ||
            number > (uint128)decimal_power_of_ten(DIGITS_MAX) / decimal_power_of_ten(-cut)) {
            return false;
        }
        number *= (uint128)decimal_power_of_ten(-cut);
    }
    return finish(number, value < 0, to_precision, ret_value);
}

/* Wide to 128 bits at another scale; false when it does not fit. */
static bool rescale_wide(Wide number, int from_scale, int to_scale, bool negative, int precision,
                         int128 *ret_value)
{
    if (from_scale >= to_scale) {
        wide_round_digits(&number, from_scale - to_scale);
    } else if (!wide_multiply_power(&number, to_scale - from_scale)) {
        return false;
    }
    return wide_fits_128(&number) && finish(wide_low(&number), negative, precision, ret_value);
}

bool decimal_multiply(int128 a, int128 b, int product_scale, int precision, int scale,
                      int128 *ret_value)
{
    Wide product = wide_multiply(magnitude(a), magnitude(b));
    return rescale_wide(product, product_scale, scale, (a < 0) != (b < 0), precision, ret_value);
}

/* remainder/divisor >= one half? */
static bool rounds_up(const Wide *remainder, const Wide *divisor)
{
    Wide rest = *divisor;
    wide_subtract(&rest, remainder);
    return wide_compare(remainder, &rest) >= 0;
}

bool decimal_divide(int128 a, int scale_a, int128 b, int scale_b, int precision, int scale,
                    int128 *ret_value)
{
    assert(b != 0);
    Wide dividend = wide_from(magnitude(a));
    Wide divisor = wide_from(magnitude(b));
    int shift = scale - scale_a + scale_b;
    /* A dividend beyond 2^256 over a divisor below 10^38 has more than 38 digits. */
    if (!wide_multiply_power(&dividend, shift)) {
        return false;
    }
    bool fits = wide_multiply_power(&divisor, -shift);
    assert(fits); /* 38 digits and at most 38 more */
    (void)fits;
    Wide remainder;
    wide_divide(&dividend, &divisor, &remainder);
    if (rounds_up(&remainder, &divisor)) {
        wide_add_word(&dividend, 1);
    }
    return wide_fits_128(&dividend) &&
           finish(wide_low(&dividend), (a < 0) != (b < 0), precision, ret_value);
}

int decimal_compare(int128 a, int scale_a, int128 b, int scale_b)
{
    if (scale_a == scale_b) {
        return a < b ? -1 : a > b;
    }
    if ((a < 0) != (b < 0)) {
        return a < 0 ? -1 : 1;
    }
    Wide wide_a = wide_from(magnitude(a));
    Wide wide_b = wide_from(magnitude(b));
    (void)wide_multiply_power(&wide_a, scale_b - scale_a);
    (void)wide_multiply_power(&wide_b, scale_a - scale_b);
    int order = wide_compare(&wide_a, &wide_b);
    return a < 0 ? -order : order;
}

/* ---- Text ---- */

/* A number's text taken apart: digits (with a point among them at most) and a power of ten. */
typedef struct DecimalText {
    bool negative;
    Str whole;        /* digits before the point */
    Str fraction;     /* digits behind it */
    int64_t exponent; /* cut to ±EXPONENT_LIMIT */
} DecimalText;

enum { EXPONENT_LIMIT = 1000000000 };

static Str take_digits(Str *rest)
{
    size_t count = 0;
    while (count < rest->size && rest->data[count] >= '0' && rest->data[count] <= '9') {
        count++;
    }
    Str digits = {rest->data, count};
    *rest = (Str){rest->data + count, rest->size - count};
    return digits;
}

static bool take_sign(Str *rest)
{
    if (rest->size > 0 && (rest->data[0] == '-' || rest->data[0] == '+')) {
        bool negative = rest->data[0] == '-';
        *rest = (Str){rest->data + 1, rest->size - 1};
        return negative;
    }
    return false;
}

static bool take_apart(Str text, DecimalText *ret)
{
    if (text.size == 0) {
        return false;
    }
    ret->negative = take_sign(&text);
    ret->whole = take_digits(&text);
    ret->fraction = (Str){text.data, 0};
    ret->exponent = 0;
    if (text.size > 0 && text.data[0] == '.') {
        text = (Str){text.data + 1, text.size - 1};
        ret->fraction = take_digits(&text);
    }
    if (ret->whole.size + ret->fraction.size == 0) {
        return false;
    }
    if (text.size > 0 && (text.data[0] == 'e' || text.data[0] == 'E')) {
        text = (Str){text.data + 1, text.size - 1};
        bool negative = take_sign(&text);
        Str digits = take_digits(&text);
        if (digits.size == 0) {
            return false;
        }
        for (size_t i = 0; i < digits.size && ret->exponent < EXPONENT_LIMIT; i++) {
            ret->exponent = ret->exponent * 10 + (digits.data[i] - '0');
        }
        ret->exponent = negative ? -ret->exponent : ret->exponent;
    }
    return text.size == 0;
}

static int digit_at(const DecimalText *text, size_t i)
{
    return (i < text->whole.size ? text->whole.data[i]
                                 : text->fraction.data[i - text->whole.size]) -
           '0';
}

DecimalParse decimal_parse(Str text, int precision, int scale, bool round, int128 *ret_value)
{
    DecimalText parts;
    if (!take_apart(text, &parts)) {
        return DECIMAL_MALFORMED;
    }
    size_t count = parts.whole.size + parts.fraction.size;
    size_t first = 0; /* non-zero digit */
    while (first < count && digit_at(&parts, first) == 0) {
        first++;
    }
    if (first == count) {
        *ret_value = 0;
        return DECIMAL_OK;
    }
    /* The unscaled value is the first `kept` digits (with zeros behind if there are fewer). */
    int64_t kept = (int64_t)parts.whole.size + parts.exponent + scale;
    if (kept - (int64_t)first > precision) {
        return DECIMAL_OUT_OF_RANGE;
    }
    uint128 value = 0;
    for (int64_t i = (int64_t)first; i < kept; i++) {
        value = value * 10 + (uint128)((size_t)i < count ? digit_at(&parts, (size_t)i) : 0);
    }
    bool exact = true;
    for (size_t i = count; exact && i > first && (int64_t)i > kept; i--) {
        exact = digit_at(&parts, i - 1) == 0;
    }
    if (!exact && !round) {
        return DECIMAL_INEXACT;
    }
    if (!exact && kept >= 0 && (size_t)kept >= first && digit_at(&parts, (size_t)kept) >= 5) {
        value++;
    }
    return finish(value, parts.negative, precision, ret_value) ? DECIMAL_OK : DECIMAL_OUT_OF_RANGE;
}

bool decimal_text_to_plain(Str text, Buffer *out)
{
    DecimalText parts;
    if (!take_apart(text, &parts)) {
        return false;
    }
    int64_t count = (int64_t)(parts.whole.size + parts.fraction.size);
    int64_t point = (int64_t)parts.whole.size + parts.exponent;
    int64_t first = 0;
    while (first < count && digit_at(&parts, (size_t)first) == 0) {
        first++;
    }
    if (point - first > DIGITS_MAX || point < -count) {
        return false;
    }
    buffer_append_cstr(out, parts.negative ? "-" : "");
    first = first < point ? first : point - 1; /* one digit before the point at least */
    for (int64_t i = first; i < (count > point ? count : point); i++) {
        if (i == point) {
            buffer_append_byte(out, '.');
        }
        int digit = i < 0 || i >= count ? 0 : digit_at(&parts, (size_t)i);
        buffer_append_byte(out, (char)('0' + digit));
    }
    return true;
}

/* All digits (as many as there are zeros in front) of a number and where they begin in `room`. */
static char *digits_of_wide(uint128 value, int least, char *room, char *end)
{
    char *at = end;
    if (value > UINT64_MAX) {
        uint64_t low = (uint64_t)(value % powers_of_ten_u64[WORD_DIGITS]);
        value /= powers_of_ten_u64[WORD_DIGITS];
        at -= WORD_DIGITS;
        digits_put(at, WORD_DIGITS, low);
    }
    unsigned count = digits_count((uint64_t)value);
    at -= count;
    digits_put(at, count, (uint64_t)value);
    while (end - at < least) {
        *--at = '0';
    }
    assert(at >= room);
    (void)room;
    return at;
}

static char *put_wide(char *to, uint128 value, int scale)
{
    char room[DIGITS_MAX + 2];
    char *end = room + sizeof room;
    const char *digits = digits_of_wide(value, scale + 1, room, end);
    size_t whole = (size_t)(end - digits) - (size_t)scale;
    memcpy(to, digits, whole);
    to += whole;
    if (scale > 0) {
        *to++ = '.';
        memcpy(to, digits + whole, (size_t)scale);
        to += scale;
    }
    return to;
}

/* All digits but the sign, of a number in 64 bits and a scale below 19. */
static char *put_long(char *to, uint64_t rest, unsigned scale)
{
    unsigned count = digits_count(rest);
    if (scale == 0) {
        digits_put(to, count, rest);
        return to + count;
    }
    unsigned whole = count > scale ? count - scale : 1;
    rest = digits_put(to + whole + 1, scale, rest);
    to[whole] = '.';
    digits_put(to, whole, rest);
    return to + whole + 1 + scale;
}

/* A number below 10^8 with 1 … 7 digits behind the point: its eight digits are written twice. */
static inline char *put_short(char *to, uint32_t rest, unsigned scale)
{
    uint64_t word = digits_word(rest);
    unsigned count = digits_word_count(word);
    unsigned whole = count > scale ? count - scale : 1;
    digits_put_last(to, whole + scale, word);
    to[whole] = '.';
    digits_put_last(to + whole + 1, scale, word);
    return to + whole + 1 + scale;
}

char *decimal_put(char *to, int128 value, int scale)
{
    uint128 number = magnitude(value);
    *to = '-';
    to += value < 0;
    if (LIKELY(number < 100000000 && scale > 0 && scale < 8)) {
        return put_short(to, (uint32_t)number, (unsigned)scale);
    }
    return number <= UINT64_MAX && scale < WORD_DIGITS
               ? put_long(to, (uint64_t)number, (unsigned)scale)
               : put_wide(to, number, scale);
}

void decimal_format(int128 value, int scale, Buffer *out)
{
    char *to = buffer_reserve(out, DECIMAL_TEXT_MAX);
    out->size += (size_t)(decimal_put(to, value, scale) - to);
}

/* ---- Doubles ---- */

double decimal_to_double(int128 value, int scale)
{
    static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint128 number = magnitude(value);
    if (number <= UINT64_C(1) << 53 && (size_t)scale < ARRAY_LENGTH(exact_powers)) {
        /* Both are exact in a double, so one division rounds correctly. */
        double quotient = (double)(uint64_t)number / exact_powers[scale];
        return value < 0 ? -quotient : quotient;
    }
    AUTO_BUFFER Buffer text = {0};
    decimal_format(value, scale, &text);
    return strtod(buffer_cstr(&text), NULL);
}

bool decimal_from_double(double number, int precision, int scale, int128 *ret_value)
{
    assert(isfinite(number));
    AUTO_BUFFER Buffer text = {0};
    double_format(number, &text);
    return decimal_parse(buffer_str(&text), precision, scale, true, ret_value) == DECIMAL_OK;
}
