/* Golden files: queries with the answers they must give, readable by whoever knows only SQL.
 *
 *     # sum(DECIMAL(p,s)) has p+10 digits.            comment; empty lines are nothing
 *     time_zone Europe/Oslo                           session zone of what follows (UTC)
 *     clock 2026-03-01T12:00:00Z                      now() of what follows
 *     table t (k STRING, d DECIMAL(5,2))              an inline table, then its rows
 *     a	1.50                                         cells between tabs, NULL is null
 *     query sorted                                    "sorted": the order of rows does not count
 *     SELECT k, d FROM t                              the query, any number of lines
 *     ---- k STRING, d DECIMAL(5,2)                   columns of the answer, then its rows
 *     a	1.50
 *     error [UNRESOLVED_COLUMN.WITH_SUGGESTION] 1:8   class and place (line:column) in the query
 *     SELECT kk FROM t
 *
 * A block ends at an empty line, a comment or the first line of the next block. In a cell \t, \n,
 * \r and \\ stand for what they name and \_ for nothing at all: \_ alone is an empty text, \_NULL
 * the text NULL, and a row that begins with a block's word has it in front.
 * Values are written as CAST to STRING prints them, nested ones and BINARY as in JSON. */
#ifndef TESTING_GOLDEN_FILE_H
#define TESTING_GOLDEN_FILE_H

#include "processor/base/arena.h"
#include "processor/base/error.h"

typedef enum GoldenKind {
    GOLDEN_NOTHING, /* comments and empty lines */
    GOLDEN_TIME_ZONE,
    GOLDEN_CLOCK,
    GOLDEN_TABLE,
    GOLDEN_QUERY,
    GOLDEN_ERROR,
} GoldenKind;

/* A run of lines with one meaning. */
typedef struct GoldenBlock {
    GoldenKind kind;
    size_t first_line; /* from 0; lines [first_line, end_line) */
    size_t end_line;
    Str argument; /* TIME_ZONE, CLOCK: the value; TABLE: its name; ERROR: "[CLASS] line:column" */
    Str columns;  /* TABLE, QUERY: column list */
    bool sorted;
    Str sql;
    size_t sql_end_line; /* behind the query's own lines */
    const Str *rows;     /* TABLE, QUERY: lines of rows as written */
    size_t row_count;
} GoldenBlock;

typedef struct GoldenFile {
    Str *lines; /* without line ends */
    size_t line_count;
    GoldenBlock *blocks; /* in order, covering every line */
    size_t block_count;
} GoldenFile;

/* `text` must outlive the arena. Errors are placed by line. */
NODISCARD Error *golden_file_parse(Str text, Arena *arena, GoldenFile *ret_file);
/* The text of a cell; *ret_null when it is NULL. */
NODISCARD Error *golden_unescape(Str cell, Arena *arena, Str *ret_text, bool *ret_null);
/* Appends a text as a cell. `first`: of its row, where block words would be misread. */
void golden_escape(Str text, bool first, Buffer *out);

#endif
