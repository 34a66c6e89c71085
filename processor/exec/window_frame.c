/* Frames. ROWS bounds are sums of row numbers, RANGE bounds of peers the groups' ends. A RANGE
 * bound x away is computed as the expression key - x or key + x (for DESC the other way round), so
 * that dates, months and overflow behave as anywhere else. Its values and the keys become sort
 * keys; both ascend within a partition, and two pointers find the rows: NULLs are each other's
 * peers and no value's, since NULL plus x is NULL. */
#include "processor/exec/window_frame.h"

#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

static bool is_offset(const BoundFrameBound *bound)
{
    return bound->kind == FRAME_PRECEDING || bound->kind == FRAME_FOLLOWING;
}

/* ---- Opening ---- */

static BoundExpr *new_expr(Arena *arena, BoundExprKind kind, const Type *type,
                           const BoundExpr *like)
{
    BoundExpr *expr = arena_new_object(arena, BoundExpr);
    *expr = (BoundExpr){.kind = kind,
                        .type = type,
                        .place = like->place,
                        .text = like->text,
                        .height = 1,
                        .node_count = 1};
    return expr;
}

static BoundExpr *cast_to(Arena *arena, BoundExpr *expr, const Type *type)
{
    if (type_equal(expr->type, type)) {
        return expr;
    }
    BoundExpr *cast = new_expr(arena, BOUND_CAST, type, expr);
    cast->children = arena_new_array(arena, BoundExpr *, 1);
    cast->children[0] = expr;
    cast->child_count = 1;
    cast->height = expr->height + 1;
    cast->node_count = expr->node_count + 1;
    return cast;
}

/* name(a, b), arguments cast as the function wants them. */
static Error *call_function(const char *name, BoundExpr *a, BoundExpr *b, Arena *arena,
                            BoundExpr **ret)
{
    const Function *function = function_catalog()->find(str_from(name));
    BoundExpr **children = arena_new_array(arena, BoundExpr *, 2);
    const Type **types = arena_new_array(arena, const Type *, 2);
    children[0] = a;
    children[1] = b;
    types[0] = a->type;
    types[1] = b->type;
    FunctionCall call = {.function = function,
                         .argument_types = types,
                         .argument_count = 2,
                         .arguments = children,
                         .arena = arena,
                         .place = b->place,
                         .text = b->text};
    const Type *type = NULL;
    TRY(function->resolve(&call, &type));
    BoundExpr *expr = new_expr(arena, BOUND_CALL, type, b);
    expr->function = function;
    expr->children = children;
    expr->child_count = 2;
    expr->height = 3;
    expr->node_count = 5;
    children[0] = cast_to(arena, a, types[0]);
    children[1] = cast_to(arena, b, types[1]);
    *ret = expr;
    return NULL;
}

static Error *open_value(FrameValue *value, const BoundFrameBound *bound, bool descending,
                         BoundExpr *key, const ExecContext *context, Arena *arena)
{
    if (!is_offset(bound)) {
        return NULL;
    }
    BoundExpr *offset = arena_new_object(arena, BoundExpr);
    *offset = *bound->offset;
    bool minus = (bound->kind == FRAME_PRECEDING) != descending;
    BoundExpr *moved = NULL;
    TRY(call_function(minus ? "-" : "+", key, offset, arena, &moved));
    TRY(expression_open(moved, context, &value->value));
    return expression_open(cast_to(arena, key, moved->type), context, &value->key);
}

Error *window_frame_open(WindowFrame *frame, const BoundWindowCall *call, const BoundSortKey *key,
                         size_t key_column, const ExecContext *context, Arena *arena)
{
    frame->call = call;
    if (call->unit == FRAME_ROWS || (!is_offset(&call->start) && !is_offset(&call->end))) {
        return NULL;
    }
    BoundExpr *column = new_expr(arena, BOUND_COLUMN, key->expr->type, key->expr);
    column->column = (uint32_t)key_column;
    frame->order = (SortOrder){key->descending, key->nulls_first};
    TRY(open_value(&frame->start, &call->start, key->descending, column, context, arena));
    return open_value(&frame->end, &call->end, key->descending, column, context, arena);
}

void window_frame_done(WindowFrame *frame)
{
    expression_close(frame->start.value);
    expression_close(frame->start.key);
    expression_close(frame->end.value);
    expression_close(frame->end.key);
}

/* ---- ROWS ---- */

static void find_rows(const BoundFrameBound *bound, uint32_t first, uint32_t last, int64_t after,
                      uint32_t *rows)
{
    int64_t distance = is_offset(bound) ? vector_int_value(bound->offset->literal, 0) : 0;
    distance = (bound->kind == FRAME_PRECEDING ? -distance : distance) + after;
    for (uint32_t row = first; row < last; row++) {
        int64_t at = (int64_t)row + distance;
        rows[row] = at < first ? first : at > last ? last : (uint32_t)at;
    }
}

