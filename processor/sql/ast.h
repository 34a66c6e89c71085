/* Syntax tree of a script: statements, queries, expressions, data types, flows.
 *
 * Every node lives in the arena given to the parser; `Str` fields point into the statement's text
 * or into that arena. The tree says what was written, nothing more: names are not resolved, numbers
 * are not converted, types are words. Two things are done already: string escapes and doubled
 * quotes are resolved, and a chain of operators of one level is one flat node (see AstBinary), so
 * that the tree is never higher than AST_DEPTH_MAX levels whatever the input: walking it by
 * recursion is safe.
 *
 * Conventions
 * - an absent optional part is NULL, STR_NULL or count 0; an absent AstIdentifier has name.data
 * NULL
 * - `place` is line, column and length in characters inside the text that was parsed
 * - `text` is the span of the text from the first to the last token of the node
 * - lists are `items` + `item_count`, in the order written
 */
#ifndef SQL_AST_H
#define SQL_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/error.h"
#include "processor/base/str.h"

/* Levels of nesting (parentheses, subqueries, CASE, calls, types, postfix steps) a statement may
 * have; deeper ones are STATEMENT_TOO_COMPLEX. */
enum { AST_DEPTH_MAX = 500 };

typedef struct AstExpr AstExpr;
typedef struct AstQuery AstQuery;
typedef struct AstQueryTerm AstQueryTerm;
typedef struct AstRelation AstRelation;
typedef struct AstFromItem AstFromItem;
typedef struct AstStatement AstStatement;
typedef struct AstDataType AstDataType;

/* ---------------------------------------------------------------- names --- */

/* A name with its spelling kept (SQ-31: compare with str_equal_ignore_case). */
typedef struct AstIdentifier {
    Str name; /* without backquotes, doubled ones resolved; data NULL = absent */
    bool quoted;
    SourcePlace place;
} AstIdentifier;

/* A dotted name: [catalog.][schema.]name of tables and functions, t.a.b of columns. */
typedef struct AstName {
    AstIdentifier *parts;
    size_t part_count; /* 0 = absent */
    SourcePlace place;
    Str text;
} AstName;

typedef struct AstIdentifierList {
    AstIdentifier *items;
    size_t item_count;
} AstIdentifierList;

/* A string literal where the grammar asks for one: COMMENT 'x', CRON '…'. */
typedef struct AstString {
    Str value; /* escapes resolved; data NULL = absent */
    SourcePlace place;
} AstString;

/* An integer where the grammar asks for one. */
typedef struct AstInteger {
    int64_t value; /* INT64_MAX when it does not fit */
    SourcePlace place;
} AstInteger;

/* ----------------------------------------------------------- data types --- */

typedef enum AstTypeKind {
    AST_TYPE_BOOLEAN,
    AST_TYPE_TINYINT,  /* BYTE */
    AST_TYPE_SMALLINT, /* SHORT */
    AST_TYPE_INT,      /* INTEGER */
    AST_TYPE_BIGINT,   /* LONG */
    AST_TYPE_FLOAT,    /* REAL */
    AST_TYPE_DOUBLE,
    AST_TYPE_DECIMAL, /* DEC, NUMERIC: precision, scale; 10, 0 when not written */
    AST_TYPE_STRING,  /* collation */
    AST_TYPE_CHAR,    /* CHARACTER: length */
    AST_TYPE_VARCHAR, /* length */
    AST_TYPE_BINARY,
    AST_TYPE_DATE,
    AST_TYPE_TIMESTAMP, /* TIMESTAMP_LTZ */
    AST_TYPE_TIMESTAMP_NTZ,
    AST_TYPE_VARIANT,
    AST_TYPE_INTERVAL, /* interval_from, interval_to */
    AST_TYPE_ARRAY,    /* element */
    AST_TYPE_MAP,      /* key, element (the value) */
    AST_TYPE_STRUCT,   /* fields */
} AstTypeKind;

typedef enum AstIntervalUnit {
    AST_UNIT_MICROSECOND,
    AST_UNIT_MILLISECOND,
    AST_UNIT_SECOND,
    AST_UNIT_MINUTE,
    AST_UNIT_HOUR,
    AST_UNIT_DAY,
    AST_UNIT_WEEK,
    AST_UNIT_MONTH,
    AST_UNIT_YEAR,
} AstIntervalUnit;

