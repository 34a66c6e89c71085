/* A scan reads only the columns that some node above it uses, and every node below computes only
 * those. Walks down with the set of columns asked for, and comes back with where each went: old
 * column number -> new column number. A node may keep more columns than it was asked for (a filter
 * those of its condition); the set then says so. */
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

static void want_all(Wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        wanted->used[i] = true;
    }
}

/* `count` columns from `first` on, as a set of their own, and back. */
static Wanted wanted_part(Arena *arena, const Wanted *wanted, size_t first, size_t count)
{
    Wanted part = wanted_new(arena, count);
    for (size_t i = 0; i < count; i++) {
        part.used[i] = wanted->used[first + i];
    }
    return part;
}

static void take_part(Wanted *wanted, size_t first, const Wanted *part)
{
    for (size_t i = 0; i < part->count; i++) {
        wanted->used[first + i] = part->used[i];
    }
}

static LogicalNode *prune(const Prune *context, LogicalNode *node, Wanted *wanted);

/* ------------------------------------------------------- expressions of a node --- */

typedef struct Uses {
    Wanted *left;
    Wanted *right; /* JOIN */
} Uses;

static void want_of_both(void *context, uint32_t column)
{
    const Uses *uses = context;
    bool left = column < uses->left->count;
    want(left ? uses->left : uses->right, left ? column : column - (uint32_t)uses->left->count);
}

static void want_expr(void *context, const BoundExpr *expr, ExprRole role)
{
    Uses *uses = context;
    switch (role) {
    case OVER_CHILD:
        expr_visit_columns(expr, want, uses->left);
        return;
    case OVER_RIGHT:
        expr_visit_columns(expr, want, uses->right);
        return;
    case OVER_BOTH:
        expr_visit_columns(expr, want_of_both, uses);
        return;
    }
}

typedef struct Renumber {
    Arena *arena;
    const Wanted *left;
    const Wanted *right;
    size_t left_count; /* columns of the pruned left side */
} Renumber;

typedef struct RenumberExpr {
    const Renumber *numbers;
    ExprRole role;
} RenumberExpr;

static uint32_t new_number(const Renumber *numbers, ExprRole role, uint32_t column)
{
    switch (role) {
    case OVER_CHILD:
        return numbers->left->number[column];
    case OVER_RIGHT:
        return numbers->right->number[column];
    case OVER_BOTH:
        return column < numbers->left->count
                   ? numbers->left->number[column]
                   : (uint32_t)(numbers->left_count +
                                numbers->right->number[column - numbers->left->count]);
    }
    return column;
}

static BoundExpr *renumber_column(void *context, BoundExpr *expr)
{
    const RenumberExpr *renumber = context;
    if (expr->kind != BOUND_COLUMN) {
        return NULL;
    }
    uint32_t number = new_number(renumber->numbers, renumber->role, expr->column);
    return expr_shift_columns(renumber->numbers->arena, expr, (int64_t)number - expr->column);
}

static BoundExpr *renumber_expr(void *context, BoundExpr *expr, ExprRole role)
{
    const Renumber *numbers = context;
    RenumberExpr renumber = {numbers, role};
    return expr_map(numbers->arena, expr, renumber_column, &renumber);
}

/* A copy of the node over its pruned child. */
static LogicalNode *over_pruned(const Prune *context, const LogicalNode *node, LogicalNode *child,
                                const Wanted *below)
{
    Renumber numbers = {.arena = context->arena, .left = below};
    LogicalNode *copy = node_map_exprs(context->arena, node, renumber_expr, &numbers);
    copy->child = child;
    return copy;
}

/* -------------------------------------------------------------- leaves --- */

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
    LogicalNode *result = node_copy(arena, node);
    result->schema = schema;
    return result;
}

/* VALUES keeps its columns: their cells may fail, and are few. */
static LogicalNode *prune_nothing(LogicalNode *node, Wanted *wanted)
{
    want_all(wanted);
    (void)number_used(wanted);
    return node;
}

/* ------------------------------------------- nodes that pass their child's columns --- */

