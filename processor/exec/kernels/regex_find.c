/* Where a regular expression matches: regexp_extract_all, regexp_count, regexp_substr,
 * regexp_instr. */
#include "processor/exec/kernels/regex.h"

#include "processor/base/banned.h"

/* Calls `visit` for each match, in order, until it says false. False: the row failed. */
typedef bool VisitMatch(void *context, const Regex *regex, Str s, Match match);

static bool each_match(const KernelCall *call, uint32_t row, VisitMatch *visit, void *context)
{
    Regex *regex = regex_of(call);
    Str s = STR_ARGUMENT(call, 0, row);
    if (!regex_need(regex, call, row, STR_ARGUMENT(call, 1, row))) {
        return false;
    }
    for (size_t from = 0; from <= s.size;) {
        Match match = regex_find(regex, call, row, s, from);
        if (match.failed) {
            return false;
        }
        if (!match.found || !visit(context, regex, s, match)) {
            return true;
        }
        from = regex_search_on(s, match);
    }
    return true;
}

/* ---- All ---- */

typedef struct Extraction {
    const KernelCall *call;
    uint32_t group;
} Extraction;

static bool append_group(void *context, const Regex *regex, Str s, Match match)
{
    const Extraction *extraction = context;
    (void)match;
    vector_append_str(extraction->call->result->children[0], extraction->call->arena,
                      regex_group(regex, s, extraction->group));
    return true;
}

static void append_groups(const KernelCall *call, uint32_t row)
{
    Vector *texts = call->result->children[0];
    uint32_t first = texts->length;
    bool good = kernel_arguments_valid(call, row);
    int32_t group = good && call->argument_count > 2 ? INT_ARGUMENT(call, 2, row) : 1;
    Extraction extraction = {.call = call, .group = (uint32_t)group};
    good = good && regex_need(regex_of(call), call, row, STR_ARGUMENT(call, 1, row));
    /* Spark looks at the group's number when there is a match. */
    Match match = {0};
    if (good) {
        match = regex_find(regex_of(call), call, row, STR_ARGUMENT(call, 0, row), 0);
        good = !match.failed && (!match.found || regex_has_group(regex_of(call), call, row, group));
    }
    if (good && each_match(call, row, append_group, &extraction)) {
        vector_finish_list(call->result, call->arena);
    } else {
        vector_truncate(texts, first);
        vector_append_null(call->result, call->arena);
    }
}

static void regexp_extract_all(const KernelCall *call)
{
    append_rows(call, append_groups);
}

/* ---- How many ---- */

static bool count_match(void *context, const Regex *regex, Str s, Match match)
{
    (void)regex;
    (void)s;
    (void)match;
    ++*(int32_t *)context;
    return true;
}

static void regexp_count(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        int32_t count = 0;
        if (each_match(call, i, count_match, &count)) {
            RESULT(call, int32_t)[i] = count;
        }
    }
}

/* ---- The first ---- */

static bool keep_match(void *context, const Regex *regex, Str s, Match match)
{
    (void)regex;
    (void)s;
    *(Match *)context = match;
    return false;
}

/* An empty match counts as none. */
static void regexp_substr(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Match match = {0};
        Str s = STR_ARGUMENT(call, 0, i);
        if (each_match(call, i, keep_match, &match) && match.end > match.begin) {
            RESULT(call, Str)[i] = (Str){s.data + match.begin, match.end - match.begin};
        } else {
            vector_set_null(call->result, call->arena, i);
        }
    }
}

static void regexp_instr(const KernelCall *call)
{
    FOR_VALID_ROWS(call, i)
    {
        Match match = {0};
        Str s = STR_ARGUMENT(call, 0, i);
        if (each_match(call, i, keep_match, &match)) {
            RESULT(call, int32_t)
            [i] = match.found ? (int32_t)utf8_length((Str){s.data, match.begin}) + 1 : 0;
        }
    }
}

CHOOSE_REGEX(regexp_extract_all)
CHOOSE_REGEX(regexp_count)
CHOOSE_REGEX(regexp_substr)
CHOOSE_REGEX(regexp_instr)
