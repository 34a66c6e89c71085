/* What the files of this room share: the Binder (one program or one query being bound), scopes, and
 * the entry points of expressions, queries and checks. Not for other rooms. */
#ifndef BIND_BINDER_H
#define BIND_BINDER_H

#include "processor/bind/bind.h"

/* A bound expression is never higher than this, so that walking it by recursion is safe, and never
 * has more nodes than that, shared ones counted as often as they are reached. */
enum { BOUND_HEIGHT_MAX = 2000, BOUND_NODES_MAX = 1000000 };

typedef struct Program Program;
typedef struct StepNote StepNote;

/* What the names of the columns of a SELECT or set operation keep: the relations plain columns came
 * from, and for a column that stands there twice the place where it stands first. */
typedef struct OutputNames {
    const Schema *schema; /* of the node they are of */
    const struct ScopeQualifier *const *qualifiers;
    const uint32_t *firsts; /* NULL: no column stands there twice */
} OutputNames;

typedef struct Binder {
    const BindContext *context;
    Arena *arena;
    Diagnostics *diagnostics; /* mistakes that leave the rest worth looking at */
    Program *program;         /* NULL: a query of its own */
    bool flow_query;          /* STREAM may be read; output columns are spelled as declared */
    struct OuterQuery *outer; /* what a subquery may name of the query around it; or NULL */
    const struct CommonTable *common_tables; /* names of WITH in force, innermost first */
    size_t weight;                           /* see binder_grow */
    struct SubqueryText *subquery_texts;     /* how correlated subqueries are shown */
    const StepNote *step_notes;              /* how operators with dates are shown, see note_step */
    bool no_subqueries;                      /* an expression without a query around it */
    const struct LambdaScope *lambda;        /* parameters of the lambdas around, innermost first */
    uint32_t parameter_count;                /* of the lambdas around */
    OutputNames output;                      /* of the SELECT or set operation bound last */
    const char *batch_reader; /* "INSERT": what reads tables and no STREAM; NULL: anything */
    Str defined_routine;      /* full name of the function whose body is bound; data NULL: none */
} Binder;

/* ---------------------------------------------------------------- scope --- */

/* Name parts that may stand before a relation's columns, as `a.b.c`. */
typedef struct ScopeQualifier {
    Str parts[3];
    size_t part_count;
} ScopeQualifier;

/* A column that may be named: column `column` of the node's input. */
typedef struct ScopeColumn {
    const Field *field;              /* its name and type; NOT NULL as outer joins leave it */
    const ScopeQualifier *qualifier; /* NULL: of no relation (USING of a FULL JOIN) */
    uint32_t column;
    bool hidden; /* the other column of USING: `t.k` and `t.*` mean it, `k` and `*` don't */
} ScopeColumn;

/* What names mean at a place of a query. The columns stand in the order of `*`; hidden ones come
 * first, as `t.*` shows them. Names of the query around are found through Binder.outer. */
typedef struct Scope {
    const ScopeColumn *columns;
    size_t column_count;
    const struct SelectScope *select; /* of a SELECT's clause: aliases, aggregates; or NULL */
} Scope;

typedef struct ScopeMatch {
    uint32_t column;
    const Field *field;
    size_t used_parts; /* name parts that named the column; the rest are struct fields */
} ScopeMatch;

/* The column a dotted name means: qualifiers first, then a bare column with struct fields behind.
 * *ret_found is false when nothing fits. AMBIGUOUS_REFERENCE. */
NODISCARD Error *scope_find(const Scope *scope, const AstName *name, bool *ret_found,
                            ScopeMatch *ret_match);
/* Is the column one that `qualifier.*` (`*`: no parts) means? */
bool scope_star_matches(const ScopeColumn *column, const AstName *qualifier);
/* All columns of `schema`, the columns first … of the input, under one qualifier (NULL: none). */
Scope scope_of_schema(Arena *arena, const Schema *schema, const ScopeQualifier *qualifier,
                      uint32_t first);
/* The columns of a query in FROM: one that stands there twice is one column. */
Scope scope_of_output(const Binder *binder, const Schema *schema, const ScopeQualifier *qualifier);
/* The scope column of input column `column`; NULL when no name means it. */
const ScopeColumn *scope_column_at(const Scope *scope, uint32_t column);
/* UNRESOLVED_COLUMN with the nearest names of the scope. */
NODISCARD COLD RETURNS_NONNULL Error *scope_unresolved(const Scope *scope, const AstName *name);
/* The same for a column of a schema, outside of expressions (key lists). */
NODISCARD COLD RETURNS_NONNULL Error *schema_unresolved(const Schema *schema,
                                                        const AstIdentifier *name);

