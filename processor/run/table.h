/* Table: a streaming table at run time: its schemas by version, its store and overlay, and the way
 * its rows become records of its topic and back. Thread: the flow's; what takes a const Table, any.
 */
#ifndef RUN_TABLE_H
#define RUN_TABLE_H

#include "connectors/format/format.h"
#include "connectors/log.h"
#include "processor/data/row_encoding.h"
#include "processor/flow/table_delta.h"
#include "processor/run/program.h"
#include "processor/run/progress.h"

typedef struct Table Table;

typedef struct TableOptions {
    const ProgramTable *program;
    const TimeZone *time_zone; /* the session's: of dates that become timestamps */
    bool as_stored; /* under the old definition, whatever the program says: to be emptied */
    int partitions; /* of the topic */
    State *state;
    size_t key_memory;   /* bytes of its key table */
    size_t epoch_memory; /* bytes of an epoch, at most */
    size_t batch_rows;   /* 1 … BATCH_ROWS */
    Arena *arena;        /* of the table: lives as long */
} TableOptions;

/* Progress of a restore, for people. */
typedef struct RestoreProgress {
    Str table;
    uint64_t rows; /* records applied so far */
    uint64_t offsets_done;
    uint64_t offsets_total; /* an estimate of the work: offsets have gaps */
    int64_t elapsed_ms;
    int64_t left_ms; /* estimate, -1: unknown */
    bool finished;
    bool whole; /* from the beginning of the topic; else only what the state lacked */
} RestoreProgress;

/* What the program wants against what is in use: gives the new definition (in the arena of the
 * table) and whether it must be written. FULL_REFRESH_REQUIRED when key or sequence columns changed
 * (RU-55), SCHEMA_MISMATCH when a column did that holds rows (RW-50). `old`: NULL for a new table.
 */
NODISCARD Error *table_open(const TableOptions *options, const ProgressDefinition *old,
                            Table **ret_table);
void table_close(Table *table);

const ProgressDefinition *table_definition(const Table *table, bool *ret_changed);
const SchemaHistory *table_history(const Table *table);
/* The columns of its rows, kept ones too. */
const Schema *table_schema(const Table *table);
Overlay *table_overlay(Table *table);
TableStore *table_store(Table *table);
int table_partitions(const Table *table);

/* Brings the store up to the topic's high watermark of now. A shard whose position is missing,
 * beyond the end or older than half of delete.retention.ms is restored wholly. */
NODISCARD Error *table_restore(Table *table, Log *log, int timeout_ms, int64_t now_us,
                               void (*report)(void *context, const RestoreProgress *progress),
                               void *context);
/* Offsets behind the table's partitions as restored, table_partitions of them. */
const int64_t *table_ends(const Table *table);

/* Appends the message key of a row. */
NODISCARD Error *table_format_key(const Table *table, Str key, uint32_t ordinal, Buffer *out);
/* Decodes encoded rows into a batch of the newest schema. */
NODISCARD Error *table_decode_rows(const Table *table, const Str *rows, size_t count, Arena *arena,
                                   Batch **ret_batch);
/* For the values of its records. */
const JsonRowWriter *table_row_writer(const Table *table);

DEFINE_AUTO(table, Table, table_close)

#endif
