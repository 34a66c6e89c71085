/* Compiling lambdas, for expr_compile.c. */
#ifndef EXEC_EXPR_LAMBDA_H
#define EXEC_EXPR_LAMBDA_H

#include "processor/exec/lambda.h"
#include "processor/exec/program.h"

/* Compiles the lambda. *ret_captures: the columns (capture_count) of the batch around that its body
 * names; the caller hands them to the call and sets first_capture. */
NODISCARD Error *lambda_compile(const Expression *out, const BoundExpr *expr, Lambda *ret,
                                BoundExpr ***ret_captures);
/* Does it give the same for the same input, whenever it is computed? */
bool expr_is_pure(const BoundExpr *expr);

#endif
