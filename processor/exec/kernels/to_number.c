/* to_char, to_number: numbers in patterns. */
#include "processor/data/decimal.h"
#include "processor/data/number_pattern.h"
#include "processor/exec/kernels/kernels.h"

#include "processor/base/banned.h"

/* False: the row failed. Wrong patterns are errors for try_ functions too. */
static bool pattern_of(const KernelCall *call, uint32_t row, NumberPattern *ret)
{
    Error *error = number_pattern_parse(ARGUMENT(call, 1, Str)[row], ret);
    if (error == NULL) {
        return true;
    }
    Failures strict = *call->failures;
    strict.tolerant = false;
    KernelCall own = *call;
    own.failures = &strict;
    kernel_fail(&own, row, error);
    return false;
}

static void to_char(const KernelCall *call)
{
    int scale = call->arguments[0]->type->scale;
    FOR_VALID_ROWS(call, i)
    {
        NumberPattern pattern;
        if (pattern_of(call, i, &pattern)) {
            AUTO_BUFFER Buffer text = {0};
            number_pattern_format(&pattern, ARGUMENT(call, 0, int128)[i], scale, &text);
            RESULT(call, Str)[i] = arena_copy_str(call->arena, buffer_str(&text));
        }
    }
}

static void to_number(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        NumberPattern pattern;
        Str text = ARGUMENT(call, 0, Str)[i];
        if (pattern_of(call, i, &pattern) &&
            !number_pattern_read(&pattern, text, &RESULT(call, int128)[i]) &&
            !kernel_forgives(call, i)) {
            kernel_fail(call, i,
                        error_new(ERROR_NUMBER_FORMAT_MISMATCH,
                                  "The format is invalid: '%.*s'. The input \"STRING\" '%.*s' does "
                                  "not match the format.",
                                  STR_ARG(ARGUMENT(call, 1, Str)[i]), STR_ARG(text)));
        }
    }
}

static KernelRun *choose_to_char(KernelSetup *setup)
{
    return setup->types[0]->kind == TYPE_DECIMAL ? to_char : kernel_date_format.choose(setup);
}

const Kernel kernel_to_char = {.choose = choose_to_char};
const Kernel kernel_to_number = {.run = to_number};
const Kernel kernel_try_to_number = {.run = to_number, .tolerant = true};
