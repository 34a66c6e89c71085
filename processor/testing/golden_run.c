/* Running golden files: tables are read into batches, each query answered and its answer written in
 * the form of the file. What is compared is text, line by line; --accept writes that text back. */
#include "processor/testing/golden_run.h"

#include <stdlib.h>

#include "connectors/format/format.h"
#include "processor/base/map.h"
#include "processor/base/memory.h"
#include "processor/data/value_text.h"
#include "processor/sql/parser.h"
#include "processor/testing/batch_query.h"
#include "processor/testing/golden_file.h"
#include "processor/testing/text_file.h"
#include "processor/testing/yaml_value.h"

#include "processor/base/banned.h"

/* 2026-01-01T00:00:00Z */
#define FIRST_NOW_US INT64_C(1767225600000000)

enum { SHOWN_LINES_MAX = 30 };

typedef struct GoldenRun {
    const char *path;
    const TestOptions *options;
    Report *report;
    Arena *arena; /* of the file */
    GoldenFile file;
    Catalog *catalog;
    Map tables; /* relation's name in small letters -> Batch * */
    TimeZone *zone;
    int64_t now_us;
    Buffer accepted; /* the file as it should be */
} GoldenRun;

/* --------------------------------------------------------------------------------- tables ---- */

static Error *append_cell(GoldenRun *run, Str cell, Vector *vector)
{
    bool is_null = false;
    YamlNode node = {.kind = YAML_SCALAR, .style = YAML_SINGLE_QUOTED};
    TRY(golden_unescape(cell, run->arena, &node.text, &is_null));
    if (is_null) {
        vector_append_null(vector, run->arena);
        return NULL;
    }
    return yaml_value_append(&node, run->zone, run->arena, vector);
}

static Error *append_row(GoldenRun *run, Str line, Batch *batch)
{
    Str rest = line;
    for (size_t c = 0; c < batch->schema->field_count; c++) {
        if (rest.data == NULL) {
            return error_new(ERROR_SCENARIO_INVALID,
                             "The row has %zu cells; there are %zu columns.", c,
                             batch->schema->field_count);
        }
        TRY(append_cell(run, str_cut(&rest, '\t'), batch->columns[c]));
    }
    if (rest.data != NULL) {
        return error_new(ERROR_SCENARIO_INVALID, "The row has more cells than columns.");
    }
    batch->row_count++;
    batch->selected_count++;
    return NULL;
}

static Error *parse_schema(GoldenRun *run, Str columns, const Schema **ret_schema)
{
    AstColumnDefinition *definitions = NULL;
    size_t count = 0;
    TRY(sql_parse_column_definitions(columns, run->arena, &definitions, &count));
    return bind_schema(run->arena, definitions, count, ret_schema);
}

static Error *read_rows(GoldenRun *run, const GoldenBlock *block, Batch *batch)
{
    for (size_t i = 0; i < block->row_count; i++) {
        Error *error = append_row(run, block->rows[i], batch);
        if (error != NULL) {
            int line = (int)(block->rows - run->file.lines) + (int)i + 1;
            return error_set_place(error, (SourcePlace){line, 1, 0});
        }
    }
    return NULL;
}

/* A table of the same name takes the place of the one before. */
static Error *define_table(GoldenRun *run, const GoldenBlock *block)
{
    SourcePlace place = {(int)block->first_line + 1, 1, 0};
    const Schema *schema = NULL;
    Error *error = parse_schema(run, block->columns, &schema);
    if (error != NULL) {
        return error_set_place(error, place);
    }
    Str parts[3];
    size_t count = catalog_split_name(block->argument, parts, ARRAY_LENGTH(parts));
    if (count == 0) {
        return error_at(ERROR_SCENARIO_INVALID, place, "`%.*s` is no name of a table.",
                        STR_ARG(block->argument));
    }
    Batch *rows = batch_new(run->arena, schema, (uint32_t)block->row_count);
    TRY(read_rows(run, block, rows));
    Relation relation = {.name = block->argument, .kind = RELATION_INLINE, .schema = schema};
    catalog_put(run->catalog, parts, count, &relation);
    map_put(&run->tables, block->argument, rows);
    return NULL;
}

