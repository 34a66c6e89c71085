/* WINDOW: the child's rows sorted by partition and order, and behind them the value of each window
 * function.
 *
 *     child ─► keyed rows ─► sorter ─► block of whole partitions ─► frames, functions ─► batches
 *
 * Everything a function reads (keys, arguments, filters) is computed once, before sorting, and
 * sorted along. A block holds at least a batch of rows, so that many small partitions cost as
 * little as one large; a partition must fit into memory. */
#include <assert.h>

#include "processor/base/memory.h"
#include "processor/exec/aggregates/aggregates.h"
#include "processor/exec/aggregates/constants.h"
#include "processor/exec/keyed_rows.h"
#include "processor/exec/sorter.h"
#include "processor/exec/spill.h"
#include "processor/exec/window.h"
#include "processor/exec/window_aggregate.h"
#include "processor/exec/window_frame.h"

#include "processor/base/banned.h"

typedef struct Call {
    const BoundWindowCall *bound;
    const WindowKernel *kernel;
    WindowAggregate *aggregate; /* when there is no kernel */
    WindowFrame frame;
    size_t *columns; /* of the rows: arguments, sort keys, filter */
    WindowCall call;
    /* Of the block at hand: */
    Vector *result;   /* values, or */
    uint32_t *source; /* where they are */
} Call;

typedef struct Window {
    Operator op;
    const LogicalNode *node;
    ExecContext context;
    Arena *arena;   /* as long as the operator */
    Arena *input;   /* of one batch that is read */
    Arena *results; /* of the block */
    KeyedRows rows;
    WindowKeys keys;
    Sorter *sorter;
    bool sorted;
    bool at_end; /* of the sorted rows */
    WindowBlock block;
    WindowBlock next; /* rows behind the block's */
    uint32_t at;      /* row of the block that is handed out next */
    Call *calls;
    size_t call_count;
    size_t held;
} Window;

/* ---- Reading ---- */

static Error *sort_input(Window *window, const Pull *pull)
{
    size_t key_count = window->keys.partition_count + window->keys.order_count;
    Pull own = *pull;
    own.arena = window->input;
    for (;;) {
        Batch *batch = NULL;
        TRY(pull_input(window->op.child, pull, window->input, &batch));
        if (batch == NULL) {
            return sorter_finish(window->sorter);
        }
        TRY(keyed_rows_extend(&window->rows, &own, batch, &batch));
        const Vector **keys = arena_new_array(window->input, const Vector *, key_count);
        for (size_t i = 0; i < key_count; i++) {
            keys[i] = batch->columns[window->rows.key_columns[i]];
        }
        TRY(sorter_add(window->sorter, batch, keys));
    }
}

static void count_memory(Window *window)
{
    size_t calls = window->call_count * sizeof(Str) * row_store_count(window->block.rows);
    memory_hold(window->context.memory, &window->held, window_block_bytes(&window->block) + calls);
}

/* Reads on until the block is ready or there are no more rows. */
static Error *fill_block(Window *window, const Pull *pull)
{
    while (!window->at_end && !window_block_is_ready(&window->block)) {
        Batch *batch = NULL;
        arena_reset(window->input);
        TRY(pull_check(pull, window->context.interrupted));
        TRY(sorter_next(window->sorter, window->input, &batch));
        if (batch == NULL) {
            window->at_end = true;
        } else {
            window_block_add(&window->block, &window->keys, batch);
            count_memory(window);
            TRY(memory_check(
                window->context.memory, window->held, "The rows of one window partition",
                "PARTITION BY columns that make them smaller", window->calls[0].bound->call.place));
        }
    }
    return NULL;
}

/* ---- Computing ---- */

static void note_valued(const Window *window, Call *call, uint32_t *valued)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < window->block.count; row++) {
        const Vector *value = row_store_chunk(window->block.rows, row)->columns[call->columns[0]];
        valued[count] = row;
        count += !keyed_value_is_null(value, row % BATCH_ROWS);
    }
    call->call.valued = valued;
    call->call.valued_count = count;
}