/* ------------------------------------------------------------- literals --- */

/* A literal as written; `negative`: a minus stands before it, so that the smallest integer fits. */
NODISCARD Error *bind_literal(Binder *binder, const AstExpr *expr, bool negative, BoundExpr **ret);
NODISCARD Error *bind_interval_literal(Binder *binder, const AstExpr *expr, BoundExpr **ret);
/* Is the text a date or time in words, 'today', 'epoch'? Then the expression it means. */
bool is_special_time(Str text, const Type *type);
/* Is it a string literal that is one, once it becomes a `type`? */
bool means_special_time(const BoundExpr *expr, const Type *type);
NODISCARD Error *bind_special_time(Binder *binder, Str text, const Type *type,
                                   const BoundExpr *place, BoundExpr **ret);
/* NULL of any type. */
NODISCARD Error *bind_interval_literal(Binder *binder, const AstExpr *expr, BoundExpr **ret);
BoundExpr *bound_null(Arena *arena, const Type *type, SourcePlace place);
BoundExpr *bound_boolean(Arena *arena, bool value, SourcePlace place);
bool bound_is_null_literal(const BoundExpr *expr);
/* An integral literal as the DECIMAL with just its digits (Spark's DecimalType.fromLiteral). */
BoundExpr *bound_literal_to_decimal(Arena *arena, const BoundExpr *literal);

/* ---------------------------------------------------------- expressions --- */

/* Binds one expression, all its parts included; the first mistake is returned. */
NODISCARD Error *bind_expr(Binder *binder, const Scope *scope, const AstExpr *expr,
                           BoundExpr **ret);
/* A condition: BOOLEAN, or FILTER_NOT_BOOLEAN. */
NODISCARD Error *bind_condition(Binder *binder, const Scope *scope, const AstExpr *expr,
                                BoundExpr **ret);
/* New node; sets its height and counts its nodes. STATEMENT_TOO_COMPLEX beyond the limits. */
NODISCARD Error *bound_new(Binder *binder, const BoundExpr *pattern, BoundExpr **children,
                           size_t child_count, BoundExpr **ret);
/* Differs only where expressions do: what bound_equal looks at first. */
uint64_t bound_digest(const BoundExpr *expr);
/* After the children were set. */
void bound_set_digest(BoundExpr *expr);
/* A CAST where the type differs; a bare NULL becomes a NULL of the type. */
NODISCARD Error *bound_cast(Binder *binder, BoundExpr *expr, const Type *type, BoundExpr **ret);
/* CAST(… AS type), TRY_CAST, `::`; check_cast says why there is no such cast. */
NODISCARD Error *bind_cast(Binder *binder, const Scope *scope, const AstExpr *expr,
                           BoundExpr **ret);
NODISCARD Error *check_cast(Binder *binder, const Type *from, const Type *to, bool try_,
                            const BoundExpr *pattern);
/* Column `column` of the input. */
BoundExpr *bound_column(Arena *arena, const Field *field, uint32_t column, SourcePlace place);
/* The name Spark shows for an expression; the source text where that would be long. */
Str bound_text(Binder *binder, const AstExpr *expr);

/* f(…) and the special forms (EXTRACT, TRIM …): the function of the catalog, its arguments cast. */
NODISCARD Error *bind_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                           BoundExpr **ret);
/* EXTRACT(field FROM x) and date_part(field, x): the function of that field. INVALID_EXTRACT_FIELD.
 */
NODISCARD Error *bind_extract(Binder *binder, const Scope *scope, const AstExpr *expr,
                              BoundExpr **ret);
NODISCARD Error *bind_date_part(Binder *binder, BoundExpr **arguments, const BoundExpr *pattern,
                                BoundExpr **ret);
/* timestampadd(unit, …), timestampdiff(unit, …) and their other names, when the call is one. */
NODISCARD Error *bind_unit_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                                bool *ret_is_one, BoundExpr **ret);
/* WRONG_NUM_ARGS when the function takes not that many. */
/* EXTRACT(field FROM x) and date_part(field, x): the function of that field. INVALID_EXTRACT_FIELD.
 */
