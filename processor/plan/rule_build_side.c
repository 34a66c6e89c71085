/* A join hashes the side that is expected to have fewer rows. What is known: how many rows sources
 * tell of themselves, and what nodes usually leave of their input. Without any hint both sides are
 * alike, and the right one is hashed. */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

/* A source that does not tell has so many. */
static const double source_rows = 1e6;

static double estimate(const LogicalPlan *plan, const LogicalNode *node);

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double estimate_join(const LogicalPlan *plan, const LogicalNode *join, double left)
{
    double right = estimate(plan, join->right);
    switch (join->join) {
    case JOIN_INNER:
        return join->expression_count > 0 ? most(left, right) : left * right;
    case JOIN_FULL:
        return left + right;
    case JOIN_RIGHT:
        return most(left, right);
    case JOIN_LEFT:
        return join->expression_count > 0 ? most(left, right) : left * most(right, 1);
    case JOIN_SEMI:
    case JOIN_ANTI:
    case JOIN_NULL_ANTI:
        return left / 2;
    case JOIN_MARK:
    case JOIN_SINGLE:
        return left;
    }
    return left;
}

/* Rows in all, roughly. */
static double estimate(const LogicalPlan *plan, const LogicalNode *node)
{
    double rows = node->child == NULL ? 0 : estimate(plan, node->child);
    switch (node->kind) {
    case LOGICAL_SCAN: {
        int64_t told = plan->sources[node->source].relation->estimated_rows;
        return told > 0 ? (double)told : source_rows;
    }
    case LOGICAL_VALUES:
        return (double)node->row_count;
    case LOGICAL_ONE_ROW:
        return 1;
    case LOGICAL_RANGE:
        return node->range_step == 0 ? 0
                                     : most(((double)node->range_end - (double)node->range_start) /
                                                (double)node->range_step,
                                            0);
    case LOGICAL_FILTER:
        return rows / 4;
    case LOGICAL_AGGREGATE:
        return node->expression_count == 0 ? 1 : rows / 4;
    case LOGICAL_EXPAND:
        return rows * (double)node->row_count;
    case LOGICAL_GENERATE:
        return rows * 4;
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        return node->limit < 0 || node->expression_count > 0 ? rows
                                                             : least(rows, (double)node->limit);
    case LOGICAL_SET:
        return node->set_operation == SET_UNION ? rows + estimate(plan, node->right) : rows;
    case LOGICAL_JOIN:
        return estimate_join(plan, node, rows);
    case LOGICAL_PROJECT:
    case LOGICAL_WINDOW:
    case LOGICAL_WATERMARK:
        return rows;
    }
    return rows;
}

LogicalNode *rule_build_side(Arena *arena, const LogicalPlan *plan, LogicalNode *node)
{
    LogicalNode *copy = node_copy(arena, node);
    if (node->child != NULL) {
        copy->child = rule_build_side(arena, plan, node->child);
    }
    if (node->right != NULL) {
        copy->right = rule_build_side(arena, plan, node->right);
    }
    if (node->kind == LOGICAL_JOIN) {
        copy->build_left = estimate(plan, copy->child) < estimate(plan, copy->right);
    }
    return copy;
}
