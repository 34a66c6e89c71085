/* What the files of bind_program share: the statements of some scripts, and which tables, flows and
 * views they make. Not for other rooms. */
#ifndef BIND_PROGRAM_H
#define BIND_PROGRAM_H

#include "processor/base/map.h"
#include "processor/bind/view.h"

typedef struct Statement {
    size_t script;
    const AstStatement *ast;
    Diagnostics diagnostics;
} Statement;

typedef enum TableState { TABLE_NEW, TABLE_BINDING, TABLE_BOUND, TABLE_FAILED } TableState;

typedef struct ProgramFlow ProgramFlow;

typedef struct ProgramTable {
    Statement *statement;
    const AstCreateStreamingTable *create;
    Str parts[3];
    size_t part_count;
    TableState state;
    ProgramFlow *flows; /* in order of statements */
    Relation relation;
    BoundTable bound;
} ProgramTable;

struct ProgramFlow {
    Statement *statement;
    FlowKind kind;
    const AstFlow *ast;    /* NULL: AS query */
    const AstQuery *query; /* NULL: AUTO CDC */
    Str name;
    SourcePlace place;
    ProgramTable *table;     /* NULL: of another pipeline, … */
    const Relation *foreign; /* … this one, when there is such a table */
    ProgramFlow *next;       /* of the same table */
    bool refused;            /* by pass 1 */
    BoundFlow bound;
};

struct Program {
    const BindContext *context;
    Statement *statements;
    size_t statement_count;
    ProgramTable *tables;
    size_t table_count;
    ProgramFlow *flows;
    size_t flow_count;
    View *views;
    size_t view_count;
    Map tables_by_name; /* full name -> ProgramTable */
    Map views_by_name;  /* full name -> View */
    int chain;          /* tables and views being bound inside each other */
};

/* Adds the mistake to the statement's; true when there was none (NULL). */
static inline bool statement_report(Statement *statement, Error *error)
{
    diagnostics_add(&statement->diagnostics, error);
    return error == NULL;
}

/* Pass 1 (program_collect.c): tables, flows and views of the statements listed. */
void program_collect(Program *program);
/* The table of that name, or NULL. */
ProgramTable *program_find_table(const Program *program, const AstName *name);

/* Pass 2 (program_tables.c): a table with its clauses and flows; a flow into a table of another
 * pipeline. */
void program_bind_table(Program *program, ProgramTable *table);
void program_bind_foreign_flow(Program *program, ProgramFlow *flow);
/* What binds something of the statement. */
Binder program_binder(Program *program, Statement *statement);

#endif
