/* A batch as a table of text: aligned columns, NULL visible. */
#ifndef TESTING_TABLE_PRINT_H
#define TESTING_TABLE_PRINT_H

#include "processor/data/batch.h"
#include "processor/data/datetime.h"

/* Appends the selected rows under a header of column names. */
void table_print(const Batch *batch, const TimeZone *zone, Buffer *out);

#endif