static Error *rows_of(void *context, const Relation *relation, Arena *arena, Batch **ret_rows)
{
    (void)arena;
    GoldenRun *run = context;
    Batch *rows = map_get(&run->tables, relation->name);
    if (rows == NULL) {
        return error_new(ERROR_TABLE_OR_VIEW_NOT_FOUND, "There is no table `%.*s`.",
                         STR_ARG(relation->name));
    }
    *ret_rows = rows;
    return NULL;
}

/* -------------------------------------------------------------------------------- answers ---- */

/* Values as CAST prints them; nested ones and BINARY as in JSON. */
static void write_cell(const GoldenRun *run, const Vector *vector, uint32_t row, bool first,
                       Buffer *out)
{
    if (!vector_is_valid(vector, row)) {
        buffer_append_cstr(out, "NULL");
        return;
    }
    AUTO_BUFFER Buffer text = {0};
    switch (vector->type->kind) {
    case TYPE_ARRAY:
    case TYPE_MAP:
    case TYPE_STRUCT:
        json_encode_value(vector, row, &text);
        break;
    case TYPE_BINARY: {
        AUTO_BUFFER Buffer quoted = {0};
        json_encode_value(vector, row, &quoted);
        buffer_append(&text, quoted.data + 1, quoted.size - 2);
        break;
    }
    case TYPE_NULL:
    case TYPE_BOOLEAN:
    case TYPE_TINYINT:
    case TYPE_SMALLINT:
    case TYPE_INT:
    case TYPE_BIGINT:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_STRING:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_INTERVAL_YEAR_MONTH:
    case TYPE_INTERVAL_DAY_TIME:
    case TYPE_VARIANT:
        value_format(vector, row, run->zone, &text);
        break;
    }
    golden_escape(buffer_str(&text), first, out);
}

