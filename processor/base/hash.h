/* Hashing of bytes: XXH3, whose values are the same on every machine and in every version. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "processor/base/str.h"

/* A missing string (STR_NULL) hashes as an empty one. */
uint64_t hash_bytes(Str bytes);
/* 128 bits: takes the place of the bytes where nobody can make them collide: `seed` is secret. */
typedef struct Hash128 {
    uint64_t high;
    uint64_t low;
} Hash128;
Hash128 hash_bytes_128(Str bytes, uint64_t seed);
/* The older XXH64, for functions that must give its values. */
uint64_t hash_bytes_xx64(Str bytes, uint64_t seed);
/* The hash of a pair; the order counts. */
static inline uint64_t hash_combine(uint64_t a, uint64_t b)
{
    return a ^ (b + UINT64_C(0x9E3779B97F4A7C15) + (a << 6) + (a >> 2));
}

#endif
