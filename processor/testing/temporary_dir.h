/* Temporary directories of tests. */
#ifndef TESTING_TEMPORARY_DIR_H
#define TESTING_TEMPORARY_DIR_H

#include "processor/base/arena.h"
#include "processor/base/error.h"

/* A new empty directory under TMPDIR, else in memory or /tmp; its path in `arena`. */
NODISCARD Error *temporary_dir_make(Arena *arena, const char **ret_path);
/* With everything in it; a missing one is fine. */
void directory_remove(const char *path);

#endif
