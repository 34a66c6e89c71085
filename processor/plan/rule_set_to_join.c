/* INTERSECT and EXCEPT of distinct rows are joins over all columns:
 *
 *     Intersect          Aggregate [a, b]                (EXCEPT: an ANTI join)
 *       left       ->      Join SEMI ON a <=> x AND b <=> y
 *       right                left
 *                            right                                                              */
#include "processor/plan/plan_internal.h"

#include "processor/base/banned.h"

static LogicalNode *to_join(Arena *arena, const LogicalNode *set)
{
    size_t count = set->schema->field_count;
    JoinKind kind = set->set_operation == SET_INTERSECT ? JOIN_SEMI : JOIN_ANTI;
    LogicalNode *join = node_join(arena, kind, set->child, set->right, STR(""));
    bool *null_equal = arena_new_array(arena, bool, count);
    join->expressions = arena_new_array(arena, BoundExpr *, count);
    join->right_keys = arena_new_array(arena, BoundExpr *, count);
    join->expression_count = count;
    join->place = set->place;
    LogicalNode *distinct = arena_new_object(arena, LogicalNode);
    *distinct = (LogicalNode){.kind = LOGICAL_AGGREGATE,
                              .schema = set->schema,
                              .child = join,
                              .expressions = arena_new_array(arena, BoundExpr *, count),
                              .expression_count = count,
                              .limit = -1,
                              .place = set->place};
    for (size_t i = 0; i < count; i++) {
        null_equal[i] = true;
        join->expressions[i] = expr_column(arena, &set->child->schema->fields[i], i);
        join->right_keys[i] = expr_column(arena, &set->right->schema->fields[i], i);
        distinct->expressions[i] = join->expressions[i];
    }
    join->null_equal = null_equal;
    return distinct;
}

LogicalNode *rule_set_to_join(Arena *arena, LogicalNode *node)
{
    LogicalNode *copy = node_copy(arena, node);
    if (node->child != NULL) {
        copy->child = rule_set_to_join(arena, node->child);
    }
    if (node->right != NULL) {
        copy->right = rule_set_to_join(arena, node->right);
    }
    bool distinct = node->kind == LOGICAL_SET && node->set_operation != SET_UNION && !node->all;
    return distinct ? to_join(arena, copy) : copy;
}
