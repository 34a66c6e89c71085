/* Nodes of a plan: their expressions under one roof, and new ones. */
#include <assert.h>
#include <string.h>

#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

/* ------------------------------------------------ the expressions of a node --- */

typedef struct Visitor {
    void (*visit)(void *context, const BoundExpr *expr, ExprRole role);
    void *context;
} Visitor;

static void visit_all(const Visitor *visitor, BoundExpr *const *exprs, size_t count, ExprRole role)
{
    for (size_t i = 0; i < count; i++) {
        visitor->visit(visitor->context, exprs[i], role);
    }
}

static void visit_sort_keys(const Visitor *visitor, const BoundSortKey *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        visitor->visit(visitor->context, keys[i].expr, OVER_CHILD);
    }
}

static void visit_call(const Visitor *visitor, const BoundAggregate *call)
{
    visit_all(visitor, call->arguments, call->argument_count, OVER_CHILD);
    if (call->filter != NULL) {
        visitor->visit(visitor->context, call->filter, OVER_CHILD);
    }
    visit_sort_keys(visitor, call->sort_keys, call->sort_key_count);
}

void node_visit_exprs(const LogicalNode *node,
                      void (*visit)(void *context, const BoundExpr *expr, ExprRole role),
                      void *context)
{
    const Visitor visitor = {visit, context};
    visit_all(&visitor, node->expressions, node->expression_count, OVER_CHILD);
    if (node->right_keys != NULL) {
        visit_all(&visitor, node->right_keys, node->expression_count, OVER_RIGHT);
    }
    for (size_t i = 0; i < node->aggregate_count; i++) {
        visit_call(&visitor, &node->aggregates[i]);
    }
    for (size_t i = 0; i < node->window_count; i++) {
        visit_call(&visitor, &node->windows[i].call);
    }
    visit_sort_keys(&visitor, node->sort_keys, node->sort_key_count);
    if (node->condition != NULL) {
        visit(context, node->condition, OVER_BOTH);
    }
}

typedef struct Mapper {
    Arena *arena;
    BoundExpr *(*map)(void *context, BoundExpr *expr, ExprRole role);
    void *context;
} Mapper;

static BoundExpr **map_all(const Mapper *mapper, BoundExpr *const *exprs, size_t count,
                           ExprRole role)
{
    BoundExpr **mapped = arena_new_array(mapper->arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        mapped[i] = mapper->map(mapper->context, exprs[i], role);
    }
    return mapped;
}

static const BoundSortKey *map_sort_keys(const Mapper *mapper, const BoundSortKey *keys,
                                         size_t count)
{
    BoundSortKey *mapped = arena_new_array(mapper->arena, BoundSortKey, count);
    for (size_t i = 0; i < count; i++) {
        mapped[i] = keys[i];
        mapped[i].expr = mapper->map(mapper->context, keys[i].expr, OVER_CHILD);
    }
    return mapped;
}

static void map_call(const Mapper *mapper, BoundAggregate *call)
{
    call->arguments = map_all(mapper, call->arguments, call->argument_count, OVER_CHILD);
    if (call->filter != NULL) {
        call->filter = mapper->map(mapper->context, call->filter, OVER_CHILD);
    }
    call->sort_keys = map_sort_keys(mapper, call->sort_keys, call->sort_key_count);
}

static void map_calls(const Mapper *mapper, LogicalNode *node)
{
    if (node->aggregate_count > 0) {
        BoundAggregate *calls =
            arena_new_array(mapper->arena, BoundAggregate, node->aggregate_count);
        for (size_t i = 0; i < node->aggregate_count; i++) {
            calls[i] = node->aggregates[i];
            map_call(mapper, &calls[i]);
        }
        node->aggregates = calls;
    }
    if (node->window_count > 0) {
        BoundWindowCall *calls =
            arena_new_array(mapper->arena, BoundWindowCall, node->window_count);
        for (size_t i = 0; i < node->window_count; i++) {
            calls[i] = node->windows[i];
            map_call(mapper, &calls[i].call);
        }
        node->windows = calls;
    }
}

