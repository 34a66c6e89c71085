/* A dependent join as a join of independent sides. In this order, the first that fits:
 *
 * - The right side refers to nothing outside: it is a join already.
 * - The conditions that refer outside go up from the filters into the join (unnest_pull.c).
 * - Row by row (lateral, or SELECT without FROM): the left side takes the place of what the right
 *   one reads, and the columns of both go up together.
 * - A scalar aggregate over `outer = inner` is grouped by `inner` (unnest_aggregate.c).
 * - Else the right side is computed for all values of the outer columns at once, and joined by them
 *   (unnest_domain.c). */
#include <assert.h>

#include "processor/plan/unnest.h"

#include "processor/base/banned.h"

static void note_outer(void *context, const BoundExpr *expr, ExprRole role)
{
    (void)role;
    bool *found = context;
    *found = *found || expr_has_kind(expr, BOUND_OUTER_COLUMN);
}

bool node_has_outer(const LogicalNode *node)
{
    bool found = false;
    node_visit_exprs(node, note_outer, &found);
    return found;
}

bool tree_has_outer(const LogicalNode *tree)
{
    return tree != NULL &&
           (node_has_outer(tree) || tree_has_outer(tree->child) || tree_has_outer(tree->right));
}

/* --------------------------------------------------------------- the join --- */

/* What a join gets beside the operands of IN. */
typedef struct JoinParts {
    LogicalNode *right;
    ExprList left_keys; /* equal or both NULL */
    ExprList right_keys;
    ExprList conditions; /* over left and right */
} JoinParts;

static void set_keys(Arena *arena, const DependentJoin *dependent, const JoinParts *parts,
                     LogicalNode *join)
{
    size_t operands = dependent->operand_count;
    size_t count = operands + parts->left_keys.count;
    if (count == 0) {
        return;
    }
    bool *null_equal = arena_new_array(arena, bool, count);
    join->expressions = arena_new_array(arena, BoundExpr *, count);
    join->right_keys = arena_new_array(arena, BoundExpr *, count);
    join->expression_count = count;
    for (size_t i = 0; i < count; i++) {
        bool operand = i < operands;
        null_equal[i] = !operand;
        join->expressions[i] =
            operand ? dependent->operands[i] : parts->left_keys.items[i - operands];
        join->right_keys[i] = operand ? expr_column(arena, &parts->right->schema->fields[i], i)
                                      : parts->right_keys.items[i - operands];
    }
    join->null_equal = null_equal;
}

/* The join, and above it a projection where the right side has got more columns than it had. */
static LogicalNode *finish_join(Arena *arena, const DependentJoin *dependent, JoinParts *parts)
{
    LogicalNode *join =
        node_join(arena, dependent->kind, dependent->left, parts->right, dependent->mark);
    set_keys(arena, dependent, parts, join);
    join->condition = expr_list_and(arena, &parts->conditions);
    join->place = dependent->place;
    size_t width = dependent->left->schema->field_count + dependent->right->schema->field_count;
    return join_gives_right(dependent->kind) && join->schema->field_count > width
               ? node_project_columns(arena, join, 0, width)
               : join;
}

static void add_condition(Arena *arena, const DependentJoin *dependent, JoinParts *parts)
{
    if (dependent->condition != NULL) {
        expr_list_add_conjuncts(arena, &parts->conditions, dependent->condition);
    }
}

/* ------------------------------------------------------------- row by row --- */

/* One leaf reads for one row, and every node on the way up works row by row: the left side's
 * columns can ride along. */
static bool is_row_wise(const LogicalNode *tree)
{
    if (!tree_has_outer(tree)) {
        return true;
    }
    switch (tree->kind) {
    case LOGICAL_FILTER:
    case LOGICAL_PROJECT:
    case LOGICAL_GENERATE:
    case LOGICAL_EXPAND:
        return is_row_wise(tree->child);
    case LOGICAL_SORT:
        return tree->limit < 0 && is_row_wise(tree->child);
    case LOGICAL_JOIN:
        return tree->join == JOIN_INNER && !node_has_outer(tree) &&
               !(tree_has_outer(tree->child) && tree_has_outer(tree->right)) &&
               is_row_wise(tree->child) && is_row_wise(tree->right);
    case LOGICAL_VALUES:
        return true;
    case LOGICAL_SCAN:
    case LOGICAL_ONE_ROW:
    case LOGICAL_RANGE:
    case LOGICAL_AGGREGATE:
    case LOGICAL_WINDOW:
    case LOGICAL_SET:
    case LOGICAL_LIMIT:
    case LOGICAL_WATERMARK:
        return false;
    }
    return false;
}

static bool is_one_row(const LogicalNode *tree)
{
    while (tree->kind == LOGICAL_PROJECT) {
        tree = tree->child;
    }
    return tree->kind == LOGICAL_ONE_ROW;
}

/* The right side with the left's columns behind its own; then both in their order. */
static Error *join_row_wise(PlanBuilder *builder, const DependentJoin *dependent,
                            LogicalNode **ret_node)
{
    Arena *arena = builder->arena;
    size_t left_count = dependent->left->schema->field_count;
    size_t right_count = dependent->right->schema->field_count;
    Domain domain = unnest_domain(builder, dependent->left, dependent->right, true);
    LogicalNode *both = NULL;
    TRY(unnest_push(&domain, dependent->right, &both));
    assert(both->schema->field_count == left_count + right_count);
    const Schema *schema = schema_concat(arena, dependent->left->schema, dependent->right->schema);
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        size_t at = i < left_count ? right_count + i : i - left_count;
        columns[i] = expr_column(arena, &schema->fields[i], at);
    }
    LogicalNode *result = node_project(arena, both, schema->fields, columns, schema->field_count);
    *ret_node =
        dependent->condition == NULL ? result : node_filter(arena, result, dependent->condition);
    return NULL;
}

