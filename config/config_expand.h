/* Environment variables inside scalars: ${NAME} and ${NAME:-default}. Done after the YAML was
 * parsed, once, and the result is not read again, so a value may hold any character. $${ stands for
 * ${ . */
#ifndef CONFIG_CONFIG_EXPAND_H
#define CONFIG_CONFIG_EXPAND_H

#include <stdbool.h>
#include <stddef.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

/* `key` names the value in messages. The place of an error counts in `text` (line 1, column 1 = its
 * first character). *ret_text is `text` itself when nothing was replaced. A variable that is set
 * but empty gives nothing, also where there is a default. */
Error *config_expand(Str text, const char *key, Arena *arena, Str *ret_text);

#endif