NODISCARD Error *bind_extract(Binder *binder, const Scope *scope, const AstExpr *expr,
                              BoundExpr **ret);
NODISCARD Error *bind_date_part(Binder *binder, BoundExpr **arguments, const BoundExpr *pattern,
                                BoundExpr **ret);
/* timestampadd(unit, …), timestampdiff(unit, …) and their other names, when the call is one. */
NODISCARD Error *bind_unit_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                                bool *ret_is_one, BoundExpr **ret);
NODISCARD Error *check_argument_count(const Function *function, size_t count, SourcePlace place);
/* A call of a higher-order function: its lambdas are bound with the types the function gives them.
 */
NODISCARD Error *bind_higher_order(Binder *binder, const Scope *scope, const AstExpr *expr,
                                   const Function *function, BoundExpr **ret);
/* `base.name` where base is an ARRAY of STRUCTs (the field of every element) or a MAP (the value of
 * that key). */
NODISCARD Error *bind_part_by_name(Binder *binder, BoundExpr *base, const AstIdentifier *name,
                                   const BoundExpr *pattern, BoundExpr **ret);
/* The lambda's parameter that the first part of a name means; NULL when it means none. */
BoundExpr *bind_parameter(const Binder *binder, const AstExpr *expr);
/* What stands where no lambda may: INVALID_LAMBDA_FUNCTION_CALL. */
NODISCARD COLD RETURNS_NONNULL Error *lambda_misplaced(SourcePlace place);
/* Calls a function of the catalog, e.g. an operator, with bound arguments. `expr` is the place and
 * text for messages. */
NODISCARD Error *bind_function(Binder *binder, Str name, BoundExpr **arguments,
                               size_t argument_count, const BoundExpr *pattern, BoundExpr **ret);
/* The expressions in `slots` cast to their common type; DATA_DIFF_TYPES naming `function`. */
NODISCARD Error *bind_common_type(Binder *binder, BoundExpr ***slots, size_t count,
                                  const char *function, const BoundExpr *pattern,
                                  const Type **ret_type);
/* AND, OR, NOT and conditions: BOOLEAN, a NULL or a STRING to be cast; else an error. */
NODISCARD Error *bind_boolean(Binder *binder, BoundExpr *expr, const BoundExpr *parent,
                              const char *parameter, BoundExpr **ret);
/* STRUCT of bound values; names as struct(a, b AS x) gives them. */
NODISCARD Error *bind_struct(Binder *binder, const Scope *scope, const AstExpr *expr,
                             BoundExpr **ret);
/* `base.name` where base is bound: a struct's field. */
NODISCARD Error *bind_field(Binder *binder, BoundExpr *base, const AstIdentifier *name,
                            const BoundExpr *pattern, BoundExpr **ret);
/* The name of an item without alias: a column's name or Spark's text. `bound` is `expr` bound. */
Str bind_output_name(Binder *binder, const Scope *scope, const AstExpr *expr,
                     const BoundExpr *bound);
/* Notes how bind_output_name shows an operator between these types. */
void note_step(Binder *binder, const AstBinaryStep *step, const Type *left, const Type *right);
/* The name as an alias or output column of the SELECT, where its clause allows that; asked once
 * before columns are looked at and once after. *ret stays NULL when it means none. */
NODISCARD Error *bind_alias(Binder *binder, const Scope *scope, const AstExpr *expr,
                            bool before_columns, size_t *ret_used_parts, BoundExpr **ret);
/* Does the name mean an alias of the SELECT list so far, when no column bears it? */
bool names_lateral_alias(const Scope *scope, const AstName *name);
/* The window that OVER w means; NULL when there is no such window. */
const AstWindow *scope_named_window(const Scope *scope, const AstWindow *over);
/* The names to propose instead of an unknown one. */
const Scope *scope_shown(const Scope *scope);
/* A call of an aggregate or window function, or one with OVER. */
NODISCARD Error *bind_special_call(Binder *binder, const Scope *scope, const AstExpr *expr,
                                   const Function *function, BoundExpr **ret);
/* window(ts, …) as a value. */
NODISCARD Error *bind_time_window(Binder *binder, const Scope *scope, const AstExpr *expr,
                                  BoundExpr **ret);
