/* Sorting rows: they are kept as they come, beside them their keys; in the end the keys are sorted
 * and the rows gathered in that order.
 *
 * With a limit of N, rows behind the best N seen so far are of no use. As soon as about twice N are
 * kept, the keys are sorted, the best N stay and the last of them becomes the bar: later rows that
 * do not come before it are not even copied (an equal one neither, since sorting is stable). For
 * small N nearly all rows of the input end there, after a comparison of two numbers.
 *
 * Beyond the memory of the query the rows kept so far become a sorted run in a file. */
#include "processor/exec/sorter.h"

#include <assert.h>

#include "processor/base/memory.h"
#include "processor/exec/row_store.h"
#include "processor/exec/sort_runs.h"

#include "processor/base/banned.h"

enum { MEMORY_SHARE = 16 };

struct Sorter {
    SorterSetup setup;
    Arena *scratch; /* of one batch */
    RowStore *rows;
    SortKey *keys; /* of the rows; SortKey.row: in `rows` */
    Str *rests;    /* by row */
    size_t key_capacity;
    bool has_rests;
    Arena *rest_bytes;
    bool has_bar;
    SortKey bar; /* the last row that is good enough */
    Str bar_rest;
    SortRuns *runs; /* NULL: everything is in memory */
    uint64_t given; /* rows handed out */
    size_t held;
};

Sorter *sorter_new(const SorterSetup *setup)
{
    Sorter *sorter = mem_new(Sorter);
    sorter->setup = *setup;
    sorter->scratch = arena_new("sort batch");
    sorter->rows = row_store_new(setup->schema);
    sorter->rest_bytes = arena_new("sort keys");
    return sorter;
}

void sorter_free(Sorter *sorter)
{
    if (sorter == NULL) {
        return;
    }
    memory_hold(sorter->setup.memory, &sorter->held, 0);
    sort_runs_free(sorter->runs);
    row_store_free(sorter->rows);
    mem_free(sorter->keys);
    mem_free(sorter->rests);
    arena_free(sorter->rest_bytes);
    arena_free(sorter->scratch);
    mem_free(sorter);
}

static uint32_t kept(const Sorter *sorter)
{
    return row_store_count(sorter->rows);
}

/* What is held, and what sorting the keys will take. */
static void count_memory(Sorter *sorter)
{
    size_t keys = (size_t)kept(sorter) * (2 * sizeof(SortKey) + sizeof(Str));
    memory_hold(sorter->setup.memory, &sorter->held,
                row_store_bytes(sorter->rows) + arena_used_bytes(sorter->rest_bytes) + keys);
}

/* ---- Keeping rows ---- */

/* The keys of a batch's rows, SortKey.row as in the batch. */
typedef struct BatchKeys {
    SortKey *keys;
    Str *rests;
    bool has_rests;
    uint32_t count;
} BatchKeys;

/* Leaves the rows before the bar: their keys, and the batch's selection. */
static void leave_good_ones(const Sorter *sorter, Batch *batch, BatchKeys *keys)
{
    uint16_t *selection = arena_new_array(sorter->scratch, uint16_t, keys->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < keys->count; i++) {
        Str rest = keys->has_rests ? keys->rests[i] : STR_NULL;
        if (sort_key_compare(&keys->keys[i], rest, &sorter->bar, sorter->bar_rest) < 0) {
            selection[count] = (uint16_t)batch_selected(batch, i);
            keys->rests[count] = rest;
            keys->keys[count++] = keys->keys[i];
        }
    }
    batch->selection = selection;
    batch->selected_count = count;
    keys->count = count;
}

static void reserve_keys(Sorter *sorter, size_t needed)
{
    if (needed > sorter->key_capacity) {
        size_t before = sorter->key_capacity;
        mem_reserve(sorter->keys, &sorter->key_capacity, needed);
        sorter->rests = (Str *)mem_realloc(sorter->rests, sorter->key_capacity * sizeof(Str));
        for (size_t i = before; i < sorter->key_capacity; i++) {
            sorter->rests[i] = STR_NULL;
        }
    }
}

static void keep_keys(Sorter *sorter, const BatchKeys *keys)
{
    uint32_t first = kept(sorter);
    reserve_keys(sorter, (size_t)first + keys->count);
    for (uint32_t i = 0; i < keys->count; i++) {
        sorter->keys[first + i] = keys->keys[i];
        sorter->keys[first + i].row = first + i;
        sorter->rests[first + i] =
            keys->has_rests ? arena_copy_str(sorter->rest_bytes, keys->rests[i]) : STR_NULL;
    }
    sorter->has_rests |= keys->has_rests;
}

/* ---- Sorting what is kept ---- */

static const Str *rests_of(const Sorter *sorter)
{
    return sorter->has_rests ? sorter->rests : NULL;
}

/* Gives the count of the rows that are wanted. */
static uint32_t sort_kept(Sorter *sorter)
{
    uint32_t count = kept(sorter);
    sort_keys_sort(sorter->keys, count, rests_of(sorter));
    int64_t limit = sorter->setup.limit;
    return limit >= 0 && limit < count ? (uint32_t)limit : count;
}

/* The rows of the first `count` keys, in their order, as a store of their own. */
static RowStore *best_rows(Sorter *sorter, uint32_t count)
{
    RowStore *best = row_store_new(sorter->setup.schema);
    uint32_t rows[BATCH_ROWS];
    for (uint32_t at = 0; at < count; at += BATCH_ROWS) {
        uint32_t some = count - at < BATCH_ROWS ? count - at : BATCH_ROWS;
        for (uint32_t i = 0; i < some; i++) {
            rows[i] = sorter->keys[at + i].row;
        }
        arena_reset(sorter->scratch);
        row_store_append(best, row_store_batch(sorter->rows, rows, some, sorter->scratch));
    }
    return best;
}

