/* What `tidemark query` was called with. */
#ifndef CLI_QUERY_ARGUMENTS_H
#define CLI_QUERY_ARGUMENTS_H

#include "processor/query/session.h"

enum { QUERY_INPUTS_MAX = 256 };

typedef struct QueryArguments {
    SessionOptions session; /* what the options say of it; the rest is the caller's */
    const char *inputs[QUERY_INPUTS_MAX];
    size_t input_count;
    const char *output; /* NULL: by what stdout is */
    const char *clock;
    const char *topology;
    const char *sql; /* NULL: none is given */
    bool schema;
} QueryArguments;

/* Options go before or behind the SQL, a value behind its option or behind `=`. USAGE that names
 * the argument and what it may be. The texts are those of argv. */
NODISCARD Error *query_arguments_read(int argc, char **argv, QueryArguments *arguments);

#endif
