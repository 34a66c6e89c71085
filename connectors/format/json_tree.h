/* JSON trees through cJSON, for what is not hot: progress records, events, API bodies, tests. The
 * only place that includes cJSON. Numbers beyond 2^53 lose digits here: never for table rows. */
#ifndef FORMAT_JSON_TREE_H
#define FORMAT_JSON_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/str.h"

typedef struct JsonTree JsonTree; /* a node */

/* Parses one JSON text; the tree lives until the arena is reset. */
NODISCARD Error *json_tree_parse(Str text, Arena *arena, const JsonTree **ret_root);

typedef enum JsonKind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} JsonKind;

/* A node that is NULL is a JSON null. */
JsonKind json_tree_kind(const JsonTree *node);
/* Member of an object, element of an array; NULL when absent or node is NULL or of another kind. */
const JsonTree *json_tree_get(const JsonTree *node, const char *name);
const JsonTree *json_tree_at(const JsonTree *node, size_t index);
size_t json_tree_size(const JsonTree *node); /* elements or members; else 0 */
/* Members in order: name and value of member `index`. */
const JsonTree *json_tree_member(const JsonTree *node, size_t index, Str *ret_name);
/* Values with a default for absent or another kind. Strings live as long as the tree. */
Str json_tree_str(const JsonTree *node, Str otherwise);
int64_t json_tree_int(const JsonTree *node, int64_t otherwise);
double json_tree_double(const JsonTree *node, double otherwise);
bool json_tree_bool(const JsonTree *node, bool otherwise);

#endif
