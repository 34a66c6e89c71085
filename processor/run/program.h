/* Program: a topology judged as a whole: sources with their schemas, the SQL bound against them,
 * one logical plan a flow. `validate` and `run` both go through here, so validate finds what run
 * would refuse. Read-only once loaded; lives in the arena given. */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "config/topology.h"
#include "processor/bind/bind.h"
#include "processor/data/datetime.h"
#include "processor/plan/logical.h"

typedef struct ProgramSource {
    const TopologySource *config;
    const Schema *schema;
    const char *topic;
} ProgramSource;

typedef struct ProgramTable {
    const BoundTable *bound;
    const TopologyTable *config; /* NULL: all defaults */
    const char *topic;
    const BoundFlow *flow;
    LogicalPlan *plan;
} ProgramTable;

typedef struct Program {
    const Topology *topology;
    const TimeZone *time_zone;
    Catalog *catalog;
    ProgramSource *sources;
    size_t source_count;
    ProgramTable *tables;
    size_t table_count;
    BoundProgram bound;
} Program;

/* Every mistake goes to `diagnostics`, placed in the user's files; the program is usable only when
 * none was added. Properties for librdkafka are checked by the library itself. */
void program_load(const Topology *topology, Arena *arena, Diagnostics *diagnostics,
                  Program **ret_program);
/* The same over tables that the pipeline has already (run/redefinition.h): their statements
 * redefine them, which keeps their columns and may be refused. */
void program_load_over(const Topology *topology, const Relation *stored, size_t stored_count,
                       Arena *arena, Diagnostics *diagnostics, Program **ret_program);

/* A source's `start` as an instant; a date alone is its midnight in the session zone. False: it is
 * no timestamp (earliest and latest are none). */
bool program_start_time(const TopologySource *config, const TimeZone *zone, int64_t *ret_us);

#endif