typedef struct AstStructField {
    AstIdentifier name;
    AstDataType *type;
    bool not_null;
    AstString comment;
} AstStructField;

struct AstDataType {
    AstTypeKind kind;
    SourcePlace place;
    Str text;
    bool has_precision; /* DECIMAL(p) or (p, s) was written */
    bool has_scale;
    int64_t precision; /* DECIMAL; clamped to INT64_MAX, the binder checks the range */
    int64_t scale;
    int64_t length; /* CHAR, VARCHAR */
    AstIdentifier collation;
    AstIntervalUnit interval_from; /* YEAR, MONTH, DAY, HOUR, MINUTE or SECOND */
    AstIntervalUnit interval_to;   /* equals interval_from when TO was not written */
    AstDataType *key;
    AstDataType *element;
    AstStructField *fields;
    size_t field_count;
};

/* ---------------------------------------------------------- expressions --- */

typedef enum AstExprKind {
    AST_EXPR_LITERAL,
    AST_EXPR_INTERVAL,
    AST_EXPR_COLUMN,
    AST_EXPR_UNARY,
    AST_EXPR_BINARY,
    AST_EXPR_BETWEEN,
    AST_EXPR_IN_LIST,
    AST_EXPR_IN_QUERY,
    AST_EXPR_LIKE,
    AST_EXPR_LIKE_QUANTIFIED,
    AST_EXPR_IS,
    AST_EXPR_IS_DISTINCT,
    AST_EXPR_CASE,
    AST_EXPR_CAST,
    AST_EXPR_EXISTS,
    AST_EXPR_EXTRACT,
    AST_EXPR_TRIM,
    AST_EXPR_STRUCT,
    AST_EXPR_ROW,
    AST_EXPR_CALL,
    AST_EXPR_LAMBDA,
    AST_EXPR_SUBQUERY,
    AST_EXPR_INDEX,
    AST_EXPR_FIELD,
    AST_EXPR_VARIANT_PATH,
    AST_EXPR_COLLATE,
} AstExprKind;

typedef enum AstLiteralKind {
    AST_LITERAL_NULL,
    AST_LITERAL_TRUE,
    AST_LITERAL_FALSE,
    AST_LITERAL_STRING,
    AST_LITERAL_INTEGER, /* digits */
    AST_LITERAL_DECIMAL, /* digits with a point, no exponent */
    AST_LITERAL_DOUBLE,  /* with exponent */
    AST_LITERAL_DATE,
    AST_LITERAL_TIMESTAMP,
    AST_LITERAL_TIMESTAMP_NTZ,
    AST_LITERAL_TIMESTAMP_LTZ,
    AST_LITERAL_BINARY, /* X'…', hexadecimal digits not checked */
} AstLiteralKind;

typedef enum AstNumberSuffix {
    AST_SUFFIX_NONE,
    AST_SUFFIX_L,  /* BIGINT */
    AST_SUFFIX_S,  /* SMALLINT */
    AST_SUFFIX_Y,  /* TINYINT */
    AST_SUFFIX_F,  /* FLOAT */
    AST_SUFFIX_D,  /* DOUBLE */
    AST_SUFFIX_BD, /* DECIMAL */
} AstNumberSuffix;

typedef struct AstLiteral {
    AstLiteralKind kind;
    AstNumberSuffix
        suffix; /* numbers; the kind is how the digits look, the suffix rules the type */
    Str value;  /* string content, or digits without sign and suffix */
} AstLiteral;

typedef enum AstIntervalForm {
    AST_INTERVAL_UNITS,  /* INTERVAL 3 DAYS 4 HOURS: parts */
    AST_INTERVAL_FIELDS, /* INTERVAL '1-2' YEAR TO MONTH: parts[0].unit = from, to_unit = to */
    AST_INTERVAL_STRING, /* INTERVAL '3 days 4 hours': parts[0].value */
} AstIntervalForm;

typedef struct AstIntervalPart {
    bool negative;
    bool is_string; /* value was quoted */
    Str value;      /* digits or string content, without the sign that stood outside */
    AstIntervalUnit unit;
    SourcePlace place;
} AstIntervalPart;

typedef struct AstInterval {
    AstIntervalForm form;
    AstIntervalPart *parts;
    size_t part_count; /* at least 1 */
    AstIntervalUnit to_unit;
    SourcePlace place;
    Str text;
} AstInterval;

