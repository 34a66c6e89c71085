/* A session: its relations, and its statements one after the other. */
#include "processor/query/session.h"

#include "processor/base/memory.h"
#include "processor/query/session_internal.h"
#include "processor/sql/parser.h"

#include "processor/base/banned.h"

enum { SHOWN_TABLES = 8 };

Error *session_open(const SessionOptions *options, Session **ret_session)
{
    TimeZone *zone = NULL;
    TRY(time_zone_open(options->time_zone.data == NULL ? STR("UTC") : options->time_zone, &zone));
    Session *session = mem_new(Session);
    session->options = *options;
    session->arena = arena_new("session");
    session->zone = zone;
    session->catalog = catalog_new(session->arena, STR("main"), STR("default"));
    *ret_session = session;
    return NULL;
}

void session_close(Session *session)
{
    if (session == NULL) {
        return;
    }
    for (size_t i = 0; i < session->input_count; i++) {
        file_table_close(session->inputs[i].table);
    }
    time_zone_free(session->zone);
    arena_free(session->arena);
    mem_free(session);
}

const TimeZone *session_time_zone(const Session *session)
{
    return session->zone;
}

BindContext session_bind_context(const Session *session, Arena *arena)
{
    return (BindContext){.catalog = session->catalog,
                         .functions = function_catalog(),
                         .time_zone = session->zone,
                         .owner = STR("tidemark"),
                         .arena = arena};
}

/* --------------------------------------------------------------- inputs --- */

/* The file ends at the first comma that is not inside of `{a,b}`. */
static size_t file_end(Str text)
{
    int braces = 0;
    for (size_t i = 0; i < text.size; i++) {
        braces += text.data[i] == '{';
        braces -= text.data[i] == '}';
        if (text.data[i] == ',' && braces <= 0) {
            return i;
        }
    }
    return text.size;
}

static Error *declared_schema(Session *session, Str columns, const Schema **ret_schema)
{
    AstColumnDefinition *definitions = NULL;
    size_t count = 0;
    Error *error = sql_parse_column_definitions(columns, session->arena, &definitions, &count);
    if (error == NULL) {
        error = bind_schema(session->arena, definitions, count, ret_schema);
    }
    return error == NULL
               ? NULL
               : error_set_file(error_set_source(error, columns), "the columns of --input");
}

static Error *schema_of(Session *session, FileTable *table, Str columns, const Schema **ret_schema)
{
    return columns.data != NULL ? declared_schema(session, columns, ret_schema)
                                : file_table_infer(table, session->arena, ret_schema);
}

/* The file's name up to its first dot, where it can be a table's. */
static Str name_of_file(Str path)
{
    while (str_find_byte(path, '/') < path.size) {
        (void)str_cut(&path, '/');
    }
    Str name = str_cut(&path, '.');
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (!char_is_digit(c) && c != '_' && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
            return STR_NULL;
        }
    }
    return name;
}

COLD static Error *wrong_input(Str input)
{
    Error *error = error_new(
        ERROR_USAGE, "--input takes NAME=FILE or NAME=FILE,COLUMNS, not `%.*s`.", STR_ARG(input));
    Str name = name_of_file(input);
    bool file = str_find_byte(input, '=') == input.size && name.size > 0;
    return file ? error_set_hint(error, "did you mean %.*s=%.*s?", STR_ARG(name), STR_ARG(input))
                : error;
}

Error *session_add_input(Session *session, Str input)
{
    Str rest = arena_copy_str(session->arena, input);
    Str name = str_trim(str_cut(&rest, '='));
    Str parts[3];
    size_t part_count = catalog_split_name(name, parts, ARRAY_LENGTH(parts));
    if (rest.data == NULL || rest.size == 0 || part_count == 0) {
        return wrong_input(input);
    }
    size_t end = file_end(rest);
    Str file = {rest.data, end};
    Str columns = end == rest.size ? STR_NULL : (Str){rest.data + end + 1, rest.size - end - 1};
    FileOptions options = {.time_zone = session->zone,
                           .threads = session->options.threads,
                           .interrupted = session->options.interrupted,
                           .csv_header = session->options.csv_header,
                           .csv_separator = session->options.csv_separator};
    AUTO(file_table) FileTable *table = NULL;
    const Schema *schema = NULL;
    TRY(file_table_open(file, &options, &table));
    TRY(schema_of(session, table, columns, &schema));
    Relation relation = {
        .name = name, .kind = RELATION_INLINE, .schema = schema, .index = session->input_count};
    TRY(catalog_add(session->catalog, &relation));
    *arena_push(session->arena, session->inputs, session->input_count, session->input_capacity) =
        (Input){name, table, schema};
    table = NULL;
    return NULL;
}

/* ----------------------------------------------------------- statements --- */

static Error *run_statement(Session *session, const AstStatement *statement, RowWriter *writer)
{
    if (statement->kind == AST_STATEMENT_QUERY) {
        return session_run_query(session, statement->query, session->options.explain, writer);
    }
    return session_run_command(session, statement, writer);
}

/* Who looks for a table is told how one is made, or which there are. */
static Error *add_tables_hint(const Session *session, Error *error)
{
    if (error == NULL || error_hint(error) != NULL ||
        (error_class(error) != ERROR_TABLE_OR_VIEW_NOT_FOUND &&
         error_class(error) != ERROR_UNRESOLVABLE_TABLE_FUNCTION)) {
        return error;
    }
    if (session->input_count == 0) {
        return error_set_hint(error, "--input NAME=FILE makes a table of a file");
    }
    AUTO_BUFFER Buffer names = {0};
    for (size_t i = 0; i < session->input_count && i < SHOWN_TABLES; i++) {
        buffer_printf(&names, "%s`%.*s`", i == 0 ? "" : ", ", STR_ARG(session->inputs[i].name));
    }
    bool more = session->input_count > SHOWN_TABLES;
    return error_set_hint(error, "--input NAME=FILE makes a table of a file; there are %s%s",
                          buffer_cstr(&names), more ? " …" : "");
}

Error *session_run_statement(Session *session, const AstStatement *statement, RowWriter *writer)
{
    return add_tables_hint(session, run_statement(session, statement, writer));
}

bool session_run_script(Session *session, Str script, RowWriter *writer, Diagnostics *diagnostics)
{
    AUTO(arena) Arena *arena = arena_new("script");
    AstScript *statements = NULL;
    size_t before = diagnostics->count;
    sql_parse_script(script, arena, diagnostics, &statements);
    for (size_t i = 0; i < statements->statement_count && diagnostics->count == before; i++) {
        Error *error = session_run_statement(session, statements->statements[i], writer);
        if (error != NULL && error_file(error) == NULL && error_place(error).line > 0) {
            error = error_set_source(error, script);
        }
        diagnostics_add(diagnostics, error);
    }
    return diagnostics->count == before;
}
