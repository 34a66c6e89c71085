/* See operator_fixture.h. */
#include "tests/support/operator_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "processor/base/memory.h"
#include "processor/data/value_text.h"

typedef struct Feed {
    Operator op;
    const Batch *rows;
    const uint32_t *order;
    uint32_t count;
    uint32_t batch_rows;
    uint32_t at;
} Feed;

/* Every row is followed by the same one, which is not selected. */
static Error *feed_next(Operator *op, const Pull *pull, Batch **ret_batch)
{
    Feed *feed = (Feed *)op;
    *ret_batch = NULL;
    if (feed->at == feed->count) {
        return NULL;
    }
    uint32_t left = feed->count - feed->at;
    uint32_t count = left < feed->batch_rows ? left : feed->batch_rows;
    Batch *batch = batch_new(pull->arena, feed->rows->schema, 2 * count);
    uint16_t *selection = arena_new_array(pull->arena, uint16_t, count);
    for (size_t k = 0; k < batch->schema->field_count; k++) {
        for (uint32_t i = 0; i < 2 * count; i++) {
            vector_append_from(batch->columns[k], pull->arena, feed->rows->columns[k],
                               feed->order[feed->at + i / 2]);
        }
        vector_own_bytes(batch->columns[k], pull->arena);
    }
    for (uint32_t i = 0; i < count; i++) {
        selection[i] = (uint16_t)(2 * i);
    }
    batch->row_count = 2 * count;
    batch->selection = selection;
    batch->selected_count = count;
    feed->at += count;
    *ret_batch = batch;
    return NULL;
}

static void feed_close(Operator *op)
{
    mem_free(op);
}

Operator *operator_fixture_feed(const Batch *rows, const uint32_t *order, uint32_t count,
                                uint32_t batch_rows)
{
    Feed *feed = mem_new(Feed);
    feed->op = (Operator){.next = feed_next, .close = feed_close};
    feed->rows = rows;
    feed->order = order;
    feed->count = count;
    /* Half of a full batch: the other half is not selected. */
    feed->batch_rows = batch_rows > BATCH_ROWS / 2 ? BATCH_ROWS / 2 : batch_rows;
    return &feed->op;
}

static void append_rows(const Batch *batch, Buffer *out)
{
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        for (size_t k = 0; k < batch->schema->field_count; k++) {
            buffer_append_cstr(out, k == 0 ? "" : "|");
            value_format(batch->columns[k], batch_selected(batch, i), NULL, out);
        }
        buffer_append_byte(out, '\n');
    }
}

Error *operator_fixture_run(Operator *op, Buffer *out)
{
    AUTO(arena) Arena *arena = arena_new("results");
    RowErrors failed = {0};
    Pull pull = {.arena = arena, .errors = &failed, .strict = true};
    for (;;) {
        Batch *batch = NULL;
        arena_reset(arena);
        Error *error = op->next(op, &pull, &batch);
        if (error == NULL && failed.count > 0) {
            error = error_copy(failed.errors[0]);
        }
        if (error != NULL || batch == NULL) {
            row_errors_done(&failed);
            return error;
        }
        if (batch->selected_count > BATCH_ROWS) {
            abort();
        }
        append_rows(batch, out);
    }
}

void operator_fixture_close(Operator *op)
{
    if (op != NULL) {
        operator_fixture_close(op->child);
        operator_fixture_close(op->right);
        op->close(op);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void operator_fixture_sort_lines(Buffer *text)
{
    char *copy = mem_strdup(buffer_cstr(text));
    char **lines = mem_alloc_array(text->size + 1, sizeof(char *));
    size_t count = 0;
    char *at = NULL;
    for (char *line = strtok_r(copy, "\n", &at); line != NULL; line = strtok_r(NULL, "\n", &at)) {
        lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    buffer_clear(text);
    for (size_t i = 0; i < count; i++) {
        buffer_append_cstr(text, lines[i]);
        buffer_append_byte(text, '\n');
    }
    mem_free(lines);
    mem_free(copy);
}

uint32_t operator_fixture_random(OperatorRandom *random, uint32_t bound)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 33) % bound;
}

void operator_fixture_shuffle(OperatorRandom *random, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = operator_fixture_random(random, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
}
