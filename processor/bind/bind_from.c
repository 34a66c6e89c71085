/* FROM: relations by name, subqueries, their aliases, what is joined with what. Mistakes that do
 * not depend on each other are all reported. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"
#include "processor/bind/information_schema.h"
#include "processor/bind/view.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------------ relations --- */

size_t ast_name_parts(const AstName *name, Str *ret_parts, size_t part_max)
{
    if (name->part_count > part_max) {
        return 0;
    }
    for (size_t i = 0; i < name->part_count; i++) {
        ret_parts[i] = name->parts[i].name;
    }
    return name->part_count;
}

static COLD RETURNS_NONNULL Error *table_not_found(Binder *binder, const AstName *name)
{
    AUTO_BUFFER Buffer shown = {0};
    for (size_t i = 0; i < name->part_count; i++) {
        buffer_printf(&shown, "%s`%.*s`", i == 0 ? "" : ".", STR_ARG(name->parts[i].name));
    }
    Error *error = error_at(ERROR_TABLE_OR_VIEW_NOT_FOUND, name->place,
                            "The table or view %s cannot be found. Verify the spelling and "
                            "correctness of the schema and catalog.",
                            buffer_cstr(&shown));
    Str nearest = binder->program == NULL ? STR_NULL : program_nearest(binder->program, name->text);
    if (nearest.data == NULL) {
        nearest = catalog_nearest(binder->context->catalog, name->text);
    }
    return nearest.data == NULL ? error
                                : error_set_hint(error, "did you mean `%.*s`?", STR_ARG(nearest));
}

Error *binder_find_relation(Binder *binder, const AstName *name, const Relation **ret_relation)
{
    if (binder->program != NULL) {
        bool found = false;
        TRY(program_find_relation(binder->program, name, &found, ret_relation));
        if (found) {
            return NULL;
        }
    }
    Str parts[3];
    size_t count = ast_name_parts(name, parts, ARRAY_LENGTH(parts));
    const Relation *relation = catalog_find(binder->context->catalog, parts, count);
    if (relation == NULL && is_information_schema(name)) {
        relation = information_schema_find(binder->arena, name);
        binder_report(binder, relation == NULL ? NULL : not_yet(name->place, "INFORMATION_SCHEMA"));
    }
    if (relation == NULL) {
        return table_not_found(binder, name);
    }
    *ret_relation = relation;
    return NULL;
}

static const char *relation_kind_text(RelationKind kind)
{
    switch (kind) {
    case RELATION_STREAM:
        return "a stream";
    case RELATION_TABLE:
        return "a table of latest values";
    case RELATION_TARGET:
        return "a streaming table";
    case RELATION_INLINE:
        return "a table given in place";
    }
    return "";
}

/* RW-54, DM-1 */
Error *check_batch_reader(const Binder *binder, const AstRelation *ast)
{
    return !ast->stream || binder->batch_reader == NULL
               ? NULL
               : error_set_hint(error_at(ERROR_STREAM_NOT_ALLOWED, ast->place,
                                         "%s reads its sources as tables, not as streams.",
                                         binder->batch_reader),
                                "leave out STREAM");
}

/* RU-17, KM-1: STREAM reads what grows by appending. */
static Error *check_stream_read(Binder *binder, const AstRelation *ast, const Relation *relation)
{
    if (!ast->stream) {
        return NULL;
    }
    if (relation->kind != RELATION_STREAM && relation->kind != RELATION_TARGET) {
        return error_set_hint(error_at(ERROR_NOT_STREAMING, ast->place,
                                       "`%.*s` is %s and cannot be read as a stream.",
                                       STR_ARG(relation->name), relation_kind_text(relation->kind)),
                              "a source that is read with STREAM is declared with `kind: stream`");
    }
    TRY(check_batch_reader(binder, ast));
    if (!binder->flow_query) {
        binder_report(binder, not_yet(ast->place, "STREAM in a query that belongs to no flow"));
    }
    return NULL;
}