/* "BIGINT", for messages. */
const char *type_text(Arena *arena, const Type *type);

/* ----------------------------------------------------------- subqueries --- */

/* The query around the one being bound. */
typedef struct OuterQuery {
    const Scope *scope;
    Str *names; /* of the columns that were named, for what Spark shows: scalarsubquery(a) */
    size_t name_count;
    size_t name_capacity;
    bool lateral; /* of LATERAL: its relations' stars may be named too */
} OuterQuery;

/* "a, b": the columns that a subquery bound before names of the query around it. */
Str subquery_arguments(const Binder *binder, const AstExpr *expr);
/* (SELECT …), EXISTS (SELECT …), x IN (SELECT …) */
NODISCARD Error *bind_subquery(Binder *binder, const Scope *scope, const AstExpr *expr,
                               BoundExpr **ret);
/* The name as a column of the query around this one; *ret is NULL when there is none. */
NODISCARD Error *bind_outer_column(Binder *binder, const AstExpr *expr, BoundExpr **ret,
                                   size_t *ret_used_parts);
/* The subquery with every column of the query around it replaced by `map(context, column)`: who
 * puts an expression over other columns (group keys) uses it for BOUND_SUBQUERYs. `map` sets
 * *ret_column, or gives an error. */
typedef Error *OuterColumnMap(void *context, const BoundExpr *column, uint32_t *ret_column);
NODISCARD Error *bound_map_outer_columns(Binder *binder, const BoundExpr *subquery,
                                         OuterColumnMap *map, void *context, BoundExpr **ret);
/* Calls `visit` for each BOUND_OUTER_COLUMN of the subquery. */
void bound_visit_outer_columns(const BoundExpr *subquery,
                               void (*visit)(void *context, const BoundExpr *column),
                               void *context);

/* ------------------------------------------------------------ constants --- */

/* Can the value be known before a row is read? No columns, subqueries, rand(). */
bool bound_is_foldable(const BoundExpr *expr);
/* The value of a foldable expression, a vector of length 1; its error when it fails. */
NODISCARD Error *bound_evaluate(Binder *binder, const BoundExpr *expr, const Vector **ret_value);

/* -------------------------------------------------------------- queries --- */

/* Binds a query; mistakes go to binder->diagnostics. NULL when there was one. */
BoundNode *bind_query_node(Binder *binder, const AstQuery *query);
/* PROJECT over `child` giving `schema`. */
BoundNode *bound_project(Arena *arena, BoundNode *child, BoundExpr **expressions,
                         const Schema *schema, SourcePlace place);
/* The relation of that name, in the program or the catalog; TABLE_OR_VIEW_NOT_FOUND. */
NODISCARD Error *binder_find_relation(Binder *binder, const AstName *name,
                                      const Relation **ret_relation);
size_t ast_name_parts(const AstName *name, Str *ret_parts, size_t part_max);

/* ------------------------------------------------------ types and checks --- */

/* Adds the mistake to binder->diagnostics; true when there was none (NULL). */
static inline bool binder_report(Binder *binder, Error *error)
{
    diagnostics_add(binder->diagnostics, error);
    return error == NULL;
}

