/* Integers of 256 bits, sign and magnitude: the exact results of DECIMAL operations that 128 bits
 * cannot hold. For the rare row only. */
#ifndef EXEC_KERNELS_WIDE_H
#define EXEC_KERNELS_WIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/base/compiler.h"

typedef struct Wide {
    uint64_t limbs[4]; /* least first */
    bool negative;
} Wide;

/* value * 10^power, 0 <= power <= 38. */
Wide wide_scaled(int128 value, int power);
/* |a|, |b| < 10^76: never overflows. */
Wide wide_add(Wide a, Wide b);
Wide wide_negate(Wide a);
/* a * b */
Wide wide_product(int128 a, int128 b);
/* a / 10^power, rounded half up (away from zero). */
Wide wide_round(Wide a, int power);
/* Quotient cut toward zero, and remainder with a's sign. b != 0. */
void wide_divide(Wide a, Wide b, Wide *ret_quotient, Wide *ret_remainder);
bool wide_is_zero(const Wide *a);
/* False when it does not fit. */
bool wide_to_int128(const Wide *a, int128 *ret_value);
/* As a decimal number with `scale` fraction digits. */
void wide_format(const Wide *a, int scale, Buffer *out);

#endif
