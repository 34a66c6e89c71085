/* Batch: up to BATCH_ROWS rows of a schema, one vector a column, plus a selection of the rows that
 * still count. Filters narrow the selection and leave the vectors alone. */
#ifndef DATA_BATCH_H
#define DATA_BATCH_H

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/data/schema.h"
#include "processor/data/vector.h"

enum { BATCH_ROWS = 2048 };

typedef struct Batch {
    const Schema *schema;
    uint32_t row_count;        /* length of every column */
    Vector **columns;          /* schema->field_count */
    const uint16_t *selection; /* ascending row numbers that count; NULL: all rows */
    uint32_t selected_count;   /* entries of selection (row_count when it is NULL) */
    const uint32_t *origin;    /* row of the source batch each row came from; NULL: the same row */
    uint64_t generation;       /* of the consumer position; older batches are dropped */
} Batch;

/* Empty columns with room for `capacity` rows. */
Batch *batch_new(Arena *arena, const Schema *schema, uint32_t capacity);
/* A batch over given columns (all of length row_count), all rows selected. */
Batch *batch_from_columns(Arena *arena, const Schema *schema, Vector **columns, uint32_t row_count);
static inline uint32_t batch_selected(const Batch *batch, uint32_t i)
{
    return batch->selection == NULL ? i : batch->selection[i];
}
static inline uint32_t batch_origin(const Batch *batch, uint32_t row)
{
    return batch->origin == NULL ? row : batch->origin[row];
}

/* Rows that failed while a batch was decoded or computed: data, not an Error that stops. The errors
 * are owned by the list; row_errors_done frees them. A row may appear once only (the first error).
 */
typedef struct RowErrors {
    uint32_t *rows; /* row numbers of the source batch */
    Error **errors;
    size_t count;
    size_t capacity;
} RowErrors;

/* Takes `error` over. A row that is there already keeps its first error. */
void row_errors_add(RowErrors *list, uint32_t row, Error *error);
bool row_errors_has(const RowErrors *list, uint32_t row);
void row_errors_clear(RowErrors *list);
void row_errors_done(RowErrors *list);
/* Takes the rows of `errors` out of the batch's selection (new selection in `arena`). */
void batch_remove_rows(Batch *batch, Arena *arena, const RowErrors *errors);

#endif
