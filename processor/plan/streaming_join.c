/* Joins of two streams: how long a row can still find a match.
 *
 * A time range is a pair of comparisons between event times of both sides, each with a watermark:
 *
 *     ON a.id = b.id AND b.ts >= a.ts AND b.ts <= a.ts + INTERVAL 1 HOUR
 *
 * A row of a matches rows of b with times of at most its own + 1 hour (its reach); a row of b
 * matches rows of a with times of at most its own (reach 0). When the watermark has passed time +
 * reach, a row has met all it can ever match. An equality of two event times is a range of nothing.
 */
#include "processor/plan/streaming.h"

#include "processor/base/banned.h"

enum { LONGEST_MONTH = 31, SHORTEST_MONTH = 28, MONTHS_MAX = 1200000 };

#define DAY_US (INT64_C(86400000000))

/* A column of either side, and what is added to it. */
typedef struct Instant {
    bool found;
    uint32_t column; /* over both sides */
    int64_t most_us;
    int64_t least_us; /* differs where months are added */
} Instant;

static bool literal_interval(const BoundExpr *expr, int64_t *ret_most_us, int64_t *ret_least_us)
{
    if (expr->kind != BOUND_LITERAL || !vector_is_valid(expr->literal, 0)) {
        return false;
    }
    if (expr->type->kind == TYPE_INTERVAL_DAY_TIME) {
        *ret_most_us = VECTOR_VALUE(expr->literal, int64_t, 0);
        *ret_least_us = *ret_most_us;
        return *ret_most_us != INT64_MIN; /* it has no opposite */
    }
    if (expr->type->kind == TYPE_INTERVAL_YEAR_MONTH) {
        int64_t months = VECTOR_VALUE(expr->literal, int32_t, 0);
        if (months > MONTHS_MAX || months < -MONTHS_MAX) { /* beyond all timestamps */
            return false;
        }
        int64_t slack = months == 0 ? 0 : DAY_US; /* clocks may be changed in between */
        *ret_most_us = months * (months > 0 ? LONGEST_MONTH : SHORTEST_MONTH) * DAY_US + slack;
        *ret_least_us = months * (months > 0 ? SHORTEST_MONTH : LONGEST_MONTH) * DAY_US - slack;
        return true;
    }
    return false;
}

/* column, column + INTERVAL, column - INTERVAL, INTERVAL + column */
static Instant instant_of(const BoundExpr *expr)
{
    if (expr->kind == BOUND_COLUMN) {
        return (Instant){.found = true, .column = expr->column};
    }
    if (expr->kind != BOUND_CALL || expr->child_count != 2) {
        return (Instant){0};
    }
    Str name = str_from(expr->function->name);
    bool minus = str_equal(name, STR("-"));
    const BoundExpr *base = expr->children[0];
    const BoundExpr *interval = expr->children[1];
    if (!minus && base->kind == BOUND_LITERAL) {
        base = expr->children[1];
        interval = expr->children[0];
    }
    int64_t most = 0;
    int64_t least = 0;
    if ((!minus && !str_equal(name, STR("+"))) || base->kind != BOUND_COLUMN ||
        !literal_interval(interval, &most, &least)) {
        return (Instant){0};
    }
    return (Instant){.found = true,
                     .column = base->column,
                     .most_us = minus ? -least : most,
                     .least_us = minus ? -most : least};
}

typedef struct Bounds {
    LogicalNode *node;
    StreamJoin *join;
    LogicalNode *left; /* the WATERMARKs of the sides' times */
    LogicalNode *right;
} Bounds;

static void lower_reach(StreamJoinSide *side, uint32_t column, int64_t reach_us)
{
    if (!side->bounded || reach_us < side->reach_us) {
        side->reach_us = reach_us;
        side->column = column;
    }
    side->bounded = true;
}

