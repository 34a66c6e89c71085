/* What the files of this room share. */
#ifndef QUERY_SESSION_INTERNAL_H
#define QUERY_SESSION_INTERNAL_H

#include "processor/query/progress.h"
#include "processor/query/session.h"

typedef struct Input {
    Str name;
    FileTable *table;
    const Schema *schema;
} Input;

struct Session {
    SessionOptions options;
    Arena *arena; /* of names and schemas */
    TimeZone *zone;
    Catalog *catalog;
    Input *inputs; /* by the number of their relation */
    size_t input_count;
    size_t input_capacity;
    Progress progress; /* of the query that runs */
};

/* A SELECT; with `explain` its plan only. */
NODISCARD Error *session_run_query(Session *session, const AstQuery *query, bool explain,
                                   RowWriter *writer);
/* DESCRIBE, SHOW, EXPLAIN, SET; NOT_YET for other statements than those and queries. */
NODISCARD Error *session_run_command(Session *session, const AstStatement *statement,
                                     RowWriter *writer);
/* One statement of any kind. */
NODISCARD Error *session_run_statement(Session *session, const AstStatement *statement,
                                       RowWriter *writer);
BindContext session_bind_context(const Session *session, Arena *arena);

#endif
