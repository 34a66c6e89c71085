/* Batches, their selection, and the list of rows that failed. */
#include "processor/data/batch.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/base/banned.h"

Batch *batch_new(Arena *arena, const Schema *schema, uint32_t capacity)
{
    Vector **columns = arena_new_array(arena, Vector *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] = vector_new(arena, schema->fields[i].type, capacity);
    }
    return batch_from_columns(arena, schema, columns, 0);
}

Batch *batch_from_columns(Arena *arena, const Schema *schema, Vector **columns, uint32_t row_count)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        assert(columns[i]->length == row_count);
    }
    Batch *batch = arena_new_object(arena, Batch);
    batch->schema = schema;
    batch->columns = columns;
    batch->row_count = row_count;
    batch->selected_count = row_count;
    return batch;
}

/* Sorted by row, so that looking one up is a binary search: the place of `row`, or where it would
 * go. Rows mostly fail in ascending order, which is an append. */
static size_t find_error(const RowErrors *list, uint32_t row)
{
    if (list->count == 0 || list->rows[list->count - 1] < row) {
        return list->count;
    }
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->rows[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool row_errors_has(const RowErrors *list, uint32_t row)
{
    size_t at = find_error(list, row);
    return at < list->count && list->rows[at] == row;
}

void row_errors_add(RowErrors *list, uint32_t row, Error *error)
{
    assert(error != NULL);
    size_t at = find_error(list, row);
    if (at < list->count && list->rows[at] == row) {
        error_free(error);
        return;
    }
    if (list->count == list->capacity) {
        mem_reserve(list->errors, &list->capacity, list->count + 1);
        list->rows = (uint32_t *)mem_realloc(list->rows, list->capacity * sizeof(uint32_t));
    }
    memmove(list->rows + at + 1, list->rows + at, (list->count - at) * sizeof *list->rows);
    memmove(list->errors + at + 1, list->errors + at, (list->count - at) * sizeof(Error *));
    list->rows[at] = row;
    list->errors[at] = error;
    list->count++;
}

void row_errors_clear(RowErrors *list)
{
    for (size_t i = 0; i < list->count; i++) {
        error_free(list->errors[i]);
    }
    list->count = 0;
}

void row_errors_done(RowErrors *list)
{
    row_errors_clear(list);
    mem_free(list->rows);
    mem_free(list->errors);
    *list = (RowErrors){0};
}

void batch_remove_rows(Batch *batch, Arena *arena, const RowErrors *errors)
{
    if (errors->count == 0 || batch->selected_count == 0) {
        return;
    }
    assert(batch->row_count <= (uint32_t)UINT16_MAX + 1);
    uint16_t *selection =
        (uint16_t *)arena_alloc(arena, arena_array_size_(batch->selected_count, sizeof(uint16_t)));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        if (!row_errors_has(errors, batch_origin(batch, row))) {
            selection[kept++] = (uint16_t)row;
        }
    }
    if (kept < batch->selected_count) {
        batch->selection = selection;
        batch->selected_count = kept;
    }
}
