/* FROM: relations by name, VALUES, subqueries, joins; what their columns are called. Mistakes that
 * do not depend on each other are all reported. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

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
    Str nearest = catalog_nearest(binder->context->catalog, name->text);
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
    if (relation == NULL && count > 1 &&
        str_equal_ignore_case(parts[count - 2], STR("information_schema"))) {
        return not_yet(name->place, "INFORMATION_SCHEMA");
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
    if (!binder->flow_query) {
        return not_yet(ast->place, "STREAM in a query that belongs to no flow");
    }
    return NULL;
}

static Error *bind_named_relation(Binder *binder, const AstRelation *ast, FromResult *result)
{
    const Relation *relation = NULL;
    TRY(binder_find_relation(binder, &ast->name, &relation));
    TRY(check_stream_read(binder, ast, relation));
    BoundNode *node = bound_node_new(binder, BOUND_SCAN, relation->schema, ast->place);
    node->relation = relation;
    node->stream = ast->stream;
    result->node = node;
    Str parts[3];
    size_t count = ast_name_parts(&ast->name, parts, ARRAY_LENGTH(parts));
    assert(count > 0);
    ScopeQualifier qualifier = {.part_count = 3};
    catalog_qualify(binder->context->catalog, parts, count, qualifier.parts);
    result->scope = scope_of_schema(binder->arena, relation->schema, &qualifier, 0);
    return NULL;
}

static COLD RETURNS_NONNULL Error *table_function(Binder *binder, const AstRelation *ast)
{
    Str name = ast->name.parts[ast->name.part_count - 1].name;
    const Function *function =
        ast->name.part_count == 1 ? binder->context->functions->find(name) : NULL;
    if (function == NULL) {
        Error *error = error_at(ERROR_UNRESOLVED_ROUTINE, ast->place,
                                "Could not resolve `%.*s` to a table-valued function.",
                                STR_ARG(ast->name.text));
        const char *nearest = binder->context->functions->nearest(name);
        return nearest == NULL ? error : error_set_hint(error, "did you mean `%s`?", nearest);
    }
    return not_yet(ast->place, "The table function %s", function->name);
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

/* --------------------------------------------------------------- VALUES --- */

static size_t row_width(const AstExpr *row)
{
    return row->kind == AST_EXPR_ROW ? row->row.item_count : 1;
}

static Error *bind_values_cells(Binder *binder, const AstValues *values, size_t width,
                                BoundExpr **cells)
{
    Scope nothing = {0};
    for (size_t r = 0; r < values->row_count; r++) {
        const AstExpr *row = values->rows[r];
        if (row_width(row) != width) {
            return error_at(ERROR_INVALID_INLINE_TABLE, row->place,
                            "Invalid inline table. Inline table expected %zu columns but found %zu "
                            "columns in row %zu.",
                            width, row_width(row), r);
        }
        for (size_t c = 0; c < width; c++) {
            const AstExpr *cell = row->kind == AST_EXPR_ROW ? row->row.items[c] : row;
            TRY(bind_expr(binder, &nothing, cell, &cells[r * width + c]));
        }
    }
    return NULL;
}

