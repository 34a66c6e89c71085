/* Which files a name stands for: one file, a folder, a pattern, or standard input. */
#ifndef FILE_FILE_LIST_H
#define FILE_FILE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"

typedef struct FileEntry {
    const char *path; /* "-": standard input */
    uint64_t size;    /* bytes; 0 when it is not a regular file */
    bool regular;
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

#endif
