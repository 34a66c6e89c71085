/* The result batches of a join.
 *
 * Where every row of the probe side has one match at most, as in a join with a table's key, its
 * columns are handed on as they are, under a narrower selection, and only the build side's are
 * gathered. Elsewhere the columns of both sides are gathered by the pairs' row numbers. */
#include <assert.h>
#include <string.h>

#include "processor/exec/join.h"

#include "processor/base/banned.h"

/* Where a column of `both` lies. */
typedef struct ColumnPlace {
    bool in_build;
    size_t column;
} ColumnPlace;

static ColumnPlace place_of(const Join *join, size_t column)
{
    const KeyedRows *left = join->build_is_left ? &join->build : &join->probe;
    bool in_left = column < left->schema->field_count;
    return (ColumnPlace){.in_build = in_left == join->build_is_left,
                         .column = in_left ? column : column - left->schema->field_count};
}

/* What the result's bytes lie in lives as long as the result. */
static void keep_bytes(const Join *join, Arena *arena)
{
    row_store_keep(join->table->rows, arena);
    if (join->at.kept != NULL) {
        row_store_keep(join->at.kept, arena);
    }
}

static Batch *new_batch(const Schema *schema, Vector **columns, uint32_t row_count, Arena *arena)
{
    Batch *batch = arena_new_object(arena, Batch);
    *batch = (Batch){
        .schema = schema, .columns = columns, .row_count = row_count, .selected_count = row_count};
    return batch;
}

/* ---- Pairs ---- */

Batch *join_pairs_batch(const Join *join, const JoinPairs *pairs, const bool *reads, Arena *arena)
{
    size_t count = join->both->field_count;
    Vector **columns = arena_new_array(arena, Vector *, count);
    for (size_t i = 0; i < count; i++) {
        ColumnPlace place = place_of(join, i);
        if (reads != NULL && !reads[i]) {
            continue;
        }
        columns[i] = place.in_build ? row_store_gather(join->table->rows, place.column,
                                                       pairs->build_rows, pairs->count, arena)
                                    : vector_gather(arena, join->at.batch->columns[place.column],
                                                    pairs->probe_rows, pairs->count);
    }
    return new_batch(join->both, columns, pairs->count, arena);
}

/* The pairs, and where they belong the rows that have none. */
static void add_unmatched(const Join *join, const JoinPairs *pairs, JoinPairs *given)
{
    const JoinProbe *probe = &join->at;
    uint32_t from = 0;
    uint32_t to = 0;
    for (uint32_t at = pairs->first; from < pairs->count || at < pairs->end; at++) {
        for (; from < pairs->count && pairs->at[from] == at; from++, to++) {
            given->probe_rows[to] = pairs->probe_rows[from];
            given->build_rows[to] = pairs->build_rows[from];
        }
        if (at < pairs->end && !probe->matched[at]) {
            given->probe_rows[to] = batch_selected(probe->batch, at);
            given->build_rows[to++] = ROW_NONE;
        }
    }
    assert(to <= BATCH_ROWS);
    given->count = to;
    given->first = pairs->first;
    given->end = pairs->end;
}

/* One pair a row at most, for the whole batch, and most of its rows have one? */
static bool fits_in_place(const Join *join, const JoinPairs *pairs)
{
    const Batch *batch = join->at.batch;
    return pairs->first == 0 && pairs->end == batch->selected_count &&
           join_table_is_unique(join->table) && pairs->count >= batch->row_count / 4;
}

static void select_pairs(const Join *join, const JoinPairs *pairs, Batch *out, Arena *arena)
{
    const Batch *batch = join->at.batch;
    if (pairs->count == batch->selected_count) {
        out->selection = batch->selection;
        out->selected_count = batch->selected_count;
        return;
    }
    uint16_t *selection = arena_new_array(arena, uint16_t, pairs->count);
    for (uint32_t i = 0; i < pairs->count; i++) {
        selection[i] = (uint16_t)pairs->probe_rows[i];
    }
    out->selection = selection;
    out->selected_count = pairs->count;
}

static Batch *pairs_in_place(const Join *join, const JoinPairs *pairs, Arena *arena)
{
    const Batch *batch = join->at.batch;
    uint32_t *build_rows = arena_alloc(arena, batch->row_count * sizeof *build_rows);
    memset(build_rows, 0xFF, batch->row_count * sizeof *build_rows); /* ROW_NONE */
    for (uint32_t i = 0; i < pairs->count; i++) {
        build_rows[pairs->probe_rows[i]] = pairs->build_rows[i];
    }
    Vector **columns = arena_new_array(arena, Vector *, join->both->field_count);
    for (size_t i = 0; i < join->both->field_count; i++) {
        ColumnPlace place = place_of(join, i);
        columns[i] = place.in_build ? row_store_gather(join->table->rows, place.column, build_rows,
                                                       batch->row_count, arena)
                                    : batch->columns[place.column];
    }
    Batch *out = new_batch(join->node->schema, columns, batch->row_count, arena);
    select_pairs(join, pairs, out, arena);
    return out;
}

