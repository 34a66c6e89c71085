/* What table.c and table_restore.c share. */
#ifndef RUN_TABLE_INTERNAL_H
#define RUN_TABLE_INTERNAL_H

#include "processor/run/table.h"

struct Table {
    const ProgramTable *program;
    Arena *arena;
    int partitions;
    SchemaHistory *history;
    TableStore *store;
    Overlay *overlay;
    ProgressDefinition definition;
    bool definition_changed;
    const Field *key_fields; /* flow keys, in declared order */
    size_t key_count;
    const JsonKeyWriter *key_writer;
    const JsonRowWriter *row_writer;
    int64_t *ends; /* a partition: offset behind its last record */
};

#endif