/* The part of the block's valued rows that lies in the partition. */
static WindowCall of_partition(const Call *call, const WindowPartition *partition, uint32_t *at)
{
    WindowCall own = call->call;
    if (own.ignore_nulls) {
        uint32_t first = *at;
        while (*at < own.valued_count && own.valued[*at] < partition->end) {
            (*at)++;
        }
        own.valued += first;
        own.valued_count = *at - first;
    }
    return own;
}

static void run_kernel(const Window *window, Call *call)
{
    const WindowBlock *block = &window->block;
    uint32_t valued = 0;
    uint32_t group = 0;
    for (uint32_t p = 0; p < block->partition_count; p++) {
        WindowPartition partition = {.begin = block->partitions[p],
                                     .end = block->partitions[p + 1],
                                     .peers = block->peers + group};
        while (block->peers[group] < partition.end && group < block->peer_count) {
            group++;
            partition.peer_count++;
        }
        WindowCall own = of_partition(call, &partition, &valued);
        if (call->kernel->rank != NULL) {
            call->kernel->rank(&own, &partition, call->result);
        } else if (call->source != NULL) {
            call->kernel->locate(&own, &partition, call->source);
        }
    }
}

static Error *compute(const Window *window, Call *call)
{
    uint32_t count = window->block.count;
    Arena *arena = window->results;
    const WindowKernel *kernel = call->kernel;
    uint32_t *begin = NULL;
    uint32_t *end = NULL;
    if (kernel == NULL || kernel->framed) {
        begin = arena_new_array(arena, uint32_t, count);
        end = arena_new_array(arena, uint32_t, count);
        TRY(window_frame_find(&call->frame, &window->block, arena, begin, end));
    }
    call->result = vector_new(arena, call->bound->call.type, count);
    if (kernel == NULL) {
        return window_aggregate_run(call->aggregate, &window->block, begin, end, arena,
                                    call->result);
    }
    call->call.frame_begin = begin;
    call->call.frame_end = end;
    if (call->call.ignore_nulls) {
        note_valued(window, call, arena_new_array(arena, uint32_t, count));
    }
    call->source = kernel->locate == NULL ? NULL : arena_new_array(arena, uint32_t, count);
    call->result->length = count;
    run_kernel(window, call);
    return NULL;
}

/* The next block and what the functions give over it; none: its count is 0. */
static Error *next_block(Window *window, const Pull *pull)
{
    window_block_done(&window->block);
    window->block = window->next;
    window->next = (WindowBlock){0};
    window->at = 0;
    TRY(fill_block(window, pull));
    window_block_init(&window->next, window->rows.extended);
    bool cut = !window->at_end || window_block_is_ready(&window->block);
    window_block_end(&window->block, &window->keys, cut ? &window->next : NULL);
    arena_reset(window->results);
    for (size_t i = 0; i < window->call_count && window->block.count > 0; i++) {
        TRY(pull_check(pull, window->context.interrupted));
        TRY(compute(window, &window->calls[i]));
    }
    return NULL;
}

/* ---- Handing out ---- */

static bool any_missing(const uint32_t *source, uint32_t count)
{
    bool missing = false;
    for (uint32_t i = 0; i < count; i++) {
        missing |= source[i] == ROW_NONE;
    }
    return missing;
}

/* The default of the current row where there is no other. */
static Vector *fill_missing(const Window *window, const Call *call, const Vector *values,
                            const uint32_t *rows, uint32_t count, Arena *arena)
{
    size_t column = call->columns[call->kernel->fallback - 1];
    const Vector *fallback = row_store_gather(window->block.rows, column, rows, count, arena);
    Vector *filled = vector_new(arena, values->type, count);
    for (uint32_t i = 0; i < count; i++) {
        bool missing = call->source[rows[i]] == ROW_NONE;
        vector_append_from(filled, arena, missing ? fallback : values, i);
    }
    return filled;
}

static Vector *call_column(const Window *window, const Call *call, const uint32_t *rows,
                           uint32_t count, Arena *arena)
{
    if (call->kernel == NULL || call->kernel->locate == NULL) {
        Vector *values = vector_gather(arena, call->result, rows, count);
        vector_own_bytes(values, arena);
        return values;
    }
    const uint32_t *source = call->source + rows[0];
    Vector *values = row_store_gather(window->block.rows, call->columns[0], source, count, arena);
    bool has_fallback =
        call->kernel->fallback > 0 && call->bound->call.argument_count >= call->kernel->fallback;
    return has_fallback && any_missing(source, count)
               ? fill_missing(window, call, values, rows, count, arena)
               : values;
}

