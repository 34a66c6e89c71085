/* Statements beside queries: DESCRIBE, SHOW, EXPLAIN. Their answers are rows, in Spark's columns.
 */
#include "processor/query/session_internal.h"

#include "processor/base/banned.h"

/* Rows of texts, and of truth. */
typedef struct Answer {
    Arena *arena;
    Batch *batch;
} Answer;

/* Names that begin with "is" are those of a BOOLEAN. */
static Answer answer_begin(Arena *arena, const char *const *names, size_t count)
{
    Field *fields = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (Field){.name = str_from(names[i]),
                            .type = strncmp(names[i], "is", 2) == 0 ? &type_boolean : &type_string};
    }
    return (Answer){arena, batch_new(arena, schema_new(arena, fields, count), 16)};
}

/* One text a column; STR_NULL is NULL. A BOOLEAN is true where there is a text. */
static void answer_add(Answer *answer, size_t count, const Str *texts)
{
    Batch *batch = answer->batch;
    for (size_t i = 0; i < count; i++) {
        if (batch->schema->fields[i].type->kind == TYPE_BOOLEAN) {
            vector_append_bool(batch->columns[i], answer->arena, texts[i].data != NULL);
        } else if (texts[i].data == NULL) {
            vector_append_null(batch->columns[i], answer->arena);
        } else {
            vector_append_str(batch->columns[i], answer->arena, texts[i]);
        }
    }
    batch->row_count++;
    batch->selected_count++;
}

static Error *answer_write(const Answer *answer, RowWriter *writer)
{
    TRY(writer->begin(writer, answer->batch->schema));
    TRY(writer->write(writer, answer->batch));
    return writer->end(writer);
}

/* -------------------------------------------------------------- DESCRIBE --- */

static Error *write_columns(const Schema *schema, Arena *arena, RowWriter *writer)
{
    static const char *const names[] = {"col_name", "data_type", "comment"};
    Answer answer = answer_begin(arena, names, ARRAY_LENGTH(names));
    for (size_t i = 0; i < schema->field_count; i++) {
        const Field *field = &schema->fields[i];
        AUTO_BUFFER Buffer type = {0};
        type_format_simple(field->type, &type);
        answer_add(
            &answer, ARRAY_LENGTH(names),
            (const Str[]){field->name, arena_copy_str(arena, buffer_str(&type)), field->comment});
    }
    return answer_write(&answer, writer);
}

static Error *describe_table(const Session *session, const AstName *name, Arena *arena,
                             RowWriter *writer)
{
    Str parts[3] = {0};
    size_t count = name->part_count < ARRAY_LENGTH(parts) ? name->part_count : ARRAY_LENGTH(parts);
    for (size_t i = 0; i < count; i++) {
        parts[i] = name->parts[i].name;
    }
    const Relation *relation = catalog_find(session->catalog, parts, count);
    if (relation == NULL) {
        Error *error =
            error_at(ERROR_TABLE_OR_VIEW_NOT_FOUND, name->place,
                     "The table or view `%.*s` cannot be found.", STR_ARG(parts[count - 1]));
        Str nearest = catalog_nearest(session->catalog, parts[count - 1]);
        return nearest.data == NULL
                   ? error
                   : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
    }
    return write_columns(relation->schema, arena, writer);
}

static Error *describe_query(Session *session, const AstQuery *query, Arena *arena,
                             RowWriter *writer)
{
    BindContext context = session_bind_context(session, arena);
    BoundNode *bound = NULL;
    TRY(bind_query(&context, query, &bound));
    return write_columns(bound->schema, arena, writer);
}

static Error *describe_function(const AstName *name, Arena *arena, RowWriter *writer)
{
    static const char *const names[] = {"function_desc"};
    Str wanted = name->parts[name->part_count - 1].name;
    const Function *function = function_catalog()->find(wanted);
    if (function == NULL) {
        return error_at(ERROR_UNRESOLVED_ROUTINE, name->place, "There is no function `%.*s`.",
                        STR_ARG(wanted));
    }
    Answer answer = answer_begin(arena, names, ARRAY_LENGTH(names));
    answer_add(&answer, ARRAY_LENGTH(names),
               (const Str[]){str_from(arena_printf(arena, "Function: %s", function->name))});
    answer_add(&answer, ARRAY_LENGTH(names),
               (const Str[]){str_from(arena_printf(arena, "Usage: %s", function->doc))});
    if (function->example != NULL && function->example[0] != '\0') {
        answer_add(&answer, ARRAY_LENGTH(names),
                   (const Str[]){str_from(arena_printf(arena, "Example: %s", function->example))});
    }
    return answer_write(&answer, writer);
}

