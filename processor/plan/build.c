/* From the bound query to the logical plan: scans are numbered as sources, subqueries become joins,
 * then the rules run, each over the whole tree. A bound node that stands in several places (WITH)
 * is built once for each; a relation read twice is two sources. */
#include <assert.h>

#include "processor/plan/plan_internal.h"
#include "processor/plan/unnest.h"

#include "processor/base/banned.h"

static COLD RETURNS_NONNULL Error *too_complex(const PlanBuilder *builder, SourcePlace place)
{
    return builder->height > PLAN_HEIGHT_MAX
               ? error_at(ERROR_STATEMENT_TOO_COMPLEX, place,
                          "The plan of the query is more than %d levels high.", PLAN_HEIGHT_MAX)
               : error_at(ERROR_STATEMENT_TOO_COMPLEX, place,
                          "The plan of the query has more than %d nodes.", PLAN_NODE_MAX);
}

static size_t add_source(PlanBuilder *builder, const LogicalSource *source)
{
    LogicalPlan *plan = builder->plan;
    *arena_push(builder->arena, plan->sources, plan->source_count, builder->source_capacity) =
        *source;
    return plan->source_count - 1;
}

static size_t build_source(PlanBuilder *builder, const BoundNode *scan)
{
    const Schema *schema = scan->relation->schema;
    uint32_t *columns = arena_new_array(builder->arena, uint32_t, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] = (uint32_t)i;
    }
    const LogicalSource source = {scan->relation, scan->stream, schema, columns};
    return add_source(builder, &source);
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
    case BOUND_RANGE:
        return LOGICAL_RANGE;
    case BOUND_FILTER:
        return LOGICAL_FILTER;
    case BOUND_PROJECT:
        return LOGICAL_PROJECT;
    case BOUND_AGGREGATE:
        return LOGICAL_AGGREGATE;
    case BOUND_EXPAND:
        return LOGICAL_EXPAND;
    case BOUND_WINDOW:
        return LOGICAL_WINDOW;
    case BOUND_JOIN:
        return LOGICAL_JOIN;
    case BOUND_SET:
        return LOGICAL_SET;
    case BOUND_SORT:
        return LOGICAL_SORT;
    case BOUND_LIMIT:
        return LOGICAL_LIMIT;
    case BOUND_GENERATE:
        return LOGICAL_GENERATE;
    case BOUND_WATERMARK:
        return LOGICAL_WATERMARK;
    }
    assert(false);
    return LOGICAL_ONE_ROW;
}

/* The node alone: no child yet, its expressions as they are bound. */
static LogicalNode *build_alone(PlanBuilder *builder, const BoundNode *bound)
{
    LogicalNode *node = arena_new_object(builder->arena, LogicalNode);
    *node = (LogicalNode){.kind = logical_kind(bound->kind),
                          .schema = bound->schema,
                          .expressions = bound->expressions,
                          .expression_count = bound->expression_count,
                          .row_count = bound->row_count,
                          .aggregates = bound->aggregates,
                          .aggregate_count = bound->aggregate_count,
                          .windows = bound->windows,
                          .window_count = bound->window_count,
                          .sort_keys = bound->sort_keys,
                          .sort_key_count = bound->sort_key_count,
                          .join = bound->join,
                          .set_operation = bound->set_operation,
                          .all = bound->all,
                          .limit = bound->kind == BOUND_LIMIT ? bound->limit : -1,
                          .offset = bound->offset,
                          .range_start = bound->range_start,
                          .range_end = bound->range_end,
                          .range_step = bound->range_step,
                          .generator = bound->generator,
                          .outer = bound->outer,
                          .event_time = bound->event_time,
                          .delay_us = bound->delay_us,
                          .place = bound->place};
    if (bound->kind == BOUND_SCAN) {
        node->source = build_source(builder, bound);
    }
    if (bound->kind == BOUND_JOIN) { /* keys come from the condition later */
        node->condition = bound->expression_count > 0 ? bound->expressions[0] : NULL;
        node->expressions = NULL;
        node->expression_count = 0;
    }
    return node;
}

