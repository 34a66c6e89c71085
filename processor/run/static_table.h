/* StaticTable: a relation of latest values (`kind: table`, KM-2) as it is at one moment: what a
 * flow joins its stream with (RU-28). Its topic is folded by message key, a record without a value
 * removes its key. Held in memory. Thread: the flow's. */
#ifndef RUN_STATIC_TABLE_H
#define RUN_STATIC_TABLE_H

#include "connectors/log.h"
#include "processor/data/batch_source.h"
#include "processor/run/program.h"

typedef struct StaticTable StaticTable;

typedef struct StaticTableOptions {
    Log *log;
    const ProgramSource *source;
    const LogicalSource *scan; /* the columns that are read */
    const TimeZone *time_zone;
    int timeout_ms;
    /* A record that is no row, with its error: the row its key had stays. NULL: it is skipped
     * silently. */
    void (*on_bad)(void *context, const LogRecord *record, const Error *error);
    void *context;
} StaticTableOptions;

/* Empty; `options` are copied, what they name must outlive it. */
NODISCARD Error *static_table_open(const StaticTableOptions *options, StaticTable **ret_table);
void static_table_close(StaticTable *table);
/* Brings it up to the topic's last stable offsets of now. *ret_changed: it has other rows. With
 * on_error: fail of the source the first bad record is the error. */
NODISCARD Error *static_table_refresh(StaticTable *table, bool *ret_changed);
/* All its rows, as columns of the scan; it must not be refreshed before that is closed. */
BatchSource *static_table_rows(StaticTable *table);
size_t static_table_bytes(const StaticTable *table);

#endif
