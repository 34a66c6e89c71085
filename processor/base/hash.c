/* Hashing of bytes by xxHash. */
#include "processor/base/hash.h"

#ifndef __clang_analyzer__ /* which finds null pointers in there that never are */
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include "processor/base/banned.h"

uint64_t hash_bytes(Str bytes)
{
    return XXH3_64bits(bytes.data, bytes.size);
}

Hash128 hash_bytes_128(Str bytes, uint64_t seed)
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data, bytes.size, seed);
    return (Hash128){hash.high64, hash.low64};
}

uint64_t hash_bytes_xx64(Str bytes, uint64_t seed)
{
    return XXH64(bytes.data, bytes.size, seed);
}
