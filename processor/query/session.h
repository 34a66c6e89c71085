/* Ad-hoc queries: relations in files, and statements over them, one after the other. What `tidemark
 * query` does between its arguments and its output. Thread: one. */
#ifndef QUERY_SESSION_H
#define QUERY_SESSION_H

#include "connectors/file/file_table.h"
#include "processor/bind/bind.h"
#include "processor/exec/query.h"
#include "processor/query/row_writer.h"

typedef struct SessionOptions {
    Str time_zone;           /* of the session; STR_NULL: UTC */
    Clock clock;             /* now() of each statement */
    size_t memory_bytes;     /* what operators may hold together */
    const char *spill_dir;   /* for what goes beyond */
    unsigned threads;        /* that decode; 0: as many as there are cores */
    const bool *interrupted; /* set by a signal */
    bool explain;            /* show plans, run nothing */
    bool show_progress;      /* a line on stderr while a query takes long */
    bool rows_on_terminal;   /* then it goes before the first row */
    CsvHeader csv_header;    /* as in FileOptions */
    char csv_separator;
} SessionOptions;

typedef struct Session Session;

NODISCARD Error *session_open(const SessionOptions *options, Session **ret_session);
void session_close(Session *session);
const TimeZone *session_time_zone(const Session *session);
/* NAME=FILE[,COLUMNS]: a relation of that name in these files, its columns as in CREATE TABLE or,
 * when there are none, inferred. USAGE, syntax of the columns, PATH_NOT_FOUND and what reading
 * gives. */
NODISCARD Error *session_add_input(Session *session, Str input);
/* Runs the statements of a script in order until one fails; rows go to `writer`. All syntax errors
 * are found before the first statement runs, and added to `diagnostics` as the error of the one
 * that failed is. Placed errors count in `script`. True when all went well. */
bool session_run_script(Session *session, Str script, RowWriter *writer, Diagnostics *diagnostics);

DEFINE_AUTO(session, Session, session_close)

#endif
