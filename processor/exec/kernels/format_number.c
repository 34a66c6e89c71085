/* format_number: so many digits behind the point, or a pattern. */
#include "processor/data/number_format.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* False: the row is NULL or failed. */
static bool format_of(const KernelCall *call, uint32_t row, NumberFormat *ret)
{
    if (call->arguments[1]->type->kind == TYPE_INT) {
        int32_t digits = ARGUMENT(call, 1, int32_t)[row];
        if (digits < 0) {
            vector_set_null(call->result, call->arena, row);
            return false;
        }
        *ret = number_format_digits(digits);
        return true;
    }
    Error *error = number_format_parse(ARGUMENT(call, 1, Str)[row], ret);
    if (error != NULL) {
        kernel_fail(call, row, error);
    }
    return error == NULL;
}

static void format_number(const KernelCall *call)
{
    const Type *type = call->arguments[0]->type;
    FOR_VALID_ROWS(call, i)
    {
        NumberFormat format;
        if (!format_of(call, i, &format)) {
            continue;
        }
        AUTO_BUFFER Buffer text = {0};
        if (type->kind == TYPE_DOUBLE) {
            number_format_double(&format, ARGUMENT(call, 0, double)[i], &text);
        } else {
            number_format_decimal(&format, ARGUMENT(call, 0, int128)[i], type->scale, &text);
        }
        RESULT(call, Str)[i] = arena_copy_str(call->arena, buffer_str(&text));
    }
}

const Kernel kernel_format_number = {.run = format_number};
