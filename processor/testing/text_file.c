/* Reading and writing files of tests. */
#include "processor/testing/text_file.h"

#include <errno.h>
#include <stdio.h>

#include "processor/base/banned.h"

enum { PIECE_BYTES = 65536 };

static Error *failed(const char *what, const char *path)
{
    return error_new(ERROR_FILE_NOT_READABLE, "%s cannot be %s: %s.", path, what, strerror(errno));
}

Error *text_file_read(const char *path, Arena *arena, Str *ret_text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return failed("opened", path);
    }
    AUTO_BUFFER Buffer text = {0};
    size_t got = 0;
    do {
        got = fread(buffer_reserve(&text, PIECE_BYTES), 1, PIECE_BYTES, file);
        text.size += got;
    } while (got == PIECE_BYTES);
    Error *error = ferror(file) != 0 ? failed("read", path) : NULL;
    (void)fclose(file);
    TRY(error);
    *ret_text = arena_copy_str(arena, buffer_str(&text));
    return NULL;
}

Error *text_file_write(const char *path, Str text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return failed("written", path);
    }
    bool good = fwrite(text.data, 1, text.size, file) == text.size;
    good = fclose(file) == 0 && good;
    return good ? NULL : failed("written", path);
}
