/* What the files of this room share. */
#ifndef FILE_FILE_TABLE_INTERNAL_H
#define FILE_FILE_TABLE_INTERNAL_H

#include "connectors/file/chunk_pool.h"
#include "connectors/file/file_table.h"

struct FileTable {
    Arena *arena;
    FileOptions options;
    FileFormat format;
    FileList files;
    unsigned threads;
    char separator;        /* CSV: between the fields */
    const ChunkPool *pool; /* of the source that is open, for progress */
};

/* What is to be read; the columns as of file_table_read. */
typedef struct ReadRequest {
    FileTable *table;
    const Schema *schema;
    const Schema *read;
    const uint32_t *columns;
    Arena *arena;     /* of what all workers share */
    const void *plan; /* what `prepare` made */
} ReadRequest;

/* How lines of a format are decoded. */
typedef struct LineFormat {
    RecordsEnd records_end;
    /* Once, before the workers; NULL: nothing to do. */
    NODISCARD Error *(*prepare)(ReadRequest *request);
    NODISCARD Error *(*open)(const ReadRequest *request, void **ret_worker);
    void (*work)(void *worker, ChunkWork *chunk);
    void (*close)(void *worker);
} LineFormat;

extern const LineFormat json_lines;
/* Nothing but JSON's white space. */
bool json_line_is_blank(Str line);
/* The error of a line, with its number in the chunk; a hint where the file seems to hold JSON that
 * goes over lines. */
RETURNS_NONNULL Error *json_line_error(Error *error, Str line, int number);
extern const LineFormat csv_lines;
extern const LineFormat avro_blocks;

/* A source of batches from what a pool of workers makes of the lines. */
NODISCARD Error *line_source_open(const ReadRequest *request, const LineFormat *format,
                                  BatchSource **ret_source);
/* Adds a batch to the chunk's. */
void chunk_add_batch(ChunkWork *chunk, Batch *batch);
/* The line of the chunk that begins at `at`, from 1. */
int chunk_line_number(const ChunkWork *chunk, const char *at);

/* Where a chunk is in its file, told chunk by chunk in file order. Zeroed = before the first. */
typedef struct LinePlace {
    size_t file;
    uint64_t before; /* lines of the file before the chunk */
    uint64_t lines;  /* of the chunk */
} LinePlace;

/* Goes on to the chunk; returns its error, taken over, with the file and the line in it. */
NODISCARD Error *line_place_advance(LinePlace *place, const FileTable *table, ChunkWork *chunk);
/* Goes over all files with a pool of workers, for what these keep to themselves. */
NODISCARD Error *table_scan(FileTable *table, const ChunkTask *task);

/* The columns of the files as they seem to be. In `arena`. */
NODISCARD Error *json_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema);
NODISCARD Error *avro_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema);
NODISCARD Error *csv_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema);

static inline ReadStop table_stop(const FileTable *table)
{
    return (ReadStop){NULL, table->options.interrupted};
}

#endif
