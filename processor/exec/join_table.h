/* The build side of a join: rows in memory, found by the hash of their keys. */
#ifndef EXEC_JOIN_TABLE_H
#define EXEC_JOIN_TABLE_H

#include "processor/exec/kernel.h"
#include "processor/exec/keyed_rows.h"
#include "processor/exec/row_store.h"

typedef struct JoinSlot {
    uint32_t tag;  /* high half of the hash */
    uint32_t head; /* first row of the chain; ROW_NONE: the slot is empty */
} JoinSlot;

typedef struct JoinTable {
    const KeyedRows *side;
    const bool *null_equal;
    RowStore *rows;
    uint32_t count;
    Arena *arena;  /* of what follows, made by join_table_finish */
    Vector **keys; /* key columns of all rows, each in one piece */
    JoinSlot *slots;
    uint64_t mask;
    uint32_t *next;   /* the next row of the chain; NULL: every chain has one row */
    uint8_t *matched; /* one a row: has it had a match? */
} JoinTable;

/* A table over extended rows of the side. `null_equal` has one entry a key. */
RETURNS_NONNULL JoinTable *join_table_new(const KeyedRows *side, const bool *null_equal);
void join_table_free(JoinTable *table);
void join_table_add(JoinTable *table, const Batch *extended);
/* Memory held, with what join_table_finish is going to take. */
size_t join_table_bytes(const JoinTable *table);
/* No more rows come: makes the slots. Rows with a NULL in a key that `=` compares are in no chain.
 */
void join_table_finish(JoinTable *table);
/* The head of the chain in which rows of equal keys are, or ROW_NONE; heads[i] for the i-th of
 * `rows`. Rows of other keys may be in the chain too. Without keys: all rows are one chain. */
void join_table_find(const JoinTable *table, const Vector *const *keys, Rows rows, Arena *arena,
                     uint32_t *heads);
/* The row behind `row` in its chain, or ROW_NONE. Chains ascend. */
static inline uint32_t join_table_next(const JoinTable *table, uint32_t row)
{
    if (table->side->key_count == 0) {
        return row + 1 < table->count ? row + 1 : ROW_NONE;
    }
    return table->next == NULL ? ROW_NONE : table->next[row];
}
/* Has every chain one row? */
static inline bool join_table_is_unique(const JoinTable *table)
{
    return table->side->key_count == 0 ? table->count <= 1 : table->next == NULL;
}

#endif
