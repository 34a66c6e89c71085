/* Topology: one pipeline as its YAML file describes it (DESIGN section 9), every key filled in with
 * its default. A plain struct of the topology's lifetime: all of it lives in the arena given to the
 * loader and is read-only afterwards.
 *
 * Loading reports every mistake at once into a Diagnostics, each with file, line and column. The
 * topology is judged by itself: columns and SQL are kept as text for the SQL room (their errors
 * come back to the user's file through topology_place_sql_error), librdkafka properties as pairs
 * for the Kafka room (topology_place_error), time zones and timestamps for the data room. */
#ifndef CONFIG_TOPOLOGY_H
#define CONFIG_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor/base/arena.h"
#include "processor/base/error.h"
#include "processor/base/logger.h"
#include "processor/base/str.h"

typedef struct TextMap TextMap;
typedef struct YamlDocument YamlDocument;

/* A text inside the topology that a parser of its own reads: SQL or a column list. */
typedef struct TopologySql {
    Str text;           /* never STR_NULL once loaded */
    const char *file;   /* as messages name it: the topology, or the .sql file */
    Str source;         /* that file's whole text, for the caret */
    SourcePlace place;  /* where the text begins in the file */
    const TextMap *map; /* place in text -> place in file; NULL: they are the same */
    bool hide_source;   /* never show lines of `source` (they may hold a secret) */
} TopologySql;

/* A librdkafka property, or a setting of a topic. */
typedef struct TopologyProperty {
    Str name;
    SourcePlace name_place;
    Str value; /* may be secret: config_is_secret_key(name) */
    SourcePlace value_place;
} TopologyProperty;

typedef struct TopologyText {
    Str text;
    SourcePlace place;
} TopologyText;

typedef enum TopologyMode { TOPOLOGY_CONTINUOUS, TOPOLOGY_TRIGGERED } TopologyMode;
typedef enum TopologyCompute { TOPOLOGY_SERVERLESS, TOPOLOGY_CLASSIC } TopologyCompute;
typedef enum TopologyCluster { TOPOLOGY_SINGLE, TOPOLOGY_GROUP } TopologyCluster;
typedef enum TopologyFormat {
    TOPOLOGY_JSON,
    TOPOLOGY_AVRO,
    TOPOLOGY_CSV,
    TOPOLOGY_RAW
} TopologyFormat;
typedef enum TopologySourceKind { TOPOLOGY_STREAM, TOPOLOGY_TABLE } TopologySourceKind;
typedef enum TopologyStart {
    TOPOLOGY_START_EARLIEST,
    TOPOLOGY_START_LATEST,
    TOPOLOGY_START_TIMESTAMP
} TopologyStart;
typedef enum TopologyOnError { TOPOLOGY_QUARANTINE, TOPOLOGY_FAIL } TopologyOnError;
typedef enum TopologyOnTruncate {
    TOPOLOGY_TRUNCATE_FAIL,
    TOPOLOGY_TRUNCATE_SKIP
} TopologyOnTruncate;

typedef struct TopologySource {
    Str name; /* its name in SQL as written: one to three parts with dots between */
    SourcePlace name_place;
    Str topic; /* default: the name as written */
    SourcePlace topic_place;
    TopologySourceKind kind;
    TopologyText *key; /* columns of the message key; count 0 when not given */
    size_t key_count;
    TopologyFormat format;
    TopologySql columns; /* the grammar's column definitions */
    Str start_text;      /* as written: "earliest", "latest" or an ISO 8601 timestamp */
    SourcePlace start_place;
    TopologyStart start;
    TopologyOnError on_error;
    TopologyOnTruncate on_truncate;
    bool coerce;          /* numbers as text are taken */
    bool allow_compacted; /* silences SOURCE_COMPACTED */
    bool broken;          /* had mistakes, all reported: judge it no further */
} TopologySource;

typedef struct TopologyTable {
    Str name; /* as written: one to three parts */
    SourcePlace name_place;
    Str topic; /* STR_NULL when not given: the name as the SQL statement writes it */
    SourcePlace topic_place;
    TopologyFormat format;
    int64_t partitions; /* 0 when not given: as the largest source's */
    SourcePlace partitions_place;
    TopologyProperty *config; /* settings of the topic */
    size_t config_count;
    bool broken;
} TopologyTable;

