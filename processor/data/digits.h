/* Decimal digits of integers, two at a time, written straight to memory the caller has made sure
 * of. */
#ifndef DATA_DIGITS_H
#define DATA_DIGITS_H

#include <stdint.h>
#include <string.h>

#include "processor/base/compiler.h"

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

/* The eight digits of a number below 10^8 as they are written, zeros in front; the first is the
 * lowest byte. All are computed side by side: two fours, four pairs, eight digits. */
static inline uint64_t digits_word(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    /* x / 100 = x * 10486 / 2^20 for x < 10000; x / 10 = x * 103 / 2^10 for x < 100. */
    uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x0000007F0000007F);
    uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000F000F000F000F);
    return (tens | (pairs - tens * 10) << 8) | UINT64_C(0x3030303030303030);
}

/* The last `count` (1 … 8) of those digits; writes eight bytes. */
static inline void digits_put_last(char *to, unsigned count, uint64_t word)
{
    word >>= 64 - 8 * count;
    memcpy(to, &word, sizeof word);
}

/* How many of those digits the number has (1 for 0). */
static inline unsigned digits_word_count(uint64_t word)
{
    uint64_t nonzero = (word & UINT64_C(0x0F0F0F0F0F0F0F0F)) | UINT64_C(1) << 56;
    return 8 - (unsigned)__builtin_ctzll(nonzero) / 8;
}

/* Room for INT64_TEXT_MAX bytes, which may be written whatever the number; returns the end of the
 * text. */
static inline char *integer_put(char *to, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *to = '-';
    to += value < 0;
    if (LIKELY(rest < 100000000)) {
        uint64_t word = digits_word((uint32_t)rest);
        unsigned count = digits_word_count(word);
        digits_put_last(to, count, word);
        return to + count;
    }
    unsigned count = digits_count(rest);
    digits_put(to, count, rest);
    return to + count;
}

#endif
