/* Headers of CSV files: whether the first line is one, and which field belongs to which column. */
#ifndef FILE_CSV_HEADER_H
#define FILE_CSV_HEADER_H

#include "connectors/file/file_table_internal.h"

/* The fields of the first record of a file. */
typedef struct CsvRecord {
    Str *fields; /* STR_NULL: NULL */
    size_t count;
} CsvRecord;

/* Reads the first record of file number `file`; count 0 when it has none. In `arena`. */
NODISCARD Error *csv_first_record(FileTable *table, size_t file, Arena *arena,
                                  CsvRecord *ret_record);

/* Where the columns of a request are in one file. */
typedef struct CsvFilePlan {
    bool header;              /* its first record is no row */
    bool named;               /* … and names columns */
    size_t field_count;       /* more fields in a record are an error */
    int32_t *column_of_field; /* which column read, -1: none */
} CsvFilePlan;

/* For every file of the table. Where a file has a header its columns are found by name, whatever
 * their order, and columns it does not name are NULL; without one they are found by position. */
NODISCARD Error *csv_plan_files(const ReadRequest *request, const CsvFilePlan **ret_plans);

#endif
