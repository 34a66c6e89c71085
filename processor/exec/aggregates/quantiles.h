/* Quantiles in bounded memory: Greenwald and Khanna's summary, kept as Spark keeps it, so that the
 * answers are the same. */
#ifndef EXEC_AGGREGATES_QUANTILES_H
#define EXEC_AGGREGATES_QUANTILES_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/arena.h"

/* A value that stands for `g` ranks; `delta` more are uncertain. */
typedef struct QuantileSample {
    double value;
    int64_t g;
    int64_t delta;
} QuantileSample;

typedef struct Quantiles {
    QuantileSample *samples; /* by value */
    uint32_t sample_count;
    uint32_t sample_capacity;
    double *head; /* values that are not in the samples yet */
    uint32_t head_count;
    uint32_t head_capacity;
    int64_t count;
} Quantiles;

/* Zeroed = empty. `error`: relative error of ranks. */
void quantiles_add(Quantiles *quantiles, double value, double error, Arena *arena);
/* All values become samples, as few as the error allows. */
void quantiles_compress(Quantiles *quantiles, double error, Arena *arena);
/* The value near rank `fraction` * count; there must be values, compressed. */
double quantiles_find(const Quantiles *quantiles, double fraction, double error);

#endif
