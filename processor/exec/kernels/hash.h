/* Hashes for others than the functions hash() and xxhash64(). */
#ifndef EXEC_KERNELS_HASH_H
#define EXEC_KERNELS_HASH_H

#include <stdint.h>

#include "processor/data/vector.h"

/* Of bytes, 32 bits; the algorithm as it is published (Spark's hash() treats the rest otherwise).
 */
uint32_t murmur3_of_bytes(Str bytes, uint32_t seed);
/* xxhash64() of one value, `seed` instead of 42. */
uint64_t xxhash64_of_value(const Vector *vector, uint32_t row, uint64_t seed);

#endif
