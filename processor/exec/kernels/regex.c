/* Regular expressions (PCRE2): RLIKE, split, regexp_replace, regexp_extract. A pattern is compiled
 * when it first occurs and kept until another one comes; matching has a limit of steps, so that no
 * pattern can hang the program. Texts that are no UTF-8 match as far as they are. */
#include "processor/exec/kernels/regex.h"

#include "processor/base/banned.h"

enum { MATCH_STEPS_MAX = 10000000, MATCH_HEAP_MAX_KIB = 64 * 1024 };

static void regex_forget(Regex *regex)
{
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    regex->match = NULL;
    regex->code = NULL;
}

static void release_regex(void *object)
{
    Regex *regex = object;
    regex_forget(regex);
    pcre2_match_context_free(regex->limits);
    buffer_done(&regex->source);
}

Regex *regex_new(KernelSetup *setup, const char *function)
{
    Regex *regex = arena_new_object(setup->arena, Regex);
    regex->function = function;
    arena_on_reset(setup->arena, release_regex, regex);
    return regex;
}

KernelRun *regex_choose(KernelSetup *setup, const char *function, KernelRun *run)
{
    RegexState *state = arena_new_object(setup->arena, RegexState);
    state->regex = regex_new(setup, function);
    setup->state = state;
    return run;
}

bool regex_need(Regex *regex, const KernelCall *call, uint32_t row, Str pattern)
{
    if (regex->code != NULL && str_equal(buffer_str(&regex->source), pattern)) {
        return true;
    }
    regex_forget(regex);
    int code = 0;
    PCRE2_SIZE offset = 0;
    regex->code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.size,
                                PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                                &code, &offset, NULL);
    if (regex->code == NULL) {
        if (!kernel_forgives(call, row)) {
            kernel_fail(call, row,
                        error_new(ERROR_INVALID_PATTERN,
                                  "The value of parameter(s) `regexp` in `%s` is invalid: '%.*s'.",
                                  regex->function, STR_ARG(pattern)));
        }
        return false;
    }
    (void)pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
    regex->match = pcre2_match_data_create_from_pattern(regex->code, NULL);
    if (regex->limits == NULL) {
        regex->limits = pcre2_match_context_create(NULL);
        pcre2_set_match_limit(regex->limits, MATCH_STEPS_MAX);
        pcre2_set_heap_limit(regex->limits, MATCH_HEAP_MAX_KIB);
    }
    buffer_clear(&regex->source);
    buffer_append_str(&regex->source, pattern);
    return true;
}

Match regex_find(const Regex *regex, const KernelCall *call, uint32_t row, Str s, size_t from)
{
    int count = pcre2_match(regex->code, (PCRE2_SPTR)(s.data == NULL ? "" : s.data), s.size, from,
                            0, regex->match, regex->limits);
    if (count == PCRE2_ERROR_NOMATCH) {
        return (Match){0};
    }
    if (count < 0) {
        kernel_fail(call, row,
                    error_new(ERROR_INVALID_PATTERN,
                              "The value of parameter(s) `regexp` in `%s` is invalid: '%.*s' takes "
                              "too many steps to match.",
                              regex->function, STR_ARG(buffer_str(&regex->source))));
        return (Match){.failed = true};
    }
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(regex->match);
    /* \K can move a match's beginning behind its end. */
    size_t begin = offsets[0] < offsets[1] ? offsets[0] : offsets[1];
    return (Match){.found = true, .begin = begin, .end = offsets[1]};
}

size_t regex_search_on(Str s, Match match)
{
    if (match.end > match.begin) {
        return match.end;
    }
    return match.end < s.size ? utf8_next(s, match.end) : s.size + 1;
}

Str regex_group(const Regex *regex, Str s, uint32_t group)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(regex->match);
    if (group >= pcre2_get_ovector_count(regex->match) || offsets[2 * group] == PCRE2_UNSET ||
        offsets[2 * group] > offsets[2 * group + 1]) {
        return (Str){"", 0};
    }
    return (Str){s.data + offsets[2 * group], offsets[2 * group + 1] - offsets[2 * group]};
}

/* ---- RLIKE ---- */

static void rlike(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        if (regex_need(regex_of(call), call, i, STR_ARGUMENT(call, 1, i))) {
            Match match = regex_find(regex_of(call), call, i, STR_ARGUMENT(call, 0, i), 0);
            RESULT(call, uint8_t)[i] = match.found;
        }
    }
}

/* ---- split ---- */

/* An empty pattern gives the characters; the last of `limit` parts is all that is left. */
static void split_characters(const KernelCall *call, Str s, int32_t limit)
{
    Vector *parts = call->result->children[0];
    int32_t count = 1;
    for (size_t at = 0; at < s.size; count++) {
        size_t next = count == limit ? s.size : utf8_next(s, at);
        vector_append_str(parts, call->arena, (Str){s.data + at, next - at});
        at = next;
    }
}

static void split_matches(const KernelCall *call, uint32_t row, Str s, int32_t limit)
{
    Vector *parts = call->result->children[0];
    size_t at = 0;
    int32_t count = 0;
    for (size_t from = 0; from <= s.size && (limit <= 0 || count < limit - 1);) {
        Match match = regex_find(regex_of(call), call, row, s, from);
        if (!match.found) {
            break;
        }
        from = regex_search_on(s, match);
        if (match.end == 0) {
            continue; /* nothing stands before an empty match at the start */
        }
        vector_append_str(parts, call->arena, (Str){s.data + at, match.begin - at});
        at = match.end;
        count++;
    }
    vector_append_str(parts, call->arena, (Str){s.data + at, s.size - at});
}

