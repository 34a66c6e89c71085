/* Arguments of aggregates that must be known before the first row: percentages, accuracy,
 * delimiters. */
#ifndef EXEC_AGGREGATES_CONSTANTS_H
#define EXEC_AGGREGATES_CONSTANTS_H

#include "processor/exec/aggregate.h"

/* The value of an expression that is constant, as a vector of length 1 in `arena`; else NULL (an
 * expression that fails too). */
const Vector *constant_of(const BoundExpr *expr, Arena *arena);
/* A number as DOUBLE; false for NULL and for what is no number. */
bool constant_double(const Vector *vector, uint32_t row, double *ret);
/* Argument `argument` of the call; NULL when it has fewer. */
const Vector *call_constant(const AggregateCall *call, size_t argument);

#endif
