/* JOIN of two streams. */
#include "processor/exec/operator.h"

#include "processor/base/banned.h"

Error *op_stream_join_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    (void)context;
    (void)ret_op;
    return error_at(ERROR_NOT_YET, node->place, "A join of two streams is not supported yet.");
}
