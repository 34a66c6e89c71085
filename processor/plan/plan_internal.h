/* What the files of this room share. */
#ifndef PLAN_PLAN_INTERNAL_H
#define PLAN_PLAN_INTERNAL_H

#include "processor/plan/logical.h"

/* A tree is at most so high and has at most so many nodes, so that every walk may recurse; beyond
 * that a statement is STATEMENT_TOO_COMPLEX. (Nodes of a WITH are built once a reference.) */
enum { PLAN_HEIGHT_MAX = 1000, PLAN_NODE_MAX = 100000 };

/* ---- expressions (expr.c); trees are shared and never changed, so every change is a copy */

/* Calls `visit` for each reference to a column of the input. */
void expr_visit_columns(const BoundExpr *expr, void (*visit)(void *context, uint32_t column),
                        void *context);
/* A copy in which each subtree for which `replace` gives something is replaced by that; the tree
 * itself when nothing is. */
BoundExpr *expr_map(Arena *arena, BoundExpr *expr,
                    BoundExpr *(*replace)(void *context, BoundExpr *expr), void *context);
/* A copy in which column i is replaced by replacements[i]. */
BoundExpr *expr_replace_columns(Arena *arena, BoundExpr *expr, BoundExpr *const *replacements);
/* A copy in which column i is column i + by. */
BoundExpr *expr_shift_columns(Arena *arena, BoundExpr *expr, int64_t by);
/* Are all columns it refers to in [first, end)? True for one without columns. */
bool expr_uses_only(const BoundExpr *expr, size_t first, size_t end);
bool expr_uses_columns(const BoundExpr *expr);
/* Holds it a node of that kind? */
bool expr_has_kind(const BoundExpr *expr, BoundExprKind kind);
/* Is it an equality (`=` or `<=>`)? */
bool expr_is_equality(const BoundExpr *expr);
/* A reference to column `column`, a field of some schema. */
BoundExpr *expr_column(Arena *arena, const Field *field, size_t column);
BoundExpr *expr_boolean(Arena *arena, bool value);
/* CASE WHEN condition THEN then ELSE otherwise END */
BoundExpr *expr_case(Arena *arena, BoundExpr *condition, BoundExpr *then, BoundExpr *otherwise);
BoundExpr *expr_coalesce(Arena *arena, BoundExpr *first, BoundExpr *second);
/* Can evaluating it raise an error on some row? When in doubt: true. */
bool expr_can_fail(const BoundExpr *expr);
bool expr_is_deterministic(const BoundExpr *expr);
/* Is it a column, or a CAST of one, or a literal: each row needs it once and nothing lazily? */
bool expr_is_simple(const BoundExpr *expr);
/* SQL text over the columns of `schema`. */
void expr_format(const BoundExpr *expr, const Schema *schema, Buffer *out);

/* What explain says of a node because it is over a stream (explain_stream.c); of a WATERMARK all.
 */
void format_stream_watermark(const LogicalPlan *plan, const LogicalNode *node, Buffer *out);
void format_stream_distinct(const LogicalPlan *plan, const LogicalNode *node, Buffer *out);
void format_stream_limit(const LogicalPlan *plan, const LogicalNode *node, Buffer *out);
void format_stream_join(const LogicalPlan *plan, const LogicalNode *node, Buffer *out);

/* Expressions that must all be TRUE, in the order in which they are evaluated. */
typedef struct ExprList {
    BoundExpr **items;
    size_t count;
    size_t capacity;
} ExprList;

void expr_list_add(Arena *arena, ExprList *list, BoundExpr *expr);
/* Adds the operands of nested ANDs. */
void expr_list_add_conjuncts(Arena *arena, ExprList *list, BoundExpr *condition);
/* All of them as one condition; NULL when there is none. */
BoundExpr *expr_list_and(Arena *arena, const ExprList *list);

/* ---- nodes (node.c); as expressions, they are copied where they change */

/* What the columns of an expression in a node are those of. */
typedef enum ExprRole { OVER_CHILD, OVER_RIGHT, OVER_BOTH } ExprRole;

/* Calls `visit` for each expression of the node itself. */
void node_visit_exprs(const LogicalNode *node,
                      void (*visit)(void *context, const BoundExpr *expr, ExprRole role),
                      void *context);
/* A copy of the node with each of its expressions replaced by what `map` gives. */
LogicalNode *node_map_exprs(Arena *arena, const LogicalNode *node,
                            BoundExpr *(*map)(void *context, BoundExpr *expr, ExprRole role),
                            void *context);
LogicalNode *node_copy(Arena *arena, const LogicalNode *node);
LogicalNode *node_filter(Arena *arena, LogicalNode *child, BoundExpr *condition);
/* A projection to `columns`: fields and expressions. */
LogicalNode *node_project(Arena *arena, LogicalNode *child, const Field *fields,
                          BoundExpr *const *exprs, size_t count);
/* The child's columns first … end. */
LogicalNode *node_project_columns(Arena *arena, LogicalNode *child, size_t first, size_t end);
/* No rows. */
LogicalNode *node_empty(Arena *arena, const Schema *schema);
/* A join without keys or condition, its schema as its kind wants. `mark`: the name of MARK's
 * column. */
LogicalNode *node_join(Arena *arena, JoinKind kind, LogicalNode *left, LogicalNode *right,
                       Str mark);
/* Does the join give the right side's columns too? */
bool join_gives_right(JoinKind kind);
/* The fields of a, then those of b. */
const Schema *schema_concat(Arena *arena, const Schema *a, const Schema *b);

/* ---- from bound nodes */

typedef struct PlanBuilder {
    Arena *arena;
    LogicalPlan *plan;
    bool streaming; /* else watermarks are left out */
    size_t source_capacity;
    uint32_t height;
    uint32_t node_count;
} PlanBuilder;

/* The logical tree of a bound one, without subqueries; BOUND_OUTER_COLUMNs that are left are those
 * of the query that it stands in (build.c). */
NODISCARD Error *build_node(PlanBuilder *builder, const BoundNode *bound, LogicalNode **ret_node);
/* A copy of a tree with sources of its own. */
NODISCARD Error *build_copy(PlanBuilder *builder, const LogicalNode *tree, LogicalNode **ret_copy);

/* A bound query built and optimized. */
NODISCARD Error *build_plan(Arena *arena, const BoundNode *query, bool streaming,
                            LogicalPlan **ret_plan);

/* ---- rules: each takes a tree and returns the tree to use */

LogicalNode *rule_simplify(Arena *arena, const LogicalPlan *plan, LogicalNode *root);
LogicalNode *rule_push_filter(Arena *arena, LogicalNode *root);
LogicalNode *rule_set_to_join(Arena *arena, LogicalNode *root);
LogicalNode *rule_order_joins(Arena *arena, LogicalNode *root);
LogicalNode *rule_join_keys(Arena *arena, LogicalNode *root);
LogicalNode *rule_merge_project(Arena *arena, LogicalNode *root);
LogicalNode *rule_limit(Arena *arena, LogicalNode *root);
LogicalNode *rule_build_side(Arena *arena, const LogicalPlan *plan, LogicalNode *root);
LogicalNode *rule_prune_columns(Arena *arena, LogicalPlan *plan, LogicalNode *root);

#endif