/* -------------------------------------------------------------- pulled up --- */

typedef struct ToJoin {
    Arena *arena;
    const Schema *left;
} ToJoin;

/* Outer columns are those of the left side, columns those of the right one behind it. */
static BoundExpr *column_of_join(void *context, BoundExpr *expr)
{
    const ToJoin *to = context;
    if (expr->kind == BOUND_OUTER_COLUMN) {
        return expr_column(to->arena, &to->left->fields[expr->column], expr->column);
    }
    if (expr->kind == BOUND_COLUMN) {
        return expr_shift_columns(to->arena, expr, (int64_t)to->left->field_count);
    }
    return NULL;
}

BoundExpr *unnest_over_join(Arena *arena, BoundExpr *expr, const Schema *left)
{
    ToJoin to = {arena, left};
    return expr_map(arena, expr, column_of_join, &to);
}

static bool join_pulled(Arena *arena, const DependentJoin *dependent, LogicalNode **ret_node)
{
    ExprList pulled = {0};
    JoinParts parts = {.right = unnest_pull(arena, dependent->right, &pulled)};
    if (parts.right == NULL) {
        return false;
    }
    for (size_t i = 0; i < pulled.count; i++) {
        expr_list_add(arena, &parts.conditions,
                      unnest_over_join(arena, pulled.items[i], dependent->left->schema));
    }
    add_condition(arena, dependent, &parts);
    *ret_node = finish_join(arena, dependent, &parts);
    return true;
}

/* -------------------------------------------------------------- by domain --- */

static void note_random(void *context, const BoundExpr *expr, ExprRole role)
{
    (void)role;
    bool *deterministic = context;
    *deterministic = *deterministic && expr_is_deterministic(expr);
}

static bool is_deterministic(const LogicalNode *tree)
{
    bool deterministic = true;
    if (tree != NULL) {
        node_visit_exprs(tree, note_random, &deterministic);
    }
    return tree == NULL ||
           (deterministic && is_deterministic(tree->child) && is_deterministic(tree->right));
}

static Error *join_by_domain(PlanBuilder *builder, const DependentJoin *dependent,
                             LogicalNode **ret_node)
{
    Arena *arena = builder->arena;
    if (!is_deterministic(dependent->left)) {
        return error_at(ERROR_NOT_YET, dependent->place,
                        "A correlated subquery of this form over rows that a random function made "
                        "is not supported yet.");
    }
    Domain domain = unnest_domain(builder, dependent->left, dependent->right, false);
    JoinParts parts = {0};
    TRY(unnest_push(&domain, dependent->right, &parts.right));
    size_t right_count = dependent->right->schema->field_count;
    for (size_t i = 0; i < domain.count; i++) {
        uint32_t column = domain.columns[i];
        const Field *field = &dependent->left->schema->fields[column];
        expr_list_add(arena, &parts.left_keys, expr_column(arena, field, column));
        expr_list_add(arena, &parts.right_keys, expr_column(arena, field, right_count + i));
    }
    add_condition(arena, dependent, &parts);
    *ret_node = finish_join(arena, dependent, &parts);
    return NULL;
}

/* ---------------------------------------------------------- which of them --- */

/* EXISTS asks for rows only: what is computed from them, in which order, does not matter. */
static LogicalNode *rows_only(LogicalNode *tree)
{
    for (;;) {
        bool passes = tree->kind == LOGICAL_PROJECT || tree->kind == LOGICAL_SORT ||
                      (tree->kind == LOGICAL_LIMIT && tree->limit != 0 && tree->offset == 0) ||
                      (tree->kind == LOGICAL_AGGREGATE && tree->expression_count > 0);
        if (!passes) {
            return tree;
        }
        tree = tree->child;
    }
}

Error *unnest_join(PlanBuilder *builder, const DependentJoin *join, LogicalNode **ret_node)
{
    Arena *arena = builder->arena;
    DependentJoin dependent = *join;
    if (!join_gives_right(join->kind) && join->operand_count == 0) {
        dependent.right = rows_only(join->right);
    }
    if (!tree_has_outer(dependent.right)) {
        JoinParts parts = {.right = dependent.right};
        add_condition(arena, &dependent, &parts);
        *ret_node = finish_join(arena, &dependent, &parts);
        return NULL;
    }
    if (join->kind == JOIN_SINGLE && is_one_row(dependent.right)) {
        return join_row_wise(builder, &dependent, ret_node);
    }
    if (join_pulled(arena, &dependent, ret_node)) {
        return NULL;
    }
    if (join->kind == JOIN_INNER && is_row_wise(dependent.right)) {
        return join_row_wise(builder, &dependent, ret_node);
    }
    LogicalNode *grouped = join->kind == JOIN_SINGLE ? unnest_aggregate(arena, &dependent) : NULL;
    if (grouped != NULL) {
        *ret_node = grouped;
        return NULL;
    }
    return join_by_domain(builder, &dependent, ret_node);
}
