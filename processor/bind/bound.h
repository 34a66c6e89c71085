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
    BOUND_COALESCE, /* first non-null, later children only where needed */
    BOUND_IN,       /* child 0 among children 1 …, three-valued, all of one type */
    BOUND_FIELD,    /* field `field` of the struct child 0 */
    BOUND_STRUCT,   /* a struct of the children; `type` names the fields */
} BoundExprKind;

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
    uint32_t height;     /* levels of this tree, bounded by the binder: recursion is safe */
    uint32_t node_count; /* nodes of this tree, shared ones counted as often as they occur */
};

/* A query as a tree of relational nodes. Every node has an output schema. */
typedef struct BoundNode BoundNode;

typedef enum BoundNodeKind {
    BOUND_SCAN,    /* all columns of `relation`; `stream`: read incrementally */
    BOUND_VALUES,  /* rows of expressions without columns */
    BOUND_ONE_ROW, /* SELECT without FROM: one row, no columns */
    BOUND_FILTER,  /* rows of the child for which expressions[0] is TRUE */
    BOUND_PROJECT, /* expressions over the child's columns */
} BoundNodeKind;

struct BoundNode {
    BoundNodeKind kind;
    const Schema *schema;
    BoundNode *child;
    const Relation *relation; /* SCAN */
    bool stream;              /* SCAN */
    BoundExpr **expressions;  /* FILTER: 1; PROJECT: one a column; VALUES: row_count * columns */
    size_t expression_count;
    size_t row_count; /* VALUES */
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
