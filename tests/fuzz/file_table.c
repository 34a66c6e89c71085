/* Files of any bytes: the format is found, columns are inferred, rows are read, by one thread and
 * in little chunks of work. What is inferred from JSON lines must be readable as it (but for
 * numbers beyond DOUBLE), and twice the same rows must come. The bytes are also read with a schema
 * of every type CSV has. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "connectors/file/file_table.h"
#include "connectors/format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(text, kind) ((Field){.name = STR(text), .type = (kind)})

static void require(bool condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "file_table: %s\n", what);
        abort();
    }
}

static const Schema *every_type(Arena *arena)
{
    const Field fields[] = {
        FIELD("a", &type_string),
        FIELD("b", &type_int),
        FIELD("c", &type_bigint),
        FIELD("d", &type_double),
        FIELD("e", type_decimal(arena, 20, 4)),
        FIELD("f", &type_boolean),
        FIELD("g", &type_date),
        FIELD("h", &type_timestamp),
        FIELD("i", &type_timestamp_ntz),
        FIELD("j", &type_binary),
        FIELD("k", &type_float),
        FIELD("l", &type_tinyint),
    };
    return schema_new(arena, fields, ARRAY_LENGTH(fields));
}

/* All rows as text; NULL when all went well. */
static Error *read_rows(FileTable *table, const Schema *schema, Arena *arena, Buffer *out)
{
    uint32_t *columns = arena_new_array(arena, uint32_t, schema->field_count);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        columns[i] = i;
    }
    BatchSource *source = NULL;
    TRY(file_table_read(table, schema, schema, columns, &source));
    Error *error = NULL;
    AUTO(arena) Arena *batch_arena = arena_new("batch");
    for (;;) {
        Batch *batch = NULL;
        arena_reset(batch_arena);
        error = source->next(source, batch_arena, &batch);
        if (error != NULL || batch == NULL) {
            break;
        }
        for (size_t i = 0; i < schema->field_count; i++) {
            require(batch->columns[i]->length == batch->row_count, "columns of two lengths");
        }
        for (uint32_t i = 0; i < batch->selected_count; i++) {
            json_encode_row(batch, batch_selected(batch, i), out);
        }
    }
    arena_reset(batch_arena);
    source->close(source);
    return error;
}

static void try_twice(FileTable *table, const Schema *schema, Arena *arena, bool must_read)
{
    AUTO_BUFFER Buffer first = {0};
    AUTO_BUFFER Buffer second = {0};
    AUTO(error) Error *error = read_rows(table, schema, arena, &first);
    AUTO(error) Error *again = read_rows(table, schema, arena, &second);
    require((error == NULL) == (again == NULL), "an error comes and goes");
    require(str_equal(buffer_str(&first), buffer_str(&second)), "two reads, two results");
    if (must_read && error != NULL && strstr(error_message(error), "out of range") == NULL) {
        require(false, error_message(error));
    }
}

static void try_table(const char *path, Arena *arena)
{
    FileOptions options = {.time_zone = time_zone_utc(), .threads = 1};
    AUTO(file_table) FileTable *table = NULL;
    const Schema *schema = NULL;
    AUTO(error) Error *unopened = file_table_open(str_from(path), &options, &table);
    if (unopened != NULL) {
        return;
    }
    AUTO(error) Error *error = file_table_infer(table, arena, &schema);
    if (error == NULL) {
        try_twice(table, schema, arena, file_table_format(table) == FILE_JSON);
    }
    try_twice(table, every_type(arena), arena, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no file in memory");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    AUTO(arena) Arena *arena = arena_new("fuzz");
    try_table(path, arena);
    (void)close(fd);
    return 0;
}
