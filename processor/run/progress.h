/* Progress: the records of <pipeline>.progress, the truth from which a start resumes. One
 * partition, compacted, written only inside the flows' data transactions:
 *
 *     {"flow","topic","partition"}  how far a source partition is applied            every commit
 *     {"flow"}                      claim: which process runs the flow               every start
 *     {"flow","resetting"}          a full refresh is under way
 *     {"flow","state"}              what an operator of its query remembers: a definition likewise
 *     {"table"}                     definition: schemas by version, keys, …          when it
 * changes
 *
 * A transaction ends with one position record per source partition that moved, all with the same
 * update, epoch and ends, so that anyone can check it. */
#ifndef RUN_PROGRESS_H
#define RUN_PROGRESS_H

#include "connectors/log.h"
#include "processor/base/buffer.h"

/* The last record applied of a source partition: tells a topic made anew (decisions). */
typedef struct Fingerprint {
    int64_t offset; /* -1: none yet */
    int64_t timestamp_ms;
    uint64_t checksum;
} Fingerprint;

typedef struct ProgressPosition {
    Str topic;
    int32_t partition;
    int64_t offset; /* next to be read */
    int64_t begin;  /* where reading began, since the last full refresh; 0 when it is not known */
    Fingerprint fingerprint;
    int64_t epoch;
    Str update;
    Str instance;
} ProgressPosition;

typedef struct ProgressClaim {
    Str instance;   /* data == NULL: never claimed */
    int64_t offset; /* of its record: which of two is newer */
    Str host;
    int64_t pid;
    Str time;
} ProgressClaim;

/* A table's definition as last used. */
typedef struct ProgressDefinition {
    Str *schemas; /* column lists by version, from version 1 */
    size_t schema_count;
    Str *keys;
    size_t key_count;
    Str sequence;
    Str query; /* SQL text of the flow */
    Str topic;
    Str date_zone; /* in which dates of an older version are timestamps; empty: there are none */
    Str *clauses; /* what its statement says beside columns and query, by name: COMMENT, … (ST-5) */
    size_t clause_count;
    int64_t *begins; /* a partition of its topic: where its rows begin, what lies before was removed
                        by a full refresh; fewer: 0 */
    size_t begin_count;
} ProgressDefinition;

/* The state of an operator as last used. */
typedef struct ProgressState {
    Str name; /* of the operator */
    ProgressDefinition definition;
} ProgressState;

/* What the progress topic says of one flow and its table. */
typedef struct Progress {
    ProgressPosition *positions;
    size_t position_count;
    int64_t epoch; /* the highest of the positions; 0 when there are none */
    int64_t *ends; /* of the table's partitions at that epoch, -1: untouched so far */
    size_t end_count;
    ProgressClaim claim;
    bool resetting;
    bool has_definition;
    ProgressDefinition definition;
    ProgressState *states;
    size_t state_count;
} Progress;

/* Reads the topic read_committed, up to its end of now as `until` sees it: READ_UNCOMMITTED waits
 * for what is still open, as a start must that has fenced everybody; READ_COMMITTED does not wait.
 * All memory in `arena`. */
NODISCARD Error *progress_read(Log *log, const char *progress_topic, Isolation until, Str flow,
                               Str table, int timeout_ms, Arena *arena, Progress *ret_progress);

/* The same of several flows in one reading: ret_progress[i] of flows[i] into tables[i]. */
NODISCARD Error *progress_read_all(Log *log, const char *progress_topic, Isolation until,
                                   const Str *flows, const Str *tables, size_t count,
                                   int timeout_ms, Arena *arena, Progress *ret_progress);
/* Names of the tables that have a definition, as committed by now. */
NODISCARD Error *progress_tables(Log *log, const char *progress_topic, int timeout_ms, Arena *arena,
                                 Str **ret_tables, size_t *ret_count);

/* Key and value of the records. */
void progress_position_key(Str flow, Str topic, int32_t partition, Buffer *out);
void progress_position_value(const ProgressPosition *position, const int64_t *ends,
                             size_t end_count, int64_t time_us, Buffer *out);
void progress_claim_key(Str flow, Buffer *out);
void progress_claim_value(const ProgressClaim *claim, Buffer *out);
void progress_resetting_key(Str flow, Buffer *out);
void progress_definition_key(Str table, Buffer *out);
void progress_state_key(Str flow, Str state, Buffer *out);
void progress_definition_value(const ProgressDefinition *definition, Buffer *out);

/* Checksum of a record for a Fingerprint. */
uint64_t fingerprint_checksum(const LogRecord *record);

#endif