/* FILTER, SORT, LIMIT: the child's columns. */
static LogicalNode *prune_passing(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Uses uses = {.left = wanted};
    node_visit_exprs(node, want_expr, &uses);
    LogicalNode *child = prune(context, node->child, wanted);
    LogicalNode *result = over_pruned(context, node, child, wanted);
    result->schema = child->schema;
    return result;
}

static LogicalNode *prune_watermark(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    wanted->used[node->event_time] = true;
    LogicalNode *result = prune_passing(context, node, wanted);
    result->event_time = wanted->number[node->event_time];
    return result;
}

static LogicalNode *prune_generate(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    size_t passed = node->child->schema->field_count;
    Wanted below = wanted_part(context->arena, wanted, 0, passed);
    Uses uses = {.left = &below};
    node_visit_exprs(node, want_expr, &uses);
    LogicalNode *child = prune(context, node->child, &below);
    take_part(wanted, 0, &below);
    for (size_t i = passed; i < wanted->count; i++) {
        wanted->used[i] = true;
    }
    size_t used = number_used(wanted);
    LogicalNode *result = over_pruned(context, node, child, &below);
    result->schema = used_fields(context->arena, node->schema, wanted, used);
    return result;
}

/* A window function that nobody uses is not computed; the node goes where none is left. */
static LogicalNode *prune_window(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Arena *arena = context->arena;
    size_t passed = node->child->schema->field_count;
    LogicalNode *fewer = node_copy(arena, node);
    BoundWindowCall *windows = arena_new_array(arena, BoundWindowCall, node->window_count);
    size_t count = 0;
    for (size_t i = 0; i < node->window_count; i++) {
        if (wanted->used[passed + i]) {
            windows[count++] = node->windows[i];
        }
    }
    fewer->windows = windows;
    fewer->window_count = count;
    Wanted below = wanted_part(arena, wanted, 0, passed);
    Uses uses = {.left = &below};
    if (count > 0) {
        node_visit_exprs(fewer, want_expr, &uses);
    }
    LogicalNode *child = prune(context, node->child, &below);
    take_part(wanted, 0, &below);
    size_t used = number_used(wanted);
    if (count == 0) {
        return child;
    }
    LogicalNode *result = over_pruned(context, fewer, child, &below);
    result->schema = used_fields(arena, node->schema, wanted, used);
    return result;
}

/* ------------------------------------------------- nodes that compute their columns --- */

/* PROJECT; and EXPAND, which is row_count of them. */
static LogicalNode *prune_computing(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Arena *arena = context->arena;
    size_t used = number_used(wanted);
    size_t rows = node->kind == LOGICAL_EXPAND ? node->row_count : 1;
    LogicalNode *fewer = node_copy(arena, node);
    fewer->expressions = arena_new_array(arena, BoundExpr *, rows * used);
    fewer->expression_count = rows * used;
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < wanted->count; i++) {
            if (wanted->used[i]) {
                fewer->expressions[row * used + wanted->number[i]] =
                    node->expressions[row * wanted->count + i];
            }
        }
    }
    Wanted below = wanted_new(arena, node->child->schema->field_count);
    Uses uses = {.left = &below};
    node_visit_exprs(fewer, want_expr, &uses);
    LogicalNode *child = prune(context, node->child, &below);
    LogicalNode *result = over_pruned(context, fewer, child, &below);
    result->schema = used_fields(arena, node->schema, wanted, used);
    return result;
}

/* Group keys stay: they decide which rows there are. */
static LogicalNode *prune_aggregate(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Arena *arena = context->arena;
    size_t keys = node->expression_count;
    LogicalNode *fewer = node_copy(arena, node);
    BoundAggregate *aggregates = arena_new_array(arena, BoundAggregate, node->aggregate_count);
    size_t count = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        wanted->used[i] = wanted->used[i] || i < keys;
        if (i >= keys && wanted->used[i]) {
            aggregates[count++] = node->aggregates[i - keys];
        }
    }
    fewer->aggregates = aggregates;
    fewer->aggregate_count = count;
    Wanted below = wanted_new(arena, node->child->schema->field_count);
    Uses uses = {.left = &below};
    node_visit_exprs(fewer, want_expr, &uses);
    LogicalNode *child = prune(context, node->child, &below);
    size_t used = number_used(wanted);
    LogicalNode *result = over_pruned(context, fewer, child, &below);
    result->schema = used_fields(arena, node->schema, wanted, used);
    return result;
}

