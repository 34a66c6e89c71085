/* Making and removing temporary directories. */
#include "processor/testing/temporary_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "processor/base/banned.h"

enum { OPEN_FILES_MAX = 16 };

/* What a test writes it throws away: memory spares it the waiting for a disk. */
static const char *base_dir(void)
{
    static const char memory[] = "/dev/shm";
    const char *base = getenv("TMPDIR");
    if (base != NULL && base[0] != '\0') {
        return base;
    }
    return access(memory, W_OK | X_OK) == 0 ? memory : "/tmp";
}

Error *temporary_dir_make(Arena *arena, const char **ret_path)
{
    char path[4096];
    int size = snprintf(path, sizeof path, "%s/tidemark-test-XXXXXX", base_dir());
    if (size < 0 || (size_t)size >= sizeof path || mkdtemp(path) == NULL) {
        return error_new(ERROR_FILE_NOT_READABLE, "A temporary directory cannot be made in %s: %s.",
                         base_dir(), strerror(errno));
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
