/* Pseudo-random numbers of a seed, the same on every machine. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

typedef struct Random {
    uint64_t state; /* not 0 */
} Random;

static inline uint64_t random_next(Random *random)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return random->state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Any seed will do; neighbouring ones have nothing in common. */
static inline Random random_of_seed(uint64_t seed)
{
    Random random = {seed * UINT64_C(0x9E3779B97F4A7C15) | 1};
    for (int i = 0; i < 8; i++) {
        (void)random_next(&random);
    }
    return random;
}

/* 0 … limit - 1 */
static inline uint32_t random_below(Random *random, uint32_t limit)
{
    return (uint32_t)((random_next(random) >> 32) * limit >> 32);
}

#endif