Batch *join_give_pairs(Join *join, Arena *arena)
{
    const JoinPairs *pairs = &join->pairs;
    if (join->gives != JOIN_GIVES_PAIRS) {
        return NULL;
    }
    if (join->probe_outer) {
        add_unmatched(join, pairs, &join->given);
        pairs = &join->given;
    }
    if (pairs->count == 0) {
        return NULL;
    }
    keep_bytes(join, arena);
    if (fits_in_place(join, pairs)) {
        return pairs_in_place(join, pairs, arena);
    }
    Batch *out = join_pairs_batch(join, pairs, NULL, arena);
    out->schema = join->node->schema;
    return out;
}

/* ---- Rows of the probe side ---- */

static bool gives_row(const Join *join, uint32_t at)
{
    const JoinProbe *probe = &join->at;
    switch (join->gives) {
    case JOIN_GIVES_MATCHED:
        return probe->matched[at];
    case JOIN_GIVES_UNMATCHED:
        return !probe->matched[at];
    case JOIN_GIVES_NOT_IN:
        return !probe->matched[at] && !probe->open[at];
    case JOIN_GIVES_MARK:
        return true;
    case JOIN_GIVES_PAIRS:
    case JOIN_GIVES_NOTHING:
        return false;
    }
    return false;
}

static Vector *mark_column(const Join *join, Arena *arena)
{
    const JoinProbe *probe = &join->at;
    Vector *mark = vector_new(arena, &type_boolean, probe->batch->row_count);
    mark->length = probe->batch->row_count;
    for (uint32_t at = 0; at < probe->batch->selected_count; at++) {
        uint32_t row = batch_selected(probe->batch, at);
        VECTOR_DATA(mark, uint8_t)[row] = probe->matched[at];
        if (!probe->matched[at] && probe->open[at]) {
            vector_set_null(mark, arena, row);
        }
    }
    return mark;
}

Batch *join_give_probe_rows(Join *join, Arena *arena)
{
    const Batch *batch = join->at.batch;
    if (join->gives == JOIN_GIVES_PAIRS || join->gives == JOIN_GIVES_NOTHING) {
        return NULL;
    }
    uint16_t *selection = arena_new_array(arena, uint16_t, batch->selected_count);
    uint32_t count = 0;
    for (uint32_t at = 0; at < batch->selected_count; at++) {
        selection[count] = (uint16_t)batch_selected(batch, at);
        count += gives_row(join, at);
    }
    size_t field_count = join->node->schema->field_count;
    Vector **columns = arena_new_array(arena, Vector *, field_count);
    for (size_t i = 0; i < field_count; i++) {
        bool mark = join->gives == JOIN_GIVES_MARK && i + 1 == field_count;
        columns[i] = mark ? mark_column(join, arena) : batch->columns[i];
    }
    Batch *out = new_batch(join->node->schema, columns, batch->row_count, arena);
    out->selection = selection;
    out->selected_count = count;
    return out;
}

/* ---- Rows of the build side ---- */

/* The build side's columns, NULLs for the probe side's where the result has those. */
static Batch *build_rows_batch(const Join *join, const uint32_t *rows, uint32_t count, Arena *arena)
{
    const Schema *schema = join->node->schema;
    Vector **columns = arena_new_array(arena, Vector *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        ColumnPlace place = place_of(join, i);
        columns[i] =
            place.in_build
                ? row_store_gather(join->table->rows, place.column, rows, count, arena)
                : vector_of_nulls(arena, join->probe.schema->fields[place.column].type, count);
    }
    keep_bytes(join, arena);
    return new_batch(schema, columns, count, arena);
}

Batch *join_give_build_rows(Join *join, Arena *arena)
{
    const JoinTable *table = join->table;
    uint32_t rows[BATCH_ROWS];
    uint32_t count = 0;
    uint32_t row = join->next_unmatched;
    for (; join->build_rows_after && row < table->count && count < BATCH_ROWS; row++) {
        rows[count] = row;
        count += (table->matched[row] != 0) == join->build_matched;
    }
    join->next_unmatched = row;
    return count == 0 ? NULL : build_rows_batch(join, rows, count, arena);
}