/* Their rests, by their new numbers. */
static void renumber(Sorter *sorter, uint32_t count)
{
    Arena *bytes = arena_new("sort keys");
    Str *rests = mem_alloc_array(sorter->key_capacity, sizeof(Str));
    for (uint32_t i = 0; i < count; i++) {
        rests[i] = arena_copy_str(bytes, sorter->rests[sorter->keys[i].row]);
        sorter->keys[i].row = i;
    }
    mem_free(sorter->rests);
    arena_free(sorter->rest_bytes);
    sorter->rests = rests;
    sorter->rest_bytes = bytes;
}

/* Drops all but the best rows and raises the bar. */
static void drop_others(Sorter *sorter)
{
    uint32_t count = sort_kept(sorter);
    assert(count > 0);
    RowStore *best = best_rows(sorter, count);
    row_store_free(sorter->rows);
    sorter->rows = best;
    renumber(sorter, count);
    sorter->bar = sorter->keys[count - 1];
    sorter->bar_rest = sorter->rests[count - 1];
    sorter->has_bar = true;
}

/* A run of the rows kept so far. */
static Error *spill(Sorter *sorter)
{
    if (sorter->runs == NULL) {
        sorter->runs = sort_runs_new(sorter->setup.schema, sorter->setup.memory);
    }
    uint32_t count = sort_kept(sorter);
    TRY(sort_runs_add(sorter->runs, sorter->rows, sorter->keys, rests_of(sorter), count));
    row_store_clear(sorter->rows);
    arena_reset(sorter->rest_bytes);
    sorter->has_bar = false; /* its rest is gone */
    sorter->has_rests = false;
    count_memory(sorter);
    return NULL;
}

/* Others may hold the memory: then few rows stay all the same, a run for each batch would be dear.
 */
static bool must_spill(const Sorter *sorter)
{
    const QueryMemory *memory = sorter->setup.memory;
    return memory_exceeded(memory) && kept(sorter) > 0 &&
           sorter->held > memory->limit_bytes / MEMORY_SHARE;
}

/* Are there so many that sorting out is worth it? */
static bool too_many(const Sorter *sorter)
{
    int64_t limit = sorter->setup.limit;
    return limit > 0 && kept(sorter) / 2 >= limit && kept(sorter) - limit >= BATCH_ROWS;
}

Error *sorter_add(Sorter *sorter, const Batch *batch, const Vector *const *keys)
{
    arena_reset(sorter->scratch);
    Rows rows = {batch->selection, batch->selected_count};
    if (rows.count == 0 || sorter->setup.limit == 0) {
        return NULL;
    }
    BatchKeys own = {.keys = arena_new_array(sorter->scratch, SortKey, rows.count),
                     .rests = arena_new_array(sorter->scratch, Str, rows.count),
                     .count = rows.count};
    own.has_rests = sort_keys_encode(sorter->setup.orders, keys, sorter->setup.key_count, rows,
                                     sorter->scratch, own.keys, own.rests);
    Batch good = *batch;
    if (sorter->has_bar) {
        leave_good_ones(sorter, &good, &own);
    }
    keep_keys(sorter, &own);
    row_store_append(sorter->rows, &good);
    if (too_many(sorter)) {
        drop_others(sorter);
    }
    count_memory(sorter);
    return must_spill(sorter) ? spill(sorter) : NULL;
}

/* ---- Reading ---- */

Error *sorter_finish(Sorter *sorter)
{
    if (sorter->runs == NULL) {
        (void)sort_kept(sorter);
        return NULL;
    }
    if (kept(sorter) > 0) {
        TRY(spill(sorter));
    }
    return sort_runs_begin(sorter->runs);
}

/* The rows handed out at most from here. */
static uint64_t rows_left(const Sorter *sorter)
{
    return sorter->setup.limit < 0 ? UINT64_MAX : (uint64_t)sorter->setup.limit - sorter->given;
}

static Batch *next_from_memory(Sorter *sorter, Arena *arena)
{
    uint64_t left = kept(sorter) - sorter->given;
    left = left < rows_left(sorter) ? left : rows_left(sorter);
    uint32_t count = left < BATCH_ROWS ? (uint32_t)left : BATCH_ROWS;
    if (count == 0) {
        return NULL;
    }
    uint32_t rows[BATCH_ROWS];
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = sorter->keys[sorter->given + i].row;
    }
    return row_store_batch(sorter->rows, rows, count, arena);
}

/* The first `count` rows of the batch. */
static void cut(Batch *batch, uint64_t count)
{
    if (count >= batch->row_count) {
        return;
    }
    for (size_t i = 0; i < batch->schema->field_count; i++) {
        vector_truncate(batch->columns[i], (uint32_t)count);
    }
    batch->row_count = (uint32_t)count;
    batch->selected_count = (uint32_t)count;
}

Error *sorter_next(Sorter *sorter, Arena *arena, Batch **ret_batch)
{
    Batch *batch = NULL;
    if (rows_left(sorter) > 0) {
        if (sorter->runs == NULL) {
            batch = next_from_memory(sorter, arena);
        } else {
            TRY(sort_runs_next(sorter->runs, arena, &batch));
        }
    }
    if (batch != NULL) {
        cut(batch, rows_left(sorter));
        sorter->given += batch->row_count;
    }
    *ret_batch = batch;
    return NULL;
}
