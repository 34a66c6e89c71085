/* DISTINCT of an aggregate: a group table of (group number, values). Rows that made a group there
 * are new. When memory is used up the table stays as it is, rows it does not hold go to files by
 * hash, and are told apart file by file when the input has ended. */
#include "processor/exec/distinct_set.h"

#include <string.h>

#include "processor/base/memory.h"
#include "processor/exec/row_hash.h"
#include "processor/exec/spill_parts.h"

#include "processor/base/banned.h"

struct DistinctSet {
    const QueryMemory *memory;
    Arena *arena;
    const Type **types; /* of the columns, then of the group number */
    size_t column_count;
    size_t key_count;
    bool grouped;
    bool frozen;
    const Schema *schema; /* what waits in files: the columns, the group number */
    GroupTable *table;
    GroupRows *found;
    SpillParts parts;
    const Vector **columns; /* scratch */
    const Vector **keys;    /* scratch: the group number, then the keys */
    const Type **key_types;
};

static DistinctSet *new_set(const Type *const *types, size_t column_count, size_t key_count,
                            bool grouped, const QueryMemory *memory, unsigned level)
{
    DistinctSet *set = mem_new(DistinctSet);
    *set = (DistinctSet){.memory = memory,
                         .arena = arena_new("distinct"),
                         .column_count = column_count,
                         .key_count = key_count,
                         .grouped = grouped,
                         .parts.level = level};
    set->types = arena_new_array(set->arena, const Type *, column_count + 1);
    set->key_types = arena_new_array(set->arena, const Type *, key_count + 1);
    set->columns = arena_new_array(set->arena, const Vector *, column_count + 1);
    set->keys = arena_new_array(set->arena, const Vector *, key_count + 1);
    set->found = arena_new_object(set->arena, GroupRows);
    memcpy(set->types, types, column_count * sizeof(const Type *));
    memcpy(set->key_types, types, key_count * sizeof(const Type *));
    set->types[column_count] = &type_int;
    set->key_types[key_count] = &type_int;
    Field *fields = arena_new_array(set->arena, Field, column_count + 1);
    for (size_t i = 0; i <= column_count; i++) {
        fields[i].name = str_from(arena_printf(set->arena, "value%zu", i));
        fields[i].type = set->types[i];
    }
    set->schema = schema_new(set->arena, fields, column_count + grouped);
    set->table = group_table_new(set->key_types, key_count + grouped, 0);
    return set;
}

DistinctSet *distinct_set_new(const Type *const *types, size_t column_count, size_t key_count,
                              bool grouped, const QueryMemory *memory)
{
    return new_set(types, column_count, key_count, grouped, memory, 0);
}

void distinct_set_free(DistinctSet *set)
{
    if (set == NULL) {
        return;
    }
    spill_parts_done(&set->parts);
    group_table_free(set->table);
    arena_free(set->arena);
    mem_free(set);
}

void distinct_set_freeze(DistinctSet *set)
{
    set->frozen =
        set->frozen || (set->parts.level < PART_LEVELS && group_table_count(set->table) > 0);
}

size_t distinct_set_bytes(const DistinctSet *set)
{
    return set->table == NULL ? 0 : group_table_bytes(set->table);
}

/* A vector of the group numbers, as long as the columns, over `numbers`. */
static Vector number_column(const Vector *const *columns, Rows rows, const uint32_t *groups,
                            uint32_t *numbers)
{
    for (uint32_t i = 0; i < rows.count; i++) {
        numbers[rows_at(rows, i)] = groups[i];
    }
    return (Vector){
        .type = &type_int, .length = columns[0]->length, .capacity = BATCH_ROWS, .data = numbers};
}

/* The rows without a place in the frozen table. */
static Error *let_wait(DistinctSet *set, Rows rows, const uint64_t *hashes)
{
    uint16_t selection[BATCH_ROWS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows.count; i++) {
        selection[count] = (uint16_t)rows_at(rows, i);
        count += set->found->blocks[i] == NULL;
    }
    return spill_parts_write(&set->parts, set->memory, set->schema, set->columns,
                             (Rows){selection, count}, hashes);
}

Error *distinct_set_add(DistinctSet *set, const Vector *const *columns, Rows rows,
                        const uint32_t *groups, uint16_t *ret_positions, uint32_t *ret_count)
{
    uint32_t numbers[BATCH_ROWS];
    uint64_t hashes[BATCH_ROWS];
    Vector number;
    memcpy(set->columns, columns, set->column_count * sizeof(const Vector *));
    memcpy(set->keys, columns, set->key_count * sizeof(const Vector *));
    if (set->grouped) {
        number = number_column(columns, rows, groups, numbers);
        set->columns[set->column_count] = &number;
        set->keys[set->key_count] = &number;
    }
    row_hash(set->keys, set->key_count + set->grouped, rows, hashes);
    *ret_count = 0;
    if (set->frozen) {
        group_table_find(set->table, set->keys, hashes, rows, set->found);
        return set->found->missing_count == 0 ? NULL : let_wait(set, rows, hashes);
    }
    group_table_add(set->table, set->keys, hashes, rows, set->found);
    *ret_count = set->found->added_count;
    memcpy(ret_positions, set->found->added, *ret_count * sizeof(uint16_t));
    return NULL;
}

/* ---- What waited ---- */

/* The new ones among the rows of one batch, to the sink. */
static Error *sift(DistinctSet *set, const Batch *batch, DistinctSink *sink, void *context)
{
    uint32_t numbers[BATCH_ROWS];
    uint16_t positions[BATCH_ROWS];
    uint32_t count = 0;
    const Vector *const *columns = (const Vector *const *)batch->columns;
    if (set->grouped) {
        memcpy(numbers, columns[set->column_count]->data, batch->row_count * sizeof(uint32_t));
    }
    TRY(distinct_set_add(set, columns, (Rows){NULL, batch->row_count},
                         set->grouped ? numbers : NULL, positions, &count));
    for (uint32_t i = 0; set->grouped && i < count; i++) {
        numbers[i] = numbers[positions[i]];
    }
    return count == 0
               ? NULL
               : sink(context, columns, (Rows){positions, count}, set->grouped ? numbers : NULL);
}

static Error *drain_file(DistinctSet *set, SpillFile *file, DistinctSink *sink, void *context)
{
    Arena *arena = arena_new("distinct input");
    Error *error = NULL;
    Batch *batch = NULL;
    do {
        arena_reset(arena);
        error = spill_read(file, arena, &batch);
        if (error == NULL && batch != NULL) {
            error = sift(set, batch, sink, context);
        }
        if (set->memory != NULL &&
            set->memory->used_bytes + distinct_set_bytes(set) > set->memory->limit_bytes) {
            distinct_set_freeze(set);
        }
    } while (error == NULL && batch != NULL);
    arena_free(arena);
    return error;
}

/* Recursion ends at PART_LEVELS, where a set is not frozen any more. */
Error *distinct_set_drain(DistinctSet *set, DistinctSink *sink, void *context)
{
    group_table_free(set->table);
    set->table = NULL;
    for (unsigned part = 0; part < PART_COUNT; part++) {
        AUTO(spill) SpillFile *file = NULL;
        TRY(spill_parts_take(&set->parts, part, &file));
        if (file == NULL) {
            continue;
        }
        DistinctSet *inner = new_set(set->types, set->column_count, set->key_count, set->grouped,
                                     set->memory, set->parts.level + 1);
        Error *error = drain_file(inner, file, sink, context);
        if (error == NULL) {
            error = distinct_set_drain(inner, sink, context);
        }
        distinct_set_free(inner);
        TRY(error);
    }
    return NULL;
}
