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

/* A topic that a flow reads as a stream: once, however often its query names it. */
typedef struct ProgramInput {
    const ProgramSource *source;
    const size_t *scans; /* numbers in plan->sources */
    size_t scan_count;
} ProgramInput;

/* A relation that a flow's query reads as it is at an update's start (RU-28). */
typedef struct ProgramStatic {
    const ProgramSource *source;
    size_t scan; /* number in plan->sources */
} ProgramStatic;

typedef struct ProgramTable {
    const BoundTable *bound;
    const TopologyTable *config; /* NULL: all defaults */
    const char *topic;
    const BoundFlow *flow;
    LogicalPlan *plan;
    const ProgramInput *inputs;
    size_t input_count;
    const ProgramStatic *statics;
    size_t static_count;
    struct ProgramTable *states; /* of its operators, as plan->states: tables too, without states */
    size_t state_count;
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

/* Fills in what the table's flow reads and keeps, from its plan. NOT_YET for a relation that a flow
 * cannot read yet (program_flow.c). */
NODISCARD Error *program_load_flow(const Program *program, Arena *arena, ProgramTable *table);
/* A state's topic is nobody else's: not a source's, a table's, nor that of another state. */
NODISCARD Error *program_check_states(const Program *program, const ProgramTable *table);

/* A source's `start` as an instant; a date alone is its midnight in the session zone. False: it is
 * no timestamp (earliest and latest are none). */
bool program_start_time(const TopologySource *config, const TimeZone *zone, int64_t *ret_us);

#endif
