/* The address a service listens on, as `api.listen` writes it. */
#ifndef CONFIG_LISTEN_ADDRESS_H
#define CONFIG_LISTEN_ADDRESS_H

#include <stdbool.h>

#include "processor/base/str.h"

/* HOST:PORT, [ADDRESS]:PORT, or :PORT for every address; a port of 0 to 65535 (0: any free one).
 * Gives its parts, views into `listen`; the host is without brackets and may be empty. False: it is
 * no address. */
bool listen_address_parse(Str listen, Str *ret_host, Str *ret_port);
/* "none": no address, the service does not listen. */
bool listen_address_is_none(Str listen);

#endif
