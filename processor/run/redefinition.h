/* Redefinition: a program over the tables its pipeline has already. What is stored of a table is a
 * record of the progress topic; its statement is bound against that, so that its columns stay and
 * widen (RW-50) and other keys are refused (RU-55). A table that a full refresh builds anew is
 * bound as if it had never been. */
#ifndef RUN_REDEFINITION_H
#define RUN_REDEFINITION_H

#include "processor/run/program.h"
#include "processor/run/progress.h"

typedef struct StoredTable {
    bool known;     /* the pipeline has it */
    bool resetting; /* a full refresh of it has begun and is not done: it is built anew */
    ProgressDefinition definition;
    const ProgressState *states; /* of its flow's operators */
    size_t state_count;
} StoredTable;

/* One a table of the program, as committed by now. The topic may be missing: then all are new. */
NODISCARD Error *stored_tables_read(Log *log, const Program *program, int timeout_ms, Arena *arena,
                                    StoredTable **ret_stored);

/* The program as it runs over them: itself where nothing comes of it, else loaded again in `arena`
 * (tables and sources have the same numbers). rebuilt[i]: what is stored of table i does not count;
 * NULL: of none. The first mistake is returned, in the user's file. */
NODISCARD Error *program_over_stored(const Program *program, const StoredTable *stored,
                                     const bool *rebuilt, Arena *arena,
                                     const Program **ret_program);

/* What the program means to one table. */
typedef enum RedefinitionKind {
    REDEFINITION_NEW,
    REDEFINITION_NONE,
    REDEFINITION_COMPATIBLE,
    REDEFINITION_FULL_REFRESH, /* is refused unless the table is built anew */
    REDEFINITION_REFUSED,      /* a column's values would not fit, or a full refresh is forbidden */
} RedefinitionKind;

typedef struct Redefinition {
    RedefinitionKind kind;
    Str *changes; /* COMPATIBLE: for people, one a line */
    size_t change_count;
    Diagnostics reasons; /* FULL_REFRESH, REFUSED: of the caller, diagnostics_done */
} Redefinition;

const char *redefinition_name(RedefinitionKind kind);
/* program->tables[index] against what is stored of it. */
NODISCARD Error *redefinition_judge(const Program *program, size_t index, const StoredTable *stored,
                                    Arena *arena, Redefinition *ret_redefinition);

/* The whole program against the running pipeline, for people: a paragraph a table, and the tables
 * it no longer has. *ret_good: nothing needs a full refresh or is refused. */
NODISCARD Error *redefinition_report(const Program *program, Log *log, int timeout_ms, Buffer *out,
                                     bool *ret_good);

/* pipelines.reset.allowed = 'false' (ST-30): RESET_NOT_ALLOWED. */
NODISCARD Error *check_reset_allowed(const ProgramTable *table);

#endif
