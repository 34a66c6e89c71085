/* The topology's keys as data (DESIGN section 9), and its loading: YAML to tree, tree to struct by
 * the schema, then the checks of topology_check.c. */
#include "config/topology.h"

#include <stddef.h>
#include <string.h>

#include "config/config_schema.h"
#include "config/text_map.h"
#include "config/topology_check.h"
#include "config/topology_sql.h"

#include "processor/base/banned.h"

/* The loader writes enums as int. */
_Static_assert(sizeof(TopologyMode) == sizeof(int), "enums are ints");
_Static_assert(sizeof(LogLevel) == sizeof(int), "enums are ints");

#define MS_SECOND 1000LL
#define MS_HOUR (3600 * MS_SECOND)
#define MS_DAY (24 * MS_HOUR)
#define KIB 1024LL
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* ---- Words ---- */

static const ConfigChoice mode_words[] = {
    {.name = "continuous", .value = TOPOLOGY_CONTINUOUS},
    {.name = "triggered", .value = TOPOLOGY_TRIGGERED},
};
static const ConfigChoice compute_words[] = {
    {.name = "serverless", .value = TOPOLOGY_SERVERLESS},
    {.name = "classic", .value = TOPOLOGY_CLASSIC},
};
static const ConfigChoice cluster_words[] = {
    {.name = "single", .value = TOPOLOGY_SINGLE},
    {.name = "group", .value = TOPOLOGY_GROUP, .not_yet = true},
};
static const ConfigChoice format_words[] = {
    {.name = "json", .value = TOPOLOGY_JSON},
    {.name = "avro", .value = TOPOLOGY_AVRO, .not_yet = true},
    {.name = "csv", .value = TOPOLOGY_CSV, .not_yet = true},
    {.name = "raw", .value = TOPOLOGY_RAW, .not_yet = true},
};
static const ConfigChoice source_kind_words[] = {
    {.name = "stream", .value = TOPOLOGY_STREAM},
    {.name = "table", .value = TOPOLOGY_TABLE},
};
static const ConfigChoice on_error_words[] = {
    {.name = "quarantine", .value = TOPOLOGY_QUARANTINE},
    {.name = "fail", .value = TOPOLOGY_FAIL},
};
static const ConfigChoice on_truncate_words[] = {
    {.name = "fail", .value = TOPOLOGY_TRUNCATE_FAIL},
    {.name = "skip", .value = TOPOLOGY_TRUNCATE_SKIP},
};
static const ConfigChoice log_level_words[] = {
    {.name = "debug", .value = LOG_DEBUG},
    {.name = "info", .value = LOG_INFO},
    {.name = "warn", .value = LOG_WARN},
    {.name = "error", .value = LOG_ERROR},
};
static const ConfigChoice log_format_words[] = {
    {.name = "text", .value = TOPOLOGY_LOG_TEXT},
    {.name = "json", .value = TOPOLOGY_LOG_JSON},
};

/* ---- Elements ---- */

static const ConfigKey text_element[] = {
    {.kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologyText, text),
     .place_offset = offsetof(TopologyText, place)},
};
static const ConfigSchema text_schema = {CONFIG_KEYS(TopologyText, text_element)};

static const ConfigKey property_element[] = {
    {.kind = CONFIG_TEXT,
     .offset = offsetof(TopologyProperty, value),
     .place_offset = offsetof(TopologyProperty, value_place)},
};
static const ConfigSchema property_schema = {CONFIG_KEYS(TopologyProperty, property_element),
                                             .name_place_offset =
                                                 offsetof(TopologyProperty, name_place)};

static const ConfigKey sql_element[] = {
    {.kind = CONFIG_CUSTOM, .load = topology_load_sql},
};
static const ConfigSchema sql_schema = {CONFIG_KEYS(TopologySql, sql_element)};

/* ---- Sections ---- */

static const ConfigKey kafka_keys[] = {
    {.name = "bootstrap",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_REQUIRED | CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologyKafka, bootstrap),
     .place_offset = offsetof(TopologyKafka, bootstrap_place)},
    {.name = "replication_factor",
     .kind = CONFIG_INTEGER,
     .offset = offsetof(TopologyKafka, replication_factor),
     .place_offset = offsetof(TopologyKafka, replication_factor_place),
     .default_text = "-1",
     .min = -1,
     .max = INT16_MAX},
    {.name = "properties",
     .kind = CONFIG_MAP,
     .offset = offsetof(TopologyKafka, properties),
     .count_offset = offsetof(TopologyKafka, property_count),
     .schema = &property_schema},
};
static const ConfigSchema kafka_schema = {CONFIG_KEYS(TopologyKafka, kafka_keys)};

