/* Client: one librdkafka instance (a consumer, a producer, or an admin, which is a consumer that
 * reads nothing) with what every use of it needs: our defaults and the user's properties, its log
 * lines in our log, and the last reason a broker could not be reached, so that a time-out can be
 * reported with its cause. Internal to connectors/kafka. */
#ifndef KAFKA_CLIENT_H
#define KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "connectors/kafka/kafka.h"

/* How long the small requests of producers and admins may go unanswered before their connection is
 * given up (socket.timeout.ms, the library's default is a minute). A broker that hangs keeps its
 * connections open; the controller puts others in its place after broker.session.timeout.ms, 9 s by
 * default, so less than that would only be repeated in vain. Consumers have a time of their own:
 * theirs has to let a whole fetch through a slow line. */
enum { CLIENT_ANSWER_MS = 10000 };
/* How long a topic may be unknown to some broker after it was made. */
enum { CLIENT_TOPIC_SPREAD_MS = 2000 };

typedef struct Client {
    rd_kafka_t *rk;
    char *bootstrap;
    pthread_mutex_t lock;
    char *failure;        /* under lock: why a broker could not be reached, NULL when all is well */
    atomic_bool troubled; /* failure is set, or down */
    atomic_bool down;     /* no broker has been reachable since the last success */
    void *delivery_to;    /* producers: opaque of the delivery callback */
    bool reads;           /* its one queue is a consumer's: only polls may serve it */
} Client;

/* The user's properties and the address, as the log holds them. */
typedef struct ClientConfig {
    const char *bootstrap;
    const KafkaProperty *properties;
    size_t count;
} ClientConfig;

/* `own` are properties of this use; the user's come after them and may change what is only a tuned
 * default. `prepare` (may be NULL) adds callbacks to the configuration. */
NODISCARD Error *client_open(const ClientConfig *config, rd_kafka_type_t type,
                             const KafkaProperty *own, size_t own_count,
                             void (*prepare)(rd_kafka_conf_t *conf), Client **ret_client);
void client_close(Client *client);
/* Serves callbacks that wait (error reasons; for a producer deliveries); a consumer's wait for its
 * next poll. */
void client_serve(Client *client);
/* A request was answered: forget old failures. */
void client_reached(Client *client);

/* The Error for a librdkafka code: class, disposition and one clear sentence. `doing` completes
 * "… while <doing>", `detail` is the library's own words (may be NULL). */
NODISCARD COLD RETURNS_NONNULL Error *client_error(Client *client, rd_kafka_resp_err_t code,
                                                   const char *detail, const char *doing, ...)
    PRINTF_LIKE(4, 5);
/* The same from an error object, which it destroys; flags of transactions are kept as dispositions:
 * fatal → FATAL (KAFKA_FENCED when it is that), requires abort → KAFKA_TRANSACTION_ABORTABLE. */
NODISCARD COLD RETURNS_NONNULL Error *client_error_take(Client *client, rd_kafka_error_t *error,
                                                        const char *doing, ...) PRINTF_LIKE(3, 4);
/* True for codes that heal by themselves and deserve another try before the deadline. */
bool kafka_code_is_retriable(rd_kafka_resp_err_t code);
/* True when somebody else took the transactional id over, or the broker aborted on time-out. */
bool kafka_code_is_fenced(rd_kafka_resp_err_t code);

/* What metadata says of a topic. partition_count is that of the cluster; all_led: every partition
 * has a leader. KAFKA_TOPIC_NOT_FOUND, KAFKA_ACCESS_DENIED, KAFKA_UNAVAILABLE. */
typedef struct TopicMetadata {
    int partition_count;
    bool all_led;
} TopicMetadata;
NODISCARD Error *client_topic_metadata(Client *client, rd_kafka_topic_t *topic, int timeout_ms,
                                       TopicMetadata *ret_metadata);
/* The same by name. */
NODISCARD Error *client_topic_lookup(Client *client, const char *topic, int timeout_ms,
                                     TopicMetadata *ret_metadata);
/* The same for a topic that should be there: not every broker knows one that was just made, nor one
 * that was made while it was away. So it is missing, or has no such partition
 * (KAFKA_TOPIC_NOT_FOUND too), only after patience_ms of asking, usually CLIENT_TOPIC_SPREAD_MS. */
NODISCARD Error *client_topic_expect(Client *client, const char *topic, int32_t partition,
                                     int patience_ms, int timeout_ms, TopicMetadata *ret_metadata);
/* Any answer from any broker. */
NODISCARD Error *client_ping(Client *client, int timeout_ms);

/* A point in time `timeout_ms` from now, and what is left until it (never below 0). */
int64_t deadline_after(int timeout_ms);
int deadline_left_ms(int64_t deadline);

DEFINE_AUTO(client, Client, client_close)

#endif
