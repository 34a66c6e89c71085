/* Packed bytes of a file: how they are packed, told by their first bytes, and a stream that unpacks
 * them piece by piece. */
#ifndef FILE_UNPACK_H
#define FILE_UNPACK_H

#include <stdbool.h>

#include "processor/base/str.h"

typedef enum Packing {
    PACKED_NOT,
    PACKED_GZIP,
    PACKED_ZSTD,
} Packing;

enum { PACKING_MARK_BYTES = 4 };

/* `first`: the first bytes of a file, at least PACKING_MARK_BYTES where it has as many. */
Packing packing_of(Str first);

typedef struct Unpacker Unpacker;

typedef enum UnpackEnd {
    UNPACK_MORE,   /* go on, with more input where it was used up */
    UNPACK_MEMBER, /* a packed member ended; another may follow */
    UNPACK_DAMAGED,
} UnpackEnd;

/* Not for PACKED_NOT. NULL when the library has no memory for it. */
Unpacker *unpacker_new(Packing packing);
void unpacker_free(Unpacker *unpacker);
/* Unpacks from *input, which is moved on, what fits in `room` (> 0) bytes at `to`. */
UnpackEnd unpacker_run(Unpacker *unpacker, Str *input, char *to, size_t room, size_t *ret_size);

#endif
