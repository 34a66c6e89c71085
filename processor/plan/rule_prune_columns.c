/* A scan reads only the columns that some node above it uses, and a projection below another
 * computes only those. Walks down with the set of columns asked for, and comes back with where each
 * went: old column number -> new column number. */
#include <assert.h>

#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

typedef struct Prune {
    Arena *arena;
    LogicalPlan *plan;
} Prune;

/* What of a node's columns is wanted, and after pruning the number each wanted one has. */
typedef struct Wanted {
    bool *used;
    uint32_t *number;
    size_t count;
} Wanted;

static Wanted wanted_new(Arena *arena, size_t count)
{
    return (Wanted){arena_new_array(arena, bool, count), arena_new_array(arena, uint32_t, count),
                    count};
}

static void want(void *context, uint32_t column)
{
    Wanted *wanted = context;
    assert(column < wanted->count);
    wanted->used[column] = true;
}

/* Numbers the used columns in order; returns how many there are. */
static size_t number_used(Wanted *wanted)
{
    size_t next = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        wanted->number[i] = (uint32_t)next;
        next += wanted->used[i];
    }
    return next;
}

static const Schema *used_fields(Arena *arena, const Schema *schema, const Wanted *wanted,
                                 size_t used)
{
    Field *fields = arena_new_array(arena, Field, used);
    for (size_t i = 0; i < wanted->count; i++) {
        if (wanted->used[i]) {
            fields[wanted->number[i]] = schema->fields[i];
        }
    }
    return schema_new(arena, fields, used);
}

static LogicalNode *prune(const Prune *context, LogicalNode *node, Wanted *wanted);

/* For each used column of `schema`, a reference to it as it is numbered after pruning. */
static BoundExpr **renumbered_columns(Arena *arena, const Schema *schema, const Wanted *wanted)
{
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, wanted->count);
    for (size_t i = 0; i < wanted->count; i++) {
        if (wanted->used[i]) {
            columns[i] = arena_new_object(arena, BoundExpr);
            *columns[i] = (BoundExpr){.kind = BOUND_COLUMN,
                                      .type = schema->fields[i].type,
                                      .text = schema->fields[i].name,
                                      .column = wanted->number[i],
                                      .height = 1,
                                      .node_count = 1};
        }
    }
    return columns;
}

static LogicalNode *prune_scan(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Arena *arena = context->arena;
    LogicalSource *source = &context->plan->sources[node->source];
    for (size_t i = 0; i < wanted->count; i++) {
        /* A stream's NOT NULL is checked on its records, whether the query uses the column or not.
         */
        wanted->used[i] = wanted->used[i] || (source->stream && node->schema->fields[i].not_null);
    }
    size_t used = number_used(wanted);
    uint32_t *columns = arena_new_array(arena, uint32_t, used);
    for (size_t i = 0; i < wanted->count; i++) {
        if (wanted->used[i]) {
            columns[wanted->number[i]] = source->columns[i];
        }
    }
    const Schema *schema = used_fields(arena, node->schema, wanted, used);
    source->schema = schema;
    source->columns = columns;
    LogicalNode *result = arena_new_object(arena, LogicalNode);
    *result = *node;
    result->schema = schema;
    return result;
}

static LogicalNode *prune_filter(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    const Schema *before = node->child->schema;
    expr_visit_columns(node->expressions[0], want, wanted);
    LogicalNode *result = arena_new_object(context->arena, LogicalNode);
    *result = *node;
    result->child = prune(context, node->child, wanted);
    result->schema = result->child->schema;
    result->expressions = arena_new_array(context->arena, BoundExpr *, 1);
    BoundExpr **columns = renumbered_columns(context->arena, before, wanted);
    result->expressions[0] = expr_replace_columns(context->arena, node->expressions[0], columns);
    return result;
}

static LogicalNode *prune_project(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Arena *arena = context->arena;
    const Schema *before = node->child->schema;
    Wanted below = wanted_new(arena, before->field_count);
    size_t used = number_used(wanted);
    for (size_t i = 0; i < node->expression_count; i++) {
        if (wanted->used[i]) {
            expr_visit_columns(node->expressions[i], want, &below);
        }
    }
    LogicalNode *result = arena_new_object(arena, LogicalNode);
    *result = *node;
    result->child = prune(context, node->child, &below);
    result->schema = used_fields(arena, node->schema, wanted, used);
    result->expressions = arena_new_array(arena, BoundExpr *, used);
    result->expression_count = used;
    BoundExpr **columns = renumbered_columns(arena, before, &below);
    for (size_t i = 0; i < node->expression_count; i++) {
        if (wanted->used[i]) {
            result->expressions[wanted->number[i]] =
                expr_replace_columns(arena, node->expressions[i], columns);
        }
    }
    return result;
}

/* VALUES keeps its columns: their cells may fail, and are few. */
static LogicalNode *prune_nothing(LogicalNode *node, Wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        wanted->used[i] = true;
        wanted->number[i] = (uint32_t)i;
    }
    return node;
}

static LogicalNode *prune(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    switch (node->kind) {
    case LOGICAL_SCAN:
        return prune_scan(context, node, wanted);
    case LOGICAL_FILTER:
        return prune_filter(context, node, wanted);
    case LOGICAL_PROJECT:
        return prune_project(context, node, wanted);
    case LOGICAL_VALUES:
    case LOGICAL_ONE_ROW:
        return prune_nothing(node, wanted);
    default:
        return node;
    }
}

LogicalNode *rule_prune_columns(Arena *arena, LogicalPlan *plan, LogicalNode *root)
{
    Prune context = {arena, plan};
    Wanted wanted = wanted_new(arena, root->schema->field_count);
    for (size_t i = 0; i < wanted.count; i++) {
        wanted.used[i] = true;
    }
    return prune(&context, root, &wanted);
}
