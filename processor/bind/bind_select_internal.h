/* What the files that bind one SELECT share.
 *
 * A SELECT is bound in two steps. First every clause is bound over the columns of FROM, and what
 * belongs to a node of its own stands in the expressions as a special call: an aggregate, a window
 * function, an item of the SELECT list that another one names. Then the nodes are built from the
 * bottom up, and each takes its specials out of all expressions, putting columns in their place:
 *
 *     SELECT k, sum(v) AS s, s + rank() OVER (ORDER BY k) AS r FROM t GROUP BY k ORDER BY max(w)
 *
 *     Sort [4]              ORDER BY     (Project above it drops column 3)
 *     Project [0, 4, 4 + 3, 2]           the list, then what only ORDER BY needs
 *     Window [rank() by 0]               adds column 3; s is column 1, max(w) column 2
 *     Aggregate [k; sum(v), max(w)]
 *     Scan t
 */
#ifndef BIND_BIND_SELECT_INTERNAL_H
#define BIND_BIND_SELECT_INTERNAL_H

#include "processor/bind/bind_query_internal.h"

/* ------------------------------------------------------------- specials --- */

typedef enum SpecialKind {
    SPECIAL_AGGREGATE,   /* children: arguments, FILTER's condition, WITHIN GROUP's keys */
    SPECIAL_WINDOW,      /* the same, then PARTITION BY and ORDER BY */
    SPECIAL_ITEM,        /* column `item` of the SELECT list */
    SPECIAL_GROUPING,    /* grouping(child) */
    SPECIAL_GROUPING_ID, /* grouping_id(children) */
} SpecialKind;

/* BoundExpr.special of a BOUND_CALL: only while a SELECT is being bound. */
typedef struct BoundSpecial {
    SpecialKind kind;
    size_t argument_count;
    bool has_filter;
    size_t sort_count;        /* WITHIN GROUP */
    size_t partition_count;   /* WINDOW */
    size_t order_count;       /* WINDOW */
    const BoundSortKey *keys; /* directions of WITHIN GROUP's, then ORDER BY's keys */
    bool distinct;
    bool ignore_nulls;
    FrameUnit unit; /* WINDOW */
    BoundFrameBound start;
    BoundFrameBound end;
    size_t item; /* ITEM */
} BoundSpecial;

static inline bool is_special(const BoundExpr *expr, SpecialKind kind)
{
    return expr->special != NULL && expr->special->kind == kind;
}

/* The first special of that kind in the tree, NULL when there is none. */
const BoundExpr *find_special(const BoundExpr *expr, SpecialKind kind);
/* A reference to column `item` of the list. */
NODISCARD Error *bound_item(Binder *binder, const BoundExpr *value, size_t item,
                            const BoundExpr *pattern, BoundExpr **ret);

/* ---------------------------------------------------------------- trees --- */

/* Do the expressions mean the same value in every row? a + b equals b + a, a < b equals b > a. */
bool bound_equal(const BoundExpr *a, const BoundExpr *b);
bool bound_has_subquery(const BoundExpr *expr);
bool bound_is_deterministic(const BoundExpr *expr);
/* What stands in place of a node, or NULL to leave it and look at its children. */
typedef Error *ReplaceExpr(void *context, BoundExpr *expr, BoundExpr **ret);
/* The tree with nodes replaced, outermost first; what did not change stays shared. Columns that
 * subqueries inside name are replaced too, and must become columns. */
NODISCARD Error *bound_map(Binder *binder, BoundExpr *expr, ReplaceExpr *replace, void *context,
                           BoundExpr **ret);

/* ---------------------------------------------------------- SELECT list --- */

/* The SELECT list, stars expanded: parallel arrays, so that a node can be given two of them. */
typedef struct SelectList {
    BoundExpr **expressions;
    Field *fields;
    const ScopeQualifier **qualifiers; /* of plain columns that keep their name */
    bool *aliased;                     /* was an alias written? */
    bool *starred;                     /* by a star */
    size_t count;
    size_t capacity;
    BoundGenerator *generator; /* the first; their columns are NULLs until they are built */
} SelectList;

