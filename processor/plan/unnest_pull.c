/* Conditions that refer outside go up: a subquery whose outer columns stand in filters only.
 *
 *     Project [b]                                Project [b, k]
 *       Filter (k = outer(a) AND b > 1)    ->      Filter (b > 1)        and k = outer(a)
 *         Scan t [k, b]                              Scan t [k, b]
 *
 * What goes up is evaluated by the join, over the columns the tree then has. A projection on the
 * way is evaluated for rows that the condition would have dropped, so it must not be able to fail.
 */
#include "processor/plan/unnest.h"

#include "processor/base/banned.h"

static LogicalNode *pull_filter(Arena *arena, LogicalNode *node, ExprList *pulled)
{
    LogicalNode *child = unnest_pull(arena, node->child, pulled);
    if (child == NULL) {
        return NULL;
    }
    ExprList conjuncts = {0};
    ExprList kept = {0};
    expr_list_add_conjuncts(arena, &conjuncts, node->expressions[0]);
    for (size_t i = 0; i < conjuncts.count; i++) {
        bool outer = expr_has_kind(conjuncts.items[i], BOUND_OUTER_COLUMN);
        expr_list_add(arena, outer ? pulled : &kept, conjuncts.items[i]);
    }
    return kept.count == 0 ? child : node_filter(arena, child, expr_list_and(arena, &kept));
}

/* ----------------------------------------------------------------- PROJECT --- */

/* Where each column of the child is in the projection; those that are nowhere are added. */
typedef struct Passed {
    Arena *arena;
    const LogicalNode *child;
    ExprList exprs;
    BoundExpr **passed; /* by the child's column; NULL: not yet */
} Passed;

static void pass_column(void *context, uint32_t column)
{
    Passed *passed = context;
    const Field *field = &passed->child->schema->fields[column];
    for (size_t i = 0; i < passed->exprs.count && passed->passed[column] == NULL; i++) {
        const BoundExpr *expr = passed->exprs.items[i];
        if (expr->kind == BOUND_COLUMN && expr->column == column) {
            passed->passed[column] = expr_column(passed->arena, field, i);
        }
    }
    if (passed->passed[column] == NULL) {
        expr_list_add(passed->arena, &passed->exprs, expr_column(passed->arena, field, column));
        passed->passed[column] = expr_column(passed->arena, field, passed->exprs.count - 1);
    }
}

static bool can_be_passed(const LogicalNode *project)
{
    for (size_t i = 0; i < project->expression_count; i++) {
        if (expr_can_fail(project->expressions[i]) ||
            !expr_is_deterministic(project->expressions[i])) {
            return false;
        }
    }
    return !node_has_outer(project);
}

static LogicalNode *pull_project(Arena *arena, LogicalNode *node, ExprList *pulled)
{
    size_t first = pulled->count;
    LogicalNode *child = can_be_passed(node) ? unnest_pull(arena, node->child, pulled) : NULL;
    if (child == NULL) {
        return NULL;
    }
    Passed passed = {.arena = arena,
                     .child = child,
                     .passed = arena_new_array(arena, BoundExpr *, child->schema->field_count)};
    for (size_t i = 0; i < node->expression_count; i++) {
        expr_list_add(arena, &passed.exprs, node->expressions[i]);
    }
    for (size_t i = first; i < pulled->count; i++) {
        expr_visit_columns(pulled->items[i], pass_column, &passed);
        pulled->items[i] = expr_replace_columns(arena, pulled->items[i], passed.passed);
    }
    Field *fields = arena_new_array(arena, Field, passed.exprs.count);
    for (size_t i = 0; i < passed.exprs.count; i++) {
        fields[i] = i < node->expression_count
                        ? node->schema->fields[i]
                        : child->schema->fields[passed.exprs.items[i]->column];
    }
    return node_project(arena, child, fields, passed.exprs.items, passed.exprs.count);
}

/* -------------------------------------------------------------------- JOIN --- */

/* The wider sides' columns as: the join's own, then those that were added left, then right. */
typedef struct WideJoin {
    Arena *arena;
    size_t left_count;
    size_t right_count;
    size_t left_added;
    size_t right_added;
} WideJoin;

/* From the place in (left, added left, right, added right) to that in (left, right, added …). */
static size_t column_after(const WideJoin *wide, size_t column)
{
    size_t left_width = wide->left_count + wide->left_added;
    if (column < wide->left_count) {
        return column;
    }
    if (column < left_width) {
        return column + wide->right_count;
    }
    size_t in_right = column - left_width;
    return in_right < wide->right_count ? wide->left_count + in_right : column;
}

static BoundExpr *move_column(void *context, BoundExpr *expr)
{
    const WideJoin *wide = context;
    return expr->kind == BOUND_COLUMN
               ? expr_shift_columns(wide->arena, expr,
                                    (int64_t)column_after(wide, expr->column) - expr->column)
               : NULL;
}

