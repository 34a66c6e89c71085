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
 * i INT, l BIGINT, L BIGINT from integers only, d DOUBLE, s STRING, q STRING from no other type, x
 * BINARY, a DATE, t TIMESTAMP, n TIMESTAMP_NTZ, S ARRAY<STRING>, A any ARRAY, M any MAP, o
 * TIMESTAMP or TIMESTAMP_NTZ, y STRING or BINARY, ? anything, = (result) the first argument's type;
 * the last parameter repeats where there are more arguments. */
NODISCARD Error *resolve_signature(FunctionCall *call, const Type **ret_type);

/* The others: they may change call->argument_types (what each argument is cast to) and give the
 * result type, or the error in Spark's words. */
NODISCARD Error *resolve_arithmetic(FunctionCall *call,
                                    const Type **ret_type); /* + - * / % div, mod … */
NODISCARD Error *resolve_sign(FunctionCall *call,
                              const Type **ret_type); /* negative positive abs */
NODISCARD Error *resolve_signum(FunctionCall *call, const Type **ret_type);
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
NODISCARD Error *resolve_to_char(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_to_number(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_format_number(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_format_string(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_width_bucket(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_bit_count(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_getbit(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_timestampadd(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_convert_timezone(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_make_timestamp(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_timestamp_seconds(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_unix_timestamp(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_cast_date(FunctionCall *call, const Type **ret_type); /* to_date */
NODISCARD Error *resolve_cast_timestamp(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_cast_timestamp_ntz(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_subscript(FunctionCall *call,
                                   const Type **ret_type); /* [] element_at get */
NODISCARD Error *resolve_size(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_contains(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_get(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_element(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_part(FunctionCall *call,
                                  const Type **ret_type); /* map_keys, map_values */

/* Of higher-order functions, in resolve_lambda.c: what a lambda gets … */
NODISCARD Error *lambda_of_element(const FunctionCall *call, size_t argument, LambdaTypes *ret);
NODISCARD Error *lambda_of_element_and_index(const FunctionCall *call, size_t argument,
                                             LambdaTypes *ret);
NODISCARD Error *lambda_of_two_elements(const FunctionCall *call, size_t argument,
                                        LambdaTypes *ret);
NODISCARD Error *lambda_of_aggregate(const FunctionCall *call, size_t argument, LambdaTypes *ret);
NODISCARD Error *lambda_of_zip(const FunctionCall *call, size_t argument, LambdaTypes *ret);
NODISCARD Error *lambda_of_entry(const FunctionCall *call, size_t argument, LambdaTypes *ret);
NODISCARD Error *lambda_of_map_zip(const FunctionCall *call, size_t argument, LambdaTypes *ret);
/* … and what comes out; exists and forall, map_filter and filter are alike. */
NODISCARD Error *resolve_transform(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_filter(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_exists(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_aggregate(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_sort(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_transform_keys(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_transform_values(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_zip_with(FunctionCall *call, const Type **ret_type);

/* Arrays and maps made of others, in resolve_array.c. */
NODISCARD Error *resolve_array_and_value(FunctionCall *call,
                                         const Type **ret_type); /* array_append … */
NODISCARD Error *resolve_array_insert(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_remove(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_sets(FunctionCall *call, const Type **ret_type); /* array_union … */
NODISCARD Error *resolve_arrays_overlap(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_distinct(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_sort_array(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_flatten(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_array_repeat(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_arrays_zip(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_sequence(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_concat(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_entries(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_from_entries(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_from_arrays(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_str_to_map(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_map_contains_key(FunctionCall *call, const Type **ret_type);
/* MAP_FUNCTION_DIFF_TYPES: the value is no key of the map. */
NODISCARD COLD RETURNS_NONNULL Error *different_key(const FunctionCall *call);

/* JSON and CSV, in resolve_json.c. */
NODISCARD Error *resolve_from_json(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_to_json(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_schema_of_json(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_from_csv(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_to_csv(FunctionCall *call, const Type **ret_type);
/* STRINGs only; the entry's signature is the result: s, i, S as resolve_signature's. */
NODISCARD Error *resolve_texts(FunctionCall *call, const Type **ret_type);

/* Hashes, random numbers, texts, in resolve_text.c. */
NODISCARD Error *resolve_hash(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_random(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_uuid(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_shuffle(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_raise_error(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_assert_true(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_pad(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_elt(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_mask(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_regexp_replace(FunctionCall *call, const Type **ret_type);
/* The value of an argument that is known when the call is bound; *ret is NULL when it is not. */
NODISCARD Error *argument_value(const FunctionCall *call, size_t argument, const Vector **ret);

/* The type arrays of both element types can have where Spark converts carefully: no text for other
 * types, no other DECIMAL; NULL when there is none. */
const Type *tightest_type(Arena *arena, const Type *a, const Type *b);
/* INVALID_ORDERING_TYPE, INVALID_MAP_KEY_TYPE when the type cannot be sorted, or be a key. */
NODISCARD Error *want_orderable(const FunctionCall *call, const Type *type);
NODISCARD Error *want_map_key(const FunctionCall *call, const Type *type);

NODISCARD Error *resolve_make_ym_interval(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_make_dt_interval(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_interval_part(FunctionCall *call,
                                       const Type **ret_type); /* extract(year) … */
NODISCARD Error *resolve_second_fraction(FunctionCall *call, const Type **ret_type);

/* Arithmetic of two operands of which one is a date, time or interval (resolve_interval.c). */
bool resolve_has_times(const FunctionCall *call);
NODISCARD Error *resolve_time_sum(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_time_difference(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_time_product(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_time_quotient(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_time_div(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_time_remainder(FunctionCall *call, const Type **ret_type);

/* Aggregates (resolve_aggregate.c) */
NODISCARD Error *resolve_count(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_sum(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_avg(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_ordered(FunctionCall *call, const Type **ret_type);    /* min, max */
NODISCARD Error *resolve_ordered_by(FunctionCall *call, const Type **ret_type); /* min_by … */
NODISCARD Error *resolve_first_argument(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_bit_aggregate(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_collect_list(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_collect_set(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_collect_union(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_percentile(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_median(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_percentile_within(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_percentile_approx(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_mode(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_count_distinct(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_listagg(FunctionCall *call, const Type **ret_type);
/* window(ts, slide, start, shift) as the binder calls it: the time's type. */
NODISCARD Error *resolve_time_window(FunctionCall *call, const Type **ret_type);

/* Generators (resolve_generator.c) */
NODISCARD Error *resolve_explode(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_posexplode(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_inline(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_stack(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_json_tuple(FunctionCall *call, const Type **ret_type);

/* Window functions, in resolve_window.c: row_number rank dense_rank, percent_rank cume_dist … */
NODISCARD Error *resolve_rank(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_rank_share(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_ntile(FunctionCall *call, const Type **ret_type);
NODISCARD Error *resolve_lag(FunctionCall *call, const Type **ret_type); /* lag, lead */
NODISCARD Error *resolve_nth_value(FunctionCall *call, const Type **ret_type);

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

/* FunctionCatalog.evaluate */
NODISCARD Error *constant_evaluate(const BoundExpr *expr, const TimeZone *zone, Arena *arena,
                                   const Vector **ret_value);

#endif
