/* TextMap: where the characters of a scalar stand in the YAML file. A parser of SQL or of column
 * lists says "line 3, column 8 of the text"; the map makes "line 41, column 14 of the file" of it,
 * for every way YAML can write a scalar. */
#ifndef CONFIG_TEXT_MAP_H
#define CONFIG_TEXT_MAP_H

#include "config/yaml_node.h"

typedef struct TextMap TextMap;

/* Of a scalar node. */
const TextMap *text_map_new(const YamlDocument *document, const YamlNode *node, Arena *arena);
/* A map for a text that is no longer as written (variables were replaced): everything is at
 * `place`.
 */
const TextMap *text_map_new_fixed(SourcePlace place, Arena *arena);
/* place: line and column in the text, each from 1. Beyond the end: the end. Keeps the length. */
SourcePlace text_map_find(const TextMap *map, SourcePlace place);

#endif