static Error *build_with_children(PlanBuilder *builder, const BoundNode *bound,
                                  LogicalNode **ret_node)
{
    if (bound->kind == BOUND_WATERMARK && !builder->streaming) {
        return build_node(builder, bound->child, ret_node);
    }
    LogicalNode *node = build_alone(builder, bound);
    if (bound->child != NULL) {
        TRY(build_node(builder, bound->child, &node->child));
    }
    if (bound->right != NULL) {
        TRY(build_node(builder, bound->right, &node->right));
    }
    if (bound->kind == BOUND_JOIN && bound->lateral) {
        return unnest_lateral(builder, node, ret_node);
    }
    return unnest_node(builder, node, ret_node);
}

Error *build_node(PlanBuilder *builder, const BoundNode *bound, LogicalNode **ret_node)
{
    builder->height++;
    builder->node_count++;
    if (builder->height > PLAN_HEIGHT_MAX || builder->node_count > PLAN_NODE_MAX) {
        return too_complex(builder, bound->place);
    }
    TRY(build_with_children(builder, bound, ret_node));
    builder->height--;
    return NULL;
}

Error *build_copy(PlanBuilder *builder, const LogicalNode *tree, LogicalNode **ret_copy)
{
    builder->node_count++;
    if (builder->node_count > PLAN_NODE_MAX) {
        return too_complex(builder, tree->place);
    }
    LogicalNode *copy = node_copy(builder->arena, tree);
    if (tree->kind == LOGICAL_SCAN) {
        const LogicalSource source = builder->plan->sources[tree->source];
        copy->source = add_source(builder, &source);
    }
    if (tree->child != NULL) {
        TRY(build_copy(builder, tree->child, &copy->child));
    }
    if (tree->right != NULL) {
        TRY(build_copy(builder, tree->right, &copy->right));
    }
    *ret_copy = copy;
    return NULL;
}

/* Sources in the order in which their scans stand in the tree; those that no scan reads any more
 * are gone. */
static void renumber_sources(Arena *arena, const LogicalSource *all, LogicalNode *node,
                             LogicalPlan *plan, size_t *capacity)
{
    if (node == NULL) {
        return;
    }
    if (node->kind == LOGICAL_SCAN) {
        *arena_push(arena, plan->sources, plan->source_count, *capacity) = all[node->source];
        node->source = plan->source_count - 1;
    }
    renumber_sources(arena, all, node->child, plan, capacity);
    renumber_sources(arena, all, node->right, plan, capacity);
}

/* The order of joins and which side is hashed are as written where a stream is joined: it stands on
 * the left (RU-28). */
static LogicalNode *optimize(Arena *arena, LogicalPlan *plan, LogicalNode *root, bool streaming)
{
    root = rule_simplify(arena, plan, root);
    root = rule_push_filter(arena, root);
    root = rule_simplify(arena, plan, root); /* what has come together may be known now */
    root = rule_merge_project(arena, root);
    root = streaming ? root : rule_order_joins(arena, root);
    root = rule_set_to_join(arena, root);
    root = rule_join_keys(arena, root);
    root = rule_limit(arena, root);
    root = rule_prune_columns(arena, plan, root);
    root = rule_merge_project(arena, root);
    return streaming ? root : rule_build_side(arena, plan, root);
}

Error *build_plan(Arena *arena, const BoundNode *query, bool streaming, LogicalPlan **ret_plan)
{
    LogicalPlan built = {0};
    PlanBuilder builder = {.arena = arena, .plan = &built, .streaming = streaming};
    LogicalNode *root = NULL;
    TRY(build_node(&builder, query, &root));
    assert(root->schema->field_count == query->schema->field_count);
    root = optimize(arena, &built, root, streaming);
    assert(root->schema->field_count == query->schema->field_count);
    if (root->schema != query->schema) { /* names of a projection that went, or their spelling */
        root = node_copy(arena, root);
        root->schema = query->schema;
    }
    LogicalPlan *plan = arena_new_object(arena, LogicalPlan);
    size_t capacity = 0;
    plan->root = root;
    renumber_sources(arena, built.sources, root, plan, &capacity);
    *ret_plan = plan;
    return NULL;
}

Error *plan_build(Arena *arena, const BoundNode *query, LogicalPlan **ret_plan)
{
    return build_plan(arena, query, false, ret_plan);
}
