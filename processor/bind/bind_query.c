/* Queries: FROM one relation, WHERE, the SELECT list; VALUES; subqueries in FROM. What else a query
 * may have (joins, grouping, sorting, …) is NOT_YET, named and placed. Mistakes that do not depend
 * on each other are all reported: each item of a SELECT list, and the condition. */
#include <assert.h>

#include "processor/bind/binder.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

/* What FROM gives: the rows, and how their columns may be named. node == NULL: a mistake. */
typedef struct FromResult {
    BoundNode *node;
    ScopeRelation relation;
} FromResult;

static BoundNode *new_node(Binder *binder, BoundNodeKind kind, const Schema *schema,
                           SourcePlace place)
{
    BoundNode *node = arena_new_object(binder->arena, BoundNode);
    node->kind = kind;
    node->schema = schema;
    node->place = place;
    return node;
}

BoundNode *bound_project(Arena *arena, BoundNode *child, BoundExpr **expressions,
                         const Schema *schema, SourcePlace place)
{
    BoundNode *node = arena_new_object(arena, BoundNode);
    *node = (BoundNode){.kind = BOUND_PROJECT,
                        .schema = schema,
                        .child = child,
                        .expressions = expressions,
                        .expression_count = schema->field_count,
                        .place = place};
    return node;
}

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
    BoundNode *node = new_node(binder, BOUND_SCAN, relation->schema, ast->place);
    node->relation = relation;
    node->stream = ast->stream;
    result->node = node;
    result->relation.schema = relation->schema;
    Str parts[3];
    size_t count = ast_name_parts(&ast->name, parts, ARRAY_LENGTH(parts));
    assert(count > 0);
    catalog_qualify(binder->context->catalog, parts, count, result->relation.qualifier);
    result->relation.qualifier_count = 3;
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

