/* One pass of an AGGREGATE.
 *
 *     slots of a batch ─► hash keys ─► group table: a block a row
 *                                        │
 *            for each aggregate: FILTER ─► DISTINCT ─► add(states, rows)
 *
 * A group's block holds the states of all aggregates side by side, then the keys (group_table.c).
 * Loops of an aggregate take pointers to its states, so the blocks' addresses are shifted from one
 * aggregate to the next. Without keys there is one block, and the loops that add all rows to one
 * state are used.
 *
 * When memory is used up, the groups that are there stay and rows of new groups go to files by
 * hash: every row of a group either finds its group here or lies, in its order, in one file. */
#include "processor/exec/aggregation.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/aggregate.h"
#include "processor/exec/distinct_set.h"
#include "processor/exec/row_hash.h"

#include "processor/base/banned.h"

/* One aggregate of this pass. */
typedef struct Part {
    const InputPart *input;
    const AggregateLoops *loops;
    AggregateCall call;
    const Vector **arguments;
    size_t offset; /* of the state in the block */
    DistinctSet *distinct;
} Part;

/* Rows of a batch on their way to one aggregate. */
typedef struct Chosen {
    uint16_t rows[BATCH_ROWS];
    void *states[BATCH_ROWS];
} Chosen;

struct Aggregation {
    const AggregateInput *input;
    const Schema *schema;
    const ExecContext *context;
    Arena *arena; /* of states, setups */
    Part *parts;
    size_t part_count;
    size_t block_size;
    GroupTable *table; /* NULL: no keys */
    char *single;      /* then the only block */
    GroupRows *found;
    Chosen *chosen;
    SpillParts spilled;
    bool frozen;
    size_t held;   /* memory counted for us */
    uint32_t next; /* group to hand out */
};

/* ---- Opening ---- */

static size_t state_end(size_t offset, size_t size)
{
    return (offset + size + 15) / 16 * 16;
}

static void open_part(Aggregation *aggregation, Part *part, const InputPart *input)
{
    const BoundAggregate *bound = input->bound;
    part->input = input;
    part->arguments = arena_new_array(aggregation->arena, const Vector *, input->slot_count);
    part->call = (AggregateCall){.arguments = part->arguments,
                                 .argument_count = input->slot_count,
                                 .types = input->types,
                                 .result = bound->type,
                                 .ignore_nulls = bound->ignore_nulls,
                                 .bound = bound,
                                 .arena = aggregation->arena,
                                 .context = aggregation->context};
    const void *setup = NULL;
    part->loops = bound->function->aggregate->choose(&part->call, &setup);
    part->call.setup = setup;
    part->offset = aggregation->block_size;
    aggregation->block_size = state_end(part->offset, part->loops->state_size);
    if (bound->distinct) {
        part->distinct =
            distinct_set_new(input->types, input->slot_count, bound->argument_count,
                             aggregation->input->key_count > 0, aggregation->context->memory);
    }
}

static void make_table(Aggregation *aggregation)
{
    const AggregateInput *input = aggregation->input;
    if (input->key_count == 0) {
        aggregation->single = arena_alloc_zero(aggregation->arena, aggregation->block_size + 1);
        return;
    }
    const Type **types = arena_new_array(aggregation->arena, const Type *, input->key_count);
    for (size_t i = 0; i < input->key_count; i++) {
        types[i] = input->slots[i].expr->type;
    }
    aggregation->table = group_table_new(types, input->key_count, aggregation->block_size);
}

