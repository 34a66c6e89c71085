/* AGGREGATE: a row a group. The input is read in one pass (aggregation.c); what did not fit in
 * memory lies in files, each of which is read in a pass of its own, depth first, so that at most
 * one pass holds memory and the files wait. */
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/aggregation.h"

#include "processor/base/banned.h"

typedef struct Waiting {
    SpillFile *file;
    unsigned level;
} Waiting;

typedef struct Aggregate {
    Operator op;
    const LogicalNode *node;
    ExecContext context; /* the clock may move */
    AggregateInput input;
    Arena *batch_arena; /* of one input batch */
    Aggregation *pass;  /* at work, or handing out */
    Waiting *waiting;   /* files to be read, the last one next */
    size_t waiting_count;
    size_t waiting_capacity;
    bool started;
} Aggregate;

static void start_pass(Aggregate *aggregate, unsigned level)
{
    aggregation_free(aggregate->pass);
    aggregate->pass =
        aggregation_new(&aggregate->input, aggregate->node->schema, &aggregate->context, level);
}

/* The input has ended: what was spilled will be read later. */
static Error *end_pass(Aggregate *aggregate)
{
    SpillParts *parts = aggregation_parts(aggregate->pass);
    for (unsigned part = 0; part < PART_COUNT; part++) {
        SpillFile *file = NULL;
        TRY(spill_parts_take(parts, part, &file));
        if (file != NULL) {
            mem_reserve(aggregate->waiting, &aggregate->waiting_capacity,
                        aggregate->waiting_count + 1);
            aggregate->waiting[aggregate->waiting_count++] = (Waiting){file, parts->level + 1};
        }
    }
    return aggregation_end(aggregate->pass);
}

static Error *add_batch(Aggregate *aggregate, const Pull *pull, const Batch *batch)
{
    Batch own = *batch;
    const Vector **slots =
        arena_new_array(pull->arena, const Vector *, aggregate->input.slot_count);
    TRY(aggregate_input_evaluate(&aggregate->input, pull, &own, slots));
    return aggregation_add(aggregate->pass, slots, (Rows){own.selection, own.selected_count});
}

static Error *read_child(Aggregate *aggregate, const Pull *pull)
{
    start_pass(aggregate, 0);
    Pull own = *pull;
    own.arena = aggregate->batch_arena;
    for (;;) {
        Batch *batch = NULL;
        TRY(pull_input(aggregate->op.child, pull, aggregate->batch_arena, &batch));
        if (batch == NULL) {
            return end_pass(aggregate);
        }
        TRY(add_batch(aggregate, &own, batch));
    }
}

static Error *read_waiting(Aggregate *aggregate, const Pull *pull, Waiting waiting)
{
    AUTO(spill) SpillFile *file = waiting.file;
    start_pass(aggregate, waiting.level);
    for (;;) {
        Batch *batch = NULL;
        TRY(pull_check(pull, aggregate->context.interrupted));
        arena_reset(aggregate->batch_arena);
        TRY(spill_read(file, aggregate->batch_arena, &batch));
        if (batch == NULL) {
            return end_pass(aggregate);
        }
        TRY(aggregation_add(aggregate->pass, (const Vector *const *)batch->columns,
                            (Rows){NULL, batch->row_count}));
    }
}

static Error *aggregate_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Aggregate *aggregate = (Aggregate *)op;
    *ret_batch = NULL;
    if (!aggregate->started) {
        aggregate->started = true;
        TRY(read_child(aggregate, pull));
    }
    for (;;) {
        TRY(aggregation_next(aggregate->pass, pull->arena, ret_batch));
        if (*ret_batch != NULL || aggregate->waiting_count == 0) {
            return NULL;
        }
        TRY(read_waiting(aggregate, pull, aggregate->waiting[--aggregate->waiting_count]));
    }
}

static void aggregate_set_now(Operator *op, int64_t now_us)
{
    Aggregate *aggregate = (Aggregate *)op;
    aggregate->context.now_us = now_us;
    aggregate_input_set_now(&aggregate->input, now_us);
}

static void aggregate_close(Operator *op)
{
    Aggregate *aggregate = (Aggregate *)op;
    aggregation_free(aggregate->pass);
    for (size_t i = 0; i < aggregate->waiting_count; i++) {
        spill_close(aggregate->waiting[i].file);
    }
    mem_free(aggregate->waiting);
    aggregate_input_done(&aggregate->input);
    arena_free(aggregate->batch_arena);
    mem_free(aggregate);
}

Error *op_aggregate_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Aggregate *aggregate = mem_new(Aggregate);
    aggregate->op =
        (Operator){.next = aggregate_next, .set_now = aggregate_set_now, .close = aggregate_close};
    aggregate->node = node;
    aggregate->context = *context;
    aggregate->batch_arena = arena_new("aggregate batch");
    Error *error = aggregate_input_open(&aggregate->input, node, context);
    if (error != NULL) {
        aggregate_close(&aggregate->op);
        return error;
    }
    *ret_op = &aggregate->op;
    return NULL;
}