/* A word that is a value when no column in scope bears its name (SQ-38). */
typedef enum AstCurrentValue {
    AST_CURRENT_NONE,
    AST_CURRENT_DATE,
    AST_CURRENT_TIMESTAMP,
    AST_CURRENT_USER, /* CURRENT_USER, SESSION_USER, USER */
} AstCurrentValue;

typedef struct AstColumn {
    AstName name;
    AstCurrentValue current_value;
} AstColumn;

typedef enum AstUnaryOperator {
    AST_UNARY_NOT, /* NOT, ! */
    AST_UNARY_MINUS,
    AST_UNARY_PLUS,
    AST_UNARY_BIT_NOT,
} AstUnaryOperator;

typedef struct AstUnary {
    AstUnaryOperator operator_;
    AstExpr *operand;
} AstUnary;

typedef enum AstBinaryOperator {
    AST_BINARY_OR,
    AST_BINARY_AND,
    AST_BINARY_EQUAL,           /* = == */
    AST_BINARY_NULL_SAFE_EQUAL, /* <=> */
    AST_BINARY_NOT_EQUAL,       /* <> != */
    AST_BINARY_LESS,
    AST_BINARY_LESS_EQUAL,
    AST_BINARY_GREATER,
    AST_BINARY_GREATER_EQUAL,
    AST_BINARY_BIT_OR,
    AST_BINARY_BIT_XOR,
    AST_BINARY_BIT_AND,
    AST_BINARY_SHIFT_LEFT,
    AST_BINARY_SHIFT_RIGHT,
    AST_BINARY_SHIFT_RIGHT_UNSIGNED,
    AST_BINARY_ADD,
    AST_BINARY_SUBTRACT,
    AST_BINARY_CONCAT, /* || */
    AST_BINARY_MULTIPLY,
    AST_BINARY_DIVIDE,
    AST_BINARY_REMAINDER, /* % */
    AST_BINARY_DIV,       /* DIV */
} AstBinaryOperator;

/* The n-th operator of a chain with the operand to its right. */
typedef struct AstBinaryStep {
    AstBinaryOperator operator_;
    SourcePlace operator_place;
    AstExpr *right;
} AstBinaryStep;

/* Operators of one level, taken from the left: a + b - c is first = a, steps = [+ b], [- c] and
 * means ((a + b) - c). All operators of a chain are of one level (all OR, all AND, all comparisons,
 * all of + - ||, …). Flat, so that a chain of a hundred thousand is no deep tree; the value up to
 * step i spans from first to steps[i].right. */
typedef struct AstBinary {
    AstExpr *first;
    AstBinaryStep *steps;
    size_t step_count; /* at least 1 */
} AstBinary;

typedef struct AstBetween {
    AstExpr *operand;
    AstExpr *low;
    AstExpr *high;
    bool negated;
} AstBetween;

typedef struct AstInList {
    AstExpr *operand;
    AstExpr **items;
    size_t item_count; /* at least 1 */
    bool negated;
} AstInList;

typedef struct AstInQuery {
    AstExpr *operand;
    AstQuery *query;
    bool negated;
} AstInQuery;

typedef enum AstLikeKind {
    AST_LIKE_LIKE,
    AST_LIKE_ILIKE,
    AST_LIKE_RLIKE, /* RLIKE, REGEXP */
} AstLikeKind;

typedef struct AstLike {
    AstLikeKind kind;
    AstExpr *operand;
    AstExpr *pattern;
    AstString escape; /* LIKE, ILIKE */
    bool negated;
} AstLike;

typedef struct AstLikeQuantified {
    AstLikeKind kind; /* LIKE or ILIKE */
    bool all;         /* ALL; else ANY, SOME */
    AstExpr *operand;
    AstExpr **patterns;
    size_t pattern_count; /* 0 is refused by analysis */
    bool negated;
} AstLikeQuantified;

typedef enum AstIsKind {
    AST_IS_NULL,
    AST_IS_TRUE,
    AST_IS_FALSE,
    AST_IS_UNKNOWN,
} AstIsKind;

typedef struct AstIs {
    AstIsKind kind;
    AstExpr *operand;
    bool negated;
} AstIs;

typedef struct AstIsDistinct {
    AstExpr *left;
    AstExpr *right;
    bool negated; /* IS NOT DISTINCT FROM */
} AstIsDistinct;

