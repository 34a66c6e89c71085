/* Texts of SQL inside a topology: read from the YAML or from the file they name. Internal to
 * config/.
 */
#ifndef CONFIG_TOPOLOGY_SQL_H
#define CONFIG_TOPOLOGY_SQL_H

#include "config/config_schema.h"
#include "config/topology.h"

/* CONFIG_CUSTOM loaders. */

/* A scalar into a TopologySql, variables replaced: column lists. */
void topology_load_columns(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                           void *member);
/* An element of `sql`, into a TopologySql: a text (nothing replaced) or {file: x.sql}. */
void topology_load_sql(ConfigLoader *loader, const ConfigKey *key, const YamlNode *node,
                       void *member);

/* What stands for a text that is missing or mistaken. */
TopologySql topology_empty_sql(const ConfigLoader *loader);

/* The whole of a file, at most `limit` bytes. */
Error *topology_read_file(const char *path, size_t limit, Arena *arena, Str *ret_text);

/* A loader that knows the folder {file: …} is relative to. */
typedef struct TopologyLoader {
    ConfigLoader config; /* first: loaders are handed this part */
    const char *base_dir;
} TopologyLoader;

#endif
