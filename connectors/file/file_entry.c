/* Files that are looked into before they are read: for their format, a header, their columns. A
 * regular file is opened anew each time. A pipe is not: what was seen of it is kept for who reads
 * it later, and when all of it must be seen it is copied to a temporary file first. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "connectors/file/file_list.h"

#include "processor/base/banned.h"

enum { COPY_BYTES = 1 << 20 };

void file_list_done(FileList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        byte_reader_close(list->files[i].opened);
        buffer_done(&list->files[i].head);
    }
    *list = (FileList){0};
}

Error *file_entry_open(FileEntry *file, ReadStop stop, Buffer *head, ByteReader **ret_reader)
{
    if (file->used) {
        return error_set_hint(
            error_new(ERROR_FILE_NOT_READABLE, "%s can be read once only.", file->name),
            "write it to a file first, or leave its columns to be inferred");
    }
    if (file->opened != NULL) {
        byte_reader_set_stop(file->opened, stop);
        buffer_append(head, file->head.data, file->head.size);
        *ret_reader = file->opened;
        file->opened = NULL;
    } else {
        TRY(byte_reader_open(file->path, stop, ret_reader));
    }
    file->used = !file->regular;
    return NULL;
}

/* Reads until `size` bytes are in `bytes` or the file ends. */
static Error *read_up_to(ByteReader *reader, size_t size, Buffer *bytes)
{
    while (bytes->size < size) {
        size_t room = size - bytes->size;
        size_t got = 0;
        TRY(byte_reader_read(reader, buffer_reserve(bytes, room), room, &got));
        bytes->size += got;
        if (got == 0) {
            break;
        }
    }
    return NULL;
}

static Error *peek_once(FileEntry *file, size_t size, ReadStop stop)
{
    if (file->opened == NULL) {
        TRY(file_entry_open(file, stop, &file->head, &file->opened));
        file->used = false;
    }
    return read_up_to(file->opened, size, &file->head);
}

Error *file_entry_peek(FileEntry *file, size_t size, ReadStop stop, Arena *arena, Str *ret_bytes)
{
    if (!file->regular) {
        TRY(peek_once(file, size, stop));
        *ret_bytes = arena_copy_str(arena, buffer_str(&file->head));
        return NULL;
    }
    AUTO(byte_reader) ByteReader *reader = NULL;
    AUTO_BUFFER Buffer bytes = {0};
    TRY(byte_reader_open(file->path, stop, &reader));
    TRY(read_up_to(reader, size, &bytes));
    *ret_bytes = arena_copy_str(arena, buffer_str(&bytes));
    return NULL;
}

/* ---------------------------------------------------------------- copies --- */

static Error *copy_failed(const char *folder)
{
    return error_new(ERROR_FILE_NOT_READABLE,
                     "A copy of standard input cannot be written to %s: %s.", folder,
                     strerror(errno));
}

static Error *write_all(int fd, const char *folder, Str bytes)
{
    while (bytes.size > 0) {
        ssize_t written = write(fd, bytes.data, bytes.size);
        if (written < 0 && errno != EINTR) {
            return copy_failed(folder);
        }
        size_t step = written < 0 ? 0 : (size_t)written;
        bytes = (Str){bytes.data + step, bytes.size - step};
    }
    return NULL;
}

static Error *copy_all(FileEntry *file, ReadStop stop, int fd, const char *folder)
{
    AUTO(byte_reader) ByteReader *reader = NULL;
    AUTO_BUFFER Buffer bytes = {0};
    TRY(file_entry_open(file, stop, &bytes, &reader));
    do {
        TRY(write_all(fd, folder, buffer_str(&bytes)));
        file->size += bytes.size;
        buffer_clear(&bytes);
        TRY(read_up_to(reader, COPY_BYTES, &bytes));
    } while (bytes.size > 0);
    return NULL;
}

static void close_copy(void *object)
{
    (void)close(*(int *)object);
}

Error *file_entry_keep(FileEntry *file, ReadStop stop, Arena *arena)
{
    if (file->regular) {
        return NULL;
    }
    const char *set = getenv("TMPDIR");
    const char *folder = set == NULL || set[0] == '\0' ? "/tmp" : set;
    AUTO_BUFFER Buffer path = {0};
    buffer_printf(&path, "%s/tidemark-input-XXXXXX", folder);
    (void)buffer_cstr(&path);
    int *fd = arena_new_object(arena, int);
    *fd = mkostemp(path.data, O_CLOEXEC);
    if (*fd < 0) {
        return copy_failed(folder);
    }
    (void)unlink(path.data);
    arena_on_reset(arena, close_copy, fd);
    TRY(copy_all(file, stop, *fd, folder));
    file->path = arena_printf(arena, "/proc/self/fd/%d", *fd);
    file->regular = true;
    file->used = false;
    return NULL;
}
