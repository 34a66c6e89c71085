/* The columns of a projection: plain columns are the input's vectors, others are computed. */
#ifndef EXEC_PROJECTION_H
#define EXEC_PROJECTION_H

#include "processor/exec/operator.h"

typedef struct Projection {
    const Schema *schema;
    BoundExpr *const *exprs; /* the plan's, one a column of the schema */
    ExpressionList computed; /* of those that are no plain column */
} Projection;

/* Opens a zeroed projection; projection_done releases it, after an error too. */
NODISCARD Error *projection_open(Projection *projection, const Schema *schema,
                                 BoundExpr *const *exprs, const ExecContext *context);
void projection_done(Projection *projection);
/* The projected batch, in pull->arena. Rows that fail in any column are taken out and handed over,
 * with their first error. */
NODISCARD Error *projection_run(const Projection *projection, const Pull *pull, const Batch *in,
                                Batch **ret_batch);

#endif
