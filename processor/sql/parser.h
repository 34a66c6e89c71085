/* Parser of the SQL dialect (SQ-1, ST-70): text in, syntax tree (ast.h) out.
 *
 * All memory of a tree lies in `arena`; `text` must outlive the tree, which points into it. Errors
 * carry line, column and length in characters within `text` and a copy of that line for the caret.
 * A `ret_` is written on success only. Thread: any; no state outside the arguments. */
#ifndef SQL_PARSER_H
#define SQL_PARSER_H

#include <stddef.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"
#include "processor/sql/ast.h"

/* A script: statements separated by ';', empty ones are nothing. Syntax errors of several
 * statements are all collected into `diagnostics`: after one the parser goes on behind the next
 * ';'. *ret_script (always written) lists the statements that parsed. */
void sql_parse_script(Str text, Arena *arena, Diagnostics *diagnostics, AstScript **ret_script);
/* One query, whole text (no ';'). */
NODISCARD Error *sql_parse_query(Str text, Arena *arena, AstQuery **ret_query);
/* One expression, whole text. */
NODISCARD Error *sql_parse_expression(Str text, Arena *arena, AstExpr **ret_expr);
/* "a INT, b STRING NOT NULL COMMENT 'x'"; the struct style "a: INT" is read too. */
NODISCARD Error *sql_parse_column_definitions(Str text, Arena *arena,
                                              AstColumnDefinition **ret_columns, size_t *ret_count);
/* One data type, whole text. */
NODISCARD Error *sql_parse_data_type(Str text, Arena *arena, AstDataType **ret_type);

#endif
