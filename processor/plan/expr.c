/* Questions about bound expressions, and copies with other columns. Their height is bounded by the
 * binder (BoundExpr.height), so recursion is safe. */
#include <assert.h>

#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

void expr_visit_columns(const BoundExpr *expr, void (*visit)(void *context, uint32_t column),
                        void *context)
{
    if (expr->kind == BOUND_COLUMN) {
        visit(context, expr->column);
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        expr_visit_columns(expr->children[i], visit, context);
    }
}

BoundExpr *expr_replace_columns(Arena *arena, BoundExpr *expr, BoundExpr *const *replacements)
{
    if (expr->kind == BOUND_COLUMN) {
        assert(replacements[expr->column] != NULL);
        return replacements[expr->column];
    }
    if (expr->child_count == 0) {
        return expr;
    }
    BoundExpr *copy = arena_new_object(arena, BoundExpr);
    *copy = *expr;
    copy->children = arena_new_array(arena, BoundExpr *, expr->child_count);
    copy->height = 1;
    copy->node_count = 1;
    for (size_t i = 0; i < expr->child_count; i++) {
        BoundExpr *child = expr_replace_columns(arena, expr->children[i], replacements);
        copy->children[i] = child;
        copy->height = child->height + 1 > copy->height ? child->height + 1 : copy->height;
        copy->node_count += child->node_count;
    }
    return copy;
}

static bool is_exact_number(const Type *type)
{
    return type_is_integral(type) || type->kind == TYPE_DECIMAL;
}

/* Is there a value of `from` that has none in `to`? In doubt yes. */
static bool cast_can_fail(const Type *from, const Type *to)
{
    if (from->kind == TYPE_NULL || to->kind == TYPE_STRING) {
        return false;
    }
    if (type_is_integral(from) && type_is_integral(to)) {
        return from->kind > to->kind;
    }
    if (is_exact_number(from) && to->kind == TYPE_DECIMAL) {
        return type_whole_digits(from) > type_whole_digits(to) ||
               (from->kind == TYPE_DECIMAL && from->scale > to->scale);
    }
    if (type_is_numeric(from) && (to->kind == TYPE_DOUBLE || to->kind == TYPE_FLOAT)) {
        return false;
    }
    bool from_date = from->kind == TYPE_DATE;
    return !(from_date && (to->kind == TYPE_TIMESTAMP_NTZ || to->kind == TYPE_TIMESTAMP)) &&
           !type_equal(from, to);
}

bool expr_can_fail(const BoundExpr *expr)
{
    if (expr->kind == BOUND_CALL && (expr->function->flags & FUNCTION_CAN_FAIL) != 0) {
        return true;
    }
    if (expr->kind == BOUND_CAST && !expr->try_cast &&
        cast_can_fail(expr->children[0]->type, expr->type)) {
        return true;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (expr_can_fail(expr->children[i])) {
            return true;
        }
    }
    return false;
}

bool expr_is_deterministic(const BoundExpr *expr)
{
    if (expr->kind == BOUND_CALL &&
        (expr->function->flags & (FUNCTION_DETERMINISTIC | FUNCTION_CLOCK)) == 0) {
        return false;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (!expr_is_deterministic(expr->children[i])) {
            return false;
        }
    }
    return true;
}

bool expr_is_simple(const BoundExpr *expr)
{
    while (expr->kind == BOUND_CAST) {
        expr = expr->children[0];
    }
    return expr->kind == BOUND_COLUMN || expr->kind == BOUND_LITERAL;
}