Aggregation *aggregation_new(const AggregateInput *input, const Schema *schema,
                             const ExecContext *context, unsigned level)
{
    Aggregation *aggregation = mem_new(Aggregation);
    *aggregation = (Aggregation){.input = input,
                                 .schema = schema,
                                 .context = context,
                                 .arena = arena_new("aggregate"),
                                 .spilled.level = level};
    aggregation->parts = arena_new_array(aggregation->arena, Part, input->part_count);
    aggregation->found = arena_new_object(aggregation->arena, GroupRows);
    aggregation->chosen = arena_new_object(aggregation->arena, Chosen);
    for (size_t i = 0; i < input->part_count; i++) {
        open_part(aggregation, &aggregation->parts[i], &input->parts[i]);
        aggregation->part_count++;
    }
    make_table(aggregation);
    return aggregation;
}

void aggregation_free(Aggregation *aggregation)
{
    if (aggregation == NULL) {
        return;
    }
    memory_hold(aggregation->context->memory, &aggregation->held, 0);
    for (size_t i = 0; i < aggregation->part_count; i++) {
        distinct_set_free(aggregation->parts[i].distinct);
    }
    spill_parts_done(&aggregation->spilled);
    group_table_free(aggregation->table);
    arena_free(aggregation->arena);
    mem_free(aggregation);
}

SpillParts *aggregation_parts(Aggregation *aggregation)
{
    return &aggregation->spilled;
}

/* ---- Memory ---- */

static size_t bytes_held(const Aggregation *aggregation)
{
    size_t bytes = arena_held_bytes(aggregation->arena);
    bytes += aggregation->table == NULL ? 0 : group_table_bytes(aggregation->table);
    for (size_t i = 0; i < aggregation->part_count; i++) {
        if (aggregation->parts[i].distinct != NULL) {
            bytes += distinct_set_bytes(aggregation->parts[i].distinct);
        }
    }
    return bytes;
}

/* At least the groups of one batch are taken, so that every pass gets on. */
static void watch_memory(Aggregation *aggregation)
{
    QueryMemory *memory = aggregation->context->memory;
    if (memory == NULL) {
        return;
    }
    memory_hold(memory, &aggregation->held, bytes_held(aggregation));
    if (aggregation->frozen || !memory_exceeded(memory) ||
        aggregation->spilled.level >= PART_LEVELS) {
        return;
    }
    aggregation->frozen = aggregation->table != NULL;
    for (size_t i = 0; i < aggregation->part_count; i++) {
        if (aggregation->parts[i].distinct != NULL) {
            distinct_set_freeze(aggregation->parts[i].distinct);
        }
    }
}

/* Groups stay where they are once they are there: one that keeps all its values may grow on. */
static Error *check_memory(const Aggregation *aggregation)
{
    SourcePlace place = {0};
    if (aggregation->part_count > 0) {
        place = aggregation->parts[0].input->bound->place;
    }
    return memory_check(aggregation->context->memory, aggregation->held,
                        "The values that the groups keep",
                        "keep fewer of them: count, sum and their like keep none", place);
}

/* ---- Adding ---- */

COLD static Error *placed(const Part *part, Error *error)
{
    if (error_place(error).line == 0) {
        error_set_place(error, part->input->bound->place);
    }
    return error;
}

/* Adds rows to the states: states[i] of the i-th row, or the only one when there are no keys. */
static Error *add_rows(Aggregation *aggregation, Part *part, void *const *states, Rows rows)
{
    if (rows.count == 0) {
        return NULL;
    }
    Error *error = states == NULL
                       ? part->loops->add_all(&part->call, aggregation->single + part->offset, rows)
                       : part->loops->add(&part->call, states, rows);
    return error == NULL ? NULL : placed(part, error);
}

/* The rows under the filter, into `chosen`. */
static Rows choose_filtered(const Vector *filter, void *const *states, Rows rows, Chosen *chosen)
{
    uint32_t count = 0;
    if (type_physical(filter->type) != PHYSICAL_BOOL) {
        return (Rows){chosen->rows, 0}; /* FILTER (WHERE NULL) */
    }
    const uint8_t *truth = filter->data;
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t row = rows_at(rows, i);
        chosen->rows[count] = (uint16_t)row;
        chosen->states[count] = states == NULL ? NULL : states[i];
        count += vector_is_valid(filter, row) && truth[row] != 0;
    }
    return (Rows){chosen->rows, count};
}

