/* Walks over the queries of subqueries: which columns of the query around them they name, and those
 * put over other columns. A query of a deeper subquery is not entered, nor the right side of a
 * lateral join: their outer columns belong to what is directly around them. */
#include "processor/bind/bind_query_internal.h"

#include "processor/base/banned.h"

/* ---------------------------------------------------------------- visit --- */

typedef struct Visitor {
    void (*visit)(void *context, const BoundExpr *column);
    void *context;
} Visitor;

static void visit_expr(const Visitor *visitor, const BoundExpr *expr)
{
    if (expr == NULL) {
        return;
    }
    if (expr->kind == BOUND_OUTER_COLUMN) {
        visitor->visit(visitor->context, expr);
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        visit_expr(visitor, expr->children[i]);
    }
}

static void visit_call(const Visitor *visitor, const BoundAggregate *call)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        visit_expr(visitor, call->arguments[i]);
    }
    visit_expr(visitor, call->filter);
    for (size_t i = 0; i < call->sort_key_count; i++) {
        visit_expr(visitor, call->sort_keys[i].expr);
    }
}

/* The expressions of the node alone. */
static void visit_own(const Visitor *visitor, const BoundNode *node)
{
    for (size_t i = 0; i < node->expression_count; i++) {
        visit_expr(visitor, node->expressions[i]);
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        visit_call(visitor, &node->aggregates[i]);
    }
    for (size_t i = 0; i < node->window_count; i++) {
        visit_call(visitor, &node->windows[i].call);
    }
    for (size_t i = 0; i < node->sort_key_count; i++) {
        visit_expr(visitor, node->sort_keys[i].expr);
    }
}

/* Bounded recursion: query_size was asked when the subquery was bound. */
static void visit_node(const Visitor *visitor, const BoundNode *node)
{
    visit_own(visitor, node);
    if (node->child != NULL) {
        visit_node(visitor, node->child);
    }
    if (node->right != NULL && !node->lateral) {
        visit_node(visitor, node->right);
    }
}

void bound_visit_outer_columns(const BoundExpr *subquery,
                               void (*visit)(void *context, const BoundExpr *column), void *context)
{
    if (subquery->subquery->correlated) {
        Visitor visitor = {visit, context};
        visit_node(&visitor, subquery->subquery->query);
    }
}

/* ---------------------------------------------------------------- rules --- */

static bool has_column(const BoundExpr *expr)
{
    if (expr == NULL || expr->kind == BOUND_COLUMN) {
        return expr != NULL;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (has_column(expr->children[i])) {
            return true;
        }
    }
    return false;
}

static void note_column(void *context, const BoundExpr *column)
{
    const BoundExpr **found = context;
    *found = *found == NULL ? column : *found;
}

/* An aggregate over columns of both queries. */
static Error *check_mixed_call(const BoundAggregate *call)
{
    const BoundExpr *outer = NULL;
    Visitor visitor = {note_column, &outer};
    visit_call(&visitor, call);
    bool local = has_column(call->filter);
    for (size_t i = 0; i < call->argument_count; i++) {
        local = local || has_column(call->arguments[i]);
    }
    if (outer == NULL || !local) {
        return NULL;
    }
    return error_at(ERROR_CORRELATED_AGGREGATE, call->place,
                    "Unsupported subquery expression: Found an aggregate function in a correlated "
                    "predicate that has both outer and local references, which is not supported: "
                    "%.*s.",
                    STR_ARG(call->text));
}

/* Rows are grouped, sorted and numbered within the subquery: what comes from outside has no place
 * there. */
Error *check_correlation(const BoundNode *node)
{
    bool refused = node->kind == BOUND_AGGREGATE || node->kind == BOUND_EXPAND ||
                   node->kind == BOUND_WINDOW || node->kind == BOUND_SORT;
    for (size_t i = 0; i < node->aggregate_count; i++) {
        TRY(check_mixed_call(&node->aggregates[i]));
    }
    if (refused) {
        const BoundExpr *column = NULL;
        Visitor visitor = {note_column, &column};
        visit_own(&visitor, node);
        if (column != NULL) {
            return error_at(ERROR_CORRELATED_REFERENCE, column->place,
                            "Unsupported subquery expression: Expressions referencing the outer "
                            "query are not supported outside of WHERE/HAVING clauses: \"%.*s\".",
                            STR_ARG(column->text));
        }
    }
    if (node->child != NULL) {
        TRY(check_correlation(node->child));
    }
    return node->right == NULL || node->lateral ? NULL : check_correlation(node->right);
}

/* ------------------------------------------------------------------ map --- */

typedef struct Mapping {
    Binder *binder;
    OuterColumnMap *map;
    void *context;
} Mapping;

static Error *map_expr(const Mapping *mapping, BoundExpr *expr, BoundExpr **ret)
{
    *ret = expr;
    if (expr == NULL || (expr->child_count == 0 && expr->kind != BOUND_OUTER_COLUMN)) {
        return NULL;
    }
    Arena *arena = mapping->binder->arena;
    BoundExpr *copy = arena_new_object(arena, BoundExpr);
    *copy = *expr;
    copy->children = arena_new_array(arena, BoundExpr *, expr->child_count);
    for (size_t i = 0; i < expr->child_count; i++) {
        TRY(map_expr(mapping, expr->children[i], &copy->children[i]));
    }
    if (expr->kind == BOUND_OUTER_COLUMN) {
        TRY(mapping->map(mapping->context, expr, &copy->column));
    }
    bound_set_digest(copy);
    *ret = copy;
    return NULL;
}

static Error *map_exprs(const Mapping *mapping, BoundExpr *const *exprs, size_t count,
                        BoundExpr ***ret)
{
    *ret = arena_new_array(mapping->binder->arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        TRY(map_expr(mapping, exprs[i], &(*ret)[i]));
    }
    return NULL;
}

/* Copies the node and what lies below. AGGREGATE, WINDOW and SORT name no outer columns
 * (check_correlation). */
static Error *map_node(const Mapping *mapping, const BoundNode *node, BoundNode **ret)
{
    BoundNode *copy = arena_new_object(mapping->binder->arena, BoundNode);
    *copy = *node;
    TRY(map_exprs(mapping, node->expressions, node->expression_count, &copy->expressions));
    if (node->child != NULL) {
        TRY(map_node(mapping, node->child, &copy->child));
    }
    if (node->right != NULL && !node->lateral) {
        TRY(map_node(mapping, node->right, &copy->right));
    }
    *ret = copy;
    return NULL;
}

Error *bound_map_outer_columns(Binder *binder, const BoundExpr *subquery, OuterColumnMap *map,
                               void *context, BoundExpr **ret)
{
    BoundExpr *copy = arena_new_object(binder->arena, BoundExpr);
    *copy = *subquery;
    if (subquery->subquery->correlated) {
        Mapping mapping = {binder, map, context};
        BoundSubquery *inner = arena_new_object(binder->arena, BoundSubquery);
        *inner = *subquery->subquery;
        TRY(map_node(&mapping, subquery->subquery->query, &inner->query));
        copy->subquery = inner;
    }
    *ret = copy;
    return NULL;
}
