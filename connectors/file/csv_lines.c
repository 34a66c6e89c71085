/* Chunks of CSV records into batches. Fields that nobody wants are passed over; a record with fewer
 * fields than the file has columns has NULL in the rest. Blank lines count for nothing. */
#include "connectors/file/csv_fields.h"
#include "connectors/file/csv_header.h"
#include "connectors/file/csv_value.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct CsvWorker {
    const ReadRequest *request;
    char separator;
    Batch *batch; /* being filled */
} CsvWorker;

static Error *csv_prepare(ReadRequest *request)
{
    for (size_t i = 0; i < request->read->field_count; i++) {
        const Field *field = &request->read->fields[i];
        if (!csv_has_type(field->type)) {
            AUTO_BUFFER Buffer type = {0};
            type_format(field->type, &type);
            return error_new(ERROR_UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE,
                             "The CSV datasource doesn't support the column `%.*s` of the type "
                             "\"%s\".",
                             STR_ARG(field->name), buffer_cstr(&type));
        }
    }
    const CsvFilePlan *plans = NULL;
    TRY(csv_plan_files(request, &plans));
    request->plan = plans;
    return NULL;
}

static Error *csv_open(const ReadRequest *request, void **ret_worker)
{
    CsvWorker *worker = mem_new(CsvWorker);
    worker->request = request;
    worker->separator = request->table->separator;
    *ret_worker = worker;
    return NULL;
}

static void csv_close(void *worker)
{
    mem_free(worker);
}

/* -------------------------------------------------------------- failures --- */

static Error *place_at(Error *error, const ChunkWork *chunk, const char *at)
{
    return error_set_place(error, (SourcePlace){chunk_line_number(chunk, at), 1, 0});
}

COLD static Error *bad_value(const CsvWorker *worker, size_t column, Str text)
{
    enum { SHOWN = 80 };
    const Field *field = &worker->request->read->fields[column];
    AUTO_BUFFER Buffer type = {0};
    type_format(field->type, &type);
    bool cut = text.size > SHOWN;
    return error_new(ERROR_MALFORMED_RECORD, "column `%.*s`: `%.*s%s` cannot be read as %s",
                     STR_ARG(field->name), STR_ARG(((Str){text.data, cut ? SHOWN : text.size})),
                     cut ? "…" : "", buffer_cstr(&type));
}

static size_t count_fields(char separator, const char *at, const char *end)
{
    size_t count = 0;
    CsvEnd stop = CSV_FIELD;
    for (CsvField field; stop == CSV_FIELD; count++) {
        stop = csv_next_field(separator, &at, end, &field);
    }
    return count;
}

/* Another separator that stands in a record of a file whose records seem to have one field. */
static const char *other_separator(const CsvFilePlan *plan, Str record)
{
    static const char *const separators[] = {";", "\\t", "|"};
    static const char bytes[] = {';', '\t', '|'};
    for (size_t i = 0; i < ARRAY_LENGTH(bytes) && plan->field_count == 1; i++) {
        if (str_find_byte(record, bytes[i]) < record.size) {
            return separators[i];
        }
    }
    return NULL;
}

/* The record begins at `first`. */
COLD static Error *too_many_fields(const CsvWorker *worker, const CsvFilePlan *plan,
                                   const char *first, const char *end)
{
    size_t count = count_fields(worker->separator, first, end);
    Error *error =
        error_new(ERROR_MALFORMED_RECORD, "the record has %zu fields, %s %zu", count,
                  plan->named ? "the header names" : "the columns are", plan->field_count);
    const char *line_end = memchr(first, '\n', (size_t)(end - first));
    Str line = {first, (size_t)((line_end == NULL ? end : line_end) - first)};
    const char *separator = other_separator(plan, line);
    if (separator != NULL) {
        return error_set_hint(
            error, "are the fields separated by something else? --csv 'separator=%s'", separator);
    }
    if (!plan->named && worker->request->table->options.csv_header == CSV_HEADER_AUTO) {
        return error_set_hint(error,
                              "no field of the file's first line is the name of a column, so "
                              "columns are taken by position: name them all");
    }
    return error;
}

