/* What the binder needs to know of a function. The functions themselves (functions.def, kernels)
 * live in exec/, which hands the binder a FunctionCatalog: bind/ never includes exec/.
 *
 * Operators are functions too, named as SQL writes them: "+", "-", "*", "/", "%", "div", "=",
 * "<=>",
 * "<", "<=", ">", ">=", "<>", "||", "&", "|", "^", "~", "negative" (unary minus), "like", …
 * "isnull", "isnotnull". Lazily evaluated forms are no functions but kinds of BoundExpr (bound.h).
 */
#ifndef BIND_FUNCTION_H
#define BIND_FUNCTION_H

#include "processor/base/error.h"
#include "processor/data/type.h"

typedef struct Function Function;
typedef struct BoundExpr BoundExpr;
typedef struct Vector Vector;
typedef struct TimeZone TimeZone;
typedef struct Kernel Kernel; /* exec's: how to compute it */
typedef struct AggregateKernel AggregateKernel;
typedef struct WindowKernel WindowKernel;
typedef struct GeneratorKernel GeneratorKernel;

typedef enum FunctionKind {
    FUNCTION_SCALAR,
    FUNCTION_AGGREGATE,
    FUNCTION_WINDOW,    /* ranking and offset functions: need OVER */
    FUNCTION_GENERATOR, /* explode, posexplode, … */
    FUNCTION_TABLE,     /* range(), read_files(): stand in FROM */
} FunctionKind;

typedef enum FunctionFlags {
    FUNCTION_DETERMINISTIC = 1 << 0,
    FUNCTION_NULL_IN_NULL_OUT =
        1 << 1,                 /* result is NULL when an argument is; kernels see no nulls */
    FUNCTION_CAN_FAIL = 1 << 2, /* may raise an error on a row: never evaluated where not asked */
    FUNCTION_CLOCK = 1 << 3,    /* reads the update's clock: constant within it */
    FUNCTION_HIGHER_ORDER = 1 << 4, /* takes lambdas: `resolve` sees them as BOUND_LAMBDA, see
                                     * FunctionCall.lambdas */
    FUNCTION_FORGIVES = 1 << 5,     /* NULL where an argument's implicit cast fails */
} FunctionFlags;

typedef struct FunctionCall {
    const Function *function;
    const Type **argument_types; /* in: as bound; out: what the kernel wants, the binder casts */
    size_t argument_count;
    BoundExpr *const *arguments; /* as bound, for types that depend on literals; NULL: unknown */
    /* Aggregates: types of WITHIN GROUP's sort keys, in and out as argument_types. */
    const Type **sort_types;
    size_t sort_count;
    bool distinct;
    Arena *arena;
    SourcePlace place;   /* of the call */
    Str text;            /* SQL text of the call, for messages */
    const Type *cast_to; /* out: what the call's value is cast to; NULL: it stays as it is */
} FunctionCall;

/* What a lambda gets as argument of a higher-order function: types of its parameters, of which it
 * may leave out the last ones down to count_min. */
enum { LAMBDA_PARAMETERS_MAX = 3 };
typedef struct LambdaTypes {
    const Type *types[LAMBDA_PARAMETERS_MAX];
    size_t count; /* 0: the argument is no lambda's place */
    size_t count_min;
} LambdaTypes;

struct Function {
    const char *name; /* lower case; operators as written */
    FunctionKind kind;
    unsigned flags;
    int argument_min;
    int argument_max; /* -1: any number */
    /* Decides types for a call with a right number of arguments: replaces argument_types by the
     * wanted ones and gives the result's type. DATATYPE_MISMATCH… errors, placed. NULL for
     * functions that are known by name but not built yet: the binder says NOT_YET. */
    Error *(*resolve)(FunctionCall *call, const Type **ret_type);
    /* HIGHER_ORDER: the parameters of a lambda that stands as argument `argument`. The types of
     * arguments before it and of those that are no lambda are known (others: NULL). */
    Error *(*lambda_types)(const FunctionCall *call, size_t argument, LambdaTypes *ret);
    const Kernel *kernel;             /* SCALAR */
    const AggregateKernel *aggregate; /* AGGREGATE */
    const WindowKernel *window;       /* WINDOW */
    const GeneratorKernel *generator; /* GENERATOR: the result type is a STRUCT of its columns */
    const char *doc;                  /* one line */
    const char *example;              /* "SELECT upper('a'); -- A" */
};

typedef struct FunctionCatalog {
    /* The function of that name (any letter case), NULL when there is none. */
    const Function *(*find)(Str name);
    /* The nearest function name, NULL when none is near. */
    const char *(*nearest)(Str name);
    /* Function number `index` in alphabetical order, NULL behind the last. */
    const Function *(*at)(size_t index);
    /* The value of an expression without columns (a vector of length 1, in the arena), or the error
     * it fails with. */
    Error *(*evaluate)(const BoundExpr *expr, const TimeZone *zone, Arena *arena,
                       const Vector **ret_value);
} FunctionCatalog;

#endif
