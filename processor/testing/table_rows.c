/* Reading a table's rows in the two places they are. */
#include "processor/testing/table_rows.h"

#include "processor/base/memory.h"

#include "processor/base/banned.h"

Error *table_rows_of_topic(Log *log, const ProgramTable *table, const TimeZone *zone,
                           int timeout_ms, Arena *arena, Batch **ret_rows)
{
    FoldedTable folded = {.count = 0};
    TRY(table_fold(log, table->topic, table->bound->schema, zone, timeout_ms, arena, &folded));
    *ret_rows = folded.rows;
    return NULL;
}

typedef struct RowList {
    Str *rows;
    size_t count;
    size_t capacity;
} RowList;

static Error *scan_rows(TableStore *store, Arena *arena, RowList *list)
{
    AUTO(store_scan) StoreScan *scan = table_store_scan(store, -1);
    for (;;) {
        StoredRow row = {0};
        bool found = false;
        TRY(store_scan_next(scan, &row, &found));
        if (!found) {
            return NULL;
        }
        mem_reserve(list->rows, &list->capacity, list->count + 1);
        list->rows[list->count++] = arena_copy_str(arena, row.row);
    }
}

Error *table_rows_of_state(FlowRunner *flow, Arena *arena, Batch **ret_rows)
{
    TRY(flow_runner_checkpoint(flow));
    Table *table = flow_runner_table_state(flow);
    RowList list = {0};
    Error *error = scan_rows(table_store(table), arena, &list);
    if (error == NULL) {
        error = table_decode_rows(table, list.rows, list.count, arena, ret_rows);
    }
    mem_free(list.rows);
    return error;
}
