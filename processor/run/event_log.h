/* The event log: one JSON event a record of <pipeline>.event_log (spec/events-and-rest.md), written
 * by an idempotent producer of its own, never in a data transaction, never blocking: when the log
 * cannot take an event, it is counted as lost and the work goes on. Thread: any. */
#ifndef RUN_EVENT_LOG_H
#define RUN_EVENT_LOG_H

#include "connectors/log.h"
#include "processor/base/clock.h"

typedef struct EventLog EventLog;

typedef enum EventLevel { EVENT_INFO, EVENT_WARN, EVENT_ERROR, EVENT_METRICS } EventLevel;

typedef struct EventLogOptions {
    Log *log;
    const char *topic; /* exists */
    Str pipeline;
    const char *instance;
    const Clock *clock;
} EventLogOptions;

/* One event. Texts are borrowed for the call; NULL / STR_NULL: absent. */
typedef struct Event {
    const char *type; /* "flow_progress" */
    EventLevel level;
    Str message;
    const char *update_id;
    Str flow;
    Str dataset;
    Str details;        /* JSON object of the type */
    const Error *error; /* becomes `error` */
} Event;

/* The sequence goes on from the topic's last event (EV-10). */
NODISCARD Error *event_log_open(const EventLogOptions *options, EventLog **ret_events);
void event_log_close(EventLog *events);
void event_log_write(EventLog *events, const Event *event);
/* Waits until every event written so far is stored. */
NODISCARD Error *event_log_flush(EventLog *events, int timeout_ms);
/* Events that could not be stored. */
uint64_t event_log_lost(const EventLog *events);
/* Stable id of a pipeline of that name, in UUID form; 37 bytes with the NUL. */
void pipeline_id_of(Str pipeline, char ret_id[37]);

DEFINE_AUTO(event_log, EventLog, event_log_close)

#endif
