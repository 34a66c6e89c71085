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

/* How long the ending is that says how the file is packed. */
static size_t packed_ending(Str name)
{
    return ends_with(name, ".gz") ? strlen(".gz") : ends_with(name, ".zst") ? strlen(".zst") : 0;
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
    name.size -= packed_ending(name);
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
        if (ends_with(name, endings[i].ending)) {
            *ret_format = endings[i].format;
            *ret_separator = endings[i].separator;
            return true;
        }
    }
    return false;
}

static const char *format_name(FileFormat format, char separator)
{
    switch (format) {
    case FILE_JSON:
        return "JSON lines";
    case FILE_AVRO:
        return "Avro";
    case FILE_CSV:
        return separator == '\t' ? "TSV" : "CSV";
    }
    return "";
}

COLD static Error *not_text(const FileEntry *file)
{
    return error_new(ERROR_FILE_NOT_READABLE,
                     "The file %s cannot be read: it is no JSON lines, CSV or Avro.", file->name);
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
    } else if (str_find_byte(bytes, '\0') < bytes.size) {
        return not_text(&table->files.files[0]);
    } else {
        table->format = FILE_CSV;
        table->separator = ',';
    }
    return NULL;
}

COLD static Error *different_formats(const FileTable *table, size_t first, size_t other,
                                     FileFormat other_format, char other_separator)
{
    Error *error = error_new(
        ERROR_FILE_NOT_READABLE, "The files are of different formats: %s is %s, %s is %s.",
        table->files.files[first].name, format_name(table->format, table->separator),
        table->files.files[other].name, format_name(other_format, other_separator));
    return error_set_hint(error, "name those of one format with a pattern, such as 'folder/*.csv'");
}

/* By the first file whose name says it; other files must not say something else. */
static Error *find_format(FileTable *table)
{
    const FileList *files = &table->files;
    size_t first = files->count;
    for (size_t i = 0; i < files->count; i++) {
        FileFormat format = FILE_JSON;
        char separator = 0;
        if (!format_of_name(str_from(files->files[i].path), &format, &separator)) {
            continue;
        }
        if (first == files->count) {
            first = i;
            table->format = format;
            table->separator = separator;
        } else if (format != table->format ||
                   (separator != table->separator && table->options.csv_separator == 0)) {
            return different_formats(table, first, i, format, separator);
        }
    }
    if (first == files->count) {
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
        bytes *= packed_ending(str_from(first->path)) > 0 ? PACKED_TIMES : 1;
    }
    *ret_rows = (int64_t)(bytes / line_bytes);
    return NULL;
}

void file_table_progress(const FileTable *table, uint64_t *ret_read, uint64_t *ret_total)
{
    *ret_read = table->pool == NULL ? 0 : chunk_pool_position(table->pool);
    *ret_total = table->files.total_bytes;
}