/* What an unqualified name may mean besides a column of FROM. */
typedef enum AliasRule {
    ALIAS_NONE,
    ALIAS_LATERAL, /* an alias of the list so far, when there is no such column */
    ALIAS_GROUP,   /* the same of the whole list, and it means the item's expression itself */
    ALIAS_OUTPUT,  /* an output column, when there is no such column */
    ALIAS_FIRST,   /* an output column, before columns */
} AliasRule;

/* The calls of functions that may not stand everywhere. */
typedef enum CallRule {
    CALLS_NONE,
    CALLS_ALL,          /* aggregates and window functions */
    CALLS_AGGREGATES,   /* HAVING, ORDER BY */
    CALLS_WINDOWS,      /* QUALIFY */
    CALLS_IN_AGGREGATE, /* in an aggregate's arguments */
} CallRule;

/* window(ts, …) of a SELECT: a column of its own, added to the input. */
typedef struct TimeWindow {
    BoundExpr *time; /* over the input; NULL: no such call yet */
    int64_t length_us;
    int64_t slide_us;
    int64_t start_us;
    uint32_t column;
    Field field;
    SourcePlace place;
} TimeWindow;

/* What is known of a SELECT where its names are looked up (Scope.select). */
typedef struct SelectScope {
    const AstSelect *ast;
    const AstQuery *around; /* whose body it is; NULL: of a set operation */
    const SelectList *list;
    const Scope *output; /* ALIAS_OUTPUT, ALIAS_FIRST: output columns; `column` is the item */
    AliasRule aliases;
    CallRule calls;
    const char *clause;      /* "HAVING" */
    TimeWindow *time_window; /* NULL: none may stand here */
} SelectScope;

/* Binds the whole list into `list`; false when an item is wrong (it is NULL then). */
bool bind_select_list(Binder *binder, Scope *scope, SelectList *list);
/* Is the item a column of the list's generator? */
bool is_generated(const SelectList *list, size_t item);
/* The output columns as names: plain columns keep the name of their relation. */
Scope select_output_scope(Binder *binder, const SelectList *list);
/* The same for queries around it; the schema is the caller's to say. */
OutputNames select_output_names(Binder *binder, const SelectList *list);
/* The items that name others get Projects below, see bind_items.c. */
NODISCARD Error *build_lateral_aliases(Binder *binder, SelectList *list, BoundNode **node);
/* Every ITEM replaced by the item's expression. */
NODISCARD Error *expand_items(Binder *binder, const SelectList *list, BoundExpr **expr);

/* ----------------------------------------------------------- aggregates --- */

/* grouping_id() of the whole row. */
NODISCARD Error *bind_grouping_id(Binder *binder, const AstExpr *expr, BoundExpr **ret);
/* grouping() where there are no grouping sets. */
NODISCARD COLD RETURNS_NONNULL Error *unsupported_grouping(SourcePlace place);
/* The aggregate a special stands for. */
BoundAggregate special_call(const Binder *binder, const BoundExpr *expr);

/* What GROUP BY says, and what is computed of each group. */
typedef struct Grouping {
    BoundExpr **keys; /* over the input */
    size_t key_count;
    size_t key_capacity;
    uint64_t *sets; /* ROLLUP, CUBE, GROUPING SETS: bit i for key i; NULL: plain */
    size_t set_count;
    BoundExpr **calls; /* aggregates, each once */
    size_t call_count;
    size_t call_capacity;
    bool given;         /* GROUP BY was written */
    size_t hidden_keys; /* of sets: keys that nobody wrote, the set and its position */
} Grouping;

