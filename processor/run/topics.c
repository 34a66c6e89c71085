/* Making and checking topics. */
#include "processor/run/topics.h"

#include "processor/run/names.h"

#include "processor/base/banned.h"

enum { PROVENANCE_BYTES = 65536 };

/* Settings of topics we make; `tables.x.config` adds to or replaces those of a table. */
/* A start reads the whole progress topic, so it is kept short: small segments, cleaned early. */
static const LogConfigEntry progress_config[] = {{"cleanup.policy", "compact"},
                                                 {"segment.bytes", "16777216"},
                                                 {"min.cleanable.dirty.ratio", "0.1"}};
static const LogConfigEntry event_log_config[] = {{"cleanup.policy", "delete"},
                                                  {"retention.ms", "604800000"}};
static const LogConfigEntry table_config[] = {{"cleanup.policy", "compact"},
                                              {"delete.retention.ms", "604800000"},
                                              {"min.compaction.lag.ms", "600000"},
                                              {"segment.bytes", "134217728"}};

static bool topic_is_missing(Error *error)
{
    return error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_NOT_FOUND;
}

static Error *create(Log *log, const Program *program, const char *name, int partitions,
                     const LogConfigEntry *config, size_t config_count, int timeout_ms)
{
    LogTopicSpec spec = {.name = name,
                         .partitions = partitions,
                         .replication_factor = (int)program->topology->kafka.replication_factor,
                         .config = config,
                         .config_count = config_count};
    Error *error = log_topic_create(log, &spec, timeout_ms);
    if (error != NULL && error_class(error) == ERROR_KAFKA_TOPIC_EXISTS) {
        error_free(error); /* another process was faster */
        return NULL;
    }
    return error;
}

static Error *prepare_internal(Log *log, const Program *program, const char *name,
                               const LogConfigEntry *config, size_t config_count, int timeout_ms)
{
    LogTopicDescription description = {0};
    Error *error = log_topic_describe(log, name, timeout_ms, &description);
    if (!topic_is_missing(error)) {
        return error;
    }
    error_free(error);
    return create(log, program, name, 1, config, config_count, timeout_ms);
}

static Error *check_source(Log *log, const ProgramSource *source, int timeout_ms,
                           int *ret_partitions)
{
    LogTopicDescription description = {0};
    Error *error = log_topic_describe(log, source->topic, timeout_ms, &description);
    if (topic_is_missing(error)) {
        error_set_hint(error,
                       "create topic `%s`, or correct sources.%.*s.topic: tidemark does not make "
                       "source topics",
                       source->topic, STR_ARG(source->config->name));
    }
    TRY(error);
    *ret_partitions = description.partition_count;
    return NULL;
}

/* The largest record any source takes; 0 when we may not ask. */
static Error *largest_record(Log *log, const Program *program, Arena *arena, int64_t *ret_bytes)
{
    int64_t largest = 0;
    for (size_t i = 0; i < program->source_count; i++) {
        const char *topic = program->sources[i].topic;
        const char *text = NULL;
        int64_t bytes = 0;
        Error *error = log_topic_config(log, topic, "max.message.bytes", arena, &text);
        if (error != NULL && error_class(error) != ERROR_KAFKA_ACCESS_DENIED) {
            return error;
        }
        error_free(error);
        if (text != NULL && str_to_int64(str_from(text), &bytes) && bytes > largest) {
            largest = bytes;
        }
    }
    *ret_bytes = largest;
    return NULL;
}

/* Bad records are kept until somebody has looked at them. Whatever a source takes fits here, with
 * the headers we add. */
static Error *create_quarantine(Log *log, const Program *program, const char *name, Arena *arena,
                                int timeout_ms)
{
    int64_t largest = 0;
    TRY(largest_record(log, program, arena, &largest));
    int64_t limit = largest < INT32_MAX - PROVENANCE_BYTES ? largest + PROVENANCE_BYTES : INT32_MAX;
    LogConfigEntry config[] = {
        {"cleanup.policy", "delete"},
        {"retention.ms", "-1"},
        {"max.message.bytes", arena_printf(arena, "%lld", (long long)limit)},
    };
    size_t count = largest == 0 ? ARRAY_LENGTH(config) - 1 : ARRAY_LENGTH(config);
    return create(log, program, name, 1, config, count, timeout_ms);
}

static Error *prepare_quarantine(Log *log, const Program *program, Arena *arena, int timeout_ms)
{
    const char *name = name_quarantine_topic(arena, program->topology->pipeline);
    LogTopicDescription description = {0};
    Error *error = log_topic_describe(log, name, timeout_ms, &description);
    if (!topic_is_missing(error)) {
        return error;
    }
    error_free(error);
    return create_quarantine(log, program, name, arena, timeout_ms);
}

