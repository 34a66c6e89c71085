/* Values and rows of scenario files: YAML nodes converted by the type of their column.
 *
 * Text works for every type, as CAST reads it, with two exceptions in the direction of strictness:
 * a DECIMAL must fit its scale exactly, and BINARY is base64 as in records. An array is a list, a
 * struct a mapping or a list, a map a mapping or a list of pairs; each of them may also be given as
 * text holding the same in YAML or JSON. A bare null is NULL, a quoted one is text. */
#ifndef TESTING_YAML_VALUE_H
#define TESTING_YAML_VALUE_H

#include "config/yaml_node.h"
#include "processor/data/batch.h"
#include "processor/data/datetime.h"

/* Appends the value of a node. Errors are placed at the node. */
NODISCARD Error *yaml_value_append(const YamlNode *node, const TimeZone *zone, Arena *arena,
                                   Vector *vector);
/* Appends one row: a list in column order (missing trailing values are NULL) or a mapping by column
 * name (missing ones are NULL). */
NODISCARD Error *yaml_row_append(const YamlNode *node, const TimeZone *zone, Arena *arena,
                                 Batch *batch);
/* A list of rows as a batch in `arena`; may exceed BATCH_ROWS. */
NODISCARD Error *yaml_rows(const YamlNode *list, const Schema *schema, const TimeZone *zone,
                           Arena *arena, Batch **ret_batch);
/* A text that may be missing: *ret is `otherwise` for an absent node. Error when it is no text. */
NODISCARD Error *yaml_text(const YamlNode *node, const char *what, Str otherwise, Str *ret_text);
NODISCARD Error *yaml_int(const YamlNode *node, const char *what, int64_t otherwise,
                          int64_t *ret_number);
NODISCARD Error *yaml_bool(const YamlNode *node, const char *what, bool otherwise, bool *ret_value);
/* Bytes of a record: a text, {hex: "00 FF"}, or null (STR_NULL). */
NODISCARD Error *yaml_bytes(const YamlNode *node, Arena *arena, Str *ret_bytes);
/* Of hexadecimal digits, blanks between them skipped. */
NODISCARD Error *yaml_hex_bytes(const YamlNode *node, Arena *arena, Str *ret_bytes);

#endif
