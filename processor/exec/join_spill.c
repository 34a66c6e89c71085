/* A join beyond its memory: both sides are cut into PARTITIONS files by the hash of their keys, so
 * that rows with equal keys meet in the same pair of files; each pair is a task of its own, cut
 * again by other bits when its build side is still too large. Rows whose keys are all equal cannot
 * be cut: after LEVEL_MAX cuts a table is held in memory whatever it takes.
 *
 * Rows with a NULL key match nothing: they are left out where the result does not need them, else
 * dealt out evenly. What IN must know of the NULLs of all partitions is counted before they are
 * cut. */
#include "processor/exec/join.h"
#include "processor/exec/row_hash.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

enum {
    PARTITIONS = 16,
    PARTITION_SHIFT = 60,
    LEVEL_MAX = 4,
    MEMORY_SHARE = 16,
    PARTITION_BYTES = 64 * 1024, /* one this small is not cut again */
};

/* A side that is being cut. */
typedef struct Cut {
    const KeyedRows *side;
    const bool *null_equal;
    const QueryMemory *memory;
    unsigned level;
    bool needs_nulls; /* rows with a NULL key too */
    uint32_t dealt;
    SpillFile *files[PARTITIONS]; /* opened when a row comes */
} Cut;

void join_task_done(JoinTask *task)
{
    if (task->build != NULL) {
        spill_close(task->build);
    }
    if (task->probe != NULL) {
        spill_close(task->probe);
    }
    *task = (JoinTask){0};
}

/* Others may hold the memory: a table that is small itself stays. */
bool join_must_spill(const Join *join)
{
    const QueryMemory *memory = join->context.memory;
    unsigned level = join->task.level;
    return memory_exceeded(memory) && join->build.key_count > 0 && join_null_is_simple(join) &&
           level < LEVEL_MAX && join->held > memory->limit_bytes / MEMORY_SHARE &&
           (level == 0 || join->held > PARTITION_BYTES);
}

/* Other bits at each level, and none that the table's slots go by. */
static unsigned partition_of(uint64_t hash, unsigned level)
{
    uint64_t mixed = (hash ^ (uint64_t)(level + 1) * UINT64_C(0x9E3779B97F4A7C15)) *
                     UINT64_C(0xD6E8FEB86659FD93);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (unsigned)(mixed >> PARTITION_SHIFT);
}

typedef struct Parts {
    uint16_t *selections[PARTITIONS];
    uint32_t counts[PARTITIONS];
} Parts;

static void deal_rows(Cut *cut, const Batch *batch, const uint64_t *hashes, Parts *parts)
{
    for (uint32_t i = 0; i < batch->selected_count; i++) {
        uint32_t row = batch_selected(batch, i);
        unsigned part = partition_of(hashes[row], cut->level);
        if (keyed_rows_is_null(cut->side, cut->null_equal, batch, row)) {
            if (!cut->needs_nulls) {
                continue;
            }
            part = cut->dealt++ % PARTITIONS;
        }
        parts->selections[part][parts->counts[part]++] = (uint16_t)row;
    }
}

static Error *cut_batch(Cut *cut, const Batch *batch, Arena *arena)
{
    const Vector **keys = arena_new_array(arena, const Vector *, cut->side->key_count);
    for (size_t i = 0; i < cut->side->key_count; i++) {
        keys[i] = batch->columns[cut->side->key_columns[i]];
    }
    uint64_t *hashes = arena_new_array(arena, uint64_t, batch->row_count);
    row_hash(keys, cut->side->key_count, (Rows){batch->selection, batch->selected_count}, hashes);
    Parts parts = {0};
    for (unsigned i = 0; i < PARTITIONS; i++) {
        parts.selections[i] = arena_new_array(arena, uint16_t, batch->selected_count);
    }
    deal_rows(cut, batch, hashes, &parts);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        Batch part = *batch;
        part.selection = parts.selections[i];
        part.selected_count = parts.counts[i];
        if (part.selected_count == 0) {
            continue;
        }
        if (cut->files[i] == NULL) {
            TRY(spill_open(cut->memory, cut->side->extended, &cut->files[i]));
        }
        TRY(spill_write(cut->files[i], &part));
    }
    return NULL;
}

/* What is in the table, then what the task still has. */
static Error *cut_build(Join *join, const Pull *pull, Cut *cut)
{
    AUTO(arena) Arena *arena = arena_new("join partition");
    for (uint32_t row = 0; row < join->table->count; row += BATCH_ROWS) {
        arena_reset(arena);
        TRY(cut_batch(cut, row_store_chunk(join->table->rows, row), arena));
    }
    join_table_free(join->table);
    join->table = NULL;
    join_count_memory(join);
    for (;;) {
        Batch *batch = NULL;
        TRY(join_read_build(join, pull, &batch));
        if (batch == NULL) {
            return NULL;
        }
        TRY(cut_batch(cut, batch, join->input));
    }
}

static Error *cut_probe(Join *join, const Pull *pull, Cut *cut)
{
    for (;;) {
        Batch *batch = NULL;
        arena_reset(join->input);
        TRY(join_read_probe(join, pull, join->input, &batch));
        if (batch == NULL) {
            return NULL;
        }
        TRY(cut_batch(cut, batch, join->input));
    }
}

static Cut cut_of_build(const Join *join)
{
    return (Cut){.side = &join->build,
                 .null_equal = join->node->null_equal,
                 .memory = join->context.memory,
                 .level = join->task.level,
                 .needs_nulls = join->build_rows_after && !join->build_matched};
}

static Cut cut_of_probe(const Join *join)
{
    return (Cut){.side = &join->probe,
                 .null_equal = join->node->null_equal,
                 .memory = join->context.memory,
                 .level = join->task.level,
                 .needs_nulls = join->probe_outer || join->gives == JOIN_GIVES_UNMATCHED ||
                                join->gives == JOIN_GIVES_NOT_IN || join->gives == JOIN_GIVES_MARK};
}

/* The files become tasks, whatever failed, so that they are closed. The first partition is the last
 * task, which is taken first. */
static void add_tasks(Join *join, const Cut *build, const Cut *probe)
{
    for (unsigned i = PARTITIONS; i-- > 0;) {
        if (build->files[i] != NULL || probe->files[i] != NULL) {
            mem_reserve(join->tasks, &join->task_capacity, join->task_count + 1);
            join->tasks[join->task_count++] =
                (JoinTask){build->files[i], probe->files[i], join->task.level + 1};
        }
    }
}

Error *join_spill(Join *join, const Pull *pull)
{
    Cut build = cut_of_build(join);
    Cut probe = cut_of_probe(join);
    Error *error = cut_build(join, pull, &build);
    if (error == NULL) {
        error = cut_probe(join, pull, &probe);
    }
    add_tasks(join, &build, &probe);
    TRY(error);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        if (build.files[i] != NULL) {
            TRY(spill_rewind(build.files[i]));
        }
        if (probe.files[i] != NULL) {
            TRY(spill_rewind(probe.files[i]));
        }
    }
    join_task_done(&join->task);
    return NULL;
}
