/* Syntax tree: queries, relations and joins. */
#ifndef SQL_AST_QUERY_H
#define SQL_AST_QUERY_H

#include "processor/sql/ast_expr.h"

typedef struct AstQueryTerm AstQueryTerm;
typedef struct AstRelation AstRelation;
typedef struct AstFromItem AstFromItem;

typedef struct AstNamedWindow {
    AstIdentifier name;
    AstWindow *window;
} AstNamedWindow;

typedef struct AstTableAlias {
    AstIdentifier name; /* data NULL = no alias */
    AstIdentifierList columns;
} AstTableAlias;

typedef struct AstSelectItem {
    bool star; /* [qualifier.]* [EXCEPT (…)] */
    AstName qualifier;
    AstName *except;
    size_t except_count;
    AstExpr *expr;          /* not star */
    AstIdentifier *aliases; /* AS a, a; AS (a, b) has several */
    size_t alias_count;
    bool alias_list; /* AS (…) was written */
    SourcePlace place;
    Str text;
} AstSelectItem;

typedef enum AstGroupingKind {
    AST_GROUPING_EXPR, /* exprs[0] */
    AST_GROUPING_SET,  /* (exprs…), may be empty; inside the three below only */
    AST_GROUPING_ROLLUP,
    AST_GROUPING_CUBE,
    AST_GROUPING_SETS,
} AstGroupingKind;

typedef struct AstGroupingItem AstGroupingItem;
struct AstGroupingItem {
    AstGroupingKind kind;
    AstExpr **exprs;
    size_t expr_count;
    AstGroupingItem *items; /* of ROLLUP, CUBE: EXPR and SET; of SETS: any */
    size_t item_count;
    SourcePlace place;
};

typedef struct AstGroupBy {
    bool all; /* GROUP BY ALL */
    AstGroupingItem *items;
    size_t item_count;
    /* GROUP BY a, b WITH ROLLUP | WITH CUBE | GROUPING SETS (…): items are the expressions, and
     * this is the analytics (ROLLUP and CUBE over all of them, items empty; or the sets). Else
     * NULL. */
    AstGroupingItem *trailing;
    SourcePlace place;
} AstGroupBy;

/* LATERAL VIEW [OUTER] f(…) alias [AS a, b] */
typedef struct AstLateralView {
    bool outer;
    AstExpr *call; /* AST_EXPR_CALL */
    AstIdentifier alias;
    AstIdentifierList columns;
    SourcePlace place;
} AstLateralView;

typedef struct AstSelect {
    bool distinct;
    AstSelectItem *items;
    size_t item_count;
    AstFromItem *from; /* separated by commas */
    size_t from_count;
    AstLateralView *lateral_views;
    size_t lateral_view_count;
    AstExpr *where;
    AstGroupBy *group_by;
    AstExpr *having;
    AstExpr *qualify;
    AstNamedWindow *windows;
    size_t window_count;
    SourcePlace place;
} AstSelect;

typedef struct AstValues {
    AstExpr **rows; /* an AST_EXPR_ROW is a row of several columns */
    size_t row_count;
    SourcePlace place;
} AstValues;

typedef enum AstSetOperator {
    AST_SET_UNION,
    AST_SET_EXCEPT, /* EXCEPT, MINUS */
    AST_SET_INTERSECT,
} AstSetOperator;

typedef struct AstSetStep {
    AstSetOperator operator_;
    bool all; /* ALL; else DISTINCT, written or not */
    SourcePlace operator_place;
    AstQueryTerm *right;
} AstSetStep;

typedef enum AstQueryTermKind {
    AST_TERM_SELECT,
    AST_TERM_VALUES,
    AST_TERM_QUERY, /* in parentheses */
    AST_TERM_SET,
} AstQueryTermKind;

struct AstQueryTerm {
    AstQueryTermKind kind;
    SourcePlace place;
    Str text;
    AstSelect *select;
    AstValues *values;
    AstTableAlias values_alias;
    AstQuery *query;
    /* AST_TERM_SET: taken from the left, flat as AstBinary. Steps are all INTERSECT, or none is. */
    AstQueryTerm *first;
    AstSetStep *steps;
    size_t step_count;
};

typedef struct AstCommonTable {
    AstIdentifier name;
    AstIdentifierList columns;
    AstQuery *query;
} AstCommonTable;

typedef enum AstSortKind {
    AST_SORT_NONE,
    AST_SORT_ORDER_BY,
    AST_SORT_ORDER_BY_ALL, /* sort_items[0] holds direction and nulls, its expr is NULL */
    AST_SORT_SORT_BY,
} AstSortKind;

struct AstQuery {
    SourcePlace place;
    Str text;
    bool recursive; /* WITH RECURSIVE: refused by analysis */
    SourcePlace recursive_place;
    AstCommonTable *common_tables;
    size_t common_table_count;
    AstQueryTerm *body;
    AstSortKind sort_kind;
    AstSortItem *sort_items;
    size_t sort_item_count;
    SourcePlace sort_place;
    AstNamedWindow *windows; /* WINDOW after ORDER BY */
    size_t window_count;
    bool limit_all;
    AstExpr *limit;
    SourcePlace limit_place;
    AstExpr *offset;
    SourcePlace offset_place;
};

typedef enum AstRelationKind {
    AST_RELATION_NAME,
    AST_RELATION_FUNCTION, /* table function: name(arguments) */
    AST_RELATION_VALUES,
    AST_RELATION_QUERY, /* (query) */
    AST_RELATION_GROUP, /* (from_item) */
} AstRelationKind;

/* WATERMARK expr [AS name] DELAY OF interval (SQ-28) */
typedef struct AstWatermark {
    AstExpr *expr;
    AstIdentifier alias;
    AstInterval *delay;
    SourcePlace place;
} AstWatermark;

typedef enum AstUnsupportedClauseKind {
    AST_UNSUPPORTED_NONE,
    AST_UNSUPPORTED_TABLESAMPLE,
    AST_UNSUPPORTED_PIVOT,
    AST_UNSUPPORTED_UNPIVOT,
} AstUnsupportedClauseKind;

/* Recognised so that analysis can refuse it by name (SQ-46). */
typedef struct AstUnsupportedClause {
    AstUnsupportedClauseKind kind;
    SourcePlace place;
    Str text;
} AstUnsupportedClause;

struct AstRelation {
    AstRelationKind kind;
    SourcePlace place;
    Str text;
    bool stream;  /* STREAM name, STREAM(name), STREAM f(…), STREAM(f(…)) */
    bool lateral; /* LATERAL before it */
    AstName name;
    AstArgument *arguments;
    size_t argument_count;
    AstValues *values;
    AstQuery *query;
    AstFromItem *group;
    AstUnsupportedClause sample;
    AstWatermark *watermark;
    AstTableAlias alias;
    AstUnsupportedClause pivot;
};

typedef enum AstJoinType {
    AST_JOIN_INNER,
    AST_JOIN_CROSS,
    AST_JOIN_LEFT,
    AST_JOIN_RIGHT,
    AST_JOIN_FULL,
    AST_JOIN_SEMI,
    AST_JOIN_ANTI,
} AstJoinType;

typedef struct AstJoin {
    AstJoinType type;
    bool natural;
    AstRelation *relation; /* ->lateral for JOIN LATERAL */
    AstExpr *on;
    AstIdentifierList using;
    SourcePlace place;
} AstJoin;

/* first JOIN joins[0] JOIN joins[1] …, taken from the left. */
struct AstFromItem {
    AstRelation *first;
    AstJoin *joins;
    size_t join_count;
    SourcePlace place;
};

#endif