static void write_header(const Schema *schema, Buffer *out)
{
    buffer_append_cstr(out, "---- ");
    for (size_t i = 0; i < schema->field_count; i++) {
        if (i > 0) {
            buffer_append_cstr(out, ", ");
        }
        Field field = schema->fields[i];
        field.not_null = false;
        field.comment = STR_NULL;
        field_format(&field, " ", out);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return str_compare(*(const Str *)a, *(const Str *)b);
}

static void sort_lines(Str *lines, size_t count)
{
    if (count > 1) {
        qsort(lines, count, sizeof *lines, compare_lines);
    }
}

/* What came of a query: lines as the file would have them. */
typedef struct Answer {
    bool is_error;
    bool not_yet;
    Str head; /* "---- …" or "[CLASS] line:column" */
    Str *rows;
    size_t row_count;
    Str message; /* of an error, for the report */
} Answer;

static void answer_with_rows(const GoldenRun *run, const Batch *result, bool sorted, Arena *arena,
                             Answer *answer)
{
    AUTO_BUFFER Buffer text = {0};
    write_header(result->schema, &text);
    answer->head = arena_copy_str(arena, buffer_str(&text));
    answer->row_count = result->row_count;
    answer->rows = arena_new_array(arena, Str, answer->row_count);
    for (uint32_t i = 0; i < result->row_count; i++) {
        buffer_clear(&text);
        for (size_t c = 0; c < result->schema->field_count; c++) {
            if (c > 0) {
                buffer_append_byte(&text, '\t');
            }
            write_cell(run, result->columns[c], i, c == 0, &text);
        }
        answer->rows[i] = arena_copy_str(arena, buffer_str(&text));
    }
    if (sorted) {
        sort_lines(answer->rows, answer->row_count);
    }
}

static void answer_with_error(const Error *error, Arena *arena, Answer *answer)
{
    answer->is_error = true;
    answer->not_yet = error_class(error) == ERROR_NOT_YET;
    SourcePlace place = error_place(error);
    answer->head = str_from(
        place.line == 0 ? arena_printf(arena, "[%s]", error_class_name(error_class(error)))
                        : arena_printf(arena, "[%s] %d:%d", error_class_name(error_class(error)),
                                       place.line, place.column));
    AUTO_BUFFER Buffer text = {0};
    error_format_line(error, &text);
    answer->message = arena_copy_str(arena, buffer_str(&text));
}

static Answer answer_query(GoldenRun *run, const GoldenBlock *block, Arena *arena)
{
    BatchQuery query = {.sql = block->sql,
                        .catalog = run->catalog,
                        .zone = run->zone,
                        .now_us = run->now_us,
                        .batch_rows = run->options->batch_rows,
                        .rows_of = rows_of,
                        .context = run};
    Answer answer = {.is_error = false};
    Batch *result = NULL;
    AUTO(error) Error *error = batch_query_run(&query, arena, &result);
    if (error != NULL) {
        answer_with_error(error, arena, &answer);
    } else {
        answer_with_rows(run, result, block->sorted, arena, &answer);
    }
    return answer;
}

/* ------------------------------------------------------------------------------- comparing ---- */

static void note_line(Buffer *out, char mark, Str line)
{
    buffer_printf(out, "     %c %.*s\n", mark, STR_ARG(line));
}

static bool same_rows(const Str *expected, size_t expected_count, const Answer *answer, Buffer *out)
{
    bool same = true;
    size_t shown = 0;
    size_t most = expected_count > answer->row_count ? expected_count : answer->row_count;
    for (size_t i = 0; i < most; i++) {
        bool here =
            i < expected_count && i < answer->row_count && str_equal(expected[i], answer->rows[i]);
        same = same && here;
        if (here || shown++ >= SHOWN_LINES_MAX) {
            continue;
        }
        if (i < expected_count) {
            note_line(out, '-', expected[i]);
        }
        if (i < answer->row_count) {
            note_line(out, '+', answer->rows[i]);
        }
    }
    return same;
}

static bool same_answer(const GoldenBlock *block, const Answer *answer, Arena *arena, Buffer *out)
{
    if (answer->is_error || block->kind == GOLDEN_ERROR) {
        bool same = answer->is_error && block->kind == GOLDEN_ERROR &&
                    str_equal(block->argument, answer->head);
        if (!same) {
            note_line(out, '-', block->kind == GOLDEN_ERROR ? block->argument : STR("(an answer)"));
            note_line(out, '+', answer->is_error ? answer->head : STR("(an answer)"));
        }
        if (!same && answer->is_error) {
            buffer_printf(out, "       %.*s\n", STR_ARG(answer->message));
        }
        return same;
    }
    Str head = block->columns.data == NULL
                   ? STR("(not answered yet)")
                   : str_from(arena_printf(arena, "---- %.*s", STR_ARG(block->columns)));
    bool same = str_equal(str_trim(head), str_trim(answer->head));
    if (!same) {
        note_line(out, '-', head);
        note_line(out, '+', answer->head);
    }
    Str *expected = arena_new_array(arena, Str, block->row_count);
    if (block->row_count > 0) {
        memcpy(expected, block->rows, block->row_count * sizeof(Str));
    }
    if (block->sorted) {
        sort_lines(expected, block->row_count);
    }
    return same_rows(expected, block->row_count, answer, out) && same;
}

/* -------------------------------------------------------------------------------- accepting ----
 */

static void keep_lines(GoldenRun *run, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        buffer_append_str(&run->accepted, run->file.lines[i]);
        buffer_append_byte(&run->accepted, '\n');
    }
}

static void accept_answer(GoldenRun *run, const GoldenBlock *block, const Answer *answer)
{
    Buffer *out = &run->accepted;
    if (answer->is_error) {
        buffer_printf(out, "error %.*s\n", STR_ARG(answer->head));
    } else {
        buffer_append_cstr(out, block->sorted ? "query sorted\n" : "query\n");
    }
    keep_lines(run, block->first_line + 1, block->sql_end_line);
    if (!answer->is_error) {
        buffer_printf(out, "%.*s\n", STR_ARG(answer->head));
    }
    for (size_t i = 0; i < answer->row_count; i++) {
        buffer_append_str(out, answer->rows[i]);
        buffer_append_byte(out, '\n');
    }
}

