/* The types that the columns of CSV records seem to have, as Spark's inferSchema finds them: whole
 * numbers INT, BIGINT, then DECIMAL; other numbers DOUBLE; DATE, TIMESTAMP, BOOLEAN, else STRING. A
 * column with nothing in it is STRING. */
#ifndef FILE_CSV_INFER_H
#define FILE_CSV_INFER_H

#include "processor/data/schema.h"

typedef enum CsvKind {
    CSV_NULL,
    CSV_INT,
    CSV_LONG,
    CSV_DECIMAL,
    CSV_DOUBLE,
    CSV_DATE,
    CSV_TIMESTAMP,
    CSV_BOOLEAN,
    CSV_STRING,
} CsvKind;

typedef struct CsvShape {
    CsvKind kind;
    int digits; /* DECIMAL */
} CsvShape;

/* Widens the shape to take the text too; STR_NULL says nothing. */
void csv_shape_add(CsvShape *shape, Str text);
void csv_shape_merge(CsvShape *shape, const CsvShape *other);
const Type *csv_shape_type(const CsvShape *shape, Arena *arena);

#endif
