/* A syntax tree written back as SQL: one line, keywords in capitals, parentheses only where the
 * tree needs them, names quoted where they must be. Parsing what was printed gives an equal tree,
 * so printing that again gives the same text. */
#ifndef SQL_AST_PRINT_H
#define SQL_AST_PRINT_H

#include "processor/base/buffer.h"
#include "processor/sql/ast.h"

void ast_print_statement(const AstStatement *statement, Buffer *out);
void ast_print_query(const AstQuery *query, Buffer *out);
void ast_print_expr(const AstExpr *expr, Buffer *out);
void ast_print_data_type(const AstDataType *type, Buffer *out);
void ast_print_flow(const AstFlow *flow, Buffer *out);
void ast_print_schedule(const AstSchedule *schedule, Buffer *out);
/* A dotted name, each part quoted where it must be. */
void ast_print_name(const AstName *name, Buffer *out);
void ast_print_identifier(const AstIdentifier *identifier, Buffer *out);
/* 'text' with escapes. */
void ast_print_string(Str value, Buffer *out);
/* The name Spark gives a select item without alias: SEQ + 1 is (SEQ + 1), a.b is b, cast(x as int)
 * is CAST(x AS INT), count(*) is count(1). Literals lose their quotes. */
void ast_print_column_name(const AstExpr *expr, Buffer *out);

#endif
