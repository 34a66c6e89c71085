/* What a schema cannot say about a topology: how its values fit together. Internal to config/. */
#ifndef CONFIG_TOPOLOGY_CHECK_H
#define CONFIG_TOPOLOGY_CHECK_H

#include "config/config_schema.h"
#include "config/topology.h"

/* Reports every misfit, fills in what depends on other values (a source's default topic, `start`)
 * and marks sources and tables `broken`. */
void topology_check(ConfigLoader *loader, Topology *topology);

#endif
