/* Groups by key: a hash table of distinct key rows, each with a block of memory of its own that
 * never moves (the states of aggregates). Keys of any type, equal as row_hash.h means it.
 * Thread: one at a time. */
#ifndef EXEC_GROUP_TABLE_H
#define EXEC_GROUP_TABLE_H

#include "processor/exec/kernel.h"

typedef struct GroupTable GroupTable;

/* Blocks begin with `state_size` zeroed bytes, aligned to 16. The types must outlive the table. */
RETURNS_NONNULL GroupTable *group_table_new(const Type *const *key_types, size_t key_count,
                                            size_t state_size);
void group_table_free(GroupTable *table);

/* Where rows went, by position among the rows asked for. */
typedef struct GroupRows {
    void *blocks[BATCH_ROWS];   /* NULL: there is no such group (group_table_find only) */
    uint16_t added[BATCH_ROWS]; /* positions of rows that made a group, ascending */
    uint32_t added_count;
    uint32_t missing_count; /* rows without a group */
} GroupRows;

/* The group of each row; `hashes` by row number (row_hash of the keys). Makes the groups that are
 * not there. */
void group_table_add(GroupTable *table, const Vector *const *keys, const uint64_t *hashes,
                     Rows rows, GroupRows *ret);
/* The same, but makes none. */
void group_table_find(GroupTable *table, const Vector *const *keys, const uint64_t *hashes,
                      Rows rows, GroupRows *ret);

uint32_t group_table_count(const GroupTable *table);
/* Groups are numbered from 0 in the order they came. */
void *group_table_block(const GroupTable *table, uint32_t group);
uint32_t group_table_number(const GroupTable *table, const void *block);
/* Key column `key` of the groups first … first + count - 1, in `arena`; bytes stay the table's.
 * -0.0 has become 0.0. */
RETURNS_NONNULL Vector *group_table_keys(const GroupTable *table, size_t key, uint32_t first,
                                         uint32_t count, Arena *arena);
/* Memory of the table, for QueryMemory. */
size_t group_table_bytes(const GroupTable *table);

#endif