static Error *check_policy(Log *log, const ProgramTable *table, Arena *arena)
{
    const char *policy = NULL;
    TRY(log_topic_config(log, table->topic, "cleanup.policy", arena, &policy));
    if (policy != NULL && strcmp(policy, "compact") == 0) {
        return NULL;
    }
    Error *error =
        error_new(ERROR_KAFKA_TOPIC_MISMATCH,
                  "Topic `%s` of table `%.*s` has cleanup.policy=%s; a table's topic "
                  "must be `compact` alone, or its rows would vanish.",
                  table->topic, STR_ARG(table->bound->name), policy == NULL ? "(unknown)" : policy);
    return error_set_hint(error,
                          "kafka-configs --alter --topic %s --add-config cleanup.policy=compact, "
                          "or give the table another topic",
                          table->topic);
}

static Error *check_table(Log *log, const ProgramTable *table, int partitions, Arena *arena)
{
    int64_t wanted = table->config == NULL ? 0 : table->config->partitions;
    if (wanted != 0 && wanted != partitions) {
        Error *error =
            error_new(ERROR_KAFKA_TOPIC_MISMATCH,
                      "Topic `%s` of table `%.*s` has %d partitions; the topology says "
                      "%lld.",
                      table->topic, STR_ARG(table->bound->name), partitions, (long long)wanted);
        return error_set_hint(error,
                              "a table's partitions cannot change (keys would move): set "
                              "partitions: %d, or give the table another name, which "
                              "makes it anew from its source",
                              partitions);
    }
    return check_policy(log, table, arena);
}

/* Our settings with the user's in their place. */
static const LogConfigEntry *merged_config(const TopologyTable *config, Arena *arena,
                                           size_t *ret_count)
{
    size_t own = ARRAY_LENGTH(table_config);
    size_t user = config == NULL ? 0 : config->config_count;
    LogConfigEntry *merged = arena_new_array(arena, LogConfigEntry, own + user);
    memcpy(merged, table_config, sizeof table_config);
    size_t count = own;
    for (size_t i = 0; i < user; i++) {
        LogConfigEntry entry = {arena_copy_cstr(arena, config->config[i].name),
                                arena_copy_cstr(arena, config->config[i].value)};
        size_t at = 0;
        while (at < count && strcmp(merged[at].name, entry.name) != 0) {
            at++;
        }
        merged[at] = entry;
        count = at == count ? count + 1 : count;
    }
    *ret_count = count;
    return merged;
}

static Error *prepare_table(Log *log, const Program *program, const ProgramTable *table,
                            int source_partitions, int timeout_ms)
{
    AUTO(arena) Arena *arena = arena_new("topics");
    LogTopicDescription description = {0};
    Error *error = log_topic_describe(log, table->topic, timeout_ms, &description);
    if (error == NULL) {
        return check_table(log, table, description.partition_count, arena);
    }
    if (!topic_is_missing(error)) {
        return error;
    }
    error_free(error);
    int partitions = source_partitions;
    if (table->config != NULL && table->config->partitions != 0) {
        partitions = (int)table->config->partitions;
    }
    size_t count = 0;
    const LogConfigEntry *config = merged_config(table->config, arena, &count);
    TRY(create(log, program, table->topic, partitions, config, count, timeout_ms));
    return check_policy(log, table, arena);
}

Error *topics_prepare(Log *log, const Program *program, int timeout_ms)
{
    int largest = 1;
    for (size_t i = 0; i < program->source_count; i++) {
        int partitions = 0;
        TRY(check_source(log, &program->sources[i], timeout_ms, &partitions));
        largest = partitions > largest ? partitions : largest;
    }
    AUTO(arena) Arena *arena = arena_new("names");
    Str pipeline = program->topology->pipeline;
    TRY(prepare_internal(log, program, name_progress_topic(arena, pipeline), progress_config,
                         ARRAY_LENGTH(progress_config), timeout_ms));
    TRY(prepare_internal(log, program, name_event_log_topic(arena, pipeline), event_log_config,
                         ARRAY_LENGTH(event_log_config), timeout_ms));
    TRY(prepare_quarantine(log, program, arena, timeout_ms));
    for (size_t i = 0; i < program->table_count; i++) {
        const ProgramTable *table = &program->tables[i];
        TRY(prepare_table(log, program, table, largest, timeout_ms));
        for (size_t k = 0; k < table->state_count; k++) {
            TRY(prepare_table(log, program, &table->states[k], largest, timeout_ms));
        }
    }
    return NULL;
}
