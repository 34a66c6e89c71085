/* Distinct values of one type in a state, in the order they came, each with a count. */
#ifndef EXEC_AGGREGATES_VALUE_SET_H
#define EXEC_AGGREGATES_VALUE_SET_H

#include "processor/exec/aggregate.h"

typedef struct ValueSet {
    Vector *values;   /* NULL: none yet */
    int64_t *counts;  /* as long as values */
    uint64_t *hashes; /* as long as values */
    uint32_t *slots;  /* open addressing: index + 1; none while there are few values */
    uint32_t capacity;
    uint32_t slot_count; /* a power of two */
} ValueSet;

/* Counts row `row` (not NULL), whose row_hash is `hash`; a new value is copied into `arena`. */
void value_set_add(ValueSet *set, const Vector *from, uint32_t row, uint64_t hash, Arena *arena);

#endif
