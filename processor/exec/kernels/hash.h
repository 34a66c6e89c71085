/* Murmur3 for others than the function hash(). */
#ifndef EXEC_KERNELS_HASH_H
#define EXEC_KERNELS_HASH_H

#include <stdint.h>

#include "processor/base/str.h"

/* Of bytes, 32 bits; the algorithm as it is published (Spark's hash() treats the rest otherwise).
 */
uint32_t murmur3_of_bytes(Str bytes, uint32_t seed);

#endif
