/* Values of Avro's binary encoding into vectors. Every byte is checked against the end. */
#ifndef FILE_AVRO_VALUE_H
#define FILE_AVRO_VALUE_H

#include "connectors/file/avro_schema.h"
#include "processor/data/vector.h"

typedef struct AvroReader {
    const char *at;
    const char *end;
    Arena *arena;        /* of the vectors */
    const char *problem; /* why a read failed */
} AvroReader;

/* Appends the value of `node` to `vector`, whose type is the node's or wider (INT to BIGINT, FLOAT
 * to DOUBLE). False: reader->problem says why. Texts are views of the bytes. */
bool avro_read_value(AvroReader *reader, const AvroNode *node, Vector *vector);
/* Passes a value over. */
bool avro_skip_value(AvroReader *reader, const AvroNode *node);
bool avro_read_long(AvroReader *reader, int64_t *ret_value);
/* A length and as many bytes. */
bool avro_read_bytes(AvroReader *reader, Str *ret_bytes);
/* The count of a list's or map's next block, 0 behind the last; *ret_size is its bytes where they
 * are told, else -1. */
bool avro_next_list_block(AvroReader *reader, int64_t *ret_count, int64_t *ret_size);
/* Can values of the node be read as that type? */
bool avro_fits(const AvroNode *node, const Type *type);

#endif
