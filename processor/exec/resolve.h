/* How functions decide their types: Function.resolve of functions.def. */
#ifndef EXEC_RESOLVE_H
#define EXEC_RESOLVE_H

#include "processor/bind/coerce.h"
#include "processor/bind/function.h"
#include "processor/exec/kernel.h"

/* A function with what only exec needs to know of it. */
typedef struct FunctionEntry {
    Function function; /* first: the binder's Function * is the entry */
    const char *signature;
} FunctionEntry;

/* By the entry's signature, "ss?>i": a letter a parameter, then the result. Letters: b BOOLEAN,
 * i INT, l BIGINT, L BIGINT from integers only, d DOUBLE, s STRING, x BINARY, a DATE, t TIMESTAMP,
 * S ARRAY<STRING>, o TIMESTAMP or TIMESTAMP_NTZ, y STRING or BINARY, ? anything, = (result) the
 * first argument's type; the last parameter repeats where there are more arguments. */
NODISCARD Error *resolve_signature(FunctionCall *call, const Type **ret_type);

/* The others: they may change call->argument_types (what each argument is cast to) and give the
 * result type, or the error in Spark's words. */
NODISCARD Error *resolve_arithmetic(FunctionCall *call,
                                    const Type **ret_type); /* + - * / % div, mod … */
NODISCARD Error *resolve_sign(FunctionCall *call,
                              const Type **ret_type); /* negative positive abs */
NODISCARD Error *resolve_bits(FunctionCall *call, const Type **ret_type); /* & | ^ ~ */
NODISCARD Error *resolve_shift(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_round(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_ceil(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_comparison(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_extreme(FunctionCall *call, const Type **ret_type); /* greatest, least */
NODISCARD Error *resolve_concat(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_concat_ws(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_reverse(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_hex(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_date_shift(FunctionCall *call,
                                    const Type **ret_type); /* date_add, date_sub */
NODISCARD Error *resolve_timestamp_seconds(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_unix_timestamp(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_cast_date(FunctionCall *call, const Type **ret_type); /* to_date */
NODISCARD Error *resolve_cast_timestamp(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_subscript(FunctionCall *call,
                                   const Type **ret_type); /* [] element_at get */
NODISCARD Error *resolve_size(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_contains(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_same(FunctionCall *call,
                                    const Type **ret_type); /* array in, array out */
NODISCARD Error *resolve_array_element(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_part(FunctionCall *call,
                                  const Type **ret_type); /* map_keys, map_values */

/* Result types of DECIMAL arithmetic (Spark's DecimalPrecision, adjusted to 38 digits). */
typedef enum ArithmeticOp {
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER
} ArithmeticOp;
typedef struct DecimalShape {
    int precision;
    int scale;
} DecimalShape;
/* The exact result's shape before it is cut to 38 digits, and after. */
DecimalShape decimal_exact_shape(ArithmeticOp op, const Type *a, const Type *b);
DecimalShape decimal_adjusted(DecimalShape exact);

/* Errors as Spark words them. `parameter` counts from 0. */
NODISCARD COLD RETURNS_NONNULL Error *wrong_type(const FunctionCall *call, size_t parameter,
                                                 const char *required);
NODISCARD COLD RETURNS_NONNULL Error *different_operands(const FunctionCall *call);
NODISCARD COLD RETURNS_NONNULL Error *wrong_operands(const FunctionCall *call,
                                                     const char *required);
NODISCARD COLD RETURNS_NONNULL Error *different_inputs(const FunctionCall *call);
NODISCARD COLD RETURNS_NONNULL Error *not_yet_for(const FunctionCall *call, const char *what);

#endif