typedef struct AstWhen {
    AstExpr *condition;
    AstExpr *result;
} AstWhen;

typedef struct AstCase {
    AstExpr *operand; /* NULL in the searched form */
    AstWhen *whens;
    size_t when_count; /* at least 1 */
    AstExpr *else_;
} AstCase;

typedef struct AstCast {
    AstExpr *operand;
    AstDataType *type;
    bool try_;         /* TRY_CAST */
    bool double_colon; /* written x::type */
} AstCast;

typedef struct AstExtract {
    AstIdentifier field; /* YEAR, DOW, EPOCH …; checked by the binder */
    AstExpr *source;
} AstExtract;

typedef enum AstTrimKind {
    AST_TRIM_BOTH,
    AST_TRIM_LEADING,
    AST_TRIM_TRAILING,
} AstTrimKind;

/* TRIM(… FROM …); trim(a) is an AST_EXPR_CALL. */
typedef struct AstTrim {
    AstTrimKind kind;
    AstExpr *characters; /* NULL: blanks */
    AstExpr *source;
} AstTrim;

typedef struct AstStructItem {
    AstExpr *expr;
    AstIdentifier *aliases; /* more than one is refused by analysis */
    size_t alias_count;
} AstStructItem;

typedef struct AstStructConstructor {
    AstStructItem *items;
    size_t item_count;
} AstStructConstructor;

/* (a, b, …): the same value as STRUCT(a, b, …). */
typedef struct AstRow {
    AstExpr **items;
    size_t item_count; /* at least 2 */
} AstRow;

typedef struct AstArgument {
    AstIdentifier name; /* name => expr (SQ-20) */
    AstExpr *expr;      /* may be an AST_EXPR_LAMBDA in calls */
} AstArgument;

typedef struct AstSortItem {
    AstExpr *expr;
    bool descending;
    bool nulls_given;
    bool nulls_first; /* as written, or Spark's default: ASC first, DESC last */
    SourcePlace place;
} AstSortItem;

typedef enum AstFrameBoundKind {
    AST_FRAME_UNBOUNDED_PRECEDING,
    AST_FRAME_PRECEDING, /* expr */
    AST_FRAME_CURRENT_ROW,
    AST_FRAME_FOLLOWING, /* expr */
    AST_FRAME_UNBOUNDED_FOLLOWING,
} AstFrameBoundKind;

typedef struct AstFrameBound {
    AstFrameBoundKind kind;
    AstExpr *expr;
    SourcePlace place;
} AstFrameBound;

typedef struct AstFrame {
    bool range; /* RANGE; else ROWS */
    bool between;
    AstFrameBound start;
    AstFrameBound end; /* CURRENT ROW when BETWEEN was not written */
    SourcePlace place;
} AstFrame;

typedef struct AstWindow {
    AstIdentifier name; /* OVER w, OVER (w): the rest is empty */
    AstExpr **partition_by;
    size_t partition_by_count;
    AstSortItem *order_by;
    size_t order_by_count;
    AstFrame *frame;
    SourcePlace place;
} AstWindow;

typedef enum AstNullTreatment {
    AST_NULLS_DEFAULT,
    AST_NULLS_IGNORE,
    AST_NULLS_RESPECT,
} AstNullTreatment;

/* SUBSTRING(a FROM 1 FOR 2), POSITION(a IN b) and OVERLAY(a PLACING b FROM 1) are calls of
 * substring, position, overlay with their arguments in that order. struct() is a call too. */
typedef struct AstCall {
    AstName name;
    bool star; /* f(*) */
    bool distinct;
    AstArgument *arguments;
    size_t argument_count;
    AstSortItem *within_group;
    size_t within_group_count;
    AstExpr *filter; /* FILTER (WHERE …) */
    AstNullTreatment nulls;
    AstWindow *over;
} AstCall;

typedef struct AstLambda {
    AstIdentifier *parameters;
    size_t parameter_count; /* at least 1 */
    AstExpr *body;
} AstLambda;

typedef struct AstIndex {
    AstExpr *base;
    AstExpr *index;
} AstIndex;

/* base.name where base is not a plain name: (s).a, f(x).y, a[0].b. */
typedef struct AstField {
    AstExpr *base;
    AstIdentifier name;
} AstField;

/* base:name */
typedef struct AstVariantPath {
    AstExpr *base;
    AstIdentifier name;
} AstVariantPath;