/* ---- Peers ---- */

/* The group's first row, or with `after` 1 the row behind it. */
static void find_peers(const WindowBlock *block, uint32_t after, uint32_t *rows)
{
    for (uint32_t group = 0; group < block->peer_count; group++) {
        for (uint32_t row = block->peers[group]; row < block->peers[group + 1]; row++) {
            rows[row] = block->peers[group + after];
        }
    }
}

/* ---- Values ---- */

/* Sort keys of all rows of the block. */
typedef struct RowKeys {
    SortKey *keys;
    Str *rests;
} RowKeys;

static Error *encode(Expression *expression, SortOrder order, const WindowBlock *block,
                     Arena *arena, RowKeys *ret)
{
    ret->keys = arena_new_array(arena, SortKey, block->count);
    ret->rests = arena_new_array(arena, Str, block->count);
    for (uint32_t row = 0; row < block->count; row += BATCH_ROWS) {
        uint32_t left = block->count - row;
        Batch chunk = *row_store_chunk(block->rows, row);
        chunk.selected_count = left < BATCH_ROWS ? left : chunk.row_count;
        uint16_t *selection = arena_new_array(arena, uint16_t, chunk.selected_count);
        for (uint32_t i = 0; i < chunk.selected_count; i++) {
            selection[i] = (uint16_t)i;
        }
        chunk.selection = selection;
        RowErrors failed = {0};
        const Vector *value = NULL;
        Error *error = expression_evaluate(expression, &chunk, arena, &failed, &value);
        if (error == NULL && failed.count > 0) {
            error = error_copy(failed.errors[0]);
        }
        row_errors_done(&failed);
        TRY(error);
        (void)sort_keys_encode(&order, &value, 1, (Rows){selection, chunk.selected_count}, arena,
                               ret->keys + row, ret->rests + row);
    }
    return NULL;
}

/* In each partition: rows[row] is the first row whose key is not before the row's value, or with
 * `after`, the first whose key is behind it. */
static void find_values(const WindowBlock *block, const RowKeys *keys, const RowKeys *values,
                        bool after, uint32_t *rows)
{
    for (uint32_t p = 0; p < block->partition_count; p++) {
        uint32_t at = block->partitions[p];
        uint32_t last = block->partitions[p + 1];
        for (uint32_t row = block->partitions[p]; row < last; row++) {
            while (at < last && sort_key_compare(&keys->keys[at], keys->rests[at],
                                                 &values->keys[row], values->rests[row]) < after) {
                at++;
            }
            rows[row] = at;
        }
    }
}

static Error *find_by_value(const WindowFrame *frame, const FrameValue *value,
                            const WindowBlock *block, bool after, Arena *arena, uint32_t *rows)
{
    RowKeys keys = {0};
    RowKeys values = {0};
    TRY(encode(value->key, frame->order, block, arena, &keys));
    TRY(encode(value->value, frame->order, block, arena, &values));
    find_values(block, &keys, &values, after, rows);
    return NULL;
}

/* ---- All bounds ---- */

static void find_in_partitions(const WindowBlock *block, const BoundFrameBound *bound, bool is_end,
                               uint32_t *rows)
{
    for (uint32_t p = 0; p < block->partition_count; p++) {
        uint32_t first = block->partitions[p];
        uint32_t last = block->partitions[p + 1];
        if (bound->kind == FRAME_UNBOUNDED_PRECEDING || bound->kind == FRAME_UNBOUNDED_FOLLOWING) {
            uint32_t same = bound->kind == FRAME_UNBOUNDED_PRECEDING ? first : last;
            for (uint32_t row = first; row < last; row++) {
                rows[row] = same;
            }
        } else {
            find_rows(bound, first, last, is_end, rows);
        }
    }
}

static Error *find_bound(const WindowFrame *frame, const WindowBlock *block, bool is_end,
                         Arena *arena, uint32_t *rows)
{
    const BoundFrameBound *bound = is_end ? &frame->call->end : &frame->call->start;
    const FrameValue *value = is_end ? &frame->end : &frame->start;
    if (value->value != NULL) {
        return find_by_value(frame, value, block, is_end, arena, rows);
    }
    if (frame->call->unit == FRAME_RANGE && bound->kind == FRAME_CURRENT_ROW) {
        find_peers(block, is_end, rows);
    } else {
        find_in_partitions(block, bound, is_end, rows);
    }
    return NULL;
}

Error *window_frame_find(const WindowFrame *frame, const WindowBlock *block, Arena *arena,
                         uint32_t *begin, uint32_t *end)
{
    TRY(find_bound(frame, block, false, arena, begin));
    TRY(find_bound(frame, block, true, arena, end));
    for (uint32_t row = 0; row < block->count; row++) {
        end[row] = end[row] < begin[row] ? begin[row] : end[row];
    }
    return NULL;
}