static Error *bind_named_relation(Binder *binder, const AstRelation *ast, FromResult *result)
{
    const CommonTable *common = ast->stream ? NULL : find_common_table(binder, &ast->name);
    if (common != NULL) {
        return bind_common_table(binder, common, ast, result);
    }
    View *view = binder_find_view(binder, &ast->name);
    if (view != NULL) {
        return bind_view_read(binder, view, ast, result);
    }
    const Relation *relation = NULL;
    TRY(binder_find_relation(binder, &ast->name, &relation));
    TRY(check_stream_read(binder, ast, relation));
    TRY(binder_grow(binder, relation->schema->field_count, ast->place));
    BoundNode *node = bound_node_new(binder, BOUND_SCAN, relation->schema, ast->place);
    node->relation = relation;
    node->stream = ast->stream;
    result->node = node;
    Str parts[3];
    size_t count = ast_name_parts(&ast->name, parts, ARRAY_LENGTH(parts));
    assert(count > 0);
    ScopeQualifier qualifier = {.part_count = 3};
    catalog_qualify(binder->context->catalog, parts, count, qualifier.parts);
    if (relation->kind == RELATION_INLINE) { /* in no catalog, as a temporary view is */
        qualifier = (ScopeQualifier){.part_count = count};
        memcpy(qualifier.parts, parts, count * sizeof *parts);
    }
    result->scope = scope_of_schema(binder->arena, relation->schema, &qualifier, 0);
    return NULL;
}

/* What `*` shows of the scope, as a relation of the alias's name: hidden columns are gone. */
static Scope rename_scope(Binder *binder, const Scope *scope, const AstTableAlias *alias)
{
    ScopeQualifier *qualifier = NULL;
    if (alias->name.name.data != NULL) {
        qualifier = arena_new_object(binder->arena, ScopeQualifier);
        *qualifier = (ScopeQualifier){.parts = {alias->name.name}, .part_count = 1};
    }
    ScopeColumn *columns = arena_new_array(binder->arena, ScopeColumn, scope->column_count);
    size_t count = 0;
    for (size_t i = 0; i < scope->column_count; i++) {
        if (!scope->columns[i].hidden) {
            columns[count] = scope->columns[i];
            columns[count++].qualifier = qualifier;
        }
    }
    return (Scope){.columns = columns, .column_count = count};
}

/* t(a, b): other names for the columns. */
Error *rename_columns(Binder *binder, const AstTableAlias *alias, SourcePlace place,
                      FromResult *result)
{
    if (alias->name.name.data == NULL && alias->columns.item_count == 0) {
        return NULL;
    }
    Scope scope = rename_scope(binder, &result->scope, alias);
    size_t named = alias->columns.item_count;
    if (named > 0 && named != scope.column_count) {
        return error_at(ERROR_NUM_COLUMNS_MISMATCH, place,
                        "Number of column aliases does not match number of columns. Number of "
                        "column aliases: %zu; number of columns: %zu.",
                        named, scope.column_count);
    }
    ScopeColumn *columns = arena_new_array(binder->arena, ScopeColumn, scope.column_count);
    Field *fields = arena_new_array(binder->arena, Field, named);
    for (size_t i = 0; i < scope.column_count; i++) {
        columns[i] = scope.columns[i];
        if (named > 0) {
            fields[i] = *columns[i].field;
            fields[i].name = alias->columns.items[i].name;
            columns[i].field = &fields[i];
        }
    }
    scope.columns = columns;
    result->scope = scope;
    return NULL;
}

/* ----------------------------------------------------------------- FROM --- */

static bool bind_from_item(Binder *binder, const AstFromItem *item, FromResult *result);

