/* Spark 4's ANSI rules of implicit conversion. */
#ifndef BIND_COERCE_H
#define BIND_COERCE_H

#include "processor/data/type.h"

/* The least common type of two (CASE branches, COALESCE, IN, comparison of equals), NULL when there
 * is none. DECIMALs widen; integral with DECIMAL becomes DECIMAL; with DOUBLE, DOUBLE; a STRING
 * with an atomic type becomes that type (ANSI: string 'x' compared with an INT is cast to
 * BIGINT/DOUBLE as Spark does); NULL takes the other. */
const Type *coerce_common_type(Arena *arena, const Type *a, const Type *b);
/* DECIMAL(precision, scale), where precision may exceed 38: fraction digits give way. */
const Type *coerce_decimal_bounded(Arena *arena, int precision, int scale);
/* The DECIMAL that holds every value of a numeric type: INT is DECIMAL(10,0), DOUBLE
 * DECIMAL(30,15). */
const Type *coerce_to_decimal(Arena *arena, const Type *type);
/* May a value of `from` stand where `to` is wanted without an explicit CAST (function arguments)?
 */
bool coerce_is_implicit(const Type *from, const Type *to);
/* May `from` be stored into a column of type `to` (ANSI store assignment, ST-50)? */
bool coerce_is_assignable(const Type *from, const Type *to);
/* Can CAST(from AS to) ever work? */
bool coerce_is_castable(const Type *from, const Type *to);
/* And TRY_CAST? A map's key must not become NULL, so its cast must be one that cannot fail. */
bool coerce_is_try_castable(const Type *from, const Type *to);
/* Could Spark cast it outside of ANSI mode? */
bool coerce_was_castable(const Type *from, const Type *to);

#endif
