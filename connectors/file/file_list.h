/* Which files a name stands for: one file, a folder, a pattern, or standard input. */
#ifndef FILE_FILE_LIST_H
#define FILE_FILE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "connectors/file/byte_reader.h"
#include "processor/base/arena.h"

typedef struct FileEntry {
    const char *path; /* where it is opened; "-": standard input */
    const char *name; /* what messages call it */
    uint64_t size;    /* bytes; 0 when it is not a regular file */
    bool regular;
    /* Of what cannot be read twice: the reader that looked into it, and the bytes it has seen. */
    ByteReader *opened;
    Buffer head;
    bool used; /* its bytes are gone */
} FileEntry;

typedef struct FileList {
    FileEntry *files; /* sorted by path */
    size_t count;
    uint64_t total_bytes;
} FileList;

/* A folder stands for the files in it; a pattern (`*`, `?`, `[…]`, `{a,b}`) for what fits it,
 * folders included. Names that begin with `.` or `_` are passed over in folders, as Spark does. All
 * memory in `arena`. PATH_NOT_FOUND when nothing is there. */
NODISCARD Error *file_list_find(Str name, Arena *arena, FileList *ret_list);
void file_list_done(FileList *list);
/* The first bytes of a file, at least `size` where it has as many; they live in `arena`. A file
 * that cannot be read twice keeps them for who reads it later. */
NODISCARD Error *file_entry_peek(FileEntry *file, size_t size, ReadStop stop, Arena *arena,
                                 Str *ret_bytes);
/* Opens the file from its beginning. What cannot be read twice, and was read, is an error. What was
 * looked at already goes to `head`. */
NODISCARD Error *file_entry_open(FileEntry *file, ReadStop stop, Buffer *head,
                                 ByteReader **ret_reader);
/* Copies what cannot be read twice into a temporary file that stands in for it. */
NODISCARD Error *file_entry_keep(FileEntry *file, ReadStop stop, Arena *arena);

#endif
