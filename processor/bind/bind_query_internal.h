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
/* FROM of a SELECT with its LATERAL VIEWs; mistakes go to binder->diagnostics, and it is false
 * then. */
bool bind_from(Binder *binder, const AstSelect *select, FromResult *result);
/* One relation with its alias, joins aside. */
bool bind_relation(Binder *binder, const AstRelation *relation, FromResult *result);
/* Joins *left with the join's relation: columns of both, those of USING once. */
bool bind_join(Binder *binder, const AstJoin *join, FromResult *left);
/* WATERMARK over the relation so far; false when it has a mistake. */
bool bind_watermark(Binder *binder, const AstWatermark *watermark, FromResult *result);
/* read_files(…), read_kafka(…) */
bool is_read_function(const AstRelation *ast);
NODISCARD Error *bind_read_function(Binder *binder, const AstRelation *ast, FromResult *result);
/* STREAM where tables are read only. */
NODISCARD Error *check_batch_reader(const Binder *binder, const AstRelation *ast);
/* Gives the result the names of its alias: t, t(a, b). */
NODISCARD Error *rename_columns(Binder *binder, const AstTableAlias *alias, SourcePlace place,
                                FromResult *result);
NODISCARD Error *bind_values(Binder *binder, const AstValues *values, const AstTableAlias *alias,
                             BoundNode **ret_node);
/* STATEMENT_TOO_COMPLEX when the query so far and `columns` more are too many: each reference to a
 * name of WITH repeats what stands behind it. */
NODISCARD Error *binder_grow(Binder *binder, size_t columns, SourcePlace place);

/* A name of WITH in force. */
typedef struct CommonTable {
    Str name;
    BoundNode *node;          /* shared by all references */
    const Schema *schema;     /* its columns as they are named: name(a, b) */
    OutputNames names;        /* of the query; schema NULL: nothing is known */
    size_t weight;            /* of binder_grow: what a reference repeats */
    struct OuterQuery *outer; /* the query around it, when it names columns of that; else NULL */
    const struct CommonTable *next;
} CommonTable;

/* The condition of a join: BOOLEAN, without aggregates and their like. */
NODISCARD Error *bind_join_condition(Binder *binder, const Scope *scope, const AstExpr *on,
                                     BoundExpr **ret);

/* Puts the names of WITH in force (binder->common_tables); false when one has a mistake. */
bool bind_common_tables(Binder *binder, const AstQuery *query);
/* The name of WITH that a relation's name means, or NULL. */
const CommonTable *find_common_table(const Binder *binder, const AstName *name);
NODISCARD Error *bind_common_table(Binder *binder, const CommonTable *table, const AstRelation *ast,
                                   FromResult *result);

/* UNION, INTERSECT, EXCEPT; NULL when there was a mistake. */
BoundNode *bind_set(Binder *binder, const AstQueryTerm *term);
BoundNode *bind_term(Binder *binder, const AstQueryTerm *term);
/* Every row once. SET_OPERATION_ON_MAP. */
NODISCARD Error *bound_distinct(Binder *binder, BoundNode *child, SourcePlace place,
                                BoundNode **ret_node);
/* Levels and nodes of the query, expressions included (shared ones as often as they are reached).
 * STATEMENT_TOO_COMPLEX beyond BOUND_HEIGHT_MAX, BOUND_NODES_MAX. */
NODISCARD Error *query_size(const BoundNode *query, uint32_t *ret_height, uint32_t *ret_nodes);

/* range(…), explode(…) in FROM. */
NODISCARD Error *bind_table_function(Binder *binder, const AstRelation *ast, FromResult *result);
NODISCARD Error *bind_range(Binder *binder, const AstRelation *ast, FromResult *result);
/* LATERAL before a generator that can be a GENERATE over the left relation. */
bool is_lateral_generator(const Binder *binder, const AstJoin *join);
NODISCARD Error *bind_lateral_generator(Binder *binder, const AstJoin *join, FromResult *left);
/* Is the relation a call of a generator? */
bool is_generator_relation(const Binder *binder, const AstRelation *relation);
/* GENERATOR_OUTSIDE_SELECT; `where` names the clause. */
NODISCARD COLD RETURNS_NONNULL Error *generator_outside_select(Binder *binder, const AstExpr *call,
                                                               const char *where);
/* CORRELATED_REFERENCE: where a subquery's query must not name outer columns. */
NODISCARD Error *check_correlation(const BoundNode *node);
/* The first mistake in reading order (at least one), one that is not NOT_YET before others. */
RETURNS_NONNULL Error *diagnostics_first(Diagnostics *diagnostics);
/* bound_new for a node that holds a query of that size. */
NODISCARD Error *bound_new_around(Binder *binder, const BoundExpr *pattern, BoundExpr **children,
                                  size_t child_count, uint32_t query_height, uint32_t query_nodes,
                                  BoundExpr **ret);
/* Of a condition of a join: CORRELATED_SCALAR_SUBQUERY. */
NODISCARD Error *check_no_correlated_scalar(const BoundExpr *expr);
/* Of a sort key, which may hold no subquery but a scalar one of its own. */
NODISCARD Error *check_sort_subqueries(const BoundExpr *expr);
NODISCARD Error *bind_lateral_view(Binder *binder, const AstLateralView *view, FromResult *from);

/* A generator's call, explode(x), as it stands in FROM or is a whole SELECT item. */
typedef struct BoundGenerator {
    const Function *function;
    bool outer;            /* a row of NULLs where it gives none */
    BoundExpr **arguments; /* over the columns of the scope, of the wanted types */
    size_t argument_count;
    const Field *fields; /* what it gives */
    size_t field_count;
    size_t first_item;           /* its first column in the SELECT list */
    struct BoundGenerator *next; /* of the same list: gives its rows for each row of this one */
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

/* One SELECT, with the ORDER BY and WINDOW of the query whose body it is (NULL: part of a set
 * operation). NULL when there was a mistake. */
BoundNode *bind_select(Binder *binder, const AstSelect *select, const AstQuery *around);
/* ORDER BY of a query whose body is no SELECT: over the columns of `node`. */
BoundNode *bind_order_by(Binder *binder, const AstQuery *query, BoundNode *node);

#endif
