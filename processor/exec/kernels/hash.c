/* hash (Murmur3, 32 bits) and xxhash64 as Spark computes them: the hash of a value with the hash of
 * what stood before as seed, 42 at first. A NULL leaves the hash as it is; nested values are hashed
 * part by part; -0.0 is 0.0 and there is one NaN. */
#include <math.h>
#include <string.h>

#include "processor/base/hash.h"
#include "processor/exec/kernels/hash.h"
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

enum { HASH_SEED = 42 };

/* What differs between the two: the hash of an INT, of a BIGINT and of bytes, seeded. */
typedef struct Hasher {
    uint64_t (*of_int)(int32_t value, uint64_t seed);
    uint64_t (*of_long)(int64_t value, uint64_t seed);
    uint64_t (*of_bytes)(Str bytes, uint64_t seed);
} Hasher;

/* ---- Murmur3 ---- */

static uint32_t rotate(uint32_t value, int bits)
{
    return value << bits | value >> (32 - bits);
}

static uint32_t murmur_mix(uint32_t hash, uint32_t word)
{
    word *= 0xCC9E2D51U;
    word = rotate(word, 15) * 0x1B873593U;
    return rotate(hash ^ word, 13) * 5 + 0xE6546B64U;
}

static uint32_t murmur_finish(uint32_t hash, uint32_t length)
{
    hash ^= length;
    hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
    return hash ^ hash >> 16;
}

static uint64_t murmur_of_int(int32_t value, uint64_t seed)
{
    return murmur_finish(murmur_mix((uint32_t)seed, (uint32_t)value), 4);
}

static uint64_t murmur_of_long(int64_t value, uint64_t seed)
{
    uint32_t hash = murmur_mix((uint32_t)seed, (uint32_t)(uint64_t)value);
    return murmur_finish(murmur_mix(hash, (uint32_t)((uint64_t)value >> 32)), 8);
}

static uint32_t word_at(const char *at)
{
    uint32_t word = 0;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Spark mixes each byte of the rest as a word of its own, with its sign. */
static uint64_t murmur_of_bytes(Str bytes, uint64_t seed)
{
    uint32_t hash = (uint32_t)seed;
    size_t i = 0;
    for (; i + 4 <= bytes.size; i += 4) {
        hash = murmur_mix(hash, word_at(bytes.data + i));
    }
    for (; i < bytes.size; i++) {
        hash = murmur_mix(hash, (uint32_t)(int32_t)(signed char)bytes.data[i]);
    }
    return murmur_finish(hash, (uint32_t)bytes.size);
}

uint32_t murmur3_of_bytes(Str bytes, uint32_t seed)
{
    uint32_t hash = seed;
    size_t i = 0;
    for (; i + 4 <= bytes.size; i += 4) {
        hash = murmur_mix(hash, word_at(bytes.data + i));
    }
    uint32_t rest = 0;
    for (size_t k = bytes.size; k > i; k--) {
        rest = rest << 8 | (unsigned char)bytes.data[k - 1];
    }
    if (bytes.size > i) {
        hash ^= rotate(rest * 0xCC9E2D51U, 15) * 0x1B873593U;
    }
    return murmur_finish(hash, (uint32_t)bytes.size);
}

/* ---- XXH64 ---- */

static uint64_t xx_of_int(int32_t value, uint64_t seed)
{
    return hash_bytes_xx64((Str){(const char *)&value, sizeof value}, seed);
}

static uint64_t xx_of_long(int64_t value, uint64_t seed)
{
    return hash_bytes_xx64((Str){(const char *)&value, sizeof value}, seed);
}

static uint64_t xx_of_bytes(Str bytes, uint64_t seed)
{
    return hash_bytes_xx64(bytes, seed);
}

/* ---- Values ---- */

static uint64_t hash_float(const Hasher *hasher, float number, uint64_t seed)
{
    int32_t bits = 0x7FC00000;
    number = number == 0 ? 0 : number;
    if (!isnan(number)) {
        memcpy(&bits, &number, sizeof bits);
    }
    return hasher->of_int(bits, seed);
}

static uint64_t hash_double(const Hasher *hasher, double number, uint64_t seed)
{
    int64_t bits = INT64_C(0x7FF8000000000000);
    number = number == 0 ? 0 : number;
    if (!isnan(number)) {
        memcpy(&bits, &number, sizeof bits);
    }
    return hasher->of_long(bits, seed);
}

/* Long DECIMALs are the bytes of Java's BigInteger: big-endian, no longer than the sign needs. */
static uint64_t hash_decimal(const Hasher *hasher, const Type *type, int128 value, uint64_t seed)
{
    if (type->precision <= 18) {
        return hasher->of_long((int64_t)value, seed);
    }
    char bytes[16];
    size_t first = 0;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(unsigned char)(value >> (8 * (sizeof bytes - 1 - i)));
    }
    char sign = value < 0 ? (char)-1 : 0;
    while (first + 1 < sizeof bytes && bytes[first] == sign &&
           (bytes[first + 1] < 0) == (sign < 0)) {
        first++;
    }
    return hasher->of_bytes((Str){bytes + first, sizeof bytes - first}, seed);
}

