/* Judging the user's librdkafka properties. The list of names and the legal values are the
 * library's own; what tidemark sets itself is refused, because changing it would break a promise
 * (exactly once, one reader's view), and the message says which topology key governs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/kafka/client.h"
#include "processor/base/memory.h"

#include "processor/base/banned.h"

typedef struct OwnProperty {
    const char *name;
    const char *instead;
} OwnProperty;

static const OwnProperty own_properties[] = {
    {"bootstrap.servers", "set `kafka.bootstrap`"},
    {"metadata.broker.list", "set `kafka.bootstrap`"},
    {"transactional.id", "it is made from `pipeline` and the flow's name"},
    {"transaction.timeout.ms", "it follows from `commit.interval` and the size of the change"},
    {"group.id", "it is the name given as `pipeline`"},
    {"group.instance.id", "set `cluster`"},
    {"isolation.level", "sources are always read committed"},
    {"enable.auto.commit", "positions are committed with the rows, see `commit.interval`"},
    {"auto.commit.enable", "positions are committed with the rows, see `commit.interval`"},
    {"auto.commit.interval.ms", "set `commit.interval`"},
    {"enable.auto.offset.store", "positions are committed with the rows, see `commit.interval`"},
    {"auto.offset.reset", "set `start` of the source"},
    {"enable.partition.eof", "triggered updates depend on it"},
    {"enable.idempotence", "producers are always idempotent"},
    {"acks", "producers always wait for all in-sync replicas"},
    {"request.required.acks", "producers always wait for all in-sync replicas"},
    {"allow.auto.create.topics", "topics are made with the settings of `tables`"},
    {"check.crcs", "it is always on"},
    {"partitioner", "rows are partitioned by their key, see `tables`"},
    {"queued.max.messages.kbytes", "set `state.memory`"},
    {"queue.buffering.max.messages", "set `state.memory`"},
    {"queue.buffering.max.kbytes", "set `state.memory`"},
    {"enable.gapless.guarantee", "transactions guarantee it"},
    {"delivery.report.only.error", "every delivery is checked"},
};

static bool is_secret(const char *name)
{
    static const char *const marks[] = {"password", "secret",      "token",
                                        "key.pem",  "oauthbearer", "keystore"};
    for (size_t i = 0; i < ARRAY_LENGTH(marks); i++) {
        if (strstr(name, marks[i]) != NULL && strstr(name, "location") == NULL) {
            return true;
        }
    }
    return false;
}

/* The library's table of properties, as it prints it. Heap; free() it. */
static char *property_table(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    rd_kafka_conf_properties_show(out);
    (void)fclose(out);
    return text;
}

/* The known name nearest to `name`, in `ret_nearest`; false when none is near. */
static bool nearest_name(Str table, Str name, Buffer *ret_nearest)
{
    size_t best = name.size / 2 + 1;
    bool found = false;
    while (table.data != NULL) {
        Str line = str_cut(&table, '\n');
        Str known = str_trim(str_cut(&line, '|'));
        if (line.data == NULL || known.size == 0 || str_equal(known, STR("Property"))) {
            continue;
        }
        size_t distance = str_distance(known, name);
        if (distance < best) {
            best = distance;
            found = true;
            buffer_clear(ret_nearest);
            buffer_append_str(ret_nearest, known);
        }
    }
    return found;
}

static Error *unknown_property(const char *name)
{
    Error *error = error_new(ERROR_KAFKA_CONFIGURATION,
                             "`%s` is not a property of the Kafka client (librdkafka %s)", name,
                             rd_kafka_version_str());
    char *table = property_table();
    AUTO_BUFFER Buffer nearest = {0};
    if (nearest_name(str_from(table), str_from(name), &nearest)) {
        (void)error_set_hint(error, "did you mean `%s`?", buffer_cstr(&nearest));
    }
    free(table);
    return error;
}

Error *kafka_check_property(const char *name, const char *value)
{
    for (size_t i = 0; i < ARRAY_LENGTH(own_properties); i++) {
        if (strcmp(name, own_properties[i].name) == 0) {
            return error_set_hint(error_new(ERROR_KAFKA_CONFIGURATION,
                                            "the property `%s` is set by tidemark itself", name),
                                  "%s", own_properties[i].instead);
        }
    }
    char text[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name, value, text, sizeof text);
    rd_kafka_conf_destroy(conf);
    switch (result) {
    case RD_KAFKA_CONF_OK:
        return NULL;
    case RD_KAFKA_CONF_UNKNOWN:
        return unknown_property(name);
    case RD_KAFKA_CONF_INVALID:
        break;
    }
    if (is_secret(name)) {
        return error_new(ERROR_KAFKA_CONFIGURATION,
                         "the value of the Kafka client property `%s` is not legal", name);
    }
    return error_new(ERROR_KAFKA_CONFIGURATION, "the Kafka client refuses `%s`: %s", name, text);
}
