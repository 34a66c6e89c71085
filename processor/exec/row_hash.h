/* Hashes and equality of rows of key columns, of any type, as grouping means them: NULL equals
 * NULL, NaN equals NaN, -0.0 equals 0.0. Loops go column by column, chosen once by type. */
#ifndef EXEC_ROW_HASH_H
#define EXEC_ROW_HASH_H

#include "processor/exec/kernel.h"

/* hashes[i] = hash of row i of the columns, for the rows asked for. Good in all 64 bits. */
void row_hash(const Vector *const *columns, size_t column_count, Rows rows, uint64_t *hashes);
/* Narrows pairs (left_rows[i], right_rows[i]) to those whose key columns are all equal: writes the
 * indexes i that hold into `matches` and gives their count. */
uint32_t row_equal_pairs(const Vector *const *left, const uint32_t *left_rows,
                         const Vector *const *right, const uint32_t *right_rows,
                         size_t column_count, uint32_t pair_count, uint32_t *matches);

/* The same of one value. */
uint64_t row_value_hash(const Vector *vector, uint32_t row);
bool row_value_equal(const Vector *a, uint32_t row_a, const Vector *b, uint32_t row_b);
/* Of equal numbers one is shown: 0.0 for -0.0, one NaN; also inside the rows from `from` on. */
double row_normal_double(double value);
void row_normalize(Vector *vector, uint32_t from);

#endif