/* ---------------------------------------------------------------------------------- running ----
 */

static void report_query(GoldenRun *run, const GoldenBlock *block, CaseStatus status,
                         int64_t elapsed_ms, const Buffer *detail, Arena *arena)
{
    Str rest = block->sql;
    CaseResult result = {.file = run->path,
                         .line = (int)block->first_line + 1,
                         .title = str_cut(&rest, '\n'),
                         .status = status,
                         .detail = buffer_str(detail),
                         .elapsed_ms = elapsed_ms};
    result.id = str_from(arena_printf(arena, "%s:%d", run->path, result.line));
    report_case(run->report, &result);
}

static void run_query(GoldenRun *run, const GoldenBlock *block)
{
    AUTO(arena) Arena *arena = arena_new("query");
    AUTO_BUFFER Buffer detail = {0};
    int64_t begin_ms = clock_monotonic_ms();
    Answer answer = answer_query(run, block, arena);
    CaseStatus status = CASE_PASSED;
    if (run->options->accept) {
        accept_answer(run, block, &answer);
    } else if (!same_answer(block, &answer, arena, &detail)) {
        status = answer.not_yet ? CASE_NOT_YET : CASE_FAILED;
    }
    report_query(run, block, status, clock_monotonic_ms() - begin_ms, &detail, arena);
}

static Error *set_zone(GoldenRun *run, Str name)
{
    TimeZone *zone = NULL;
    TRY(time_zone_open(name, &zone));
    time_zone_free(run->zone);
    run->zone = zone;
    return NULL;
}

static Error *set_clock(GoldenRun *run, Str text)
{
    return timestamp_parse(text, run->zone, &run->now_us)
               ? NULL
               : error_new(ERROR_SCENARIO_INVALID, "`%.*s` is no instant.", STR_ARG(text));
}

static Error *run_block(GoldenRun *run, const GoldenBlock *block)
{
    switch (block->kind) {
    case GOLDEN_NOTHING:
        break;
    case GOLDEN_TIME_ZONE:
        TRY(set_zone(run, block->argument));
        break;
    case GOLDEN_CLOCK:
        TRY(set_clock(run, block->argument));
        break;
    case GOLDEN_TABLE:
        TRY(define_table(run, block));
        break;
    case GOLDEN_QUERY:
    case GOLDEN_ERROR:
        run_query(run, block);
        return NULL;
    }
    keep_lines(run, block->first_line, block->end_line);
    return NULL;
}

static Error *run_blocks(GoldenRun *run)
{
    Str text = STR_NULL;
    TRY(text_file_read(run->path, run->arena, &text));
    TRY(golden_file_parse(text, run->arena, &run->file));
    TRY(set_zone(run, STR("UTC")));
    for (size_t i = 0; i < run->file.block_count; i++) {
        Error *error = run_block(run, &run->file.blocks[i]);
        if (error != NULL) {
            SourcePlace place = {(int)run->file.blocks[i].first_line + 1, 1, 0};
            return error_place(error).line == 0 ? error_set_place(error, place) : error;
        }
    }
    return run->options->accept ? text_file_write(run->path, buffer_str(&run->accepted)) : NULL;
}

Error *golden_file_run(const char *path, const TestOptions *options, Report *report)
{
    GoldenRun run = {.path = path,
                     .options = options,
                     .report = report,
                     .arena = arena_new("golden"),
                     .now_us = FIRST_NOW_US};
    run.catalog = catalog_new(run.arena, STR("main"), STR("default"));
    Error *error = run_blocks(&run);
    time_zone_free(run.zone);
    map_done(&run.tables);
    buffer_done(&run.accepted);
    arena_free(run.arena);
    return error == NULL ? NULL : error_set_file(error, path);
}
