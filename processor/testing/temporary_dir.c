/* Making and removing temporary directories. */
#include "processor/testing/temporary_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor/base/banned.h"

enum { OPEN_FILES_MAX = 16 };

Error *temporary_dir_make(Arena *arena, const char **ret_path)
{
    const char *base = getenv("TMPDIR");
    char path[4096];
    int size = snprintf(path, sizeof path, "%s/tidemark-test-XXXXXX",
                        base == NULL || base[0] == '\0' ? "/tmp" : base);
    if (size < 0 || (size_t)size >= sizeof path || mkdtemp(path) == NULL) {
        return error_new(ERROR_FILE_NOT_READABLE, "A temporary directory cannot be made in %s: %s.",
                         base == NULL ? "/tmp" : base, strerror(errno));
    }
    *ret_path = arena_copy_cstr(arena, str_from(path));
    return NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    (void)remove(path);
    return 0;
}

void directory_remove(const char *path)
{
    (void)nftw(path, remove_one, OPEN_FILES_MAX, FTW_DEPTH | FTW_PHYS);
}
