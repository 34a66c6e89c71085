/* Where result rows go, in one of the forms of `-o`. Whole lines are written at a time, so an
 * interrupted query leaves no half of one. */
#ifndef QUERY_ROW_WRITER_H
#define QUERY_ROW_WRITER_H

#include <stdio.h>

#include "processor/data/batch.h"
#include "processor/data/datetime.h"

typedef struct RowWriter RowWriter;

/* A result is begin, any number of writes, end. A writer takes any number of results. */
struct RowWriter {
    NODISCARD Error *(*begin)(RowWriter *writer, const Schema *schema);
    NODISCARD Error *(*write)(RowWriter *writer, const Batch *batch);
    NODISCARD Error *(*end)(RowWriter *writer);
    void (*close)(RowWriter *writer); /* frees it; results that did not end are dropped */
};

typedef struct RowWriterOptions {
    FILE *out;
    const TimeZone *time_zone; /* for timestamps, where the form shows local time */
    bool terminal;             /* fit `columns` */
    unsigned columns;          /* width of the terminal */
    bool schema;               /* JSON lines: a first line with the types, struct<a:int,…> */
} RowWriterOptions;

/* One JSON object a line, in the form of DESIGN section 5. */
RowWriter *jsonl_writer_new(const RowWriterOptions *options);
/* A header line, then one line a row; values as CAST AS STRING gives them, NULL is empty, the empty
 * text is quoted. */
RowWriter *csv_writer_new(const RowWriterOptions *options);
/* For people: types in the header, numbers to the right, NULL visible, the number of rows below. */
RowWriter *table_writer_new(const RowWriterOptions *options);

/* The texts of the first column as they are, a line each. */
RowWriter *text_writer_new(const RowWriterOptions *options);

UNUSED static inline void row_writer_close(RowWriter *writer)
{
    writer->close(writer);
}

/* Writes out what is in the buffer, when there is enough or always with `all`. OUTPUT_NOT_WRITABLE.
 */
NODISCARD Error *row_writer_flush(FILE *out, Buffer *lines, bool all);

DEFINE_AUTO(row_writer, RowWriter, row_writer_close)

#endif