/* ------------------------------------------------------------ two children --- */

static LogicalNode *prune_join(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Arena *arena = context->arena;
    size_t left_count = node->child->schema->field_count;
    size_t right_count = node->right->schema->field_count;
    Wanted left = wanted_part(arena, wanted, 0, left_count);
    Wanted right = join_gives_right(node->join)
                       ? wanted_part(arena, wanted, left_count, right_count)
                       : wanted_new(arena, right_count);
    Uses uses = {&left, &right};
    node_visit_exprs(node, want_expr, &uses);
    LogicalNode *pruned_left = prune(context, node->child, &left);
    LogicalNode *pruned_right = prune(context, node->right, &right);
    take_part(wanted, 0, &left);
    if (join_gives_right(node->join)) {
        take_part(wanted, left_count, &right);
    } else if (node->join == JOIN_MARK) {
        wanted->used[left_count] = true;
    }
    Renumber numbers = {arena, &left, &right, pruned_left->schema->field_count};
    LogicalNode *result = node_map_exprs(arena, node, renumber_expr, &numbers);
    result->child = pruned_left;
    result->right = pruned_right;
    result->schema = used_fields(arena, node->schema, wanted, number_used(wanted));
    return result;
}

/* The columns asked for of a side that has kept more of them. */
static LogicalNode *narrow(Arena *arena, LogicalNode *node, const Wanted *asked, const Wanted *kept)
{
    size_t count = 0;
    Field *fields = arena_new_array(arena, Field, asked->count);
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, asked->count);
    for (size_t i = 0; i < asked->count; i++) {
        if (asked->used[i]) {
            fields[count] = node->schema->fields[kept->number[i]];
            columns[count] = expr_column(arena, &fields[count], kept->number[i]);
            count++;
        }
    }
    return count == node->schema->field_count ? node
                                              : node_project(arena, node, fields, columns, count);
}

/* Both sides give the same columns; INTERSECT and EXCEPT compare them all. */
static LogicalNode *prune_set(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    Arena *arena = context->arena;
    if (node->set_operation != SET_UNION) {
        want_all(wanted);
    }
    size_t used = number_used(wanted);
    LogicalNode *result = node_copy(arena, node);
    Wanted left = wanted_part(arena, wanted, 0, wanted->count);
    Wanted right = wanted_part(arena, wanted, 0, wanted->count);
    result->child = narrow(arena, prune(context, node->child, &left), wanted, &left);
    result->right = narrow(arena, prune(context, node->right, &right), wanted, &right);
    result->schema = used_fields(arena, node->schema, wanted, used);
    return result;
}

static LogicalNode *prune(const Prune *context, LogicalNode *node, Wanted *wanted)
{
    switch (node->kind) {
    case LOGICAL_SCAN:
        return prune_scan(context, node, wanted);
    case LOGICAL_VALUES:
    case LOGICAL_ONE_ROW:
    case LOGICAL_RANGE:
        return prune_nothing(node, wanted);
    case LOGICAL_FILTER:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        return prune_passing(context, node, wanted);
    case LOGICAL_PROJECT:
    case LOGICAL_EXPAND:
        return prune_computing(context, node, wanted);
    case LOGICAL_AGGREGATE:
        return prune_aggregate(context, node, wanted);
    case LOGICAL_WINDOW:
        return prune_window(context, node, wanted);
    case LOGICAL_GENERATE:
        return prune_generate(context, node, wanted);
    case LOGICAL_JOIN:
        return prune_join(context, node, wanted);
    case LOGICAL_SET:
        return prune_set(context, node, wanted);
    case LOGICAL_WATERMARK:
        return prune_watermark(context, node, wanted);
    }
    return node;
}

LogicalNode *rule_prune_columns(Arena *arena, LogicalPlan *plan, LogicalNode *root)
{
    Prune context = {arena, plan};
    Wanted wanted = wanted_new(arena, root->schema->field_count);
    want_all(&wanted);
    return prune(&context, root, &wanted);
}
