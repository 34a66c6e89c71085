/* Headers. Without being told, a first line counts as a header when one of its fields is the name
 * of a column: nobody has to say what the file says already. */
#include "connectors/file/csv_header.h"

#include "connectors/file/csv_fields.h"
#include "connectors/file/csv_names.h"

#include "processor/base/banned.h"

enum { FIRST_BYTES = 64 << 10, HEAD_BYTES_MAX = 16 << 20 };

static size_t cut_record(char separator, Str bytes, Arena *arena, CsvRecord *record)
{
    size_t capacity = 0;
    CsvEnd stop = CSV_FIELD;
    const char *at = bytes.data;
    const char *end = bytes.data + bytes.size;
    *record = (CsvRecord){0};
    while (stop == CSV_FIELD) {
        CsvField field;
        stop = csv_next_field(separator, &at, end, &field);
        *arena_push(arena, record->fields, record->count, capacity) = csv_field_text(&field, arena);
    }
    return stop == CSV_RECORD ? (size_t)(at - bytes.data) : 0;
}

/* A record longer than what was looked at is looked at again, with more. */
Error *csv_first_record(FileTable *table, size_t file, Arena *arena, CsvRecord *ret_record)
{
    for (size_t size = FIRST_BYTES;; size *= 2) {
        Str bytes = STR_NULL;
        TRY(file_entry_peek(&table->files.files[file], size, table_stop(table), arena, &bytes));
        bool all = bytes.size < size || size >= HEAD_BYTES_MAX;
        while (bytes.size > 0 && (bytes.data[0] == '\n' || bytes.data[0] == '\r')) {
            bytes = (Str){bytes.data + 1, bytes.size - 1}; /* blank lines are no records */
        }
        *ret_record = (CsvRecord){0};
        if (bytes.size == 0) {
            return NULL;
        }
        if (all || csv_records_end(table, bytes) > 0) {
            (void)cut_record(table->separator, bytes, arena, ret_record);
            return NULL;
        }
    }
}

/* Which column of the relation a field of a header names, or -1: the name it has, or the one that
 * inference gives it where the header has it twice. */
static int find_column(const ReadRequest *request, Str field, Str given)
{
    if (field.data == NULL || str_trim(field).size == 0) {
        return -1;
    }
    int column = schema_find(request->schema, str_trim(field));
    return column >= 0 ? column : schema_find(request->schema, given);
}

/* Which of the columns read each column of the relation is, or -1. */
static int32_t *read_columns(const ReadRequest *request)
{
    int32_t *read = arena_new_array(request->arena, int32_t, request->schema->field_count);
    for (size_t i = 0; i < request->schema->field_count; i++) {
        read[i] = -1;
    }
    for (size_t i = request->read->field_count; i-- > 0;) {
        read[request->columns[i]] = (int32_t)i;
    }
    return read;
}

static bool names_a_column(const ReadRequest *request, const CsvRecord *record, const Str *given)
{
    for (size_t i = 0; i < record->count; i++) {
        if (find_column(request, record->fields[i], given[i]) >= 0) {
            return true;
        }
    }
    return false;
}

/* A field without a name is found by the name that inference gives it. */
static Error *plan_by_name(const ReadRequest *request, const CsvRecord *record, const Str *given,
                           CsvFilePlan *plan)
{
    const int32_t *read = read_columns(request);
    bool *named = arena_new_array(request->arena, bool, request->schema->field_count);
    plan->field_count = record->count;
    plan->column_of_field = arena_new_array(request->arena, int32_t, record->count);
    for (size_t i = 0; i < record->count; i++) {
        int column = find_column(request, record->fields[i], given[i]);
        column = column < 0 ? schema_find(request->schema, given[i]) : column;
        plan->column_of_field[i] = column < 0 ? -1 : read[column];
        if (column >= 0 && named[column]) {
            return error_new(ERROR_MALFORMED_RECORD, "the header names the column `%.*s` twice",
                             STR_ARG(request->schema->fields[column].name));
        }
        if (column >= 0) {
            named[column] = true;
        }
    }
    return NULL;
}

static void plan_by_position(const ReadRequest *request, CsvFilePlan *plan)
{
    plan->field_count = request->schema->field_count;
    plan->column_of_field = read_columns(request);
}

static Error *plan_file(const ReadRequest *request, size_t file, CsvFilePlan *plan)
{
    CsvRecord first = {0};
    CsvHeader wanted = request->table->options.csv_header;
    if (wanted != CSV_HEADER_NO) {
        TRY(csv_first_record(request->table, file, request->arena, &first));
    }
    const Str *given = csv_column_names(&first, request->arena);
    bool named = names_a_column(request, &first, given);
    plan->named = named;
    plan->header = wanted == CSV_HEADER_YES || named;
    if (!named) {
        plan_by_position(request, plan);
        return NULL;
    }
    Error *error = plan_by_name(request, &first, given, plan);
    if (error != NULL) {
        error = error_set_place(error, (SourcePlace){1, 1, 0});
        error = error_set_file(error, request->table->files.files[file].name);
    }
    return error;
}

Error *csv_plan_files(const ReadRequest *request, const CsvFilePlan **ret_plans)
{
    FileTable *table = request->table;
    CsvFilePlan *plans = arena_new_array(request->arena, CsvFilePlan, table->files.count);
    for (size_t i = 0; i < table->files.count; i++) {
        TRY(plan_file(request, i, &plans[i]));
    }
    *ret_plans = plans;
    return NULL;
}
