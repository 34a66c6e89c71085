/* DISTINCT of an aggregate: which rows bring values their group has not seen. */
#ifndef EXEC_DISTINCT_SET_H
#define EXEC_DISTINCT_SET_H

#include "processor/exec/group_table.h"

typedef struct DistinctSet DistinctSet;

/* The first `key_count` of the columns of `types` count; `grouped`: each group for itself. The
 * types must outlive the set. */
RETURNS_NONNULL DistinctSet *distinct_set_new(const Type *const *types, size_t column_count,
                                              size_t key_count, bool grouped,
                                              const QueryMemory *memory);
void distinct_set_free(DistinctSet *set);
/* Of the rows asked for, those that are new: their positions, in order. `groups` (by position; NULL
 * when not grouped) are group numbers. Rows that a frozen set does not know wait in files. */
NODISCARD Error *distinct_set_add(DistinctSet *set, const Vector *const *columns, Rows rows,
                                  const uint32_t *groups, uint16_t *ret_positions,
                                  uint32_t *ret_count);
/* No more memory: what is not in the set yet waits. */
void distinct_set_freeze(DistinctSet *set);
size_t distinct_set_bytes(const DistinctSet *set);

/* Who gets the new rows among those that waited: rows of the columns, group numbers by position
 * (NULL when not grouped). */
typedef Error *DistinctSink(void *context, const Vector *const *columns, Rows rows,
                            const uint32_t *groups);
/* Goes through what waited; the set is of no more use afterwards. */
NODISCARD Error *distinct_set_drain(DistinctSet *set, DistinctSink *sink, void *context);

#endif
