/* Operators: the nodes of a running query. Pull model: next() gives the next batch of the rows that
 * were pushed into the sources, or NULL when those are used up. */
#ifndef EXEC_OPERATOR_H
#define EXEC_OPERATOR_H

#include "processor/exec/query.h"

typedef struct Operator Operator;

/* What a pull carries along. */
typedef struct Pull {
    Arena *arena;          /* of the results */
    RowErrors *errors;     /* rows that failed, numbered as in the pushed batch */
    Batch **pushed;        /* one a source; a scan takes its own */
    BatchSource **sources; /* one a source; NULL: what was pushed */
    bool strict;           /* the first row that fails ends the query */
} Pull;

/* An operator that reads all of its input before its first result (sort, aggregate, a join's build
 * side) pulls with an arena of its own that it resets after each batch: what it keeps it copies
 * into a RowStore. Results it hands out live in pull->arena or in itself until it is closed. One
 * that finds nothing to hand out in a batch (a filter, a join's probe) gives an empty batch instead
 * of reading on, so that pull->arena does not grow with the input. */
struct Operator {
    Operator *child; /* NULL for sources */
    Operator *right; /* JOIN, SET; else NULL */
    NODISCARD Error *(*next)(Operator *op, const Pull *pull, Batch **ret_batch);
    void (*set_now)(Operator *op, int64_t now_us); /* may be NULL */
    void (*close)(Operator *op);                   /* frees the operator itself, not the children */
};

/* One a kind of node. The operator refers to the plan, which must outlive it; the child is set by
 * the caller. */
NODISCARD Error *op_scan_open(const LogicalNode *node, const ExecContext *context,
                              Operator **ret_op);
NODISCARD Error *op_values_open(const LogicalNode *node, const ExecContext *context,
                                Operator **ret_op);
NODISCARD Error *op_one_row_open(const LogicalNode *node, const ExecContext *context,
                                 Operator **ret_op);
NODISCARD Error *op_filter_open(const LogicalNode *node, const ExecContext *context,
                                Operator **ret_op);
NODISCARD Error *op_project_open(const LogicalNode *node, const ExecContext *context,
                                 Operator **ret_op);
NODISCARD Error *op_range_open(const LogicalNode *node, const ExecContext *context,
                               Operator **ret_op);
NODISCARD Error *op_aggregate_open(const LogicalNode *node, const ExecContext *context,
                                   Operator **ret_op);
NODISCARD Error *op_expand_open(const LogicalNode *node, const ExecContext *context,
                                Operator **ret_op);
NODISCARD Error *op_window_open(const LogicalNode *node, const ExecContext *context,
                                Operator **ret_op);
NODISCARD Error *op_join_open(const LogicalNode *node, const ExecContext *context,
                              Operator **ret_op);
NODISCARD Error *op_set_open(const LogicalNode *node, const ExecContext *context,
                             Operator **ret_op);
NODISCARD Error *op_sort_open(const LogicalNode *node, const ExecContext *context,
                              Operator **ret_op);
NODISCARD Error *op_limit_open(const LogicalNode *node, const ExecContext *context,
                               Operator **ret_op);
NODISCARD Error *op_generate_open(const LogicalNode *node, const ExecContext *context,
                                  Operator **ret_op);
/* Of streaming queries (stream.h). */
NODISCARD Error *op_watermark_open(const LogicalNode *node, const ExecContext *context,
                                   Operator **ret_op);
NODISCARD Error *op_stream_distinct_open(const LogicalNode *node, const ExecContext *context,
                                         Operator **ret_op);
NODISCARD Error *op_stream_limit_open(const LogicalNode *node, const ExecContext *context,
                                      Operator **ret_op);
NODISCARD Error *op_stream_join_open(const LogicalNode *node, const ExecContext *context,
                                     Operator **ret_op);

/* Expressions of one operator, evaluated together. */
typedef struct ExpressionList {
    Expression **expressions;
    size_t count;
} ExpressionList;

/* Compiles the expressions into a zeroed list; expression_list_done releases them, after an error
 * too. */
NODISCARD Error *expression_list_open(ExpressionList *list, BoundExpr *const *exprs, size_t count,
                                      const ExecContext *context);
/* Their values (one vector an expression, in pull->arena) for the selected rows of the batch. Rows
 * that fail are handed to the pull's errors and taken out of the batch's selection. */
NODISCARD Error *expression_list_evaluate(const ExpressionList *list, const Pull *pull,
                                          Batch *batch, const Vector **ret_values);
void expression_list_set_now(const ExpressionList *list, int64_t now_us);
void expression_list_done(ExpressionList *list);

/* The next batch of an operator that reads all of its input before its first result: in `arena`,
 * which is reset. A strict pull ends at the first row that failed, not after the whole input. */
NODISCARD Error *pull_input(Operator *child, const Pull *pull, Arena *arena, Batch **ret_batch);

/* Asked by who goes on for long without handing out a batch: has the query been interrupted, or in
 * a strict pull a row failed? `interrupted` may be NULL. */
NODISCARD Error *pull_check(const Pull *pull, const bool *interrupted);

/* Hands rows that failed (numbered as in `batch`; the list is emptied) to the pull's errors under
 * their origin and takes them out of the batch's selection. */
void pull_take_errors(const Pull *pull, Batch *batch, RowErrors *failed);

#endif
