/* Aggregates over frames, row by row of a partition. The state goes along with the frame:
 *
 *     the same frame as the row before    its value again
 *     the frame grew at its end           the new rows are added
 *     it moved on, and the function       rows are taken out at its begin, added at its end
 *     can take rows out
 *     else                                all its rows are added to a new state, in their order
 *
 * So the whole partition is added once, and a frame from its begin once in all. Rounding is as if
 * every frame were added up anew: functions that would round otherwise cannot take rows out. */
#include "processor/exec/window_aggregate.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/aggregate.h"

#include "processor/base/banned.h"

struct WindowAggregate {
    const BoundAggregate *bound;
    const AggregateLoops *loops;
    AggregateCall call;
    Arena *arena;  /* as long as the aggregate */
    Arena *states; /* of one state */
    const size_t *columns;
    size_t column_count; /* without the filter */
    bool has_filter;
    const Vector **arguments; /* of the chunk at hand */
    const Batch *chunk;
    void *state;
    bool owns_bytes;               /* values may lie in the state */
    uint16_t all[BATCH_ROWS];      /* 0, 1, 2, … */
    uint16_t selected[BATCH_ROWS]; /* rows that pass the filter */
};

static bool has_bytes(const Type *type)
{
    PhysicalKind kind = type_physical(type);
    return kind == PHYSICAL_STR || kind == PHYSICAL_LIST || kind == PHYSICAL_STRUCT;
}

static void choose_loops(WindowAggregate *aggregate, const ExecContext *context)
{
    const BoundAggregate *bound = aggregate->bound;
    const Type **types = arena_new_array(aggregate->arena, const Type *, aggregate->column_count);
    for (size_t i = 0; i < aggregate->column_count; i++) {
        types[i] = i < bound->argument_count
                       ? bound->arguments[i]->type
                       : bound->sort_keys[i - bound->argument_count].expr->type;
    }
    aggregate->call = (AggregateCall){.arguments = aggregate->arguments,
                                      .argument_count = aggregate->column_count,
                                      .types = types,
                                      .result = bound->type,
                                      .ignore_nulls = bound->ignore_nulls,
                                      .bound = bound,
                                      .arena = aggregate->arena,
                                      .context = context};
    const void *setup = NULL;
    aggregate->loops = bound->function->aggregate->choose(&aggregate->call, &setup);
    aggregate->call.setup = setup;
    aggregate->call.arena = aggregate->states;
}

Error *window_aggregate_open(const BoundAggregate *bound, const size_t *columns,
                             const ExecContext *context, WindowAggregate **ret)
{
    if (bound->distinct) {
        return error_at(ERROR_DISTINCT_WINDOW_FUNCTION, bound->place,
                        "Distinct window functions are not supported: \"%.*s\".",
                        STR_ARG(bound->text));
    }
    WindowAggregate *aggregate = mem_new(WindowAggregate);
    aggregate->bound = bound;
    aggregate->arena = arena_new("window aggregate");
    aggregate->states = arena_new("window state");
    aggregate->columns = columns;
    aggregate->column_count = bound->argument_count + bound->sort_key_count;
    aggregate->has_filter = bound->filter != NULL;
    aggregate->arguments =
        arena_new_array(aggregate->arena, const Vector *, aggregate->column_count);
    aggregate->owns_bytes = has_bytes(bound->type);
    for (uint32_t i = 0; i < BATCH_ROWS; i++) {
        aggregate->all[i] = (uint16_t)i;
    }
    choose_loops(aggregate, context);
    aggregate->state = mem_alloc(aggregate->loops->state_size + 1);
    *ret = aggregate;
    return NULL;
}

void window_aggregate_close(WindowAggregate *aggregate)
{
    if (aggregate == NULL) {
        return;
    }
    mem_free(aggregate->state);
    arena_free(aggregate->states);
    arena_free(aggregate->arena);
    mem_free(aggregate);
}

static void clear_state(WindowAggregate *aggregate)
{
    arena_reset(aggregate->states);
    memset(aggregate->state, 0, aggregate->loops->state_size);
}

static void take_chunk(WindowAggregate *aggregate, const WindowBlock *block, uint32_t row)
{
    const Batch *chunk = row_store_chunk(block->rows, row);
    if (chunk != aggregate->chunk) {
        aggregate->chunk = chunk;
        for (size_t i = 0; i < aggregate->column_count; i++) {
            aggregate->arguments[i] = chunk->columns[aggregate->columns[i]];
        }
    }
}