static Error *run_describe(Session *session, const AstDescribe *describe, Arena *arena,
                           RowWriter *writer)
{
    switch (describe->kind) {
    case AST_DESCRIBE_TABLE:
        return describe_table(session, &describe->name, arena, writer);
    case AST_DESCRIBE_QUERY:
        return describe_query(session, describe->query, arena, writer);
    case AST_DESCRIBE_FUNCTION:
        return describe_function(&describe->name, arena, writer);
    }
    return NULL;
}

/* ------------------------------------------------------------------ SHOW --- */

/* Spark's patterns: `*` is any text, `|` separates alternatives, case is ignored. */
static bool fits_one(Str name, Str pattern)
{
    size_t n = 0;
    size_t p = 0;
    size_t star = SIZE_MAX; /* the last `*`, and where it may begin to take more */
    size_t retry = 0;
    while (n < name.size) {
        if (p < pattern.size && pattern.data[p] == '*') {
            star = p++;
            retry = n;
        } else if (p < pattern.size &&
                   str_equal_ignore_case((Str){name.data + n, 1}, (Str){pattern.data + p, 1})) {
            n++;
            p++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.size && pattern.data[p] == '*') {
        p++;
    }
    return p == pattern.size;
}

static bool fits(Str name, Str pattern)
{
    if (pattern.data == NULL) {
        return true;
    }
    for (Str rest = pattern; rest.data != NULL;) {
        if (fits_one(name, str_trim(str_cut(&rest, '|')))) {
            return true;
        }
    }
    return false;
}

static Error *show_tables(const Session *session, Str pattern, Arena *arena, RowWriter *writer)
{
    static const char *const names[] = {"namespace", "tableName", "isTemporary"};
    Answer answer = answer_begin(arena, names, ARRAY_LENGTH(names));
    for (size_t i = 0; i < session->input_count; i++) {
        Str name = session->inputs[i].name;
        if (fits(name, pattern)) {
            answer_add(&answer, ARRAY_LENGTH(names),
                       (const Str[]){STR("default"), name, STR("true")});
        }
    }
    return answer_write(&answer, writer);
}

static Error *show_functions(const AstShow *show, Arena *arena, RowWriter *writer)
{
    static const char *const names[] = {"function"};
    Str pattern = show->pattern.value;
    if (show->function.part_count > 0) {
        pattern = show->function.parts[show->function.part_count - 1].name;
    }
    Answer answer = answer_begin(arena, names, ARRAY_LENGTH(names));
    const FunctionCatalog *functions = function_catalog();
    for (size_t i = 0; functions->at(i) != NULL; i++) {
        Str name = str_from(functions->at(i)->name);
        if (fits(name, pattern)) {
            answer_add(&answer, ARRAY_LENGTH(names), &name);
        }
    }
    return answer_write(&answer, writer);
}

static Error *run_show(const Session *session, const AstStatement *statement, Arena *arena,
                       RowWriter *writer)
{
    const AstShow *show = &statement->show;
    switch (show->kind) {
    case AST_SHOW_TABLES:
        return show_tables(session, show->pattern.value, arena, writer);
    case AST_SHOW_FUNCTIONS:
        return show_functions(show, arena, writer);
    case AST_SHOW_COLUMNS:
        return describe_table(session, &show->table, arena, writer);
    case AST_SHOW_VIEWS:
        break;
    }
    return error_at(ERROR_NOT_YET, statement->place, "SHOW VIEWS is not supported yet.");
}

static Error *run_explain(Session *session, const AstExplain *explain, RowWriter *writer)
{
    const AstStatement *statement = explain->statement;
    if (statement->kind != AST_STATEMENT_QUERY) {
        return error_at(ERROR_NOT_YET, statement->place,
                        "EXPLAIN of this statement is not supported yet.");
    }
    return session_run_query(session, statement->query, true, writer);
}

/* A statement that cannot be run here: its mistake, or that it is right and not supported. */
static Error *not_run(const Session *session, const AstStatement *statement, Arena *arena)
{
    BindContext context = session_bind_context(session, arena);
    Error *error = bind_judge(&context, statement);
    if (error != NULL && error_class(error) != ERROR_NOT_YET) {
        return error;
    }
    error_free(error);
    return error_at(ERROR_NOT_YET, statement->place,
                    "`tidemark query` runs queries, DESCRIBE, SHOW and EXPLAIN; this statement is "
                    "not supported yet.");
}

Error *session_run_command(Session *session, const AstStatement *statement, RowWriter *writer)
{
    AUTO(arena) Arena *arena = arena_new("command");
    if (statement->kind == AST_STATEMENT_EXPLAIN) {
        return run_explain(session, &statement->explain, writer);
    }
    if (statement->kind == AST_STATEMENT_DESCRIBE) {
        return run_describe(session, &statement->describe, arena, writer);
    }
    if (statement->kind == AST_STATEMENT_SHOW) {
        return run_show(session, statement, arena, writer);
    }
    return not_run(session, statement, arena);
}
