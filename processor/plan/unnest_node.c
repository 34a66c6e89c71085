/* Subqueries in the expressions of a node: which join stands for each, see unnest.h.
 *
 *     Filter (a > 1 AND EXISTS (q) AND b = (SELECT max(c) …))
 *
 *     Project [columns of the child]
 *       Join SEMI                            what only filters comes last
 *         Filter (b = scalar)
 *           Join SINGLE                      adds `scalar`
 *             Filter (a > 1)                 what needs no subquery comes first
 *             Aggregate …
 *         q                                                                                */
#include <assert.h>

#include "processor/plan/unnest.h"

#include "processor/base/banned.h"

static void note_subquery(void *context, const BoundExpr *expr, ExprRole role)
{
    (void)role;
    bool *found = context;
    *found = *found || expr_has_kind(expr, BOUND_SUBQUERY);
}

typedef struct Negated {
    Arena *arena;
    ExprList list;
} Negated;

static void note_negated(Negated *negated, BoundExpr *expr, bool below_not)
{
    if (expr->kind == BOUND_SUBQUERY && below_not) {
        expr_list_add(negated->arena, &negated->list, expr);
    }
    bool logic = expr->kind == BOUND_AND || expr->kind == BOUND_OR;
    bool below = expr->kind == BOUND_NOT ? !below_not : logic && below_not;
    for (size_t i = 0; i < expr->child_count; i++) {
        note_negated(negated, expr->children[i], below);
    }
}

static BoundExpr *note_negated_in(void *context, BoundExpr *expr, ExprRole role)
{
    (void)role;
    note_negated(context, expr, false);
    return expr;
}

static bool has_subquery(const LogicalNode *node)
{
    bool found = false;
    node_visit_exprs(node, note_subquery, &found);
    return found;
}

/* --------------------------------------------- subqueries that give a value --- */

/* A tree to which subqueries are joined; each adds a column. */
typedef struct Attach {
    PlanBuilder *builder;
    LogicalNode *tree;
    size_t first_column;    /* the tree's columns as the expressions number them: an outer or plain
                             * column c is the tree's c - first_column */
    const BoundExpr **done; /* subqueries that were joined, and the columns that stand for them */
    BoundExpr **columns;
    size_t count;
    size_t done_capacity;
    size_t column_capacity;
    const ExprList *negated; /* INs that stand below NOT */
    Error *error;
} Attach;

static BoundExpr *attach_subquery(void *context, BoundExpr *expr);

static BoundExpr *attach_all(Attach *attach, BoundExpr *expr)
{
    return expr_map(attach->builder->arena, expr, attach_subquery, attach);
}

static Str subquery_name(const BoundExpr *expr)
{
    switch (expr->subquery->kind) {
    case SUBQUERY_SCALAR:
        return STR("scalarsubquery");
    case SUBQUERY_EXISTS:
        return STR("exists");
    case SUBQUERY_IN:
        return STR("in");
    }
    return STR("");
}

/* Outer columns numbered over both sides of a join, as columns of its right side. */
typedef struct OuterShift {
    Arena *arena;
    size_t by;
} OuterShift;

static BoundExpr *shift_outer_column(void *context, BoundExpr *expr)
{
    const OuterShift *shift = context;
    if (expr->kind != BOUND_OUTER_COLUMN) {
        return NULL;
    }
    BoundExpr *copy = arena_new_object(shift->arena, BoundExpr);
    *copy = *expr;
    copy->column -= (uint32_t)shift->by;
    return copy;
}

static BoundExpr *shift_outer_in(void *context, BoundExpr *expr, ExprRole role)
{
    (void)role;
    const OuterShift *shift = context;
    return expr_map(shift->arena, expr, shift_outer_column, context);
}

static LogicalNode *shift_outer(Arena *arena, LogicalNode *tree, size_t by)
{
    if (tree == NULL || by == 0) {
        return tree;
    }
    OuterShift shift = {arena, by};
    LogicalNode *copy = node_map_exprs(arena, tree, shift_outer_in, &shift);
    copy->child = shift_outer(arena, tree->child, by);
    copy->right = shift_outer(arena, tree->right, by);
    return copy;
}

