/* What the tests of files share: a folder of their own, files in it, and all rows of a table as
 * JSON lines. */
#ifndef TESTS_UNIT_FILE_FILE_FIXTURE_H
#define TESTS_UNIT_FILE_FILE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "connectors/file/file_table.h"
#include "connectors/format/format.h"

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

typedef struct Folder {
    char path[64];
    Arena *arena;
} Folder;

static inline int folder_open(void **state)
{
    Folder *folder = calloc(1, sizeof *folder);
    if (folder == NULL) {
        return -1;
    }
    (void)snprintf(folder->path, sizeof folder->path, "/tmp/tidemark-file-XXXXXX");
    folder->arena = arena_new("test");
    *state = folder;
    return mkdtemp(folder->path) == NULL ? -1 : 0;
}

static inline int folder_close(void **state)
{
    Folder *folder = *state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder->path);
    arena_free(folder->arena);
    int code = system(command);
    free(folder);
    return code;
}

static inline const char *path_in(const Folder *folder, const char *name)
{
    return arena_printf(folder->arena, "%s/%s", folder->path, name);
}

static inline const char *write_file(const Folder *folder, const char *name, Str bytes)
{
    const char *path = path_in(folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline void assert_no_error(Error *error)
{
    if (error != NULL) {
        print_message("%s\n", error_message(error));
    }
    assert_null(error);
}

static inline FileTable *open_table(const char *path, unsigned threads)
{
    FileOptions options = {.time_zone = time_zone_utc(), .threads = threads};
    FileTable *table = NULL;
    assert_no_error(file_table_open(str_from(path), &options, &table));
    return table;
}

/* All rows of the columns, each as its JSON; the first error ends it. */
static inline Error *read_rows(FileTable *table, const Schema *schema, const Schema *read,
                               const uint32_t *columns, Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("batch");
    BatchSource *source = NULL;
    TRY(file_table_read(table, schema, read, columns, &source));
    Error *error = NULL;
    for (Batch *batch = NULL; error == NULL;) {
        arena_reset(arena);
        error = source->next(source, arena, &batch);
        if (error != NULL || batch == NULL) {
            break;
        }
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            json_encode_row(batch, batch_selected(batch, i), out);
            buffer_append_byte(out, '\n');
        }
    }
    arena_reset(arena);
    source->close(source);
    return error;
}

static inline Error *read_all(FileTable *table, const Schema *schema, Buffer *out)
{
    uint32_t columns[64];
    assert_true(schema->field_count <= 64);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        columns[i] = i;
    }
    return read_rows(table, schema, schema, columns, out);
}

/* Opens, reads all columns, closes. */
static inline Error *read_path(const char *path, const Schema *schema, unsigned threads,
                               Buffer *out)
{
    AUTO(file_table) FileTable *table = open_table(path, threads);
    return read_all(table, schema, out);
}

/* Opens, infers, closes: "a BIGINT, b STRING". */
static inline Error *infer_path(const Folder *folder, const char *path, unsigned threads,
                                Buffer *out)
{
    AUTO(file_table) FileTable *table = open_table(path, threads);
    const Schema *schema = NULL;
    TRY(file_table_infer(table, folder->arena, &schema));
    schema_format(schema, out);
    return NULL;
}

static inline void assert_fails(Error *error, ErrorClass class, const char *message, int line)
{
    assert_non_null(error);
    assert_int_equal(error_class(error), class);
    if (strstr(error_message(error), message) == NULL) {
        print_message("%s\n", error_message(error));
        fail();
    }
    assert_int_equal(error_place(error).line, line);
    error_free(error);
}

#endif