typedef struct AstCollate {
    AstExpr *operand;
    AstIdentifier collation;
} AstCollate;

struct AstExpr {
    AstExprKind kind;
    SourcePlace place;
    Str text; /* with its operands' parentheses, without its own */
    union {
        AstLiteral literal;
        AstInterval interval;
        AstColumn column;
        AstUnary unary;
        AstBinary binary;
        AstBetween between;
        AstInList in_list;
        AstInQuery in_query;
        AstLike like;
        AstLikeQuantified like_quantified;
        AstIs is;
        AstIsDistinct is_distinct;
        AstCase case_;
        AstCast cast;
        AstQuery *exists;
        AstExtract extract;
        AstTrim trim;
        AstStructConstructor struct_;
        AstRow row;
        AstCall *call;
        AstLambda lambda;
        AstQuery *subquery;
        AstIndex index;
        AstField field;
        AstVariantPath variant_path;
        AstCollate collate;
    };
};

/* -------------------------------------------------------------- queries --- */

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

/* -------------------------------------------------- table specification --- */

/* What a mask or filter gets: a column, or a literal. */
typedef struct AstRoutineArgument {
    AstIdentifier column;
    AstExpr *literal; /* AST_EXPR_LITERAL */
} AstRoutineArgument;

/* MASK f [USING COLUMNS (…)], ROW FILTER f ON (…) */
typedef struct AstRoutine {
    AstName function; /* part_count 0 = absent */
    AstRoutineArgument *arguments;
    size_t argument_count;
    SourcePlace place;
} AstRoutine;

typedef enum AstConstraintKind {
    AST_CONSTRAINT_PRIMARY_KEY,
    AST_CONSTRAINT_FOREIGN_KEY,
} AstConstraintKind;

typedef struct AstConstraint {
    AstConstraintKind kind;
    AstIdentifier name;
    AstIdentifierList columns; /* empty when written behind a column */
    AstName references;
    AstIdentifierList referenced_columns;
    bool not_enforced;
    bool rely;
    bool norely;
    SourcePlace place;
} AstConstraint;

typedef enum AstColumnPropertyKind {
    AST_COLUMN_NOT_NULL,
    AST_COLUMN_COMMENT,             /* comment */
    AST_COLUMN_CONSTRAINT,          /* constraint */
    AST_COLUMN_MASK,                /* mask */
    AST_COLUMN_GENERATED,           /* GENERATED ALWAYS AS (expr): refused by analysis, as below */
    AST_COLUMN_IDENTITY_ALWAYS,     /* GENERATED ALWAYS AS IDENTITY */
    AST_COLUMN_IDENTITY_BY_DEFAULT, /* GENERATED BY DEFAULT AS IDENTITY */
    AST_COLUMN_DEFAULT,             /* DEFAULT expr */
} AstColumnPropertyKind;

typedef struct AstColumnProperty {
    AstColumnPropertyKind kind;
    SourcePlace place;
    AstString comment;
    AstConstraint *constraint;
    AstRoutine mask;
    AstExpr *expr;
} AstColumnProperty;

typedef struct AstColumnDefinition {
    AstIdentifier name;
    AstDataType *type;
    AstColumnProperty *properties; /* as written; may repeat (ast_check_duplicates finds it) */
    size_t property_count;
    SourcePlace place;
} AstColumnDefinition;

typedef enum AstViolationAction {
    AST_VIOLATION_WARN,
    AST_VIOLATION_FAIL_UPDATE,
    AST_VIOLATION_DROP_ROW,
} AstViolationAction;

typedef struct AstExpectation {
    AstIdentifier name;
    AstExpr *condition;
    AstViolationAction action;
    SourcePlace place;
} AstExpectation;

typedef struct AstProperty {
    Str key; /* dotted bare name and quoted text alike, as text */
    SourcePlace key_place;
    bool key_quoted;
    Str value; /* as text: 'x' is x, 3 is 3, TRUE is true */
    bool value_quoted;
    SourcePlace value_place;
} AstProperty;

typedef enum AstScheduleKind {
    AST_SCHEDULE_EVERY,
    AST_SCHEDULE_CRON,
    AST_SCHEDULE_TRIGGER, /* TRIGGER ON UPDATE */
} AstScheduleKind;

