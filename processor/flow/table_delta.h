/* Table delta: what an epoch changed in a table, as absolute changes of single rows: the only thing
 * that leaves a flow. Rows to upsert carry their encoding, rows to delete none.
 *
 * A replacement reuses ordinals from 0 and deletes the rest (DESIGN section 5), so a reader that
 * folds the topic by key ends with exactly the new row set. */
#ifndef FLOW_TABLE_DELTA_H
#define FLOW_TABLE_DELTA_H

#include "state/overlay.h"

typedef struct DeltaRow {
    Str key;         /* key encoding */
    Str message_key; /* of the key's first row: ordinal 0 */
    uint32_t shard;
    uint32_t ordinal;
    Str row; /* row encoding; data == NULL: the row is gone */
} DeltaRow;

/* Walks the changes of a closed epoch. */
typedef struct TableDelta {
    const KeyChange *change; /* next */
    uint32_t row;            /* next within the change: first its rows, then its deletions */
} TableDelta;

/* At the first change; walks upserts and deletions key by key. */
TableDelta table_delta_of(const Epoch *epoch);
/* False at the end. */
bool table_delta_next(TableDelta *delta, DeltaRow *ret_row);

#endif
