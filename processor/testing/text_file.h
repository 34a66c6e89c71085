/* Whole files in and out. */
#ifndef TESTING_TEXT_FILE_H
#define TESTING_TEXT_FILE_H

#include "processor/base/arena.h"
#include "processor/base/error.h"

/* FILE_NOT_READABLE. */
NODISCARD Error *text_file_read(const char *path, Arena *arena, Str *ret_text);
/* Replaces the file's content. */
NODISCARD Error *text_file_write(const char *path, Str text);

#endif
