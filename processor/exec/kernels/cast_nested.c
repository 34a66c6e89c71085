/* Casts of arrays, maps and structs: the parts are cast as vectors of their own. Elements know the
 * row they lie in, so that a bad one fails its row, and none fails that nobody asked for. */
#include "processor/exec/kernels/cast.h"
#include "processor/exec/program.h"

#include "processor/base/banned.h"

/* How to cast one part. */
typedef struct PartCast {
    KernelRun *run; /* NULL: the type stays */
    const void *state;
    const Type *type;
} PartCast;

static Vector *cast_part(const KernelCall *call, uint32_t part, Rows rows, uint32_t row_count,
                         const uint32_t *row_of)
{
    const PartCast *cast = (const PartCast *)call->state + part;
    Vector *from = call->arguments[0]->children[part];
    if (cast->run == NULL) {
        return from;
    }
    Failures failures = *call->failures;
    failures.row_of = row_of;
    const Vector *argument = from;
    KernelCall own = {.arguments = &argument,
                      .argument_count = 1,
                      .rows = rows,
                      .arena = call->arena,
                      .state = cast->state,
                      .context = call->context,
                      .failures = &failures};
    return kernel_run(cast->run, &own, cast->type, row_count, true);
}

/* ---- Lists ---- */

static uint32_t *rows_of_elements(const KernelCall *call, uint32_t element_count)
{
    const Vector *from = call->arguments[0];
    uint32_t *row_of = arena_new_array(call->arena, uint32_t, element_count);
    for (uint32_t i = 0; i < element_count; i++) {
        row_of[i] = ROW_NOT_ASKED;
    }
    FOR_ROWS(call->rows, i, {
        if (vector_is_valid(from, i)) {
            for (uint32_t k = from->offsets[i]; k < from->offsets[i + 1]; k++) {
                row_of[k] = kernel_batch_row(call, i);
            }
        }
    });
    return row_of;
}

static void cast_list(const KernelCall *call)
{
    const Vector *from = call->arguments[0];
    Vector *result = call->result;
    uint32_t element_count = from->children[0]->length;
    const uint32_t *row_of = rows_of_elements(call, element_count);
    result->length = call->row_count;
    result->capacity = from->capacity;
    result->offsets = from->offsets;
    result->validity = from->validity;
    for (uint32_t part = 0; part < from->child_count; part++) {
        result->children[part] =
            cast_part(call, part, (Rows){NULL, element_count}, element_count, row_of);
    }
}

/* ---- Structs ---- */

/* Fields of a null struct are not asked for. */
static const uint32_t *rows_of_fields(const KernelCall *call)
{
    const Vector *from = call->arguments[0];
    if (from->validity == NULL) {
        return call->failures->row_of;
    }
    uint32_t *row_of = arena_new_array(call->arena, uint32_t, call->row_count);
    for (uint32_t i = 0; i < call->row_count; i++) {
        row_of[i] = vector_is_valid(from, i) ? kernel_batch_row(call, i) : ROW_NOT_ASKED;
    }
    return row_of;
}

static void cast_struct(const KernelCall *call)
{
    Vector *result = call->result;
    const uint32_t *row_of = rows_of_fields(call);
    for (uint32_t part = 0; part < result->child_count; part++) {
        result->children[part] = cast_part(call, part, call->rows, call->row_count, row_of);
    }
}

/* ---- Choice ---- */

static bool choose_part(KernelSetup *setup, uint32_t part, PartCast *ret)
{
    const Type *from = type_child(setup->types[0], part);
    const Type *to = type_child(setup->result, part);
    *ret = (PartCast){.type = to};
    if (type_equal(from, to)) {
        return true;
    }
    KernelSetup own = {.result = to,
                       .types = &from,
                       .argument_count = 1,
                       .arena = setup->arena,
                       .context = setup->context};
    ret->run = cast_choose(&own);
    ret->state = own.state;
    return ret->run != NULL;
}

KernelRun *cast_choose_nested(KernelSetup *setup)
{
    const Type *from = setup->types[0];
    if (from->kind != TYPE_ARRAY && from->kind != TYPE_MAP && from->kind != TYPE_STRUCT) {
        return NULL;
    }
    uint32_t count = type_child_count(from);
    if (count != type_child_count(setup->result)) {
        return NULL;
    }
    PartCast *parts = arena_new_array(setup->arena, PartCast, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!choose_part(setup, i, &parts[i])) {
            return NULL;
        }
    }
    setup->state = parts;
    return from->kind == TYPE_STRUCT ? cast_struct : cast_list;
}
