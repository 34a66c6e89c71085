/* The bytes of one file from its beginning: as they are, or unpacked when they begin as gzip or
 * Zstandard does; of standard input too. A byte order mark in front of UTF-8 is no part of them. */
#ifndef FILE_BYTE_READER_H
#define FILE_BYTE_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "processor/base/error.h"

typedef struct ByteReader ByteReader;

/* Who ends a wait for the bytes of a pipe; either may be NULL. */
typedef struct ReadStop {
    const atomic_bool *closing;
    const bool *interrupted; /* set by a signal */
} ReadStop;

/* `path` "-" is standard input. FILE_NOT_READABLE naming the file. */
NODISCARD Error *byte_reader_open(const char *path, ReadStop stop, ByteReader **ret_reader);
/* From now on that ends its waits. */
void byte_reader_set_stop(ByteReader *reader, ReadStop stop);
void byte_reader_close(ByteReader *reader);
/* Reads up to `room` (> 0) bytes; *ret_size is 0 at the end only. FILE_NOT_READABLE for damage, and
 * for a file of another kind (foreign_file.h). */
NODISCARD Error *byte_reader_read(ByteReader *reader, char *to, size_t room, size_t *ret_size);
/* Can more be had without waiting? Always true for files. */
bool byte_reader_ready(const ByteReader *reader);
/* Bytes taken from the file so far (before unpacking). */
uint64_t byte_reader_position(const ByteReader *reader);

DEFINE_AUTO(byte_reader, ByteReader, byte_reader_close)

#endif
