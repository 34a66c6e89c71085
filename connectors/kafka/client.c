/* One librdkafka instance: its configuration, its log lines, and why brokers cannot be reached.
 *
 * librdkafka reports broken connections apart from the calls that fail because of them: the call
 * says "timed out", the error callback says "Connection refused". Client keeps the last such reason
 * until a request succeeds, and client_error joins the two into one sentence. */
#include "connectors/kafka/client.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "processor/base/clock.h"
#include "processor/base/logger.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* Every instance. What concerns failover (measured by scripts/chaos, table in README.md):
 * - a broker that restarts is found within a second; the library's default waits up to ten;
 * - new leaders are asked for ten times a second while one is known to be missing;
 * - and every ten seconds in any case: a broker that hangs breaks no connection, so that its
 *   partitions have moved is told by the others only. The default is five minutes;
 * - a connection that does not come about is given up after ten seconds as in the Java client, so
 *   that another address of a name gets its turn. The default is thirty. */
static const KafkaProperty common_properties[] = {
    {"client.id", "tidemark"},
    {"reconnect.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "1000"},
    {"topic.metadata.refresh.fast.interval.ms", "100"},
    {"topic.metadata.refresh.interval.ms", "10000"},
    {"socket.connection.setup.timeout.ms", "10000"},
    {"socket.nagle.disable", "true"},
    {"allow.auto.create.topics", "false"},
};

enum { TOPIC_PAUSE_MS = 50 };

int64_t deadline_after(int timeout_ms)
{
    return clock_monotonic_ms() + (timeout_ms < 0 ? 0 : timeout_ms);
}

int deadline_left_ms(int64_t deadline)
{
    int64_t left = deadline - clock_monotonic_ms();
    return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* ---------------------------------------------------------------------------- the reasons ---- */

/* "host:9092/bootstrap: Connect to ipv4#1.2.3.4:9092 failed: Connection refused (after 0ms in state
 * CONNECT)" → "Connect to ipv4#1.2.3.4:9092 failed: Connection refused". */
static Str strip_reason(Str reason)
{
    static const char after[] = " (after ";
    const char *slash = memchr(reason.data, '/', reason.size);
    const char *colon =
        slash == NULL ? NULL : memmem(slash, reason.size - (size_t)(slash - reason.data), ": ", 2);
    if (colon != NULL) {
        reason = (Str){colon + 2, reason.size - (size_t)(colon + 2 - reason.data)};
    }
    const char *tail = memmem(reason.data, reason.size, after, sizeof after - 1);
    if (tail != NULL) {
        reason.size = (size_t)(tail - reason.data);
    }
    return str_trim(reason);
}

static void remember_failure(Client *client, const char *reason)
{
    Str text = strip_reason(str_from(reason));
    pthread_mutex_lock(&client->lock);
    mem_free(client->failure);
    client->failure = mem_alloc(text.size + 1);
    memcpy(client->failure, text.data, text.size);
    atomic_store(&client->troubled, true);
    pthread_mutex_unlock(&client->lock);
}

void client_reached(Client *client)
{
    if (!atomic_load_explicit(&client->troubled, memory_order_relaxed)) {
        return;
    }
    pthread_mutex_lock(&client->lock);
    mem_free(client->failure);
    client->failure = NULL;
    atomic_store(&client->troubled, false);
    atomic_store(&client->down, false);
    pthread_mutex_unlock(&client->lock);
}

/* Thread: whoever serves the client's queue. */
static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    (void)rk;
    Client *client = opaque;
    switch ((rd_kafka_resp_err_t)code) {
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        atomic_store(&client->troubled, true);
        atomic_store(&client->down, true);
        return;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
        remember_failure(client, reason);
        return;
    default:
        log_debug("kafka: %s: %s", rd_kafka_err2name((rd_kafka_resp_err_t)code), reason);
    }
}

/* Lines about connections repeat what on_error keeps, those about transactions what the calls
 * return, and those about properties of the other kind of client are no news: debug. Thread: any of
 * the library's. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    static const char *const quiet[] = {"FAIL",      "ERROR",    "CONFWARN", "REQTMOUT",
                                        "TERMINATE", "GETPID",   "TXNERR",   "ADDPARTS",
                                        "FATAL",     "TXNCOORD", "SSL"};
    bool warn = level <= 4;
    for (size_t i = 0; i < ARRAY_LENGTH(quiet); i++) {
        warn = warn && strcmp(facility, quiet[i]) != 0;
    }
    logger_write(warn ? LOG_WARN : LOG_DEBUG, "kafka: %s: %s", facility, text);
}

/* --------------------------------------------------------------------------- open, close ---- */

static Error *set_property(rd_kafka_conf_t *conf, const KafkaProperty *property)
{
    char text[512];
    if (rd_kafka_conf_set(conf, property->name, property->value, text, sizeof text) ==
        RD_KAFKA_CONF_OK) {
        return NULL;
    }
    Error *error = kafka_check_property(property->name, property->value);
    return error != NULL ? error
                         : error_new(ERROR_KAFKA_CONFIGURATION, "kafka property %s: %s",
                                     property->name, text);
}

static Error *set_properties(rd_kafka_conf_t *conf, const KafkaProperty *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(set_property(conf, &properties[i]));
    }
    return NULL;
}

