/* The names of columns that a header gives, as Spark's CSV source takes them. */
#ifndef FILE_CSV_NAMES_H
#define FILE_CSV_NAMES_H

#include "connectors/file/csv_header.h"

/* A name for each field, without blanks around it, in `arena`: `_c` and its number, from 0, for one
 * that is empty; with its number behind it for one that is there twice, in whatever case. */
Str *csv_column_names(const CsvRecord *header, Arena *arena);

#endif