static Error *attach_one(Attach *attach, const BoundExpr *expr, BoundExpr **ret_column)
{
    Arena *arena = attach->builder->arena;
    BoundExpr **operands = arena_new_array(arena, BoundExpr *, expr->child_count);
    for (size_t i = 0; i < expr->child_count; i++) {
        operands[i] = attach_all(attach, expr->children[i]);
        operands[i] = expr_shift_columns(arena, operands[i], -(int64_t)attach->first_column);
    }
    DependentJoin join = {.kind = expr->subquery->kind == SUBQUERY_SCALAR ? JOIN_SINGLE : JOIN_MARK,
                          .operands = operands,
                          .operand_count = expr->child_count,
                          .mark = subquery_name(expr),
                          .place = expr->place};
    TRY(build_node(attach->builder, expr->subquery->query, &join.right));
    join.right = shift_outer(arena, join.right, attach->first_column);
    join.left = attach->tree;
    size_t column = attach->tree->schema->field_count;
    TRY(unnest_join(attach->builder, &join, &attach->tree));
    *ret_column =
        expr_column(arena, &attach->tree->schema->fields[column], column + attach->first_column);
    return NULL;
}

/* An IN that is open because of a NULL is no match in Spark, and below NOT one: FALSE either way.
 * (A condition of WHERE that is open is not TRUE, so there it is the same.) */
static BoundExpr *close_in(const Attach *attach, const BoundExpr *expr, BoundExpr *column)
{
    if (expr->subquery->kind != SUBQUERY_IN) {
        return column;
    }
    bool negated = false;
    for (size_t i = 0; i < attach->negated->count && !negated; i++) {
        negated = attach->negated->items[i] == expr;
    }
    Arena *arena = attach->builder->arena;
    return expr_coalesce(arena, column, expr_boolean(arena, negated));
}

/* The value that stands for a subquery; NULL for other expressions. */
static BoundExpr *attach_subquery(void *context, BoundExpr *expr)
{
    Attach *attach = context;
    if (expr->kind != BOUND_SUBQUERY || attach->error != NULL) {
        return NULL;
    }
    for (size_t i = 0; i < attach->count; i++) {
        if (attach->done[i] == expr) {
            return attach->columns[i];
        }
    }
    BoundExpr *column = NULL;
    attach->error = attach_one(attach, expr, &column);
    if (attach->error == NULL) {
        Arena *arena = attach->builder->arena;
        size_t count = attach->count;
        column = close_in(attach, expr, column);
        *arena_push(arena, attach->done, count, attach->done_capacity) = expr;
        *arena_push(arena, attach->columns, attach->count, attach->column_capacity) = column;
    }
    return column;
}

static BoundExpr *attach_expr(void *context, BoundExpr *expr, ExprRole role)
{
    (void)role;
    return attach_all(context, expr);
}

/* ------------------------------------------------------------------ FILTER --- */

/* EXISTS, IN, or NOT of one: may become a join that filters. */
static const BoundExpr *filtering_subquery(const BoundExpr *conjunct, JoinKind *ret_kind)
{
    bool negated = conjunct->kind == BOUND_NOT;
    const BoundExpr *expr = negated ? conjunct->children[0] : conjunct;
    if (expr->kind != BOUND_SUBQUERY || expr->subquery->kind == SUBQUERY_SCALAR) {
        return NULL;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (expr_has_kind(expr->children[i], BOUND_SUBQUERY)) {
            return NULL;
        }
    }
    bool exists = expr->subquery->kind == SUBQUERY_EXISTS;
    *ret_kind = !negated ? JOIN_SEMI : exists ? JOIN_ANTI : JOIN_NULL_ANTI;
    return expr;
}

static Error *filter_by(Attach *attach, const BoundExpr *expr, JoinKind kind)
{
    DependentJoin join = {.kind = kind,
                          .operands = expr->children,
                          .operand_count = expr->child_count,
                          .place = expr->place};
    TRY(build_node(attach->builder, expr->subquery->query, &join.right));
    join.left = attach->tree;
    return unnest_join(attach->builder, &join, &attach->tree);
}

/* Conjuncts that compute with subqueries: all of those are joined, then one filter. */
static Error *filter_with_values(Attach *attach, const ExprList *conjuncts)
{
    JoinKind kind = JOIN_SEMI;
    ExprList conditions = {0};
    Arena *arena = attach->builder->arena;
    for (size_t i = 0; i < conjuncts->count; i++) {
        BoundExpr *conjunct = conjuncts->items[i];
        if (expr_has_kind(conjunct, BOUND_SUBQUERY) &&
            filtering_subquery(conjunct, &kind) == NULL) {
            expr_list_add(arena, &conditions, attach_all(attach, conjunct));
            TRY(attach->error);
        }
    }
    if (conditions.count > 0) {
        attach->tree = node_filter(arena, attach->tree, expr_list_and(arena, &conditions));
    }
    return NULL;
}

