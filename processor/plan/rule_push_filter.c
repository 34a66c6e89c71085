/* A filter above a projection moves below it, with the projection's expressions in place of its
 * columns:
 *
 *     Filter (y > 1)                          Project [x + 0 AS y]
 *       Project [x AS y]           ->           Filter (x > 1)
 *         Scan t                                  Scan t
 *
 * Only where that changes neither results nor errors: the projection must not be able to fail (the
 * rows the filter drops would no longer raise their errors) and must give the same value each time
 * it is evaluated; and what the filter uses must be columns, casts of them or literals, so that
 * nothing is computed twice. */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

typedef struct Uses {
    const LogicalNode *project;
    bool simple;
} Uses;

static void note_use(void *context, uint32_t column)
{
    Uses *uses = context;
    uses->simple = uses->simple && expr_is_simple(uses->project->expressions[column]);
}

static bool can_move_below(const LogicalNode *filter, const LogicalNode *project)
{
    for (size_t i = 0; i < project->expression_count; i++) {
        if (expr_can_fail(project->expressions[i]) ||
            !expr_is_deterministic(project->expressions[i])) {
            return false;
        }
    }
    Uses uses = {project, true};
    expr_visit_columns(filter->expressions[0], note_use, &uses);
    return uses.simple && expr_is_deterministic(filter->expressions[0]);
}

/* The filter over the projection's child, under the projection. */
static LogicalNode *move_below(Arena *arena, LogicalNode *filter, LogicalNode *project)
{
    LogicalNode *moved = arena_new_object(arena, LogicalNode);
    *moved = *filter;
    moved->child = project->child;
    moved->schema = project->child->schema;
    moved->expressions = arena_new_array(arena, BoundExpr *, 1);
    moved->expressions[0] =
        expr_replace_columns(arena, filter->expressions[0], project->expressions);
    LogicalNode *above = arena_new_object(arena, LogicalNode);
    *above = *project;
    above->child = moved;
    return above;
}

LogicalNode *rule_push_filter(Arena *arena, LogicalNode *root)
{
    LogicalNode **link = &root;
    while (*link != NULL) {
        LogicalNode *node = *link;
        if (node->kind == LOGICAL_FILTER && node->child->kind == LOGICAL_PROJECT &&
            can_move_below(node, node->child)) {
            *link = move_below(arena, node, node->child);
        }
        link = &(*link)->child;
    }
    return root;
}
