/* Filters go down, as near to the sources as they can:
 *
 *     Filter (y > 1 AND b.k = 2)             Project [x AS y, k]
 *       Project [x AS y, k]                    Join INNER
 *         Join INNER                  ->         Filter (x > 1)
 *           Scan a [x]                             Scan a [x]
 *           Scan b [k]                           Filter (k = 2)
 *                                                  Scan b [k]
 *
 * A walk down carries the conjuncts that may still go deeper, in the order in which they are
 * evaluated; each node takes those that can pass it, and a filter above it keeps the rest. A
 * conjunct that uses both sides of an inner join becomes part of its condition.
 *
 * No error appears that was not there: a conjunct that can fail passes only nodes that keep every
 * row (projections, sorts), and only when none evaluated before it stays behind. The exception are
 * keys of an inner join, which Spark computes for all rows too. Errors may go away, as in Spark: an
 * expression above a filter's new place is not evaluated for rows that the filter drops. */
#include <assert.h>

#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

/* A conjunct on its way, with the filter that it comes from. */
typedef struct Conjunct {
    BoundExpr *expr;
    const LogicalNode *filter;
} Conjunct;

typedef struct Conjuncts {
    Conjunct *items;
    size_t count;
    size_t capacity;
} Conjuncts;

static LogicalNode *sink(Arena *arena, LogicalNode *node, const Conjuncts *conjuncts);

static void add(Arena *arena, Conjuncts *list, Conjunct conjunct)
{
    *arena_push(arena, list->items, list->count, list->capacity) = conjunct;
}

/* Filters over the node: one, or more where an AND of all would evaluate a conjunct that can fail
 * for a row for which that of a filter below it is NULL. */
static LogicalNode *filters_over(Arena *arena, LogicalNode *node, const Conjuncts *conjuncts)
{
    ExprList together = {0};
    const LogicalNode *filter = NULL;
    for (size_t i = 0; i < conjuncts->count; i++) {
        const Conjunct *conjunct = &conjuncts->items[i];
        if (together.count > 0 && conjunct->filter != filter && expr_can_fail(conjunct->expr)) {
            node = node_filter(arena, node, expr_list_and(arena, &together));
            together = (ExprList){0};
        }
        expr_list_add(arena, &together, conjunct->expr);
        filter = conjunct->filter;
    }
    return together.count == 0 ? node : node_filter(arena, node, expr_list_and(arena, &together));
}

/* ------------------------------------------------------ what may pass a node --- */

/* Conjuncts that pass, over the child's columns, and those that stay. */
typedef struct Split {
    Conjuncts pass;
    Conjuncts stay;
} Split;

/* `rewrite` gives the conjunct over the child's columns, NULL when it cannot pass.
 * `keeps_rows`: the child's rows are those of the node, so that one that can fail may pass too. */
static Split split_conjuncts(Arena *arena, const Conjuncts *conjuncts, bool keeps_rows,
                             BoundExpr *(*rewrite)(Arena *arena, const LogicalNode *node,
                                                   BoundExpr *conjunct),
                             const LogicalNode *node)
{
    Split split = {0};
    for (size_t i = 0; i < conjuncts->count; i++) {
        Conjunct conjunct = conjuncts->items[i];
        bool may_fail_there = keeps_rows && split.stay.count == 0;
        BoundExpr *moved = NULL;
        if (expr_is_deterministic(conjunct.expr) &&
            (may_fail_there || !expr_can_fail(conjunct.expr))) {
            moved = rewrite(arena, node, conjunct.expr);
        }
        if (moved != NULL) {
            add(arena, &split.pass, (Conjunct){moved, conjunct.filter});
        } else {
            add(arena, &split.stay, conjunct);
        }
    }
    return split;
}

static BoundExpr *as_it_is(Arena *arena, const LogicalNode *node, BoundExpr *conjunct)
{
    (void)arena;
    (void)node;
    return conjunct;
}

typedef struct SimpleUses {
    BoundExpr *const *exprs;
    size_t count;
    bool simple;
} SimpleUses;

static void note_use(void *context, uint32_t column)
{
    SimpleUses *uses = context;
    uses->simple = uses->simple && column < uses->count && expr_is_simple(uses->exprs[column]) &&
                   !expr_can_fail(uses->exprs[column]);
}

/* With the node's expressions in place of its columns: columns, casts of them or literals, so that
 * nothing is computed twice. PROJECT, and the keys of AGGREGATE. */