/* t(a, b): other names for the columns. */
static Error *rename_columns(Binder *binder, const AstTableAlias *alias, SourcePlace place,
                             FromResult *result)
{
    if (alias->name.name.data != NULL) {
        result->relation.qualifier[0] = alias->name.name;
        result->relation.qualifier_count = 1;
    }
    if (alias->columns.item_count == 0) {
        return NULL;
    }
    const Schema *schema = result->relation.schema;
    if (alias->columns.item_count != schema->field_count) {
        return error_at(ERROR_NUM_COLUMNS_MISMATCH, place,
                        "Number of column aliases does not match number of columns. Number of "
                        "column aliases: %zu; number of columns: %zu.",
                        alias->columns.item_count, schema->field_count);
    }
    Field *fields = arena_new_array(binder->arena, Field, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        fields[i] = schema->fields[i];
        fields[i].name = alias->columns.items[i].name;
    }
    result->relation.schema = schema_new(binder->arena, fields, schema->field_count);
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

static Error *bind_values(Binder *binder, const AstValues *values, BoundNode **ret_node)
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
    BoundNode *node =
        new_node(binder, BOUND_VALUES, schema_new(binder->arena, fields, width), values->place);
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
    if (result->relation.schema == NULL) {
        result->relation.schema = result->node->schema;
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

static bool bind_from(Binder *binder, const AstSelect *select, FromResult *result)
{
    if (select->from_count == 0) {
        static const Schema empty = {NULL, 0};
        result->node = new_node(binder, BOUND_ONE_ROW, &empty, select->place);
        result->relation.schema = &empty;
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

/* ---------------------------------------------------------- SELECT list --- */

typedef struct SelectList {
    BoundExpr **expressions;
    Field *fields;
    size_t count;
    size_t capacity;
} SelectList;

static void select_list_add(Binder *binder, SelectList *list, BoundExpr *expr, Field field)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        BoundExpr **expressions = arena_new_array(binder->arena, BoundExpr *, capacity);
        Field *fields = arena_new_array(binder->arena, Field, capacity);
        for (size_t i = 0; i < list->count; i++) {
            expressions[i] = list->expressions[i];
            fields[i] = list->fields[i];
        }
        list->expressions = expressions;
        list->fields = fields;
        list->capacity = capacity;
    }
    list->expressions[list->count] = expr;
    list->fields[list->count++] = field;
}

/* Is the column one that EXCEPT names? Marks the name as used. */
static bool is_excepted(const AstSelectItem *item, const ScopeRelation *relation, Str column,
                        bool *used)
{
    bool excepted = false;
    for (size_t i = 0; i < item->except_count; i++) {
        AstName qualifier = item->except[i];
        Str last = qualifier.parts[qualifier.part_count - 1].name;
        qualifier.part_count--;
        if (str_equal_ignore_case(last, column) && scope_relation_matches(relation, &qualifier)) {
            used[i] = true;
            excepted = true;
        }
    }
    return excepted;
}

static void expand_relation(Binder *binder, const AstSelectItem *item,
                            const ScopeRelation *relation, bool *used, SelectList *list)
{
    for (size_t f = 0; f < relation->schema->field_count; f++) {
        const Field *field = &relation->schema->fields[f];
        if (!is_excepted(item, relation, field->name, used)) {
            BoundExpr *column =
                bound_column(binder->arena, field, relation->first + (uint32_t)f, item->place);
            select_list_add(binder, list, column, *field);
        }
    }
}

/* s.* where s is a column: the fields of the struct. */
static Error *expand_struct(Binder *binder, const Scope *scope, const AstSelectItem *item,
                            bool *used, SelectList *list)
{
    AstExpr column = {.kind = AST_EXPR_COLUMN, .place = item->qualifier.place};
    column.text = item->qualifier.text;
    column.column.name = item->qualifier;
    BoundExpr *base = NULL;
    TRY(bind_expr(binder, scope, &column, &base));
    if (base->type->kind != TYPE_STRUCT) {
        return error_at(ERROR_INVALID_EXTRACT_BASE_FIELD_TYPE, item->place,
                        "Can only star expand struct data types. Attribute: `%.*s`.",
                        STR_ARG(item->qualifier.text));
    }
    const ScopeRelation nameless = {0};
    for (size_t i = 0; i < base->type->field_count; i++) {
        const Field *field = &base->type->fields[i];
        if (is_excepted(item, &nameless, field->name, used)) {
            continue;
        }
        BoundExpr pattern = {.kind = BOUND_FIELD,
                             .type = field->type,
                             .place = item->place,
                             .text = field->name,
                             .field = (uint32_t)i};
        BoundExpr *part = NULL;
        TRY(bound_new(binder, &pattern, &base, 1, &part));
        select_list_add(binder, list, part, (Field){field->name, field->type, false, STR_NULL});
    }
    return NULL;
}

static Error *bind_star(Binder *binder, const Scope *scope, const AstSelectItem *item,
                        SelectList *list)
{
    bool *used = arena_new_array(binder->arena, bool, item->except_count);
    size_t matched = 0;
    if (scope->select->from_count == 0) {
        return error_at(ERROR_UNRESOLVED_COLUMN_WITHOUT_SUGGESTION, item->place,
                        "`*` stands for the columns of FROM, and the query has none.");
    }
    for (size_t r = 0; r < scope->relation_count; r++) {
        if (scope_relation_matches(&scope->relations[r], &item->qualifier)) {
            expand_relation(binder, item, &scope->relations[r], used, list);
            matched++;
        }
    }
    if (matched == 0) {
        assert(item->qualifier.part_count > 0);
        TRY(expand_struct(binder, scope, item, used, list));
    }
    for (size_t i = 0; i < item->except_count; i++) {
        if (!used[i]) {
            return scope_unresolved(scope, &item->except[i]); /* SQ-9 */
        }
    }
    return NULL;
}

static Error *bind_item(Binder *binder, const Scope *scope, const AstSelectItem *item,
                        SelectList *list)
{
    if (item->star) {
        return bind_star(binder, scope, item, list);
    }
    BoundExpr *expr = NULL;
    TRY(bind_expr(binder, scope, item->expr, &expr));
    if (item->alias_count > 1) {
        return error_at(ERROR_NUM_COLUMNS_MISMATCH, item->aliases[0].place,
                        "The expression gives one column and has %zu aliases.", item->alias_count);
    }
    Field field = {.type = expr->type, .comment = STR_NULL};
    field.name = item->alias_count == 1 ? item->aliases[0].name
                                        : bind_output_name(binder, scope, item->expr, expr);
    if (expr->kind == BOUND_COLUMN) {
        const Schema *schema = scope->relations[0].schema;
        field.not_null = schema->fields[expr->column - scope->relations[0].first].not_null;
    }
    select_list_add(binder, list, expr, field);
    return NULL;
}

static bool bind_items(Binder *binder, const AstSelect *select, Scope *scope, SelectList *list)
{
    bool ok = true;
    scope->select = select;
    for (size_t i = 0; i < select->item_count; i++) {
        scope->select_items_before = i;
        ok = binder_report(binder, bind_item(binder, scope, &select->items[i], list)) && ok;
    }
    scope->select_items_before = 0;
    return ok;
}

/* --------------------------------------------------------------- SELECT --- */

/* Aggregates, analytic functions and generators have no place in WHERE. */
static Error *check_where(Binder *binder, const AstExpr *where)
{
    ExprTraits traits;
    expr_traits(binder->context->functions, where, &traits);
    if (traits.analytic != NULL) {
        return error_at(ERROR_WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE, traits.analytic->place,
                        "Window functions are not allowed in the WHERE clause.");
    }
    const AstExpr *wrong = traits.aggregate != NULL ? traits.aggregate : traits.generator;
    if (wrong == NULL) {
        return NULL;
    }
    Str condition = bound_text(binder, where);
    Str inner = bound_text(binder, wrong);
    return error_at(ERROR_INVALID_WHERE_CONDITION, wrong->place,
                    "The WHERE condition \"%.*s\" contains invalid expressions: %.*s. Rewrite the "
                    "query to avoid window functions, aggregate functions, and generator functions "
                    "in the WHERE clause.",
                    STR_ARG(condition), STR_ARG(inner));
}

static Error *bind_where(Binder *binder, const Scope *scope, const AstExpr *where, BoundNode **node)
{
    TRY(check_where(binder, where));
    BoundExpr **condition = arena_new_array(binder->arena, BoundExpr *, 1);
    TRY(bind_condition(binder, scope, where, &condition[0]));
    BoundNode *filter = new_node(binder, BOUND_FILTER, (*node)->schema, where->place);
    filter->child = *node;
    filter->expressions = condition;
    filter->expression_count = 1;
    *node = filter;
    return NULL;
}

/* The clauses of a SELECT that are not built. */
static bool check_select_clauses(Binder *binder, const AstSelect *select)
{
    bool ok = true;
    if (select->distinct) {
        ok = binder_report(binder, not_yet(select->place, "SELECT DISTINCT"));
    }
    if (select->lateral_view_count > 0) {
        ok = binder_report(binder, not_yet(select->lateral_views[0].place, "LATERAL VIEW"));
    }
    if (select->group_by != NULL) {
        ok = binder_report(binder, not_yet(select->group_by->place, "GROUP BY"));
    }
    if (select->having != NULL) {
        ok = binder_report(binder, not_yet(select->having->place, "HAVING"));
    }
    if (select->qualify != NULL) {
        ok = binder_report(binder, not_yet(select->qualify->place, "QUALIFY"));
    }
    if (select->window_count > 0) {
        ok = binder_report(binder, not_yet(select->windows[0].name.place, "WINDOW"));
    }
    return ok;
}

static BoundNode *bind_select(Binder *binder, const AstSelect *select)
{
    FromResult from = {0};
    bool ok = check_select_clauses(binder, select);
    bool multiple = select->from_count > 1 || select->lateral_view_count > 0 ||
                    (select->from_count == 1 && select->from[0].join_count > 0);
    if (!bind_from(binder, select, &from) || multiple) {
        return NULL; /* names cannot be told right from wrong */
    }
    Scope scope = {.relations = &from.relation, .relation_count = 1};
    BoundNode *node = from.node;
    if (select->where != NULL) {
        ok = binder_report(binder, bind_where(binder, &scope, select->where, &node)) && ok;
    }
    SelectList list = {0};
    ok = bind_items(binder, select, &scope, &list) && ok;
    if (!ok) {
        return NULL;
    }
    const Schema *schema = schema_new(binder->arena, list.fields, list.count);
    return bound_project(binder->arena, node, list.expressions, schema, select->place);
}

/* ---------------------------------------------------------------- query --- */

static const char *set_operator_name(const AstSetStep *step)
{
    switch (step->operator_) {
    case AST_SET_UNION:
        return step->all ? "UNION ALL" : "UNION";
    case AST_SET_EXCEPT:
        return "EXCEPT";
    case AST_SET_INTERSECT:
        return "INTERSECT";
    }
    return "";
}

static BoundNode *bind_values_term(Binder *binder, const AstQueryTerm *term)
{
    FromResult result = {0};
    if (!binder_report(binder, bind_values(binder, term->values, &result.node))) {
        return NULL;
    }
    result.relation.schema = result.node->schema;
    if (!binder_report(binder, rename_columns(binder, &term->values_alias, term->place, &result))) {
        return NULL;
    }
    result.node->schema = result.relation.schema;
    return result.node;
}

static BoundNode *bind_term(Binder *binder, const AstQueryTerm *term)
{
    switch (term->kind) {
    case AST_TERM_SELECT:
        return bind_select(binder, term->select);
    case AST_TERM_VALUES:
        return bind_values_term(binder, term);
    case AST_TERM_QUERY:
        return bind_query_node(binder, term->query);
    case AST_TERM_SET:
        binder_report(binder, not_yet(term->steps[0].operator_place, "%s",
                                      set_operator_name(&term->steps[0])));
        (void)bind_term(binder, term->first);
        for (size_t i = 0; i < term->step_count; i++) {
            (void)bind_term(binder, term->steps[i].right);
        }
        return NULL;
    }
    return NULL;
}

static bool check_query_clauses(Binder *binder, const AstQuery *query)
{
    bool ok = true;
    if (query->recursive) {
        ok = binder_report(binder, error_at(ERROR_UNSUPPORTED_CLAUSE, query->recursive_place,
                                            "WITH RECURSIVE is not supported."));
    } else if (query->common_table_count > 0) {
        ok = binder_report(binder, not_yet(query->common_tables[0].name.place, "WITH"));
    }
    if (query->sort_kind != AST_SORT_NONE) {
        ok = binder_report(binder,
                           not_yet(query->sort_place, "%s",
                                   query->sort_kind == AST_SORT_SORT_BY ? "SORT BY" : "ORDER BY"));
    }
    if (query->window_count > 0) {
        ok = binder_report(binder, not_yet(query->windows[0].name.place, "WINDOW"));
    }
    if (query->limit != NULL) {
        ok = binder_report(binder, not_yet(query->limit_place, "LIMIT"));
    }
    if (query->offset != NULL) {
        ok = binder_report(binder, not_yet(query->offset_place, "OFFSET"));
    }
    return ok;
}

BoundNode *bind_query_node(Binder *binder, const AstQuery *query)
{
    bool ok = check_query_clauses(binder, query);
    if (query->common_table_count > 0) {
        return NULL; /* names of WITH are no relations yet */
    }
    BoundNode *node = bind_term(binder, query->body);
    return ok ? node : NULL;
}

/* The first mistake in reading order, one that is not NOT_YET before others. */
static Error *take_first(Diagnostics *diagnostics)
{
    diagnostics_sort(diagnostics);
    size_t first = 0;
    while (first + 1 < diagnostics->count &&
           error_class(diagnostics->errors[first]) == ERROR_NOT_YET) {
        first++;
    }
    if (error_class(diagnostics->errors[first]) == ERROR_NOT_YET) {
        first = 0;
    }
    Error *error = error_copy(diagnostics->errors[first]);
    return error;
}

Error *bind_query(const BindContext *context, const AstQuery *query, BoundNode **ret_query)
{
    Diagnostics diagnostics = {0};
    Binder binder = {.context = context, .arena = context->arena, .diagnostics = &diagnostics};
    BoundNode *node = bind_query_node(&binder, query);
    Error *error = diagnostics.count > 0 ? take_first(&diagnostics) : NULL;
    diagnostics_done(&diagnostics);
    assert(error != NULL || node != NULL);
    if (error == NULL) {
        *ret_query = node;
    }
    return error;
}
