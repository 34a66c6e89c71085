/* One pass of an AGGREGATE: rows in, a row a group out. Rows whose group does not fit in memory go
 * to files by hash, each of which is the input of a pass of its own. */
#ifndef EXEC_AGGREGATION_H
#define EXEC_AGGREGATION_H

#include "processor/exec/aggregate_input.h"
#include "processor/exec/spill_parts.h"

typedef struct Aggregation Aggregation;

/* `level`: how often its input was spilled. Input, schema and context must outlive it. */
RETURNS_NONNULL Aggregation *aggregation_new(const AggregateInput *input, const Schema *schema,
                                             const ExecContext *context, unsigned level);
void aggregation_free(Aggregation *aggregation);
/* Adds the rows asked for; a vector a slot of the input. */
NODISCARD Error *aggregation_add(Aggregation *aggregation, const Vector *const *slots, Rows rows);
/* The input has ended. */
NODISCARD Error *aggregation_end(Aggregation *aggregation);
/* The next groups in `arena`, NULL when there are no more. Bytes stay the aggregation's while
 * nothing was spilled, else they are the arena's. */
NODISCARD Error *aggregation_next(Aggregation *aggregation, Arena *arena, Batch **ret_batch);
/* What was spilled; the caller takes the files out. */
SpillParts *aggregation_parts(Aggregation *aggregation);

#endif
