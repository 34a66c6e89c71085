/* Which keys hold secrets. Their values never appear in messages, events, metrics or logs
 * (spec/decisions.md "Configuration"). */
#ifndef CONFIG_SECRET_H
#define CONFIG_SECRET_H

#include <stdbool.h>

#include "processor/base/str.h"

/* A key of the topology or of librdkafka (`sasl.password`, `ssl.key.pem`, `tokens`), case ignored.
 * Rather too many than one too few: misspelt ones (`sasl.pasword`) count too. */
bool config_is_secret_key(Str key);

#endif
