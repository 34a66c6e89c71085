/* A statement after names and types were resolved: expressions with types, queries over relations,
 * tables and flows of a program. Trees are read-only once built and live in the arena given to
 * bind_program or bind_query. */
#ifndef BIND_BOUND_H
#define BIND_BOUND_H

#include "processor/base/error.h"
#include "processor/bind/catalog.h"
#include "processor/bind/function.h"
#include "processor/data/schema.h"
#include "processor/data/vector.h"

typedef struct BoundExpr BoundExpr;

typedef enum BoundExprKind {
    BOUND_LITERAL, /* `literal`, a vector of length 1 */
    BOUND_COLUMN,  /* column `column` of the input */
    BOUND_CALL,    /* `function` over children, all of the wanted types */
    BOUND_CAST,    /* child 0 to `type`; `try_cast`: NULL instead of an error */
    BOUND_CASE,    /* when, then, when, then, …, else (always there): evaluated lazily */
    BOUND_AND,     /* children, three-valued; right ones only where the left leave it open */
    BOUND_OR,
    BOUND_NOT,
    BOUND_COALESCE,     /* first non-null, later children only where needed */
    BOUND_IN,           /* child 0 among children 1 …, three-valued, all of one type */
    BOUND_FIELD,        /* field `field` of the struct child 0 */
    BOUND_STRUCT,       /* a struct of the children; `type` names the fields */
    BOUND_LAMBDA,       /* x -> child 0: an argument of a higher-order function, `parameter_count`
                         * parameters numbered from `parameter`; `type` is the body's */
    BOUND_PARAMETER,    /* parameter number `parameter` of an enclosing lambda */
    BOUND_SUBQUERY,     /* a query as a value, see BoundSubquery; planning turns it into a join */
    BOUND_OUTER_COLUMN, /* column `column` of the query around this one; gone after planning */
} BoundExprKind;

typedef struct BoundNode BoundNode;

typedef enum SubqueryKind {
    SUBQUERY_SCALAR, /* its only column of its only row; NULL when it has none */
    SUBQUERY_EXISTS, /* has it a row? */
    SUBQUERY_IN,     /* are the children (operands) among its rows? three-valued */
} SubqueryKind;

typedef struct BoundSubquery {
    SubqueryKind kind;
    BoundNode *query; /* IN: as many columns as operands, of their types */
    bool correlated;  /* `query` holds BOUND_OUTER_COLUMNs of the query it stands in */
} BoundSubquery;

/* A node may occur in several places of a tree (BETWEEN shares its operand): never change one. */
struct BoundExpr {
    BoundExprKind kind;
    const Type *type;
    SourcePlace place;
    Str text; /* SQL text as Spark names the column: (SEQ + 1), upper(state) */
    BoundExpr **children;
    size_t child_count;
    const Vector *literal;
    const Function *function;
    uint32_t column;
    uint32_t field;
    bool try_cast;
    uint32_t parameter;       /* LAMBDA, PARAMETER: none is that of a lambda around */
    uint32_t parameter_count; /* LAMBDA */
    const BoundSubquery *subquery;
    const struct BoundSpecial *special; /* the binder's while it binds a SELECT, then NULL */
    uint32_t height;     /* levels of this tree, bounded by the binder: recursion is safe */
    uint32_t node_count; /* nodes of this tree, shared ones counted as often as they occur */
    uint64_t digest;     /* the binder's, of a tree with children: see bound_digest */
};

/* A sort key: ORDER BY expr [DESC] [NULLS FIRST | LAST], defaults resolved. */
typedef struct BoundSortKey {
    BoundExpr *expr;
    bool descending;
    bool nulls_first;
} BoundSortKey;

/* An aggregate or window function's call, with all that may stand behind its name. */
typedef struct BoundAggregate {
    const Function *function;
    BoundExpr **arguments; /* over the node's input, of the wanted types; count(*): none */
    size_t argument_count;
    BoundExpr *filter; /* FILTER (WHERE …); NULL: every row */
    bool distinct;
    bool ignore_nulls;             /* IGNORE NULLS, or first(x, true) */
    const BoundSortKey *sort_keys; /* WITHIN GROUP (ORDER BY …) */
    size_t sort_key_count;
    const Type *type;
    Str text; /* as Spark names the column */
    SourcePlace place;
} BoundAggregate;

typedef enum FrameUnit { FRAME_ROWS, FRAME_RANGE } FrameUnit;

typedef enum FrameBoundKind {
    FRAME_UNBOUNDED_PRECEDING,
    FRAME_PRECEDING, /* by `offset` */
    FRAME_CURRENT_ROW,
    FRAME_FOLLOWING, /* by `offset` */
    FRAME_UNBOUNDED_FOLLOWING,
} FrameBoundKind;

typedef struct BoundFrameBound {
    FrameBoundKind kind;
    const BoundExpr *offset; /* a literal: ROWS an INT, RANGE of the sort key's distance type */
} BoundFrameBound;

/* Window functions of one WINDOW node share its partition and order, not the frame. */
typedef struct BoundWindowCall {
    BoundAggregate call;
    FrameUnit unit;
    BoundFrameBound start;
    BoundFrameBound end;
} BoundWindowCall;

typedef enum JoinKind {
    JOIN_INNER, /* also CROSS */
    JOIN_LEFT,
    JOIN_RIGHT,
    JOIN_FULL,
    JOIN_SEMI,      /* left rows that have a match */
    JOIN_ANTI,      /* left rows that have none */
    JOIN_NULL_ANTI, /* NOT IN: none, and no NULL leaves it open */
    JOIN_MARK,      /* left rows and a BOOLEAN column: has it a match? NULL as IN means it */
    JOIN_SINGLE,    /* LEFT, where a second match is SCALAR_SUBQUERY_TOO_MANY_ROWS */
} JoinKind;