/* Columns of a condition over the narrow sides, in the wide ones. */
static BoundExpr *widen_column(void *context, BoundExpr *expr)
{
    const WideJoin *wide = context;
    return expr->kind == BOUND_COLUMN && expr->column >= wide->left_count
               ? expr_shift_columns(wide->arena, expr, (int64_t)wide->left_added)
               : NULL;
}

static LogicalNode *reorder(const WideJoin *wide, LogicalNode *join)
{
    size_t count = join->schema->field_count;
    BoundExpr **columns = arena_new_array(wide->arena, BoundExpr *, count);
    Field *fields = arena_new_array(wide->arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        size_t at = column_after(wide, i);
        fields[at] = join->schema->fields[i];
        columns[at] = expr_column(wide->arena, &fields[at], i);
    }
    return node_project(wide->arena, join, fields, columns, count);
}

static LogicalNode *pull_inner(Arena *arena, LogicalNode *node, ExprList *pulled)
{
    ExprList from_left = {0};
    ExprList from_right = {0};
    LogicalNode *left = unnest_pull(arena, node->child, &from_left);
    LogicalNode *right = left == NULL ? NULL : unnest_pull(arena, node->right, &from_right);
    if (right == NULL) {
        return NULL;
    }
    WideJoin wide = {.arena = arena,
                     .left_count = node->child->schema->field_count,
                     .right_count = node->right->schema->field_count};
    wide.left_added = left->schema->field_count - wide.left_count;
    wide.right_added = right->schema->field_count - wide.right_count;
    ExprList up = from_left;
    for (size_t i = 0; i < from_right.count; i++) {
        expr_list_add(
            arena, &up,
            expr_shift_columns(arena, from_right.items[i], (int64_t)left->schema->field_count));
    }
    ExprList conjuncts = {0};
    ExprList kept = {0};
    if (node->condition != NULL) {
        expr_list_add_conjuncts(arena, &conjuncts,
                                expr_map(arena, node->condition, widen_column, &wide));
    }
    for (size_t i = 0; i < conjuncts.count; i++) {
        bool outer = expr_has_kind(conjuncts.items[i], BOUND_OUTER_COLUMN);
        expr_list_add(arena, outer ? &up : &kept, conjuncts.items[i]);
    }
    LogicalNode *join = node_join(arena, JOIN_INNER, left, right, STR(""));
    join->condition = expr_list_and(arena, &kept);
    join->place = node->place;
    for (size_t i = 0; i < up.count; i++) {
        expr_list_add(arena, pulled, expr_map(arena, up.items[i], move_column, &wide));
    }
    return reorder(&wide, join);
}

/* SEMI and ANTI give the left side's rows. */
static LogicalNode *pull_left_only(Arena *arena, LogicalNode *node, ExprList *pulled)
{
    if (node_has_outer(node) || tree_has_outer(node->right)) {
        return NULL;
    }
    LogicalNode *left = unnest_pull(arena, node->child, pulled);
    if (left == NULL) {
        return NULL;
    }
    WideJoin wide = {.arena = arena, .left_count = node->child->schema->field_count};
    wide.left_added = left->schema->field_count - wide.left_count;
    LogicalNode *join = node_copy(arena, node);
    join->child = left;
    join->schema = left->schema;
    if (node->condition != NULL) {
        join->condition = expr_map(arena, node->condition, widen_column, &wide);
    }
    return join;
}

static LogicalNode *pull_join(Arena *arena, LogicalNode *node, ExprList *pulled)
{
    switch (node->join) {
    case JOIN_INNER:
        return node->expression_count == 0 ? pull_inner(arena, node, pulled) : NULL;
    case JOIN_SEMI:
    case JOIN_ANTI:
    case JOIN_NULL_ANTI:
        return pull_left_only(arena, node, pulled);
    case JOIN_LEFT:
    case JOIN_RIGHT:
    case JOIN_FULL:
    case JOIN_MARK:
    case JOIN_SINGLE:
        return NULL;
    }
    return NULL;
}

LogicalNode *unnest_pull(Arena *arena, LogicalNode *tree, ExprList *pulled)
{
    if (!tree_has_outer(tree)) {
        return tree;
    }
    switch (tree->kind) {
    case LOGICAL_FILTER:
        return pull_filter(arena, tree, pulled);
    case LOGICAL_PROJECT:
        return pull_project(arena, tree, pulled);
    case LOGICAL_JOIN:
        return pull_join(arena, tree, pulled);
    case LOGICAL_SORT: /* of a subquery, without LIMIT: no order is seen */
        return tree->limit < 0 && !node_has_outer(tree) ? unnest_pull(arena, tree->child, pulled)
                                                        : NULL;
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_ONE_ROW:
    case LOGICAL_RANGE:
    case LOGICAL_AGGREGATE:
    case LOGICAL_EXPAND:
    case LOGICAL_WINDOW:
    case LOGICAL_SET:
    case LOGICAL_LIMIT:
    case LOGICAL_GENERATE:
    case LOGICAL_WATERMARK:
        return NULL;
    }
    return NULL;
}
