/* The partition of a record key as Kafka's Java default partitioner chooses it: murmur2 of the
 * key's bytes, sign bit cleared, modulo the number of partitions. Other producers of the ecosystem
 * agree. */
#ifndef CONNECTORS_PARTITIONER_H
#define CONNECTORS_PARTITIONER_H

#include <stdint.h>

#include "processor/base/str.h"

/* MurmurHash2 with the seed of Kafka's Utils.murmur2. */
uint32_t murmur2(Str bytes);
/* key.data must not be NULL; partitions > 0. */
int32_t partition_of_key(Str key, int32_t partitions);

#endif
