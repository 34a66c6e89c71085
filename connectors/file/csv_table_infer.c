/* The columns of CSV files: names from the header of the first file, or _c0, _c1 …; types from all
 * records of all files. */
#include <stdlib.h>

#include "connectors/file/csv_fields.h"
#include "connectors/file/csv_header.h"
#include "connectors/file/csv_infer.h"
#include "connectors/file/csv_names.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct CsvInference {
    const FileTable *table;
    bool apart; /* the first records of the files go to `firsts`: they are headers, or may be */
    size_t column_count;
    CsvShape *shapes;
    CsvShape *firsts;
} CsvInference;

static void infer_record(CsvInference *inference, Arena *arena, const char **at, const char *end,
                         CsvShape *shapes)
{
    CsvEnd stop = CSV_FIELD;
    for (size_t i = 0; stop == CSV_FIELD; i++) {
        CsvField field;
        stop = csv_next_field(inference->table->separator, at, end, &field);
        if (stop == CSV_OPEN) {
            *at = end; /* reading will say so, with its line */
        } else if (i < inference->column_count) {
            csv_shape_add(&shapes[i], csv_field_text(&field, arena));
        }
    }
}

static void infer_chunk(void *worker, ChunkWork *chunk)
{
    CsvInference *inference = worker;
    const char *at = chunk->chunk.bytes.data;
    const char *const end = at + chunk->chunk.bytes.size;
    bool apart = chunk->chunk.first && inference->apart;
    while (at < end) {
        if (*at == '\n' || *at == '\r') {
            at++;
            continue;
        }
        infer_record(inference, chunk->arena, &at, end,
                     apart ? inference->firsts : inference->shapes);
        apart = false;
    }
}

static bool names_are_distinct(const Schema *schema)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        if (schema_find(schema, schema->fields[i].name) != (int)i) {
            return false;
        }
    }
    return true;
}

/* Without being told: a first record of distinct words, none of which is a value of another type.
 */
static bool looks_like_header(const CsvRecord *record, Arena *arena)
{
    Field *fields = arena_new_array(arena, Field, record->count);
    for (size_t i = 0; i < record->count; i++) {
        CsvShape shape = {0};
        csv_shape_add(&shape, record->fields[i]);
        if (shape.kind != CSV_STRING) {
            return false;
        }
        fields[i] = (Field){.name = record->fields[i], .type = &type_string};
    }
    return record->count > 0 && names_are_distinct(schema_new(arena, fields, record->count));
}

/* Nothing but words and empty fields: with names that are there twice or missing the rest of the
 * file must show that its first record is of another kind. */
static bool may_be_header(const CsvRecord *record)
{
    bool any = false;
    for (size_t i = 0; i < record->count; i++) {
        CsvShape shape = {0};
        csv_shape_add(&shape, record->fields[i]);
        if (shape.kind != CSV_STRING && shape.kind != CSV_NULL) {
            return false;
        }
        any |= shape.kind == CSV_STRING;
    }
    return any;
}

/* Does a column hold values of a type that its first field is none of? */
static bool firsts_differ(const CsvInference *inference)
{
    for (size_t i = 0; i < inference->column_count; i++) {
        CsvKind kind = inference->shapes[i].kind;
        if (inference->firsts[i].kind == CSV_STRING && kind != CSV_STRING && kind != CSV_NULL) {
            return true;
        }
    }
    return false;
}

static Str *numbered_names(size_t count, Arena *arena)
{
    Str *names = arena_new_array(arena, Str, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = str_from(arena_printf(arena, "_c%zu", i));
    }
    return names;
}

COLD static Error *named_twice(Str name, const FileTable *table)
{
    Error *error = error_new(ERROR_COLUMN_ALREADY_EXISTS,
                             "The column `%.*s` already exists. Choose another name or rename the "
                             "existing column.",
                             STR_ARG(name));
    error = error_set_file(error, table->files.files[0].name);
    return error_set_hint(error, "with --csv header=no its columns are _c0, _c1 …");
}

static Error *build_schema(const CsvInference *inference, const Str *names, Arena *arena,
                           const Schema **ret_schema)
{
    Field *fields = arena_new_array(arena, Field, inference->column_count);
    for (size_t i = 0; i < inference->column_count; i++) {
        fields[i].name = names[i];
        fields[i].type = csv_shape_type(&inference->shapes[i], arena);
    }
    const Schema *schema = schema_new(arena, fields, inference->column_count);
    for (size_t i = 0; i < inference->column_count; i++) {
        if (schema_find(schema, fields[i].name) != (int)i) {
            return named_twice(fields[i].name, inference->table);
        }
    }
    *ret_schema = schema;
    return NULL;
}

/* All that the workers saw, in the first of them. */
static void merge(CsvInference *inferences, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t c = 0; c < inferences[0].column_count; c++) {
            csv_shape_merge(&inferences[0].shapes[c], &inferences[i].shapes[c]);
            csv_shape_merge(&inferences[0].firsts[c], &inferences[i].firsts[c]);
        }
    }
}

static void first_records_are_rows(CsvInference *inference)
{
    for (size_t c = 0; c < inference->column_count; c++) {
        csv_shape_merge(&inference->shapes[c], &inference->firsts[c]);
    }
}

static Error *scan(FileTable *table, CsvInference *inferences, void **workers, size_t column_count,
                   bool apart, Arena *arena)
{
    for (unsigned i = 0; i < table->threads; i++) {
        inferences[i] = (CsvInference){.table = table,
                                       .apart = apart,
                                       .column_count = column_count,
                                       .shapes = arena_new_array(arena, CsvShape, column_count),
                                       .firsts = arena_new_array(arena, CsvShape, column_count)};
        workers[i] = &inferences[i];
    }
    ChunkTask task = {.records_end = csv_records_end,
                      .context = table,
                      .work = infer_chunk,
                      .workers = workers,
                      .worker_count = table->threads};
    TRY(table_scan(table, &task));
    merge(inferences, table->threads);
    return NULL;
}

/* Each file is looked at again when it is read: where it has this header, it is found by its names.
 */
static Error *infer(FileTable *table, CsvInference *inferences, void **workers,
                    const CsvRecord *first, Arena *arena, const Schema **ret_schema)
{
    bool told = table->options.csv_header != CSV_HEADER_AUTO;
    bool header =
        told ? table->options.csv_header == CSV_HEADER_YES : looks_like_header(first, arena);
    bool open = !told && !header && may_be_header(first);
    TRY(scan(table, inferences, workers, first->count, header || open, arena));
    header = header || (open && firsts_differ(&inferences[0]));
    if (!header) {
        first_records_are_rows(&inferences[0]);
    }
    const Str *names =
        header ? csv_column_names(first, arena) : numbered_names(first->count, arena);
    return build_schema(&inferences[0], names, arena, ret_schema);
}

Error *csv_table_infer(FileTable *table, Arena *arena, const Schema **ret_schema)
{
    CsvRecord first = {0};
    TRY(csv_first_record(table, 0, arena, &first));
    CsvInference *inferences = mem_alloc_array(table->threads, sizeof *inferences);
    void **workers = mem_alloc_array(table->threads, sizeof(void *));
    Error *error = infer(table, inferences, workers, &first, arena, ret_schema);
    mem_free(inferences);
    mem_free(workers);
    return error;
}
