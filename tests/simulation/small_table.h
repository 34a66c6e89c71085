/* Runs with a key table of a few keys: they are put away (state/key_archive.h), come back, and are
 * forgotten when the archive is full too, all the time. Nothing of the product is replaced: it is
 * given other sizes, of the key table (memory_plan) and of a batch. */
#ifndef TESTS_SIMULATION_SMALL_TABLE_H
#define TESTS_SIMULATION_SMALL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/simulation/world.h"

/* Draws whether this run has one. */
void small_table_open(uint64_t seed);
bool small_table_is_on(void);
/* When it is on: rows of a batch, and keys that are fed. */
size_t small_table_batch_rows(void);
uint32_t small_table_keys(void);
/* Adds what happened to the archives. */
void small_table_count(WorldResult *result);

#endif
