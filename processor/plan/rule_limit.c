/* A limit goes down: into a sort, which then keeps that many rows only; below a projection, which
 * then computes them only; to both sides of a union.
 *
 *     Limit 10 OFFSET 5                       Project [k]
 *       Project [k]             ->              Limit 10 OFFSET 5
 *         Sort (v)                                Sort (v) FIRST 15                             */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

/* How many rows of its input the limit looks at; -1: all. */
static int64_t rows_needed(const LogicalNode *limit)
{
    int64_t rows = 0;
    bool unbounded = limit->limit < 0 || __builtin_add_overflow(limit->limit, limit->offset, &rows);
    return unbounded ? -1 : rows;
}

static LogicalNode *limit_over(Arena *arena, const LogicalNode *limit, LogicalNode *child)
{
    LogicalNode *copy = node_copy(arena, limit);
    copy->child = child;
    copy->schema = child->schema;
    return copy;
}

/* The first `rows` rows of a side of a union. */
static LogicalNode *first_rows(Arena *arena, const LogicalNode *limit, LogicalNode *side,
                               int64_t rows)
{
    LogicalNode *first = limit_over(arena, limit, side);
    first->limit = rows;
    first->offset = 0;
    return rule_limit(arena, first);
}

static LogicalNode *into_sort(Arena *arena, const LogicalNode *limit, LogicalNode *sort)
{
    int64_t rows = rows_needed(limit);
    LogicalNode *copy = node_copy(arena, sort);
    copy->limit = sort->limit < 0 || rows < sort->limit ? rows : sort->limit;
    copy->child = rule_limit(arena, sort->child);
    return limit->offset == 0 ? copy : limit_over(arena, limit, copy);
}

static LogicalNode *push_limit(Arena *arena, LogicalNode *limit)
{
    LogicalNode *child = limit->child;
    int64_t rows = rows_needed(limit);
    if (child->kind == LOGICAL_PROJECT) {
        LogicalNode *project = node_copy(arena, child);
        project->child = rule_limit(arena, limit_over(arena, limit, child->child));
        return project;
    }
    if (rows >= 0 && child->kind == LOGICAL_SORT) {
        return into_sort(arena, limit, child);
    }
    if (rows >= 0 && child->kind == LOGICAL_SET && child->set_operation == SET_UNION) {
        LogicalNode *both = node_copy(arena, child);
        both->child = first_rows(arena, limit, child->child, rows);
        both->right = first_rows(arena, limit, child->right, rows);
        return limit_over(arena, limit, both);
    }
    return limit_over(arena, limit, rule_limit(arena, child));
}

LogicalNode *rule_limit(Arena *arena, LogicalNode *node)
{
    if (node->kind == LOGICAL_LIMIT && node->expression_count == 0) {
        return push_limit(arena, node);
    }
    LogicalNode *copy = node_copy(arena, node);
    if (node->child != NULL) {
        copy->child = rule_limit(arena, node->child);
    }
    if (node->right != NULL) {
        copy->right = rule_limit(arena, node->right);
    }
    return copy;
}
