/* Logical plan of one query: a tree of relational nodes over numbered sources, after the optimizer.
 * Scans read only the columns used. Read-only once built; lives in the arena of plan_build. */
#ifndef PLAN_LOGICAL_H
#define PLAN_LOGICAL_H

#include "processor/base/error.h"
#include "processor/bind/bound.h"

typedef struct LogicalNode LogicalNode;

typedef enum LogicalKind {
    LOGICAL_SCAN,
    LOGICAL_VALUES,
    LOGICAL_ONE_ROW,
    LOGICAL_FILTER,
    LOGICAL_PROJECT,
} LogicalKind;

struct LogicalNode {
    LogicalKind kind;
    const Schema *schema; /* of the output */
    LogicalNode *child;
    size_t source;           /* SCAN: index in LogicalPlan.sources */
    BoundExpr **expressions; /* FILTER: the condition; PROJECT: one a column; VALUES: rows */
    size_t expression_count;
    size_t row_count; /* VALUES */
};

typedef struct LogicalSource {
    const Relation *relation;
    bool stream;
    const Schema *schema;    /* the columns that are read: what the scan gives */
    const uint32_t *columns; /* their indexes in relation->schema */
} LogicalSource;

typedef struct LogicalPlan {
    LogicalNode *root;
    LogicalSource *sources;
    size_t source_count;
} LogicalPlan;

/* Builds and optimizes (column pruning into the sources, filters pushed below projections where
 * that cannot change results or errors). `query` is shared. */
NODISCARD Error *plan_build(Arena *arena, const BoundNode *query, LogicalPlan **ret_plan);
/* Indented text, one node a line: for `explain` and tests. */
void plan_format(const LogicalPlan *plan, Buffer *out);

#endif
