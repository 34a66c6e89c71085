/* Statements other than CREATE STREAMING TABLE and CREATE FLOW: what judges them, one file a
 * family. Mistakes go to binder->diagnostics. A statement without a mistake is not built yet, which
 * is told last (NOT_YET naming it), so that whoever meets NOT_YET knows that the rest is right. Not
 * for other rooms. */
#ifndef BIND_STATEMENT_H
#define BIND_STATEMENT_H

#include "processor/bind/binder.h"

/* Any statement but CREATE STREAMING TABLE and CREATE FLOW. */
void bind_statement(Binder *binder, const AstStatement *statement);
/* "INSERT", "CREATE VIEW": for messages. */
const char *statement_name(const AstStatement *statement);

/* The streaming table that a statement changes. TABLE_OR_VIEW_NOT_FOUND; a source or a view is
 * UNSUPPORTED_FEATURE.TABLE_OPERATION, naming the statement `what`. */
NODISCARD Error *find_target(Binder *binder, const AstName *name, const char *what,
                             const Relation **ret_target);

/* bind_manage.c */
void bind_refresh(Binder *binder, const AstRefresh *refresh);
void bind_alter(Binder *binder, const AstAlter *alter);
void bind_drop_table(Binder *binder, const AstDrop *drop);
/* bind_inspect.c */
void bind_describe(Binder *binder, const AstDescribe *describe);
void bind_show(Binder *binder, const AstShow *show);
/* bind_setting.c */
void bind_set_statement(Binder *binder, const AstSet *set);

#endif