/* In place: the URL is the whole section. */
static const ConfigKey schema_registry_keys[] = {
    {.name = "url",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_REQUIRED | CONFIG_NOT_EMPTY | CONFIG_SECRET},
};
static const ConfigSchema schema_registry_schema = {CONFIG_KEYS(Str, schema_registry_keys)};

static const ConfigKey state_keys[] = {
    {.name = "dir",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologyState, dir),
     .place_offset = offsetof(TopologyState, dir_place),
     .default_text = "./state"},
    {.name = "memory",
     .kind = CONFIG_SIZE,
     .offset = offsetof(TopologyState, memory_bytes),
     .default_text = "256MiB",
     .min = 32 * MIB,
     .max = 16 * 1024 * GIB},
    {.name = "checkpoint_interval",
     .kind = CONFIG_DURATION,
     .offset = offsetof(TopologyState, checkpoint_interval_ms),
     .default_text = "5s",
     .min = 10,
     .max = MS_DAY},
    {.name = "checkpoint_bytes",
     .kind = CONFIG_SIZE,
     .offset = offsetof(TopologyState, checkpoint_bytes),
     .default_text = "64MiB",
     .min = 64 * KIB,
     .max = 16 * 1024 * GIB},
};
static const ConfigSchema state_schema = {CONFIG_KEYS(TopologyState, state_keys)};

static const ConfigKey commit_keys[] = {
    {.name = "interval",
     .kind = CONFIG_DURATION,
     .offset = offsetof(TopologyCommit, interval_ms),
     .default_text = "100ms",
     .min = 1,
     .max = MS_HOUR},
    {.name = "min_spacing",
     .kind = CONFIG_DURATION,
     .offset = offsetof(TopologyCommit, min_spacing_ms),
     .default_text = "5ms",
     .min = 0,
     .max = MS_HOUR},
    {.name = "max_rows",
     .kind = CONFIG_INTEGER,
     .offset = offsetof(TopologyCommit, max_rows),
     .default_text = "100000",
     .min = 1,
     .max = 1000000000},
    {.name = "max_bytes",
     .kind = CONFIG_SIZE,
     .offset = offsetof(TopologyCommit, max_bytes),
     .default_text = "64MiB",
     .min = 1 * KIB,
     .max = 64 * GIB},
};
static const ConfigSchema commit_schema = {CONFIG_KEYS(TopologyCommit, commit_keys)};

static const ConfigKey retry_keys[] = {
    {.name = "max_attempts",
     .kind = CONFIG_INTEGER,
     .offset = offsetof(TopologyRetry, max_attempts),
     .default_text = "5",
     .min = 0,
     .max = 1000000},
    {.name = "backoff",
     .kind = CONFIG_DURATION,
     .offset = offsetof(TopologyRetry, backoff_ms),
     .default_text = "1s",
     .min = 1,
     .max = MS_DAY},
    {.name = "backoff_max",
     .kind = CONFIG_DURATION,
     .offset = offsetof(TopologyRetry, backoff_max_ms),
     .place_offset = offsetof(TopologyRetry, backoff_max_place),
     .default_text = "1m",
     .min = 1,
     .max = MS_DAY},
};
static const ConfigSchema retry_schema = {CONFIG_KEYS(TopologyRetry, retry_keys)};

static const ConfigKey api_keys[] = {
    {.name = "listen",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologyApi, listen),
     .place_offset = offsetof(TopologyApi, listen_place),
     .default_text = "127.0.0.1:8088"},
    {.name = "tokens",
     .kind = CONFIG_LIST,
     .flags = CONFIG_ONE_OR_LIST | CONFIG_SECRET | CONFIG_NOT_YET,
     .offset = offsetof(TopologyApi, tokens),
     .count_offset = offsetof(TopologyApi, token_count),
     .schema = &text_schema},
};
static const ConfigSchema api_schema = {CONFIG_KEYS(TopologyApi, api_keys)};