typedef struct AstSchedule {
    AstScheduleKind kind;
    AstInteger every;
    AstIntervalUnit every_unit; /* HOUR, DAY, WEEK */
    AstString cron;
    AstString time_zone;
    bool time_zone_local; /* AT TIME ZONE LOCAL: refused by analysis */
    SourcePlace time_zone_place;
    AstInterval *at_most_every; /* NULL when not written */
    SourcePlace place;
} AstSchedule;

typedef enum AstTableClauseKind {
    AST_CLAUSE_PARTITIONED_BY, /* columns */
    AST_CLAUSE_CLUSTER_BY,     /* columns, or cluster_auto */
    AST_CLAUSE_COMMENT,        /* string */
    AST_CLAUSE_COLLATION,      /* identifier */
    AST_CLAUSE_PROPERTIES,     /* properties */
    AST_CLAUSE_SCHEDULE,       /* schedule (SCHEDULE and TRIGGER) */
    AST_CLAUSE_ROW_FILTER,     /* row_filter */
} AstTableClauseKind;

typedef struct AstTableClause {
    AstTableClauseKind kind;
    SourcePlace place;
    AstIdentifierList columns;
    bool cluster_auto;
    AstString string;
    AstIdentifier identifier;
    AstProperty *properties;
    size_t property_count;
    AstSchedule *schedule;
    AstRoutine row_filter;
} AstTableClause;

/* ---------------------------------------------------------------- flows --- */

typedef enum AstFlowKind {
    AST_FLOW_INSERT,
    AST_FLOW_REPLACE_WHERE,
    AST_FLOW_REPLACE_USING,
    AST_FLOW_AUTO_CDC,
} AstFlowKind;

/* COLUMNS …, TRACK HISTORY ON … */
typedef struct AstColumnSelection {
    bool given;
    bool except; /* * EXCEPT (…) */
    bool parens; /* the list was written in parentheses */
    AstIdentifierList columns;
    SourcePlace place;
} AstColumnSelection;

typedef struct AstCdc {
    AstRelation *source; /* ->stream is true */
    AstIdentifierList keys;
    bool ignore_null_updates;
    AstExpr *delete_when;
    AstExpr *truncate_when;
    AstExpr *sequence_by;
    AstColumnSelection columns;
    bool scd_type_given;
    AstInteger scd_type; /* 1 when not given; the binder refuses other than 1, 2 */
    AstColumnSelection track_history;
    SourcePlace track_history_place;
} AstCdc;

typedef struct AstFlow {
    AstFlowKind kind;
    SourcePlace place;
    bool once;               /* INSERT ONCE, AUTO CDC ONCE (CREATE FLOW only) */
    AstExpr *where;          /* REPLACE WHERE */
    AstIdentifierList using; /* REPLACE USING: at least one */
    AstIdentifier sequence_by;
    AstQuery *query; /* all but AUTO CDC */
    AstCdc *cdc;
} AstFlow;

/* ----------------------------------------------------------- statements --- */

typedef struct AstCreateStreamingTable {
    bool or_refresh;
    bool if_not_exists;
    AstName name;
    bool has_specification;
    AstColumnDefinition *columns;
    size_t column_count;
    AstExpectation *expectations;
    size_t expectation_count;
    AstConstraint *constraints; /* table constraints */
    size_t constraint_count;
    AstTableClause *clauses; /* as written; may repeat (ast_check_duplicates finds it) */
    size_t clause_count;
    AstFlow *flow;      /* FLOW …; at most one of the two */
    AstQuery *as_query; /* AS query */
} AstCreateStreamingTable;

typedef struct AstCreateFlow {
    AstIdentifier name;
    AstString comment;
    AstName target;
    AstFlow *flow;
} AstCreateFlow;

typedef struct AstInsert {
    AstName target;
    bool by_name;
    bool has_columns;
    AstIdentifierList columns;
    AstQuery *query;
} AstInsert;

typedef enum AstRefreshMode {
    AST_REFRESH_DEFAULT,
    AST_REFRESH_FULL,
    AST_REFRESH_SYNC,
    AST_REFRESH_ASYNC,
} AstRefreshMode;

typedef struct AstRefresh {
    AstName name;
    bool streaming;
    AstRefreshMode mode;
} AstRefresh;