/* Clauses of a relation that are refused or not built. */
static bool check_relation_clauses(Binder *binder, const AstRelation *ast)
{
    bool ok = true;
    const AstUnsupportedClause *refused[] = {&ast->sample, &ast->pivot};
    static const char *const names[] = {[AST_UNSUPPORTED_NONE] = "",
                                        [AST_UNSUPPORTED_TABLESAMPLE] = "TABLESAMPLE",
                                        [AST_UNSUPPORTED_PIVOT] = "PIVOT",
                                        [AST_UNSUPPORTED_UNPIVOT] = "UNPIVOT"};
    static const char *const hints[] = {
        [AST_UNSUPPORTED_NONE] = "",
        [AST_UNSUPPORTED_TABLESAMPLE] = "WHERE rand() < 0.1 keeps about a tenth of the rows",
        [AST_UNSUPPORTED_PIVOT] = "sum(x) FILTER (WHERE name = 'a') AS a is one column of it",
        [AST_UNSUPPORTED_UNPIVOT] = "LATERAL VIEW stack(2, 'a', a, 'b', b) makes rows of columns"};
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        if (refused[i]->kind != AST_UNSUPPORTED_NONE) {
            Error *error = error_at(ERROR_UNSUPPORTED_CLAUSE, refused[i]->place,
                                    "%s is not supported.", names[refused[i]->kind]);
            ok = binder_report(binder, error_set_hint(error, "%s", hints[refused[i]->kind]));
        }
    }
    return ok;
}

static bool bind_relation_alone(Binder *binder, const AstRelation *ast, FromResult *result)
{
    switch (ast->kind) {
    case AST_RELATION_NAME:
        return binder_report(binder, bind_named_relation(binder, ast, result));
    case AST_RELATION_FUNCTION:
        return binder_report(binder, bind_table_function(binder, ast, result));
    case AST_RELATION_VALUES:
        return binder_report(binder, bind_values(binder, ast->values, &ast->alias, &result->node));
    case AST_RELATION_QUERY:
        result->node = bind_query_node(binder, ast->query);
        return result->node != NULL;
    case AST_RELATION_GROUP:
        return bind_from_item(binder, ast->group, result);
    }
    return false;
}

bool bind_relation(Binder *binder, const AstRelation *ast, FromResult *result)
{
    bool ok = check_relation_clauses(binder, ast);
    if (!bind_relation_alone(binder, ast, result) || !ok || result->node == NULL) {
        return false;
    }
    if (result->scope.columns == NULL) {
        result->scope = scope_of_output(binder, result->node->schema, NULL);
    }
    if (ast->watermark != NULL && !bind_watermark(binder, ast->watermark, result)) {
        return false;
    }
    return binder_report(binder, rename_columns(binder, &ast->alias, ast->place, result));
}

static bool bind_joins(Binder *binder, const AstFromItem *item, FromResult *result)
{
    bool ok = true;
    for (size_t i = 0; i < item->join_count; i++) {
        ok = bind_join(binder, &item->joins[i], result) && ok;
    }
    return ok;
}

static bool bind_from_item(Binder *binder, const AstFromItem *item, FromResult *result)
{
    bool ok = bind_relation(binder, item->first, result);
    return bind_joins(binder, item, result) && ok;
}

/* Relations separated by commas. All that stands behind a comma is joined to all before it, as
 * Spark does: FROM a, b JOIN c ON a.x = c.x. */
static bool bind_list(Binder *binder, const AstSelect *select, FromResult *result)
{
    bool ok = bind_from_item(binder, &select->from[0], result);
    for (size_t i = 1; i < select->from_count; i++) {
        const AstFromItem *item = &select->from[i];
        AstJoin comma = {
            .type = AST_JOIN_CROSS, .relation = item->first, .place = item->first->place};
        ok = bind_join(binder, &comma, result) && ok;
        ok = bind_joins(binder, item, result) && ok;
    }
    return ok;
}

static bool bind_lateral_views(Binder *binder, const AstSelect *select, FromResult *result)
{
    for (size_t i = 0; i < select->lateral_view_count; i++) {
        if (!binder_report(binder, bind_lateral_view(binder, &select->lateral_views[i], result))) {
            return false; /* a later view may name the columns of this one */
        }
    }
    return true;
}

bool bind_from(Binder *binder, const AstSelect *select, FromResult *result)
{
    if (select->from_count == 0) {
        static const Schema empty = {.field_count = 0};
        result->node = bound_node_new(binder, BOUND_ONE_ROW, &empty, select->place);
    } else if (!bind_list(binder, select, result)) {
        return false;
    }
    return bind_lateral_views(binder, select, result);
}
