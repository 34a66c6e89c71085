/* Two projections become one where the upper one only passes on, casts or adds constants: what
 * fitting a query to its target gives (bind_flow.c).
 *
 *     Project [CAST(a AS BIGINT), NULL]
 *       Project [x + 1 AS a, y]            ->   Project [CAST(x + 1 AS BIGINT), NULL]
 *
 * Each expression below is used at most once, so nothing is computed twice. A projection that
 * passes its child's columns on as they are goes. */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

typedef struct UseCount {
    uint32_t *counts;
    uint32_t most;
} UseCount;

static void count_use(void *context, uint32_t column)
{
    UseCount *uses = context;
    uint32_t count = ++uses->counts[column];
    uses->most = count > uses->most ? count : uses->most;
}

static bool can_merge(Arena *arena, const LogicalNode *upper, const LogicalNode *lower)
{
    UseCount uses = {arena_new_array(arena, uint32_t, lower->expression_count), 0};
    for (size_t i = 0; i < upper->expression_count; i++) {
        if (!expr_is_simple(upper->expressions[i])) {
            return false;
        }
        expr_visit_columns(upper->expressions[i], count_use, &uses);
    }
    return uses.most <= 1;
}

static LogicalNode *merge(Arena *arena, const LogicalNode *upper, const LogicalNode *lower)
{
    LogicalNode *merged = arena_new_object(arena, LogicalNode);
    *merged = *upper;
    merged->child = lower->child;
    merged->expressions = arena_new_array(arena, BoundExpr *, upper->expression_count);
    for (size_t i = 0; i < upper->expression_count; i++) {
        merged->expressions[i] =
            expr_replace_columns(arena, upper->expressions[i], lower->expressions);
    }
    return merged;
}

/* Every column of the child in its place: the projection changes names at most, which count at the
 * root alone, and below nodes that pass them on to it. */
static bool is_trivial(const LogicalNode *project)
{
    if (project->expression_count != project->child->schema->field_count) {
        return false;
    }
    for (size_t i = 0; i < project->expression_count; i++) {
        const BoundExpr *expr = project->expressions[i];
        if (expr->kind != BOUND_COLUMN || expr->column != i) {
            return false;
        }
    }
    return true;
}

static bool passes_names(const LogicalNode *node)
{
    return node->kind == LOGICAL_FILTER || node->kind == LOGICAL_SORT ||
           node->kind == LOGICAL_LIMIT;
}

static LogicalNode *merge_below(Arena *arena, LogicalNode *node, bool names_count)
{
    while (node->kind == LOGICAL_PROJECT && node->child->kind == LOGICAL_PROJECT &&
           can_merge(arena, node, node->child)) {
        node = merge(arena, node, node->child);
    }
    bool trivial = node->kind == LOGICAL_PROJECT && is_trivial(node) &&
                   (!names_count || schema_equal(node->schema, node->child->schema));
    if (trivial) {
        return merge_below(arena, node->child, names_count);
    }
    if (node->child == NULL) {
        return node;
    }
    LogicalNode *copy = node_copy(arena, node);
    copy->child = merge_below(arena, node->child, names_count && passes_names(node));
    if (node->right != NULL) {
        copy->right = merge_below(arena, node->right, false);
    }
    return copy;
}

LogicalNode *rule_merge_project(Arena *arena, LogicalNode *root)
{
    return merge_below(arena, root, true);
}
