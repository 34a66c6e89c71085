/* Inner joins in an order in which none is a cross product that need not be:
 *
 *     FROM a, b, c WHERE a.x = c.x AND b.y = c.y
 *
 *     Join ON a.x = c.x AND b.y = c.y            Project [a, b, c]
 *       Join                             ->        Join ON b.y = c.y
 *         a                                          Join ON a.x = c.x
 *         b                                            a
 *       c                                              c
 *                                                    b
 *
 * The order that is written stays as long as each join has a condition. Else: the first relation,
 * then always the next one in order that has a condition with those before it. */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

/* A tree of inner joins as a list: its leaves, and the conjuncts over all their columns. */
typedef struct JoinList {
    Arena *arena;
    LogicalNode **leaves;
    size_t leaf_count;
    size_t leaf_capacity;
    ExprList conjuncts;
    bool has_cross;
    bool can_fail; /* then the order says which rows fail */
} JoinList;

static bool is_plain_inner(const LogicalNode *node)
{
    return node->kind == LOGICAL_JOIN && node->join == JOIN_INNER && node->expression_count == 0;
}

static bool uses_both(const BoundExpr *conjunct, size_t left_count, size_t end)
{
    return !expr_uses_only(conjunct, 0, left_count) && !expr_uses_only(conjunct, left_count, end);
}

/* `first`: number of the tree's first column among all. */
static void collect(JoinList *list, LogicalNode *node, size_t first)
{
    if (!is_plain_inner(node)) {
        *arena_push(list->arena, list->leaves, list->leaf_count, list->leaf_capacity) = node;
        return;
    }
    size_t left_count = node->child->schema->field_count;
    ExprList own = {0};
    bool connected = false;
    if (node->condition != NULL) {
        expr_list_add_conjuncts(list->arena, &own, node->condition);
    }
    for (size_t i = 0; i < own.count; i++) {
        connected = connected || uses_both(own.items[i], left_count, node->schema->field_count);
        list->can_fail =
            list->can_fail || expr_can_fail(own.items[i]) || !expr_is_deterministic(own.items[i]);
        expr_list_add(list->arena, &list->conjuncts,
                      expr_shift_columns(list->arena, own.items[i], (int64_t)first));
    }
    list->has_cross = list->has_cross || !connected;
    collect(list, node->child, first);
    collect(list, node->right, first + left_count);
}

/* The joins that are built so far. */
typedef struct Ordered {
    const JoinList *list;
    LogicalNode *node;
    size_t *first;      /* by leaf: its first column among all, as they were */
    bool *joined;       /* by leaf */
    bool *used;         /* by conjunct */
    BoundExpr **column; /* by old column: as it is in `node`; NULL: not there */
    bool moved;         /* is the order another one? */
} Ordered;

typedef struct Needs {
    const Ordered *ordered;
    size_t begin; /* of the leaf that is asked about */
    size_t end;
    bool leaf;
    bool before; /* a relation that is joined */
    bool others; /* one that is not */
} Needs;

static void note_need(void *context, uint32_t column)
{
    Needs *needs = context;
    if (column >= needs->begin && column < needs->end) {
        needs->leaf = true;
    } else if (needs->ordered->column[column] != NULL) {
        needs->before = true;
    } else {
        needs->others = true;
    }
}

static Needs needs_of(const Ordered *ordered, size_t leaf, const BoundExpr *conjunct)
{
    size_t begin = ordered->first[leaf];
    Needs needs = {ordered, begin, begin + ordered->list->leaves[leaf]->schema->field_count,
                   false,   false, false};
    expr_visit_columns(conjunct, note_need, &needs);
    return needs;
}

static bool is_connected(const Ordered *ordered, size_t leaf)
{
    for (size_t i = 0; i < ordered->list->conjuncts.count; i++) {
        Needs needs = needs_of(ordered, leaf, ordered->list->conjuncts.items[i]);
        if (needs.leaf && needs.before && !needs.others) {
            return true;
        }
    }
    return false;
}

/* The leaf to join next; leaf_count: all are joined. */
static size_t next_leaf(const Ordered *ordered)
{
    size_t count = ordered->list->leaf_count;
    size_t first = count;
    for (size_t i = 0; i < count; i++) {
        if (!ordered->joined[i] && is_connected(ordered, i)) {
            return i;
        }
        first = !ordered->joined[i] && i < first ? i : first;
    }
    return first;
}

static void add_leaf(Ordered *ordered, size_t leaf)
{
    Arena *arena = ordered->list->arena;
    LogicalNode *right = ordered->list->leaves[leaf];
    size_t at = ordered->node == NULL ? 0 : ordered->node->schema->field_count;
    ordered->joined[leaf] = true;
    for (size_t i = 0; i < right->schema->field_count; i++) {
        ordered->column[ordered->first[leaf] + i] =
            expr_column(arena, &right->schema->fields[i], at + i);
    }
    if (ordered->node == NULL) {
        ordered->node = right;
        return;
    }
    LogicalNode *join = node_join(arena, JOIN_INNER, ordered->node, right, STR(""));
    ExprList condition = {0};
    for (size_t i = 0; i < ordered->list->conjuncts.count; i++) {
        BoundExpr *conjunct = ordered->list->conjuncts.items[i];
        Needs needs = needs_of(ordered, leaf, conjunct);
        if (!ordered->used[i] && !needs.others) {
            ordered->used[i] = true;
            expr_list_add(arena, &condition,
                          expr_replace_columns(arena, conjunct, ordered->column));
        }
    }
    join->condition = expr_list_and(arena, &condition);
    ordered->node = join;
}

static LogicalNode *order(JoinList *list, LogicalNode *tree)
{
    Arena *arena = list->arena;
    Ordered ordered = {.list = list,
                       .first = arena_new_array(arena, size_t, list->leaf_count),
                       .joined = arena_new_array(arena, bool, list->leaf_count),
                       .used = arena_new_array(arena, bool, list->conjuncts.count),
                       .column = arena_new_array(arena, BoundExpr *, tree->schema->field_count)};
    for (size_t i = 1; i < list->leaf_count; i++) {
        ordered.first[i] = ordered.first[i - 1] + list->leaves[i - 1]->schema->field_count;
    }
    for (size_t i = 0; i < list->leaf_count; i++) {
        size_t leaf = next_leaf(&ordered);
        ordered.moved = ordered.moved || leaf != i;
        add_leaf(&ordered, leaf);
    }
    return ordered.moved ? node_project(arena, ordered.node, tree->schema->fields, ordered.column,
                                        tree->schema->field_count)
                         : tree;
}

LogicalNode *rule_order_joins(Arena *arena, LogicalNode *node)
{
    JoinList list = {.arena = arena};
    if (is_plain_inner(node)) {
        collect(&list, node, 0);
        if (list.has_cross && !list.can_fail && list.leaf_count > 2) {
            LogicalNode *ordered = order(&list, node);
            if (ordered != node) {
                return rule_order_joins(arena, ordered);
            }
        }
    }
    LogicalNode *copy = node_copy(arena, node);
    if (node->child != NULL) {
        copy->child = rule_order_joins(arena, node->child);
    }
    if (node->right != NULL) {
        copy->right = rule_order_joins(arena, node->right);
    }
    return copy;
}
