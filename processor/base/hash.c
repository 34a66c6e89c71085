/* Hashing of bytes by xxHash. */
#include "processor/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "processor/base/banned.h"

uint64_t hash_bytes(Str bytes)
{
    return XXH3_64bits(bytes.data, bytes.size);
}
