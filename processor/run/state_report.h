/* What there is to know of a pipeline's state from outside, whether or not a service runs: the
 * local state as its last checkpoint left it (state/view.h), positions and ends as Kafka tells
 * them. */
#ifndef RUN_STATE_REPORT_H
#define RUN_STATE_REPORT_H

#include "connectors/log.h"
#include "processor/run/program.h"
#include "state/sizes.h"
#include "state/view.h"

/* Offsets are -1 where nobody knows them: no state yet, nothing read yet, or Kafka is away. */
typedef struct ShardReport {
    int64_t position; /* next offset of the table's topic that is not in the state */
    int64_t written_us;
    int64_t end; /* of the topic's partition */
} ShardReport;

typedef struct SourceReport {
    const char *topic;
    int partition;
    int64_t offset; /* next to be read, as committed */
    int64_t end;    /* last stable offset */
} SourceReport;

typedef struct TableReport {
    const ProgramTable *program;
    bool has_store;
    TableSizes sizes;
    ShardReport *shards;
    size_t shard_count;
    SourceReport *sources;
    size_t source_count;
    int64_t epoch; /* last committed; -1: unknown, 0: none yet */
    bool resetting;
} TableReport;

typedef struct StateReport {
    TableReport *tables;
    size_t table_count;
    Error *log_error; /* why Kafka could not be asked for all of it; NULL: it was */
} StateReport;

/* `state` NULL: there is none yet; `log` NULL: Kafka is away. Trouble with Kafka leaves offsets
 * unknown and is no failure. Everything but log_error lives in `arena`. */
NODISCARD Error *state_report_collect(const Program *program, State *state, Log *log, Arena *arena,
                                      StateReport *ret_report);
void state_report_done(StateReport *report);

/* One key of a table. */
typedef struct KeyReport {
    Str key; /* as in the topic, without _row */
    int partition;
    Str sequence; /* as JSON; STR_NULL: the key has no rows */
    Str *rows;    /* as JSON; NULL when row_count are there that cannot be decoded without Kafka */
    size_t row_count;
    bool is_current;  /* read up to the end of the topic; else as of the last checkpoint */
    Error *log_error; /* why it is not */
} KeyReport;

/* `text`: a JSON object of the key's columns, or the value itself where there is one column. USAGE
 * when it is no key of the table. */
NODISCARD Error *state_report_key(const Program *program, const ProgramTable *table, Str text,
                                  State *state, Log *log, Arena *arena, KeyReport *ret_report);
void key_report_done(KeyReport *report);

#endif
