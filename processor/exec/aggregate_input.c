/* Keys, filters and arguments of an AGGREGATE as slots. Filters come before what stands under them:
 * sum(1 / x) FILTER (WHERE x <> 0) divides only where it may. A plain column has one slot, however
 * often it is used. */
#include "processor/exec/aggregate_input.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* ---- Opening ---- */

static size_t slots_max(const LogicalNode *node)
{
    size_t count = node->expression_count;
    for (size_t i = 0; i < node->aggregate_count; i++) {
        count += 1 + node->aggregates[i].argument_count + node->aggregates[i].sort_key_count;
    }
    return count;
}

/* The slot of a column that is there already, which no filter changes. */
static bool find_column(const AggregateInput *input, const BoundExpr *expr, size_t *ret_slot)
{
    for (size_t i = 0; i < input->slot_count; i++) {
        const BoundExpr *other = input->slots[i].expr;
        if (expr->kind == BOUND_COLUMN && other->kind == BOUND_COLUMN &&
            other->column == expr->column) {
            *ret_slot = i;
            return true;
        }
    }
    return false;
}

static Error *add_slot(AggregateInput *input, const BoundExpr *expr, int filter,
                       const ExecContext *context, size_t *ret_slot)
{
    if (find_column(input, expr, ret_slot)) {
        return NULL;
    }
    InputSlot *slot = &input->slots[input->slot_count];
    TRY(expression_open(expr, context, &slot->expression));
    slot->expr = expr;
    /* A column is shared with those who have no filter. */
    slot->filter = expr->kind == BOUND_COLUMN ? NO_FILTER : filter;
    *ret_slot = input->slot_count++;
    return NULL;
}

static Error *open_keys(AggregateInput *input, const LogicalNode *node, const ExecContext *context)
{
    for (size_t i = 0; i < node->expression_count; i++) {
        /* A key keeps its place, even when it is the same column again. */
        InputSlot *slot = &input->slots[input->slot_count];
        TRY(expression_open(node->expressions[i], context, &slot->expression));
        slot->expr = node->expressions[i];
        slot->filter = NO_FILTER;
        input->slot_count++;
    }
    input->key_count = input->slot_count;
    return NULL;
}

static Error *open_part(AggregateInput *input, InputPart *part, const ExecContext *context)
{
    const BoundAggregate *bound = part->bound;
    part->filter = NO_FILTER;
    if (bound->filter != NULL) {
        size_t filter = 0;
        TRY(add_slot(input, bound->filter, NO_FILTER, context, &filter));
        part->filter = (int)filter;
    }
    size_t count = bound->argument_count + bound->sort_key_count;
    part->slots = arena_new_array(input->arena, size_t, count);
    part->types = arena_new_array(input->arena, const Type *, count);
    for (size_t i = 0; i < count; i++) {
        const BoundExpr *expr = i < bound->argument_count
                                    ? bound->arguments[i]
                                    : bound->sort_keys[i - bound->argument_count].expr;
        TRY(add_slot(input, expr, part->filter, context, &part->slots[i]));
        part->types[i] = expr->type;
        part->slot_count++;
    }
    return NULL;
}

static void make_schema(AggregateInput *input)
{
    Field *fields = arena_new_array(input->arena, Field, input->slot_count);
    for (size_t i = 0; i < input->slot_count; i++) {
        fields[i].name = str_from(arena_printf(input->arena, "slot%zu", i));
        fields[i].type = input->slots[i].expr->type;
    }
    input->schema = schema_new(input->arena, fields, input->slot_count);
}

Error *aggregate_input_open(AggregateInput *input, const LogicalNode *node,
                            const ExecContext *context)
{
    input->arena = arena_new("aggregate input");
    input->slots = arena_new_array(input->arena, InputSlot, slots_max(node));
    input->parts = arena_new_array(input->arena, InputPart, node->aggregate_count);
    TRY(open_keys(input, node, context));
    for (size_t i = 0; i < node->aggregate_count; i++) {
        input->parts[i].bound = &node->aggregates[i];
        TRY(open_part(input, &input->parts[i], context));
        input->part_count++;
    }
    make_schema(input);
    return NULL;
}

void aggregate_input_done(AggregateInput *input)
{
    for (size_t i = 0; i < input->slot_count; i++) {
        expression_close(input->slots[i].expression);
    }
    arena_free(input->arena);
    *input = (AggregateInput){0};
}

void aggregate_input_set_now(const AggregateInput *input, int64_t now_us)
{
    for (size_t i = 0; i < input->slot_count; i++) {
        expression_set_now(input->slots[i].expression, now_us);
    }
}

/* ---- Evaluating ---- */

static Batch narrowed(const Batch *batch, const Vector *filter, Arena *arena)
{
    Batch result = *batch;
    uint16_t *selection =
        arena_alloc(arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        selection[count] = (uint16_t)row;
        count += vector_is_valid(filter, row) && type_physical(filter->type) == PHYSICAL_BOOL &&
                 VECTOR_VALUE(filter, uint8_t, row) != 0;
    }
    result.selection = selection;
    result.selected_count = count;
    return result;
}

static Error *evaluate(const AggregateInput *input, const Pull *pull, const Batch *batch,
                       RowErrors *failed, const Vector **slots)
{
    Batch under_filter = *batch;
    int filter = NO_FILTER;
    for (size_t i = 0; i < input->slot_count; i++) {
        const InputSlot *slot = &input->slots[i];
        if (slot->filter != NO_FILTER && slot->filter != filter) {
            filter = slot->filter;
            under_filter = narrowed(batch, slots[filter], pull->arena);
        }
        TRY(expression_evaluate(slot->expression, slot->filter == NO_FILTER ? batch : &under_filter,
                                pull->arena, failed, &slots[i]));
    }
    return NULL;
}

Error *aggregate_input_evaluate(const AggregateInput *input, const Pull *pull, Batch *batch,
                                const Vector **ret_slots)
{
    RowErrors failed = {0};
    Error *error = evaluate(input, pull, batch, &failed, ret_slots);
    if (error != NULL) {
        row_errors_done(&failed);
        return error;
    }
    pull_take_errors(pull, batch, &failed);
    return NULL;
}