static Batch *hand_out(Window *window, Arena *arena)
{
    const Batch *chunk = row_store_chunk(window->block.rows, window->at);
    uint32_t left = window->block.count - window->at;
    uint32_t count = left < BATCH_ROWS ? left : BATCH_ROWS;
    uint32_t *rows = arena_new_array(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = window->at + i;
    }
    size_t width = window->rows.schema->field_count;
    Vector **columns = arena_new_array(arena, Vector *, window->node->schema->field_count);
    for (size_t i = 0; i < width; i++) {
        columns[i] = count == chunk->row_count ? chunk->columns[i]
                                               : vector_view(arena, chunk->columns[i], 0, count);
    }
    for (size_t i = 0; i < window->call_count; i++) {
        columns[width + i] = call_column(window, &window->calls[i], rows, count, arena);
    }
    row_store_keep(window->block.rows, arena);
    window->at += count;
    return batch_from_columns(arena, window->node->schema, columns, count);
}

static Error *window_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Window *window = (Window *)op;
    *ret_batch = NULL;
    if (!window->sorted) {
        TRY(sort_input(window, pull));
        window->sorted = true;
    }
    if (window->at == window->block.count) {
        TRY(next_block(window, pull));
    }
    if (window->block.count > 0) {
        *ret_batch = hand_out(window, pull->arena);
    }
    return NULL;
}

/* ---- Opening ---- */

static void window_set_now(Operator *op, int64_t now_us)
{
    expression_list_set_now(&((Window *)op)->rows.computed, now_us);
}

static void window_close(Operator *op)
{
    Window *window = (Window *)op;
    memory_hold(window->context.memory, &window->held, 0);
    for (size_t i = 0; i < window->call_count; i++) {
        window_aggregate_close(window->calls[i].aggregate);
        window_frame_done(&window->calls[i].frame);
    }
    window_block_done(&window->block);
    window_block_done(&window->next);
    sorter_free(window->sorter);
    keyed_rows_done(&window->rows);
    arena_free(window->results);
    arena_free(window->input);
    arena_free(window->arena);
    mem_free(window);
}

/* Adds the expressions to the list. */
static size_t list_call(const BoundAggregate *call, BoundExpr **exprs)
{
    size_t count = 0;
    for (size_t i = 0; i < call->argument_count; i++) {
        exprs[count++] = call->arguments[i];
    }
    for (size_t i = 0; i < call->sort_key_count; i++) {
        exprs[count++] = call->sort_keys[i].expr;
    }
    if (call->filter != NULL) {
        exprs[count++] = call->filter;
    }
    return count;
}

static size_t call_width(const BoundAggregate *call)
{
    return call->argument_count + call->sort_key_count + (call->filter != NULL);
}

/* All expressions the operator computes of a row: partition keys, order keys, then call by call. */
static Error *open_rows(Window *window)
{
    const LogicalNode *node = window->node;
    size_t count = node->expression_count + node->sort_key_count;
    for (size_t i = 0; i < node->window_count; i++) {
        count += call_width(&node->windows[i].call);
    }
    BoundExpr **exprs = arena_new_array(window->arena, BoundExpr *, count);
    size_t at = 0;
    for (size_t i = 0; i < node->expression_count; i++) {
        exprs[at++] = node->expressions[i];
    }
    for (size_t i = 0; i < node->sort_key_count; i++) {
        exprs[at++] = node->sort_keys[i].expr;
    }
    for (size_t i = 0; i < node->window_count; i++) {
        at += list_call(&node->windows[i].call, exprs + at);
    }
    return keyed_rows_open(&window->rows, node->child->schema, exprs, count, &window->context,
                           window->arena);
}

