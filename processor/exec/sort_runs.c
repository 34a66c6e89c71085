/* Sorted runs: files of rows with their sort key behind them as one more column.
 *
 * A merge keeps one batch of each run and a heap of the runs by the key they stand at. It picks
 * rows until the output is full or a run's batch is used up, and only then copies them, column by
 * column.
 *
 * Few files are open at a time: as soon as FAN_IN runs of one level stand at the end of the list,
 * they become one run of the next level. Levels never grow toward the end of the list, and only
 * neighbours are merged, so runs stay in the order they came. */
#include "processor/exec/sort_runs.h"

#include <assert.h>
#include <string.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum { FAN_IN = 32 };

typedef struct Run {
    SpillFile *file;
    Arena *arena; /* of the batch at hand */
    Batch *batch;
    uint32_t at; /* row of the batch that comes next */
    Str key;     /* of that row */
    unsigned level;
} Run;

/* A merge of neighbouring runs. */
typedef struct Merge {
    Run *runs;
    uint32_t *heap; /* indexes of runs, the one that comes first at the front */
    uint32_t heap_count;
    Run *used_up; /* its batch is; it has to be read on */
} Merge;

struct SortRuns {
    const QueryMemory *memory;
    Arena *arena;              /* of the schema */
    const Schema *schema;      /* of the result */
    const Schema *file_schema; /* with the key */
    Run *runs;
    size_t run_count;
    size_t run_capacity;
    Merge merge; /* of all runs */
};

SortRuns *sort_runs_new(const Schema *schema, const QueryMemory *memory)
{
    SortRuns *runs = mem_new(SortRuns);
    runs->memory = memory;
    runs->arena = arena_new("sort runs");
    runs->schema = schema;
    Field *fields = arena_new_array(runs->arena, Field, schema->field_count + 1);
    if (schema->field_count > 0) {
        memcpy(fields, schema->fields, schema->field_count * sizeof *fields);
    }
    fields[schema->field_count] = (Field){.name = STR("key"), .type = &type_binary};
    runs->file_schema = schema_new(runs->arena, fields, schema->field_count + 1);
    return runs;
}

static void run_done(Run *run)
{
    if (run->file != NULL) {
        spill_close(run->file);
    }
    arena_free(run->arena);
}

void sort_runs_free(SortRuns *runs)
{
    if (runs == NULL) {
        return;
    }
    for (size_t i = 0; i < runs->run_count; i++) {
        run_done(&runs->runs[i]);
    }
    mem_free(runs->runs);
    mem_free(runs->merge.heap);
    arena_free(runs->arena);
    mem_free(runs);
}

size_t sort_runs_count(const SortRuns *runs)
{
    return runs->run_count;
}

/* ---- Writing a run ---- */

static Str key_bytes(const SortKey *key, Str rest, Arena *arena)
{
    uint64_t head[2] = {__builtin_bswap64(key->high), __builtin_bswap64(key->low)};
    char *bytes = arena_alloc_bytes(arena, sizeof head + rest.size);
    memcpy(bytes, head, sizeof head);
    if (rest.size > 0) {
        memcpy(bytes + sizeof head, rest.data, rest.size);
    }
    return (Str){bytes, sizeof head + rest.size};
}

/* The rows of the keys as a batch of the file. */
static Batch *rows_with_keys(const SortRuns *runs, const RowStore *store, const SortKey *keys,
                             const Str *rests, uint32_t count, Arena *arena)
{
    size_t field_count = runs->schema->field_count;
    Vector **columns = arena_new_array(arena, Vector *, field_count + 1);
    uint32_t *rows = arena_new_array(arena, uint32_t, count);
    columns[field_count] = vector_new(arena, &type_binary, count);
    for (uint32_t i = 0; i < count; i++) {
        Str rest = rests == NULL ? STR_NULL : rests[keys[i].row];
        rows[i] = keys[i].row;
        vector_append_str(columns[field_count], arena, key_bytes(&keys[i], rest, arena));
    }
    for (size_t i = 0; i < field_count; i++) {
        columns[i] = row_store_gather(store, i, rows, count, arena);
    }
    return batch_from_columns(arena, runs->file_schema, columns, count);
}

static Error *add_run(SortRuns *runs, unsigned level, Run **ret_run)
{
    mem_reserve(runs->runs, &runs->run_capacity, runs->run_count + 1);
    Run *run = &runs->runs[runs->run_count];
    *run = (Run){.level = level};
    TRY(spill_open(runs->memory, runs->file_schema, &run->file));
    run->arena = arena_new("sort run");
    runs->run_count++;
    *ret_run = run;
    return NULL;
}

/* ---- Merging ---- */

static bool run_before(const Run *runs, uint32_t a, uint32_t b)
{
    Str left = runs[a].key;
    Str right = runs[b].key;
    size_t size = left.size < right.size ? left.size : right.size;
    int order = memcmp(left.data, right.data, size);
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(Merge *merge, uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= merge->heap_count) {
            return;
        }
        if (child + 1 < merge->heap_count &&
            run_before(merge->runs, merge->heap[child + 1], merge->heap[child])) {
            child++;
        }
        if (!run_before(merge->runs, merge->heap[child], merge->heap[at])) {
            return;
        }
        uint32_t swapped = merge->heap[at];
        merge->heap[at] = merge->heap[child];
        merge->heap[child] = swapped;
        at = child;
    }
}

static void note_key(Run *run)
{
    const Vector *keys = run->batch->columns[run->batch->schema->field_count - 1];
    run->key = VECTOR_VALUE(keys, Str, run->at);
}

