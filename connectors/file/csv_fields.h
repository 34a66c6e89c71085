/* CSV text cut into records and fields.
 *
 *     1,"a, ""b""",,""\r\n      ─►  `1`  `a, "b"`  NULL  ``
 *
 * A field that begins with a quote ends with one; inside, separators and line ends are text, and a
 * quote is written "" or \". Where something follows the closing quote, the field is taken as it is
 * written (as Spark does). A field without quotes is text as it stands; empty it is NULL. */
#ifndef FILE_CSV_FIELDS_H
#define FILE_CSV_FIELDS_H

#include <stdbool.h>

#include "processor/base/arena.h"
#include "processor/base/str.h"

typedef struct CsvField {
    Str text; /* between the quotes, where it has them */
    bool quoted;
    bool escaped; /* the text holds "" or \ */
} CsvField;

typedef enum CsvEnd {
    CSV_FIELD,  /* another field follows in the record */
    CSV_RECORD, /* the record ends with it */
    CSV_OPEN,   /* its quote is not closed */
} CsvEnd;

/* Cuts the field at *at (before `end`, or at it: an empty field behind the last separator) and
 * moves *at behind its separator or line end. */
CsvEnd csv_next_field(char separator, const char **at, const char *end, CsvField *ret_field);
/* The text the field stands for; in `arena` where it is not in the file like that. STR_NULL: NULL.
 */
Str csv_field_text(const CsvField *field, Arena *arena);
/* As RecordsEnd; `context` is a FileTable. */
size_t csv_records_end(const void *context, Str bytes);

#endif