static bool passes(const WindowAggregate *aggregate, uint32_t row)
{
    if (!aggregate->has_filter) {
        return true;
    }
    const Vector *filter = aggregate->chunk->columns[aggregate->columns[aggregate->column_count]];
    return vector_is_valid(filter, row) && type_physical(filter->type) == PHYSICAL_BOOL &&
           VECTOR_VALUE(filter, uint8_t, row) != 0;
}

static Rows rows_of_chunk(WindowAggregate *aggregate, uint32_t first, uint32_t last)
{
    if (!aggregate->has_filter) {
        return (Rows){aggregate->all + first, last - first};
    }
    uint32_t count = 0;
    for (uint32_t row = first; row < last; row++) {
        aggregate->selected[count] = (uint16_t)row;
        count += passes(aggregate, row);
    }
    return (Rows){aggregate->selected, count};
}

/* Rows of the block first … last - 1. */
static Error *add_rows(WindowAggregate *aggregate, const WindowBlock *block, uint32_t first,
                       uint32_t last)
{
    while (first < last) {
        take_chunk(aggregate, block, first);
        uint32_t at = first % BATCH_ROWS;
        uint32_t left = last - first;
        uint32_t count = left < BATCH_ROWS - at ? left : BATCH_ROWS - at;
        Rows rows = rows_of_chunk(aggregate, at, at + count);
        if (rows.count > 0) {
            TRY(aggregate->loops->add_all(&aggregate->call, aggregate->state, rows));
        }
        first += count;
    }
    return NULL;
}

static void remove_rows(WindowAggregate *aggregate, const WindowBlock *block, uint32_t first,
                        uint32_t last)
{
    for (uint32_t row = first; row < last; row++) {
        take_chunk(aggregate, block, row);
        if (passes(aggregate, row % BATCH_ROWS)) {
            aggregate->loops->remove(&aggregate->call, aggregate->state, row % BATCH_ROWS);
        }
    }
}

/* The frame the state stands for. */
typedef struct Frame {
    uint32_t begin;
    uint32_t end;
} Frame;

static Error *move_frame(WindowAggregate *aggregate, const WindowBlock *block, Frame from, Frame to)
{
    bool grew = to.begin == from.begin && to.end >= from.end;
    bool moved = to.begin >= from.begin && to.end >= from.end && to.begin < from.end &&
                 to.begin - from.begin <= to.end - to.begin;
    if (moved && !grew && aggregate->loops->remove != NULL) {
        remove_rows(aggregate, block, from.begin, to.begin);
    } else if (!grew) {
        clear_state(aggregate);
        return add_rows(aggregate, block, to.begin, to.end);
    }
    return add_rows(aggregate, block, from.end, to.end);
}

static Error *append_value(WindowAggregate *aggregate, Arena *arena, Vector *result)
{
    void *states[] = {aggregate->state};
    if (!aggregate->owns_bytes) {
        return aggregate->loops->finish(&aggregate->call, states, 1, arena, result);
    }
    Vector *value = vector_new(arena, result->type, 1);
    TRY(aggregate->loops->finish(&aggregate->call, states, 1, arena, value));
    vector_append_from(result, arena, vector_copy_value(arena, value, 0), 0);
    return NULL;
}

static Error *run_partition(WindowAggregate *aggregate, const WindowBlock *block, uint32_t first,
                            uint32_t last, const uint32_t *begin, const uint32_t *end, Arena *arena,
                            Vector *result)
{
    Frame at = {begin[first], begin[first]};
    clear_state(aggregate);
    for (uint32_t row = first; row < last; row++) {
        Frame next = {begin[row], end[row]};
        if (row > first && next.begin == at.begin && next.end == at.end) {
            vector_append_from(result, arena, result, row - 1);
            continue;
        }
        TRY(move_frame(aggregate, block, at, next));
        TRY(append_value(aggregate, arena, result));
        at = next;
    }
    return NULL;
}

Error *window_aggregate_run(WindowAggregate *aggregate, const WindowBlock *block,
                            const uint32_t *begin, const uint32_t *end, Arena *arena,
                            Vector *result)
{
    aggregate->chunk = NULL;
    for (uint32_t p = 0; p < block->partition_count; p++) {
        Error *error = run_partition(aggregate, block, block->partitions[p],
                                     block->partitions[p + 1], begin, end, arena, result);
        if (error != NULL) {
            return error_place(error).line == 0 ? error_set_place(error, aggregate->bound->place)
                                                : error;
        }
    }
    assert(result->length == block->count);
    return NULL;
}