static Error *unnest_filter(PlanBuilder *builder, const LogicalNode *node, const ExprList *negated,
                            LogicalNode **ret_node)
{
    ExprList conjuncts = {0};
    ExprList plain = {0};
    expr_list_add_conjuncts(builder->arena, &conjuncts, node->expressions[0]);
    for (size_t i = 0; i < conjuncts.count; i++) {
        if (!expr_has_kind(conjuncts.items[i], BOUND_SUBQUERY)) {
            expr_list_add(builder->arena, &plain, conjuncts.items[i]);
        }
    }
    Attach attach = {.builder = builder, .tree = node->child, .negated = negated};
    if (plain.count > 0) {
        attach.tree =
            node_filter(builder->arena, node->child, expr_list_and(builder->arena, &plain));
    }
    TRY(filter_with_values(&attach, &conjuncts));
    for (size_t i = 0; i < conjuncts.count; i++) {
        JoinKind kind = JOIN_SEMI;
        const BoundExpr *expr = filtering_subquery(conjuncts.items[i], &kind);
        if (expr != NULL) {
            TRY(filter_by(&attach, expr, kind));
        }
    }
    size_t width = node->child->schema->field_count;
    *ret_node = attach.tree->schema->field_count == width
                    ? attach.tree
                    : node_project_columns(builder->arena, attach.tree, 0, width);
    return NULL;
}

/* -------------------------------------------------------------------- JOIN --- */

/* Which sides do a subquery's operands and outer columns belong to? */
typedef struct Sides {
    size_t left_count;
    bool left;
    bool right;
} Sides;

static void note_side(void *context, uint32_t column)
{
    Sides *sides = context;
    *(column < sides->left_count ? &sides->left : &sides->right) = true;
}

static void note_outer_columns(void *context, const BoundExpr *expr, ExprRole role)
{
    (void)role;
    if (expr->kind == BOUND_OUTER_COLUMN) {
        note_side(context, expr->column);
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        note_outer_columns(context, expr->children[i], role);
    }
}

static void note_tree_sides(const LogicalNode *tree, Sides *sides)
{
    if (tree != NULL) {
        node_visit_exprs(tree, note_outer_columns, sides);
        note_tree_sides(tree->child, sides);
        note_tree_sides(tree->right, sides);
    }
}

typedef struct JoinAttach {
    Attach left;
    Attach right;
    Error *error;
} JoinAttach;

/* Which side a subquery of the condition is joined to. */
static Error *choose_side(JoinAttach *attach, const BoundExpr *expr, Attach **ret_side)
{
    Sides sides = {.left_count = attach->right.first_column};
    LogicalNode *query = NULL;
    TRY(build_node(attach->left.builder, expr->subquery->query, &query));
    note_tree_sides(query, &sides);
    for (size_t i = 0; i < expr->child_count; i++) {
        expr_visit_columns(expr->children[i], note_side, &sides);
    }
    if (sides.left && sides.right) {
        return error_at(ERROR_UNSUPPORTED_JOIN_CONDITION_SUBQUERY, expr->place,
                        "Unsupported subquery expression: Correlated subqueries in the join "
                        "predicate cannot reference both join inputs.");
    }
    *ret_side = sides.right ? &attach->right : &attach->left;
    return NULL;
}

static BoundExpr *attach_to_side(void *context, BoundExpr *expr)
{
    JoinAttach *attach = context;
    if (expr->kind != BOUND_SUBQUERY || attach->error != NULL) {
        return NULL;
    }
    Attach *side = NULL;
    attach->error = choose_side(attach, expr, &side);
    if (attach->error != NULL) {
        return NULL;
    }
    BoundExpr *column = attach_subquery(side, expr);
    attach->error = side->error;
    return column;
}

/* Columns of the right side move when the left one has become wider. */
typedef struct Widen {
    Arena *arena;
    size_t left_count;
    size_t by;
    const Attach *left; /* its columns are those of the wider left already */
} Widen;

static BoundExpr *widen_column(void *context, BoundExpr *expr)
{
    const Widen *widen = context;
    for (size_t i = 0; i < widen->left->count; i++) {
        if (expr == widen->left->columns[i]) {
            return expr;
        }
    }
    return expr->kind == BOUND_COLUMN && expr->column >= widen->left_count
               ? expr_shift_columns(widen->arena, expr, (int64_t)widen->by)
               : NULL;
}

