/* Arrays and maps: making them, looking into them. Results are built row by row, in order, since a
 * list's elements must follow one another. */
#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

void append_rows(const KernelCall *call, AppendRow *one)
{
    call->result->length = 0;
    for (uint32_t k = 0; k < call->rows.count; k++) {
        uint32_t row = rows_at(call->rows, k);
        list_skip_to(call, row);
        one(call, row);
    }
    list_skip_to(call, call->row_count);
}

/* ---- Making ---- */

static void append_array(const KernelCall *call, uint32_t row)
{
    for (size_t k = 0; k < call->argument_count; k++) {
        vector_append_from(call->result->children[0], call->arena, call->arguments[k], row);
    }
    vector_finish_list(call->result, call->arena);
}

static void array(const KernelCall *call)
{
    append_rows(call, append_array);
}

static void append_map(const KernelCall *call, uint32_t row)
{
    Vector *result = call->result;
    Vector *keys = result->children[0];
    uint32_t first = keys->length;
    for (size_t k = 0; k < call->argument_count; k++) {
        vector_append_from(result->children[k % 2], call->arena, call->arguments[k], row);
    }
    if (map_keys_are_good(call, row, keys, first, keys->length)) {
        vector_finish_list(result, call->arena);
        return;
    }
    vector_truncate(keys, first);
    vector_truncate(result->children[1], first);
    vector_append_null(result, call->arena);
}

static void map(const KernelCall *call)
{
    append_rows(call, append_map);
}

const Kernel kernel_array = {.run = array};
const Kernel kernel_map = {.run = map};

/* ---- Elements ---- */

typedef enum Missing { MISSING_FAILS, MISSING_FAILS_ELEMENT_AT, MISSING_IS_NULL } Missing;

/* What differs between a[i], get, element_at, try_element_at. */
typedef struct ElementState {
    bool from_one; /* positions from 1, negative ones from the end */
    Missing missing;
} ElementState;

static Error *missing_element(Missing missing, int64_t index, int64_t count)
{
    if (missing == MISSING_FAILS) {
        return error_new(
            ERROR_INVALID_ARRAY_INDEX,
            "The index %lld is out of bounds. The array has %lld elements. Use the SQL "
            "function `get()` to tolerate accessing element at invalid index and "
            "return NULL instead.",
            (long long)index, (long long)count);
    }
    return error_new(ERROR_INVALID_ARRAY_INDEX_IN_ELEMENT_AT,
                     "The index %lld is out of bounds. The array has %lld elements. Use "
                     "`try_element_at` to tolerate accessing element at invalid index and return "
                     "NULL instead.",
                     (long long)index, (long long)count);
}

static void append_element(const KernelCall *call, uint32_t row)
{
    const ElementState *state = call->state;
    const Vector *from = call->arguments[0];
    if (!kernel_arguments_valid(call, row)) {
        vector_append_null(call->result, call->arena);
        return;
    }
    int64_t index = ((const int32_t *)call->arguments[1]->data)[row];
    int64_t count = from->offsets[row + 1] - from->offsets[row];
    int64_t position = index;
    if (state->from_one) {
        position = index > 0 ? index - 1 : index < 0 ? count + index : -1;
    }
    if (position >= 0 && position < count) {
        vector_append_from(call->result, call->arena, from->children[0],
                           from->offsets[row] + (uint32_t)position);
        return;
    }
    vector_append_null(call->result, call->arena);
    if (state->from_one && index == 0) {
        kernel_fail(call, row,
                    error_new(ERROR_INVALID_INDEX_OF_ZERO,
                              "The index 0 is invalid. An index shall be either < 0 or > 0 (the "
                              "first element has index 1)."));
    } else if (state->missing != MISSING_IS_NULL) {
        kernel_fail(call, row, missing_element(state->missing, index, count));
    }
}

static void append_value_of_key(const KernelCall *call, uint32_t row)
{
    const Vector *from = call->arguments[0];
    if (kernel_arguments_valid(call, row)) {
        for (uint32_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
            if (vector_value_equal(from->children[0], i, call->arguments[1], row)) {
                vector_append_from(call->result, call->arena, from->children[1], i);
                return;
            }
        }
    }
    vector_append_null(call->result, call->arena);
}

