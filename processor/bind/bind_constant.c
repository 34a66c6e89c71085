/* Expressions that must be known before a row is read: LIMIT 5 + 5, range(1 + 1). Computing is
 * exec's; what may be computed is said here. */
#include "processor/bind/binder.h"

#include "processor/base/banned.h"

/* Bounded recursion: expressions have at most BOUND_HEIGHT_MAX levels. */
bool bound_is_foldable(const BoundExpr *expr)
{
    switch (expr->kind) {
    case BOUND_COLUMN:
    case BOUND_OUTER_COLUMN:
    case BOUND_SUBQUERY:
        return false;
    case BOUND_CALL:
        if ((expr->function->flags & (FUNCTION_DETERMINISTIC | FUNCTION_CLOCK)) !=
            FUNCTION_DETERMINISTIC) {
            return false;
        }
        break;
    case BOUND_LITERAL:
    case BOUND_CAST:
    case BOUND_CASE:
    case BOUND_AND:
    case BOUND_OR:
    case BOUND_NOT:
    case BOUND_COALESCE:
    case BOUND_IN:
    case BOUND_FIELD:
    case BOUND_STRUCT:
    case BOUND_LAMBDA:
    case BOUND_PARAMETER:
        break;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (!bound_is_foldable(expr->children[i])) {
            return false;
        }
    }
    return true;
}

Error *bound_evaluate(Binder *binder, const BoundExpr *expr, const Vector **ret_value)
{
    if (expr->kind == BOUND_LITERAL) {
        *ret_value = expr->literal;
        return NULL;
    }
    const BindContext *context = binder->context;
    return context->functions->evaluate(expr, context->time_zone, binder->arena, ret_value);
}
