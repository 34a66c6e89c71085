/* What every kernel needs around its loop: the result vector, validity, failing rows. */
#include "processor/exec/kernel.h"

#include <assert.h>
#include <string.h>

#include "processor/base/banned.h"

uint32_t kernel_batch_row(const KernelCall *call, uint32_t row)
{
    const Failures *failures = call->failures;
    return failures->row_of == NULL ? row : failures->row_of[row];
}

static void make_null(const KernelCall *call, uint32_t row)
{
    if (type_physical(call->result->type) != PHYSICAL_LIST) {
        vector_set_null(call->result, call->arena, row);
    }
}

bool kernel_forgives(const KernelCall *call, uint32_t row)
{
    if (!call->failures->tolerant && kernel_batch_row(call, row) != ROW_NOT_ASKED) {
        return false;
    }
    make_null(call, row);
    return true;
}

void kernel_fail(const KernelCall *call, uint32_t row, Error *error)
{
    if (kernel_forgives(call, row)) {
        error_free(error);
        return;
    }
    if (error_place(error).line == 0) {
        error_set_place(error, call->failures->place);
    }
    row_errors_add(call->failures->errors, kernel_batch_row(call, row), error);
    make_null(call, row);
}

bool kernel_arguments_valid(const KernelCall *call, uint32_t row)
{
    for (size_t i = 0; i < call->argument_count; i++) {
        if (!vector_is_valid(call->arguments[i], row)) {
            return false;
        }
    }
    return true;
}

void list_skip_to(const KernelCall *call, uint32_t row)
{
    while (call->result->length < row) {
        vector_append_null(call->result, call->arena);
    }
}

Vector *vector_of_nulls(Arena *arena, const Type *type, uint32_t row_count)
{
    Vector *vector = vector_new(arena, type, row_count);
    for (uint32_t i = 0; i < row_count; i++) {
        vector_append_null(vector, arena);
    }
    return vector;
}

static void all_null(Vector *vector, Arena *arena, uint32_t row_count)
{
    for (uint32_t row = 0; row < row_count; row++) {
        vector_set_null(vector, arena, row);
    }
}

/* result's validity = AND of the arguments'. */
static void pass_nulls(const KernelCall *call, Vector *result, uint32_t row_count)
{
    size_t words = ((size_t)row_count + 63) / 64;
    for (size_t i = 0; i < call->argument_count; i++) {
        const Vector *argument = call->arguments[i];
        if (type_physical(argument->type) == PHYSICAL_NONE) {
            all_null(result, call->arena, row_count);
        } else if (argument->validity != NULL) {
            uint64_t *validity = vector_need_validity(result, call->arena);
            for (size_t word = 0; word < words; word++) {
                validity[word] &= argument->validity[word];
            }
        }
    }
}

Vector *kernel_run(KernelRun *run, const KernelCall *call, const Type *type, uint32_t row_count,
                   bool nulls_pass)
{
    KernelCall own = *call;
    own.row_count = row_count;
    /* Zeroed: rows that are skipped or fail must not hold what was in memory before. */
    own.result = vector_new(call->arena, type, row_count);
    if (type_physical(type) == PHYSICAL_LIST) {
        run(&own);
        list_skip_to(&own, row_count);
        return own.result;
    }
    own.result->length = row_count;
    if (nulls_pass) {
        pass_nulls(call, own.result, row_count);
    }
    run(&own);
    return own.result;
}
