/* Arrays made of arrays: slice, flatten, array_append, array_prepend, array_insert, array_remove,
 * array_compact, array_repeat, arrays_zip. Row by row, in order. */
#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* What a failing or NULL row of a list is. */
static void append_nothing(const KernelCall *call)
{
    vector_append_null(call->result, call->arena);
}

static void append_range(const KernelCall *call, const Vector *elements, uint32_t first,
                         uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        vector_append_from(call->result->children[0], call->arena, elements, i);
    }
}

static void append_elements_of(const KernelCall *call, const Vector *list, uint32_t row)
{
    append_range(call, list->children[0], list->offsets[row], list->offsets[row + 1]);
}

static void finish(const KernelCall *call)
{
    vector_finish_list(call->result, call->arena);
}

static bool element_is_null(const Vector *elements, uint32_t element)
{
    return !vector_is_valid(elements, element) || type_physical(elements->type) == PHYSICAL_NONE;
}

/* ---- slice ---- */

static Error *check_slice(int32_t start, int32_t length)
{
    if (start == 0) {
        return error_new(ERROR_INVALID_START,
                         "The value of parameter(s) `start` in `slice` is invalid: Expects a "
                         "positive or a negative value for `start`, but got 0.");
    }
    if (length < 0) {
        return error_new(ERROR_INVALID_LENGTH,
                         "The value of parameter(s) `length` in `slice` is invalid: Expects "
                         "`length` greater than or equal to 0, but got %d.",
                         length);
    }
    return NULL;
}

static void append_slice(const KernelCall *call, uint32_t row)
{
    if (!kernel_arguments_valid(call, row)) {
        append_nothing(call);
        return;
    }
    const Vector *list = call->arguments[0];
    int32_t start = ARGUMENT(call, 1, int32_t)[row];
    int32_t length = ARGUMENT(call, 2, int32_t)[row];
    Error *error = check_slice(start, length);
    if (error != NULL) {
        kernel_fail(call, row, error);
        append_nothing(call);
        return;
    }
    int64_t count = list_count(list, row);
    int64_t first = start > 0 ? (int64_t)start - 1 : count + start;
    int64_t end = first + length < count ? first + length : count;
    if (first >= 0 && first < end) {
        append_range(call, list->children[0], list->offsets[row] + (uint32_t)first,
                     list->offsets[row] + (uint32_t)end);
    }
    finish(call);
}

static void slice(const KernelCall *call)
{
    append_rows(call, append_slice);
}

/* ---- flatten ---- */

static bool has_null_element(const Vector *list, uint32_t row)
{
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        if (element_is_null(list->children[0], i)) {
            return true;
        }
    }
    return false;
}

static void append_flat(const KernelCall *call, uint32_t row)
{
    const Vector *list = call->arguments[0];
    if (!vector_is_valid(list, row) || has_null_element(list, row)) {
        append_nothing(call);
        return;
    }
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        append_elements_of(call, list->children[0], i);
    }
    finish(call);
}

static void flatten(const KernelCall *call)
{
    append_rows(call, append_flat);
}

/* ---- One element more ---- */

static void append_value(const KernelCall *call, const Vector *value, uint32_t row)
{
    vector_append_from(call->result->children[0], call->arena, value, row);
}

static void append_appended(const KernelCall *call, uint32_t row)
{
    if (!vector_is_valid(call->arguments[0], row)) {
        append_nothing(call);
        return;
    }
    append_elements_of(call, call->arguments[0], row);
    append_value(call, call->arguments[1], row);
    finish(call);
}

static void append_prepended(const KernelCall *call, uint32_t row)
{
    if (!vector_is_valid(call->arguments[0], row)) {
        append_nothing(call);
        return;
    }
    append_value(call, call->arguments[1], row);
    append_elements_of(call, call->arguments[0], row);
    finish(call);
}

static void array_append(const KernelCall *call)
{
    append_rows(call, append_appended);
}

static void array_prepend(const KernelCall *call)
{
    append_rows(call, append_prepended);
}

/* Spark's limit of an array (Integer.MAX_VALUE - 15), and a smaller one of our own: one row must
 * not take all memory. */
enum { ARRAY_ELEMENTS_MAX = 16 * 1024 * 1024 };

static bool is_too_long(const KernelCall *call, uint32_t row, int64_t count)
{
    if (count <= ARRAY_ELEMENTS_MAX) {
        return false;
    }
    kernel_fail(call, row,
                error_new(ERROR_COLLECTION_SIZE_LIMIT_EXCEEDED,
                          "Can't create array with %lld elements which exceeding the array size "
                          "limit %d.",
                          (long long)count, ARRAY_ELEMENTS_MAX));
    append_nothing(call);
    return true;
}

static void append_nulls(const KernelCall *call, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        vector_append_null(call->result->children[0], call->arena);
    }
}

