/* The value of an expression that reads no columns: what the binder must know before it goes on
 * (LIMIT 1 + 1, range(10 * 10)). Compiled and run over one row, as any expression is. */
#include "processor/exec/resolve.h"

#include "processor/base/banned.h"

Error *constant_evaluate(const BoundExpr *expr, const TimeZone *zone, Arena *arena,
                         const Vector **ret_value)
{
    static const Schema no_columns = {.fields = NULL, .field_count = 0};
    ExecContext context = {.time_zone = zone};
    AUTO(expression) Expression *expression = NULL;
    TRY(expression_open(expr, &context, &expression));
    const Batch *row = batch_from_columns(arena, &no_columns, NULL, 1);
    RowErrors errors = {0};
    const Vector *value = NULL;
    Error *error = expression_evaluate(expression, row, arena, &errors, &value);
    if (error == NULL && errors.count > 0) {
        error = errors.errors[0];
        errors.errors[0] = NULL;
    }
    row_errors_done(&errors);
    TRY(error);
    *ret_value = vector_copy_value(arena, value, 0);
    return NULL;
}
