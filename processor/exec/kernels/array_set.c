/* Arrays as sets: array_distinct, array_union, array_intersect, array_except, arrays_overlap. NULL
 * is an element like others (but for arrays_overlap, where it leaves the answer open). Elements are
 * hashed for the whole batch, then each row has a set of its own. */
#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* Sets over the elements of the first and of the second argument. */
typedef struct Sides {
    const KernelCall *call;
    ElementSet sets[2];
} Sides;

static void sides_init(Sides *sides, const KernelCall *call)
{
    sides->call = call;
    for (size_t k = 0; k < call->argument_count && k < 2; k++) {
        const Vector *elements = call->arguments[k]->children[0];
        sides->sets[k] = (ElementSet){.vector = elements,
                                      .hashes = element_hashes(call->arena, elements),
                                      .arena = call->arena};
    }
}

/* Appends the element unless an equal one is in its own side's set. */
static void append_new(Sides *sides, size_t side, uint32_t element)
{
    ElementSet *set = &sides->sets[side];
    if (element_set_add(set, element)) {
        vector_append_from(sides->call->result->children[0], sides->call->arena, set->vector,
                           element);
    }
}

static bool has(const Sides *sides, size_t side, size_t other, uint32_t element)
{
    const ElementSet *from = &sides->sets[side];
    return element_set_has(&sides->sets[other], from->vector, element, from->hashes[element]);
}

/* Fills a side's set with all elements of its row. */
static void fill(Sides *sides, size_t side, uint32_t row)
{
    const Vector *list = sides->call->arguments[side];
    element_set_start(&sides->sets[side], list_count(list, row));
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        (void)element_set_add(&sides->sets[side], i);
    }
}

typedef void AppendSet(Sides *sides, uint32_t row);

static void append_sets(const KernelCall *call, AppendSet *one)
{
    Sides sides = {0};
    sides_init(&sides, call);
    call->result->length = 0;
    for (uint32_t k = 0; k < call->rows.count; k++) {
        uint32_t row = rows_at(call->rows, k);
        list_skip_to(call, row);
        if (kernel_arguments_valid(call, row)) {
            one(&sides, row);
            vector_finish_list(call->result, call->arena);
        } else {
            vector_append_null(call->result, call->arena);
        }
    }
    list_skip_to(call, call->row_count);
}

/* The different elements of the first argument whose presence in the second is `wanted`; with one
 * argument, all. */
static void append_first(Sides *sides, uint32_t row, bool wanted)
{
    const Vector *list = sides->call->arguments[0];
    element_set_start(&sides->sets[0], list_count(list, row));
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        if (sides->call->argument_count == 1 || has(sides, 0, 1, i) == wanted) {
            append_new(sides, 0, i);
        }
    }
}

static void append_distinct(Sides *sides, uint32_t row)
{
    append_first(sides, row, true);
}

static void append_intersection(Sides *sides, uint32_t row)
{
    fill(sides, 1, row);
    append_first(sides, row, true);
}

static void append_difference(Sides *sides, uint32_t row)
{
    fill(sides, 1, row);
    append_first(sides, row, false);
}

static void append_union(Sides *sides, uint32_t row)
{
    element_set_start(&sides->sets[1], 0);
    append_first(sides, row, false);
    const Vector *list = sides->call->arguments[1];
    element_set_start(&sides->sets[1], list_count(list, row));
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        if (!has(sides, 1, 0, i)) {
            append_new(sides, 1, i);
        }
    }
}

static void array_distinct(const KernelCall *call)
{
    append_sets(call, append_distinct);
}

static void array_union(const KernelCall *call)
{
    append_sets(call, append_union);
}

static void array_intersect(const KernelCall *call)
{
    append_sets(call, append_intersection);
}

static void array_except(const KernelCall *call)
{
    append_sets(call, append_difference);
}

/* ---- arrays_overlap ---- */

static bool is_null_at(const Vector *elements, uint32_t i)
{
    return !vector_is_valid(elements, i) || type_physical(elements->type) == PHYSICAL_NONE;
}

static bool holds_null(const Vector *list, uint32_t row)
{
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        if (is_null_at(list->children[0], i)) {
            return true;
        }
    }
    return false;
}

static bool overlap(Sides *sides, uint32_t row)
{
    const Vector *list = sides->call->arguments[0];
    fill(sides, 1, row);
    for (uint32_t i = list->offsets[row]; i < list->offsets[row + 1]; i++) {
        if (!is_null_at(list->children[0], i) && has(sides, 0, 1, i)) {
            return true;
        }
    }
    return false;
}

static void arrays_overlap(const KernelCall *call)
{
    const Vector *left = call->arguments[0];
    const Vector *right = call->arguments[1];
    Sides sides = {0};
    sides_init(&sides, call);
    FOR_VALID_ROWS(call, row)
    {
        bool found = overlap(&sides, row);
        RESULT(call, uint8_t)[row] = found;
        if (!found && list_count(left, row) > 0 && list_count(right, row) > 0 &&
            (holds_null(left, row) || holds_null(right, row))) {
            vector_set_null(call->result, call->arena, row);
        }
    }
}

const Kernel kernel_array_distinct = {.run = array_distinct};
const Kernel kernel_array_union = {.run = array_union};
const Kernel kernel_array_intersect = {.run = array_intersect};
const Kernel kernel_array_except = {.run = array_except};
const Kernel kernel_arrays_overlap = {.run = arrays_overlap};
