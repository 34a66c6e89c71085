/* Constant arguments of aggregates: folded by the compiler of expressions. */
#include "processor/exec/aggregates/constants.h"

#include "processor/data/decimal.h"
#include "processor/exec/program.h"

#include "processor/base/banned.h"

const Vector *constant_of(const BoundExpr *expr, Arena *arena)
{
    const ExecContext context = {.time_zone = time_zone_utc()};
    AUTO(expression) Expression *expression = NULL;
    Error *error = expression_open(expr, &context, &expression);
    if (error != NULL) {
        error_free(error);
        return NULL;
    }
    const Vector *constant = expression->registers[expression->root].constant;
    return constant == NULL ? NULL : vector_copy_value(arena, constant, 0);
}

bool constant_double(const Vector *vector, uint32_t row, double *ret)
{
    if (!vector_is_valid(vector, row)) {
        return false;
    }
    switch (type_physical(vector->type)) {
    case PHYSICAL_INT8:
    case PHYSICAL_INT16:
    case PHYSICAL_INT32:
    case PHYSICAL_INT64:
        *ret = (double)vector_int_value(vector, row);
        return true;
    case PHYSICAL_INT128:
        *ret = decimal_to_double(VECTOR_VALUE(vector, int128, row), vector->type->scale);
        return true;
    case PHYSICAL_FLOAT:
        *ret = (double)VECTOR_VALUE(vector, float, row);
        return true;
    case PHYSICAL_DOUBLE:
        *ret = VECTOR_VALUE(vector, double, row);
        return true;
    default:
        return false;
    }
}

const Vector *call_constant(const AggregateCall *call, size_t argument)
{
    return argument < call->bound->argument_count
               ? constant_of(call->bound->arguments[argument], call->arena)
               : NULL;
}