Error *bind_values(Binder *binder, const AstValues *values, BoundNode **ret_node)
{
    assert(values->row_count > 0);
    size_t width = row_width(values->rows[0]);
    size_t count = width * values->row_count;
    BoundExpr **cells = arena_new_array(binder->arena, BoundExpr *, count);
    TRY(bind_values_cells(binder, values, width, cells));
    Field *fields = arena_new_array(binder->arena, Field, width);
    BoundExpr ***column = arena_new_array(binder->arena, BoundExpr **, values->row_count);
    for (size_t c = 0; c < width; c++) {
        Str name = str_from(arena_printf(binder->arena, "col%zu", c + 1));
        BoundExpr pattern = {.place = values->place, .text = name};
        for (size_t r = 0; r < values->row_count; r++) {
            column[r] = &cells[r * width + c];
        }
        const Type *type = NULL;
        TRY(bind_common_type(binder, column, values->row_count, "values", &pattern, &type));
        fields[c] = (Field){name, type, false, STR_NULL};
    }
    BoundNode *node = bound_node_new(binder, BOUND_VALUES, schema_new(binder->arena, fields, width),
                                     values->place);
    node->expressions = cells;
    node->expression_count = count;
    node->row_count = values->row_count;
    *ret_node = node;
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
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        if (refused[i]->kind != AST_UNSUPPORTED_NONE) {
            ok = binder_report(binder, error_at(ERROR_UNSUPPORTED_CLAUSE, refused[i]->place,
                                                "%s is not supported.", names[refused[i]->kind]));
        }
    }
    if (ast->watermark != NULL) {
        ok = binder_report(binder, not_yet(ast->watermark->place, "WATERMARK"));
    }
    return ok;
}

static bool bind_relation(Binder *binder, const AstRelation *ast, FromResult *result)
{
    if (ast->lateral) { /* its names may be those of the relations before it */
        return binder_report(binder, not_yet(ast->place, "LATERAL"));
    }
    bool ok = check_relation_clauses(binder, ast);
    Error *error = NULL;
    switch (ast->kind) {
    case AST_RELATION_NAME:
        error = bind_named_relation(binder, ast, result);
        break;
    case AST_RELATION_FUNCTION:
        error = table_function(binder, ast);
        break;
    case AST_RELATION_VALUES:
        error = bind_values(binder, ast->values, &result->node);
        break;
    case AST_RELATION_QUERY:
        result->node = bind_query_node(binder, ast->query);
        ok = ok && result->node != NULL;
        break;
    case AST_RELATION_GROUP:
        ok = bind_from_item(binder, ast->group, result) && ok;
        break;
    }
    if (!binder_report(binder, error) || !ok) {
        return false;
    }
    if (result->scope.columns == NULL) {
        result->scope = scope_of_schema(binder->arena, result->node->schema, NULL, 0);
    }
    return binder_report(binder, rename_columns(binder, &ast->alias, ast->place, result));
}

static const char *join_name(const AstJoin *join)
{
    static const char *const names[] = {
        [AST_JOIN_INNER] = "JOIN",         [AST_JOIN_CROSS] = "CROSS JOIN",
        [AST_JOIN_LEFT] = "LEFT JOIN",     [AST_JOIN_RIGHT] = "RIGHT JOIN",
        [AST_JOIN_FULL] = "FULL JOIN",     [AST_JOIN_SEMI] = "LEFT SEMI JOIN",
        [AST_JOIN_ANTI] = "LEFT ANTI JOIN"};
    return names[join->type];
}

static bool bind_from_item(Binder *binder, const AstFromItem *item, FromResult *result)
{
    bool ok = bind_relation(binder, item->first, result);
    for (size_t i = 0; i < item->join_count; i++) {
        FromResult other = {0};
        ok = bind_relation(binder, item->joins[i].relation, &other) && ok;
    }
    if (item->join_count > 0) {
        ok = binder_report(binder, not_yet(item->joins[0].place, "%s", join_name(&item->joins[0])));
    }
    return ok;
}

bool bind_from(Binder *binder, const AstSelect *select, FromResult *result)
{
    if (select->from_count == 0) {
        static const Schema empty = {NULL, 0};
        result->node = bound_node_new(binder, BOUND_ONE_ROW, &empty, select->place);
        return true;
    }
    bool ok = bind_from_item(binder, &select->from[0], result);
    for (size_t i = 1; i < select->from_count; i++) {
        FromResult other = {0};
        ok = bind_from_item(binder, &select->from[i], &other) && ok;
    }
    if (select->from_count > 1) {
        ok = binder_report(binder, not_yet(select->from[1].place, "FROM with several relations"));
    }
    return ok;
}
