/* A number that equal expressions share, so that comparing one with ten thousand others costs a
 * look each. It is the sum of a number a node: order and nesting, which do not count where operands
 * may be swapped, do not change it. */
#include "processor/base/hash.h"
#include "processor/bind/binder.h"

#include "processor/base/banned.h"

static uint64_t mix(BoundExprKind kind, uint64_t value)
{
    uint64_t mixed = (value ^ ((uint64_t)kind + 1) << 56) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return mixed ^ mixed >> 32;
}

/* Values that may equal others of different bits (0.0 and -0.0) all count as 0. */
static uint64_t literal_value(const Vector *literal)
{
    if (!vector_is_valid(literal, 0)) {
        return 0;
    }
    switch (type_physical(literal->type)) {
    case PHYSICAL_BOOL:
        return VECTOR_VALUE(literal, uint8_t, 0);
    case PHYSICAL_INT8:
        return (uint64_t)VECTOR_VALUE(literal, int8_t, 0);
    case PHYSICAL_INT16:
        return (uint64_t)VECTOR_VALUE(literal, int16_t, 0);
    case PHYSICAL_INT32:
        return (uint64_t)VECTOR_VALUE(literal, int32_t, 0);
    case PHYSICAL_INT64:
        return (uint64_t)VECTOR_VALUE(literal, int64_t, 0);
    case PHYSICAL_INT128:
        return (uint64_t)VECTOR_VALUE(literal, int128, 0);
    case PHYSICAL_STR:
        return hash_bytes(VECTOR_VALUE(literal, Str, 0));
    case PHYSICAL_NONE:
    case PHYSICAL_FLOAT:
    case PHYSICAL_DOUBLE:
    case PHYSICAL_LIST:
    case PHYSICAL_STRUCT:
        return 0;
    }
    return 0;
}

static uint64_t own_value(const BoundExpr *expr)
{
    switch (expr->kind) {
    case BOUND_LITERAL:
        return literal_value(expr->literal);
    case BOUND_COLUMN:
    case BOUND_OUTER_COLUMN:
        return expr->column;
    case BOUND_PARAMETER:
        return expr->parameter;
    default: /* a < b is b > a: the function does not count */
        return 0;
    }
}

uint64_t bound_digest(const BoundExpr *expr)
{
    return expr->child_count > 0 ? expr->digest : mix(expr->kind, own_value(expr));
}

void bound_set_digest(BoundExpr *expr)
{
    expr->digest = mix(expr->kind, own_value(expr));
    for (size_t i = 0; i < expr->child_count; i++) {
        expr->digest += bound_digest(expr->children[i]);
    }
}