typedef enum SetOperation { SET_UNION, SET_INTERSECT, SET_EXCEPT } SetOperation;

/* A query as a tree of relational nodes. Every node has an output schema. A node may stand in
 * several places (WITH): never change one. */
typedef enum BoundNodeKind {
    BOUND_SCAN,      /* all columns of `relation`; `stream`: read incrementally */
    BOUND_VALUES,    /* rows of expressions without columns */
    BOUND_ONE_ROW,   /* SELECT without FROM: one row, no columns */
    BOUND_RANGE,     /* range(): BIGINT id from range_start to before range_end by range_step */
    BOUND_FILTER,    /* rows of the child for which expressions[0] is TRUE */
    BOUND_PROJECT,   /* expressions over the child's columns */
    BOUND_AGGREGATE, /* a row a group: expressions (the group keys), then aggregates. No keys: one
                      * row, also for no input */
    BOUND_EXPAND,   /* row_count rows for each input row: expressions row by row, as VALUES. ROLLUP,
                     * CUBE and GROUPING SETS are an AGGREGATE over it */
    BOUND_WINDOW,   /* the child's columns, then one a window call; partitioned by expressions */
    BOUND_JOIN,     /* columns of child, then of right (SEMI, ANTI: child's only; MARK: child's and
                     * one), where expressions[0] (over both; none: always) is TRUE */
    BOUND_SET,      /* `set_operation` of child and right, equal schemas; UNION is always ALL */
    BOUND_SORT,     /* by sort_keys; rows of equal keys keep their order */
    BOUND_LIMIT,    /* rows from offset on, at most limit */
    BOUND_GENERATE, /* child's columns, then the generator's (a STRUCT's fields), a row an element
                     */
    BOUND_WATERMARK, /* WATERMARK … DELAY OF: the child's columns, of which `event_time` has a
                      * watermark; a batch query takes no notice of it */
} BoundNodeKind;

struct BoundNode {
    BoundNodeKind kind;
    const Schema *schema;
    BoundNode *child;
    BoundNode *right;         /* JOIN, SET */
    const Relation *relation; /* SCAN */
    bool stream;              /* SCAN */
    BoundExpr **expressions;  /* FILTER: 1; PROJECT: one a column; VALUES, EXPAND: row_count *
                               * columns; AGGREGATE: group keys; WINDOW: partition keys; JOIN: 0 or
                               * 1; GENERATE: the arguments */
    size_t expression_count;
    size_t row_count;                 /* VALUES, EXPAND */
    const BoundAggregate *aggregates; /* AGGREGATE */
    size_t aggregate_count;
    const BoundWindowCall *windows; /* WINDOW */
    size_t window_count;
    const BoundSortKey *sort_keys; /* SORT, WINDOW */
    size_t sort_key_count;
    JoinKind join;
    bool lateral; /* JOIN: BOUND_OUTER_COLUMNs of the right side are columns of the child (and of no
                   * query further out) */
    SetOperation set_operation;
    bool all;      /* SET: INTERSECT ALL, EXCEPT ALL */
    int64_t limit; /* LIMIT; -1: none */
    int64_t offset;
    int64_t range_start; /* RANGE */
    int64_t range_end;
    int64_t range_step;
    const Function *generator; /* GENERATE */
    bool outer;                /* GENERATE: a row of NULLs where there is no element */
    uint32_t event_time;       /* WATERMARK */
    int64_t delay_us;          /* WATERMARK: above 0 */
    SourcePlace place;
};

typedef enum ExpectationAction { EXPECT_WARN, EXPECT_DROP, EXPECT_FAIL } ExpectationAction;

typedef struct BoundExpectation {
    Str name;
    BoundExpr *condition; /* over the target's columns (ST-21) */
    ExpectationAction action;
    Str text; /* SQL text of the condition */
} BoundExpectation;

typedef struct BoundProperty {
    Str name;
    Str value;
} BoundProperty;

typedef enum FlowKind {
    FLOW_APPEND,
    FLOW_REPLACE_USING,
    FLOW_REPLACE_WHERE,
    FLOW_AUTO_CDC
} FlowKind;

/* Spec words: "append", "REPLACE USING", … for messages and events. */
const char *flow_kind_name(FlowKind kind);

typedef struct BoundFlow {
    Str name;
    FlowKind kind;
    size_t table;     /* index in the program's tables */
    BoundNode *query; /* its output are exactly the target's columns, in their order and types */
    const uint32_t *keys; /* REPLACE USING: key columns of the target, in declared order */
    size_t key_count;
    uint32_t sequence; /* REPLACE USING: sequence column of the target */
    Str text;          /* SQL text of the flow, for definitions and events */
    size_t script;     /* which of the scripts given to bind_program */
    SourcePlace place;
} BoundFlow;

typedef struct BoundTable {
    Str name; /* as written in its CREATE, canonical parts joined by dots */
    const Schema *schema;
    bool or_refresh;
    bool if_not_exists;
    Str comment; /* STR_NULL when none */
    const BoundExpectation *expectations;
    size_t expectation_count;
    const BoundProperty *properties;
    size_t property_count;
    Str text;      /* SQL text of the CREATE statement */
    size_t script; /* which of the scripts given to bind_program */
    SourcePlace place;
} BoundTable;

/* What a pipeline's SQL says. */
typedef struct BoundProgram {
    BoundTable *tables;
    size_t table_count;
    BoundFlow *flows;
    size_t flow_count;
} BoundProgram;

#endif
