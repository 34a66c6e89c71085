/* Two sets of rows compared as multisets: order never matters, the number of equal rows does. Rows
 * are equal when their written form is (format.h): exact numbers, NaN equal to NaN. */
#ifndef TESTING_ROW_DIFF_H
#define TESTING_ROW_DIFF_H

#include "processor/data/batch.h"

typedef enum RowOrder { ROWS_ANY_ORDER, ROWS_IN_ORDER } RowOrder;

/* True when equal. Else the differing rows are appended to `out` as a table under the columns'
 * names, those expected and missing with '-', those there and not expected with '+'. Rows count,
 * not selections. */
bool row_diff(const Batch *expected, const Batch *actual, RowOrder order, Buffer *out);

#endif