LogicalNode *node_map_exprs(Arena *arena, const LogicalNode *node,
                            BoundExpr *(*map)(void *context, BoundExpr *expr, ExprRole role),
                            void *context)
{
    const Mapper mapper = {arena, map, context};
    LogicalNode *copy = node_copy(arena, node);
    copy->expressions = map_all(&mapper, node->expressions, node->expression_count, OVER_CHILD);
    if (node->right_keys != NULL) {
        copy->right_keys = map_all(&mapper, node->right_keys, node->expression_count, OVER_RIGHT);
    }
    map_calls(&mapper, copy);
    copy->sort_keys = map_sort_keys(&mapper, node->sort_keys, node->sort_key_count);
    if (node->condition != NULL) {
        copy->condition = map(context, node->condition, OVER_BOTH);
    }
    return copy;
}

/* ------------------------------------------------------------- new nodes --- */

LogicalNode *node_copy(Arena *arena, const LogicalNode *node)
{
    LogicalNode *copy = arena_new_object(arena, LogicalNode);
    *copy = *node;
    return copy;
}

LogicalNode *node_filter(Arena *arena, LogicalNode *child, BoundExpr *condition)
{
    LogicalNode *filter = arena_new_object(arena, LogicalNode);
    *filter = (LogicalNode){.kind = LOGICAL_FILTER,
                            .schema = child->schema,
                            .child = child,
                            .expressions = arena_new_array(arena, BoundExpr *, 1),
                            .expression_count = 1,
                            .limit = -1,
                            .place = condition->place};
    filter->expressions[0] = condition;
    return filter;
}

LogicalNode *node_project(Arena *arena, LogicalNode *child, const Field *fields,
                          BoundExpr *const *exprs, size_t count)
{
    LogicalNode *project = arena_new_object(arena, LogicalNode);
    *project = (LogicalNode){.kind = LOGICAL_PROJECT,
                             .schema = schema_new(arena, fields, count),
                             .child = child,
                             .expressions = arena_new_array(arena, BoundExpr *, count),
                             .expression_count = count,
                             .limit = -1,
                             .place = child->place};
    for (size_t i = 0; i < count; i++) {
        project->expressions[i] = exprs[i];
    }
    return project;
}

LogicalNode *node_project_columns(Arena *arena, LogicalNode *child, size_t first, size_t end)
{
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, end - first);
    for (size_t i = first; i < end; i++) {
        columns[i - first] = expr_column(arena, &child->schema->fields[i], i);
    }
    return node_project(arena, child, child->schema->fields + first, columns, end - first);
}

LogicalNode *node_empty(Arena *arena, const Schema *schema)
{
    LogicalNode *values = arena_new_object(arena, LogicalNode);
    *values = (LogicalNode){.kind = LOGICAL_VALUES, .schema = schema, .limit = -1};
    return values;
}

bool join_gives_right(JoinKind kind)
{
    return kind != JOIN_SEMI && kind != JOIN_ANTI && kind != JOIN_NULL_ANTI && kind != JOIN_MARK;
}

const Schema *schema_concat(Arena *arena, const Schema *a, const Schema *b)
{
    size_t count = a->field_count + b->field_count;
    Field *fields = arena_new_array(arena, Field, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = i < a->field_count ? a->fields[i] : b->fields[i - a->field_count];
    }
    return schema_new(arena, fields, count);
}

LogicalNode *node_join(Arena *arena, JoinKind kind, LogicalNode *left, LogicalNode *right, Str mark)
{
    const Field mark_field = {.name = mark, .type = &type_boolean};
    const Schema mark_schema = {.fields = &mark_field, .field_count = 1};
    const Schema *schema = left->schema;
    if (join_gives_right(kind)) {
        schema = schema_concat(arena, left->schema, right->schema);
    } else if (kind == JOIN_MARK) {
        schema = schema_concat(arena, left->schema, &mark_schema);
    }
    LogicalNode *join = arena_new_object(arena, LogicalNode);
    *join = (LogicalNode){.kind = LOGICAL_JOIN,
                          .schema = schema,
                          .child = left,
                          .right = right,
                          .join = kind,
                          .limit = -1,
                          .place = left->place};
    return join;
}
