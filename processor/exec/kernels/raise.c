/* raise_error, assert_true: rows that fail because they say so. */
#include "processor/exec/kernels/text.h"

#include "processor/base/banned.h"

static void raise(const KernelCall *call, uint32_t row, Str message)
{
    kernel_fail(call, row, error_new(ERROR_USER_RAISED_EXCEPTION, "%.*s", STR_ARG(message)));
}

static void raise_error(const KernelCall *call)
{
    const Vector *messages = call->arguments[0];
    FOR_ROWS(call->rows, i, {
        bool given = vector_is_valid(messages, i);
        raise(call, i, given ? VECTOR_VALUE(messages, Str, i) : STR("null"));
    });
}

typedef struct AssertState {
    Str text; /* of the condition */
} AssertState;

static void assert_true(const KernelCall *call)
{
    const AssertState *state = call->state;
    const Vector *conditions = call->arguments[0];
    FOR_ROWS(call->rows, i, {
        bool holds = vector_is_valid(conditions, i) && VECTOR_VALUE(conditions, uint8_t, i) != 0;
        if (!holds && call->argument_count > 1 && vector_is_valid(call->arguments[1], i)) {
            raise(call, i, STR_ARGUMENT(call, 1, i));
        } else if (!holds) {
            kernel_fail(call, i,
                        error_new(ERROR_USER_RAISED_EXCEPTION, "'%.*s' is not true!",
                                  STR_ARG(state->text)));
        }
    });
}

static KernelRun *choose_assert_true(KernelSetup *setup)
{
    AssertState *state = arena_new_object(setup->arena, AssertState);
    state->text = arena_copy_str(setup->arena, setup->expr->children[0]->text);
    setup->state = state;
    return assert_true;
}

const Kernel kernel_raise_error = {.run = raise_error};
const Kernel kernel_assert_true = {.choose = choose_assert_true};
