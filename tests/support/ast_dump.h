/* A syntax tree as text that names every field that means something: two trees are equal when their
 * dumps are. The dump knows nothing of SQL's spelling, so it is the judge of the printer.
 *
 * Left out are places, spans of text, and whether a name stood in backquotes; all else that ast*.h
 * holds is in it. A dump is one line: (node field=value …); a text is its length and itself,
 * 5:hello. */
#ifndef TESTS_SUPPORT_AST_DUMP_H
#define TESTS_SUPPORT_AST_DUMP_H

#include "processor/base/buffer.h"
#include "processor/sql/ast.h"

/* Each appends to `out`. */
void ast_dump_statement(const AstStatement *statement, Buffer *out);
void ast_dump_query(const AstQuery *query, Buffer *out);
void ast_dump_expr(const AstExpr *expr, Buffer *out);
void ast_dump_data_type(const AstDataType *type, Buffer *out);

#endif
