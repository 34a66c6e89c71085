/* What the files of the printer share. */
#ifndef SQL_AST_PRINT_INTERNAL_H
#define SQL_AST_PRINT_INTERNAL_H

#include "processor/base/buffer.h"
#include "processor/sql/ast.h"
#include "processor/sql/ast_print.h"

/* " WHERE " and the expression, when there is one. */
void print_condition(const char *words, const AstExpr *expr, Buffer *out);
/* " COMMENT " and the text, when there is one. */
void print_text(const char *words, const AstString *string, Buffer *out);
/* ", " before every item but the first. */
void print_list_separator(Buffer *out, size_t i);
void print_exprs(AstExpr *const *items, size_t count, Buffer *out);
void print_identifiers(const AstIdentifierList *list, Buffer *out);
/* "(a, b)" */
void print_columns(const AstIdentifierList *list, Buffer *out);
void print_arguments(const AstArgument *items, size_t count, Buffer *out);
void print_sort_items(const AstSortItem *items, size_t count, Buffer *out);
void print_sort_direction(const AstSortItem *item, Buffer *out);
void print_window_definition(const AstWindow *window, Buffer *out);
void print_named_windows(const AstNamedWindow *items, size_t count, Buffer *out);
void print_literal(const AstLiteral *literal, Buffer *out);
void print_interval(const AstInterval *interval, Buffer *out);
void print_relation(const AstRelation *relation, Buffer *out);
void print_table_alias(const AstTableAlias *alias, Buffer *out);
void print_properties(const AstProperty *items, size_t count, Buffer *out);
void print_table_clauses(const AstTableClause *items, size_t count, Buffer *out);
void print_column_definition(const AstColumnDefinition *column, Buffer *out);
void print_constraint(const AstConstraint *constraint, Buffer *out);
void print_routine_arguments(const AstRoutine *routine, Buffer *out);
void print_mask(const AstRoutine *routine, Buffer *out);
void print_create_streaming_table(const AstCreateStreamingTable *create, Buffer *out);
void print_create_flow(const AstCreateFlow *create, Buffer *out);
/* DAY of AST_UNIT_DAY. */
const char *interval_unit_name(AstIntervalUnit unit);
/* "+" of AST_BINARY_ADD. */
const char *binary_operator_text(AstBinaryOperator operator_);

#endif
