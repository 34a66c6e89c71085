/* The events a pipeline writes, built from what happened (spec/events-and-rest.md 4.3, 4.4). */
#ifndef RUN_EVENTS_H
#define RUN_EVENTS_H

#include "processor/run/event_log.h"
#include "processor/run/program.h"

typedef enum UpdateState {
    UPDATE_CREATED,
    UPDATE_INITIALIZING,
    UPDATE_SETTING_UP_TABLES,
    UPDATE_RESETTING,
    UPDATE_RUNNING,
    UPDATE_STOPPING,
    UPDATE_COMPLETED,
    UPDATE_FAILED,
    UPDATE_CANCELED,
} UpdateState;

const char *update_state_name(UpdateState state);

/* Counts of one expectation. */
typedef struct ExpectationCount {
    uint64_t passed;
    uint64_t failed;
    uint64_t dropped;
} ExpectationCount;

/* What a flow did in an update or since the last event. */
typedef struct FlowMetrics {
    uint64_t source_rows;   /* records read */
    uint64_t output_rows;   /* rows applied to the table */
    uint64_t upserted_rows; /* records written to the table's topic */
    uint64_t deleted_rows;  /* tombstones written */
    uint64_t output_bytes;
    uint64_t late_rows;             /* below the table's sequence: ignored */
    uint64_t behind_watermark_rows; /* ignored: their time had passed */
    uint64_t null_sequences;
    uint64_t null_values;     /* tombstones met in a stream */
    uint64_t bad_records;     /* quarantined */
    uint64_t dropped_records; /* by expectations */
    uint64_t backlog_records;
    uint64_t epochs;
    ExpectationCount *expectations; /* one each of the table's */
} FlowMetrics;

void event_create_update(EventLog *events, const char *update_id, const char *cause,
                         const Program *program, bool full_refresh);
void event_update_progress(EventLog *events, const char *update_id, UpdateState state,
                           const Error *error);
void event_flow_definition(EventLog *events, const char *update_id, const Program *program,
                           const ProgramTable *table);
void event_dataset_definition(EventLog *events, const char *update_id, const ProgramTable *table);
/* status: "STARTING", "RUNNING", "COMPLETED", "FAILED", "STOPPED", …; metrics may be NULL. */
void event_flow_progress(EventLog *events, const char *update_id, const ProgramTable *table,
                         const char *status, const FlowMetrics *metrics, const Error *error);
/* fields: JSON members to go beside the code ("\"rows\":2"), STR_NULL for none. */
void event_warning(EventLog *events, const char *update_id, const ProgramTable *table,
                   const char *code, Str message, Str fields);

#endif
