/* The columns of CSV files: names from the header of the first file, or _c0, _c1 …; types from all
 * records of all files. */
#include <stdlib.h>

#include "connectors/file/csv_fields.h"
#include "connectors/file/csv_header.h"
#include "connectors/file/csv_infer.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct CsvInference {
    const FileTable *table;
    bool header;
    size_t column_count;
    CsvShape *shapes;
} CsvInference;

static void infer_record(CsvInference *inference, Arena *arena, const char **at, const char *end,
                         bool counts)
{
    CsvEnd stop = CSV_FIELD;
    for (size_t i = 0; stop == CSV_FIELD; i++) {
        CsvField field;
        stop = csv_next_field(inference->table->separator, at, end, &field);
        if (stop == CSV_OPEN) {
            *at = end; /* reading will say so, with its line */
        } else if (counts && i < inference->column_count) {
            csv_shape_add(&inference->shapes[i], csv_field_text(&field, arena));
        }
    }
}

static void infer_chunk(void *worker, ChunkWork *chunk)
{
    CsvInference *inference = worker;
    const char *at = chunk->chunk.bytes.data;
    const char *const end = at + chunk->chunk.bytes.size;
    bool header = chunk->chunk.first && inference->header;
    while (at < end) {
        if (*at == '\n' || *at == '\r') {
            at++;
            continue;
        }
        infer_record(inference, chunk->arena, &at, end, !header);
        header = false;
    }
}

/* Without being told: a first record of distinct words, none of which is a value of another type.
 */
static bool looks_like_header(const CsvRecord *record)
{
    for (size_t i = 0; i < record->count; i++) {
        CsvShape shape = {0};
        csv_shape_add(&shape, record->fields[i]);
        if (shape.kind != CSV_STRING) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (str_equal_ignore_case(record->fields[i], record->fields[j])) {
                return false;
            }
        }
    }
    return record->count > 0;
}

static Str column_name(const CsvRecord *record, bool header, size_t i, Arena *arena)
{
    Str name = header ? str_trim(record->fields[i]) : STR_NULL;
    return name.size > 0 ? arena_copy_str(arena, name) : str_from(arena_printf(arena, "_c%zu", i));
}

static Error *build_schema(const CsvInference *inference, const CsvRecord *first, Arena *arena,
                           const Schema **ret_schema)
{
    Field *fields = arena_new_array(arena, Field, inference->column_count);
    for (size_t i = 0; i < inference->column_count; i++) {
        fields[i].name = column_name(first, inference->header, i, arena);
        fields[i].type = csv_shape_type(&inference->shapes[i], arena);
    }
    const Schema *schema = schema_new(arena, fields, inference->column_count);
    for (size_t i = 0; i < inference->column_count; i++) {
        if (schema_find(schema, fields[i].name) != (int)i) {
            return error_new(ERROR_COLUMN_ALREADY_EXISTS,
                             "The column `%.*s` already exists. Choose another name or rename the "
                             "existing column.",
                             STR_ARG(fields[i].name));
        }
    }
    *ret_schema = schema;
    return NULL;
}

static Error *infer(FileTable *table, CsvInference *inferences, void **workers,
                    const CsvRecord *first, Arena *arena, const Schema **ret_schema)
{
    CsvHeader wanted = table->options.csv_header;
    bool header =
        wanted == CSV_HEADER_YES || (wanted == CSV_HEADER_AUTO && looks_like_header(first));
    for (unsigned i = 0; i < table->threads; i++) {
        inferences[i] = (CsvInference){.table = table,
                                       .header = header,
                                       .column_count = first->count,
                                       .shapes = arena_new_array(arena, CsvShape, first->count)};
        workers[i] = &inferences[i];
    }
    ChunkTask task = {.records_end = csv_records_end,
                      .context = table,
                      .work = infer_chunk,
                      .workers = workers,
                      .worker_count = table->threads};
    TRY(table_scan(table, &task));
    for (unsigned i = 1; i < table->threads; i++) {
        for (size_t c = 0; c < first->count; c++) {
            csv_shape_merge(&inferences[0].shapes[c], &inferences[i].shapes[c]);
        }
    }
    /* Each file is looked at again when it is read: where it has this header, it is found by its
     * names. */
    return build_schema(&inferences[0], first, arena, ret_schema);
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