static Error *choose_distinct(const Aggregation *aggregation, const Part *part, void **states,
                              Rows *rows)
{
    uint32_t groups[BATCH_ROWS];
    uint16_t positions[BATCH_ROWS];
    Chosen *chosen = aggregation->chosen;
    uint32_t count = 0;
    for (uint32_t i = 0; states != NULL && i < rows->count; i++) {
        groups[i] = group_table_number(aggregation->table, (const char *)states[i] - part->offset);
    }
    TRY(distinct_set_add(part->distinct, part->arguments, *rows, states == NULL ? NULL : groups,
                         positions, &count));
    for (uint32_t i = 0; i < count; i++) {
        /* In place: positions ascend. */
        chosen->rows[i] = (uint16_t)rows_at(*rows, positions[i]);
        if (states != NULL) {
            chosen->states[i] = states[positions[i]];
        }
    }
    *rows = (Rows){chosen->rows, count};
    return NULL;
}

/* `states` are the states of this part, by position; NULL without keys. */
static Error *add_part(Aggregation *aggregation, Part *part, const Vector *const *slots,
                       void **states, Rows rows)
{
    for (size_t i = 0; i < part->input->slot_count; i++) {
        part->arguments[i] = slots[part->input->slots[i]];
    }
    Chosen *chosen = aggregation->chosen;
    void **own_states = states == NULL ? NULL : chosen->states;
    if (part->input->filter != NO_FILTER) {
        rows = choose_filtered(slots[part->input->filter], states, rows, chosen);
        states = own_states;
    }
    if (part->distinct != NULL && rows.count > 0) {
        TRY(choose_distinct(aggregation, part, states, &rows));
        states = own_states;
    }
    return add_rows(aggregation, part, states, rows);
}

static Error *add_parts(Aggregation *aggregation, const Vector *const *slots, void **blocks,
                        Rows rows)
{
    size_t offset = 0;
    for (size_t k = 0; k < aggregation->part_count; k++) {
        Part *part = &aggregation->parts[k];
        size_t step = part->offset - offset;
        for (uint32_t i = 0; step > 0 && blocks != NULL && i < rows.count; i++) {
            blocks[i] = (char *)blocks[i] + step;
        }
        offset = part->offset;
        TRY(add_part(aggregation, part, slots, blocks, rows));
    }
    return NULL;
}

/* Sends rows without a group to their files; the others move together. */
static Error *spill_missing(Aggregation *aggregation, const Vector *const *slots,
                            const uint64_t *hashes, Rows *rows, uint16_t *selection)
{
    uint16_t missing[BATCH_ROWS];
    uint32_t missing_count = 0;
    uint32_t count = 0;
    void **blocks = aggregation->found->blocks;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint16_t row = (uint16_t)rows_at(*rows, i);
        bool is_missing = blocks[i] == NULL;
        missing[missing_count] = row;
        missing_count += is_missing;
        selection[count] = row;
        blocks[count] = blocks[i];
        count += !is_missing;
    }
    *rows = (Rows){selection, count};
    return spill_parts_write(&aggregation->spilled, aggregation->context->memory,
                             aggregation->input->schema, slots, (Rows){missing, missing_count},
                             hashes);
}

static Error *add_grouped(Aggregation *aggregation, const Vector *const *slots, Rows rows)
{
    uint64_t hashes[BATCH_ROWS];
    uint16_t selection[BATCH_ROWS];
    GroupRows *found = aggregation->found;
    row_hash(slots, aggregation->input->key_count, rows, hashes);
    if (aggregation->frozen) {
        group_table_find(aggregation->table, slots, hashes, rows, found);
        if (found->missing_count > 0) {
            TRY(spill_missing(aggregation, slots, hashes, &rows, selection));
        }
    } else {
        group_table_add(aggregation->table, slots, hashes, rows, found);
    }
    return add_parts(aggregation, slots, found->blocks, rows);
}