static const ConfigKey log_keys[] = {
    {.name = "level",
     .kind = CONFIG_ENUM,
     .offset = offsetof(TopologyLog, level),
     .default_text = "info",
     CONFIG_CHOICES(log_level_words)},
    {.name = "format",
     .kind = CONFIG_ENUM,
     .offset = offsetof(TopologyLog, format),
     .default_text = "text",
     CONFIG_CHOICES(log_format_words)},
};
static const ConfigSchema log_schema = {CONFIG_KEYS(TopologyLog, log_keys)};

static const ConfigKey source_keys[] = {
    {.name = "topic",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologySource, topic),
     .place_offset = offsetof(TopologySource, topic_place)},
    {.name = "kind",
     .kind = CONFIG_ENUM,
     .offset = offsetof(TopologySource, kind),
     .default_text = "stream",
     CONFIG_CHOICES(source_kind_words)},
    {.name = "key",
     .kind = CONFIG_LIST,
     .flags = CONFIG_ONE_OR_LIST | CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologySource, key),
     .count_offset = offsetof(TopologySource, key_count),
     .schema = &text_schema},
    {.name = "format",
     .kind = CONFIG_ENUM,
     .offset = offsetof(TopologySource, format),
     .default_text = "json",
     CONFIG_CHOICES(format_words)},
    {.name = "columns",
     .kind = CONFIG_CUSTOM,
     .flags = CONFIG_REQUIRED,
     .offset = offsetof(TopologySource, columns),
     .load = topology_load_columns},
    {.name = "start",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologySource, start_text),
     .place_offset = offsetof(TopologySource, start_place),
     .default_text = "earliest"},
    {.name = "on_error",
     .kind = CONFIG_ENUM,
     .offset = offsetof(TopologySource, on_error),
     .default_text = "quarantine",
     CONFIG_CHOICES(on_error_words)},
    {.name = "on_truncate",
     .kind = CONFIG_ENUM,
     .offset = offsetof(TopologySource, on_truncate),
     .default_text = "fail",
     CONFIG_CHOICES(on_truncate_words)},
    {.name = "coerce",
     .kind = CONFIG_BOOL,
     .offset = offsetof(TopologySource, coerce),
     .default_text = "false"},
    {.name = "allow_compacted",
     .kind = CONFIG_BOOL,
     .offset = offsetof(TopologySource, allow_compacted),
     .default_text = "false"},
};
static const ConfigSchema source_schema = {CONFIG_KEYS(TopologySource, source_keys),
                                           .name_place_offset =
                                               offsetof(TopologySource, name_place),
                                           .broken_offset = offsetof(TopologySource, broken)};

static const ConfigKey table_keys[] = {
    {.name = "topic",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(TopologyTable, topic),
     .place_offset = offsetof(TopologyTable, topic_place)},
    {.name = "format",
     .kind = CONFIG_ENUM,
     .offset = offsetof(TopologyTable, format),
     .default_text = "json",
     CONFIG_CHOICES(format_words)},
    {.name = "partitions",
     .kind = CONFIG_INTEGER,
     .offset = offsetof(TopologyTable, partitions),
     .place_offset = offsetof(TopologyTable, partitions_place),
     .min = 1,
     .max = 100000},
    {.name = "config",
     .kind = CONFIG_MAP,
     .offset = offsetof(TopologyTable, config),
     .count_offset = offsetof(TopologyTable, config_count),
     .schema = &property_schema},
};
static const ConfigSchema table_schema = {CONFIG_KEYS(TopologyTable, table_keys),
                                          .name_place_offset = offsetof(TopologyTable, name_place),
                                          .broken_offset = offsetof(TopologyTable, broken)};

/* ---- The root ---- */