static void element_of_array(const KernelCall *call)
{
    append_rows(call, append_element);
}

static void value_of_map(const KernelCall *call)
{
    append_rows(call, append_value_of_key);
}

#define CHOOSE_ELEMENT(name, from_one, missing)                                                    \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        static const ElementState state = {from_one, missing};                                     \
        setup->state = &state;                                                                     \
        return setup->types[0]->kind == TYPE_MAP ? value_of_map : element_of_array;                \
    }                                                                                              \
    const Kernel kernel_##name = {.choose = choose_##name};

CHOOSE_ELEMENT(subscript, false, MISSING_FAILS)
CHOOSE_ELEMENT(get, false, MISSING_IS_NULL)
CHOOSE_ELEMENT(element_at, true, MISSING_FAILS_ELEMENT_AT)
CHOOSE_ELEMENT(try_element_at, true, MISSING_IS_NULL)

/* ---- Size and membership ---- */

static void size(const KernelCall *call)
{
    const Vector *from = call->arguments[0];
    int32_t *r = RESULT(call, int32_t);
    FOR_ROWS(call->rows, i, { r[i] = (int32_t)(from->offsets[i + 1] - from->offsets[i]); });
}

/* Position of the row's value in its array, from 1; 0 when it is not there. */
static int64_t position_of(const KernelCall *call, uint32_t row, bool *ret_null_seen)
{
    const Vector *from = call->arguments[0];
    for (uint32_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
        if (!vector_is_valid(from->children[0], i)) {
            *ret_null_seen = true;
        } else if (vector_value_equal(from->children[0], i, call->arguments[1], row)) {
            return (int64_t)(i - from->offsets[row]) + 1;
        }
    }
    return 0;
}

static void array_contains(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        bool null_seen = false;
        bool found = position_of(call, i, &null_seen) > 0;
        RESULT(call, uint8_t)[i] = found;
        if (!found && null_seen) {
            vector_set_null(call->result, call->arena, i);
        }
    }
}

static void array_position(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        bool null_seen = false;
        RESULT(call, int64_t)[i] = position_of(call, i, &null_seen);
    }
}

const Kernel kernel_size = {.run = size};
const Kernel kernel_array_contains = {.run = array_contains};
const Kernel kernel_array_position = {.run = array_position};

/* ---- Least, greatest ---- */

static void append_extreme(const KernelCall *call, uint32_t row, int direction)
{
    const Vector *from = call->arguments[0];
    const Vector *elements = from->children[0];
    uint32_t best = UINT32_MAX;
    if (vector_is_valid(from, row)) {
        for (uint32_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
            if (vector_is_valid(elements, i) &&
                (best == UINT32_MAX ||
                 value_compare(elements, i, elements, best) * direction > 0)) {
                best = i;
            }
        }
    }
    if (best == UINT32_MAX) {
        vector_append_null(call->result, call->arena);
    } else {
        vector_append_from(call->result, call->arena, elements, best);
    }
}

static void append_least(const KernelCall *call, uint32_t row)
{
    append_extreme(call, row, -1);
}

static void append_greatest(const KernelCall *call, uint32_t row)
{
    append_extreme(call, row, 1);
}

static void array_min(const KernelCall *call)
{
    append_rows(call, append_least);
}

static void array_max(const KernelCall *call)
{
    append_rows(call, append_greatest);
}

const Kernel kernel_array_min = {.run = array_min};
const Kernel kernel_array_max = {.run = array_max};

/* ---- Parts of maps ---- */

/* A map's keys (part 0) or values (part 1) are an array that shares the map's offsets. */
static void map_part(const KernelCall *call, size_t part)
{
    const Vector *from = call->arguments[0];
    Vector *result = call->result;
    result->length = call->row_count;
    result->capacity = from->capacity;
    result->validity = from->validity;
    result->offsets = from->offsets;
    result->children[0] = from->children[part];
}

static void map_keys(const KernelCall *call)
{
    map_part(call, 0);
}

static void map_values(const KernelCall *call)
{
    map_part(call, 1);
}

const Kernel kernel_map_keys = {.run = map_keys};
const Kernel kernel_map_values = {.run = map_values};
