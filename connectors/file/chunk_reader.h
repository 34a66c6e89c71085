/* Files cut into chunks of whole records: a few thousand lines that one thread decodes. */
#ifndef FILE_CHUNK_READER_H
#define FILE_CHUNK_READER_H

#include "connectors/file/byte_reader.h"
#include "connectors/file/file_list.h"

/* Where records end: how many bytes of `bytes`, which begin with a record, are whole records with
 * their line ends. */
typedef size_t (*RecordsEnd)(const void *context, Str bytes);

/* The bytes are owned by whoever holds the chunk, and kept for its next use. */
typedef struct Chunk {
    Buffer bytes;
    size_t file; /* in the list */
    bool first;  /* of its file */
} Chunk;

typedef struct ChunkReader ChunkReader;

/* The list must outlive the reader. */
ChunkReader *chunk_reader_new(FileList *files, RecordsEnd records_end, const void *context,
                              ReadStop stop);
void chunk_reader_free(ChunkReader *reader);
/* The next chunk, of one file; *ret_more false (and nothing in it) behind the last. */
NODISCARD Error *chunk_reader_next(ChunkReader *reader, Chunk *chunk, bool *ret_more);
/* Bytes of the files taken so far. Thread: the one that reads. */
uint64_t chunk_reader_position(const ChunkReader *reader);

/* Lines as records. */
size_t chunk_lines_end(const void *context, Str bytes);

DEFINE_AUTO(chunk_reader, ChunkReader, chunk_reader_free)

#endif