static BoundExpr *through_expressions(Arena *arena, const LogicalNode *node, BoundExpr *conjunct)
{
    SimpleUses uses = {node->expressions, node->expression_count, true};
    expr_visit_columns(conjunct, note_use, &uses);
    bool grouped = node->kind != LOGICAL_AGGREGATE || node->expression_count > 0;
    return uses.simple && grouped ? expr_replace_columns(arena, conjunct, node->expressions) : NULL;
}

/* A filter on a window's partition keys drops whole partitions. */
typedef struct PartitionUses {
    const LogicalNode *window;
    bool only;
} PartitionUses;

static void note_partition_use(void *context, uint32_t column)
{
    PartitionUses *uses = context;
    bool is_key = false;
    for (size_t i = 0; i < uses->window->expression_count && !is_key; i++) {
        const BoundExpr *key = uses->window->expressions[i];
        is_key = key->kind == BOUND_COLUMN && key->column == column;
    }
    uses->only = uses->only && is_key;
}

static BoundExpr *on_partition_keys(Arena *arena, const LogicalNode *node, BoundExpr *conjunct)
{
    (void)arena;
    PartitionUses uses = {node, true};
    expr_visit_columns(conjunct, note_partition_use, &uses);
    return uses.only && expr_uses_columns(conjunct) ? conjunct : NULL;
}

static BoundExpr *on_child_columns(Arena *arena, const LogicalNode *node, BoundExpr *conjunct)
{
    (void)arena;
    return expr_uses_only(conjunct, 0, node->child->schema->field_count) ? conjunct : NULL;
}

/* The node over its child, which gets what passes; filters above keep the rest. */
static LogicalNode *sink_below(Arena *arena, LogicalNode *node, const Split *split)
{
    LogicalNode *copy = node_copy(arena, node);
    copy->child = sink(arena, node->child, &split->pass);
    return filters_over(arena, copy, &split->stay);
}

/* Spark computes projections of literal rows while it plans, before it moves filters. */
static bool is_computed_at_once(const LogicalNode *node)
{
    while (node->kind == LOGICAL_PROJECT || node->kind == LOGICAL_FILTER) {
        node = node->child;
    }
    return node->kind == LOGICAL_VALUES;
}

/* May a filter pass? */
static bool lets_pass(const LogicalNode *project)
{
    bool may_fail = !is_computed_at_once(project);
    for (size_t i = 0; i < project->expression_count; i++) {
        if (!expr_is_deterministic(project->expressions[i]) ||
            (!may_fail && expr_can_fail(project->expressions[i]))) {
            return false;
        }
    }
    return true;
}

static LogicalNode *sink_project(Arena *arena, LogicalNode *node, const Conjuncts *conjuncts)
{
    Split split = {.stay = *conjuncts};
    if (lets_pass(node)) {
        split = split_conjuncts(arena, conjuncts, true, through_expressions, node);
    }
    return sink_below(arena, node, &split);
}

/* ------------------------------------------------------------------ joins --- */

/* Which sides of a join may be filtered before it, by a filter above it and by its own condition.
 */
typedef struct JoinSides {
    bool above_left;
    bool above_right;
    bool condition_left;
    bool condition_right;
} JoinSides;

static JoinSides sides_to_filter(JoinKind kind)
{
    switch (kind) {
    case JOIN_INNER:
        return (JoinSides){true, true, true, true};
    case JOIN_LEFT:
    case JOIN_SINGLE:
        return (JoinSides){true, false, false, true};
    case JOIN_RIGHT:
        return (JoinSides){false, true, true, false};
    case JOIN_FULL:
        return (JoinSides){false, false, false, false};
    case JOIN_SEMI:
        return (JoinSides){true, false, true, true};
    case JOIN_ANTI:
    case JOIN_NULL_ANTI:
    case JOIN_MARK:
        return (JoinSides){true, false, false, true};
    }
    return (JoinSides){false, false, false, false};
}

typedef struct JoinSplit {
    size_t left_count;
    size_t right_count;
    Conjuncts left;
    Conjuncts right;
    ExprList both; /* of the condition */
} JoinSplit;

static bool goes_left(const JoinSplit *split, const BoundExpr *conjunct)
{
    return expr_uses_only(conjunct, 0, split->left_count);
}

static bool goes_right(const JoinSplit *split, const BoundExpr *conjunct)
{
    return expr_uses_only(conjunct, split->left_count, split->left_count + split->right_count);
}

