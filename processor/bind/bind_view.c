/* CREATE VIEW, DROP VIEW, and reading a view. */
#include "processor/bind/view.h"

#include "processor/bind/schedule.h"
#include "processor/bind/statement.h"

#include "processor/base/banned.h"

View *binder_find_view(const Binder *binder, const AstName *name)
{
    return binder->program == NULL ? NULL : program_find_view(binder->program, name);
}

/* --------------------------------------------------------------- columns --- */

static Error *wrong_column_count(const AstCreateView *create, const Schema *schema)
{
    bool few = create->column_count > schema->field_count;
    return error_at(few ? ERROR_VIEW_NOT_ENOUGH_COLUMNS : ERROR_VIEW_TOO_MANY_COLUMNS,
                    create->columns[0].name.place,
                    "Cannot create view `%.*s`, the reason is %s data columns: the view has %zu "
                    "columns, its query gives %zu.",
                    STR_ARG(create->name.text), few ? "not enough" : "too many",
                    create->column_count, schema->field_count);
}

static Error *check_columns_differ(const AstCreateView *create, const Schema *schema)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        if (schema_find(schema, schema->fields[i].name) < (int)i) {
            SourcePlace place =
                create->column_count > 0 ? create->columns[i].name.place : create->query->place;
            return error_at(ERROR_COLUMN_ALREADY_EXISTS, place,
                            "The column `%.*s` already exists. Choose another name or rename the "
                            "existing column.",
                            STR_ARG(schema->fields[i].name));
        }
    }
    return NULL;
}

/* The query's columns under the names the view gives them. */
static Error *name_columns(Binder *binder, View *view)
{
    const AstCreateView *create = view->create;
    const Schema *schema = view->node->schema;
    if (create->column_count > 0 && create->column_count != schema->field_count) {
        return wrong_column_count(create, schema);
    }
    Field *fields = arena_new_array(binder->arena, Field, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        fields[i] = schema->fields[i];
        if (create->column_count > 0) {
            fields[i].name = create->columns[i].name.name;
            fields[i].comment = create->columns[i].comment.value;
        }
    }
    view->schema = schema_new(binder->arena, fields, schema->field_count);
    return check_columns_differ(create, view->schema);
}

/* ------------------------------------------------------------------ bind --- */

Error *view_bind(const Binder *binder, View *view, SourcePlace place)
{
    if (view->state == VIEW_BINDING) {
        return error_at(ERROR_PIPELINE_CYCLE, place, "The view `%.*s` is computed from itself.",
                        STR_ARG(view->create->name.text));
    }
    if (view->state == VIEW_NEW) {
        TRY(program_enter(binder->program, place));
        view->state = VIEW_BINDING;
        Binder own = {.context = binder->context,
                      .arena = binder->arena,
                      .diagnostics = view->diagnostics,
                      .program = binder->program,
                      .flow_query = binder->context->pipeline};
        view->node = bind_query_node(&own, view->create->query);
        bool ok = view->node != NULL && binder_report(&own, name_columns(&own, view));
        view->weight = own.weight;
        query_stream_traits(&own, view->create->query, &view->streams, &view->has_watermark);
        view->state = ok ? VIEW_BOUND : VIEW_FAILED;
        program_leave(binder->program);
    }
    return view->state == VIEW_BOUND ? NULL : consequence(place);
}

void view_done(View *view)
{
    for (size_t i = 0; i < ARRAY_LENGTH(view->rule_broken); i++) {
        error_free(view->rule_broken[i]);
    }
}

/* ------------------------------------------------------------------ read --- */

static Error *check_view_stream(const Binder *binder, const View *view, const AstRelation *ast)
{
    if (ast->stream && !view->streams) {
        return error_set_hint(error_at(ERROR_NOT_STREAMING, ast->place,
                                       "The view `%.*s` reads no stream and cannot be read as one.",
                                       STR_ARG(ast->name.text)),
                              "leave out STREAM, or write STREAM in the view's query");
    }
    if (view->streams && binder->batch_reader != NULL) {
        return error_at(ERROR_STREAM_NOT_ALLOWED, ast->place,
                        "%s reads its sources as tables, and the view `%.*s` reads a stream.",
                        binder->batch_reader, STR_ARG(ast->name.text));
    }
    return view->streams && !ast->stream
               ? error_set_hint(error_at(ERROR_STREAM_NOT_ALLOWED, ast->place,
                                         "The view `%.*s` reads a stream and is read here as a "
                                         "table.",
                                         STR_ARG(ast->name.text)),
                                "write STREAM(%.*s)", STR_ARG(ast->name.text))
               : NULL;
}