/* earlier <= later: rows of the later side reach rows of the earlier one up to there. */
static void note_order(Bounds *bounds, const BoundExpr *earlier, const BoundExpr *later)
{
    Instant a = instant_of(earlier);
    Instant b = instant_of(later);
    uint32_t width = (uint32_t)bounds->node->child->schema->field_count;
    if (!a.found || !b.found || (a.column < width) == (b.column < width)) {
        return;
    }
    bool left_is_later = b.column < width;
    uint32_t left = left_is_later ? b.column : a.column;
    uint32_t right = (left_is_later ? a.column : b.column) - width;
    LogicalNode *left_mark = stream_watermark_of(bounds->node->child, left);
    LogicalNode *right_mark = stream_watermark_of(bounds->node->right, right);
    int64_t reach = 0;
    if (left_mark == NULL || right_mark == NULL ||
        __builtin_sub_overflow(b.most_us, a.least_us, &reach)) {
        return;
    }
    bounds->left = left_mark;
    bounds->right = right_mark;
    lower_reach(left_is_later ? &bounds->join->left : &bounds->join->right,
                left_is_later ? left : right, reach);
}

static void note_conjunct(Bounds *bounds, const BoundExpr *conjunct)
{
    if (conjunct->kind != BOUND_CALL || conjunct->child_count != 2) {
        return;
    }
    Str name = str_from(conjunct->function->name);
    if (str_equal(name, STR("<")) || str_equal(name, STR("<="))) {
        note_order(bounds, conjunct->children[0], conjunct->children[1]);
    } else if (str_equal(name, STR(">")) || str_equal(name, STR(">="))) {
        note_order(bounds, conjunct->children[1], conjunct->children[0]);
    }
}

/* Equal times: each is at most the other. */
static void note_keys(Arena *arena, Bounds *bounds)
{
    const LogicalNode *node = bounds->node;
    int64_t width = (int64_t)node->child->schema->field_count;
    for (size_t i = 0; i < node->expression_count; i++) {
        const BoundExpr *right = expr_shift_columns(arena, node->right_keys[i], width);
        if (!node->null_equal[i]) {
            note_order(bounds, node->expressions[i], right);
            note_order(bounds, right, node->expressions[i]);
        }
    }
}

static Error *check_outer(const LogicalNode *node)
{
    const StreamJoin *join = node->stream_join;
    bool left = node->join == JOIN_LEFT || node->join == JOIN_FULL;
    bool right = node->join == JOIN_RIGHT || node->join == JOIN_FULL;
    if ((!left || join->left.bounded) && (!right || join->right.bounded)) {
        return NULL;
    }
    return error_set_hint(
        error_at(ERROR_TIME_RANGE_REQUIRED, node->place,
                 "An outer join of two streams needs a time range in its condition that says until "
                 "when a row can find a match."),
        "add a condition like a.ts >= b.ts AND a.ts <= b.ts + INTERVAL 1 HOUR over the columns "
        "that "
        "have watermarks");
}

Error *stream_join_bounds(Arena *arena, LogicalNode *node)
{
    StreamJoin *join = arena_new_object(arena, StreamJoin);
    Bounds bounds = {.node = node, .join = join};
    ExprList conjuncts = {0};
    if (node->condition != NULL) {
        expr_list_add_conjuncts(arena, &conjuncts, node->condition);
    }
    for (size_t i = 0; i < conjuncts.count; i++) {
        note_conjunct(&bounds, conjuncts.items[i]);
    }
    note_keys(arena, &bounds);
    if (bounds.left != NULL && bounds.right != NULL) {
        bounds.left->drop_late = true;
        bounds.right->drop_late = true;
    }
    node->stream_join = join;
    return check_outer(node);
}

/* All watermarks below it that count: each is the time of a stream whose rows may still come. */
static size_t list_watermarks(const LogicalNode *node, size_t *watermarks, size_t count)
{
    if (node == NULL || !node->streaming) {
        return count;
    }
    if (node->kind == LOGICAL_WATERMARK && node->drop_late) {
        watermarks[count++] = node->watermark;
    }
    count = list_watermarks(node->child, watermarks, count);
    return list_watermarks(node->right, watermarks, count);
}

static size_t count_nodes(const LogicalNode *node)
{
    return node == NULL ? 0 : 1 + count_nodes(node->child) + count_nodes(node->right);
}

void stream_join_number_watermarks(Arena *arena, LogicalNode *node)
{
    StreamJoin *join = arena_new_object(arena, StreamJoin);
    *join = *node->stream_join;
    size_t *watermarks = arena_new_array(arena, size_t, count_nodes(node));
    size_t count = list_watermarks(node->child, watermarks, 0);
    join->watermark_count = list_watermarks(node->right, watermarks, count);
    join->watermarks = watermarks;
    node->stream_join = join;
}
