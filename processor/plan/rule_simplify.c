/* Conditions that are known, and what follows from no rows:
 *
 *     Project [a]                    Values 0 rows
 *       Filter FALSE         ->
 *         Scan t
 *
 * A stream is read in any case: its records are checked, and its positions go on. */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------------ conditions that are known --- */

typedef enum Known { KNOWN_TRUE, KNOWN_NOT_TRUE, KNOWN_NOTHING } Known;

/* `1 = 0` and the like: two literals that have a value. */
static Known compare_literals(const BoundExpr *expr)
{
    Str name = str_from(expr->function->name);
    bool equal_wanted = str_equal(name, STR("="));
    if (expr->child_count != 2 || (!equal_wanted && !str_equal(name, STR("<>")))) {
        return KNOWN_NOTHING;
    }
    const BoundExpr *a = expr->children[0];
    const BoundExpr *b = expr->children[1];
    if (a->kind != BOUND_LITERAL || b->kind != BOUND_LITERAL || !type_equal(a->type, b->type) ||
        a->type->kind == TYPE_NULL) {
        return KNOWN_NOTHING;
    }
    if (!vector_is_valid(a->literal, 0) || !vector_is_valid(b->literal, 0)) {
        return KNOWN_NOT_TRUE;
    }
    bool equal = vector_value_equal(a->literal, 0, b->literal, 0);
    return equal == equal_wanted ? KNOWN_TRUE : KNOWN_NOT_TRUE;
}

static Known known_value(const BoundExpr *expr)
{
    if (expr->kind == BOUND_CALL) {
        return compare_literals(expr);
    }
    if (expr->kind == BOUND_CAST && expr->children[0]->type->kind == TYPE_NULL) {
        return KNOWN_NOT_TRUE;
    }
    if (expr->kind != BOUND_LITERAL) {
        return KNOWN_NOTHING;
    }
    bool is_true = expr->type->kind == TYPE_BOOLEAN && vector_is_valid(expr->literal, 0) &&
                   VECTOR_VALUE(expr->literal, uint8_t, 0) != 0;
    return is_true ? KNOWN_TRUE : KNOWN_NOT_TRUE;
}

/* The condition without what is TRUE anyway; NULL when nothing is left. */
static Known simplify_condition(Arena *arena, BoundExpr *condition, BoundExpr **ret_rest)
{
    ExprList conjuncts = {0};
    ExprList rest = {0};
    expr_list_add_conjuncts(arena, &conjuncts, condition);
    bool can_fail = false; /* what comes before */
    for (size_t i = 0; i < conjuncts.count; i++) {
        Known known = known_value(conjuncts.items[i]);
        if (known == KNOWN_NOT_TRUE && !can_fail) {
            return KNOWN_NOT_TRUE;
        }
        if (known != KNOWN_TRUE) {
            expr_list_add(arena, &rest, conjuncts.items[i]);
            can_fail = can_fail || expr_can_fail(conjuncts.items[i]);
        }
    }
    bool same = rest.count == conjuncts.count;
    *ret_rest = same ? condition : expr_list_and(arena, &rest);
    return *ret_rest == NULL ? KNOWN_TRUE : KNOWN_NOTHING;
}

/* ---------------------------------------------------------------- no rows --- */

typedef struct Simplify {
    Arena *arena;
    const LogicalPlan *plan;
} Simplify;

static bool reads_stream(const Simplify *context, const LogicalNode *node)
{
    return node != NULL &&
           ((node->kind == LOGICAL_SCAN && context->plan->sources[node->source].stream) ||
            reads_stream(context, node->child) || reads_stream(context, node->right));
}

static bool is_empty(const LogicalNode *node)
{
    return node->kind == LOGICAL_VALUES && node->row_count == 0;
}

static LogicalNode *empty_for(const Simplify *context, LogicalNode *node)
{
    return reads_stream(context, node) ? node : node_empty(context->arena, node->schema);
}

static LogicalNode *simplify_filter(const Simplify *context, LogicalNode *node)
{
    BoundExpr *rest = NULL;
    switch (simplify_condition(context->arena, node->expressions[0], &rest)) {
    case KNOWN_TRUE:
        return node->child;
    case KNOWN_NOT_TRUE:
        return empty_for(context, node);
    case KNOWN_NOTHING:
        break;
    }
    return rest == node->expressions[0] ? node : node_filter(context->arena, node->child, rest);
}

/* The other side, under the names of the union. */
static LogicalNode *one_side(const Simplify *context, const LogicalNode *set, LogicalNode *side)
{
    LogicalNode *named = node_project_columns(context->arena, side, 0, side->schema->field_count);
    named->schema = set->schema;
    return named;
}

static LogicalNode *simplify_set(const Simplify *context, LogicalNode *node)
{
    if (node->set_operation != SET_UNION) {
        return node;
    }
    if (is_empty(node->right)) {
        return one_side(context, node, node->child);
    }
    return is_empty(node->child) ? one_side(context, node, node->right) : node;
}

/* An inner join without rows on one side, or for which its condition lets nothing through; others
 * whose left side has none. */
static LogicalNode *simplify_join(const Simplify *context, LogicalNode *node)
{
    BoundExpr *rest = NULL;
    Known known = node->condition == NULL
                      ? KNOWN_NOTHING
                      : simplify_condition(context->arena, node->condition, &rest);
    if (known == KNOWN_NOT_TRUE && (node->join == JOIN_INNER || node->join == JOIN_SEMI)) {
        return empty_for(context, node);
    }
    if (known != KNOWN_NOT_TRUE && rest != node->condition) {
        LogicalNode *copy = node_copy(context->arena, node);
        copy->condition = rest;
        node = copy;
    }
    bool keeps_left = node->join != JOIN_RIGHT && node->join != JOIN_FULL;
    bool needs_right = node->join == JOIN_INNER || node->join == JOIN_SEMI;
    bool empty = (keeps_left && is_empty(node->child)) || (needs_right && is_empty(node->right));
    return empty ? empty_for(context, node) : node;
}

static LogicalNode *simplify_one(const Simplify *context, LogicalNode *node)
{
    switch (node->kind) {
    case LOGICAL_FILTER:
        node = simplify_filter(context, node);
        break;
    case LOGICAL_SET:
        return simplify_set(context, node);
    case LOGICAL_JOIN:
        return simplify_join(context, node);
    case LOGICAL_LIMIT:
        if (node->limit == 0) {
            return empty_for(context, node);
        }
        break;
    case LOGICAL_AGGREGATE:
        if (node->expression_count == 0) {
            return node; /* a row for no rows */
        }
        break;
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_ONE_ROW:
    case LOGICAL_RANGE:
    case LOGICAL_PROJECT:
    case LOGICAL_EXPAND:
    case LOGICAL_WINDOW:
    case LOGICAL_SORT:
    case LOGICAL_GENERATE:
    case LOGICAL_WATERMARK:
        break;
    }
    bool empty = node->child != NULL && is_empty(node->child);
    return empty ? node_empty(context->arena, node->schema) : node;
}

static LogicalNode *simplify(const Simplify *context, LogicalNode *node)
{
    LogicalNode *copy = node_copy(context->arena, node);
    if (node->child != NULL) {
        copy->child = simplify(context, node->child);
    }
    if (node->right != NULL) {
        copy->right = simplify(context, node->right);
    }
    return simplify_one(context, copy);
}

LogicalNode *rule_simplify(Arena *arena, const LogicalPlan *plan, LogicalNode *root)
{
    const Simplify context = {arena, plan};
    return simplify(&context, root);
}