/* array_insert(list, position, value): from 1; from the end when negative, -1 is behind the last.
 * Positions outside fill up with NULLs. */
static void insert_value(const KernelCall *call, uint32_t row, int64_t position)
{
    const Vector *list = call->arguments[0];
    const Vector *elements = list->children[0];
    int64_t count = list_count(list, row);
    int64_t at = position > 0 ? position - 1 : count + position + 1;
    int64_t length = at < 0 ? 1 - at + count : at > count ? at + 1 : count + 1;
    if (is_too_long(call, row, length)) {
        return;
    }
    if (at < 0) {
        append_value(call, call->arguments[2], row);
        append_nulls(call, -at);
        append_elements_of(call, list, row);
    } else {
        uint32_t split = list->offsets[row] + (uint32_t)(at < count ? at : count);
        append_range(call, elements, list->offsets[row], split);
        append_nulls(call, at - count);
        append_value(call, call->arguments[2], row);
        append_range(call, elements, split, list->offsets[row + 1]);
    }
    finish(call);
}

static void append_inserted(const KernelCall *call, uint32_t row)
{
    if (!vector_is_valid(call->arguments[0], row) || !vector_is_valid(call->arguments[1], row)) {
        append_nothing(call);
        return;
    }
    int32_t position = ARGUMENT(call, 1, int32_t)[row];
    if (position == 0) {
        kernel_fail(call, row,
                    error_new(ERROR_INVALID_INDEX_OF_ZERO,
                              "The index 0 is invalid. An index shall be either < 0 or > 0 (the "
                              "first element has index 1)."));
        append_nothing(call);
        return;
    }
    insert_value(call, row, position);
}

static void array_insert(const KernelCall *call)
{
    append_rows(call, append_inserted);
}

/* ---- Fewer elements ---- */

static void append_without(const KernelCall *call, uint32_t row)
{
    if (!kernel_arguments_valid(call, row)) {
        append_nothing(call);
        return;
    }
    const Vector *list = call->arguments[0];
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        if (!vector_value_equal(list->children[0], i, call->arguments[1], row)) {
            append_range(call, list->children[0], i, i + 1);
        }
    }
    finish(call);
}

static void append_compact(const KernelCall *call, uint32_t row)
{
    const Vector *list = call->arguments[0];
    if (!vector_is_valid(list, row)) {
        append_nothing(call);
        return;
    }
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        if (!element_is_null(list->children[0], i)) {
            append_range(call, list->children[0], i, i + 1);
        }
    }
    finish(call);
}

static void array_remove(const KernelCall *call)
{
    append_rows(call, append_without);
}

static void array_compact(const KernelCall *call)
{
    append_rows(call, append_compact);
}

/* ---- array_repeat ---- */

static void append_repeated(const KernelCall *call, uint32_t row)
{
    if (!vector_is_valid(call->arguments[1], row)) {
        append_nothing(call);
        return;
    }
    int32_t count = ARGUMENT(call, 1, int32_t)[row];
    if (is_too_long(call, row, count)) {
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        append_value(call, call->arguments[0], row);
    }
    finish(call);
}

static void array_repeat(const KernelCall *call)
{
    append_rows(call, append_repeated);
}

/* ---- arrays_zip ---- */

static uint32_t longest_list(const KernelCall *call, uint32_t row)
{
    uint32_t longest = 0;
    for (size_t k = 0; k < call->argument_count; k++) {
        uint32_t count = list_count(call->arguments[k], row);
        longest = count > longest ? count : longest;
    }
    return longest;
}

static void append_zipped(const KernelCall *call, uint32_t row)
{
    if (!kernel_arguments_valid(call, row)) {
        append_nothing(call);
        return;
    }
    Vector *structs = call->result->children[0];
    uint32_t count = longest_list(call, row);
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = 0; k < call->argument_count; k++) {
            const Vector *list = call->arguments[k];
            if (i < list_count(list, row)) {
                vector_append_from(structs->children[k], call->arena, list->children[0],
                                   list->offsets[row] + i);
            } else {
                vector_append_null(structs->children[k], call->arena);
            }
        }
        vector_finish_struct(structs, call->arena);
    }
    finish(call);
}

static void arrays_zip(const KernelCall *call)
{
    append_rows(call, append_zipped);
}

const Kernel kernel_slice = {.run = slice};
const Kernel kernel_flatten = {.run = flatten};
const Kernel kernel_array_append = {.run = array_append};
const Kernel kernel_array_prepend = {.run = array_prepend};
const Kernel kernel_array_insert = {.run = array_insert};
const Kernel kernel_array_remove = {.run = array_remove};
const Kernel kernel_array_compact = {.run = array_compact};
const Kernel kernel_array_repeat = {.run = array_repeat};
const Kernel kernel_arrays_zip = {.run = arrays_zip};