/* GROUP BY of scope->select. */
bool bind_group_by(Binder *binder, const Scope *scope, Grouping *grouping);
/* The item that an integer means as a position; *ret_found is false for other expressions. */
NODISCARD Error *bind_position(const SelectList *list, const AstExpr *expr, ErrorClass class,
                               const char *clause, bool *ret_found, size_t *ret_item);
/* Whose expression is put over the groups: what a column means that is no key. */
typedef enum GroupClause {
    GROUPS_OF_LIST,   /* nothing: MISSING_AGGREGATION */
    GROUPS_OF_HAVING, /* an output column of its name */
    GROUPS_OF_ORDER,  /* nothing, also in QUALIFY, and what there is are output columns */
} GroupClause;
/* The expression over the AGGREGATE's output: keys and aggregates become its columns. */
NODISCARD Error *over_groups(Binder *binder, Grouping *grouping, const SelectList *list,
                             GroupClause clause, BoundExpr **expr);
/* AGGREGATE over *node, and what must stand below it. */
NODISCARD Error *build_aggregate(Binder *binder, Grouping *grouping, SourcePlace place,
                                 BoundNode **node);
/* -------------------------------------------------------------- windows --- */

/* PARTITION BY, ORDER BY and frame of a call's OVER, added to `special` and `children`. */
typedef struct WindowParts {
    BoundExpr **partition;
    BoundExpr **order;
    BoundSortKey *keys; /* of ORDER BY, without expressions */
    size_t partition_count;
    size_t order_count;
    FrameUnit unit;
    BoundFrameBound start;
    BoundFrameBound end;
} WindowParts;
NODISCARD Error *bind_window(Binder *binder, const Scope *scope, const AstExpr *expr,
                             const Function *function, WindowParts *ret);
/* No two windows of the WINDOW clauses have one name. */
NODISCARD Error *check_named_windows(const AstSelect *select, const AstQuery *around);
/* WINDOW nodes for all window functions in `slots`, which become columns. */
NODISCARD Error *build_windows(Binder *binder, BoundExpr **const *slots, size_t slot_count,
                               BoundNode **node);

/* ---------------------------------------------------------------- order --- */

/* ORDER BY of a SELECT: bound before the nodes are built, sorted by after. */
typedef struct OrderKeys {
    BoundSortKey *keys;
    size_t count;
    SourcePlace place;
} OrderKeys;
/* ORDER BY of scope->select->around. `aggregated`: the query has groups. */
bool bind_order_keys(Binder *binder, const Scope *scope, bool aggregated, OrderKeys *ret);
/* The last Project of a SELECT, DISTINCT and SORT over `node`. */
NODISCARD Error *build_output(Binder *binder, const AstSelect *select, const SelectList *list,
                              OrderKeys *order, BoundNode **node);
/* Types that cannot be compared: INVALID_ORDERING_TYPE. */
NODISCARD Error *check_sort_key(Binder *binder, const AstSortItem *item, const BoundExpr *key);

/* ----------------------------------------------------------------- nodes --- */

BoundExpr *bound_int(Arena *arena, const Type *type, int64_t value, SourcePlace place);

/* A Project of all columns of *node and of `added`, which become columns in their places. */
NODISCARD Error *project_below(Binder *binder, BoundExpr ***added, size_t count, BoundNode **node);
/* project_below of those that hold a subquery: the nodes above compute none. */
NODISCARD Error *hoist_subqueries(Binder *binder, BoundExpr **const *slots, size_t count,
                                  BoundNode **node);
BoundNode *bound_filter(Binder *binder, BoundNode *child, BoundExpr *condition);

/* Looks for window(…) in the list and GROUP BY; `window` is then a name in all clauses. */
NODISCARD Error *find_time_window(Binder *binder, const Scope *scope);
/* The rows with the column of the window, as often as windows hold them. */
NODISCARD Error *build_time_window(Binder *binder, const TimeWindow *window, BoundNode **node);

#endif
