/* Dates and times by patterns: date_format, from_unixtime, to_date, to_timestamp, unix_timestamp
 * and their relatives. A pattern is compiled when it first occurs and kept until another one comes.
 */
#include "processor/data/datetime_pattern.h"
#include "processor/exec/kernels/cast.h"

#include "processor/base/banned.h"

#define DEFAULT_PATTERN STR("yyyy-MM-dd HH:mm:ss")

/* ---- Compiled patterns ---- */

typedef struct PatternState {
    Arena *arena; /* of the compiled pattern */
    const DatePattern *pattern;
    Str source;
    bool parsing;
} PatternState;

static void release_pattern(void *object)
{
    PatternState *state = object;
    arena_free(state->arena);
}

static void prepare(KernelSetup *setup, bool parsing)
{
    PatternState **holder = arena_new_object(setup->arena, PatternState *);
    *holder = arena_new_object(setup->arena, PatternState);
    **holder = (PatternState){.arena = arena_new("date pattern"), .parsing = parsing};
    arena_on_reset(setup->arena, release_pattern, *holder);
    setup->state = holder;
}

/* Errors no try_ function tolerates. */
static void fail_strictly(const KernelCall *call, uint32_t row, Error *error)
{
    Failures strict = *call->failures;
    strict.tolerant = false;
    KernelCall own = *call;
    own.failures = &strict;
    kernel_fail(&own, row, error);
}

/* NULL: the row failed. */
static const DatePattern *pattern_of(const KernelCall *call, uint32_t row, size_t argument)
{
    PatternState *const *holder = call->state;
    PatternState *state = *holder;
    Str source =
        argument < call->argument_count ? ARGUMENT(call, argument, Str)[row] : DEFAULT_PATTERN;
    if (state->pattern != NULL && str_equal(state->source, source)) {
        return state->pattern;
    }
    arena_reset(state->arena);
    state->pattern = NULL;
    Error *error = date_pattern_compile(state->arena, source, state->parsing, &state->pattern);
    if (error != NULL) {
        fail_strictly(call, row, error);
        return NULL;
    }
    state->source = arena_copy_str(state->arena, source);
    return state->pattern;
}

/* ---- To text ---- */

static void store_text(const KernelCall *call, uint32_t row, int64_t us)
{
    const DatePattern *pattern = pattern_of(call, row, 1);
    if (pattern != NULL) {
        AUTO_BUFFER Buffer text = {0};
        date_pattern_format(pattern, us, call->context->time_zone, &text);
        RESULT(call, Str)[row] = arena_copy_str(call->arena, buffer_str(&text));
    }
}

static void run_date_format(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        store_text(call, i, ARGUMENT(call, 0, int64_t)[i]);
    }
}

/* Seconds out of range wrap around, as in Spark. */
static void from_unixtime(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        uint64_t seconds = ARGUMENT(call, 0, uint64_t)[i];
        store_text(call, i, (int64_t)(seconds * (uint64_t)SECOND_US));
    }
}

/* ---- From text ---- */

static Error *cannot_parse(const DatePattern *pattern, Str text, Str source)
{
    if (date_pattern_was_readable(pattern, text)) {
        return error_new(ERROR_PATTERN_NEW_PARSER, "Fail to parse '%.*s' in the new parser.",
                         STR_ARG(text));
    }
    return error_new(ERROR_CANNOT_PARSE_TIMESTAMP,
                     "Text '%.*s' could not be parsed as %.*s. Use `try_to_timestamp` to tolerate "
                     "invalid input string and return NULL instead.",
                     STR_ARG(text), STR_ARG(source));
}

/* False: the row failed. */
static bool parse(const KernelCall *call, uint32_t row, bool local, int64_t *ret_us)
{
    Str text = ARGUMENT(call, 0, Str)[row];
    const DatePattern *pattern = pattern_of(call, row, 1);
    if (pattern == NULL) {
        return false;
    }
    if (date_pattern_parse(pattern, text, call->context->time_zone, local, ret_us)) {
        return true;
    }
    PatternState *const *holder = call->state;
    Error *error = cannot_parse(pattern, text, (*holder)->source);
    if (error_class(error) == ERROR_PATTERN_NEW_PARSER) {
        fail_strictly(call, row, error);
    } else {
        kernel_fail(call, row, error);
    }
    return false;
}

static void text_to_timestamp(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        (void)parse(call, i, false, &RESULT(call, int64_t)[i]);
    }
}

static void text_to_local(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        (void)parse(call, i, true, &RESULT(call, int64_t)[i]);
    }
}

static void text_to_date(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        int64_t us = 0;
        if (parse(call, i, false, &us)) {
            int64_t local = us + time_zone_offset_us(call->context->time_zone, us);
            RESULT(call, int32_t)[i] = (int32_t)floor_div(local, DAY_US);
        }
    }
}

/* Cut toward zero, unlike unix_seconds. */
static void text_to_seconds(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        int64_t us = 0;
        if (parse(call, i, false, &us)) {
            RESULT(call, int64_t)[i] = us / SECOND_US;
        }
    }
}

static void timestamp_to_seconds(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    int64_t *r = RESULT(call, int64_t);
    FOR_ROWS(call->rows, i, { r[i] = a[i] / SECOND_US; });
}

static void now_seconds(const KernelCall *call)
{
    int64_t *r = RESULT(call, int64_t);
    int64_t now = floor_div(call->context->now_us, SECOND_US);
    FOR_ROWS(call->rows, i, { r[i] = now; });
}

/* ---- What was cast already ---- */

static void copy_days(const KernelCall *call)
{
    const int32_t *a = ARGUMENT(call, 0, int32_t);
    int32_t *r = RESULT(call, int32_t);
    FOR_ROWS(call->rows, i, { r[i] = a[i]; });
}

static void copy_us(const KernelCall *call)
{
    const int64_t *a = ARGUMENT(call, 0, int64_t);
    int64_t *r = RESULT(call, int64_t);
    FOR_ROWS(call->rows, i, { r[i] = a[i]; });
}

/* ---- Choice ---- */

static KernelRun *choose_format(KernelSetup *setup)
{
    prepare(setup, false);
    return run_date_format;
}

static KernelRun *choose_from_unixtime(KernelSetup *setup)
{
    prepare(setup, false);
    return from_unixtime;
}

/* to_date, to_timestamp …: what is no text was cast. */
static KernelRun *choose_parse(KernelSetup *setup)
{
    if (setup->argument_count == 1 || setup->types[0]->kind != TYPE_STRING) {
        return type_physical(setup->result) == PHYSICAL_INT32 ? copy_days : copy_us;
    }
    prepare(setup, true);
    switch (setup->result->kind) {
    case TYPE_DATE:
        return text_to_date;
    case TYPE_TIMESTAMP_NTZ:
        return text_to_local;
    default:
        return text_to_timestamp;
    }
}

static KernelRun *choose_unix_timestamp(KernelSetup *setup)
{
    if (setup->argument_count == 0) {
        return now_seconds;
    }
    if (setup->types[0]->kind != TYPE_STRING) {
        return timestamp_to_seconds;
    }
    prepare(setup, true);
    return text_to_seconds;
}

const Kernel kernel_date_format = {.choose = choose_format};
const Kernel kernel_from_unixtime = {.choose = choose_from_unixtime};
const Kernel kernel_parse_time = {.choose = choose_parse};
const Kernel kernel_try_parse_time = {.choose = choose_parse, .tolerant = true};
const Kernel kernel_unix_timestamp = {.choose = choose_unix_timestamp};
