/* Rows with keys: the columns of a child, behind them the expressions that are more than a column.
 * Such an extended row carries all that a join (a window function) needs of it, in memory and in a
 * file. */
#ifndef EXEC_KEYED_ROWS_H
#define EXEC_KEYED_ROWS_H

#include "processor/exec/operator.h"

typedef struct KeyedRows {
    const Schema *schema;   /* of the child */
    const Schema *extended; /* with the computed keys */
    ExpressionList computed;
    size_t *key_columns; /* in `extended`, one a key */
    size_t key_count;
} KeyedRows;

/* Opens zeroed ones; keyed_rows_done releases it, after an error too. `arena` lives as long. */
NODISCARD Error *keyed_rows_open(KeyedRows *side, const Schema *schema, BoundExpr *const *keys,
                                 size_t key_count, const ExecContext *context, Arena *arena);
void keyed_rows_done(KeyedRows *side);
/* The batch with its computed keys, in pull->arena; rows whose key fails are taken out. */
NODISCARD Error *keyed_rows_extend(const KeyedRows *side, const Pull *pull, const Batch *batch,
                                   Batch **ret_extended);
/* A NULL, in a column that may be of the type of a bare NULL. */
static inline bool keyed_value_is_null(const Vector *vector, uint32_t row)
{
    return !vector_is_valid(vector, row) || type_physical(vector->type) == PHYSICAL_NONE;
}
/* Has the row of an extended batch a NULL in a key that `=` compares? */
bool keyed_rows_is_null(const KeyedRows *side, const bool *null_equal, const Batch *batch,
                        uint32_t row);

#endif