static void split(const KernelCall *call)
{
    for (uint32_t k = 0; k < call->rows.count; k++) {
        uint32_t row = rows_at(call->rows, k);
        list_skip_to(call, row);
        if (!kernel_arguments_valid(call, row) ||
            !regex_need(regex_of(call), call, row, STR_ARGUMENT(call, 1, row))) {
            vector_append_null(call->result, call->arena);
            continue;
        }
        Str s = STR_ARGUMENT(call, 0, row);
        int32_t limit = call->argument_count > 2 ? INT_ARGUMENT(call, 2, row) : -1;
        if (STR_ARGUMENT(call, 1, row).size == 0 && s.size > 0) {
            split_characters(call, s, limit);
        } else {
            split_matches(call, row, s, limit);
        }
        vector_finish_list(call->result, call->arena);
    }
}

/* ---- regexp_replace ---- */

/* $1 is a group (as many digits as there are groups for), \x is x itself. False: the row failed. */
static bool append_replacement(const KernelCall *call, uint32_t row, Str s, Str by, Buffer *out)
{
    const Regex *regex = regex_of(call);
    uint32_t groups = pcre2_get_ovector_count(regex->match);
    for (size_t at = 0; at < by.size; at++) {
        if (by.data[at] == '\\' && at + 1 < by.size) {
            buffer_append_byte(out, by.data[++at]);
            continue;
        }
        if (by.data[at] != '$' || at + 1 >= by.size || by.data[at + 1] < '0' ||
            by.data[at + 1] > '9') {
            buffer_append_byte(out, by.data[at]);
            continue;
        }
        uint32_t group = (uint32_t)(by.data[++at] - '0');
        while (at + 1 < by.size && by.data[at + 1] >= '0' && by.data[at + 1] <= '9' &&
               group * 10 + (uint32_t)(by.data[at + 1] - '0') < groups) {
            group = group * 10 + (uint32_t)(by.data[++at] - '0');
        }
        if (group >= groups) {
            kernel_fail(call, row,
                        error_new(ERROR_INVALID_REGEXP_REPLACE,
                                  "Could not perform regexp_replace for source = \"%.*s\", pattern "
                                  "= \"%.*s\", replacement = \"%.*s\".",
                                  STR_ARG(s), STR_ARG(buffer_str(&regex->source)), STR_ARG(by)));
            return false;
        }
        buffer_append_str(out, regex_group(regex, s, group));
    }
    return true;
}

/* False: the row failed. */
static bool replace_matches(const KernelCall *call, uint32_t row, Str s, Str by, size_t start,
                            Buffer *out)
{
    size_t at = 0;
    for (size_t from = start; from <= s.size && out->size <= TEXT_SIZE_MAX;) {
        Match match = regex_find(regex_of(call), call, row, s, from);
        if (match.failed) {
            return false;
        }
        if (!match.found) {
            break;
        }
        if (match.begin >= at) {
            buffer_append(out, s.data + at, match.begin - at);
            if (!append_replacement(call, row, s, by, out)) {
                return false;
            }
            at = match.end;
        }
        from = regex_search_on(s, match);
    }
    buffer_append(out, s.data + at, s.size - at);
    return true;
}

static void regexp_replace(const KernelCall *call)
{
    AUTO_BUFFER Buffer out = {0};
    FOR_VALID_ROWS(call, i)
    {
        Str s = STR_ARGUMENT(call, 0, i);
        int32_t position = call->argument_count > 3 ? INT_ARGUMENT(call, 3, i) : 1;
        size_t start = utf8_offset(s, (int64_t)position - 1);
        buffer_clear(&out);
        if (position > 1 && start >= s.size) {
            RESULT(call, Str)[i] = s;
        } else if (regex_need(regex_of(call), call, i, STR_ARGUMENT(call, 1, i)) &&
                   replace_matches(call, i, s, STR_ARGUMENT(call, 2, i), start, &out)) {
            text_store(call, i, buffer_str(&out));
        }
    }
}

/* ---- regexp_extract ---- */

bool regex_has_group(const Regex *regex, const KernelCall *call, uint32_t row, int32_t group)
{
    uint32_t groups = pcre2_get_ovector_count(regex->match);
    if (group >= 0 && (uint32_t)group < groups) {
        return true;
    }
    kernel_fail(call, row,
                error_new(ERROR_INVALID_REGEX_GROUP_INDEX,
                          "The value of parameter(s) `idx` in `%s` is invalid: Expects group index "
                          "between 0 and %u, but got %d.",
                          regex->function, groups - 1, group));
    return false;
}

static void extract_group(const KernelCall *call, uint32_t row, int32_t group)
{
    const Regex *regex = regex_of(call);
    Str s = STR_ARGUMENT(call, 0, row);
    Match match = regex_find(regex, call, row, s, 0);
    if (match.found && !regex_has_group(regex, call, row, group)) {
        return;
    }
    RESULT(call, Str)[row] = match.found ? regex_group(regex, s, (uint32_t)group) : (Str){"", 0};
}

static void regexp_extract(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        if (regex_need(regex_of(call), call, i, STR_ARGUMENT(call, 1, i))) {
            extract_group(call, i, call->argument_count > 2 ? INT_ARGUMENT(call, 2, i) : 1);
        }
    }
}

/* ---- Choice ---- */

CHOOSE_REGEX(rlike)
CHOOSE_REGEX(split)
CHOOSE_REGEX(regexp_replace)
CHOOSE_REGEX(regexp_extract)
