/* What the files of this room share. */
#ifndef PLAN_PLAN_INTERNAL_H
#define PLAN_PLAN_INTERNAL_H

#include "processor/plan/logical.h"

/* ---- expressions (expr.c); trees are shared and never changed, so every change is a copy */

/* Calls `visit` for each reference to a column of the input. */
void expr_visit_columns(const BoundExpr *expr, void (*visit)(void *context, uint32_t column),
                        void *context);
/* A copy in which column i is replaced by replacements[i]. */
BoundExpr *expr_replace_columns(Arena *arena, BoundExpr *expr, BoundExpr *const *replacements);
/* Can evaluating it raise an error on some row? When in doubt: true. */
bool expr_can_fail(const BoundExpr *expr);
bool expr_is_deterministic(const BoundExpr *expr);
/* Is it a column, or a CAST of one, or a literal: each row needs it once and nothing lazily? */
bool expr_is_simple(const BoundExpr *expr);
/* SQL text over the columns of `schema`. */
void expr_format(const BoundExpr *expr, const Schema *schema, Buffer *out);

/* ---- rules: each takes a tree and returns the tree to use */

LogicalNode *rule_push_filter(Arena *arena, LogicalNode *root);
LogicalNode *rule_merge_project(Arena *arena, LogicalNode *root);
LogicalNode *rule_prune_columns(Arena *arena, LogicalPlan *plan, LogicalNode *root);

#endif
