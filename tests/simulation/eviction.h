/* Eviction of keys, as when memory is short. */
#ifndef TESTS_SIMULATION_EVICTION_H
#define TESTS_SIMULATION_EVICTION_H

#include <stdint.h>

void eviction_open(uint64_t seed);

#endif
