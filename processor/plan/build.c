/* From the bound query to the logical plan: scans are numbered as sources, then the rules run, each
 * over the whole tree. The tree of bound nodes is as high as the user's subqueries are nested. */
#include <assert.h>

#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

typedef struct Builder {
    Arena *arena;
    LogicalPlan *plan;
} Builder;

static size_t count_scans(const BoundNode *node)
{
    size_t count = 0;
    for (; node != NULL; node = node->child) {
        count += node->kind == BOUND_SCAN;
    }
    return count;
}

static void build_source(const Builder *builder, const BoundNode *scan, LogicalNode *node)
{
    const Schema *schema = scan->relation->schema;
    uint32_t *columns = arena_new_array(builder->arena, uint32_t, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] = (uint32_t)i;
    }
    node->source = builder->plan->source_count++;
    builder->plan->sources[node->source] =
        (LogicalSource){scan->relation, scan->stream, schema, columns};
}

static LogicalKind logical_kind(BoundNodeKind kind)
{
    switch (kind) {
    case BOUND_SCAN:
        return LOGICAL_SCAN;
    case BOUND_VALUES:
        return LOGICAL_VALUES;
    case BOUND_ONE_ROW:
        return LOGICAL_ONE_ROW;
    case BOUND_FILTER:
        return LOGICAL_FILTER;
    case BOUND_PROJECT:
        return LOGICAL_PROJECT;
    default:
        return LOGICAL_ONE_ROW;
    }
}

static LogicalNode *build_node(const Builder *builder, const BoundNode *bound)
{
    LogicalNode *root = NULL;
    LogicalNode **link = &root;
    for (; bound != NULL; bound = bound->child) {
        LogicalNode *node = arena_new_object(builder->arena, LogicalNode);
        *node = (LogicalNode){.kind = logical_kind(bound->kind),
                              .schema = bound->schema,
                              .expressions = bound->expressions,
                              .expression_count = bound->expression_count,
                              .row_count = bound->row_count};
        if (bound->kind == BOUND_SCAN) {
            build_source(builder, bound, node);
        }
        *link = node;
        link = &node->child;
    }
    return root;
}

Error *plan_build(Arena *arena, const BoundNode *query, LogicalPlan **ret_plan)
{
    LogicalPlan *plan = arena_new_object(arena, LogicalPlan);
    plan->sources = arena_new_array(arena, LogicalSource, count_scans(query));
    Builder builder = {arena, plan};
    LogicalNode *root = build_node(&builder, query);
    assert(root->schema->field_count == query->schema->field_count);
    root = rule_push_filter(arena, root);
    root = rule_merge_project(arena, root);
    plan->root = rule_prune_columns(arena, plan, root);
    assert(schema_equal(plan->root->schema, query->schema));
    *ret_plan = plan;
    return NULL;
}