/* A producer's limit, which the library also holds a consumer's fetch.max.bytes against: who wants
 * to write large records need not fetch in large pieces, for a record that is larger than a piece
 * comes all the same. Its least value makes the library silent. */
static const KafkaProperty no_limit_of_producers = {"message.max.bytes", "1000"};

static Error *fill_conf(rd_kafka_conf_t *conf, const ClientConfig *config, rd_kafka_type_t type,
                        const KafkaProperty *own, size_t own_count)
{
    TRY(set_properties(conf, common_properties, ARRAY_LENGTH(common_properties)));
    TRY(set_properties(conf, own, own_count));
    TRY(set_properties(conf, config->properties, config->count));
    if (type == RD_KAFKA_CONSUMER) {
        TRY(set_property(conf, &no_limit_of_producers));
    }
    return set_property(conf, &(KafkaProperty){"bootstrap.servers", config->bootstrap});
}

Error *client_open(const ClientConfig *config, rd_kafka_type_t type, const KafkaProperty *own,
                   size_t own_count, void (*prepare)(rd_kafka_conf_t *conf), Client **ret_client)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    Error *error = fill_conf(conf, config, type, own, own_count);
    if (error != NULL) {
        rd_kafka_conf_destroy(conf);
        return error;
    }
    Client *client = mem_new(Client);
    client->bootstrap = mem_strdup(config->bootstrap);
    pthread_mutex_init(&client->lock, NULL);
    rd_kafka_conf_set_opaque(conf, client);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    if (prepare != NULL) {
        prepare(conf);
    }
    char text[512];
    client->rk = rd_kafka_new(type, conf, text, sizeof text);
    if (client->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        client_close(client);
        return error_new(ERROR_KAFKA_CONFIGURATION, "the Kafka client cannot be made: %s", text);
    }
    *ret_client = client;
    return NULL;
}

