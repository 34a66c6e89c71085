/* A relation that lies in files: JSON lines, CSV or Avro container files; one file, a folder, a
 * pattern, or standard input; packed with gzip or not. Read as batches, by several threads, in file
 * order; only the columns that are asked for are decoded. */
#ifndef FILE_FILE_TABLE_H
#define FILE_FILE_TABLE_H

#include "processor/data/batch_source.h"
#include "processor/data/datetime.h"

typedef enum FileFormat {
    FILE_JSON, /* one object a line */
    FILE_CSV,
    FILE_AVRO, /* container files */
} FileFormat;

typedef enum CsvHeader {
    CSV_HEADER_AUTO, /* the first line is one when it names columns */
    CSV_HEADER_YES,
    CSV_HEADER_NO,
} CsvHeader;

typedef struct FileOptions {
    const TimeZone *time_zone; /* session zone */
    unsigned threads;        /* that decode, the caller's counted; 0: as many as there are cores */
    const bool *interrupted; /* set by a signal; NULL: never */
    CsvHeader csv_header;
    char csv_separator; /* 0: a comma, a tab for .tsv */
} FileOptions;

typedef struct FileTable FileTable;

/* Finds the files and their format: by the name's ending (.json, .jsonl, .ndjson, .csv, .tsv,
 * .avro, each with .gz behind or not), else by the first bytes. PATH_NOT_FOUND,
 * FILE_NOT_READABLE. */
NODISCARD Error *file_table_open(Str name, const FileOptions *options, FileTable **ret_table);
/* No source of it may be open. */
void file_table_close(FileTable *table);
FileFormat file_table_format(const FileTable *table);
/* The columns the files seem to have, from all of their records, as Spark infers them; for Avro
 * what its files say. In `arena`. Standard input is copied to a temporary file for it. */
NODISCARD Error *file_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema);
/* The columns `columns` (indexes in `schema`, which the rows are declared to have) as batches of
 * `read`, the schema of just those. A line that does not fit is an error with its file and line.
 * The table, both schemas and the time zone must outlive the source. */
NODISCARD Error *file_table_read(FileTable *table, const Schema *schema, const Schema *read,
                                 const uint32_t *columns, BatchSource **ret_source);
/* About how many rows there are, by the size of the files; -1: unknown (a pipe). */
NODISCARD Error *file_table_estimate(FileTable *table, int64_t *ret_rows);
/* Bytes of the files, and how many of them the sources have read so far. Thread: any. */
void file_table_progress(const FileTable *table, uint64_t *ret_read, uint64_t *ret_total);

DEFINE_AUTO(file_table, FileTable, file_table_close)

#endif
