/* A relation in files: which files, which format, and the reader of that format. */
#include "connectors/file/file_table.h"

#include <unistd.h>

#include "connectors/file/file_table_internal.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { THREADS_MAX = 64, PEEK_BYTES = 4096 };

static bool ends_with(Str name, const char *ending)
{
    Str end = str_from(ending);
    return name.size > end.size &&
           str_equal_ignore_case((Str){name.data + name.size - end.size, end.size}, end);
}

/* What the ending of a name says; false: nothing. */
static bool format_of_name(Str name, FileFormat *ret_format, char *ret_separator)
{
    static const struct {
        const char *ending;
        FileFormat format;
        char separator;
    } endings[] = {
        {".jsonl", FILE_JSON, 0}, {".json", FILE_JSON, 0},  {".ndjson", FILE_JSON, 0},
        {".csv", FILE_CSV, ','},  {".tsv", FILE_CSV, '\t'}, {".avro", FILE_AVRO, 0},
    };
    if (ends_with(name, ".gz")) {
        name.size -= 3;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
        if (ends_with(name, endings[i].ending)) {
            *ret_format = endings[i].format;
            *ret_separator = endings[i].separator;
            return true;
        }
    }
    return false;
}

/* What the first bytes say: an object, the mark of Avro's files, or else CSV. */
static Error *format_of_bytes(FileTable *table)
{
    Str bytes = STR_NULL;
    TRY(file_entry_peek(&table->files.files[0], PEEK_BYTES, table_stop(table), table->arena,
                        &bytes));
    Str text = str_trim(bytes);
    if (text.size == 0 || text.data[0] == '{') {
        table->format = FILE_JSON;
    } else if (str_starts_with(bytes, STR("Obj\x01"))) {
        table->format = FILE_AVRO;
    } else {
        table->format = FILE_CSV;
        table->separator = ',';
    }
    return NULL;
}

static Error *find_format(FileTable *table)
{
    Str name = str_from(table->files.files[0].path);
    if (!format_of_name(name, &table->format, &table->separator)) {
        TRY(format_of_bytes(table));
    }
    if (table->options.csv_separator != 0) {
        table->separator = table->options.csv_separator;
    }
    return NULL;
}

static unsigned core_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (unsigned)cores;
}

Error *file_table_open(Str name, const FileOptions *options, FileTable **ret_table)
{
    FileTable *table = mem_new(FileTable);
    table->arena = arena_new("file table");
    table->options = *options;
    table->threads = options->threads == 0 ? core_count() : options->threads;
    Error *error = file_list_find(name, table->arena, &table->files);
    if (error == NULL) {
        error = find_format(table);
    }
    if (error != NULL) {
        file_table_close(table);
        return error;
    }
    *ret_table = table;
    return NULL;
}

void file_table_close(FileTable *table)
{
    if (table != NULL) {
        file_list_done(&table->files);
        arena_free(table->arena);
        mem_free(table);
    }
}

FileFormat file_table_format(const FileTable *table)
{
    return table->format;
}

Error *file_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema)
{
    switch (table->format) {
    case FILE_JSON:
        return json_table_infer(table, arena, ret_schema);
    case FILE_CSV:
        return csv_table_infer(table, arena, ret_schema);
    case FILE_AVRO:
        return avro_table_infer(table, arena, ret_schema);
    }
    return NULL;
}

Error *file_table_read(FileTable *table, const Schema *schema, const Schema *read,
                       const uint32_t *columns, BatchSource **ret_source)
{
    ReadRequest request = {.table = table, .schema = schema, .read = read, .columns = columns};
    switch (table->format) {
    case FILE_JSON:
        return line_source_open(&request, &json_lines, ret_source);
    case FILE_CSV:
        return line_source_open(&request, &csv_lines, ret_source);
    case FILE_AVRO:
        return line_source_open(&request, &avro_blocks, ret_source);
    }
    return NULL;
}

/* By the lines that the first file begins with. */
Error *file_table_estimate(FileTable *table, int64_t *ret_rows)
{
    enum { LOOKED_AT = 64 << 10, AVRO_BYTES = 60, PACKED_TIMES = 5 };
    FileEntry *first = &table->files.files[0];
    uint64_t line_bytes = AVRO_BYTES;
    uint64_t bytes = table->files.total_bytes;
    if (!first->regular || bytes == 0) {
        *ret_rows = -1;
        return NULL;
    }
    if (table->format != FILE_AVRO) {
        AUTO(arena) Arena *arena = arena_new("estimate");
        Str begin = STR_NULL;
        uint64_t lines = 1;
        TRY(file_entry_peek(first, LOOKED_AT, table_stop(table), arena, &begin));
        for (size_t i = 0; i < begin.size; i++) {
            lines += begin.data[i] == '\n';
        }
        line_bytes = begin.size / lines + 1;
        bytes *= str_ends_with(str_from(first->path), STR(".gz")) ? PACKED_TIMES : 1;
    }
    *ret_rows = (int64_t)(bytes / line_bytes);
    return NULL;
}

void file_table_progress(const FileTable *table, uint64_t *ret_read, uint64_t *ret_total)
{
    *ret_read = table->pool == NULL ? 0 : chunk_pool_position(table->pool);
    *ret_total = table->files.total_bytes;
}