Error *aggregation_add(Aggregation *aggregation, const Vector *const *slots, Rows rows)
{
    assert(rows.count <= BATCH_ROWS);
    if (rows.count == 0) {
        return NULL;
    }
    TRY(aggregation->table == NULL ? add_parts(aggregation, slots, NULL, rows)
                                   : add_grouped(aggregation, slots, rows));
    watch_memory(aggregation);
    return check_memory(aggregation);
}

/* ---- The end of the input ---- */

typedef struct Drain {
    Aggregation *aggregation;
    Part *part;
} Drain;

static Error *add_drained(void *context, const Vector *const *columns, Rows rows,
                          const uint32_t *groups)
{
    const Drain *drain = context;
    Part *part = drain->part;
    memcpy(part->arguments, columns, part->input->slot_count * sizeof(const Vector *));
    void **states = groups == NULL ? NULL : drain->aggregation->chosen->states;
    for (uint32_t i = 0; states != NULL && i < rows.count; i++) {
        char *block = group_table_block(drain->aggregation->table, groups[i]);
        states[i] = block + part->offset;
    }
    return add_rows(drain->aggregation, part, states, rows);
}

Error *aggregation_end(Aggregation *aggregation)
{
    for (size_t i = 0; i < aggregation->part_count; i++) {
        Part *part = &aggregation->parts[i];
        if (part->distinct != NULL) {
            Drain drain = {aggregation, part};
            TRY(distinct_set_drain(part->distinct, add_drained, &drain));
        }
    }
    return NULL;
}

/* ---- Results ---- */

static Error *finish_part(const Part *part, char *const *blocks, uint32_t count, Arena *arena,
                          Vector *result)
{
    void *states[BATCH_ROWS];
    for (uint32_t i = 0; i < count; i++) {
        states[i] = blocks[i] + part->offset;
    }
    Error *error = part->loops->finish(&part->call, states, count, arena, result);
    return error == NULL ? NULL : placed(part, error);
}

static Error *finish_groups(const Aggregation *aggregation, uint32_t first, uint32_t count,
                            Arena *arena, Vector **columns)
{
    char *blocks[BATCH_ROWS];
    size_t key_count = aggregation->input->key_count;
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = aggregation->table == NULL ? aggregation->single
                                               : group_table_block(aggregation->table, first + i);
    }
    for (size_t i = 0; i < key_count; i++) {
        columns[i] = group_table_keys(aggregation->table, i, first, count, arena);
    }
    for (size_t i = 0; i < aggregation->part_count; i++) {
        const Part *part = &aggregation->parts[i];
        columns[key_count + i] = vector_new(arena, part->call.result, count);
        TRY(finish_part(part, blocks, count, arena, columns[key_count + i]));
    }
    return NULL;
}

Error *aggregation_next(Aggregation *aggregation, Arena *arena, Batch **ret_batch)
{
    *ret_batch = NULL;
    uint32_t groups = aggregation->table == NULL ? 1 : group_table_count(aggregation->table);
    uint32_t first = aggregation->next;
    uint32_t count = groups - first < BATCH_ROWS ? groups - first : BATCH_ROWS;
    if (count == 0) {
        return NULL;
    }
    Vector **columns = arena_new_array(arena, Vector *, aggregation->schema->field_count);
    TRY(finish_groups(aggregation, first, count, arena, columns));
    bool goes_away = aggregation->frozen || aggregation->spilled.level > 0;
    for (size_t i = 0; goes_away && i < aggregation->schema->field_count; i++) {
        vector_own_bytes(columns[i], arena);
    }
    aggregation->next += count;
    *ret_batch = batch_from_columns(arena, aggregation->schema, columns, count);
    return NULL;
}
