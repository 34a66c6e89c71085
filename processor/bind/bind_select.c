/* SELECT: its list with stars and aliases, WHERE. Every item's mistake is reported, and the
 * condition's. */
#include <assert.h>

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/coerce.h"

#include "processor/base/banned.h"

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
static bool is_excepted(const AstSelectItem *item, const ScopeColumn *column, bool *used)
{
    bool excepted = false;
    for (size_t i = 0; i < item->except_count; i++) {
        AstName qualifier = item->except[i];
        Str last = qualifier.parts[qualifier.part_count - 1].name;
        qualifier.part_count--;
        if (str_equal_ignore_case(last, column->field->name) &&
            scope_star_matches(column, &qualifier)) {
            used[i] = true;
            excepted = true;
        }
    }
    return excepted;
}

/* The columns of the scope that the star means. Their number. */
static size_t expand_columns(Binder *binder, const Scope *scope, const AstSelectItem *item,
                             bool *used, SelectList *list)
{
    size_t matched = 0;
    for (size_t i = 0; i < scope->column_count; i++) {
        const ScopeColumn *column = &scope->columns[i];
        if (!scope_star_matches(column, &item->qualifier)) {
            continue;
        }
        matched++;
        if (!is_excepted(item, column, used)) {
            BoundExpr *value =
                bound_column(binder->arena, column->field, column->column, item->place);
            select_list_add(binder, list, value, *column->field);
        }
    }
    return matched;
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
    for (size_t i = 0; i < base->type->field_count; i++) {
        const Field *field = &base->type->fields[i];
        if (is_excepted(item, &(ScopeColumn){.field = field}, used)) {
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
    if (scope->select->from_count == 0) {
        return error_at(ERROR_UNRESOLVED_COLUMN_WITHOUT_SUGGESTION, item->place,
                        "`*` stands for the columns of FROM, and the query has none.");
    }
    if (expand_columns(binder, scope, item, used, list) == 0 && item->qualifier.part_count > 0) {
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
        field.not_null = scope_column_at(scope, expr->column)->field->not_null;
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
    BoundNode *filter = bound_node_new(binder, BOUND_FILTER, (*node)->schema, where->place);
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

BoundNode *bind_select(Binder *binder, const AstSelect *select)
{
    FromResult from = {0};
    bool ok = check_select_clauses(binder, select);
    bool multiple = select->from_count > 1 || select->lateral_view_count > 0 ||
                    (select->from_count == 1 && select->from[0].join_count > 0);
    if (!bind_from(binder, select, &from) || multiple) {
        return NULL; /* names cannot be told right from wrong */
    }
    Scope scope = from.scope;
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
