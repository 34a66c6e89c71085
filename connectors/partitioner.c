/* murmur2 with Kafka's seed. */
#include "connectors/partitioner.h"

#include <assert.h>
#include <string.h>

#include "processor/base/banned.h"

uint32_t murmur2(Str bytes)
{
    const uint32_t m = 0x5bd1e995;
    const unsigned char *data = (const unsigned char *)bytes.data;
    size_t left = bytes.size;
    uint32_t h = UINT32_C(0x9747b28c) ^ (uint32_t)bytes.size;
    for (; left >= 4; data += 4, left -= 4) {
        uint32_t k = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                     (uint32_t)data[3] << 24;
        k *= m;
        k ^= k >> 24;
        k *= m;
        h = (h * m) ^ k;
    }
    if (left > 0) {
        uint32_t tail = 0;
        for (size_t i = 0; i < left; i++) {
            tail |= (uint32_t)data[i] << (8 * i);
        }
        h = (h ^ tail) * m;
    }
    h ^= h >> 13;
    h *= m;
    return h ^ h >> 15;
}

int32_t partition_of_key(Str key, int32_t partitions)
{
    assert(key.data != NULL && partitions > 0);
    return (int32_t)((murmur2(key) & 0x7fffffff) % (uint32_t)partitions);
}
