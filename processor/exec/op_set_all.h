/* INTERSECT ALL and EXCEPT ALL. */
#ifndef EXEC_OP_SET_ALL_H
#define EXEC_OP_SET_ALL_H

#include "processor/exec/operator.h"

NODISCARD Error *op_set_all_open(const LogicalNode *node, const ExecContext *context,
                                 Operator **ret_op);

#endif