/* The join's own columns out of those of the wider sides. */
static LogicalNode *narrow_join(Arena *arena, const LogicalNode *before, LogicalNode *join,
                                size_t left_count, size_t added)
{
    size_t count = before->schema->field_count;
    BoundExpr **columns = arena_new_array(arena, BoundExpr *, count);
    for (size_t i = 0; i < count; i++) {
        size_t at = i < left_count ? i : i + added;
        columns[i] = expr_column(arena, &join->schema->fields[at], at);
    }
    return node_project(arena, join, before->schema->fields, columns, count);
}

static Error *unnest_condition(PlanBuilder *builder, const LogicalNode *node,
                               const ExprList *negated, LogicalNode **ret_node)
{
    Arena *arena = builder->arena;
    size_t left_count = node->child->schema->field_count;
    JoinAttach attach = {
        .left = {.builder = builder, .tree = node->child, .negated = negated},
        .right = {.builder = builder,
                  .tree = node->right,
                  .first_column = left_count,
                  .negated = negated},
    };
    BoundExpr *condition = expr_map(arena, node->condition, attach_to_side, &attach);
    TRY(attach.error);
    size_t added = attach.left.tree->schema->field_count - left_count;
    Widen widen = {arena, left_count, added, &attach.left};
    LogicalNode *join = node_join(arena, node->join, attach.left.tree, attach.right.tree, STR(""));
    join->condition = added == 0 ? condition : expr_map(arena, condition, widen_column, &widen);
    join->place = node->place;
    *ret_node = narrow_join(arena, node, join, left_count, added);
    return NULL;
}

/* --------------------------------------------------------------- the others --- */

/* Nodes that give their child's columns first, then their own. */
static bool passes_columns(const LogicalNode *node)
{
    return node->kind == LOGICAL_SORT || node->kind == LOGICAL_LIMIT ||
           node->kind == LOGICAL_WINDOW || node->kind == LOGICAL_GENERATE;
}

/* VALUES with subqueries: the same rows for one row, to which the subqueries are joined. */
static LogicalNode *values_over_one_row(Arena *arena, const LogicalNode *values)
{
    LogicalNode *one_row = arena_new_object(arena, LogicalNode);
    *one_row = (LogicalNode){.kind = LOGICAL_ONE_ROW,
                             .schema = schema_new(arena, NULL, 0),
                             .limit = -1,
                             .place = values->place};
    LogicalNode *expand = node_copy(arena, values);
    expand->kind = LOGICAL_EXPAND;
    expand->child = one_row;
    return expand;
}

/* The node over a wider child, without the columns that were added. */
static LogicalNode *without_added(Arena *arena, const LogicalNode *before, LogicalNode *node,
                                  size_t child_count)
{
    size_t added = node->child->schema->field_count - child_count;
    size_t own = before->schema->field_count - child_count;
    const Schema own_schema = {.fields = before->schema->fields + child_count, .field_count = own};
    node->schema = schema_concat(arena, node->child->schema, &own_schema);
    return narrow_join(arena, before, node, child_count, added);
}

Error *unnest_node(PlanBuilder *builder, LogicalNode *node, LogicalNode **ret_node)
{
    *ret_node = node;
    if (!has_subquery(node)) {
        return NULL;
    }
    Negated negated = {.arena = builder->arena};
    (void)node_map_exprs(builder->arena, node, note_negated_in, &negated);
    if (node->kind == LOGICAL_FILTER) {
        return unnest_filter(builder, node, &negated.list, ret_node);
    }
    if (node->kind == LOGICAL_JOIN) {
        return unnest_condition(builder, node, &negated.list, ret_node);
    }
    if (node->kind == LOGICAL_VALUES) {
        node = values_over_one_row(builder->arena, node);
    }
    assert(node->child != NULL && node->right == NULL);
    size_t child_count = node->child->schema->field_count;
    Attach attach = {.builder = builder, .tree = node->child, .negated = &negated.list};
    LogicalNode *result = node_map_exprs(builder->arena, node, attach_expr, &attach);
    TRY(attach.error);
    result->child = attach.tree;
    *ret_node =
        passes_columns(node) ? without_added(builder->arena, node, result, child_count) : result;
    return NULL;
}

Error *unnest_lateral(PlanBuilder *builder, LogicalNode *join, LogicalNode **ret_node)
{
    if (join->condition != NULL && expr_has_kind(join->condition, BOUND_SUBQUERY)) {
        return error_at(ERROR_NOT_YET, join->condition->place,
                        "A subquery in the condition of a LATERAL join is not supported yet.");
    }
    const DependentJoin dependent = {.kind = join->join,
                                     .left = join->child,
                                     .right = join->right,
                                     .condition = join->condition,
                                     .place = join->place};
    return unnest_join(builder, &dependent, ret_node);
}
