/* See random_generator.h. */
#include "processor/exec/kernels/random_generator.h"

#include <math.h>

#include "processor/exec/kernels/hash.h"

#include "processor/base/banned.h"

/* ---- XORShiftRandom ---- */

/* Seeds that lie close to each other must not give numbers that do: the hash of the seed's bytes.
 */
void xor_shift_init(XorShift *random, int64_t seed)
{
    enum { SCALA_ARRAY_SEED = 0x3C074A61 };
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(unsigned char)((uint64_t)seed >> (8 * (7 - i)));
    }
    Str key = {bytes, sizeof bytes};
    uint32_t low = murmur3_of_bytes(key, SCALA_ARRAY_SEED);
    uint32_t high = murmur3_of_bytes(key, low);
    *random = (XorShift){.state = (uint64_t)high << 32 | low};
}

static uint32_t xor_shift_bits(XorShift *random, int count)
{
    uint64_t next = random->state ^ random->state << 21;
    next ^= next >> 35;
    next ^= next << 4;
    random->state = next;
    return (uint32_t)(next & ((UINT64_C(1) << count) - 1));
}

double xor_shift_double(XorShift *random)
{
    uint64_t high = xor_shift_bits(random, 26);
    uint64_t low = xor_shift_bits(random, 27);
    return (double)((high << 27) + low) * 0x1.0p-53;
}

/* Java's polar method. */
double xor_shift_gaussian(XorShift *random)
{
    if (random->has_gaussian) {
        random->has_gaussian = false;
        return random->gaussian;
    }
    double x = 0;
    double y = 0;
    double square = 0;
    do {
        x = 2 * xor_shift_double(random) - 1;
        y = 2 * xor_shift_double(random) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double factor = sqrt(-2 * log(square) / square);
    random->gaussian = y * factor;
    random->has_gaussian = true;
    return x * factor;
}

/* ---- Mersenne Twister ---- */

enum { TWISTER_SHIFT = 397 };

static void init_words(Twister *twister, uint32_t seed)
{
    twister->words[0] = seed;
    for (uint32_t i = 1; i < TWISTER_WORDS; i++) {
        uint32_t last = twister->words[i - 1];
        twister->words[i] = 1812433253U * (last ^ last >> 30) + i;
    }
    twister->next = TWISTER_WORDS;
}

static uint32_t mixed(const Twister *twister, uint32_t i, uint32_t factor)
{
    uint32_t last = twister->words[i - 1];
    return twister->words[i] ^ (last ^ last >> 30) * factor;
}

/* The seed's two halves as the key of the published initialisation by array. */
void twister_init(Twister *twister, int64_t seed)
{
    const uint32_t key[2] = {(uint32_t)((uint64_t)seed >> 32), (uint32_t)(uint64_t)seed};
    init_words(twister, 19650218U);
    uint32_t i = 1;
    for (uint32_t k = 0; k < TWISTER_WORDS; k++) {
        twister->words[i] = mixed(twister, i, 1664525U) + key[k % 2] + k % 2;
        if (++i == TWISTER_WORDS) {
            twister->words[0] = twister->words[TWISTER_WORDS - 1];
            i = 1;
        }
    }
    for (uint32_t k = 1; k < TWISTER_WORDS; k++) {
        twister->words[i] = mixed(twister, i, 1566083941U) - i;
        if (++i == TWISTER_WORDS) {
            twister->words[0] = twister->words[TWISTER_WORDS - 1];
            i = 1;
        }
    }
    twister->words[0] = 0x80000000U;
}

static void refill(Twister *twister)
{
    for (uint32_t i = 0; i < TWISTER_WORDS; i++) {
        uint32_t joined = (twister->words[i] & 0x80000000U) |
                          (twister->words[(i + 1) % TWISTER_WORDS] & 0x7FFFFFFFU);
        twister->words[i] = twister->words[(i + TWISTER_SHIFT) % TWISTER_WORDS] ^ joined >> 1 ^
                            ((joined & 1) != 0 ? 0x9908B0DFU : 0);
    }
    twister->next = 0;
}

uint32_t twister_bits(Twister *twister, int count)
{
    if (twister->next == TWISTER_WORDS) {
        refill(twister);
    }
    uint32_t word = twister->words[twister->next++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9D2C5680U;
    word ^= word << 15 & 0xEFC60000U;
    word ^= word >> 18;
    return word >> (32 - count);
}

uint64_t twister_long(Twister *twister)
{
    uint64_t high = twister_bits(twister, 32);
    return high << 32 | twister_bits(twister, 32);
}

uint32_t twister_below(Twister *twister, uint32_t limit)
{
    if ((limit & (limit - 1)) == 0) {
        return (uint32_t)((uint64_t)limit * twister_bits(twister, 31) >> 31);
    }
    for (;;) {
        uint32_t bits = twister_bits(twister, 31);
        uint32_t value = bits % limit;
        if (bits - value + (limit - 1) <= INT32_MAX) {
            return value;
        }
    }
}
