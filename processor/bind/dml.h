/* INSERT, DELETE, UPDATE, MERGE (DM-1 … DM-8): targets, columns, conditions. Not for other rooms.
 */
#ifndef BIND_DML_H
#define BIND_DML_H

#include "processor/bind/bind_query_internal.h"
#include "processor/bind/statement.h"

void bind_insert(Binder *binder, const AstInsert *insert);
void bind_delete(Binder *binder, const AstDelete *delete_);
void bind_update(Binder *binder, const AstUpdate *update);
void bind_merge(Binder *binder, const AstMerge *merge);

/* ---- shared by bind_dml.c and bind_merge.c */

/* The target's columns, as its name or alias qualifies them, from input column `first` on. */
NODISCARD Error *target_scope(Binder *binder, const AstName *name, const AstTableAlias *alias,
                              const Relation *target, uint32_t first, Scope *ret_scope);
/* A condition without aggregates, window functions and generators. */
NODISCARD Error *bind_row_condition(Binder *binder, const Scope *scope, const AstExpr *condition);
/* The same for a value; *ret_type is its type. */
NODISCARD Error *bind_row_value(Binder *binder, const Scope *scope, const AstExpr *value,
                                const Type **ret_type);
/* Can a value of that type be stored in the column? CANNOT_SAFELY_CAST. */
NODISCARD Error *check_assignable(Binder *binder, const Relation *target, const Field *column,
                                  const Type *type, SourcePlace place);
/* SET column = value, … over `scope`; `targets` is what a column's name may mean. */
void bind_assignments(Binder *binder, const Relation *target, const Scope *targets,
                      const Scope *scope, const AstAssignment *assignments, size_t count);
/* (a, b, …) of an INSERT: each a column of the target, none twice; NOT NULL columns are not left
 * out. False when a mistake was reported. */
bool check_insert_columns(Binder *binder, const Relation *target, const AstIdentifierList *columns,
                          SourcePlace place);
/* Values stored one by one into those columns. */
NODISCARD Error *check_value_count(const Relation *target, size_t columns, size_t values,
                                   SourcePlace place);
/* ST-31 */
NODISCARD Error *check_not_append_only(const Relation *target, SourcePlace place, const char *what);

#endif
