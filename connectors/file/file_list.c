/* Which files a name stands for. A name that is there as it is written wins over the pattern it
 * might be, so that files with brackets in their names can be read. */
#include "connectors/file/file_list.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "processor/base/banned.h"

typedef struct Builder {
    Arena *arena;
    FileList *list;
    size_t capacity;
} Builder;

COLD static Error *not_readable(const char *path, int code)
{
    return error_new(ERROR_FILE_NOT_READABLE, "The file %s cannot be read: %s.", path,
                     strerror(code));
}

static void add_file(Builder *builder, const char *path, const struct stat *about)
{
    FileList *list = builder->list;
    bool regular = S_ISREG(about->st_mode);
    FileEntry entry = {.path = arena_copy_cstr(builder->arena, str_from(path)),
                       .size = regular ? (uint64_t)about->st_size : 0,
                       .regular = regular};
    entry.name = entry.path;
    *arena_push(builder->arena, list->files, list->count, builder->capacity) = entry;
    list->total_bytes += entry.size;
}

/* The files right in the folder. */
static Error *add_folder(Builder *builder, const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return not_readable(path, errno);
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct stat about;
        const char *name = entry->d_name;
        const char *file = arena_printf(builder->arena, "%s/%s", path, name);
        if (name[0] != '.' && name[0] != '_' && stat(file, &about) == 0 &&
            !S_ISDIR(about.st_mode)) {
            add_file(builder, file, &about);
        }
    }
    (void)closedir(folder);
    return NULL;
}

static Error *add_path(Builder *builder, const char *path, const struct stat *about)
{
    if (S_ISDIR(about->st_mode)) {
        return add_folder(builder, path);
    }
    add_file(builder, path, about);
    return NULL;
}

static Error *add_pattern(Builder *builder, const char *pattern)
{
    glob_t found = {0};
    if (glob(pattern, GLOB_BRACE | GLOB_NOSORT, NULL, &found) != 0) {
        found.gl_pathc = 0;
    }
    Error *error = NULL;
    for (size_t i = 0; i < found.gl_pathc && error == NULL; i++) {
        struct stat about;
        if (stat(found.gl_pathv[i], &about) == 0) {
            error = add_path(builder, found.gl_pathv[i], &about);
        }
    }
    globfree(&found);
    return error;
}

/* A file that the shell opened for us can be opened again, a pipe cannot. */
static void add_standard_input(Builder *builder)
{
    static const char again[] = "/dev/stdin";
    struct stat about = {0};
    bool regular = fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode);
    add_file(builder, regular ? again : "-", &about);
    builder->list->files[0].name = "standard input";
}

COLD static Error *nothing_found(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0) {
        Error *error =
            error_new(ERROR_PATH_NOT_FOUND, "There are no files in the folder %s.", path);
        return error_set_hint(error, "files in folders of it are found by a pattern: '%s/*/*'",
                              path);
    }
    return strpbrk(path, "*?[{") == NULL
               ? error_new(ERROR_PATH_NOT_FOUND, "Path does not exist: %s.", path)
               : error_new(ERROR_PATH_NOT_FOUND, "Path does not exist: no file fits %s.", path);
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const FileEntry *)a)->path, ((const FileEntry *)b)->path);
}

Error *file_list_find(Str name, Arena *arena, FileList *ret_list)
{
    FileList list = {0};
    Builder builder = {.arena = arena, .list = &list};
    const char *path = arena_copy_cstr(arena, name);
    struct stat about;
    if (str_equal(name, STR("-"))) {
        add_standard_input(&builder);
    } else if (stat(path, &about) == 0) {
        TRY(add_path(&builder, path, &about));
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return not_readable(path, errno);
    } else if (strpbrk(path, "*?[{") != NULL) {
        TRY(add_pattern(&builder, path));
    }
    if (list.count == 0) {
        return nothing_found(path);
    }
    qsort(list.files, list.count, sizeof *list.files, compare_files);
    *ret_list = list;
    return NULL;
}