static uint64_t hash_value(const Hasher *hasher, const Vector *vector, uint32_t row, uint64_t seed);

static uint64_t hash_list(const Hasher *hasher, const Vector *vector, uint32_t row, uint64_t seed)
{
    for (uint32_t i = vector->offsets[row]; i < vector->offsets[row + 1]; i++) {
        seed = hash_value(hasher, vector->children[0], i, seed);
    }
    return seed;
}

static uint64_t hash_struct(const Hasher *hasher, const Vector *vector, uint32_t row, uint64_t seed)
{
    for (uint32_t i = 0; i < vector->child_count; i++) {
        seed = hash_value(hasher, vector->children[i], row, seed);
    }
    return seed;
}

static uint64_t hash_value(const Hasher *hasher, const Vector *vector, uint32_t row, uint64_t seed)
{
    if (!vector_is_valid(vector, row)) {
        return seed;
    }
    switch (type_physical(vector->type)) {
    case PHYSICAL_NONE:
        return seed;
    case PHYSICAL_BOOL:
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
        return hasher->of_int((int32_t)vector_int_value(vector, row), seed);
    case PHYSICAL_INT64:
        return hasher->of_long(VECTOR_VALUE(vector, int64_t, row), seed);
    case PHYSICAL_INT128:
        return hash_decimal(hasher, vector->type, VECTOR_VALUE(vector, int128, row), seed);
    case PHYSICAL_FLOAT:
        return hash_float(hasher, VECTOR_VALUE(vector, float, row), seed);
    case PHYSICAL_DOUBLE:
        return hash_double(hasher, VECTOR_VALUE(vector, double, row), seed);
    case PHYSICAL_STR:
        return hasher->of_bytes(VECTOR_VALUE(vector, Str, row), seed);
    case PHYSICAL_LIST:
        return hash_list(hasher, vector, row, seed);
    case PHYSICAL_STRUCT:
        return hash_struct(hasher, vector, row, seed);
    }
    return seed;
}

static uint64_t hash_row(const Hasher *hasher, const KernelCall *call, uint32_t row)
{
    uint64_t seed = HASH_SEED;
    for (size_t k = 0; k < call->argument_count; k++) {
        seed = hash_value(hasher, call->arguments[k], row, seed);
    }
    return seed;
}

static void hash(const KernelCall *call)
{
    static const Hasher murmur = {murmur_of_int, murmur_of_long, murmur_of_bytes};
    FOR_ROWS(call->rows, i, {
        RESULT(call, int32_t)[i] = (int32_t)(uint32_t)hash_row(&murmur, call, i);
    });
}

static const Hasher xx = {xx_of_int, xx_of_long, xx_of_bytes};

uint64_t xxhash64_of_value(const Vector *vector, uint32_t row, uint64_t seed)
{
    return hash_value(&xx, vector, row, seed);
}

static void xxhash64(const KernelCall *call)
{
    FOR_ROWS(call->rows, i, { RESULT(call, int64_t)[i] = (int64_t)hash_row(&xx, call, i); });
}

const Kernel kernel_hash = {.run = hash};
const Kernel kernel_xxhash64 = {.run = xxhash64};