static void open_sorter(Window *window)
{
    const LogicalNode *node = window->node;
    size_t key_count = node->expression_count + node->sort_key_count;
    SortOrder *orders = arena_new_array(window->arena, SortOrder, key_count);
    for (size_t i = 0; i < key_count; i++) {
        orders[i] = (SortOrder){.nulls_first = true};
        if (i >= node->expression_count) {
            const BoundSortKey *key = &node->sort_keys[i - node->expression_count];
            orders[i] = (SortOrder){key->descending, key->nulls_first};
        }
    }
    window->keys = (WindowKeys){.partition = window->rows.key_columns,
                                .partition_count = node->expression_count,
                                .order = window->rows.key_columns + node->expression_count,
                                .order_count = node->sort_key_count};
    window->sorter = sorter_new(&(SorterSetup){.schema = window->rows.extended,
                                               .orders = orders,
                                               .key_count = key_count,
                                               .limit = -1,
                                               .memory = window->context.memory});
}

static const WindowKernel *kernel_of(const Function *function)
{
    if (function->kind == FUNCTION_WINDOW) {
        return function->window;
    }
    if (function->aggregate == &aggregate_first) {
        return &window_first;
    }
    return function->aggregate == &aggregate_last ? &window_last : NULL;
}

/* Argument number `number`, counted from 1, when it is a constant that is not NULL. */
static const Vector *constant_argument(const Window *window, const Call *call, unsigned number)
{
    const BoundAggregate *bound = &call->bound->call;
    if (number == 0 || bound->argument_count < number) {
        return NULL;
    }
    const Vector *value = constant_of(bound->arguments[number - 1], window->arena);
    return value == NULL || !vector_is_valid(value, 0) ? NULL : value;
}

static Error *open_call(Window *window, Call *call, size_t *columns)
{
    const LogicalNode *node = window->node;
    const BoundAggregate *bound = &call->bound->call;
    call->columns = columns;
    call->kernel = kernel_of(bound->function);
    const BoundSortKey *key = node->sort_key_count == 0 ? NULL : node->sort_keys;
    size_t key_column =
        node->sort_key_count == 0 ? 0 : window->rows.key_columns[node->expression_count];
    if (call->kernel == NULL || bound->filter != NULL) {
        call->kernel = NULL; /* a filtered first_value is added up */
        TRY(window_aggregate_open(bound, columns, &window->context, &call->aggregate));
        return window_frame_open(&call->frame, call->bound, key, key_column, &window->context,
                                 window->arena);
    }
    const Vector *constant = constant_argument(window, call, call->kernel->constant);
    const Vector *ignore_nulls = constant_argument(window, call, call->kernel->ignore_nulls);
    call->call.constant = constant == NULL ? 1 : vector_int_value(constant, 0);
    call->call.ignore_nulls = bound->ignore_nulls ||
                              (ignore_nulls != NULL && VECTOR_VALUE(ignore_nulls, uint8_t, 0) != 0);
    return !call->kernel->framed ? NULL
                                 : window_frame_open(&call->frame, call->bound, key, key_column,
                                                     &window->context, window->arena);
}

static Error *open_parts(Window *window)
{
    const LogicalNode *node = window->node;
    TRY(open_rows(window));
    open_sorter(window);
    window->calls = arena_new_array(window->arena, Call, node->window_count);
    size_t *columns = window->rows.key_columns + node->expression_count + node->sort_key_count;
    for (size_t i = 0; i < node->window_count; i++) {
        Call *call = &window->calls[window->call_count++];
        call->bound = &node->windows[i];
        TRY(open_call(window, call, columns));
        columns += call_width(&call->bound->call);
    }
    return NULL;
}

Error *op_window_open(const LogicalNode *node, const ExecContext *context, Operator **ret_op)
{
    Window *window = mem_new(Window);
    window->op = (Operator){.next = window_next, .set_now = window_set_now, .close = window_close};
    window->node = node;
    window->context = *context;
    window->arena = arena_new("window");
    window->input = arena_new("window input");
    window->results = arena_new("window results");
    Error *error = open_parts(window);
    if (error != NULL) {
        window_close(&window->op);
        return error;
    }
    window_block_init(&window->next, window->rows.extended);
    *ret_op = &window->op;
    return NULL;
}
