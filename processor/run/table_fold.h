/* The rows of a table as any reader of its topic sees them: the topic folded by key,
 * read_committed, up to its end of now. A transaction still open there is waited for: brokers write
 * the markers of a commit a moment after they have answered it. Needs nothing but the topic (KM-4).
 */
#ifndef RUN_TABLE_FOLD_H
#define RUN_TABLE_FOLD_H

#include "connectors/log.h"
#include "processor/data/batch.h"
#include "processor/data/datetime.h"
#include "processor/run/program.h"

typedef struct FoldedTable {
    Str *keys;   /* message keys, sorted by their text */
    Batch *rows; /* row i belongs to keys[i]; may exceed BATCH_ROWS */
    size_t count;
} FoldedTable;

/* In `arena`. A date alone is a timestamp in `date_zone` (rows written before the column widened;
 * NULL: UTC). MALFORMED_RECORD when a value does not fit the table's columns. */
NODISCARD Error *table_fold(Log *log, const char *topic, const Schema *schema,
                            const TimeZone *date_zone, int timeout_ms, Arena *arena,
                            FoldedTable *ret_table);

#endif