static Error *read_batch(Run *run)
{
    arena_reset(run->arena);
    run->at = 0;
    TRY(spill_read(run->file, run->arena, &run->batch));
    if (run->batch != NULL) {
        note_key(run);
    }
    return NULL;
}

/* Every run at its first row. */
static Error *merge_begin(Merge *merge, Run *runs, uint32_t count)
{
    mem_free(merge->heap);
    *merge = (Merge){.runs = runs, .heap = mem_alloc_array(count, sizeof(uint32_t))};
    for (uint32_t i = 0; i < count; i++) {
        TRY(spill_rewind(runs[i].file));
        TRY(read_batch(&runs[i]));
        if (runs[i].batch != NULL) {
            merge->heap[merge->heap_count++] = i;
        }
    }
    for (uint32_t i = merge->heap_count / 2; i-- > 0;) {
        sift_down(merge, i);
    }
    return NULL;
}

/* Reads on the run at the front of the heap, whose batch was used up. */
static Error *read_on(Merge *merge)
{
    if (merge->used_up == NULL) {
        return NULL;
    }
    Run *run = merge->used_up;
    merge->used_up = NULL;
    TRY(read_batch(run));
    if (run->batch == NULL) {
        merge->heap[0] = merge->heap[--merge->heap_count];
    }
    sift_down(merge, 0);
    return NULL;
}

typedef struct Pick {
    const Batch *batch;
    uint32_t row;
} Pick;

/* Up to BATCH_ROWS rows in order, and not beyond a batch that is used up. */
static uint32_t pick_rows(Merge *merge, Pick *picks)
{
    uint32_t count = 0;
    while (merge->heap_count > 0 && count < BATCH_ROWS && merge->used_up == NULL) {
        Run *run = &merge->runs[merge->heap[0]];
        picks[count++] = (Pick){run->batch, run->at++};
        if (run->at == run->batch->row_count) {
            merge->used_up = run;
        } else {
            note_key(run);
            sift_down(merge, 0);
        }
    }
    return count;
}

/* The next rows of the merge, the first columns of the file; NULL at the end. */
static Error *merge_next(Merge *merge, const Schema *schema, Arena *arena, Batch **ret_batch)
{
    Pick picks[BATCH_ROWS];
    TRY(read_on(merge));
    uint32_t count = pick_rows(merge, picks);
    if (count == 0) {
        *ret_batch = NULL;
        return NULL;
    }
    Vector **columns = arena_new_array(arena, Vector *, schema->field_count);
    for (size_t i = 0; i < schema->field_count; i++) {
        columns[i] = vector_new(arena, schema->fields[i].type, count);
        for (uint32_t k = 0; k < count; k++) {
            vector_append_from(columns[i], arena, picks[k].batch->columns[i], picks[k].row);
        }
        vector_own_bytes(columns[i], arena); /* the run's batch goes before the result */
    }
    *ret_batch = batch_from_columns(arena, schema, columns, count);
    return NULL;
}

/* ---- Levels ---- */

static Error *write_merged(SortRuns *runs, Merge *merge, SpillFile *file)
{
    AUTO(arena) Arena *arena = arena_new("merged run");
    for (;;) {
        Batch *batch = NULL;
        arena_reset(arena);
        TRY(merge_next(merge, runs->file_schema, arena, &batch));
        if (batch == NULL) {
            return NULL;
        }
        TRY(spill_write(file, batch));
    }
}

/* The last FAN_IN runs become one. */
static Error *merge_last(SortRuns *runs)
{
    Run *merged = NULL;
    TRY(add_run(runs, runs->runs[runs->run_count - 1].level + 1, &merged));
    size_t first = runs->run_count - 1 - FAN_IN;
    Merge merge = {0};
    Error *error = merge_begin(&merge, runs->runs + first, FAN_IN);
    if (error == NULL) {
        error = write_merged(runs, &merge, merged->file);
    }
    mem_free(merge.heap);
    TRY(error);
    for (size_t i = 0; i < FAN_IN; i++) {
        run_done(&runs->runs[first + i]);
    }
    runs->runs[first] = *merged;
    runs->run_count = first + 1;
    return NULL;
}

/* Are there FAN_IN runs of one level at the end? */
static bool level_is_full(const SortRuns *runs)
{
    return runs->run_count >= FAN_IN &&
           runs->runs[runs->run_count - FAN_IN].level == runs->runs[runs->run_count - 1].level;
}

Error *sort_runs_add(SortRuns *runs, const RowStore *store, const SortKey *keys, const Str *rests,
                     uint32_t count)
{
    Run *run = NULL;
    TRY(add_run(runs, 0, &run));
    for (uint32_t at = 0; at < count; at += BATCH_ROWS) {
        arena_reset(run->arena);
        uint32_t rows = count - at < BATCH_ROWS ? count - at : BATCH_ROWS;
        TRY(spill_write(run->file,
                        rows_with_keys(runs, store, keys + at, rests, rows, run->arena)));
    }
    arena_reset(run->arena);
    while (level_is_full(runs)) {
        TRY(merge_last(runs));
    }
    return NULL;
}

Error *sort_runs_begin(SortRuns *runs)
{
    return merge_begin(&runs->merge, runs->runs, (uint32_t)runs->run_count);
}

Error *sort_runs_next(SortRuns *runs, Arena *arena, Batch **ret_batch)
{
    return merge_next(&runs->merge, runs->schema, arena, ret_batch);
}