Error *bind_view_read(Binder *binder, View *view, const AstRelation *ast, FromResult *result)
{
    TRY(view_bind(binder, view, ast->place));
    TRY(check_view_stream(binder, view, ast));
    TRY(binder_grow(binder, view->weight, ast->place));
    Str parts[3];
    size_t count = ast_name_parts(&ast->name, parts, ARRAY_LENGTH(parts));
    ScopeQualifier qualifier = {.part_count = 3};
    catalog_qualify(binder->context->catalog, parts, count, qualifier.parts);
    result->scope = scope_of_schema(binder->arena, view->schema, &qualifier, 0);
    result->node = view->node;
    return NULL;
}

Error *binder_find_columns(Binder *binder, const AstName *name, const Schema **ret_schema)
{
    View *view = binder_find_view(binder, name);
    if (view != NULL) {
        TRY(view_bind(binder, view, name->place));
        *ret_schema = view->schema;
        return NULL;
    }
    const Relation *relation = NULL;
    TRY(binder_find_relation(binder, name, &relation));
    *ret_schema = relation->schema;
    return NULL;
}

/* ------------------------------------------------------------ statements --- */

static Error *check_head(const AstCreateView *create)
{
    if (create->or_replace && create->if_not_exists) {
        return error_at(ERROR_CREATE_VIEW_CONFLICT, create->name.place,
                        "CREATE VIEW `%.*s` with both IF NOT EXISTS and REPLACE is not allowed.",
                        STR_ARG(create->name.text));
    }
    if (create->temporary && create->if_not_exists) {
        return error_set_hint(error_at(ERROR_CREATE_TEMPORARY_VIEW_CONFLICT, create->name.place,
                                       "It is not allowed to define a TEMPORARY view with IF NOT "
                                       "EXISTS."),
                              "write CREATE OR REPLACE TEMPORARY VIEW");
    }
    return create->temporary && create->name.part_count > 1
               ? error_at(ERROR_INVALID_TEMPORARY_QUALIFIER, create->name.place,
                          "Temporary VIEW `%.*s` cannot be qualified.", STR_ARG(create->name.text))
               : NULL;
}

static void check_clauses(Binder *binder, const AstCreateView *create)
{
    for (size_t i = 0; i < create->clause_count; i++) {
        const AstTableClause *clause = &create->clauses[i];
        for (size_t k = 0; k < i; k++) {
            if (create->clauses[k].kind == clause->kind) {
                binder_report(
                    binder,
                    error_at(ERROR_DUPLICATE_CLAUSES, clause->place,
                             "Found duplicate clauses: %s. Please, remove one of them.",
                             clause->kind == AST_CLAUSE_COMMENT ? "COMMENT" : "TBLPROPERTIES"));
                break;
            }
        }
        if (clause->kind == AST_CLAUSE_PROPERTIES) {
            check_properties(binder, clause->properties, clause->property_count);
        }
    }
}

static Error *check_name_free(Binder *binder, const AstCreateView *create)
{
    Str parts[3];
    size_t count = ast_name_parts(&create->name, parts, ARRAY_LENGTH(parts));
    if (catalog_find(binder->context->catalog, parts, count) == NULL) {
        return NULL;
    }
    return error_set_hint(error_at(ERROR_TABLE_OR_VIEW_ALREADY_EXISTS, create->name.place,
                                   "Cannot create table or view `%.*s` because it already exists.",
                                   STR_ARG(create->name.text)),
                          "a source or table has this name; choose another one");
}

bool bind_create_view(Binder *binder, const AstCreateView *create)
{
    binder_report(binder, check_head(create));
    binder_report(binder, check_name_free(binder, create));
    check_clauses(binder, create);
    View *view = binder_find_view(binder, &create->name);
    if (view != NULL && view->create == create) {
        error_free(view_bind(binder, view, create->name.place)); /* told where it stands */
    }
    return binder->context->pipeline; /* alone, nobody could read it later */
}

void bind_drop_view(Binder *binder, const AstDrop *drop)
{
    if (binder_find_view(binder, &drop->name) != NULL) {
        return;
    }
    const Relation *relation = NULL;
    Error *error = binder_find_relation(binder, &drop->name, &relation);
    if (error == NULL) {
        error = error_set_hint(error_at(ERROR_TABLE_OPERATION, drop->name.place,
                                        "The feature is not supported: `%.*s` is no view, and DROP "
                                        "VIEW works on views only.",
                                        STR_ARG(drop->name.text)),
                               "DROP STREAMING TABLE drops a streaming table");
    } else if (drop->if_exists && error_class(error) == ERROR_TABLE_OR_VIEW_NOT_FOUND) {
        error_free(error);
        return;
    }
    binder_report(binder, error);
}