/* "NOT_YET" naming a clause or function. */
NODISCARD COLD RETURNS_NONNULL Error *not_yet(SourcePlace place, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* A mistake already told elsewhere stands behind this error: it makes the program incomplete and is
 * not shown. */
NODISCARD COLD RETURNS_NONNULL Error *consequence(SourcePlace place);

/* Does the query read a STREAM? */
bool query_is_streaming(const Binder *binder, const AstQuery *query);
/* The same, and whether one of its streams has a watermark. */
void query_stream_traits(const Binder *binder, const AstQuery *query, bool *ret_streams,
                         bool *ret_has_watermark);
/* Place of the first relation of a query (of the query when it has none). */
SourcePlace query_source_place(const AstQuery *query);
/* The rules of a streaming flow (REPLACE USING, append) about its query (RU-17, RU-27 … RU-38,
 * ST-46, ST-49), into binder->diagnostics. */
void check_streaming_query(Binder *binder, const AstQuery *query, FlowKind kind);

/* Does the expression hold an aggregate, an analytic function, …? Subqueries are not entered. */
typedef struct ExprTraits {
    const AstExpr *aggregate;
    const AstExpr *analytic;
    const AstExpr *generator;
    const AstExpr *subquery;
    const AstExpr *time_window;
    const AstExpr *non_deterministic;
    const AstExpr *user_function;
    const AstExpr *column; /* any column reference */
} ExprTraits;
void expr_traits(const FunctionCatalog *functions, const AstExpr *expr, ExprTraits *traits);
/* Calls `visit` for each direct part of the expression; subqueries are not entered. */
void expr_visit_children(const AstExpr *expr, void (*visit)(void *context, const AstExpr *child),
                         void *context);

/* ------------------------------------------------------ tables and flows --- */

/* The columns of the specification. *ret_columns is NULL when it lists none or one is wrong (then
 * false: the mistakes are in binder->diagnostics). */
bool bind_table_columns(Binder *binder, const AstCreateStreamingTable *create,
                        const Schema **ret_columns);
/* Of a column called `_row`. */
NODISCARD COLD RETURNS_NONNULL Error *reserved_column(SourcePlace place);
/* Clauses and constraints that need no columns: COMMENT and TBLPROPERTIES into `table`, the rest is
 * checked and NOT_YET. */
void bind_table_clauses(Binder *binder, const AstCreateStreamingTable *create, BoundTable *table);
/* Expectations, and clauses that name columns, over table->schema. */
void bind_table_over_columns(Binder *binder, const AstCreateStreamingTable *create,
                             BoundTable *table);

/* What a flow's query gives, brought into the shape of its target. */
typedef struct FlowTarget {
    Str table_name;
    const Schema *columns;    /* in: of the specification, NULL when it lists none; out: target's */
    const Relation *existing; /* the target's definition before this one, or NULL */
    bool casts_strings;       /* DML: a STRING becomes what its column wants, or fails (DM-2) */
} FlowTarget;

/* Binds a query BY NAME to the target (ST-50, ST-51). NULL when a mistake was reported. */
BoundNode *bind_flow_query(Binder *binder, const AstQuery *query, FlowTarget *target,
                           const Schema **ret_output);
/* All of a REPLACE WHERE flow but that it runs: query and predicate (RW-1 … RW-60). */
bool bind_replace_where(Binder *binder, const AstFlow *flow, FlowTarget *target);
/* The same of AUTO CDC; target->columns stays NULL when a mistake leaves them unknown. */
void bind_auto_cdc(Binder *binder, const AstFlow *flow, FlowTarget *target);
/* May a value of that type be stored in the column? */
bool target_takes(const FlowTarget *target, const Type *type, const Field *column);
/* bind_flow_query of a query that is bound already. */
BoundNode *fit_by_name(Binder *binder, const AstQuery *query, BoundNode *node, FlowTarget *target,
                       const Schema **ret_output);
/* All of a REPLACE USING flow: query, keys and sequence of `ret_flow`. */
bool bind_replace_using(Binder *binder, const AstFlow *flow, FlowTarget *target,
                        BoundFlow *ret_flow);

/* The place of column `index` of the query's output: its select item, where there is one. */
SourcePlace flow_output_place(const AstQuery *query, const BoundNode *node, size_t index);

/* check_redefinition.c: does the statement fit the rows that target->existing tells of? */
/* RU-55: keys and sequence by name; then, when the columns are known, their types. */
bool check_keys_kept(Binder *binder, const AstFlow *flow, const FlowTarget *target);
bool check_key_types_kept(Binder *binder, const AstFlow *flow, const FlowTarget *target);
/* RW-50: target->columns and what is stored, as one; NULL when a mistake was reported. `listed`:
 * the statement lists its columns. */
const Schema *merge_stored_columns(Binder *binder, const AstQuery *query, const BoundNode *node,
                                   const FlowTarget *target, bool listed);

/* Of bind_program: a relation of the program by name, bound on first use. */
NODISCARD Error *program_find_relation(Program *program, const AstName *name, bool *ret_found,
                                       const Relation **ret_relation);
/* The nearest name of a table or view of the program, STR_NULL when none is near. */
Str program_nearest(const Program *program, Str name);
/* The view of that name in the program, or NULL. */
struct View *program_find_view(const Program *program, const AstName *name);
/* Around the binding of a table or view inside that of another: STATEMENT_TOO_COMPLEX when they
 * read each other too many in a row. */
NODISCARD Error *program_enter(Program *program, SourcePlace place);
void program_leave(Program *program);

#endif