static void *destroy(void *argument)
{
    Client *client = argument;
    if (client->rk != NULL) {
        /* Nothing was subscribed: there is no group to leave. */
        rd_kafka_destroy_flags(client->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    pthread_mutex_destroy(&client->lock);
    mem_free(client->failure);
    mem_free(client->bootstrap);
    mem_free(client);
    return NULL;
}

/* librdkafka 2.0.2 now and then never comes back from destroying a consumer (on a busy machine one
 * in some hundreds: a thread of its own goes on waiting). A flow that starts again must not hang
 * with it, and a reader owes nobody anything: it is taken down beside. A producer is waited for. */
void client_close(Client *client)
{
    if (client == NULL) {
        return;
    }
    bool is_reader = client->rk != NULL && rd_kafka_type(client->rk) == RD_KAFKA_CONSUMER;
    pthread_t thread;
    if (is_reader && pthread_create(&thread, NULL, destroy, client) == 0) {
        (void)pthread_detach(thread);
        return;
    }
    (void)destroy(client);
}

void client_serve(Client *client)
{
    /* On a consumer's queue rd_kafka_poll would meet fetched records, and abort the process. */
    if (!client->reads) {
        rd_kafka_poll(client->rk, 0);
    }
}

/* ------------------------------------------------------------------------------- metadata ---- */

/* One metadata request. Gives up as soon as every broker has failed rather than at the deadline:
 * the caller's back-off is the better place to wait. */
static Error *request_metadata(Client *client, rd_kafka_topic_t *topic, int timeout_ms,
                               const char *doing, const rd_kafka_metadata_t **ret_metadata)
{
    enum { SLICE_MS = 200 };
    int64_t deadline = deadline_after(timeout_ms);
    atomic_store(&client->down, false);
    for (;;) {
        int left = deadline_left_ms(deadline);
        rd_kafka_resp_err_t code = rd_kafka_metadata(client->rk, 0, topic, ret_metadata,
                                                     left < SLICE_MS ? left : SLICE_MS);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            client_reached(client);
            return NULL;
        }
        client_serve(client);
        if (deadline_left_ms(deadline) == 0 || atomic_load(&client->down)) {
            return client_error(client, code, NULL, "%s", doing);
        }
        if (code != RD_KAFKA_RESP_ERR__TIMED_OUT && code != RD_KAFKA_RESP_ERR__TRANSPORT) {
            return client_error(client, code, NULL, "%s", doing);
        }
    }
}

Error *client_topic_metadata(Client *client, rd_kafka_topic_t *topic, int timeout_ms,
                             TopicMetadata *ret_metadata)
{
    const char *name = rd_kafka_topic_name(topic);
    AUTO_BUFFER Buffer doing = {0};
    buffer_printf(&doing, "asking for topic %s", name);
    const rd_kafka_metadata_t *metadata = NULL;
    TRY(request_metadata(client, topic, timeout_ms, buffer_cstr(&doing), &metadata));
    TopicMetadata result = {.partition_count = 0, .all_led = true};
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    for (int t = 0; t < metadata->topic_cnt; t++) {
        const rd_kafka_metadata_topic_t *found = &metadata->topics[t];
        if (strcmp(found->topic, name) != 0) {
            continue;
        }
        code = found->err;
        result.partition_count = found->partition_cnt;
        for (int p = 0; p < found->partition_cnt; p++) {
            result.all_led = result.all_led && found->partitions[p].leader >= 0;
        }
    }
    rd_kafka_metadata_destroy(metadata);
    if (code == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
        result.all_led = false;
    } else if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        return error_new(ERROR_KAFKA_TOPIC_NOT_FOUND, "topic %s does not exist at %s", name,
                         client->bootstrap);
    } else if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return client_error(client, code, NULL, "%s", buffer_cstr(&doing));
    }
    *ret_metadata = result;
    return NULL;
}

Error *client_topic_lookup(Client *client, const char *topic, int timeout_ms,
                           TopicMetadata *ret_metadata)
{
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client->rk, topic, NULL);
    if (handle == NULL) {
        return client_error(client, rd_kafka_last_error(), NULL, "asking for topic %s", topic);
    }
    Error *error = client_topic_metadata(client, handle, timeout_ms, ret_metadata);
    rd_kafka_topic_destroy(handle);
    return error;
}

Error *client_topic_expect(Client *client, const char *topic, int32_t partition, int patience_ms,
                           int timeout_ms, TopicMetadata *ret_metadata)
{
    int64_t deadline = deadline_after(patience_ms);
    for (;;) {
        Error *error = client_topic_lookup(client, topic, timeout_ms, ret_metadata);
        if (error == NULL && partition < ret_metadata->partition_count) {
            return NULL;
        }
        if (error == NULL) {
            error = error_new(ERROR_KAFKA_TOPIC_NOT_FOUND,
                              "topic %s has %d partitions, there is no partition %d", topic,
                              ret_metadata->partition_count, (int)partition);
        }
        if (error_class(error) != ERROR_KAFKA_TOPIC_NOT_FOUND || deadline_left_ms(deadline) == 0) {
            return error;
        }
        error_free(error);
        clock_sleep_ms(TOPIC_PAUSE_MS);
    }
}

Error *client_ping(Client *client, int timeout_ms)
{
    const rd_kafka_metadata_t *metadata = NULL;
    TRY(request_metadata(client, NULL, timeout_ms, "connecting", &metadata));
    rd_kafka_metadata_destroy(metadata);
    return NULL;
}