typedef enum AstAlterKind {
    AST_ALTER_ADD_SCHEDULE,
    AST_ALTER_ALTER_SCHEDULE,
    AST_ALTER_DROP_SCHEDULE,
    AST_ALTER_SET_PROPERTIES,
    AST_ALTER_SET_ROW_FILTER, /* this and all below: refused by analysis (UNSUPPORTED_ALTER) */
    AST_ALTER_DROP_ROW_FILTER,
    AST_ALTER_SET_MASK,
    AST_ALTER_DROP_MASK,
    AST_ALTER_RENAME,
    AST_ALTER_OWNER,
} AstAlterKind;

typedef struct AstAlter {
    AstName name;
    AstAlterKind kind;
    SourcePlace action_place;
    AstSchedule *schedule;
    AstProperty *properties;
    size_t property_count;
    AstRoutine routine;   /* row filter, mask */
    AstIdentifier column; /* of the mask */
    AstName new_name;
    AstIdentifier owner;
} AstAlter;

typedef enum AstDescribeKind {
    AST_DESCRIBE_TABLE,
    AST_DESCRIBE_QUERY,
    AST_DESCRIBE_FUNCTION,
} AstDescribeKind;

typedef struct AstDescribe {
    AstDescribeKind kind;
    bool extended;
    bool formatted;
    AstName name; /* table or function */
    AstName column;
    bool as_json;
    AstQuery *query;
} AstDescribe;

typedef enum AstShowKind {
    AST_SHOW_TABLES,
    AST_SHOW_VIEWS,
    AST_SHOW_COLUMNS,
    AST_SHOW_FUNCTIONS,
} AstShowKind;

typedef enum AstFunctionScope {
    AST_FUNCTIONS_DEFAULT,
    AST_FUNCTIONS_USER,
    AST_FUNCTIONS_SYSTEM,
    AST_FUNCTIONS_ALL,
} AstFunctionScope;

typedef struct AstShow {
    AstShowKind kind;
    AstFunctionScope scope;
    AstName table;  /* COLUMNS */
    AstName schema; /* FROM, IN */
    AstString pattern;
    AstName function; /* SHOW FUNCTIONS [LIKE] name */
} AstShow;

typedef enum AstExplainMode {
    AST_EXPLAIN_DEFAULT,
    AST_EXPLAIN_EXTENDED,
    AST_EXPLAIN_FORMATTED,
    AST_EXPLAIN_COST,
} AstExplainMode;

typedef struct AstExplain {
    AstExplainMode mode;
    AstStatement *statement;
} AstExplain;

typedef struct AstDelete {
    AstName target;
    AstTableAlias alias;
    AstExpr *where;
} AstDelete;

typedef struct AstAssignment {
    AstName column;
    AstExpr *value;
    SourcePlace place;
} AstAssignment;

typedef struct AstUpdate {
    AstName target;
    AstTableAlias alias;
    AstAssignment *assignments;
    size_t assignment_count;
    AstExpr *where;
} AstUpdate;

typedef enum AstMergeAction {
    AST_MERGE_UPDATE,
    AST_MERGE_DELETE,
    AST_MERGE_INSERT,
} AstMergeAction;

typedef struct AstMergeBranch {
    AstMergeAction action; /* UPDATE, DELETE: WHEN MATCHED; INSERT: WHEN NOT MATCHED */
    AstExpr *condition;    /* AND … */
    AstAssignment *assignments;
    size_t assignment_count;
    AstIdentifierList columns;
    AstExpr **values;
    size_t value_count;
    SourcePlace place;
} AstMergeBranch;

typedef struct AstMerge {
    AstName target;
    AstTableAlias alias;
    AstRelation *source;
    AstExpr *on;
    AstMergeBranch *branches;
    size_t branch_count; /* at least 1 */
} AstMerge;

typedef struct AstViewColumn {
    AstIdentifier name;
    AstString comment;
} AstViewColumn;

typedef struct AstCreateView {
    bool or_replace;
    bool temporary;
    bool if_not_exists;
    AstName name;
    AstViewColumn *columns;
    size_t column_count;
    AstTableClause *clauses; /* COMMENT and PROPERTIES only */
    size_t clause_count;
    AstQuery *query;
} AstCreateView;

typedef struct AstParameter {
    AstIdentifier name;
    AstDataType *type;
    AstExpr *default_;
    AstString comment;
} AstParameter;

typedef enum AstFunctionOptionKind {
    AST_FUNCTION_COMMENT,
    AST_FUNCTION_LANGUAGE_SQL,
    AST_FUNCTION_DETERMINISTIC,
    AST_FUNCTION_NOT_DETERMINISTIC,
} AstFunctionOptionKind;

