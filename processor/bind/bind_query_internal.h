/* What the files that bind queries share: FROM, SELECT, and what stands around them. */
#ifndef BIND_BIND_QUERY_INTERNAL_H
#define BIND_BIND_QUERY_INTERNAL_H

#include "processor/bind/binder.h"

/* What FROM gives: the rows, and how their columns may be named. node == NULL: a mistake. */
typedef struct FromResult {
    BoundNode *node;
    Scope scope;
} FromResult;

BoundNode *bound_node_new(Binder *binder, BoundNodeKind kind, const Schema *schema,
                          SourcePlace place);
/* FROM of a SELECT; mistakes go to binder->diagnostics, and it is false then. */
bool bind_from(Binder *binder, const AstSelect *select, FromResult *result);
NODISCARD Error *bind_values(Binder *binder, const AstValues *values, BoundNode **ret_node);
/* Gives the result the names of its alias: t, t(a, b). */
NODISCARD Error *rename_columns(Binder *binder, const AstTableAlias *alias, SourcePlace place,
                                FromResult *result);

/* A generator's call, explode(x), as it stands in FROM or is a whole SELECT item. */
typedef struct BoundGenerator {
    const Function *function;
    bool outer;            /* a row of NULLs where it gives none */
    BoundExpr **arguments; /* over the columns of the scope, of the wanted types */
    size_t argument_count;
    const Field *fields; /* what it gives */
    size_t field_count;
    size_t first_item; /* its first column in the SELECT list */
    SourcePlace place;
} BoundGenerator;

/* Is the expression as a whole a generator's call? (A call deeper inside of it is refused by
 * bind_expr.) */
bool is_generator_call(const Binder *binder, const AstExpr *expr);
/* Binds the call; `aliases` rename its columns (none: as the function names them). */
NODISCARD Error *bind_generator(Binder *binder, const Scope *scope, const AstExpr *call,
                                const AstIdentifier *aliases, size_t alias_count,
                                BoundGenerator *ret);
/* GENERATE over `child`: its columns, then the generator's. */
BoundNode *bound_generate(Binder *binder, BoundNode *child, const BoundGenerator *generator);
/* Of a SELECT list: GENERATE over `child`, and the expressions of the generator's columns (from
 * first_item on). */
BoundNode *bound_select_generate(Binder *binder, BoundNode *child, const BoundGenerator *generator,
                                 BoundExpr **expressions);

/* One SELECT; NULL when there was a mistake. */
BoundNode *bind_select(Binder *binder, const AstSelect *select);

#endif
