/* Subqueries become joins, so that no operator ever runs a query once a row.
 *
 *     WHERE EXISTS (…)          SEMI join            WHERE NOT EXISTS (…)     ANTI join
 *     WHERE x IN (…)            SEMI join on x       WHERE x NOT IN (…)       NULL_ANTI join on x
 *     … (SELECT scalar) …       SINGLE join, which adds a column
 *     … EXISTS / IN elsewhere   MARK join, which adds a BOOLEAN column
 *
 * A correlated one is a dependent join: its right side refers to columns of the left
 * (BOUND_OUTER_COLUMN). unnest_join finds a join of independent sides that gives the same rows. */
#ifndef PLAN_UNNEST_H
#define PLAN_UNNEST_H

#include "processor/plan/plan_internal.h"

/* The node with the subqueries of its expressions as joins below it; same output. */
NODISCARD Error *unnest_node(PlanBuilder *builder, LogicalNode *node, LogicalNode **ret_node);
/* A join whose right side may refer to columns of the left. */
NODISCARD Error *unnest_lateral(PlanBuilder *builder, LogicalNode *join, LogicalNode **ret_node);

typedef struct DependentJoin {
    JoinKind kind;
    LogicalNode *left;
    LogicalNode *right;
    BoundExpr *const *operands; /* of IN, over the left; equal to the first columns of the right */
    size_t operand_count;
    BoundExpr *condition; /* of a lateral join, over both sides; NULL: none */
    Str mark;             /* name of the column of a MARK join */
    SourcePlace place;
} DependentJoin;

/* The join as a tree without outer columns: output as its kind says. (unnest_join.c) */
NODISCARD Error *unnest_join(PlanBuilder *builder, const DependentJoin *join,
                             LogicalNode **ret_node);

/* Refers a node of the tree to outer columns? */
bool tree_has_outer(const LogicalNode *tree);
bool node_has_outer(const LogicalNode *node);

/* An expression of the right side over a join's columns: outer columns are those of the left, its
 * columns stand behind them. */
BoundExpr *unnest_over_join(Arena *arena, BoundExpr *expr, const Schema *left);

/* Conditions that refer to outer columns, taken out of the tree's filters: what is left has its
 * columns first, then those that the conditions need (unnest_pull.c). NULL: the tree has outer
 * columns elsewhere. */
LogicalNode *unnest_pull(Arena *arena, LogicalNode *tree, ExprList *pulled);
/* For a scalar subquery that aggregates all rows of `outer = inner` (unnest_aggregate.c); NULL: it
 * is of another form. */
LogicalNode *unnest_aggregate(Arena *arena, const DependentJoin *join);

/* The node's aggregates without its keys, over no rows: one row. */
LogicalNode *unnest_values_of_none(Arena *arena, const LogicalNode *aggregate);

/* The outer columns that are used, each as a column of a relation to compute with
 * (unnest_domain.c). */
typedef struct Domain {
    PlanBuilder *builder;
    LogicalNode *left;
    bool direct;       /* the left side itself; else the distinct values of `columns` in it */
    uint32_t *columns; /* of the left, ascending */
    size_t count;
    uint32_t *number;       /* outer column -> its number in `columns` */
    LogicalNode *base;      /* a part of the left that has all values too, … */
    uint32_t *base_columns; /* … and where */
} Domain;

Domain unnest_domain(PlanBuilder *builder, LogicalNode *left, const LogicalNode *right,
                     bool direct);
/* The tree for all rows of the domain at once: its columns, then the domain's. */
NODISCARD Error *unnest_push(Domain *domain, LogicalNode *tree, LogicalNode **ret_node);

#endif