typedef struct TopologyKafka {
    Str bootstrap; /* host:port, comma between several */
    SourcePlace bootstrap_place;
    int64_t replication_factor; /* -1: the broker's default */
    SourcePlace replication_factor_place;
    TopologyProperty *properties; /* not yet checked against librdkafka */
    size_t property_count;
} TopologyKafka;

typedef struct TopologyState {
    Str dir; /* as written; relative to the working directory */
    SourcePlace dir_place;
    int64_t memory_bytes;
    int64_t checkpoint_interval_ms;
    int64_t checkpoint_bytes;
} TopologyState;

typedef struct TopologyCommit {
    int64_t interval_ms;
    int64_t min_spacing_ms;
    int64_t max_rows;
    int64_t max_bytes;
} TopologyCommit;

typedef struct TopologyRetry {
    int64_t max_attempts;
    int64_t backoff_ms;
    int64_t backoff_max_ms;
    SourcePlace backoff_max_place;
} TopologyRetry;

typedef struct TopologyApi {
    Str listen;               /* listen_address.h; or "none" */
    SourcePlace listen_place; /* line 0 when not given */
    TopologyText *tokens;     /* secret */
    size_t token_count;
} TopologyApi;

typedef enum TopologyLogFormat { TOPOLOGY_LOG_TEXT, TOPOLOGY_LOG_JSON } TopologyLogFormat;

typedef struct TopologyLog {
    LogLevel level;
    TopologyLogFormat format;
} TopologyLog;

typedef struct Topology {
    const char *file; /* as messages name it */
    Str pipeline;     /* [A-Za-z0-9_.-]{1,100}: prefix of topics and ids */
    SourcePlace pipeline_place;
    Str owner; /* STR_NULL when not given */
    Str catalog;
    SourcePlace catalog_place;
    Str schema;
    SourcePlace schema_place;
    Str time_zone;
    SourcePlace time_zone_place; /* line 0 when not given */
    TopologyMode mode;
    TopologyCompute compute;
    TopologyCluster cluster;
    int64_t standby;
    TopologyKafka kafka;
    Str schema_registry_url; /* STR_NULL when not given */
    TopologyState state;
    TopologyCommit commit;
    TopologyRetry retry;
    TopologyApi api;
    TopologyLog log;
    TopologySource *sources;
    size_t source_count;
    TopologyTable *tables;
    size_t table_count;
    TopologySql *sql;
    size_t sql_count;
    const YamlDocument *document; /* for topology_place_error */
} Topology;

/* Reads and checks a topology. Every mistake goes into `diagnostics`, sorted by place; the load was
 * good when none was added. *ret_topology is set whenever the text is a YAML mapping, also with
 * mistakes, so that `validate` can go on to the SQL and report everything at once (skip what is
 * `broken`); otherwise it stays as it is. Never run one that had mistakes. `path` is shown as
 * given; {file: x.sql} is relative to its folder. */
void topology_load_file(const char *path, Arena *arena, Diagnostics *diagnostics,
                        Topology **ret_topology);
/* The same from a text (borrowed: it must live as long as the arena). `base_dir` may be NULL or ""
 * for the working directory. */
void topology_load_text(Str text, const char *file_name, const char *base_dir, Arena *arena,
                        Diagnostics *diagnostics, Topology **ret_topology);

/* An error whose place counts in `sql->text` (line 1, column 1 = its first character) is moved to
 * the user's file: place, file and the line shown above the caret. An error without place gets the
 * place where the text begins. */
void topology_place_sql_error(const TopologySql *sql, Error *error);
/* An error whose place already counts in the topology's file gets the file's name and the line for
 * the caret; lines that hold a secret are never shown. */
void topology_place_error(const Topology *topology, Error *error);

/* Cuts a name at its dots. Returns the number of parts, 1 to 3, or 0 when the name cannot be one of
 * a source or table: an empty part, more than three, or characters that SQL names cannot have. */
int topology_name_parts(Str name, Str ret_parts[3]);

/* Reserved for the pipeline itself: <pipeline>.progress, .event_log, .quarantine, .control and
 * <pipeline>.<flow>.<operator>, also when a name differs from one of the first four by '.' for '_'
 * only (a broker refuses such pairs). For topics whose names come from the SQL. */
bool topology_topic_is_reserved(const Topology *topology, Str topic);
/* 1 to 249 of A-Z a-z 0-9 _ . - and neither `.` nor `..`. */
bool topology_is_topic_name(Str text);
/* The same topic for a broker, to which '.' and '_' are one. */
bool topology_same_topic(Str a, Str b);

#endif
