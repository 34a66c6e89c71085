/* Regular expressions in kernels. A pattern is compiled when it first occurs and kept until another
 * one comes. */
#ifndef EXEC_KERNELS_REGEX_H
#define EXEC_KERNELS_REGEX_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "processor/exec/kernels/text.h"

typedef struct Regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    Buffer source;
    const char *function; /* for messages */
} Regex;

typedef struct Match {
    bool found;
    bool failed; /* the limit was reached; the row failed */
    size_t begin;
    size_t end;
} Match;

/* The state of a kernel with one pattern. */
typedef struct RegexState {
    Regex *regex;
} RegexState;

/* Lives in setup->arena. `function` names it in messages. */
Regex *regex_new(KernelSetup *setup, const char *function);
/* The loop `run` with a RegexState. */
KernelRun *regex_choose(KernelSetup *setup, const char *function, KernelRun *run);
/* Compiles the pattern unless it is the last one. False: the row failed. */
bool regex_need(Regex *regex, const KernelCall *call, uint32_t row, Str pattern);
/* The first match at or behind `from`. */
Match regex_find(const Regex *regex, const KernelCall *call, uint32_t row, Str s, size_t from);
/* Where to look on behind a match: an empty one must not be found again. */
size_t regex_search_on(Str s, Match match);
/* A group of the last match (0: all of it); empty when it took no part. */
Str regex_group(const Regex *regex, Str s, uint32_t group);

/* False, and the row failed, when the pattern has no group of that number. */
bool regex_has_group(const Regex *regex, const KernelCall *call, uint32_t row, int32_t group);

static inline Regex *regex_of(const KernelCall *call)
{
    return ((const RegexState *)call->state)->regex;
}

#define CHOOSE_REGEX(name)                                                                         \
    static KernelRun *choose_##name(KernelSetup *setup)                                            \
    {                                                                                              \
        return regex_choose(setup, #name, name);                                                   \
    }                                                                                              \
    const Kernel kernel_##name = {.choose = choose_##name};

#endif
