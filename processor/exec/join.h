/* What the files of the join share.
 *
 *     build side ─► join_table: rows in memory, chains of rows with equal keys
 *     probe side ─► a batch ─► heads of chains ─► candidates ─► keys equal? ─► condition TRUE? ─►
 * pairs join_table         join_probe    (row_hash)     join_probe        │ join_output
 * ◄────────────┘
 *
 * Candidates come in blocks of BATCH_ROWS, so one row with a million matches streams. Without keys
 * all rows of the build side are candidates: a nested loop. The build side is the right one unless
 * the plan says otherwise and the kind allows it. Beyond the memory both sides are cut into
 * partitions by the hash of their keys, in files, and joined partition by partition (join_spill).
 */
#ifndef EXEC_JOIN_H
#define EXEC_JOIN_H

#include "processor/exec/join_table.h"
#include "processor/exec/spill.h"

/* What a row of the probe side gives. */
typedef enum JoinGives {
    JOIN_GIVES_PAIRS,     /* itself with each match */
    JOIN_GIVES_MATCHED,   /* itself, when it has a match */
    JOIN_GIVES_UNMATCHED, /* itself, when it has none */
    JOIN_GIVES_NOT_IN,    /* itself, when it has none and no NULL leaves that open */
    JOIN_GIVES_MARK,      /* itself and whether it has a match, three-valued */
    JOIN_GIVES_NOTHING,   /* it only marks the rows of the build side */
} JoinGives;

/* A batch of the probe side. Arrays by the number of the selected row. */
typedef struct JoinProbe {
    Batch *batch;   /* extended; NULL: none at hand */
    RowStore *kept; /* the batch's copy, when it outlives the pull that brought it */
    const Vector **keys;
    uint32_t at; /* the row being joined */
    bool begun;  /* `candidate` is this row's */
    uint32_t candidate;
    uint32_t heads[BATCH_ROWS];
    uint8_t matched[BATCH_ROWS];
    uint8_t open[BATCH_ROWS]; /* no match, but a NULL leaves it open */
} JoinProbe;

/* A block of candidates, later of matches: row probe_rows[i] of the batch, its selected row at[i],
 * with row build_rows[i] of the table (ROW_NONE: with none). */
typedef struct JoinPairs {
    uint32_t count;
    uint32_t first; /* the block has the last candidates of selected rows first … end - 1 */
    uint32_t end;
    uint32_t at[BATCH_ROWS];
    uint32_t probe_rows[BATCH_ROWS];
    uint32_t build_rows[BATCH_ROWS];
} JoinPairs;

/* A pair of files, or (at level 0) the children themselves. */
typedef struct JoinTask {
    SpillFile *build; /* NULL: no rows */
    SpillFile *probe;
    unsigned level; /* how often its rows were partitioned */
} JoinTask;

typedef enum JoinPhase {
    JOIN_PHASE_TASK,      /* takes the next task */
    JOIN_PHASE_PROBE,     /* its table is made */
    JOIN_PHASE_UNMATCHED, /* the probe side is used up */
    JOIN_PHASE_DONE,
} JoinPhase;

typedef struct Join {
    Operator op;
    const LogicalNode *node;
    ExecContext context;
    Arena *arena;   /* of what is made once */
    Arena *input;   /* of a batch that is read and copied, or of the copy's frame */
    Arena *scratch; /* of one block of candidates */
    bool build_is_left;
    KeyedRows build;
    KeyedRows probe;
    JoinGives gives;
    bool probe_outer;      /* pairs: rows of the probe side without a match too */
    bool build_rows_after; /* rows of the build side follow: */
    bool build_matched;    /* those with a match (SEMI), else those without */
    bool single;           /* a second match is an error */
    const Schema *both;    /* columns of the left, then of the right */
    Expression *condition; /* over `both`; NULL: none */
    bool *condition_reads; /* one a column of `both` */
    /* Three-valued kinds: rows of the build side, and those of them with NULL for an operand. */
    uint64_t build_count;
    uint64_t build_null_count;
    uint32_t *null_rows; /* of the table, made when first asked for */
    uint32_t null_row_count;

    JoinPhase phase;
    JoinTask *tasks; /* the last one is next */
    size_t task_count;
    size_t task_capacity;
    JoinTask task; /* the one at work */
    JoinTable *table;
    JoinProbe at;
    JoinPairs pairs;
    JoinPairs given; /* with the rows that have no match among them */
    uint32_t next_unmatched;
    size_t held;
} Join;

/* ---- join_probe.c ---- */

/* Begins with a batch of extended rows (at most BATCH_ROWS selected) that lives in the pull's
 * arena. */
void join_probe_begin(Join *join, Batch *extended, Arena *arena);
/* The rest of the batch will be joined in later pulls: copies it. */
void join_probe_keep(Join *join);
void join_probe_done(Join *join);
/* Fills join->pairs with the next matches; their rows are marked. Asked until
 * join_probe_is_complete. */
NODISCARD Error *join_probe_block(Join *join);
static inline bool join_probe_is_complete(const Join *join)
{
    return join->at.at == join->at.batch->selected_count;
}
/* Narrows the pairs to those whose condition is TRUE. */
NODISCARD Error *join_check_condition(Join *join, JoinPairs *pairs);
/* Narrows the pairs to those listed, in their order. */
void join_pairs_narrow(JoinPairs *pairs, const uint32_t *which, uint32_t count);

/* ---- join_null.c ---- */

/* Are NULLs counted in each partition apart possible (see join_spill.c)? */
bool join_null_is_simple(const Join *join);
/* Notes in join->at.open which rows without a match a NULL leaves open. */
NODISCARD Error *join_find_open(Join *join, const Pull *pull);

/* ---- join_output.c ---- */

/* The pairs as columns of both sides; with `reads`, only those it names (others are NULL). */
Batch *join_pairs_batch(const Join *join, const JoinPairs *pairs, const bool *reads, Arena *arena);
/* What the block of pairs gives, NULL: nothing. */
Batch *join_give_pairs(Join *join, Arena *arena);
/* What the complete batch gives when it gives rows of the probe side alone. */
Batch *join_give_probe_rows(Join *join, Arena *arena);
/* The next rows of the build side that follow the probe side, NULL at the end. */
Batch *join_give_build_rows(Join *join, Arena *arena);

/* ---- join_spill.c ---- */

/* Is the table too large for the memory, and can it be cut? */
bool join_must_spill(const Join *join);
/* Cuts the table, what else the task has of the build side, and its probe side into new tasks. */
NODISCARD Error *join_spill(Join *join, const Pull *pull);
void join_task_done(JoinTask *task);

/* ---- op_join.c ---- */

/* The next extended rows of a side of the task at work, in `arena`; NULL at the end. */
NODISCARD Error *join_read_build(Join *join, const Pull *pull, Batch **ret_extended);
NODISCARD Error *join_read_probe(Join *join, const Pull *pull, Arena *arena, Batch **ret_extended);
void join_count_memory(Join *join);

#endif
