/* One side of a join: its columns, behind them the keys that are more than a column. Such an
 * extended row carries all that a join needs of it, in memory and in a file. */
#ifndef EXEC_JOIN_SIDE_H
#define EXEC_JOIN_SIDE_H

#include "processor/exec/operator.h"

typedef struct JoinSide {
    const Schema *schema;   /* of the child */
    const Schema *extended; /* with the computed keys */
    ExpressionList computed;
    size_t *key_columns; /* in `extended`, one a key */
    size_t key_count;
} JoinSide;

/* Opens a zeroed side; join_side_done releases it, after an error too. `arena` lives as long. */
NODISCARD Error *join_side_open(JoinSide *side, const Schema *schema, BoundExpr *const *keys,
                                size_t key_count, const ExecContext *context, Arena *arena);
void join_side_done(JoinSide *side);
/* The batch with its computed keys, in pull->arena; rows whose key fails are taken out. */
NODISCARD Error *join_side_extend(const JoinSide *side, const Pull *pull, const Batch *batch,
                                  Batch **ret_extended);
/* A NULL, in a column that may be of the type of a bare NULL. */
static inline bool join_value_is_null(const Vector *vector, uint32_t row)
{
    return !vector_is_valid(vector, row) || type_physical(vector->type) == PHYSICAL_NONE;
}
/* Has the row of an extended batch a NULL in a key that `=` compares? */
bool join_key_is_null(const JoinSide *side, const bool *null_equal, const Batch *batch,
                      uint32_t row);

#endif
