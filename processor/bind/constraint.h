/* PRIMARY KEY and FOREIGN KEY: informational, never enforced (ST-14, ST-15). Not for other rooms.
 */
#ifndef BIND_CONSTRAINT_H
#define BIND_CONSTRAINT_H

#include "processor/bind/binder.h"

/* What needs no columns: where constraints may stand, how many, their names and options. What is
 * right is NOT_YET. */
void check_constraints(Binder *binder, const AstCreateStreamingTable *create);
/* Their columns, over the table's; the tables and columns they refer to. */
void check_constraint_columns(Binder *binder, const AstCreateStreamingTable *create,
                              const Schema *schema);

#endif
