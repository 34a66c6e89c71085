/* Which types a column of a table that exists may change to (RW-50): wider ones, which hold every
 * value of the one before, so that rows stay readable that were written before.
 *
 *     TINYINT … BIGINT   a larger one, a DECIMAL with as many digits before the point, DOUBLE
 *     DECIMAL            as many digits before the point and behind it, or more
 *     DATE               TIMESTAMP, TIMESTAMP_NTZ
 *     ARRAY, MAP         their elements, values; a MAP keeps its key type
 *     STRUCT             fields may be added, and widen
 *
 * FLOAT does not widen: its text in a topic reads as another DOUBLE (0.1 is not 0.1f). */
#ifndef DATA_TYPE_WIDENING_H
#define DATA_TYPE_WIDENING_H

#include "processor/data/type.h"

/* True for equal types too. */
bool type_widens_to(const Type *from, const Type *to);
/* Do values that differ still differ as the wider type? Not those of a BIGINT beyond 2^53 as
 * DOUBLE. For types of which type_widens_to is true. */
bool type_widening_is_exact(const Type *from, const Type *to);

#endif
