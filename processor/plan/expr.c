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

static BoundExpr *with_children(Arena *arena, const BoundExpr *expr, BoundExpr **children)
{
    BoundExpr *copy = arena_new_object(arena, BoundExpr);
    *copy = *expr;
    copy->children = children;
    copy->height = 1;
    copy->node_count = 1;
    for (size_t i = 0; i < expr->child_count; i++) {
        uint32_t height = children[i]->height + 1;
        copy->height = height > copy->height ? height : copy->height;
        copy->node_count += children[i]->node_count;
    }
    return copy;
}

BoundExpr *expr_map(Arena *arena, BoundExpr *expr,
                    BoundExpr *(*replace)(void *context, BoundExpr *expr), void *context)
{
    BoundExpr *replaced = replace(context, expr);
    if (replaced != NULL || expr->child_count == 0) {
        return replaced != NULL ? replaced : expr;
    }
    BoundExpr **children = arena_new_array(arena, BoundExpr *, expr->child_count);
    bool changed = false;
    for (size_t i = 0; i < expr->child_count; i++) {
        children[i] = expr_map(arena, expr->children[i], replace, context);
        changed = changed || children[i] != expr->children[i];
    }
    return changed ? with_children(arena, expr, children) : expr;
}

typedef struct Replacements {
    BoundExpr *const *of_column;
} Replacements;

static BoundExpr *replace_column(void *context, BoundExpr *expr)
{
    const Replacements *replacements = context;
    if (expr->kind != BOUND_COLUMN) {
        return NULL;
    }
    assert(replacements->of_column[expr->column] != NULL);
    return replacements->of_column[expr->column];
}

BoundExpr *expr_replace_columns(Arena *arena, BoundExpr *expr, BoundExpr *const *replacements)
{
    Replacements context = {replacements};
    return expr_map(arena, expr, replace_column, &context);
}

typedef struct Shift {
    Arena *arena;
    int64_t by;
} Shift;

static BoundExpr *shift_column(void *context, BoundExpr *expr)
{
    const Shift *shift = context;
    if (expr->kind != BOUND_COLUMN) {
        return NULL;
    }
    BoundExpr *copy = arena_new_object(shift->arena, BoundExpr);
    *copy = *expr;
    copy->column = (uint32_t)(expr->column + shift->by);
    return copy;
}

BoundExpr *expr_shift_columns(Arena *arena, BoundExpr *expr, int64_t by)
{
    Shift shift = {arena, by};
    return by == 0 ? expr : expr_map(arena, expr, shift_column, &shift);
}

bool expr_uses_only(const BoundExpr *expr, size_t first, size_t end)
{
    if (expr->kind == BOUND_COLUMN && (expr->column < first || expr->column >= end)) {
        return false;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (!expr_uses_only(expr->children[i], first, end)) {
            return false;
        }
    }
    return true;
}

bool expr_uses_columns(const BoundExpr *expr)
{
    return expr_has_kind(expr, BOUND_COLUMN);
}

bool expr_has_kind(const BoundExpr *expr, BoundExprKind kind)
{
    if (expr->kind == kind) {
        return true;
    }
    for (size_t i = 0; i < expr->child_count; i++) {
        if (expr_has_kind(expr->children[i], kind)) {
            return true;
        }
    }
    return false;
}

bool expr_is_equality(const BoundExpr *expr)
{
    if (expr->kind != BOUND_CALL || expr->child_count != 2) {
        return false;
    }
    Str name = str_from(expr->function->name);
    return str_equal(name, STR("=")) || str_equal(name, STR("<=>"));
}

BoundExpr *expr_column(Arena *arena, const Field *field, size_t column)
{
    BoundExpr *expr = arena_new_object(arena, BoundExpr);
    *expr = (BoundExpr){.kind = BOUND_COLUMN,
                        .type = field->type,
                        .text = field->name,
                        .column = (uint32_t)column,
                        .height = 1,
                        .node_count = 1};
    return expr;
}

BoundExpr *expr_boolean(Arena *arena, bool value)
{
    Vector *literal = vector_new(arena, &type_boolean, 1);
    vector_append_bool(literal, arena, value);
    BoundExpr *expr = arena_new_object(arena, BoundExpr);
    *expr = (BoundExpr){.kind = BOUND_LITERAL,
                        .type = &type_boolean,
                        .text = value ? STR("true") : STR("false"),
                        .literal = literal,
                        .height = 1,
                        .node_count = 1};
    return expr;
}

BoundExpr *expr_case(Arena *arena, BoundExpr *condition, BoundExpr *then, BoundExpr *otherwise)
{
    BoundExpr **children = arena_new_array(arena, BoundExpr *, 3);
    children[0] = condition;
    children[1] = then;
    children[2] = otherwise;
    const BoundExpr pattern = {
        .kind = BOUND_CASE, .type = then->type, .text = then->text, .child_count = 3};
    return with_children(arena, &pattern, children);
}

BoundExpr *expr_coalesce(Arena *arena, BoundExpr *first, BoundExpr *second)
{
    BoundExpr **children = arena_new_array(arena, BoundExpr *, 2);
    children[0] = first;
    children[1] = second;
    const BoundExpr pattern = {
        .kind = BOUND_COALESCE, .type = first->type, .text = first->text, .child_count = 2};
    return with_children(arena, &pattern, children);
}

/* ------------------------------------------------------------- conjuncts --- */

void expr_list_add(Arena *arena, ExprList *list, BoundExpr *expr)
{
    *arena_push(arena, list->items, list->count, list->capacity) = expr;
}

void expr_list_add_conjuncts(Arena *arena, ExprList *list, BoundExpr *condition)
{
    if (condition->kind != BOUND_AND) {
        expr_list_add(arena, list, condition);
        return;
    }
    for (size_t i = 0; i < condition->child_count; i++) {
        expr_list_add_conjuncts(arena, list, condition->children[i]);
    }
}

BoundExpr *expr_list_and(Arena *arena, const ExprList *list)
{
    if (list->count <= 1) {
        return list->count == 0 ? NULL : list->items[0];
    }
    BoundExpr **children = arena_new_array(arena, BoundExpr *, list->count);
    for (size_t i = 0; i < list->count; i++) {
        children[i] = list->items[i];
    }
    const BoundExpr pattern = {.kind = BOUND_AND,
                               .type = &type_boolean,
                               .place = list->items[0]->place,
                               .child_count = list->count};
    return with_children(arena, &pattern, children);
}

/* ------------------------------------------------------------- questions --- */

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
    if (expr->kind == BOUND_SUBQUERY) {
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
