/* A lambda as kernels see it: x -> x + c, computed for many elements at once.
 *
 *     transform(a, x -> x + c)     rows        a = [1, 2], [3]    c = 10, 20
 *                                  elements    x = 1, 2, 3        c = 10, 10, 20
 *                                  value           11, 12, 23
 *
 * The body is an expression of its own over a batch whose rows are elements and whose columns are
 * the parameters, then what the body names of the row around it (captures), repeated for every
 * element. The captured columns come to the kernel behind the call's own arguments. */
#ifndef EXEC_LAMBDA_H
#define EXEC_LAMBDA_H

#include "processor/exec/kernel.h"

typedef struct Lambda {
    Expression *body;
    const Schema *schema; /* of the batch of elements */
    uint32_t parameter_count;
    uint32_t capture_count;
    uint32_t first_capture; /* among the call's arguments */
} Lambda;

/* What a higher-order kernel finds in KernelCall.state: the lambdas of the call, from left to
 * right. KernelCall.arguments are the arguments that are no lambdas (they stand first), then
 * captures. */
typedef struct LambdaState {
    Lambda *lambdas;
    size_t lambda_count;
} LambdaState;

static inline const Lambda *call_lambda(const KernelCall *call, size_t index)
{
    return &((const LambdaState *)call->state)->lambdas[index];
}

static inline size_t call_lambda_count(const KernelCall *call)
{
    return ((const LambdaState *)call->state)->lambda_count;
}

/* Does the body read the parameter? Those it does not may be NULL in lambda_run's columns. */
static inline bool lambda_reads(const Lambda *lambda, uint32_t parameter)
{
    return lambda->schema->fields[parameter].type->kind != TYPE_NULL;
}

/* The captured columns for elements of the rows row_of[0] … row_of[count - 1], behind the
 * parameters: the columns lambda_run wants. The caller fills in the parameters. */
Vector **lambda_columns(const KernelCall *call, const Lambda *lambda, Arena *arena,
                        const uint32_t *row_of, uint32_t count);
/* The body's value for the first `count` elements of the columns; errors go under the number of
 * the element. */
const Vector *lambda_run(const KernelCall *call, const Lambda *lambda, Vector *const *columns,
                         uint32_t count, Arena *arena, RowErrors *errors);

#endif
