/* Functions about NULL and truth that fit no other file. */
#include <math.h>

#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

static void not(const KernelCall *call)
{
    const uint8_t *restrict a = ARGUMENT(call, 0, uint8_t);
    uint8_t *restrict r = RESULT(call, uint8_t);
    FOR_ROWS(call->rows, i, { r[i] = a[i] == 0; });
}

static bool is_missing(const Vector *vector, uint32_t row)
{
    return !vector_is_valid(vector, row) || type_physical(vector->type) == PHYSICAL_NONE;
}

static void is_null(const KernelCall *call)
{
    const Vector *a = call->arguments[0];
    uint8_t *r = RESULT(call, uint8_t);
    FOR_ROWS(call->rows, i, { r[i] = is_missing(a, i); });
}

static void is_not_null(const KernelCall *call)
{
    const Vector *a = call->arguments[0];
    uint8_t *r = RESULT(call, uint8_t);
    FOR_ROWS(call->rows, i, { r[i] = !is_missing(a, i); });
}

static void is_nan(const KernelCall *call)
{
    const Vector *a = call->arguments[0];
    uint8_t *r = RESULT(call, uint8_t);
    FOR_ROWS(call->rows, i, { r[i] = !is_missing(a, i) && isnan(VECTOR_VALUE(a, double, i)); });
}

static void nanvl(const KernelCall *call)
{
    const double *a = ARGUMENT(call, 0, double);
    const double *b = ARGUMENT(call, 1, double);
    double *r = RESULT(call, double);
    FOR_ROWS(call->rows, i, { r[i] = isnan(a[i]) ? b[i] : a[i]; });
}

/* The argument itself, for functions that are a cast or nothing at all: the result takes over the
 * argument's memory. */
static void same(const KernelCall *call)
{
    const Type *type = call->result->type;
    *call->result = *call->arguments[0];
    call->result->type = type;
    call->result->length = call->row_count;
}

static void type_of(const KernelCall *call)
{
    AUTO_BUFFER Buffer name = {0};
    type_format_simple(call->arguments[0]->type, &name);
    Str text = arena_copy_str(call->arena, buffer_str(&name));
    Str *r = RESULT(call, Str);
    FOR_ROWS(call->rows, i, { r[i] = text; });
}

const Kernel kernel_not = {.run = not};
const Kernel kernel_is_null = {.run = is_null};
const Kernel kernel_is_not_null = {.run = is_not_null};
const Kernel kernel_is_nan = {.run = is_nan};
const Kernel kernel_nanvl = {.run = nanvl};
const Kernel kernel_same = {.run = same};
const Kernel kernel_typeof = {.run = type_of};