/* An expression of the one side equal to one of the other: a key, without which the join would be a
 * product. */
static bool is_key(const JoinSplit *split, const BoundExpr *conjunct)
{
    if (!expr_is_equality(conjunct)) {
        return false;
    }
    const BoundExpr *a = conjunct->children[0];
    const BoundExpr *b = conjunct->children[1];
    return expr_uses_columns(a) && expr_uses_columns(b) &&
           ((goes_left(split, a) && goes_right(split, b)) ||
            (goes_right(split, a) && goes_left(split, b)));
}

/* Hands the conjunct to a side if it may go there. */
static bool give_to_side(Arena *arena, JoinSplit *split, Conjunct conjunct, bool left, bool right)
{
    if (!expr_is_deterministic(conjunct.expr) || expr_can_fail(conjunct.expr)) {
        return false;
    }
    bool gives_left = left && goes_left(split, conjunct.expr);
    bool gives_right = right && goes_right(split, conjunct.expr);
    if (gives_left) {
        add(arena, &split->left, conjunct);
    }
    if (gives_right) {
        conjunct.expr = expr_shift_columns(arena, conjunct.expr, -(int64_t)split->left_count);
        add(arena, &split->right, conjunct);
    }
    return gives_left || gives_right;
}

static void split_condition(Arena *arena, const LogicalNode *join, JoinSides sides,
                            JoinSplit *split)
{
    ExprList condition = {0};
    if (join->condition != NULL) {
        expr_list_add_conjuncts(arena, &condition, join->condition);
    }
    for (size_t i = 0; i < condition.count; i++) {
        if (!give_to_side(arena, split, (Conjunct){condition.items[i], join}, sides.condition_left,
                          sides.condition_right)) {
            expr_list_add(arena, &split->both, condition.items[i]);
        }
    }
}

/* Is it NULL, or FALSE, for every row in which the columns first … end are NULL? When in doubt no.
 */
static bool rejects_nulls(const BoundExpr *expr, size_t first, size_t end)
{
    bool strict = false;
    switch (expr->kind) {
    case BOUND_COLUMN:
        return expr->column >= first && expr->column < end;
    case BOUND_CALL:
        strict = (expr->function->flags & FUNCTION_NULL_IN_NULL_OUT) != 0 ||
                 str_equal(str_from(expr->function->name), STR("isnotnull"));
        break;
    case BOUND_CAST:
    case BOUND_NOT:
    case BOUND_FIELD:
        strict = true;
        break;
    case BOUND_IN:
        return rejects_nulls(expr->children[0], first, end);
    case BOUND_LITERAL:
    case BOUND_CASE:
    case BOUND_AND:
    case BOUND_OR:
    case BOUND_COALESCE:
    case BOUND_STRUCT:
    case BOUND_LAMBDA:
    case BOUND_PARAMETER:
    case BOUND_SUBQUERY:
    case BOUND_OUTER_COLUMN:
        return false;
    }
    for (size_t i = 0; i < expr->child_count && strict; i++) {
        if (rejects_nulls(expr->children[i], first, end)) {
            return true;
        }
    }
    return false;
}

/* An outer join whose rows without a partner are all dropped above it need not make them. */
static JoinKind kind_needed(const LogicalNode *join, const Conjuncts *conjuncts)
{
    size_t left_count = join->child->schema->field_count;
    bool needs_left = false;
    bool needs_right = false;
    for (size_t i = 0; i < conjuncts->count; i++) {
        const BoundExpr *expr = conjuncts->items[i].expr;
        needs_left = needs_left || rejects_nulls(expr, 0, left_count);
        needs_right = needs_right || rejects_nulls(expr, left_count, join->schema->field_count);
    }
    switch (join->join) {
    case JOIN_LEFT:
        return needs_right ? JOIN_INNER : JOIN_LEFT;
    case JOIN_RIGHT:
        return needs_left ? JOIN_INNER : JOIN_RIGHT;
    case JOIN_FULL:
        if (needs_left && needs_right) {
            return JOIN_INNER;
        }
        return needs_left ? JOIN_LEFT : needs_right ? JOIN_RIGHT : JOIN_FULL;
    case JOIN_INNER:
    case JOIN_SEMI:
    case JOIN_ANTI:
    case JOIN_NULL_ANTI:
    case JOIN_MARK:
    case JOIN_SINGLE:
        return join->join;
    }
    return join->join;
}