static const ConfigKey topology_keys[] = {
    {.name = "pipeline",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_REQUIRED,
     .offset = offsetof(Topology, pipeline),
     .place_offset = offsetof(Topology, pipeline_place)},
    {.name = "owner",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(Topology, owner)},
    {.name = "catalog",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(Topology, catalog),
     .place_offset = offsetof(Topology, catalog_place),
     .default_text = "main"},
    {.name = "schema",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(Topology, schema),
     .place_offset = offsetof(Topology, schema_place),
     .default_text = "default"},
    {.name = "time_zone",
     .kind = CONFIG_TEXT,
     .flags = CONFIG_NOT_EMPTY,
     .offset = offsetof(Topology, time_zone),
     .place_offset = offsetof(Topology, time_zone_place),
     .default_text = "UTC"},
    {.name = "mode",
     .kind = CONFIG_ENUM,
     .offset = offsetof(Topology, mode),
     .default_text = "continuous",
     CONFIG_CHOICES(mode_words)},
    {.name = "compute",
     .kind = CONFIG_ENUM,
     .offset = offsetof(Topology, compute),
     .default_text = "serverless",
     CONFIG_CHOICES(compute_words)},
    {.name = "cluster",
     .kind = CONFIG_ENUM,
     .offset = offsetof(Topology, cluster),
     .default_text = "single",
     CONFIG_CHOICES(cluster_words)},
    {.name = "standby",
     .kind = CONFIG_INTEGER,
     .flags = CONFIG_NOT_YET,
     .offset = offsetof(Topology, standby),
     .default_text = "0",
     .min = 0,
     .max = 1000},
    {.name = "kafka",
     .kind = CONFIG_STRUCT,
     .flags = CONFIG_REQUIRED,
     .offset = offsetof(Topology, kafka),
     .schema = &kafka_schema},
    {.name = "schema_registry",
     .kind = CONFIG_STRUCT,
     .flags = CONFIG_NOT_YET,
     .offset = offsetof(Topology, schema_registry_url),
     .schema = &schema_registry_schema},
    {.name = "state",
     .kind = CONFIG_STRUCT,
     .offset = offsetof(Topology, state),
     .schema = &state_schema},
    {.name = "commit",
     .kind = CONFIG_STRUCT,
     .offset = offsetof(Topology, commit),
     .schema = &commit_schema},
    {.name = "retry",
     .kind = CONFIG_STRUCT,
     .offset = offsetof(Topology, retry),
     .schema = &retry_schema},
    {.name = "api",
     .kind = CONFIG_STRUCT,
     .offset = offsetof(Topology, api),
     .schema = &api_schema},
    {.name = "log",
     .kind = CONFIG_STRUCT,
     .offset = offsetof(Topology, log),
     .schema = &log_schema},
    {.name = "sources",
     .kind = CONFIG_MAP,
     .offset = offsetof(Topology, sources),
     .count_offset = offsetof(Topology, source_count),
     .schema = &source_schema},
    {.name = "tables",
     .kind = CONFIG_MAP,
     .offset = offsetof(Topology, tables),
     .count_offset = offsetof(Topology, table_count),
     .schema = &table_schema},
    {.name = "sql",
     .kind = CONFIG_LIST,
     .flags = CONFIG_REQUIRED | CONFIG_ONE_OR_LIST | CONFIG_NOT_EMPTY,
     .offset = offsetof(Topology, sql),
     .count_offset = offsetof(Topology, sql_count),
     .schema = &sql_schema},
};
static const ConfigSchema topology_schema = {CONFIG_KEYS(Topology, topology_keys)};

/* ---- Loading ---- */

void topology_load_text(Str text, const char *file_name, const char *base_dir, Arena *arena,
                        Diagnostics *diagnostics, Topology **ret_topology)
{
    YamlDocument *document = NULL;
    yaml_parse(text, file_name, arena, diagnostics, &document);
    if (document == NULL) {
        diagnostics_sort(diagnostics);
        return;
    }
    TopologyLoader loader = {
        .config = {.document = document, .arena = arena, .diagnostics = diagnostics},
        .base_dir = base_dir,
    };
    Topology *topology = arena_new_object(arena, Topology);
    topology->file = document->file;
    topology->document = document;
    topology->pipeline = STR("");
    topology->kafka.bootstrap = STR("");
    config_load(&loader.config, &topology_schema, topology);
    if (document->root->kind == YAML_MAPPING) {
        topology_check(&loader.config, topology);
        *ret_topology = topology;
    }
    diagnostics_sort(diagnostics);
}

void topology_load_file(const char *path, Arena *arena, Diagnostics *diagnostics,
                        Topology **ret_topology)
{
    Str text = STR_NULL;
    Error *error = topology_read_file(path, YAML_TEXT_BYTES_MAX, arena, &text);
    if (error != NULL) {
        diagnostics_add(diagnostics, error_set_file(error, path));
        return;
    }
    const char *slash = strrchr(path, '/');
    Str folder = slash == NULL ? STR("") : (Str){path, (size_t)(slash - path) + 1};
    topology_load_text(text, path, arena_copy_cstr(arena, folder), arena, diagnostics,
                       ret_topology);
}

void topology_place_error(const Topology *topology, Error *error)
{
    yaml_document_place_error(topology->document, error);
}
