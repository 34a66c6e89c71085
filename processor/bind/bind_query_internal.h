/* What the files that bind queries share: FROM, SELECT, and what stands around them. */
#ifndef BIND_BIND_QUERY_INTERNAL_H
#define BIND_BIND_QUERY_INTERNAL_H

#include "processor/bind/binder.h"

/* What FROM gives: the rows, and how their columns may be named. node == NULL: a mistake. */
typedef struct FromResult {
    BoundNode *node;
    ScopeRelation relation;
} FromResult;

BoundNode *bound_node_new(Binder *binder, BoundNodeKind kind, const Schema *schema,
                          SourcePlace place);
/* FROM of a SELECT; mistakes go to binder->diagnostics, and it is false then. */
bool bind_from(Binder *binder, const AstSelect *select, FromResult *result);
NODISCARD Error *bind_values(Binder *binder, const AstValues *values, BoundNode **ret_node);
/* Gives the result the names of its alias: t, t(a, b). */
NODISCARD Error *rename_columns(Binder *binder, const AstTableAlias *alias, SourcePlace place,
                                FromResult *result);
/* One SELECT; NULL when there was a mistake. */
BoundNode *bind_select(Binder *binder, const AstSelect *select);

#endif
