/* What the files of the dump share. A field that is absent (NULL, no data, count 0, false, 0) is
 * not written; what is there is written behind its name. */
#ifndef TESTS_SUPPORT_AST_DUMP_INTERNAL_H
#define TESTS_SUPPORT_AST_DUMP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/sql/ast.h"

void dump_open(const char *node, Buffer *out);
void dump_close(Buffer *out);
void dump_flag(const char *field, bool value, Buffer *out);
void dump_number(const char *field, int64_t value, Buffer *out);
void dump_text(const char *field, Str value, Buffer *out);
void dump_identifier(const char *field, const AstIdentifier *identifier, Buffer *out);
void dump_identifiers(const char *field, const AstIdentifier *items, size_t count, Buffer *out);
void dump_list(const char *field, const AstIdentifierList *list, Buffer *out);
void dump_name(const char *field, const AstName *name, Buffer *out);
void dump_expr(const char *field, const AstExpr *expr, Buffer *out);
void dump_exprs(const char *field, AstExpr *const *items, size_t count, Buffer *out);
void dump_type(const char *field, const AstDataType *type, Buffer *out);
void dump_interval(const char *field, const AstInterval *interval, Buffer *out);
void dump_arguments(const char *field, const AstArgument *items, size_t count, Buffer *out);
void dump_sort_items(const char *field, const AstSortItem *items, size_t count, Buffer *out);
void dump_window(const char *field, const AstWindow *window, Buffer *out);
void dump_query(const char *field, const AstQuery *query, Buffer *out);
void dump_alias(const char *field, const AstTableAlias *alias, Buffer *out);
void dump_relation(const char *field, const AstRelation *relation, Buffer *out);

#endif
