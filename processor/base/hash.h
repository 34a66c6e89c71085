/* 64-bit hashing of bytes: XXH3, whose values are the same on every machine and in every version.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "processor/base/str.h"

/* A missing string (STR_NULL) hashes as an empty one. */
uint64_t hash_bytes(Str bytes);
/* The hash of a pair; the order counts. */
static inline uint64_t hash_combine(uint64_t a, uint64_t b)
{
    return a ^ (b + UINT64_C(0x9E3779B97F4A7C15) + (a << 6) + (a >> 2));
}

#endif
