/* Chance: one seed, several streams of numbers. Each part of the simulation draws from a stream of
 * its own, so that a fault more or less does not change what another part does. */
#ifndef TESTS_SIMULATION_CHANCE_H
#define TESTS_SIMULATION_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Chance {
    uint64_t state;
} Chance;

/* splitmix64: good also for neighbouring seeds. */
static inline uint64_t chance_next(Chance *chance)
{
    uint64_t z = (chance->state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline Chance chance_stream(uint64_t seed, uint64_t stream)
{
    Chance chance = {seed * UINT64_C(0xD1342543DE82EF95) + stream};
    (void)chance_next(&chance);
    return chance;
}

/* 0 … below - 1; below > 0. */
static inline uint32_t chance_below(Chance *chance, uint32_t below)
{
    return (uint32_t)((chance_next(chance) >> 32) * below >> 32);
}

/* low … high, both possible. */
static inline uint32_t chance_between(Chance *chance, uint32_t low, uint32_t high)
{
    return low + chance_below(chance, high - low + 1);
}

/* True once in `n` times; 0: never. */
static inline bool chance_one_in(Chance *chance, uint32_t n)
{
    return n != 0 && chance_below(chance, n) == 0;
}

#endif
