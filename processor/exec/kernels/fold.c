/* aggregate(array, start, (acc, x) -> …[, acc -> …]): position by position. Step p computes the
 * lambda for every row that has an element p, over the values of step p - 1. Rows are sorted by the
 * length of their arrays, longest first, so that the rows still at work are always the first ones:
 *
 *     lengths 3, 1, 0    step 0: rows 0, 1    step 1: row 0    step 2: row 0
 *
 * Values of rows that are through are put aside. The work of a step lies in one of two arenas; when
 * it has grown, the values move to the other: a million steps need no more memory than one. */
#include <stdlib.h>

#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

enum { SCRATCH_BYTES = 1 << 20 };

/* A row whose array is not NULL. */
typedef struct Slot {
    uint32_t row;
    uint32_t first; /* its elements, in the array's children */
    uint32_t length;
} Slot;

typedef struct Fold {
    const KernelCall *call;
    Slot *slots; /* longest first */
    uint32_t slot_count;
    uint32_t *rows;     /* of the slots */
    Vector **columns;   /* of the merging lambda, for all slots */
    const Vector *acc;  /* of the slots still at work */
    uint32_t acc_count; /* how many those are */
    Vector *done;       /* values of slots that are through, in the order they got through */
    uint32_t *done_at;  /* by slot: its row of `done` */
    Arena *arenas[2];   /* acc lies in the first */
    size_t limit;       /* bytes of work before acc moves */
} Fold;

static int longer_first(const void *a, const void *b)
{
    const Slot *one = a;
    const Slot *other = b;
    if (one->length != other->length) {
        return one->length > other->length ? -1 : 1;
    }
    return one->row < other->row ? -1 : 1;
}

static void find_slots(Fold *fold)
{
    const KernelCall *call = fold->call;
    const Vector *list = call->arguments[0];
    fold->slots = arena_new_array(call->arena, Slot, call->rows.count);
    FOR_ROWS(call->rows, row, {
        if (vector_is_valid(list, row)) {
            fold->slots[fold->slot_count++] =
                (Slot){row, list->offsets[row], list_count(list, row)};
        }
    });
    qsort(fold->slots, fold->slot_count, sizeof(Slot), longer_first);
    fold->rows = arena_new_array(call->arena, uint32_t, fold->slot_count);
    for (uint32_t i = 0; i < fold->slot_count; i++) {
        fold->rows[i] = fold->slots[i].row;
    }
    fold->done_at = arena_new_array(call->arena, uint32_t, fold->slot_count);
}

/* Puts the values of slots `count` … aside. */
static void retire(Fold *fold, uint32_t count)
{
    Arena *arena = fold->call->arena;
    Vector *own = vector_new(fold->arenas[1], fold->acc->type, fold->acc_count - count);
    for (uint32_t slot = count; slot < fold->acc_count; slot++) {
        fold->done_at[slot] = fold->done->length + slot - count;
        vector_append_from(own, fold->arenas[1], fold->acc, slot);
    }
    /* A copy: the bytes of strings may lie in an arena that is reset. */
    const Vector *copy = vector_copy(arena, own);
    for (uint32_t i = 0; i < copy->length; i++) {
        vector_append_from(fold->done, arena, copy, i);
    }
    arena_reset(fold->arenas[1]);
    fold->acc_count = count;
}

/* Moves acc to the other arena when the work of the steps has grown. */
static void tidy(Fold *fold)
{
    if (arena_used_bytes(fold->arenas[0]) < fold->limit) {
        return;
    }
    Arena *fresh = fold->arenas[1];
    fold->acc = vector_copy(fresh, vector_view(fresh, fold->acc, 0, fold->acc_count));
    fold->limit = SCRATCH_BYTES + 4 * arena_used_bytes(fresh);
    arena_reset(fold->arenas[0]);
    fold->arenas[1] = fold->arenas[0];
    fold->arenas[0] = fresh;
}

static void fail_slots(const Fold *fold, RowErrors *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        kernel_fail(fold->call, fold->rows[errors->rows[i]], errors->errors[i]);
    }
    errors->count = 0;
    row_errors_done(errors);
}

/* Merges element `position` of each slot at work. */
static void step(Fold *fold, uint32_t position)
{
    const KernelCall *call = fold->call;
    Arena *arena = fold->arenas[0];
    uint32_t *places = arena_new_array(arena, uint32_t, fold->acc_count);
    for (uint32_t i = 0; i < fold->acc_count; i++) {
        places[i] = fold->slots[i].first + position;
    }
    const Vector *elements = call->arguments[0]->children[0];
    fold->columns[0] = vector_view(arena, fold->acc, 0, fold->acc_count);
    fold->columns[1] = vector_gather(arena, elements, places, fold->acc_count);
    RowErrors errors = {0};
    fold->acc =
        lambda_run(call, call_lambda(call, 0), fold->columns, fold->acc_count, arena, &errors);
    fail_slots(fold, &errors);
}

static void run_steps(Fold *fold)
{
    uint32_t longest = fold->slot_count == 0 ? 0 : fold->slots[0].length;
    for (uint32_t position = 0; position <= longest; position++) {
        uint32_t count = fold->acc_count;
        while (count > 0 && fold->slots[count - 1].length <= position) {
            count--;
        }
        if (count < fold->acc_count) {
            retire(fold, count);
        }
        if (count > 0) {
            step(fold, position);
            tidy(fold);
        }
    }
}

/* The values of all slots, in their order, after the finishing lambda. */
static const Vector *finish(const Fold *fold)
{
    const KernelCall *call = fold->call;
    Vector *values = vector_gather(call->arena, fold->done, fold->done_at, fold->slot_count);
    if (call_lambda_count(call) < 2) {
        return values;
    }
    const Lambda *lambda = call_lambda(call, 1);
    Vector **columns = lambda_columns(call, lambda, call->arena, fold->rows, fold->slot_count);
    columns[0] = values;
    RowErrors errors = {0};
    const Vector *finished =
        lambda_run(call, lambda, columns, fold->slot_count, call->arena, &errors);
    fail_slots(fold, &errors);
    return finished;
}

static void give_result(const Fold *fold, const Vector *values)
{
    const KernelCall *call = fold->call;
    uint32_t *places = arena_new_array(call->arena, uint32_t, call->row_count);
    for (uint32_t row = 0; row < call->row_count; row++) {
        places[row] = NULL_ROW;
    }
    for (uint32_t i = 0; i < fold->slot_count; i++) {
        places[fold->rows[i]] = i;
    }
    *call->result = *vector_gather(call->arena, values, places, call->row_count);
}

static void aggregate(const KernelCall *call)
{
    Fold fold = {
        .call = call, .arenas = {arena_new("fold"), arena_new("fold")}, .limit = SCRATCH_BYTES};
    find_slots(&fold);
    fold.columns =
        lambda_columns(call, call_lambda(call, 0), call->arena, fold.rows, fold.slot_count);
    fold.acc = vector_gather(fold.arenas[0], call->arguments[1], fold.rows, fold.slot_count);
    fold.acc_count = fold.slot_count;
    fold.done = vector_new(call->arena, fold.acc->type, fold.slot_count);
    run_steps(&fold);
    give_result(&fold, finish(&fold));
    arena_free(fold.arenas[0]);
    arena_free(fold.arenas[1]);
}

const Kernel kernel_aggregate = {.run = aggregate};
