/* What table.c and table_restore.c share. */
#ifndef RUN_TABLE_INTERNAL_H
#define RUN_TABLE_INTERNAL_H

#include "processor/run/table.h"
#include "processor/run/table_key.h"

struct Table {
    const ProgramTable *program;
    Arena *arena;
    int partitions;
    SchemaHistory *history;
    TableStore *store;
    Overlay *overlay;
    ProgressDefinition definition;
    bool definition_changed;
    const TimeZone *zone;      /* the session's */
    const TimeZone *date_zone; /* dates of older versions are timestamps in it */
    const Schema **versions;   /* of the definition; the last one is `schema` */
    const Schema *schema;
    uint32_t *keys; /* flow keys, in declared order: columns of `schema` */
    size_t key_count;
    uint32_t sequence; /* likewise */
    const TableKey *key;
    const JsonRowWriter *row_writer;
    int64_t *ends; /* a partition: offset behind its last record */
};

#endif
