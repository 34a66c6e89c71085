/* The rows of a table of a running pipeline, seen twice: as any reader of its topic sees them, and
 * as the local state holds them. A test compares both. */
#ifndef TESTING_TABLE_ROWS_H
#define TESTING_TABLE_ROWS_H

#include "processor/run/flow_runner.h"
#include "processor/run/table_fold.h"

/* From the topic alone. `zone`: the session's. */
NODISCARD Error *table_rows_of_topic(Log *log, const ProgramTable *table, const TimeZone *zone,
                                     int timeout_ms, Arena *arena, Batch **ret_rows);
/* From RocksDB, after a checkpoint. */
NODISCARD Error *table_rows_of_state(FlowRunner *flow, Arena *arena, Batch **ret_rows);

#endif
