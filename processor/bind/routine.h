/* The user's functions: CREATE FUNCTION, and every place that names one. Not for other rooms. */
#ifndef BIND_ROUTINE_H
#define BIND_ROUTINE_H

#include "processor/bind/binder.h"

/* Judges the statement and puts the function into the catalog, where what comes later finds it. */
void bind_create_function(Binder *binder, const AstCreateFunction *create);
void bind_drop_function(Binder *binder, const AstDrop *drop);

/* The user's function of that name, or NULL. Not the one that is being made: there is no recursion
 * (SQ-48). */
const Routine *find_routine(const Binder *binder, const AstName *name);
/* A call of it: the arguments are checked, then NOT_YET. */
NODISCARD Error *bind_routine_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                                   const Routine *routine);
/* Built-in or the user's; UNRESOLVED_ROUTINE. */
NODISCARD Error *check_function_exists(Binder *binder, const AstName *name);
/* The first call of a user's function inside the expression, or NULL. */
const AstExpr *find_routine_call(const Binder *binder, const AstExpr *expr);

/* MASK f [USING COLUMNS (…)] of a column, over the table's columns (ST-16). */
NODISCARD Error *check_mask(Binder *binder, const AstRoutine *mask, const Schema *schema,
                            const Field *column);
/* WITH ROW FILTER f ON (…) (ST-43) */
NODISCARD Error *check_row_filter(Binder *binder, const AstRoutine *filter, const Schema *schema);

#endif
