/* Kafka behind the interface of a log (connectors/log.h), by librdkafka. The only folder that
 * includes it.
 *
 *     Log *log = NULL;
 *     TRY(kafka_log_open("127.0.0.1:9092", NULL, 0, &log));
 *     …
 *     log_close(log);
 */
#ifndef KAFKA_KAFKA_H
#define KAFKA_KAFKA_H

#include <stddef.h>

#include "connectors/log.h"

/* One of librdkafka's configuration properties, as the user wrote it. */
typedef struct KafkaProperty {
    const char *name;
    const char *value;
} KafkaProperty;

/* Makes a log of the cluster at `bootstrap` (host:port, several separated by commas). Nothing is
 * copied lazily: names and values may go after the call. Does not wait for a broker (log_ping
 * does); an unusable configuration is KAFKA_CONFIGURATION (USER). Close consumers and producers
 * first. */
NODISCARD Error *kafka_log_open(const char *bootstrap, const KafkaProperty *properties,
                                size_t count, Log **ret_log);

/* Judges one property of the topology's `kafka.properties` without a broker: unknown name (hint:
 * the nearest one), a value the library refuses, or a property tidemark sets itself (hint: the
 * topology key that governs it). All KAFKA_CONFIGURATION. Values of secret properties never appear.
 */
NODISCARD Error *kafka_check_property(const char *name, const char *value);

#endif
