/* Syntax tree: names, data types and expressions. What all nodes have in common is said in ast.h,
 * which includes this. */
#ifndef SQL_AST_EXPR_H
#define SQL_AST_EXPR_H

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
    Str text; /* the parts with dots between: no backquotes, no blanks */
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
    bool try_; /* TRY_CAST */
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

#endif
