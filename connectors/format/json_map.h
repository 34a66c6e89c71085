/* Maps, in both written forms: an object whose names are the keys, a list of pairs [key, value]. */
#ifndef FORMAT_JSON_MAP_H
#define FORMAT_JSON_MAP_H

#include "connectors/format/json_value.h"

/* Stands at the first byte of a value that is neither null nor a string. */
ReadResult json_read_map(JsonReader *reader, const ValueNode *node, Vector *vector);

#endif
