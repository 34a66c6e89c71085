/* Equalities of a join's condition become its keys, so that it can hash:
 *
 *     Join INNER ON ((a.k + 1) = b.id AND a.x < b.y)  ->  Join INNER ON (a.k + 1) = b.id IF a.x <
 * b.y
 *
 * A key is an expression of the left side and one of the right, of one type. In a MARK or NULL_ANTI
 * join a key with `=` would be an operand of IN, whose NULLs leave the answer open, so an equality
 * becomes a key with `<=>` that finds the candidates, and stays in the condition (logical.h). */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

typedef struct Keys {
    ExprList left;
    ExprList right;
    bool *null_equal;
    size_t null_equal_count;
    size_t null_equal_capacity;
    ExprList rest;
} Keys;

static void add_key(Arena *arena, Keys *keys, BoundExpr *left, BoundExpr *right, bool null_equal)
{
    expr_list_add(arena, &keys->left, left);
    expr_list_add(arena, &keys->right, right);
    *arena_push(arena, keys->null_equal, keys->null_equal_count, keys->null_equal_capacity) =
        null_equal;
}

/* The conjunct as a key, if it is one. */
static bool take_key(Arena *arena, const LogicalNode *join, const BoundExpr *conjunct, Keys *keys)
{
    if (!expr_is_equality(conjunct) || !expr_is_deterministic(conjunct)) {
        return false;
    }
    bool null_equal = str_equal(str_from(conjunct->function->name), STR("<=>"));
    size_t left_count = join->child->schema->field_count;
    size_t end = left_count + join->right->schema->field_count;
    for (size_t i = 0; i < 2; i++) {
        BoundExpr *left = conjunct->children[i];
        BoundExpr *right = conjunct->children[1 - i];
        if (expr_uses_columns(left) && expr_uses_only(left, 0, left_count) &&
            expr_uses_columns(right) && expr_uses_only(right, left_count, end) &&
            type_equal(left->type, right->type)) {
            bool three_valued = join->join == JOIN_MARK || join->join == JOIN_NULL_ANTI;
            add_key(arena, keys, left, expr_shift_columns(arena, right, -(int64_t)left_count),
                    null_equal || three_valued);
            return null_equal || !three_valued;
        }
    }
    return false;
}

static LogicalNode *with_keys(Arena *arena, const LogicalNode *join)
{
    Keys keys = {0};
    ExprList conjuncts = {0};
    for (size_t i = 0; i < join->expression_count; i++) {
        add_key(arena, &keys, join->expressions[i], join->right_keys[i], join->null_equal[i]);
    }
    if (join->condition != NULL) {
        expr_list_add_conjuncts(arena, &conjuncts, join->condition);
    }
    for (size_t i = 0; i < conjuncts.count; i++) {
        if (!take_key(arena, join, conjuncts.items[i], &keys)) {
            expr_list_add(arena, &keys.rest, conjuncts.items[i]);
        }
    }
    LogicalNode *copy = node_copy(arena, join);
    copy->expressions = keys.left.items;
    copy->right_keys = keys.right.items;
    copy->null_equal = keys.null_equal;
    copy->expression_count = keys.left.count;
    copy->condition = expr_list_and(arena, &keys.rest);
    return copy;
}

LogicalNode *rule_join_keys(Arena *arena, LogicalNode *node)
{
    LogicalNode *copy =
        node->kind == LOGICAL_JOIN ? with_keys(arena, node) : node_copy(arena, node);
    if (node->child != NULL) {
        copy->child = rule_join_keys(arena, node->child);
    }
    if (node->right != NULL) {
        copy->right = rule_join_keys(arena, node->right);
    }
    return copy;
}