typedef struct AstFunctionOption {
    AstFunctionOptionKind kind;
    AstString comment;
    SourcePlace place;
} AstFunctionOption;

typedef struct AstCreateFunction {
    bool or_replace;
    bool temporary;
    bool if_not_exists;
    SourcePlace if_not_exists_place;
    AstName name;
    AstParameter *parameters;
    size_t parameter_count;
    AstDataType *returns;       /* NULL when not written */
    AstFunctionOption *options; /* as written; may repeat (ast_check_duplicates finds it) */
    size_t option_count;
    AstQuery *query; /* RETURN query, or … */
    AstExpr *expr;   /* … RETURN expression */
} AstCreateFunction;

/* DROP [STREAMING] TABLE, DROP VIEW, DROP [TEMPORARY] FUNCTION */
typedef struct AstDrop {
    AstName name;
    bool if_exists;
    bool streaming;
    bool temporary;
} AstDrop;

typedef enum AstSetValueKind {
    AST_SET_STRING,
    AST_SET_NUMBER, /* with its sign */
    AST_SET_TRUE,
    AST_SET_FALSE,
    AST_SET_WORD, /* x.y */
} AstSetValueKind;

typedef struct AstSet {
    bool time_zone;  /* SET TIME ZONE … */
    AstString zone;  /* 'id' */
    bool zone_local; /* LOCAL: refused by analysis */
    AstInterval *zone_interval;
    Str name; /* dotted text */
    SourcePlace name_place;
    AstSetValueKind value_kind;
    Str value; /* as text */
    SourcePlace value_place;
} AstSet;

typedef enum AstUnsupportedKind {
    AST_UNSUPPORTED_ALTER_TABLE,
    AST_UNSUPPORTED_COPY_INTO,
    AST_UNSUPPORTED_ANALYZE_TABLE,
    AST_UNSUPPORTED_RESTORE,
    AST_UNSUPPORTED_TRUNCATE_TABLE,
    AST_UNSUPPORTED_GENERATE,
    AST_UNSUPPORTED_REPLACE_TABLE,
    AST_UNSUPPORTED_CREATE_OR_REPLACE_TABLE,
    AST_UNSUPPORTED_CLONE,
} AstUnsupportedKind;

/* A statement recognised so that analysis can refuse it by name (ST-60, ST-62). */
typedef struct AstUnsupported {
    AstUnsupportedKind kind;
    const char *words; /* "ALTER TABLE", "COPY INTO", … */
    AstName table;
} AstUnsupported;

typedef enum AstStatementKind {
    AST_STATEMENT_CREATE_STREAMING_TABLE,
    AST_STATEMENT_CREATE_FLOW,
    AST_STATEMENT_INSERT,
    AST_STATEMENT_REFRESH,
    AST_STATEMENT_ALTER,
    AST_STATEMENT_DESCRIBE,
    AST_STATEMENT_SHOW,
    AST_STATEMENT_EXPLAIN,
    AST_STATEMENT_QUERY,
    AST_STATEMENT_DELETE,
    AST_STATEMENT_UPDATE,
    AST_STATEMENT_MERGE,
    AST_STATEMENT_DROP_TABLE,
    AST_STATEMENT_CREATE_VIEW,
    AST_STATEMENT_DROP_VIEW,
    AST_STATEMENT_CREATE_FUNCTION,
    AST_STATEMENT_DROP_FUNCTION,
    AST_STATEMENT_SET,
    AST_STATEMENT_UNSUPPORTED,
} AstStatementKind;

struct AstStatement {
    AstStatementKind kind;
    SourcePlace place; /* of its first word */
    Str text;          /* without the ';' */
    union {
        AstCreateStreamingTable create_streaming_table;
        AstCreateFlow create_flow;
        AstInsert insert;
        AstRefresh refresh;
        AstAlter alter;
        AstDescribe describe;
        AstShow show;
        AstExplain explain;
        AstQuery *query;
        AstDelete delete_;
        AstUpdate update;
        AstMerge merge;
        AstDrop drop;
        AstCreateView create_view;
        AstCreateFunction create_function;
        AstSet set;
        AstUnsupported unsupported;
    };
};

typedef struct AstScript {
    AstStatement **statements;
    size_t statement_count;
} AstScript;

#endif