static LogicalNode *sink_join(Arena *arena, LogicalNode *before, const Conjuncts *conjuncts)
{
    LogicalNode *node = node_copy(arena, before);
    node->join = kind_needed(before, conjuncts);
    JoinSides sides = sides_to_filter(node->join);
    JoinSplit split = {.left_count = node->child->schema->field_count,
                       .right_count = node->right->schema->field_count};
    Conjuncts stay = {0};
    split_condition(arena, node, sides, &split);
    for (size_t i = 0; i < conjuncts->count; i++) {
        Conjunct conjunct = conjuncts->items[i];
        bool may_move = !expr_can_fail(conjunct.expr) || is_key(&split, conjunct.expr) ||
                        stay.count == 0; /* evaluated for the same pairs, or as Spark does */
        bool to_condition = node->join == JOIN_INNER && may_move &&
                            expr_is_deterministic(conjunct.expr) &&
                            !goes_left(&split, conjunct.expr) && !goes_right(&split, conjunct.expr);
        if (give_to_side(arena, &split, conjunct, sides.above_left, sides.above_right)) {
            continue;
        }
        if (to_condition) {
            expr_list_add(arena, &split.both, conjunct.expr);
        } else {
            add(arena, &stay, conjunct);
        }
    }
    node->child = sink(arena, node->child, &split.left);
    node->right = sink(arena, node->right, &split.right);
    node->condition = expr_list_and(arena, &split.both);
    return filters_over(arena, node, &stay);
}

static LogicalNode *sink_set(Arena *arena, LogicalNode *node, const Conjuncts *conjuncts)
{
    Split split =
        split_conjuncts(arena, conjuncts, node->set_operation == SET_UNION, as_it_is, node);
    LogicalNode *copy = node_copy(arena, node);
    copy->child = sink(arena, node->child, &split.pass);
    copy->right = sink(arena, node->right, &split.pass);
    return filters_over(arena, copy, &split.stay);
}

/* ----------------------------------------------------------- node by node --- */

/* A filter's conjuncts come before those from above. */
static LogicalNode *sink_filter(Arena *arena, LogicalNode *node, const Conjuncts *conjuncts)
{
    ExprList own = {0};
    Conjuncts all = {0};
    expr_list_add_conjuncts(arena, &own, node->expressions[0]);
    for (size_t i = 0; i < own.count; i++) {
        add(arena, &all, (Conjunct){own.items[i], node});
    }
    for (size_t i = 0; i < conjuncts->count; i++) {
        add(arena, &all, conjuncts->items[i]);
    }
    return sink(arena, node->child, &all);
}

static LogicalNode *sink(Arena *arena, LogicalNode *node, const Conjuncts *conjuncts)
{
    Split split = {0};
    switch (node->kind) {
    case LOGICAL_FILTER:
        return sink_filter(arena, node, conjuncts);
    case LOGICAL_PROJECT:
        return sink_project(arena, node, conjuncts);
    case LOGICAL_JOIN:
        return sink_join(arena, node, conjuncts);
    case LOGICAL_SET:
        return sink_set(arena, node, conjuncts);
    case LOGICAL_SORT:
        split.stay = *conjuncts;
        if (node->limit < 0) {
            split = split_conjuncts(arena, conjuncts, true, as_it_is, node);
        }
        return sink_below(arena, node, &split);
    case LOGICAL_AGGREGATE:
        split = split_conjuncts(arena, conjuncts, false, through_expressions, node);
        return sink_below(arena, node, &split);
    case LOGICAL_WINDOW:
        split = split_conjuncts(arena, conjuncts, false, on_partition_keys, node);
        return sink_below(arena, node, &split);
    case LOGICAL_GENERATE:
        split = split_conjuncts(arena, conjuncts, false, on_child_columns, node);
        return sink_below(arena, node, &split);
    case LOGICAL_EXPAND:
    case LOGICAL_LIMIT:
    case LOGICAL_WATERMARK: /* every row moves it, also those that are filtered */
        split.stay = *conjuncts;
        return sink_below(arena, node, &split);
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_ONE_ROW:
    case LOGICAL_RANGE:
        return filters_over(arena, node, conjuncts);
    }
    return node;
}

LogicalNode *rule_push_filter(Arena *arena, LogicalNode *root)
{
    const Conjuncts none = {0};
    return sink(arena, root, &none);
}
