/* Functions that call a lambda once an element: transform, filter, exists, forall, map_filter,
 * transform_keys, transform_values. All elements of the batch are computed at once; what the
 * function makes of the values differs. */
#include "processor/exec/kernels/elements.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

typedef struct ElementRun {
    Elements elements;
    const Vector *values; /* the lambda's, one an element */
    RowErrors errors;     /* by element */
} ElementRun;

/* Position of each element in its array, from 0. */
static Vector *positions(const KernelCall *call, const Elements *elements)
{
    Vector *vector = vector_new(call->arena, &type_int, elements->count);
    vector->length = elements->count;
    int32_t *out = VECTOR_DATA(vector, int32_t);
    for (uint32_t i = 0; i < elements->count; i++) {
        bool first = i == 0 || elements->row_of[i] != elements->row_of[i - 1];
        out[i] = first ? 0 : out[i - 1] + 1;
    }
    return vector;
}

/* Element (and position) of arrays, key and value of maps. */
static void run_elements(const KernelCall *call, ElementRun *run)
{
    const Vector *list = call->arguments[0];
    const Lambda *lambda = call_lambda(call, 0);
    elements_of(call, list, &run->elements);
    const Elements *elements = &run->elements;
    Vector **columns = lambda_columns(call, lambda, call->arena, elements->row_of, elements->count);
    columns[0] = elements_gather(call, elements, list->children[0]);
    if (lambda->parameter_count > 1 && lambda_reads(lambda, 1)) {
        columns[1] = list->child_count > 1 ? elements_gather(call, elements, list->children[1])
                                           : positions(call, elements);
    }
    run->values = lambda_run(call, lambda, columns, elements->count, call->arena, &run->errors);
}

/* ---- New elements ---- */

static Vector *values_of(const KernelCall *call, const ElementRun *run)
{
    return vector_view(call->arena, run->values, 0, run->elements.count);
}

static void transform(const KernelCall *call)
{
    ElementRun run = {0};
    run_elements(call, &run);
    call->result->children[0] = values_of(call, &run);
    list_finish_like(call, call->arguments[0]);
    elements_fail(call, &run.elements, &run.errors);
}

static void transform_values(const KernelCall *call)
{
    ElementRun run = {0};
    run_elements(call, &run);
    const Vector *keys = call->arguments[0]->children[0];
    call->result->children[0] = elements_gather(call, &run.elements, keys);
    call->result->children[1] = values_of(call, &run);
    list_finish_like(call, call->arguments[0]);
    elements_fail(call, &run.elements, &run.errors);
}

static void transform_keys(const KernelCall *call)
{
    ElementRun run = {0};
    run_elements(call, &run);
    const Vector *values = call->arguments[0]->children[1];
    Vector *result = call->result;
    result->children[0] = values_of(call, &run);
    result->children[1] = elements_gather(call, &run.elements, values);
    list_finish_like(call, call->arguments[0]);
    elements_fail(call, &run.elements, &run.errors);
    FOR_ROWS(call->rows, row, {
        (void)map_keys_are_good(call, row, result->children[0], result->offsets[row],
                                result->offsets[row + 1]);
    });
}

/* ---- Some of the elements ---- */

static bool is_true(const Vector *values, uint32_t element)
{
    return vector_is_valid(values, element) && VECTOR_VALUE(values, uint8_t, element) != 0;
}

static void filter(const KernelCall *call)
{
    ElementRun run = {0};
    run_elements(call, &run);
    const Vector *list = call->arguments[0];
    const Elements *elements = &run.elements;
    uint32_t *counts = list_counts_new(call);
    FOR_ROWS(call->rows, row, { counts[row] = vector_is_valid(list, row) ? 0 : NULL_ROW; });
    uint32_t *kept = arena_new_array(call->arena, uint32_t, elements->count);
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < elements->count; i++) {
        if (is_true(run.values, i)) {
            kept[kept_count++] = elements->places == NULL ? i : elements->places[i];
            counts[elements->row_of[i]]++;
        }
    }
    for (uint32_t child = 0; child < list->child_count; child++) {
        call->result->children[child] =
            vector_gather(call->arena, list->children[child], kept, kept_count);
    }
    list_finish_all(call, counts);
    elements_fail(call, elements, &run.errors);
}

/* ---- Is there one? Are all? ---- */

/* exists stops at the first TRUE, forall at the first FALSE; what lies behind is not looked at, its
 * errors neither. Without one: NULL when there was a NULL, else the other answer. */
static void search(const KernelCall *call, bool wanted)
{
    ElementRun run = {0};
    run_elements(call, &run);
    const Vector *list = call->arguments[0];
    uint8_t *r = RESULT(call, uint8_t);
    FOR_ROWS(call->rows, row, {
        r[row] = !wanted;
        if (!vector_is_valid(list, row)) {
            vector_set_null(call->result, call->arena, row);
        }
    });
    size_t error = 0;
    uint32_t decided = NULL_ROW; /* the row whose answer is known */
    for (uint32_t i = 0; i < run.elements.count; i++) {
        uint32_t row = run.elements.row_of[i];
        bool failed = error < run.errors.count && run.errors.rows[error] == i;
        Error *own = failed ? run.errors.errors[error++] : NULL;
        if (row == decided) {
            error_free(own);
        } else if (failed) {
            kernel_fail(call, row, own);
            decided = row;
        } else if (!vector_is_valid(run.values, i)) {
            vector_set_null(call->result, call->arena, row);
        } else if ((VECTOR_VALUE(run.values, uint8_t, i) != 0) == wanted) {
            r[row] = wanted;
            vector_set_valid(call->result, row);
            decided = row;
        }
    }
    run.errors.count = 0;
    row_errors_done(&run.errors);
}

static void exists(const KernelCall *call)
{
    search(call, true);
}

static void forall(const KernelCall *call)
{
    search(call, false);
}

const Kernel kernel_transform = {.run = transform};
const Kernel kernel_transform_keys = {.run = transform_keys};
const Kernel kernel_transform_values = {.run = transform_values};
const Kernel kernel_filter = {.run = filter};
const Kernel kernel_exists = {.run = exists};
const Kernel kernel_forall = {.run = forall};