COLD static Error *open_quote(void)
{
    return error_new(ERROR_MALFORMED_RECORD, "a quote that begins a field is not closed");
}

/* --------------------------------------------------------------- records --- */

static Error *take_field(CsvWorker *worker, ChunkWork *chunk, size_t column, const CsvField *field)
{
    Vector *vector = worker->batch->columns[column];
    Str text = csv_field_text(field, chunk->arena);
    const TimeZone *zone = worker->request->table->options.time_zone;
    return LIKELY(csv_append_value(vector, text, zone, chunk->arena))
               ? NULL
               : bad_value(worker, column, text);
}

/* Columns that the record did not bring are NULL. */
static void end_row(CsvWorker *worker, ChunkWork *chunk)
{
    Batch *batch = worker->batch;
    batch->row_count++;
    for (size_t i = 0; i < worker->request->read->field_count; i++) {
        if (batch->columns[i]->length < batch->row_count) {
            vector_append_null(batch->columns[i], chunk->arena);
        }
    }
    batch->selected_count = batch->row_count;
}

static Error *take_record(CsvWorker *worker, ChunkWork *chunk, const CsvFilePlan *plan,
                          const char **at, const char *end)
{
    const char *const first = *at;
    CsvEnd stop = CSV_FIELD;
    for (size_t i = 0; stop == CSV_FIELD; i++) {
        CsvField field;
        stop = csv_next_field(worker->separator, at, end, &field);
        if (UNLIKELY(stop == CSV_OPEN)) {
            return open_quote();
        }
        if (UNLIKELY(i >= plan->field_count)) {
            return too_many_fields(worker, plan, first, end);
        }
        int32_t column = plan->column_of_field[i];
        if (column >= 0) {
            TRY(take_field(worker, chunk, (size_t)column, &field));
        }
    }
    end_row(worker, chunk);
    return NULL;
}

static void pass_blank_lines(const char **at, const char *end)
{
    while (*at < end && (**at == '\n' || (**at == '\r' && *at + 1 < end && (*at)[1] == '\n'))) {
        (*at)++;
    }
}

static void pass_record(char separator, const char **at, const char *end)
{
    CsvEnd stop = CSV_FIELD;
    while (stop == CSV_FIELD && *at < end) {
        CsvField field;
        stop = csv_next_field(separator, at, end, &field);
    }
}

static uint64_t count_lines(Str bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        lines += bytes.data[i] == '\n';
    }
    return lines + (bytes.size > 0 && bytes.data[bytes.size - 1] != '\n');
}

static void csv_work(void *state, ChunkWork *chunk)
{
    CsvWorker *worker = state;
    const CsvFilePlan *plan = (const CsvFilePlan *)worker->request->plan + chunk->chunk.file;
    Str bytes = buffer_str(&chunk->chunk.bytes);
    const char *at = bytes.data;
    const char *const end = bytes.data + bytes.size;
    chunk->lines = count_lines(bytes);
    pass_blank_lines(&at, end);
    if (chunk->chunk.first && plan->header) {
        pass_record(worker->separator, &at, end);
    }
    for (pass_blank_lines(&at, end); at < end; pass_blank_lines(&at, end)) {
        if (worker->batch == NULL) {
            worker->batch = batch_new(chunk->arena, worker->request->read, BATCH_ROWS);
            chunk_add_batch(chunk, worker->batch);
        }
        const char *first = at;
        Error *error = take_record(worker, chunk, plan, &at, end);
        if (UNLIKELY(error != NULL)) {
            chunk->error = place_at(error, chunk, first);
            break;
        }
        if (worker->batch->row_count == BATCH_ROWS) {
            worker->batch = NULL;
        }
    }
    worker->batch = NULL;
}

const LineFormat csv_lines = {
    .records_end = csv_records_end,
    .prepare = csv_prepare,
    .open = csv_open,
    .work = csv_work,
    .close = csv_close,
};
