/* Generators of random numbers whose values for a seed are those of Spark. */
#ifndef EXEC_KERNELS_RANDOM_GENERATOR_H
#define EXEC_KERNELS_RANDOM_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

/* Spark's XORShiftRandom: rand, randn. */
typedef struct XorShift {
    uint64_t state;
    bool has_gaussian; /* they are made two at a time */
    double gaussian;
} XorShift;

void xor_shift_init(XorShift *random, int64_t seed);
double xor_shift_double(XorShift *random); /* 0 <= x < 1 */
double xor_shift_gaussian(XorShift *random);

/* The Mersenne Twister as Apache Commons Math has it: uuid, shuffle. */
enum { TWISTER_WORDS = 624 };
typedef struct Twister {
    uint32_t words[TWISTER_WORDS];
    uint32_t next;
} Twister;

void twister_init(Twister *twister, int64_t seed);
uint32_t twister_bits(Twister *twister, int count); /* the `count` (1 … 32) highest of a word */
uint64_t twister_long(Twister *twister);
/* 0 <= x < limit */
uint32_t twister_below(Twister *twister, uint32_t limit);

#endif
