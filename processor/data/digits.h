/* Decimal digits of integers, two at a time, written straight to memory the caller has made sure
 * of. */
#ifndef DATA_DIGITS_H
#define DATA_DIGITS_H

#include <stdint.h>
#include <string.h>

enum { INT64_TEXT_MAX = 20, UINT64_DIGITS_MAX = 20 };

/* "00" "01" … "99" */
extern const char digit_pairs[200];
/* 10^0 … 10^19 */
extern const uint64_t powers_of_ten_u64[20];

/* Digits of a number, 1 for 0: log2 times log10(2) (1233/4096) is exact or one too low. */
static inline unsigned digits_count(uint64_t value)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    unsigned guess = bits * 1233 >> 12;
    return guess + ((value | 1) >= powers_of_ten_u64[guess]);
}

static inline void digits_put_pair(char *to, unsigned value)
{
    memcpy(to, digit_pairs + (size_t)value * 2, 2);
}

/* The last `count` digits of `value`, zeros in front; returns what is left of the value. */
static inline uint64_t digits_put(char *to, unsigned count, uint64_t value)
{
    while (count >= 2) {
        count -= 2;
        digits_put_pair(to + count, (unsigned)(value % 100));
        value /= 100;
    }
    if (count > 0) {
        *to = (char)('0' + value % 10);
        value /= 10;
    }
    return value;
}

/* Room for INT64_TEXT_MAX bytes; returns the end of the text. */
static inline char *integer_put(char *to, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *to = '-';
    to += value < 0;
    unsigned count = digits_count(rest);
    digits_put(to, count, rest);
    return to + count;
}

#endif
