/* Avro container files: a header with the schema, then blocks of records, packed each for itself.
 *
 *     "Obj" 1 │ metadata │ sync │ count │ size │ records, packed │ sync │ count │ … */
#ifndef FILE_AVRO_CONTAINER_H
#define FILE_AVRO_CONTAINER_H

#include "connectors/file/avro_value.h"

enum { AVRO_SYNC_BYTES = 16 };

typedef enum AvroCodec { AVRO_NOT_PACKED, AVRO_DEFLATE, AVRO_SNAPPY, AVRO_ZSTD } AvroCodec;

typedef struct AvroHeader {
    const AvroNode *root;
    AvroCodec codec;
    char sync[AVRO_SYNC_BYTES];
    size_t size; /* bytes it takes */
} AvroHeader;

/* *ret_whole false: `bytes`, the first of the file, do not hold all of it. In `arena`. */
NODISCARD Error *avro_header_read(Str bytes, Arena *arena, bool *ret_whole, AvroHeader *ret_header);

typedef struct AvroBlock {
    int64_t count;
    Str data; /* as packed */
} AvroBlock;

/* The block at reader->at. False: reader->problem. */
bool avro_next_block(AvroReader *reader, const AvroHeader *header, AvroBlock *ret_block);
/* The bytes of its records; views of the block or in `out`. False: they are damaged. */
bool avro_unpack(AvroCodec codec, Str data, Buffer *out, Str *ret_bytes);
/* As RecordsEnd: whole blocks, a header in front of them counted. */
size_t avro_blocks_end(const void *context, Str bytes);

#endif
