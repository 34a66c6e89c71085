/* What an AGGREGATE computes of each input row before grouping: keys, filters, arguments, sort
 * keys, each in a slot. Slots are what is spilled, so nothing is computed twice. */
#ifndef EXEC_AGGREGATE_INPUT_H
#define EXEC_AGGREGATE_INPUT_H

#include "processor/exec/operator.h"

enum { NO_FILTER = -1 };

typedef struct InputSlot {
    const BoundExpr *expr;
    Expression *expression;
    int filter; /* slot of the filter under which it is computed, or NO_FILTER */
} InputSlot;

/* One an aggregate. */
typedef struct InputPart {
    const BoundAggregate *bound;
    size_t *slots; /* of the arguments, then of the sort keys */
    const Type **types;
    size_t slot_count;
    int filter;
} InputPart;

typedef struct AggregateInput {
    InputSlot *slots; /* the group keys first */
    size_t slot_count;
    size_t key_count;
    InputPart *parts;
    size_t part_count;
    const Schema *schema; /* of the slots */
    Arena *arena;
} AggregateInput;

/* Into a zeroed input; aggregate_input_done releases it, after an error too. */
NODISCARD Error *aggregate_input_open(AggregateInput *input, const LogicalNode *node,
                                      const ExecContext *context);
void aggregate_input_done(AggregateInput *input);
void aggregate_input_set_now(const AggregateInput *input, int64_t now_us);
/* The slots' values for the selected rows (in pull->arena). Rows that fail leave the selection. A
 * slot under a filter is computed only where the filter is TRUE. */
NODISCARD Error *aggregate_input_evaluate(const AggregateInput *input, const Pull *pull,
                                          Batch *batch, const Vector **ret_slots);

#endif
