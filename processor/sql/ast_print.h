/* A syntax tree written back as SQL: one line, keywords in capitals, parentheses only where the
 * tree needs them, names quoted where they must be. Parsing what was printed gives an equal tree,
 * so printing that again gives the same text. */
#ifndef SQL_AST_PRINT_H
#define SQL_AST_PRINT_H

#include "processor/base/buffer.h"
#include "processor/sql/ast.h"

/* Each appends its part of a statement. */
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
/* How many leading parts of a column's name are not a part of what Spark shows: t of t.a, nothing
 * of a struct's s.a. `context` is the caller's. */
typedef size_t (*AstQualifierParts)(void *context, const AstName *name);
/* The columns "a, b" of the query around it that a subquery names: scalarsubquery(a, b). */
typedef Str (*AstOuterColumns)(void *context, const AstExpr *subquery);
/* The name Spark 4 gives a select item without alias: SEQ + 1 is (SEQ + 1), t.a is a, cast(x + 1 as
 * int) is CAST((x + 1) AS INT), count(*) is count(1), 'x' is x. `qualifier_parts` NULL: all parts
 * but the last are left out; `outer_columns` NULL: subqueries are shown without them. Names that depend on types (date + interval) are as for numbers. */
void ast_print_column_name_with(const AstExpr *expr, AstQualifierParts qualifier_parts,
                                AstOuterColumns outer_columns, void *context, Buffer *out);
void ast_print_column_name(const AstExpr *expr, Buffer *out);

#endif
