/* Sorting row numbers of values kept in a state. */
#ifndef EXEC_AGGREGATES_ROW_ORDER_H
#define EXEC_AGGREGATES_ROW_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Does row a come behind row b? */
typedef bool IsBehind(const void *context, uint32_t a, uint32_t b);

/* The numbers 0 … count - 1 in order; rows of which none is behind the other keep their order. Free
 * with mem_free. */
uint32_t *row_order_new(uint32_t count, IsBehind *is_behind, const void *context);

#endif
