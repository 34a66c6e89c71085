/* Topics: their configuration with Kafka's names and defaults, more partitions, deletion. */
#include "connectors/sim/broker.h"

#include <assert.h>

#include "processor/base/memory.h"

#include "processor/base/banned.h"

/* Every topic configuration of Kafka 4 that a client may set, with the broker's default. */
static const LogConfigEntry config_defaults[] = {
    {"cleanup.policy", "delete"},
    {"compression.gzip.level", "-1"},
    {"compression.lz4.level", "9"},
    {"compression.type", "producer"},
    {"compression.zstd.level", "3"},
    {"delete.retention.ms", "86400000"},
    {"file.delete.delay.ms", "60000"},
    {"flush.messages", "9223372036854775807"},
    {"flush.ms", "9223372036854775807"},
    {"follower.replication.throttled.replicas", ""},
    {"index.interval.bytes", "4096"},
    {"leader.replication.throttled.replicas", ""},
    {"local.retention.bytes", "-2"},
    {"local.retention.ms", "-2"},
    {"max.compaction.lag.ms", "9223372036854775807"},
    {"max.message.bytes", "1048588"},
    {"message.timestamp.after.max.ms", "3600000"},
    {"message.timestamp.before.max.ms", "9223372036854775807"},
    {"message.timestamp.type", "CreateTime"},
    {"min.cleanable.dirty.ratio", "0.5"},
    {"min.compaction.lag.ms", "0"},
    {"min.insync.replicas", "1"},
    {"preallocate", "false"},
    {"remote.storage.enable", "false"},
    {"retention.bytes", "-1"},
    {"retention.ms", "604800000"},
    {"segment.bytes", "1073741824"},
    {"segment.index.bytes", "10485760"},
    {"segment.jitter.ms", "0"},
    {"segment.ms", "604800000"},
    {"unclean.leader.election.enable", "false"},
};

static const LogConfigEntry *find_default(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(config_defaults); i++) {
        if (str_equal(str_from(config_defaults[i].name), str_from(name))) {
            return &config_defaults[i];
        }
    }
    return NULL;
}

static SimConfig *find_set(const SimTopic *topic, const char *name)
{
    for (size_t i = 0; i < topic->config_count; i++) {
        if (str_equal(str_from(topic->config[i].name), str_from(name))) {
            return &topic->config[i];
        }
    }
    return NULL;
}

const char *sim_topic_config(const SimTopic *topic, const char *name)
{
    const SimConfig *set = find_set(topic, name);
    if (set != NULL) {
        return set->value;
    }
    const LogConfigEntry *known = find_default(name);
    return known == NULL ? NULL : known->value;
}

int64_t sim_topic_config_number(const SimTopic *topic, const char *name)
{
    int64_t number = 0;
    bool is_number = str_to_int64(str_from(sim_topic_config(topic, name)), &number);
    assert(is_number);
    (void)is_number;
    return number;
}

bool sim_topic_is_compacted(const SimTopic *topic)
{
    Str rest = str_from(sim_topic_config(topic, "cleanup.policy"));
    while (rest.data != NULL) {
        if (str_equal(str_trim(str_cut(&rest, ',')), STR("compact"))) {
            return true;
        }
    }
    return false;
}

/* Where Kafka's default is a whole number the value must be one. */
static bool value_fits(const LogConfigEntry *known, const char *value)
{
    int64_t number = 0;
    return !str_to_int64(str_from(known->value), &number) || str_to_int64(str_from(value), &number);
}

Error *sim_topic_set_config(SimTopic *topic, const char *name, const char *value)
{
    const LogConfigEntry *known = find_default(name);
    if (known == NULL) {
        return error_new(ERROR_KAFKA_CONFIGURATION, "Unknown topic config name: %s.", name);
    }
    if (!value_fits(known, value)) {
        return error_new(ERROR_KAFKA_CONFIGURATION, "Invalid value `%s` for the topic config `%s`.",
                         value, name);
    }
    SimConfig *set = find_set(topic, name);
    if (set == NULL) {
        mem_reserve(topic->config, &topic->config_capacity, topic->config_count + 1);
        set = &topic->config[topic->config_count++];
        *set = (SimConfig){.name = known->name};
    }
    mem_free(set->value);
    set->value = mem_strdup(value);
    return NULL;
}

void sim_topic_add_partitions(SimTopic *topic, size_t count)
{
    assert(topic->exists && count >= topic->partition_count);
    mem_reserve(topic->partitions, &topic->partition_capacity, count);
    while (topic->partition_count < count) {
        SimPartition *partition = mem_new(SimPartition);
        partition->topic = topic;
        partition->index = (int32_t)topic->partition_count;
        partition->corrupt_offset = -1;
        topic->partitions[topic->partition_count++] = partition;
    }
}

static void clear(SimTopic *topic)
{
    for (size_t i = 0; i < topic->partition_count; i++) {
        sim_partition_free(topic->partitions[i]);
    }
    for (size_t i = 0; i < topic->config_count; i++) {
        mem_free(topic->config[i].value);
    }
    topic->partition_count = 0;
    topic->config_count = 0;
    topic->exists = false;
}

/* Open transactions and committed group offsets must not outlive the partitions they name. */
void sim_topic_delete(SimBroker *broker, SimTopic *topic)
{
    for (MapEntry *e = map_first(&broker->ids); e != NULL; e = map_next(&broker->ids, e)) {
        for (size_t i = 0; i < topic->partition_count; i++) {
            sim_id_forget(e->value, topic->partitions[i]);
        }
    }
    for (MapEntry *e = map_first(&broker->group_offsets); e != NULL;
         e = map_next(&broker->group_offsets, e)) {
        SimGroupOffset *place = e->value;
        place->offset = place->topic == topic ? -1 : place->offset;
    }
    clear(topic);
}

void sim_topic_free(SimTopic *topic)
{
    clear(topic);
    mem_free(topic->partitions);
    mem_free(topic->config);
    mem_free(topic);
}
