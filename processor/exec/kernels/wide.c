/* 256-bit integers, schoolbook methods. */
#include "processor/exec/kernels/wide.h"

#include <string.h>

#include "processor/data/decimal.h"

#include "processor/base/banned.h"

enum { LIMBS = 4 };

static Wide wide_from(int128 value)
{
    uint128 magnitude = value < 0 ? 0 - (uint128)value : (uint128)value;
    return (Wide){{(uint64_t)magnitude, (uint64_t)(magnitude >> 64), 0, 0}, value < 0};
}

bool wide_is_zero(const Wide *a)
{
    return (a->limbs[0] | a->limbs[1] | a->limbs[2] | a->limbs[3]) == 0;
}

static int magnitude_compare(const Wide *a, const Wide *b)
{
    for (int i = LIMBS - 1; i >= 0; i--) {
        if (a->limbs[i] != b->limbs[i]) {
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
        }
    }
    return 0;
}

/* a -= b, |a| >= |b| */
static void magnitude_subtract(Wide *a, const Wide *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint128 part = (uint128)a->limbs[i] - b->limbs[i] - borrow;
        a->limbs[i] = (uint64_t)part;
        borrow = (part >> 64) != 0;
    }
}

static void magnitude_add(Wide *a, const Wide *b)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint128 part = (uint128)a->limbs[i] + b->limbs[i] + carry;
        a->limbs[i] = (uint64_t)part;
        carry = (uint64_t)(part >> 64);
    }
}

static void multiply_small(Wide *a, uint64_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint128 part = (uint128)a->limbs[i] * factor + carry;
        a->limbs[i] = (uint64_t)part;
        carry = (uint64_t)(part >> 64);
    }
}

/* Returns the remainder. */
static uint64_t divide_small(Wide *a, uint64_t divisor)
{
    uint64_t remainder = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        uint128 part = ((uint128)remainder << 64) | a->limbs[i];
        a->limbs[i] = (uint64_t)(part / divisor);
        remainder = (uint64_t)(part % divisor);
    }
    return remainder;
}

Wide wide_scaled(int128 value, int power)
{
    Wide wide = wide_from(value);
    for (int i = 0; i < power; i++) {
        multiply_small(&wide, 10);
    }
    return wide;
}

Wide wide_negate(Wide a)
{
    a.negative = !a.negative;
    return a;
}

Wide wide_add(Wide a, Wide b)
{
    if (a.negative == b.negative) {
        magnitude_add(&a, &b);
        return a;
    }
    if (magnitude_compare(&a, &b) >= 0) {
        magnitude_subtract(&a, &b);
        return a;
    }
    magnitude_subtract(&b, &a);
    return b;
}

Wide wide_product(int128 a, int128 b)
{
    Wide x = wide_from(a);
    Wide y = wide_from(b);
    Wide product = {{0}, x.negative != y.negative};
    for (int i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 2; k++) {
            uint128 part = (uint128)x.limbs[i] * y.limbs[k] + product.limbs[i + k] + carry;
            product.limbs[i + k] = (uint64_t)part;
            carry = (uint64_t)(part >> 64);
        }
        product.limbs[i + 2] = carry;
    }
    return product;
}

Wide wide_round(Wide a, int power)
{
    uint64_t last = 0;
    for (int i = 0; i < power; i++) {
        last = divide_small(&a, 10);
    }
    if (last >= 5) {
        const Wide one = {{1, 0, 0, 0}, a.negative};
        magnitude_add(&a, &one);
    }
    return a;
}

static void shift_left_one(Wide *a, uint64_t low_bit)
{
    for (int i = LIMBS - 1; i > 0; i--) {
        a->limbs[i] = (a->limbs[i] << 1) | (a->limbs[i - 1] >> 63);
    }
    a->limbs[0] = (a->limbs[0] << 1) | low_bit;
}

void wide_divide(Wide a, Wide b, Wide *ret_quotient, Wide *ret_remainder)
{
    Wide quotient = {{0}, a.negative != b.negative};
    Wide remainder = {{0}, a.negative};
    for (int bit = LIMBS * 64 - 1; bit >= 0; bit--) {
        shift_left_one(&remainder, (a.limbs[bit / 64] >> (bit % 64)) & 1);
        shift_left_one(&quotient, 0);
        if (magnitude_compare(&remainder, &b) >= 0) {
            magnitude_subtract(&remainder, &b);
            quotient.limbs[0] |= 1;
        }
    }
    *ret_quotient = quotient;
    *ret_remainder = remainder;
}

bool wide_to_int128(const Wide *a, int128 *ret_value)
{
    uint128 magnitude = ((uint128)a->limbs[1] << 64) | a->limbs[0];
    if ((a->limbs[2] | a->limbs[3]) != 0 || magnitude >> 127 != 0) {
        return false;
    }
    *ret_value = a->negative ? -(int128)magnitude : (int128)magnitude;
    return true;
}

void wide_format(const Wide *a, int scale, Buffer *out)
{
    char digits[80];
    int count = 0;
    Wide rest = *a;
    while (!wide_is_zero(&rest) || count <= scale) {
        digits[count++] = (char)('0' + divide_small(&rest, 10));
    }
    if (a->negative && !wide_is_zero(a)) {
        buffer_append_byte(out, '-');
    }
    while (count > 0) {
        buffer_append_byte(out, digits[--count]);
        if (count == scale && count > 0) {
            buffer_append_byte(out, '.');
        }
    }
}
