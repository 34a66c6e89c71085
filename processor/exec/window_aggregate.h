/* An aggregate function over the frames of a block. */
#ifndef EXEC_WINDOW_AGGREGATE_H
#define EXEC_WINDOW_AGGREGATE_H

#include "processor/exec/operator.h"
#include "processor/exec/window_block.h"

typedef struct WindowAggregate WindowAggregate;

/* `columns` of the rows: the arguments, the sort keys, then the filter when there is one. */
NODISCARD Error *window_aggregate_open(const BoundAggregate *bound, const size_t *columns,
                                       const ExecContext *context, WindowAggregate **ret);
void window_aggregate_close(WindowAggregate *aggregate);
/* The value of each row's frame, appended to `result` (empty; grown in `arena`, bytes too). */
NODISCARD Error *window_aggregate_run(WindowAggregate *aggregate, const WindowBlock *block,
                                      const uint32_t *begin, const uint32_t *end, Arena *arena,
                                      Vector *result);

DEFINE_AUTO(window_aggregate, WindowAggregate, window_aggregate_close)

#endif
