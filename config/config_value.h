/* The text of a scalar as a typed value, and back for messages. The kind a schema asks for decides;
 * how the scalar looks to YAML 1.1 (`NO`, `010`, `22:30`) does not. */
#ifndef CONFIG_CONFIG_VALUE_H
#define CONFIG_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/buffer.h"
#include "processor/base/str.h"

/* The parsers return NULL when all went well, else what the text should have been ("true or
 * false").
 */

/* Only `true` and `false`. */
const char *config_parse_bool(Str text, bool *ret);
/* Decimal digits, a minus before them; no leading zeros (they mean octal to some), no plus. */
const char *config_parse_integer(Str text, int64_t *ret);
/* A number and KiB, MiB or GiB. */
const char *config_parse_size(Str text, int64_t *ret_bytes);
/* A number and ms, s, m, h or d. */
const char *config_parse_duration(Str text, int64_t *ret_ms);

/* The shortest exact form: 64MiB, 90s. */
void config_format_size(int64_t bytes, Buffer *out);
void config_format_duration(int64_t ms, Buffer *out);

#endif
